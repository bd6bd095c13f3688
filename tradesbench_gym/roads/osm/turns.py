"""What a turn costs: the graph whose nodes are stretches of road and whose edges are turns.

Costs are those of OSRM's car profile (26.10) for traffic on the right: by angle, more across
oncoming traffic; turns that signs forbid, and turning round in mid-road, cost an hour rather than
being left out, so that no corner becomes unreachable for a mistake in the data. It knows arcs and
angles.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

import numpy as np

from tradesbench_gym.roads.layout import Int32Array, Int64Array
from tradesbench_gym.roads.osm.arcs import DM_BITS, ENTERING_DS, Arcs, Chains, Mask
from tradesbench_gym.roads.osm.bearings import headings
from tradesbench_gym.roads.osm.network import DS_PER_SECOND, FloatArray, Roads

TURN_SECONDS: Final = 7.5
TURN_BIAS: Final = 1.075
ONCOMING_SECONDS: Final = 2.0
ROUND_SECONDS: Final = 20.0
FORBIDDEN_SECONDS: Final = 3_600.0
# Degrees from which on a turn leads back along the same road.
ABOUT: Final = 179.999
BLOCK: Final = 100_000


@dataclass(frozen=True, slots=True)
class TurnGraph:
    """Edges between stretches: from, to and weight; then, of every anchor, a node that leads to the
    stretches out of it. `into` lists the stretches into anchors, `into_start` where each anchor's
    begin among them.
    """

    tail: Int32Array
    head: Int32Array
    weight: Int64Array
    nodes: int
    sources: Int64Array
    into: Int64Array
    into_start: Int64Array


def turn_graph(roads: Roads, arcs: Arcs, chains: Chains, anchors: Int64Array) -> TurnGraph:
    """Stretches as nodes, turns as edges, with the anchors as sources."""
    seen = headings(roads, arcs)  # first: it needs much room, and so do the turns
    begins, ends = arcs.tail[chains.first], arcs.head[chains.last]
    order = np.argsort(begins, kind="stable")
    start = np.searchsorted(begins[order], np.arange(arcs.nodes + 1))
    before, after = _pairs(order, start, ends)
    lost = _seconds(roads, arcs, seen, chains.last[before], chains.first[after])
    weight = chains.weight[after]
    weight += (DS_PER_SECOND * lost).astype(np.int64) << DM_BITS
    # Of every anchor a source of its own, and the stretches out of it as they are.
    source, leaving = _pairs(order, start, anchors)
    into, into_start = _arriving(ends, anchors)
    return TurnGraph(
        np.concatenate([before, np.int32(len(ends)) + source]),
        np.concatenate([after, leaving]),
        np.concatenate([weight, chains.weight[leaving]]),
        len(ends) + len(anchors),
        len(ends) + np.arange(len(anchors)),
        into,
        into_start,
    )


def _pairs(
    order: Int64Array, start: Int64Array, nodes: Int64Array
) -> tuple[Int32Array, Int32Array]:
    """Of every one of some nodes the stretches out of it: the node's row, the stretch."""
    count = start[nodes + 1] - start[nodes]
    row = np.repeat(np.arange(len(nodes), dtype=np.int32), count)
    step = np.arange(len(row))
    step -= np.repeat(np.cumsum(count) - count - start[nodes], count)
    return row, order[step].astype(np.int32)


def _arriving(ends: Int64Array, anchors: Int64Array) -> tuple[Int64Array, Int64Array]:
    order = np.argsort(ends, kind="stable")
    low = np.searchsorted(ends[order], anchors, side="left")
    size = np.searchsorted(ends[order], anchors, side="right") - low
    start = np.cumsum(size) - size
    step = np.arange(int(size.sum())) - np.repeat(start, size)
    return order[np.repeat(low, size) + step], start


def _seconds(
    roads: Roads, arcs: Arcs, seen: tuple[FloatArray, FloatArray, Int64Array], before: Int64Array,
    after: Int64Array,
) -> FloatArray:  # fmt: skip
    """Seconds that the turn from one arc into another costs; `seen` as `headings` says."""
    result = np.empty(len(before))
    for low in range(0, len(before), BLOCK):
        part = slice(low, low + BLOCK)
        result[part] = _by_angle(roads, arcs, seen, before[part], after[part])
    result[_banned(roads, arcs, before, after)] = FORBIDDEN_SECONDS
    return result


def _by_angle(
    roads: Roads, arcs: Arcs, seen: tuple[FloatArray, FloatArray, Int64Array], before: Int64Array,
    after: Int64Array,
) -> FloatArray:  # fmt: skip
    leaving, arriving, legs = seen
    node = arcs.head[before]
    angle = (leaving[after] - arriving[before] + 180) % 360 - 180
    round_seconds = ROUND_SECONDS + float(turn_seconds(np.array([180.0]))[0])
    result = np.where(legs[node] > 2, turn_seconds(angle), 0.0)
    # From one carriageway of a road into the other.
    result[(np.abs(angle) > ABOUT) & (roads.legs[node] > 2)] = round_seconds
    # What entering a private road costs is the most that OSRM counts at a node: no turn adds to it.
    result[arcs.weight[after] >> DM_BITS >= ENTERING_DS] = 0.0
    back = arcs.tail[before] == arcs.head[after]
    result[back] = np.where(roads.round[node[back]] == 1, round_seconds, FORBIDDEN_SECONDS)
    return result


def turn_seconds(angle: FloatArray) -> FloatArray:
    """The cost of a turn at a junction by its angle in degrees: 0 straight on, right positive."""
    right = TURN_SECONDS / (1 + np.exp(-((13 / TURN_BIAS) * angle / 180 - 6.5 * TURN_BIAS)))
    left = TURN_SECONDS / (1 + np.exp(-((13 * TURN_BIAS) * -angle / 180 - 6.5 / TURN_BIAS)))
    across = ONCOMING_SECONDS / (1 + np.exp(-(13 * np.abs(angle) / 180 - 3.25)))
    seconds: FloatArray = np.where(angle >= 0, right, left + across)
    return seconds


def _banned(roads: Roads, arcs: Arcs, before: Int64Array, after: Int64Array) -> Int64Array:
    """Turns that signs forbid."""
    regulated = np.zeros(arcs.nodes, dtype=np.bool_)
    regulated[roads.bans[:, 1]] = True
    near = np.flatnonzero(regulated[arcs.head[before]])
    node = arcs.head[before[near]]
    banned: Mask = np.zeros(len(near), dtype=np.bool_)
    start, end = roads.way[arcs.edge[before[near]]], roads.way[arcs.edge[after[near]]]
    for way, via, to, only in roads.bans.tolist():
        coming = (start == way) & (node == via)
        if not (coming & (end == to)).any():
            continue  # its turn is not on these roads
        banned |= coming & ((end != to) if only else (end == to))
    return near[banned]
