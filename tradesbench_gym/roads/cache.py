"""Where a map file is unpacked once, so that every later opening is a few memory maps.

An entry is a folder named by the map's digest, written under a temporary name and renamed into
place, so that any number of processes may open a map at once. Where no folder of the user's own can
be written the map stays in memory and the user is told so in one sentence. The module knows no text
search.
"""

from __future__ import annotations

import contextlib
import json
import os
import shutil
import tempfile
import warnings
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from tradesbench_gym.cachedir import CacheUnavailableError, private_folder
from tradesbench_gym.errors import MapError
from tradesbench_gym.roads.container import (
    about_from,
    landmarks_from,
    read_content,
    read_manifest,
    zones_from,
)
from tradesbench_gym.roads.content import AddressTable, Content, Network, describe
from tradesbench_gym.roads.index import pools, street_order
from tradesbench_gym.roads.layout import Int32Array, Plane, Records, read_only

ENTRY: Final = "entry.json"
ENTRY_LAYOUT: Final = 3
UNPACKING: Final = ".unpacking-"


@dataclass(frozen=True, slots=True)
class Unpacked:
    """A map ready for use: content, digest and the arrays derived from it, all read-only."""

    content: Content
    digest: str
    pool: Records
    pool_start: Int32Array
    street_order: Int32Array
    street_start: Int32Array


def derive(content: Content, digest: str) -> Unpacked:
    """A map in memory with everything that follows from it."""
    pool, pool_start = pools(content.places, len(content.zones))
    order, start = street_order(content.table)
    unpacked = Unpacked(content, digest, pool, pool_start, order, start)
    for array in arrays_of(unpacked).values():
        array.flags.writeable = False
    return unpacked


def arrays_of(unpacked: Unpacked) -> dict[str, npt.NDArray[Any]]:
    """Every array of a map by the name of its file in the cache."""
    content, table = unpacked.content, unpacked.content.table
    return {
        "places": content.places,
        "anchors": content.anchors,
        "metres": content.metres,
        "number": table.number,
        "suffix": table.suffix,
        "street": table.street,
        "locality": table.locality,
        "nodes": content.network.nodes,
        "edges": content.network.edges,
        "pool": unpacked.pool,
        "pool_start": unpacked.pool_start,
        "street_order": unpacked.street_order,
        "street_start": unpacked.street_start,
    }


def load(path: Path, expected_digest: str | None = None) -> Unpacked:
    """Open a map file through the cache; raises MapError for a bad or unexpected file."""
    digest = str(read_manifest(path)["digest"])
    if expected_digest is not None and digest != expected_digest:
        raise MapError(
            f"{path} is not the map this version ships: its digest is {digest[:12]}…, expected "
            f"{expected_digest[:12]}….",
            code="map_digest",
        )
    try:
        folder = private_folder("maps")
    except CacheUnavailableError as error:
        return _in_memory(path, error.message)
    entry = folder / digest
    found = _open_entry(entry, digest)
    if found is not None:
        return found
    with _alone(folder):
        found = _open_entry(entry, digest)  # somebody else's, made while we waited
        if found is not None:
            return found
        unpacked = derive(*read_content(path))
        try:
            _store(folder, entry, unpacked)
        except OSError as error:
            _tell(f"cannot write to {folder}: {error.strerror or error}")
            return unpacked
    return _open_entry(entry, digest) or unpacked


@contextlib.contextmanager
def _alone(folder: Path) -> Iterator[None]:
    """One process unpacks at a time, and clears away what a killed one left half-done.

    Where there are no such locks everybody unpacks for himself and nothing is cleared away.
    """
    try:
        import fcntl  # not on Windows

        handle = os.open(folder, os.O_RDONLY)
    except (ImportError, OSError):
        yield
        return
    try:
        # The folder itself is locked: the system frees it whatever becomes of us.
        with contextlib.suppress(OSError):
            fcntl.flock(handle, fcntl.LOCK_EX)
            for left in folder.glob(f"{UNPACKING}*"):
                shutil.rmtree(left, ignore_errors=True)
        yield
    finally:
        os.close(handle)


