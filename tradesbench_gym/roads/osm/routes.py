"""Fastest routes between anchors with scipy: chains of bends contracted, two processes, by blocks.

An edge weighs its milliseconds × 2²⁴ + decimetres, a whole number that float64 holds exactly, so
that the fastest route is unique and its low bits are its length (the idea of `roads.routing`, with
decimetres). It knows a network of `Roads` and no engine but scipy.
"""

from __future__ import annotations

import multiprocessing
import signal
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from typing import Any, Final

import numpy as np
import scipy
from scipy.sparse.csgraph import dijkstra

from tradesbench_gym.errors import MapError
from tradesbench_gym.roads.layout import Int32Array, Int64Array
from tradesbench_gym.roads.osm.network import DM_PER_METRE, Roads
from tradesbench_gym.roads.routing import EXACT_LIMIT, sparse_graph

DM_BITS: Final = 24
DM_MASK: Final = (1 << DM_BITS) - 1
MILLISECONDS_PER_DM_AT_1_KMH: Final = 360
# What it costs to turn into a private road: more than any way round, so that a route begins or ends
# in one and never passes through.
ENTERING_MILLISECONDS: Final = 3_000_000
PROCESSES: Final = 2
BLOCK: Final = 64
VERSION: Final = scipy.__version__


@dataclass(frozen=True, slots=True)
class Arcs:
    """Directed arcs with their weights, and how many nodes they join."""

    tail: Int64Array
    head: Int64Array
    weight: Int64Array
    nodes: int


def arcs_of(roads: Roads) -> Arcs:
    """Every permitted direction of every edge; of parallel ones the fastest."""
    milliseconds = roads.dm * MILLISECONDS_PER_DM_AT_1_KMH // roads.speed
    back = roads.oneway == 0
    tail = np.concatenate([roads.tail, roads.head[back]])
    head = np.concatenate([roads.head, roads.tail[back]])
    edge = np.concatenate([np.arange(len(back)), np.flatnonzero(back)])
    public = np.zeros(len(roads.lat_e6), dtype=np.bool_)
    public[tail[roads.restricted[edge] == 0]] = True
    public[head[roads.restricted[edge] == 0]] = True
    entering = (roads.restricted[edge] == 1) & public[tail]
    weight = ((milliseconds[edge] + entering * ENTERING_MILLISECONDS) << DM_BITS) + roads.dm[edge]
    order = np.lexsort((weight, head, tail))
    tail, head, weight = tail[order], head[order], weight[order]
    first = np.ones(len(tail), dtype=np.bool_)
    first[1:] = (tail[1:] != tail[:-1]) | (head[1:] != head[:-1])
    return Arcs(tail[first], head[first], weight[first], len(roads.lat_e6))


def contract(arcs: Arcs, wanted: Int64Array) -> tuple[Arcs, Int64Array]:
    """The same routes between the `wanted` nodes, over junctions only, and their new numbers.

    A node on a chain (one road passing through) is left out and the arcs along it added up.
    """
    through = _through(arcs)
    through[wanted] = False
    tail, head = arcs.tail, arcs.head
    start = np.searchsorted(tail, np.arange(arcs.nodes + 1))
    # The arc that goes on from each arc, itself where it ends at a node that stays.
    inner = np.flatnonzero(through[head])
    first = start[head[inner]]
    turns_back = head[first] == tail[inner]
    following = np.arange(len(tail))
    following[inner] = first + turns_back
    last, weight = following.copy(), arcs.weight.copy()
    weight[inner] += arcs.weight[following[inner]]
    _run_on(last, weight, arcs, through)
    begin = np.flatnonzero(~through[tail])
    number = np.cumsum(~through) - 1
    result = Arcs(
        number[tail[begin]], number[head[last[begin]]], weight[begin], int((~through).sum())
    )
    return result, number[wanted]


def _through(arcs: Arcs) -> Any:
    """Nodes that one road passes through: two ways from one neighbour to another, or one way."""
    out = np.bincount(arcs.tail, minlength=arcs.nodes)
    into = np.bincount(arcs.head, minlength=arcs.nodes)
    sums = np.zeros((2, 2, arcs.nodes), dtype=np.int64)
    for side, (here, there) in enumerate(((arcs.tail, arcs.head), (arcs.head, arcs.tail))):
        np.add.at(sums[side, 0], here, there)
        np.add.at(sums[side, 1], here, there * there)
    same = (sums[0] == sums[1]).all(axis=0)  # for two neighbours: sum and squares tell them apart
    return ((out == 2) & (into == 2) & same) | ((out == 1) & (into == 1) & ~same)


def _run_on(last: Int64Array, weight: Int64Array, arcs: Arcs, through: Any) -> None:
    """Follow every arc to the end of its chain, doubling the stride; sums up in `weight`."""
    while True:
        ends = ~through[arcs.head[last]]
        if ends.all() or (last == last[last]).all():
            return
        going = np.flatnonzero(~ends)
        step = last[going]
        # `weight` of an arc counts every arc up to and including `last`.
        weight[going] += weight[step] - arcs.weight[step]
        last[going] = last[step]


class Scipy:
    """The default engine; `metres` gives the matrix block by block."""

    name = "scipy"
    version = VERSION

    def __init__(self, roads: Roads) -> None:
        self._arcs = arcs_of(roads)

    def metres(self, anchors: Int64Array, done: int) -> Iterator[Int32Array]:
        """Rows `done` … of the matrix, some at a time: metres of the fastest routes, rounded up.

        Raises MapError when an anchor cannot be reached.
        """
        arcs, places = contract(self._arcs, anchors)
        blocks = [places[low : low + BLOCK] for low in range(done, len(places), BLOCK)]
        if not blocks:
            return
        # Spawned, not forked: whoever builds a map from a program may have threads.
        context = multiprocessing.get_context("spawn")
        pool = ProcessPoolExecutor(
            min(PROCESSES, len(blocks)), context, initializer=_prepare, initargs=(arcs, places)
        )
        try:
            for rows in pool.map(_rows, blocks):
                if rows is None:
                    raise MapError("An anchor cannot be reached by road.", code="map_disconnected")
                yield rows
        finally:
            pool.shutdown(wait=True, cancel_futures=True)


class _Worker:
    graph: Any
    places: Int64Array


def _prepare(arcs: Arcs, places: Int64Array) -> None:
    # Ctrl-C reaches every process of the terminal; the parent decides what becomes of the work.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    _Worker.graph = sparse_graph(arcs.tail, arcs.head, arcs.weight, arcs.nodes)
    _Worker.places = places


def _rows(sources: Int64Array) -> Int32Array | None:
    reached = dijkstra(_Worker.graph, directed=True, indices=sources)[:, _Worker.places]
    if not (reached < EXACT_LIMIT).all():
        return None
    dm = reached.astype(np.int64) & DM_MASK
    return (-(-dm // DM_PER_METRE)).astype(np.int32)
