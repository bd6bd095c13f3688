"""Carriageways of one road, seen as one: where a road parts in two one-way roads, both lead along
the middle between them, and short pieces before such a fork lead straight on to it.

The method is that of OSRM 26.10, told anew and shorter: two neighbouring roads of one
name and class, at most 95° apart, are one where one of them cannot be entered and the other can.
It knows arcs and directions.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final, NamedTuple

import numpy as np

from tradesbench_gym.roads.layout import Int64Array
from tradesbench_gym.roads.osm.arcs import Arcs, Mask
from tradesbench_gym.roads.osm.network import FloatArray, Roads
from tradesbench_gym.roads.osm.sight import turned
from tradesbench_gym.roads.osm.tags import look_of

MOST_APART: Final = 95.0
STRAIGHT: Final = 3.0
SHORT_DM: Final = 300


class _Road(NamedTuple):
    """A road at a junction: where it leads, the arcs out and in (-1: none); `look` is its class and
    whether it is a roundabout, for one road's carriageways may differ in lanes.
    """

    bearing: float
    out: int
    into: int
    name: int
    look: tuple[int, int]


def merged(
    roads: Roads, arcs: Arcs, leaving: FloatArray, arriving: FloatArray, ahead: Int64Array,
    behind: Int64Array,
) -> tuple[FloatArray, FloatArray, Int64Array]:  # fmt: skip
    """The directions of arcs with those of carriageways as one, and how many roads are then seen
    to meet at every node; `ahead` and `behind` are the arcs of the same road next to each.
    """
    forks = _Forks(roads, arcs, leaving, arriving, ahead, behind)
    leaving, arriving = leaving.copy(), arriving.copy()
    for road, bearing in forks.changes():
        if road.out >= 0:
            leaving[road.out] = bearing
        if road.into >= 0:
            arriving[road.into] = bearing + 180
    return leaving, arriving, roads.legs - forks.pairs


class _Forks:
    """Junctions where carriageways may part, and those around them."""

    def __init__(
        self, roads: Roads, arcs: Arcs, leaving: FloatArray, arriving: FloatArray,
        ahead: Int64Array, behind: Int64Array,
    ) -> None:  # fmt: skip
        self._roads, self._arcs, self._ahead, self._behind = roads, arcs, ahead, behind
        self._last, self._first = _run(ahead), _run(behind)
        forks = _parting(roads)
        around = forks.copy()
        around[arcs.head[self._last[forks[arcs.tail]]]] = True
        around[arcs.tail[self._first[forks[arcs.head]]]] = True
        around &= roads.legs > 2
        self._at = _roads_at(roads, arcs, leaving, arriving, around)
        self.pairs = np.zeros(len(forks), dtype=np.int64)
        for node, here in self._at.items():
            self.pairs[node] = sum(_one_road(here, k) for k in range(len(here)))

    def changes(self) -> Iterator[tuple[_Road, float]]:
        """Roads whose direction changes, and the new one."""
        for here in self._at.values():
            for k in range(len(here)):
                if _one_road(here, k):
                    middle = _middle(here, k, before=False)
                    for road in (here[k], here[(k + 1) % len(here)]):
                        yield road, middle if middle is not None else _entry(here, k).bearing
        for here in self._at.values():
            own = {k for k in range(len(here)) if _one_road(here, k)}
            own |= {(k + 1) % len(here) for k in own}
            for k, road in enumerate(here):
                if k not in own:
                    yield from self._led_on(road)

    def _led_on(self, road: _Road) -> Iterator[tuple[_Road, float]]:
        """A short road to a fork leads on to the middle between the carriageways there."""
        into = int(self._last[road.out]) if road.out >= 0 else -1
        out = int(self._first[road.into]) if road.into >= 0 else -1
        far = int(self._arcs.head[into] if into >= 0 else self._arcs.tail[out])
        there = self._at.get(far, [])
        ends = (k for k, other in enumerate(there) if (other.out, other.into) == (out, into))
        back = next(ends, None)
        if back is None or self._length(road) > SHORT_DM:
            return
        for k, sign in (((back - 1) % len(there), -1), (back, 1)):
            if _one_road(there, k):
                middle = _middle(there, k, before=True)
                if middle is not None:
                    yield road, road.bearing + sign * turned(middle, there[back].bearing)
                return

    def _length(self, road: _Road) -> int:
        """Decimetres from a junction to the road's end."""
        arc, follow = (road.out, self._ahead) if road.out >= 0 else (road.into, self._behind)
        dm = int(self._roads.dm[self._arcs.edge[arc]])
        while follow[arc] != arc and dm <= SHORT_DM:
            arc = int(follow[arc])
            dm += int(self._roads.dm[self._arcs.edge[arc]])
        return dm


