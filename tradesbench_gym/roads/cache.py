"""Where a map file is unpacked once, so that every later opening is a few memory maps.

An entry is a folder named by the map's digest, written under a temporary name and renamed into place,
so that any number of processes may open a map at once. Where no folder of our own can be written the
map stays in memory and the user is told so in one sentence. The module knows no text search.
"""

from __future__ import annotations

import contextlib
import json
import os
import shutil
import stat
import tempfile
import warnings
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import numpy as np
import numpy.typing as npt
import platformdirs

from tradesbench_gym.errors import MapError
from tradesbench_gym.roads.container import (
    about_from,
    landmarks_from,
    read_content,
    read_manifest,
    zones_from,
)
from tradesbench_gym.roads.content import AddressTable, Content, Network
from tradesbench_gym.roads.index import pools, street_order
from tradesbench_gym.roads.layout import Int32Array, Plane, read_only

CACHE_VARIABLE: Final = "TRADESBENCH_CACHE"
ENTRY: Final = "entry.json"
ENTRY_LAYOUT: Final = 1


@dataclass(frozen=True, slots=True)
class Unpacked:
    """A map ready for use: its content, its digest and the arrays derived from it, all read-only."""

    content: Content
    digest: str
    pool: Int32Array
    pool_start: Int32Array
    street_order: Int32Array
    street_start: Int32Array


class NoCacheError(Exception):
    """No folder to cache in; the text says why."""


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
    manifest = read_manifest(path)
    digest = str(manifest.get("digest", ""))
    if expected_digest is not None and digest != expected_digest:
        raise MapError(
            f"{path} is not the map this version ships: its digest is {digest[:12]}…, expected "
            f"{expected_digest[:12]}….",
            code="map_digest",
        )
    try:
        folder = _folder()
    except NoCacheError as reason:
        warnings.warn(
            f"The map is kept in memory for this process alone: {reason}.",
            RuntimeWarning,
            stacklevel=3,
        )
        return derive(*read_content(path))
    entry = folder / digest
    found = _open_entry(entry, manifest)
    if found is not None:
        return found
    unpacked = derive(*read_content(path))
    try:
        _store(folder, entry, unpacked)
    except OSError as error:
        warnings.warn(
            f"The map is kept in memory for this process alone: {folder} cannot be written "
            f"({error.strerror}).",
            RuntimeWarning,
            stacklevel=3,
        )
        return unpacked
    return _open_entry(entry, manifest) or unpacked


def _folder() -> Path:
    """The folder of unpacked maps, ours alone (mode 0700), created where missing."""
    chosen = os.environ.get(CACHE_VARIABLE)
    if chosen:
        root = Path(chosen)
    elif not os.environ.get("XDG_CACHE_HOME") and not _home_is_known():
        raise NoCacheError(f"there is no home folder and {CACHE_VARIABLE} is not set")
    else:
        root = Path(platformdirs.user_cache_dir("tradesbench-gym", appauthor=False))
    folder = root / "maps"
    try:
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        status = folder.stat()
    except OSError as error:
        raise NoCacheError(f"{folder} cannot be created ({error.strerror})") from error
    if hasattr(os, "getuid"):
        if status.st_uid != os.getuid():
            raise NoCacheError(f"{folder} belongs to somebody else")
        if stat.S_IMODE(status.st_mode) & 0o022:
            raise NoCacheError(f"others may write to {folder}")
    if not os.access(folder, os.R_OK | os.X_OK):
        raise NoCacheError(f"{folder} cannot be read")
    return folder


def _home_is_known() -> bool:
    return os.name == "nt" or bool(os.environ.get("HOME"))


def _open_entry(entry: Path, manifest: dict[str, Any]) -> Unpacked | None:
    """The map of a cache entry by memory map, or None where the entry is missing or damaged."""
    try:
        record = json.loads((entry / ENTRY).read_text(encoding="ascii"))
        if record["layout"] != ENTRY_LAYOUT or record["digest"] != manifest["digest"]:
            return None
        if any((entry / name).stat().st_size != size for name, size in record["sizes"].items()):
            return None
        arrays = {
            name.removesuffix(".npy"): _mapped(entry / name) for name in record["sizes"]
        }
        return _from_arrays(manifest, arrays)
    except (OSError, ValueError, KeyError, TypeError):
        return None


def _mapped(path: Path) -> npt.NDArray[Any]:
    mapped = np.load(path, mmap_mode="r", allow_pickle=False) if path.stat().st_size else None
    # A plain ndarray over the mapped pages: subclasses are slower to index and unknown to Numba.
    return read_only(np.asarray(mapped))


def _from_arrays(manifest: dict[str, Any], arrays: dict[str, npt.NDArray[Any]]) -> Unpacked:
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
        str(manifest["digest"]),
        arrays["pool"],
        arrays["pool_start"],
        arrays["street_order"],
        arrays["street_start"],
    )


def _store(folder: Path, entry: Path, unpacked: Unpacked) -> None:
    """Write a cache entry under a temporary name and move it into place."""
    temporary = Path(tempfile.mkdtemp(prefix=".unpacking-", dir=folder))
    try:
        sizes = {}
        for name, array in arrays_of(unpacked).items():
            file = temporary / f"{name}.npy"
            np.save(file, array, allow_pickle=False)
            sizes[file.name] = file.stat().st_size
        record = {"layout": ENTRY_LAYOUT, "digest": unpacked.digest, "sizes": sizes}
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