def _in_memory(path: Path, reason: str) -> Unpacked:
    _tell(reason)
    return derive(*read_content(path))


def _tell(reason: str) -> None:
    warnings.warn(
        f"The map is unpacked into memory, for this process alone: {reason}.",
        RuntimeWarning,
        stacklevel=5,
    )


def _open_entry(entry: Path, digest: str) -> Unpacked | None:
    """The map of a cache entry by memory map, or None where the entry is missing or damaged."""
    try:
        record = json.loads((entry / ENTRY).read_text(encoding="ascii"))
        if record["layout"] != ENTRY_LAYOUT or record["digest"] != digest:
            return None
        if any((entry / name).stat().st_size != size for name, size in record["sizes"].items()):
            return None
        arrays = {name.removesuffix(".npy"): _mapped(entry / name) for name in record["sizes"]}
        return _from_arrays(record["map"], digest, arrays)
    except (OSError, ValueError, KeyError, TypeError):
        return None


def _mapped(path: Path) -> npt.NDArray[Any]:
    mapped = np.load(path, mmap_mode="r", allow_pickle=False) if path.stat().st_size else None
    # A plain ndarray over the mapped pages: subclasses are slower to index and unknown to Numba.
    return read_only(np.asarray(mapped))


def _from_arrays(
    manifest: dict[str, Any], digest: str, arrays: dict[str, npt.NDArray[Any]]
) -> Unpacked:
    tables = manifest["tables"]
    content = Content(
        about=about_from(manifest),
        plane=Plane(**manifest["plane"]),
        zones=zones_from(manifest),
        places=arrays["places"],
        anchors=arrays["anchors"],
        metres=arrays["metres"],
        table=AddressTable(
            number=arrays["number"],
            suffix=arrays["suffix"],
            street=arrays["street"],
            locality=arrays["locality"],
            suffixes=tuple(tables["suffixes"]),
            streets=tuple(tables["streets"]),
            localities=tuple((city, code) for city, code in tables["localities"]),
        ),
        network=Network(arrays["nodes"], arrays["edges"], tuple(tables["roads"])),
        landmarks=landmarks_from(manifest),
    )
    return Unpacked(
        content,
        digest,
        arrays["pool"],
        arrays["pool_start"],
        arrays["street_order"],
        arrays["street_start"],
    )


def _store(folder: Path, entry: Path, unpacked: Unpacked) -> None:
    """Write a cache entry under a temporary name and move it into place."""
    temporary = Path(tempfile.mkdtemp(prefix=UNPACKING, dir=folder))
    try:
        sizes = {}
        for name, array in arrays_of(unpacked).items():
            file = temporary / f"{name}.npy"
            np.save(file, array, allow_pickle=False)
            sizes[file.name] = file.stat().st_size
        # With its own description: names from the file at hand might not belong to these arrays.
        record = {
            "layout": ENTRY_LAYOUT,
            "digest": unpacked.digest,
            "sizes": sizes,
            "map": describe(unpacked.content),
        }
        (temporary / ENTRY).write_text(json.dumps(record), encoding="ascii")
        _move_into_place(temporary, entry)
    finally:
        shutil.rmtree(temporary, ignore_errors=True)


def _move_into_place(temporary: Path, entry: Path) -> None:
    try:
        temporary.rename(entry)
    except OSError:
        # Somebody was faster, or a damaged entry is in the way: set that one aside and try again;
        # whoever still has the old files mapped keeps them.
        aside = temporary.with_name(f"{temporary.name}-old")
        with contextlib.suppress(OSError):
            entry.rename(aside)
        with contextlib.suppress(OSError):
            temporary.rename(entry)
        shutil.rmtree(aside, ignore_errors=True)
