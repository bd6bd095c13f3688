"""Reads `phoenix.toml` into typed records in whole microdegrees; it must not build anything."""

from __future__ import annotations

import tomllib
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import numpy as np

from tradesbench_gym.roads.layout import Int64Array, Plane, Road, Zone, to_e6

SPEC: Final = Path(__file__).with_name("phoenix.toml")


@dataclass(frozen=True, slots=True)
class Arterial:
    """A straight arterial: its fixed coordinate, its extent along the other, names by stretch."""

    at: int
    low: int
    high: int
    names: tuple[tuple[str, int], ...]

    def name(self, along: int) -> str:
        """The name at coordinate `along`."""
        for name, end in self.names:
            if along <= end:
                return name
        return self.names[-1][0]


@dataclass(frozen=True, slots=True)
class Line:
    """A road along (N, 2) points of latitude and longitude × 10⁶."""

    name: str
    points: Int64Array
    severs: bool


@dataclass(frozen=True, slots=True)
class Hole:
    """Land without streets, with the roads that cross it."""

    name: str
    outline: Int64Array
    crossings: frozenset[str]


@dataclass(frozen=True, slots=True)
class River:
    """A river bed `half_width` metres to each side of `points`, with the streets that bridge it."""

    name: str
    points: Int64Array
    half_width: int
    bridges: frozenset[str]


@dataclass(frozen=True, slots=True)
class OneWay:
    """A stretch of an east-west street where traffic flows `toward` east or west only."""

    name: str
    low: int
    high: int
    toward: str


@dataclass(frozen=True, slots=True)
class Sparse:
    """Land where houses stand farther apart, in thousandths of the usual density."""

    outline: Int64Array
    thousandths: int


@dataclass(frozen=True, slots=True)
class Numbering:
    """Baselines of a city's house numbers; knots of (microdegrees, number) in each direction."""

    lat: int
    lon: int
    knots: dict[str, tuple[tuple[int, int], ...]]


@dataclass(frozen=True, slots=True)
class Spec:
    """All facts of the map."""

    about: dict[str, Any]
    plane: Plane
    block_lat: int
    block_lon: int
    speeds: dict[Road, int]
    winding: dict[Road, int]
    east_west: tuple[Arterial, ...]
    north_south: tuple[Arterial, ...]
    roads: tuple[Line, ...]
    freeways: tuple[Line, ...]
    holes: tuple[Hole, ...]
    river: River
    urban: tuple[Int64Array, ...]
    sparse: tuple[Sparse, ...]
    collectors: tuple[tuple[int, str], ...]
    one_way: tuple[OneWay, ...]
    zones: tuple[Zone, ...]
    numbering: dict[str, Numbering]
    words: tuple[str, ...]
    types: tuple[str, ...]
    zips: tuple[tuple[str, int, int, str], ...]


def load_spec(path: Path = SPEC) -> Spec:
    """The facts of `path`."""
    raw = tomllib.loads(path.read_text(encoding="utf-8"))
    grid = raw["grid"]
    block_lat, block_lon = to_e6(grid["block_lat"]), to_e6(grid["block_lon"])
    return Spec(
        about=raw["about"],
        plane=_plane(raw["plane"]),
        block_lat=block_lat,
        block_lon=block_lon,
        speeds={Road[k.upper()]: v for k, v in grid["speeds"].items()},
        winding={Road[k.upper()]: v for k, v in grid["winding"].items()},
        east_west=tuple(_arterial(row) for row in raw["east_west"]["arterials"]),
        north_south=tuple(_arterial(row) for row in raw["north_south"]["arterials"]),
        roads=tuple(_line(row) for row in raw["road"]),
        freeways=tuple(_line(row) for row in raw["freeway"]),
        holes=tuple(
            Hole(h["name"], _points(h["outline"]), frozenset(h["crossings"])) for h in raw["hole"]
        ),
        river=_river(raw["river"]),
        urban=tuple(_points(text) for text in raw["urban"]["outlines"]),
        sparse=tuple(Sparse(_points(s["outline"]), s["thousandths"]) for s in raw["sparse"]),
        collectors=tuple((to_e6(lat), name) for lat, name in raw["east_west"]["collectors"]),
        one_way=tuple(
            OneWay(name, to_e6(low), to_e6(high), toward)
            for name, low, high, toward in raw["east_west"]["one_way"]
        ),
        zones=tuple(Zone(z["name"], z["lat"], z["lon"], z["share"]) for z in raw["zone"]),
        numbering={
            city: _numbering(row, block_lat, block_lon) for city, row in raw["numbering"].items()
        },
        words=tuple(raw["names"]["words"].split()),
        types=tuple(raw["names"]["types"]),
        zips=tuple(_zip(line) for line in raw["zips"]["centroids"].strip().splitlines()),
    )


def _plane(row: dict[str, Any]) -> Plane:
    return Plane(
        to_e6(row["origin_lat"]),
        to_e6(row["origin_lon"]),
        row["metres_per_degree_lat"],
        row["metres_per_degree_lon"],
    )


def _river(row: dict[str, Any]) -> River:
    return River(row["name"], _points(row["points"]), row["half_width"], frozenset(row["bridges"]))


def _arterial(row: list[Any]) -> Arterial:
    at, low, high, *rest = row
    names = list(zip(rest[0::2], [*rest[1::2], high], strict=True))
    return Arterial(
        to_e6(at), to_e6(low), to_e6(high), tuple((name, to_e6(end)) for name, end in names)
    )


def _line(row: dict[str, Any]) -> Line:
    return Line(row["name"], _points(row["points"]), bool(row.get("severs", False)))


def _points(text: str) -> Int64Array:
    pairs = [pair.split(",") for pair in text.split(";")]
    return np.array([[to_e6(float(a)), to_e6(float(b))] for a, b in pairs], dtype=np.int64)


def _numbering(row: dict[str, Any], block_lat: int, block_lon: int) -> Numbering:
    knots = {}
    for direction in ("north", "south", "east", "west"):
        mile = 8 * (block_lat if direction in ("north", "south") else block_lon)
        knots[direction] = tuple((round(mile * miles), number) for miles, number in row[direction])
    return Numbering(to_e6(row["lat"]), to_e6(row["lon"]), knots)


def _zip(line: str) -> tuple[str, int, int, str]:
    code, lat, lon, city = line.split(maxsplit=3)
    return code, to_e6(float(lat)), to_e6(float(lon)), city
