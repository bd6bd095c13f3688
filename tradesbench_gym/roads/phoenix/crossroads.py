"""Freeways and the roads that keep to no grid line, joined to the street grid and to each other.

It turns lines of points into nodes and edges: ramps where a freeway meets an arterial, level
crossings for diagonal avenues, links where freeways meet; and it cuts the small streets a freeway
severs.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Final

import numpy as np

from tradesbench_gym.roads.layout import Int64Array, Plane, Road
from tradesbench_gym.roads.phoenix.lattice import Axis, Lattice
from tradesbench_gym.roads.phoenix.spec import Line, Spec
from tradesbench_gym.roads.shapes import Mask

INTERCHANGE_SPACING_METRES: Final = 600
LINK_METRES: Final = 900
END_METRES: Final = 1600


@dataclass(slots=True)
class Draft:
    """The network as it grows: nodes by latitude and longitude × 10⁶, edges as tuples."""

    lat: list[int]
    lon: list[int]
    edges: list[tuple[int, int, str, Road]] = field(default_factory=list)

    def add_node(self, lat: int, lon: int) -> int:
        """A new node's index."""
        self.lat.append(lat)
        self.lon.append(lon)
        return len(self.lat) - 1


@dataclass(frozen=True, slots=True)
class Meeting:
    """Where a line meets a block of the grid: place along the line, point, block."""

    segment: int
    lat: int
    lon: int
    block: int