def _run(follow: Int64Array) -> Int64Array:
    """The last arc of the road that each arc is part of, where `follow` is the next one."""
    last = follow
    while True:
        beyond = last[last]
        if (beyond == last).all():
            return last
        last = beyond


def _parting(roads: Roads) -> Mask:
    """Nodes with a named one-way road in and a named road out."""
    named = roads.name >= 0
    one = named & (roads.oneway == 1)
    out = np.zeros(len(roads.lat_e6), dtype=np.bool_)
    into = out.copy()
    out[roads.tail[named]] = True
    out[roads.head[named & ~one]] = True
    into[roads.head[one]] = True
    result: Mask = out & into & (roads.legs > 2)
    return result


def _roads_at(
    roads: Roads, arcs: Arcs, leaving: FloatArray, arriving: FloatArray, nodes: Mask
) -> dict[int, list[_Road]]:
    """The roads of each of some nodes, clockwise."""
    found: dict[int, dict[int, list[int]]] = {}
    for node, far, side in ((arcs.tail, arcs.head, 0), (arcs.head, arcs.tail, 1)):
        for arc in np.flatnonzero(nodes[node]).tolist():
            ends = found.setdefault(int(node[arc]), {}).setdefault(int(far[arc]), [-1, -1])
            ends[side] = arc
    return {
        node: sorted(_road(roads, arcs.edge, leaving, arriving, *ends) for ends in others.values())
        for node, others in found.items()
    }


def _road(
    roads: Roads, edges: Int64Array, leaving: FloatArray, arriving: FloatArray, out: int, into: int
) -> _Road:  # fmt: skip
    edge = edges[out if out >= 0 else into]
    bearing = float(leaving[out] if out >= 0 else arriving[into] - 180) % 360
    name, look = int(roads.name[edge]), look_of(int(roads.look[edge]))
    return _Road(bearing, out, into, name, (look.highway, look.circular))


def _one_road(here: list[_Road], k: int) -> bool:
    """Whether the roads k and k + 1 of a junction are the carriageways of one."""
    if len(here) < 3:
        return False
    before, left, right, after = (here[(k + step) % len(here)] for step in (-1, 0, 1, 2))
    opposed = (left.out < 0) != (right.out < 0)
    alike = opposed and left.look == right.look and _alike(left, right)
    return alike and not _alike(before, left) and not _alike(right, after)


def _alike(one: _Road, other: _Road) -> bool:
    same = one.name >= 0 and one.name == other.name
    return same and turned(one.bearing, other.bearing) <= MOST_APART


def _entry(here: list[_Road], k: int) -> _Road:
    left, right = here[k], here[(k + 1) % len(here)]
    return left if left.out >= 0 else right


def _middle(here: list[_Road], k: int, *, before: bool) -> float | None:
    """The direction between two carriageways; None where one goes on straight, or where, `before`
    the fork, the middle is no straighter than either.
    """
    left, right, entry = here[k], here[(k + 1) % len(here)], _entry(here, k)
    opposite = min(here, key=lambda road: turned(road.bearing, entry.bearing + 180)).bearing + 180
    if turned(opposite, entry.bearing) < STRAIGHT:
        return None
    half = (right.bearing - left.bearing + 180) % 360 - 180
    middle = left.bearing + half / 2
    off = turned(opposite, middle)
    if before and min(turned(opposite, left.bearing), turned(opposite, right.bearing)) < off:
        return None
    return middle
