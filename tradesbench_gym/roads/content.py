"""Everything a road map holds, as plain arrays and tables, checked and given a digest.

This is the meeting point of builders (which fill it), the container (which stores it) and `RoadMap`
(which offers it). It must not know files, text search or any particular city.
"""

from __future__ import annotations

import hashlib
import json
from dataclasses import dataclass, field
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from tradesbench_gym.errors import MapError
from tradesbench_gym.roads.layout import (
    ANCHOR,
    EDGE,
    NODE,
    PLACE,
    ZONE_CAPACITY,
    Int32Array,
    Kind,
    Landmark,
    Plane,
    Records,
    Zone,
    to_e6,
)

FORMAT: Final = "tradesbench-map"
FORMAT_VERSION: Final = 1
ABOUT_NAMES: Final = ("name", "title", "state", "source", "licence", "attribution", "routing")
PLANE_NAMES: Final = (
    "origin_lat_e6",
    "origin_lon_e6",
    "metres_per_degree_lat",
    "metres_per_degree_lon",
)


@dataclass(frozen=True, slots=True)
class About:
    """Where a map comes from and under which terms it may be passed on.

    `extract` pins the data file a map was built from: its name, SHA-256 and date.
    """

    name: str
    title: str
    state: str
    source: str
    licence: str
    attribution: str
    routing: dict[str, str] = field(default_factory=dict)
    extract: dict[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class AddressTable:
    """What an address is called: one row per address, tables of the words.

    A house number is an integer and a suffix (`12` + `A`, `112` + `-34`, `12` + ` 1/2`); a locality
    is a (city, ZIP) pair.
    """

    number: Int32Array
    suffix: Int32Array
    street: Int32Array
    locality: Int32Array
    suffixes: tuple[str, ...]
    streets: tuple[str, ...]
    localities: tuple[tuple[str, str], ...]


@dataclass(frozen=True, slots=True)
class Network:
    """The road network people look at: `NODE` and `EDGE` records and the names of the roads."""

    nodes: Records
    edges: Records
    names: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Content:
    """One complete map. `network` may be empty; every other part is needed."""

    about: About
    plane: Plane
    zones: tuple[Zone, ...]
    places: Records
    anchors: Records
    metres: Int32Array
    table: AddressTable
    network: Network
    landmarks: tuple[Landmark, ...] = ()


def columns_of(content: Content) -> dict[str, npt.NDArray[Any]]:
    """The columns a file keeps, by name; x and y follow from the plane and are not among them."""
    columns: dict[str, npt.NDArray[Any]] = {}
    for name in ("lat_e6", "lon_e6", "anchor", "leg", "zone", "kind"):
        columns[f"place.{name}"] = content.places[name]
    for name in ("number", "suffix", "street", "locality"):
        columns[f"address.{name}"] = getattr(content.table, name)
    for name in ("lat_e6", "lon_e6", "zone"):
        columns[f"anchor.{name}"] = content.anchors[name]
    for name in NODE.names or ():
        columns[f"node.{name}"] = content.network.nodes[name]
    for name in EDGE.names or ():
        columns[f"edge.{name}"] = content.network.edges[name]
    return columns


def describe(content: Content) -> dict[str, Any]:
    """The part of the manifest that says what the map is: everything but the columns."""
    about, table = content.about, content.table
    return {
        "format": FORMAT,
        "version": FORMAT_VERSION,
        **{name: getattr(about, name) for name in ABOUT_NAMES},
        **({"extract": about.extract} if about.extract else {}),
        "plane": {name: getattr(content.plane, name) for name in PLANE_NAMES},
        "zones": [
            {"name": z.name, "lat_e6": to_e6(z.lat), "lon_e6": to_e6(z.lon), "share": z.share}
            for z in content.zones
        ],
        "landmarks": [
            {
                "name": mark.name,
                "kind": mark.kind,
                "width": mark.width,
                "points_e6": [[to_e6(lat), to_e6(lon)] for lat, lon in mark.points],
            }
            for mark in content.landmarks
        ],
        "counts": {
            "addresses": len(content.places),
            "anchors": len(content.anchors),
            "streets": len(table.streets),
            "nodes": len(content.network.nodes),
            "edges": len(content.network.edges),
        },
        "tables": {
            "suffixes": list(table.suffixes),
            "streets": list(table.streets),
            "localities": [list(pair) for pair in table.localities],
            "roads": list(content.network.names),
        },
    }


def part_digest(array: npt.NDArray[Any]) -> str:
    """SHA-256 of an array's little-endian bytes in C order."""
    return hashlib.sha256(np.ascontiguousarray(array).data).hexdigest()


def map_digest(description: dict[str, Any], parts: dict[str, str]) -> str:
    """SHA-256 over what the map is and the digests of its columns; no compressor has a say."""
    text = json.dumps([description, parts], sort_keys=True, ensure_ascii=True)
    return hashlib.sha256(text.encode("ascii")).hexdigest()


def digest_of(content: Content) -> str:
    """The digest of a map in memory, the same that its file carries."""
    parts = {name: part_digest(column) for name, column in columns_of(content).items()}
    parts["metres"] = part_digest(content.metres)
    return map_digest(describe(content), parts)


def make_places(plane: Plane, columns: dict[str, npt.NDArray[Any]], count: int) -> Records:
    """A `PLACE` array from its stored columns; x and y are computed on the plane."""
    places = np.empty(count, dtype=PLACE)
    for name in ("lat_e6", "lon_e6", "anchor", "leg", "zone", "kind"):
        places[name] = columns[name]
    places["x"] = plane.east(columns["lon_e6"])
    places["y"] = plane.north(columns["lat_e6"])
    return places


def make_anchors(plane: Plane, columns: dict[str, npt.NDArray[Any]], count: int) -> Records:
    """An `ANCHOR` array from its stored columns; x and y are computed on the plane."""
    anchors = np.empty(count, dtype=ANCHOR)
    for name in ("lat_e6", "lon_e6", "zone"):
        anchors[name] = columns[name]
    anchors["x"] = plane.east(columns["lon_e6"])
    anchors["y"] = plane.north(columns["lat_e6"])
    return anchors


def check(content: Content) -> None:
    """Raise MapError, one sentence, for the first thing about the map that cannot be."""
    _check_sizes(content)
    _check_ranges(content)
    _check_texts(content.table)


def _check_sizes(content: Content) -> None:
    places, anchors, table = len(content.places), len(content.anchors), content.table
    if not 1 <= len(content.zones) <= ZONE_CAPACITY:
        raise _broken(f"A map has 1 to {ZONE_CAPACITY} zones, not {len(content.zones)}.", "zones")
    if places == 0 or anchors == 0:
        raise _broken("A map needs at least one address and one anchor.", "places")
    if content.metres.shape != (anchors, anchors):
        raise _broken(
            f"The distance matrix has shape {content.metres.shape}, {anchors} anchors need "
            f"({anchors}, {anchors}).",
            "metres",
        )
    for name in ("number", "suffix", "street", "locality"):
        if len(getattr(table, name)) != places:
            raise _broken(f"Column '{name}' has not one row for each of {places} addresses.", name)


def _check_ranges(content: Content) -> None:
    places, table, network = content.places, content.table, content.network
    limits = [
        ("anchor", places["anchor"], len(content.anchors)),
        ("zone", places["zone"], len(content.zones)),
        ("kind", places["kind"], len(Kind)),
        ("zone", content.anchors["zone"], len(content.zones)),
        ("suffix", table.suffix, len(table.suffixes)),
        ("street", table.street, len(table.streets)),
        ("locality", table.locality, len(table.localities)),
        ("tail", network.edges["tail"], len(network.nodes)),
        ("head", network.edges["head"], len(network.nodes)),
    ]
    for name, values, limit in limits:
        if len(values) and (int(values.min()) < 0 or int(values.max()) >= limit):
            raise _broken(f"Column '{name}' points outside its table of {limit}.", name)
    if int(places["leg"].min()) < 0 or int(content.metres.min()) < 0:
        raise _broken("Road distances cannot be negative.", "metres")
    if np.diagonal(content.metres).any():
        raise _broken("The distance from an anchor to itself must be 0.", "metres")


def _check_texts(table: AddressTable) -> None:
    order = np.lexsort((table.locality, table.suffix, table.number, table.street))
    same = np.ones(len(order) - 1, dtype=np.bool_)
    for column in (table.number, table.suffix, table.street, table.locality):
        same &= column[order[1:]] == column[order[:-1]]
    if same.any():
        first = int(np.flatnonzero(same)[0])
        raise _broken(
            f"Addresses {int(order[first])} and {int(order[first + 1])} have the same text.", "text"
        )


def _broken(message: str, field_name: str) -> MapError:
    return MapError(message, code="map_invalid", field=field_name)
