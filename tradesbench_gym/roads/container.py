"""The map file: one ZIP archive with a JSON manifest and one compressed member per column.

The same format holds any map, whoever built it. The manifest says what the map is, where it comes
from and under which licence, how each member is coded and what its digest is. The module knows how
to write such a file in one atomic step and how to read and verify one; it knows no cache and no
city.
"""

from __future__ import annotations

import json
import lzma
import os
import re
import tempfile
import zipfile
import zlib
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from tradesbench_gym.errors import MapError
from tradesbench_gym.roads import coding
from tradesbench_gym.roads.content import (
    ABOUT_NAMES,
    FORMAT,
    FORMAT_VERSION,
    About,
    AddressTable,
    Content,
    Network,
    check,
    columns_of,
    describe,
    make_anchors,
    make_places,
    map_digest,
    part_digest,
)
from tradesbench_gym.roads.layout import (
    EDGE,
    MICRODEGREES,
    NODE,
    Landmark,
    Plane,
    Records,
    Zone,
)

MANIFEST: Final = "manifest.json"
EPOCH: Final = (1980, 1, 1, 0, 0, 0)
READ_THREADS: Final = 2
HEX_DIGEST: Final = re.compile("[0-9a-f]{64}")
# What a damaged archive makes zipfile and its decompressors raise.
DAMAGE: Final = (
    zipfile.BadZipFile,
    zlib.error,
    lzma.LZMAError,
    NotImplementedError,
    RuntimeError,
    KeyError,
    ValueError,
    EOFError,
)


def write_content(path: Path, content: Content) -> str:
    """Write `content` to `path` in one atomic step and return its digest.

    Raises MapError when the content is inconsistent or the file cannot be written.
    """
    check(content)
    members, manifest = _encode(content)
    try:
        _replace(path, manifest, members)
    except OSError as error:
        reason = error.strerror or str(error)
        raise MapError(
            f"Cannot write the map to {path}: {reason}.", code="map_unwritable"
        ) from error
    return str(manifest["digest"])


def _replace(path: Path, manifest: dict[str, Any], members: dict[str, bytes]) -> None:
    """Write the archive beside `path` and move it there: a reader sees the old or the new file."""
    handle, name = tempfile.mkstemp(prefix=f".{path.name}.", dir=path.parent)
    temporary = Path(name)
    try:
        with os.fdopen(handle, "wb") as stream:
            _write_archive(stream, manifest, members)
        temporary.chmod(0o644)
        temporary.replace(path)
    except BaseException:
        temporary.unlink(missing_ok=True)
        raise


def _encode(content: Content) -> tuple[dict[str, bytes], dict[str, Any]]:
    members: dict[str, bytes] = {}
    parts: dict[str, dict[str, Any]] = {}
    for name, stored in columns_of(content).items():
        column = np.ascontiguousarray(stored)
        lags = coding.choose_lags(column)
        members[name] = coding.encode_column(column, lags)
        parts[name] = {
            "coding": "lags",
            "lags": list(lags),
            "dtype": column.dtype.str,
            "length": len(column),
            "sha256": part_digest(column),
        }
    members["metres.triangle"], skew = coding.encode_square(content.metres)
    if skew:
        members["metres.skew"] = skew
    parts["metres"] = {
        "coding": "square",
        "dtype": "<i4",
        "length": len(content.metres),
        "skew": bool(skew),
        "sha256": part_digest(content.metres),
    }
    description = describe(content)
    digest = map_digest(description, {name: part["sha256"] for name, part in parts.items()})
    return members, {**description, "digest": digest, "parts": parts}


def _write_archive(stream: Any, manifest: dict[str, Any], members: dict[str, bytes]) -> None:
    text = json.dumps(manifest, sort_keys=True, indent=1, ensure_ascii=True).encode("ascii")
    with zipfile.ZipFile(stream, "w") as archive:
        for name, data in {MANIFEST: text, **members}.items():
            entry = zipfile.ZipInfo(name, date_time=EPOCH)
            entry.create_system = 3
            entry.external_attr = 0o644 << 16
            entry.compress_type = zipfile.ZIP_DEFLATED if name == MANIFEST else COMPRESSION
            archive.writestr(entry, data)


COMPRESSION: Final = zipfile.ZIP_LZMA


def read_manifest(path: Path) -> dict[str, Any]:
    """The manifest of a map file; raises MapError for anything that is not one of our version."""
    try:
        if not path.is_dir() and path.exists() and not path.is_file():
            # A pipe or a device: reading would wait for ever, or never end.
            raise MapError(f"{path} is not a regular file.", code="map_unreadable")
        with zipfile.ZipFile(path) as archive:
            manifest = json.loads(archive.read(MANIFEST))
    except FileNotFoundError:
        raise MapError(f"There is no map file {path}.", code="map_missing") from None
    except OSError as error:
        reason = error.strerror or str(error)
        raise MapError(f"Cannot read the map {path}: {reason}.", code="map_unreadable") from error
    except DAMAGE:
        raise MapError(
            f"{path} is truncated or is not a TradesBench map.", code="map_foreign"
        ) from None
    if not isinstance(manifest, dict) or manifest.get("format") != FORMAT:
        raise MapError(f"{path} is not a TradesBench map.", code="map_foreign")
    if manifest.get("version") != FORMAT_VERSION:
        raise MapError(
            f"{path} has map format {manifest.get('version')}, this program reads format "
            f"{FORMAT_VERSION}: rebuild the map or update the program.",
            code="map_version",
        )
    if not HEX_DIGEST.fullmatch(str(manifest.get("digest"))):
        raise MapError(f"{path} carries no digest.", code="map_damaged")
    return manifest


