"""From ways to a network: junctions, bends, stretches with their length, and the part that hangs
together.

Lengths are decimetres, for real stretches are short and rounding each to a metre would add up. It
knows ways and arrays, no address and no file.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Final

import numpy as np
import numpy.typing as npt

from tradesbench_gym.roads.content import Network
from tradesbench_gym.roads.layout import (
    EDGE,
    MICRODEGREES,
    NO_NAME,
    NODE,
    Int32Array,
    Int64Array,
    Plane,
)
from tradesbench_gym.roads.osm.extract import Ways
from tradesbench_gym.roads.routing import largest_part

DM_PER_METRE: Final = 10
DS_PER_SECOND: Final = 10
CM_PER_KM: Final = 100_000
# Deciseconds that a metre takes at a centimetre an hour.
DS_PER_METRE: Final = 3_600_000
# OSRM measures a segment's time at the middle of a band of latitude this high.
BAND_E6: Final = 50_000
# WGS 84: metres in a degree at a latitude, as series of its cosine.
LAT_SERIES: Final = (111_132.92, -559.82, 1.175, -0.0023)
LON_SERIES: Final = (111_412.84, -93.5, 0.118)
FloatArray = npt.NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Roads:
    """A road network for cars: nodes in microdegrees, edges between them. Edges are many: their
    columns are no wider than they need be.

    `dm` is an edge's length in decimetres, `ds` the deciseconds it takes, `speed` centimetres an
    hour, `oneway` 1 where only tail to head is allowed, `restricted` 1 on private roads, `wait` and
    `wait_back` the deciseconds lost where it ends and, driven back, where it begins, `way` the id
    of its way, `look` as `tags.look` says, `name` its place in `names`, -1 for none. `legs` counts
    the roads that meet at a node, those too that lead nowhere, and `round` is 1 where a car may
    turn round: where there is no other way out or no other way in. `bans` has a row (way, node,
    way, 1 for "only there") for every turn that is regulated.
    """

    lat_e6: Int64Array
    lon_e6: Int64Array
    legs: Int64Array
    round: Int64Array
    tail: Int32Array
    head: Int32Array
    dm: Int32Array
    ds: Int32Array
    speed: Int32Array
    road: Int32Array
    oneway: Int32Array
    restricted: Int32Array
    wait: Int32Array
    wait_back: Int32Array
    way: Int64Array
    look: Int32Array
    name: Int32Array
    names: tuple[str, ...]
    bans: Int64Array


NODE_COLUMNS: Final = ("lat_e6", "lon_e6", "legs", "round")
EDGE_COLUMNS: Final = (
    "tail", "head", "dm", "ds", "speed", "road", "oneway", "restricted", "wait", "wait_back", "way",
    "look", "name",
)  # fmt: skip


def lat_scale(lat: float) -> float:
    """Metres in a degree of latitude at `lat` degrees."""
    return _series(LAT_SERIES, math.radians(lat), 0)


def lon_scale(lat: float) -> float:
    """Metres in a degree of longitude at `lat` degrees."""
    return _series(LON_SERIES, math.radians(lat), 1)


def _series(terms: tuple[float, ...], angle: float, first: int) -> float:
    return sum(term * math.cos((first + 2 * k) * angle) for k, term in enumerate(terms))


def plane_at(lat_e6: int, lon_e6: int) -> Plane:
    """The flat plane around a point, true to WGS 84 there."""
    lat = lat_e6 / MICRODEGREES
    return Plane(lat_e6, lon_e6, round(lat_scale(lat)), round(lon_scale(lat)))


def lay_roads(ways: Ways) -> Roads:
    """All ways as one network, connected or not; a node that no car passes parts it."""
    ref, row = np.unique(ways.ref, return_inverse=True)
    first = np.unique(row, return_index=True)[1]
    lat, lon = ways.lat_e6[first], ways.lon_e6[first]
    inner = np.ones(len(row), dtype=np.bool_)
    inner[ways.start[1:] - 1] = False  # no stretch begins at the last node of a way
    at = np.flatnonzero(inner)
    tail, head = row[at].astype(np.int64), row[at + 1].astype(np.int64)
    way = np.repeat(np.arange(len(ways.speed)), np.diff(ways.start))[at]
    ahead, against = _waits(ways, ref)
    wait = np.where(ways.reversed[way] == 1, against[head], ahead[head])
    wait_back = against[tail]
    # Before and behind a barrier are two nodes of their own for every stretch that touches it.
    count = len(ref)
    closed = np.isin(ref, ways.blocked)
    for ends in (tail, head):
        shut = np.flatnonzero(closed[ends])
        lat, lon = np.append(lat, lat[ends[shut]]), np.append(lon, lon[ends[shut]])
        ends[shut] = count + np.arange(len(shut))
        count += len(shut)
    keep = tail != head
    tail, head, way, wait, wait_back = (c[keep] for c in (tail, head, way, wait, wait_back))
    name = np.array([NO_NAME if not word else k for k, word in enumerate(ways.names)], np.int64)
    legs, turn_round = _crossings(tail, head, ways.oneway[way], len(lat))
    dm, ds = _lengths(lat, lon, tail, head), _times(lat, lon, tail, head, ways.speed[way])
    return Roads(
        lat, lon, legs, turn_round, _int32(tail), _int32(head), _int32(dm), _int32(ds),
        _int32(ways.speed)[way], _int32(ways.road)[way], _int32(ways.oneway)[way],
        _int32(ways.restricted)[way], _int32(wait), _int32(wait_back), ways.id[way],
        _int32(ways.look)[way], _int32(name[ways.name])[way], ways.names, _bans(ways, ref),
    )  # fmt: skip


def _int32(values: Int64Array) -> Int32Array:
    """As narrow as may be; a speed beyond that, 21,474 km/h, is a slip and as good as that."""
    return np.minimum(values, np.iinfo(np.int32).max).astype(np.int32)


def _crossings(
    tail: Int64Array, head: Int64Array, oneway: Int64Array, nodes: int
) -> tuple[Int64Array, Int64Array]:
    """How many roads meet at every node, and whether a car may turn round there."""
    back = oneway == 0
    # Of two roads between the same nodes OSRM keeps one.
    ways = np.unique(np.append(tail * nodes + head, head[back] * nodes + tail[back]))
    start, end = ways // nodes, ways % nodes
    pairs = np.unique(np.minimum(start, end) * nodes + np.maximum(start, end))
    legs = np.bincount(pairs // nodes, minlength=nodes)
    legs += np.bincount(pairs % nodes, minlength=nodes)
    exits, entries = np.bincount(start, minlength=nodes), np.bincount(end, minlength=nodes)
    return legs, ((exits == 1) | (entries <= 1)).astype(np.int64)


def _waits(ways: Ways, ref: Int64Array) -> tuple[Int64Array, Int64Array]:
    """Deciseconds lost at every node, ahead and against the direction its way is drawn in."""
    result = np.zeros((2, len(ref)), dtype=np.int64)
    here = np.isin(ways.wait_ref, ref)
    at = np.searchsorted(ref, ways.wait_ref[here])
    result[0, at] = DS_PER_SECOND * ways.wait_ahead[here]
    result[1, at] = DS_PER_SECOND * ways.wait_against[here]
    return result[0], result[1]


def _bans(ways: Ways, ref: Int64Array) -> Int64Array:
    here = np.isin(ways.ban_via, ref)
    via = np.searchsorted(ref, ways.ban_via[here])
    return np.stack([ways.ban_from[here], via, ways.ban_to[here], ways.ban_only[here]], axis=1)


def _lengths(lat: Int64Array, lon: Int64Array, tail: Int64Array, head: Int64Array) -> Int64Array:
    """Decimetres of every edge."""
    metres = _metres(lat, lon, tail, head, (lat[tail] + lat[head]) / 2)
    return np.maximum(np.rint(metres * DM_PER_METRE).astype(np.int64), 1)


def _times(
    lat: Int64Array, lon: Int64Array, tail: Int64Array, head: Int64Array, speed: Int64Array
) -> Int64Array:
    """Deciseconds of every edge, rounded edge by edge as OSRM does: so do ties fall as there."""
    metres = _metres(lat, lon, tail, head, band((lat[tail] + lat[head]) / 2))
    return np.maximum(np.floor(metres * DS_PER_METRE / speed + 0.5).astype(np.int64), 1)


def scales(lat_e6: Int64Array | FloatArray) -> tuple[FloatArray, FloatArray]:
    """Metres in a degree of latitude and in one of longitude at latitudes in microdegrees."""
    angle = np.radians(lat_e6 / MICRODEGREES)
    along, across = 0 * angle, 0 * angle
    for k, term in enumerate(LAT_SERIES):
        along += term * np.cos(2 * k * angle)
    for k, term in enumerate(LON_SERIES):
        across += term * np.cos((1 + 2 * k) * angle)
    return along, across


def band(lat_e6: FloatArray) -> FloatArray:
    """The middle of the band of latitude that each latitude lies in, where OSRM measures."""
    result: FloatArray = ((np.trunc(np.abs(lat_e6)) - 1) // BAND_E6 + 0.5) * BAND_E6
    return result


def _metres(
    lat: Int64Array, lon: Int64Array, tail: Int64Array, head: Int64Array, at: FloatArray
) -> FloatArray:
    """Metres of every edge by the scales at the latitudes `at`, in microdegrees."""
    along, across = scales(at)
    north = (lat[tail] - lat[head]) / MICRODEGREES * along
    east = (lon[tail] - lon[head]) / MICRODEGREES * across
    metres: FloatArray = np.hypot(north, east)
    return metres


def as_network(roads: Roads, *, decimetres: bool = False) -> Network:
    """The same network as the records of a map; lengths in whole metres or in decimetres."""
    nodes = np.empty(len(roads.lat_e6), NODE)
    nodes["lat_e6"], nodes["lon_e6"] = roads.lat_e6, roads.lon_e6
    edges = np.empty(len(roads.tail), EDGE)
    for column in ("tail", "head", "name", "road", "oneway"):
        edges[column] = getattr(roads, column)
    edges["speed"] = np.maximum(np.rint(roads.speed / CM_PER_KM), 1)
    metres = np.maximum(np.rint(roads.dm / DM_PER_METRE), 1)
    edges["metres"] = roads.dm if decimetres else metres
    return Network(nodes, edges, roads.names)


def main_part(roads: Roads, every: Network) -> tuple[Roads, float]:
    """The largest part in which every node reaches every other, and its share of the metres;
    `every` is the same roads as records.
    """
    inside = largest_part(every)
    stays = inside[roads.tail] & inside[roads.head]
    number = _int32(np.cumsum(inside) - 1)
    columns = {name: getattr(roads, name)[stays] for name in EDGE_COLUMNS}
    columns["tail"], columns["head"] = number[columns["tail"]], number[columns["head"]]
    used = np.unique(columns["name"])
    used = used[used >= 0]
    place = np.full(len(roads.names) + 1, NO_NAME, dtype=np.int32)
    place[used] = np.arange(len(used))
    columns["name"] = place[columns["name"]]
    share = float(roads.dm[stays].sum() / roads.dm.sum())
    names = tuple(roads.names[k] for k in used.tolist())
    bans = roads.bans[inside[roads.bans[:, 1]]]
    bans[:, 1] = number[bans[:, 1]]
    for name in NODE_COLUMNS:
        columns[name] = getattr(roads, name)[inside]
    return Roads(**columns, names=names, bans=bans), share