class BlockFinder:
    """Finds the block of a grid line that covers a coordinate."""

    def __init__(self, lattice: Lattice) -> None:
        self._lattice = lattice
        self._blocks: dict[tuple[int, int], tuple[Int64Array, Int64Array, Int64Array]] = {}
        for direction, coordinate in ((0, lattice.lon), (1, lattice.lat)):
            chosen = np.flatnonzero(lattice.direction == direction)
            for line in np.unique(lattice.line[chosen]):
                blocks = chosen[lattice.line[chosen] == line]
                low, high = coordinate[lattice.tail[blocks]], coordinate[lattice.head[blocks]]
                self._blocks[direction, int(line)] = (low, high, blocks)

    def at(self, direction: int, line: int, along: int) -> int:
        """The block of that line which covers `along`, or -1."""
        entry = self._blocks.get((direction, line))
        if entry is None:
            return -1
        low, high, blocks = entry
        place = int(np.searchsorted(low, along, side="right")) - 1
        if place < 0 or along > high[place]:
            return -1
        return int(blocks[place])

    def meetings(self, line: Line) -> list[Meeting]:
        """Every block that `line` meets, in order along it."""
        lattice, found = self._lattice, []
        for segment in range(len(line.points) - 1):
            start, end = line.points[segment], line.points[segment + 1]
            points = self._on_axis(lattice.rows, start, end, 0)
            points += self._on_axis(lattice.columns, start[::-1], end[::-1], 1)
            step = end - start
            points.sort(
                key=lambda p: (
                    int(abs(p[0] - start[0]) * abs(step[0]) + abs(p[1] - start[1]) * abs(step[1])),
                    p,
                )
            )
            found += [Meeting(segment, lat, lon, block) for lat, lon, block in points]
        return found

    def _on_axis(
        self, axis: Axis, start: Int64Array, end: Int64Array, direction: int
    ) -> list[tuple[int, int, int]]:
        low, high = sorted((int(start[0]), int(end[0])))
        if low == high:
            return []
        found = []
        for line in np.flatnonzero((axis.at >= low) & (axis.at < high)).tolist():
            here = int(axis.at[line])
            along = int(start[1] + (here - start[0]) * (end[1] - start[1]) // (end[0] - start[0]))
            block = self.at(direction, line, along)
            if block >= 0:
                lat, lon = (here, along) if direction == 0 else (along, here)
                found.append((lat, lon, block))
        return found


def add_roads(spec: Spec, lattice: Lattice, draft: Draft, cut: Mask) -> None:
    """Add the roads off the grid to `draft`; mark in `cut` the blocks they sever."""
    finder = BlockFinder(lattice)
    for road in spec.roads:
        previous = -1
        for lat, lon, block in _stations(road, finder.meetings(road)):
            grade = Road(int(lattice.road[block])) if block >= 0 else None
            if grade is Road.LOCAL:
                cut[block] |= road.severs
                continue
            node = draft.add_node(lat, lon)
            if previous >= 0:
                draft.edges.append((previous, node, road.name, Road.ARTERIAL))
            if grade is not None:
                for end in (lattice.tail[block], lattice.head[block]):
                    draft.edges.append((node, int(end), "", grade))
            elif previous < 0:
                _join_end(spec.plane, lattice, draft, node, Road.ARTERIAL)
            previous = node
        _join_end(spec.plane, lattice, draft, previous, Road.ARTERIAL)


def _stations(line: Line, meetings: list[Meeting]) -> list[tuple[int, int, int]]:
    """Bends (block -1) and meetings of a line in order along it."""
    result = []
    for segment in range(len(line.points)):
        lat, lon = line.points[segment]
        result.append((int(lat), int(lon), -1))
        result += [(m.lat, m.lon, m.block) for m in meetings if m.segment == segment]
    return result


def _join_end(plane: Plane, lattice: Lattice, draft: Draft, node: int, road: Road) -> None:
    """Join a loose end to the nearest crossing of the grid, if there is one near."""
    point = np.array([draft.lat[node], draft.lon[node]], dtype=np.int64)
    square = _squares(plane, lattice.lat, lattice.lon, point)
    nearest = int(np.argmin(square))
    if square[nearest] <= END_METRES**2:
        draft.edges.append((node, nearest, "", road))


def _squares(plane: Plane, lat: Int64Array, lon: Int64Array, point: Int64Array) -> Int64Array:
    away_x = plane.east(lon).astype(np.int64) - int(plane.east(point[1]))
    away_y = plane.north(lat).astype(np.int64) - int(plane.north(point[0]))
    return away_x * away_x + away_y * away_y


def add_freeways(spec: Spec, lattice: Lattice, draft: Draft, cut: Mask) -> None:
    """Add freeways, their ramps and the links between them to `draft`; mark severed blocks."""
    finder = BlockFinder(lattice)
    ways: list[list[int]] = []
    for number, freeway in enumerate(spec.freeways):
        stations = _stations(freeway, finder.meetings(freeway))
        joints = _joints(spec.freeways, number)
        ways.append(_one_freeway(spec, lattice, draft, cut, freeway, stations, joints))
    _link(spec, lattice, draft, ways)


def _joints(freeways: tuple[Line, ...], number: int) -> list[tuple[int, int, int]]:
    """(segment, lat, lon) where a freeway crosses or touches another one."""
    found = []
    mine = freeways[number].points
    for other, line in enumerate(freeways):
        if other == number:
            continue
        for i in range(len(mine) - 1):
            for j in range(len(line.points) - 1):
                point = _crossing(mine[i], mine[i + 1], line.points[j], line.points[j + 1])
                if point is not None:
                    found.append((i, *point))
    return sorted(set(found))


def _crossing(a: Int64Array, b: Int64Array, c: Int64Array, d: Int64Array) -> tuple[int, int] | None:
    first, second, offset = b - a, d - c, c - a
    area = int(first[0] * second[1] - first[1] * second[0])
    if area == 0:
        return None
    t = int(offset[0] * second[1] - offset[1] * second[0])
    u = int(offset[0] * first[1] - offset[1] * first[0])
    if area < 0:
        area, t, u = -area, -t, -u
    if not (0 <= t <= area and 0 <= u <= area):
        return None
    return int(a[0]) + int(first[0]) * t // area, int(a[1]) + int(first[1]) * t // area


def _one_freeway(
    spec: Spec,
    lattice: Lattice,
    draft: Draft,
    cut: Mask,
    freeway: Line,
    stations: list[tuple[int, int, int]],
    joints: list[tuple[int, int, int]],
) -> list[int]:
    """Nodes of one freeway in order, its ramps added."""
    nodes: list[int] = []
    since_ramp = INTERCHANGE_SPACING_METRES
    for lat, lon, block in _with_joints(freeway, stations, joints):
        grade = Road(int(lattice.road[block])) if block >= 0 else None
        if grade is not None and grade is not Road.ARTERIAL:
            cut[block] |= grade is Road.LOCAL
            continue
        node = draft.add_node(lat, lon)
        if nodes:
            draft.edges.append((nodes[-1], node, freeway.name, Road.FREEWAY))
            since_ramp += _metres(spec.plane, draft, nodes[-1], node)
        nodes.append(node)
        if grade is not None and since_ramp >= INTERCHANGE_SPACING_METRES:
            ends = (int(lattice.tail[block]), int(lattice.head[block]))
            nearer = min(ends, key=lambda end: (_metres(spec.plane, draft, end, node), end))
            draft.edges.append((node, nearer, "", Road.RAMP))
            since_ramp = 0
    return nodes


def _with_joints(
    freeway: Line, stations: list[tuple[int, int, int]], joints: list[tuple[int, int, int]]
) -> list[tuple[int, int, int]]:
    """Stations with the joints put in where they belong along the line."""
    result: list[tuple[int, int, int]] = []
    segment = -1
    by_segment: dict[int, list[tuple[int, int, int]]] = {}
    bends = {tuple(point): k for k, point in enumerate(freeway.points.tolist())}
    for lat, lon, block in stations:
        if block < 0:
            segment = bends[lat, lon]
        by_segment.setdefault(segment, []).append((lat, lon, block))
    for segment, members in sorted(by_segment.items()):
        extra = [(lat, lon, -1) for s, lat, lon in joints if s == segment]
        start = freeway.points[segment]
        ordered = members + [p for p in extra if p not in members]
        ordered.sort(key=lambda p: (abs(p[0] - int(start[0])) + abs(p[1] - int(start[1])), p))
        result += ordered
    return result


def _metres(plane: Plane, draft: Draft, first: int, second: int) -> int:
    away_x = int(plane.east(draft.lon[first])) - int(plane.east(draft.lon[second]))
    away_y = int(plane.north(draft.lat[first])) - int(plane.north(draft.lat[second]))
    return int(np.sqrt(away_x * away_x + away_y * away_y))


def _link(spec: Spec, lattice: Lattice, draft: Draft, ways: list[list[int]]) -> None:
    """Link freeways where they cross or end near each other; join loose ends to the grid."""
    lat, lon = np.array(draft.lat, dtype=np.int64), np.array(draft.lon, dtype=np.int64)
    for number, mine in enumerate(ways):
        for other, theirs in enumerate(ways):
            if other == number:
                continue
            near = [(_metres(spec.plane, draft, a, b), a, b) for a in mine for b in theirs]
            touching = {(a, b) for metres, a, b in near if metres <= 30 and a < b}
            draft.edges += [(a, b, "", Road.RAMP) for a, b in sorted(touching)]
            for end in (mine[0], mine[-1]):
                metres, _, target = min(entry for entry in near if entry[1] == end)
                if 30 < metres <= LINK_METRES:
                    draft.edges.append((end, target, "", Road.FREEWAY))
        for end in (mine[0], mine[-1]):
            point = np.array([lat[end], lon[end]], dtype=np.int64)
            others = np.array([n for k, way in enumerate(ways) if k != number for n in way])
            if _squares(spec.plane, lat[others], lon[others], point).min() > LINK_METRES**2:
                _join_end(spec.plane, lattice, draft, end, Road.RAMP)