def read_content(path: Path) -> tuple[Content, str]:
    """A map file's content and digest, every column compared with its digest in the manifest."""
    manifest = read_manifest(path)
    try:
        columns = _read_columns(path, manifest["parts"])
        content = _assemble(manifest, columns)
        parts = {name: part["sha256"] for name, part in manifest["parts"].items()}
        digest = map_digest(describe(content), parts)
    except MapError:
        raise
    except Exception as error:  # any damage the archive's own checks meet, whatever they raise
        raise MapError(
            f"{path} is damaged ({type(error).__name__} while unpacking).", code="map_damaged"
        ) from error
    if digest != manifest["digest"]:
        raise _wrong_digest(path, "manifest")
    check(content)  # by whomever it was written: the compiled rules look at no index twice
    return content, digest


def _read_columns(path: Path, parts: dict[str, Any]) -> dict[str, npt.NDArray[Any]]:
    def read(name: str) -> npt.NDArray[Any]:
        part = parts[name]
        # One archive object for each member: ZipFile serialises readers of a shared one.
        with zipfile.ZipFile(path) as archive:
            if part["coding"] == "square":
                skew = archive.read(f"{name}.skew") if part["skew"] else b""
                triangle = archive.read(f"{name}.triangle")
                column: npt.NDArray[Any] = coding.decode_square(triangle, skew, part["length"])
            else:
                column = coding.decode_column(
                    archive.read(name), part["dtype"], part["length"], tuple(part["lags"])
                )
        if part_digest(column) != part["sha256"]:
            raise _wrong_digest(path, name)
        return column

    largest_first = sorted(parts, key=lambda name: (parts[name]["coding"] != "square", name))
    with ThreadPoolExecutor(READ_THREADS) as pool:
        return dict(zip(largest_first, pool.map(read, largest_first), strict=True))


def _assemble(manifest: dict[str, Any], columns: dict[str, npt.NDArray[Any]]) -> Content:
    plane = Plane(**manifest["plane"])
    tables, counts = manifest["tables"], manifest["counts"]

    def group(prefix: str) -> dict[str, npt.NDArray[Any]]:
        start = f"{prefix}."
        return {name[len(start) :]: c for name, c in columns.items() if name.startswith(start)}

    return Content(
        about=about_from(manifest),
        plane=plane,
        zones=zones_from(manifest),
        places=make_places(plane, group("place"), counts["addresses"]),
        anchors=make_anchors(plane, group("anchor"), counts["anchors"]),
        metres=columns["metres"],
        table=AddressTable(
            **group("address"),
            suffixes=tuple(tables["suffixes"]),
            streets=tuple(tables["streets"]),
            localities=tuple((city, code) for city, code in tables["localities"]),
        ),
        network=Network(
            nodes=_records(NODE, group("node"), counts["nodes"]),
            edges=_records(EDGE, group("edge"), counts["edges"]),
            names=tuple(tables["roads"]),
        ),
        landmarks=landmarks_from(manifest),
    )


def about_from(manifest: dict[str, Any]) -> About:
    """The `About` of a manifest."""
    named = {name: manifest[name] for name in ABOUT_NAMES}
    return About(**named, extract=manifest.get("extract", {}))


def zones_from(manifest: dict[str, Any]) -> tuple[Zone, ...]:
    """The zones of a manifest, in order."""
    return tuple(
        Zone(z["name"], z["lat_e6"] / MICRODEGREES, z["lon_e6"] / MICRODEGREES, z["share"])
        for z in manifest["zones"]
    )


def landmarks_from(manifest: dict[str, Any]) -> tuple[Landmark, ...]:
    """The landmarks of a manifest, in order."""
    return tuple(
        Landmark(
            mark["name"],
            mark["kind"],
            tuple((lat / MICRODEGREES, lon / MICRODEGREES) for lat, lon in mark["points_e6"]),
            mark["width"],
        )
        for mark in manifest["landmarks"]
    )


def _records(dtype: np.dtype[Any], columns: dict[str, npt.NDArray[Any]], count: int) -> Records:
    records = np.empty(count, dtype=dtype)
    for name in dtype.names or ():
        records[name] = columns[name]
    return records


def _wrong_digest(path: Path, part: str) -> MapError:
    return MapError(
        f"The digest of '{part}' in {path} is not the one it was published with.",
        code="map_digest",
        field=part,
    )
