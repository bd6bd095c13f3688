"""The grid of streets: lines a block apart, where each of them exists, their crossings and blocks.

From the facts of the spec to arrays of crossings (nodes) and blocks (edges between neighbouring
crossings). It knows barriers and bridges; it knows no freeway, no house and no name of a small
street.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

import numpy as np

from tradesbench_gym.roads.layout import Int8Array, Int64Array, Road
from tradesbench_gym.roads.phoenix.spec import Arterial, Spec
from tradesbench_gym.roads.shapes import Mask, inside, inside_any, within

ABSENT: Final = np.int8(-1)
SAMPLES: Final = 3


@dataclass(frozen=True, slots=True)
class Axis:
    """All lines of one direction, sorted: where they lie, their class, the arterial on them.

    `arterial` is -1 where the line is a small street along its whole length; `twin` marks a line so
    close to another that it exists as an arterial only.
    """

    at: Int64Array
    small: Int8Array
    arterial: Int64Array
    twin: Mask
    arterials: tuple[Arterial, ...]


@dataclass(frozen=True, slots=True)
class Lattice:
    """Crossings and blocks. `node[h, v]` is a node index or -1; blocks list tail and head node,
    class, direction (0 east-west, 1 north-south) and line."""

    rows: Axis
    columns: Axis
    node: Int64Array
    lat: Int64Array
    lon: Int64Array
    tail: Int64Array
    head: Int64Array
    road: Int8Array
    direction: Int8Array
    line: Int64Array


def build_lattice(spec: Spec) -> Lattice:
    """The street grid of the spec."""
    rows = _axis(spec.east_west, spec.block_lat)
    columns = _axis(spec.north_south, spec.block_lon)
    ground = Ground(spec)
    across = _presence(ground, rows, columns.at, 0)
    along = _presence(ground, columns, rows.at, 1).T
    exists = (across >= 0) & (along >= 0)
    node = np.full(exists.shape, -1, dtype=np.int64)
    node[exists] = np.arange(int(exists.sum()))
    h, v = np.nonzero(exists)
    blocks = [
        _blocks(ground, rows, columns.at, across, node, 0, spec.block_lon),
        _blocks(ground, columns, rows.at, along.T, node.T, 1, spec.block_lat),
    ]
    tail, head, road, direction, line = (
        np.concatenate([part[k] for part in blocks]) for k in range(5)
    )
    return Lattice(
        rows,
        columns,
        node,
        rows.at[h],
        columns.at[v],
        tail,
        head,
        road.astype(np.int8),
        direction.astype(np.int8),
        line,
    )


def _axis(arterials: tuple[Arterial, ...], block: int) -> Axis:
    """Arterials of one direction with collectors every half mile and small streets between."""
    order = sorted(range(len(arterials)), key=lambda k: arterials[k].at)
    at, small, owner = [], [], []
    for place, k in enumerate(order):
        here = arterials[k].at
        at.append(here)
        small.append(Road.COLLECTOR)
        owner.append(k)
        if place + 1 == len(order):
            break
        gap = arterials[order[place + 1]].at - here
        parts = (2 * gap + block) // (2 * block)
        for part in range(1, parts):
            at.append(here + gap * part // parts)
            half_mile = parts >= 7 and part % 4 == 0 and part < parts - 1
            small.append(Road.COLLECTOR if half_mile else Road.LOCAL)
            owner.append(-1)
    positions = np.array(at, dtype=np.int64)
    gaps = np.diff(positions)
    far = np.iinfo(np.int64).max
    closest = np.minimum(np.append(gaps, far), np.insert(gaps, 0, far))
    return Axis(
        positions,
        np.array(small, dtype=np.int8),
        np.array(owner, dtype=np.int64),
        closest < block // 2,
        arterials,
    )


class Ground:
    """What the land allows: where streets may be, and which of them cross a barrier."""

    def __init__(self, spec: Spec) -> None:
        self._spec = spec

    def open(self, lat: Int64Array, lon: Int64Array) -> Mask:
        """Where small streets may be: built-up land without hole or river."""
        spec = self._spec
        free = inside_any(spec.urban, lat, lon)
        free &= ~within(spec.river.points, spec.river.half_width, spec.plane, lat, lon)
        for hole in spec.holes:
            free &= ~inside(hole.outline, lat, lon)
        return free

    def passable(self, name: str, lat: Int64Array, lon: Int64Array) -> Mask:
        """Where an arterial of that name may be: anywhere but in barriers it does not cross."""
        spec = self._spec
        free: Mask = np.ones(lat.shape, dtype=np.bool_)
        if name not in spec.river.bridges:
            free &= ~within(spec.river.points, spec.river.half_width, spec.plane, lat, lon)
        for hole in spec.holes:
            if name not in hole.crossings:
                free &= ~inside(hole.outline, lat, lon)
        return free


def _presence(ground: Ground, axis: Axis, others: Int64Array, direction: int) -> Int8Array:
    """Class of every line of `axis` where it meets the lines `others`, or ABSENT.

    int8 of shape (lines, others).
    """
    shape = (len(axis.at), len(others))
    here = np.broadcast_to(axis.at[:, None], shape)
    along = np.broadcast_to(others[None, :], shape)
    lat, lon = (here, along) if direction == 0 else (along, here)
    free = ground.open(lat, lon) & ~axis.twin[:, None]
    result: Int8Array = np.where(free, axis.small[:, None], ABSENT).astype(np.int8)
    for line, owner in enumerate(axis.arterial):
        if owner >= 0:
            arterial = axis.arterials[owner]
            present = _arterial_present(ground, arterial, others, direction)
            result[line, present] = Road.ARTERIAL
            # A barrier stops the street altogether, not only the arterial.
            within_extent = (arterial.low <= others) & (others <= arterial.high)
            result[line, within_extent & ~present] = ABSENT
    return result


def _arterial_present(
    ground: Ground, arterial: Arterial, along: Int64Array, direction: int
) -> Mask:
    here = np.full(along.shape, arterial.at, dtype=np.int64)
    lat, lon = (here, along) if direction == 0 else (along, here)
    present: Mask = np.zeros(along.shape, dtype=np.bool_)
    names = np.array([arterial.name(int(a)) for a in along])
    for name in sorted(set(names.tolist())):
        present |= (names == name) & ground.passable(name, lat, lon)
    return present & (arterial.low <= along) & (along <= arterial.high)


def _blocks(
    ground: Ground,
    axis: Axis,
    others: Int64Array,
    presence: Int8Array,
    node: Int64Array,
    direction: int,
    block: int,
) -> tuple[Int64Array, ...]:
    """Blocks of every line of `axis` between neighbouring crossings that nothing separates."""
    found: list[tuple[Int64Array, ...]] = []
    for line in range(len(axis.at)):
        stops = np.flatnonzero(node[line] >= 0)
        if len(stops) < 2:
            continue
        first, last = stops[:-1], stops[1:]
        road = np.maximum(presence[line, first], presence[line, last])
        keep = _unbroken(ground, axis, line, others[first], others[last], road, direction)
        keep &= (road == Road.ARTERIAL) | (others[last] - others[first] <= block * 8 // 5)
        first, last, road = first[keep], last[keep], road[keep]
        count = len(first)
        found.append(
            (
                node[line, first],
                node[line, last],
                road.astype(np.int64),
                np.full(count, direction, dtype=np.int64),
                np.full(count, line, dtype=np.int64),
            )
        )
    return tuple(np.concatenate([part[k] for part in found]) for k in range(5))


def _unbroken(
    ground: Ground,
    axis: Axis,
    line: int,
    first: Int64Array,
    last: Int64Array,
    road: Int8Array,
    direction: int,
) -> Mask:
    keep: Mask = np.ones(first.shape, dtype=np.bool_)
    owner = int(axis.arterial[line])
    for sample in range(1, SAMPLES + 1):
        along = first + (last - first) * sample // (SAMPLES + 1)
        here = np.full(along.shape, axis.at[line], dtype=np.int64)
        lat, lon = (here, along) if direction == 0 else (along, here)
        free = ground.open(lat, lon)
        if owner >= 0:
            present = _arterial_present(ground, axis.arterials[owner], along, direction)
            free = np.where(road == Road.ARTERIAL, present, free)
        keep &= free
    return keep
