"""Directed arcs of a network with exact weights, and chains of them from junction to junction.

An arc weighs its deciseconds × 2²⁴ + decimetres, a whole number that float64 holds exactly, so
that the fastest route is unique and its low bits are its length (the idea of `roads.routing`, with
decimetres). It knows arrays, no turn and no routing engine.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

import numpy as np
import numpy.typing as npt

from tradesbench_gym.roads.layout import Int64Array
from tradesbench_gym.roads.osm.network import Roads

DM_BITS: Final = 24
DM_MASK: Final = (1 << DM_BITS) - 1
# What it costs to turn into a private road: more than any way round, so that a route begins or ends
# in one and never passes through.
ENTERING_DS: Final = 32_767
Mask = npt.NDArray[np.bool_]


@dataclass(frozen=True, slots=True)
class Arcs:
    """Directed arcs: nodes, weight, and the edge of `Roads` each runs along; `inside` marks the
    nodes that one road passes through, where nothing is lost.
    """

    tail: Int64Array
    head: Int64Array
    weight: Int64Array
    edge: Int64Array
    inside: Mask

    @property
    def nodes(self) -> int:
        """How many nodes there are."""
        return len(self.inside)


@dataclass(frozen=True, slots=True)
class Chains:
    """Runs of arcs from one kept node to the next: `first` and `last` arc, the sum of weights."""

    first: Int64Array
    last: Int64Array
    weight: Int64Array


def arcs_of(roads: Roads) -> Arcs:
    """Every permitted direction of every edge, ordered by tail."""
    back = np.flatnonzero(roads.oneway == 0)
    tail = np.concatenate([roads.tail, roads.head[back]]).astype(np.int64)
    head = np.concatenate([roads.head, roads.tail[back]]).astype(np.int64)
    edge = np.concatenate([np.arange(len(roads.tail)), back])
    lost = np.concatenate([roads.wait, roads.wait_back[back]])
    private = roads.restricted[edge] == 1
    public = np.zeros(len(roads.lat_e6), dtype=np.bool_)
    public[tail[~private]] = True
    public[head[~private]] = True
    lost = lost + (private & public[tail]) * ENTERING_DS
    weight = ((roads.ds[edge].astype(np.int64) + lost) << DM_BITS) + roads.dm[edge]
    order = np.lexsort((weight, head, tail))
    tail, head = tail[order], head[order]
    inside = _through(tail, head, len(roads.lat_e6)) & (roads.legs == 2)
    return Arcs(tail, head, weight[order], edge[order], inside)


def chains_between(arcs: Arcs, wanted: Int64Array) -> Chains:
    """The arcs from junction to junction; the `wanted` nodes count as junctions."""
    inside = arcs.inside.copy()
    inside[wanted] = False
    last = onward(arcs, inside)
    inner = np.flatnonzero(inside[arcs.head])
    weight = arcs.weight.copy()
    weight[inner] += arcs.weight[last[inner]]
    _run_on(last, weight, arcs, inside)
    begin = np.flatnonzero(~inside[arcs.tail])
    return Chains(begin, last[begin], weight[begin])


def onward(arcs: Arcs, inside: Mask) -> Int64Array:
    """The arc that goes on from each arc over a node `inside` a road, itself at other nodes."""
    start = np.searchsorted(arcs.tail, np.arange(arcs.nodes + 1))
    inner = np.flatnonzero(inside[arcs.head])
    first = start[arcs.head[inner]]
    turns_back = arcs.head[first] == arcs.tail[inner]
    result = np.arange(len(arcs.tail))
    result[inner] = first + turns_back
    return result


def _through(tail: Int64Array, head: Int64Array, nodes: int) -> Mask:
    """Nodes that one road passes through: two ways from one neighbour to another, or one way."""
    out = np.bincount(tail, minlength=nodes)
    into = np.bincount(head, minlength=nodes)
    sums = np.zeros((2, 2, nodes), dtype=np.int64)
    for side, (here, there) in enumerate(((tail, head), (head, tail))):
        np.add.at(sums[side, 0], here, there)
        np.add.at(sums[side, 1], here, there * there)
    # Two neighbours are told apart by their sum and the sum of their squares.
    same = (sums[0] == sums[1]).all(axis=0)
    distinct = 2 * sums[0, 1] != sums[0, 0] * sums[0, 0]
    result: Mask = (out == 2) & (into == 2) & same & distinct
    result |= (out == 1) & (into == 1) & ~same
    return result


def _run_on(last: Int64Array, weight: Int64Array, arcs: Arcs, inside: Mask) -> None:
    """Follow every arc to the end of its chain, doubling the stride; sums up in `weight`."""
    while True:
        going = np.flatnonzero(inside[arcs.head[last]])
        step = last[going]
        if not len(going) or (last[step] == step).all():
            return
        # The weight of an arc counts every arc up to and including its `last`.
        weight[going] += weight[step] - arcs.weight[step]
        last[going] = last[step]
