"""What every block of the grid is called: numbered streets, arterials, and words for the rest.

It knows names and the cities that give them; it knows no house and no network.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise
from typing import Final

import numpy as np

from tradesbench_gym.roads.layout import Int64Array, Road
from tradesbench_gym.roads.phoenix.lattice import Lattice
from tradesbench_gym.roads.phoenix.spec import Numbering, Spec
from tradesbench_gym.roads.shapes import nearest

WORD_STRIDE: Final = 1009
GROUP_BLOCKS: Final = 80
AVENUES: Final = ("Ave", "Dr", "Ln", "Way")
STREETS: Final = ("St", "Pl", "Way", "Ter")
NAMED_CITIES: Final = frozenset(
    {"Mesa", "Gilbert", "Chandler", "Tempe", "Queen Creek", "Apache Junction", "Fountain Hills"}
)


@dataclass(frozen=True, slots=True)
class Blocks:
    """Every block with its middle, its locality (index into the ZIP table) and its base name."""

    lat: Int64Array
    lon: Int64Array
    locality: Int64Array
    name: list[str]


def name_blocks(spec: Spec, lattice: Lattice) -> Blocks:
    """Localities and names (without direction) of all blocks of the lattice."""
    lat = (lattice.lat[lattice.tail] + lattice.lat[lattice.head]) // 2
    lon = (lattice.lon[lattice.tail] + lattice.lon[lattice.head]) // 2
    centres = np.array([(z[1], z[2]) for z in spec.zips], dtype=np.int64)
    locality = nearest(spec.plane, centres, lat, lon)
    namer = _Namer(spec, lattice)
    names = [
        namer.name(int(line), int(direction), int(road), int(a), int(o), spec.zips[int(z)][3])
        for line, direction, road, a, o, z in zip(
            lattice.line, lattice.direction, lattice.road, lat, lon, locality, strict=True
        )
    ]
    return Blocks(lat, lon, locality, names)


class _Namer:
    def __init__(self, spec: Spec, lattice: Lattice) -> None:
        self._spec = spec
        self._lattice = lattice
        self._numbered = _numbered_streets(spec, lattice)
        self._collectors = _collectors(spec, lattice)
        self._given: dict[tuple[int, int, int], str] = {}

    def name(self, line: int, direction: int, road: int, lat: int, lon: int, city: str) -> str:
        axis = self._lattice.rows if direction == 0 else self._lattice.columns
        along = lon if direction == 0 else lat
        owner = int(axis.arterial[line])
        if road == Road.ARTERIAL and owner >= 0:
            return axis.arterials[owner].name(along)
        if city not in NAMED_CITIES:
            if direction == 1:
                return self._numbered[line]
            if line in self._collectors:
                return self._collectors[line]
        reach = GROUP_BLOCKS * (self._spec.block_lon if direction == 0 else self._spec.block_lat)
        key = (direction, line, along // reach)
        if key not in self._given:
            self._given[key] = self._word(len(self._given))
        return self._given[key]

    def _word(self, serial: int) -> str:
        words, types = self._spec.words, self._spec.types
        if serial >= len(words) * len(types):
            raise ValueError("the spec has too few street names")
        mixed = serial * WORD_STRIDE % (len(words) * len(types))
        return f"{words[mixed % len(words)]} {types[mixed // len(words)]}"


def _collectors(spec: Spec, lattice: Lattice) -> dict[int, str]:
    """The spec's collector names by the row nearest to each."""
    rows = lattice.rows
    result = {}
    for lat, name in spec.collectors:
        line = int(np.argmin(np.abs(rows.at - lat)))
        if abs(int(rows.at[line]) - lat) <= spec.block_lat // 2 and rows.arterial[line] < 0:
            result[line] = name
    return result


def _numbered_streets(spec: Spec, lattice: Lattice) -> list[str]:
    """Names such as 23rd Ave and 17th Pl for every north-south line, each given once."""
    county, columns, used = spec.numbering["county"], lattice.columns, set[str]()
    taken = {name for a in columns.arterials for name, _ in a.names}
    result = []
    for line, lon in enumerate(columns.at.tolist()):
        west = lon < county.lon
        hundreds = (house_number(county, 1, 0, lon)[1] + 50) // 100
        kinds = AVENUES if west else STREETS
        options = [f"{ordinal(hundreds)} {kind}" for kind in kinds]
        free = [o for o in options if o not in used and o not in taken]
        name = free[0] if free else f"{ordinal(hundreds)} Aly {line}"
        used.add(name)
        result.append(name)
    return result


def ordinal(number: int) -> str:
    """1st, 2nd, 3rd, 4th, 11th …"""
    ending = (
        "th" if number % 100 in (11, 12, 13) else {1: "st", 2: "nd", 3: "rd"}.get(number % 10, "th")
    )
    return f"{number}{ending}"


def house_number(numbering: Numbering, direction: int, lat: int, lon: int) -> tuple[str, int]:
    """Compass letter and house number at a point; `direction` 1 counts east-west, 0 north-south."""
    if direction == 1:
        offset, letters, sides = lon - numbering.lon, "EW", ("east", "west")
    else:
        offset, letters, sides = lat - numbering.lat, "NS", ("north", "south")
    side = 0 if offset >= 0 else 1
    knots = numbering.knots[sides[side]]
    return letters[side], _interpolate(knots, abs(offset))


def _interpolate(knots: tuple[tuple[int, int], ...], offset: int) -> int:
    segments = list(pairwise(knots))
    (x0, y0), (x1, y1) = next((s for s in segments if offset < s[1][0]), segments[-1])
    return y0 + (offset - x0) * (y1 - y0) // (x1 - x0)
