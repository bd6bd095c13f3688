"""Fastest routes between anchors with scipy, turns counted: two processes, block by block.

It joins arcs, chains and turns into one graph and asks scipy for the way from every anchor. It
knows a network of `Roads` and no file.
"""

from __future__ import annotations

import multiprocessing
import os
import signal
import threading
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from multiprocessing.connection import wait
from typing import Any, Final

import numpy as np
import scipy
from scipy.sparse.csgraph import dijkstra

from tradesbench_gym.errors import MapError
from tradesbench_gym.roads.layout import Int32Array, Int64Array
from tradesbench_gym.roads.osm.arcs import DM_MASK, arcs_of, chains_between
from tradesbench_gym.roads.osm.network import DM_PER_METRE, Roads
from tradesbench_gym.roads.osm.turns import turn_graph
from tradesbench_gym.roads.routing import EXACT_LIMIT, sparse_graph

PROCESSES: Final = 2
BLOCK: Final = 64
# Distances of one block that a process holds at a time: 160 MB.
MOST_DISTANCES: Final = 20_000_000


class Scipy:
    """The default engine; `metres` gives the matrix block by block."""

    name = "scipy"
    version: str = scipy.__version__

    def __init__(self, roads: Roads) -> None:
        self._roads = roads

    def metres(self, anchors: Int64Array, done: int) -> Iterator[Int32Array]:
        """Rows `done` … of the matrix, some at a time: metres of the fastest routes, rounded up.

        Raises MapError when an anchor cannot be reached.
        """
        search = _search(self._roads, anchors)
        size = max(1, min(BLOCK, MOST_DISTANCES // search.graph.shape[0]))
        blocks = [
            range(low, min(low + size, len(anchors))) for low in range(done, len(anchors), size)
        ]
        for rows in _in_processes(search, blocks):
            if rows is None:
                raise MapError("An anchor cannot be reached by road.", code="map_disconnected")
            yield rows


@dataclass(frozen=True, slots=True)
class _Search:
    """A graph ready to be searched and, as `TurnGraph` says, where anchors stand in it."""

    graph: Any
    sources: Int64Array
    into: Int64Array
    into_start: Int64Array

    def rows(self, block: range) -> Int32Array | None:
        """Metres from the anchors of a block to all; None where one is out of reach."""
        sources = self.sources[block.start : block.stop]
        reached = dijkstra(self.graph, directed=True, indices=sources)[:, self.into]
        best = np.minimum.reduceat(reached, self.into_start, axis=1)
        best[np.arange(len(block)), list(block)] = 0
        if not (best < EXACT_LIMIT).all():
            return None
        dm = best.astype(np.int64) & DM_MASK
        return (-(-dm // DM_PER_METRE)).astype(np.int32)


def _search(roads: Roads, anchors: Int64Array) -> _Search:
    arcs = arcs_of(roads)
    turns = turn_graph(roads, arcs, chains_between(arcs, anchors), anchors)
    del arcs
    graph = sparse_graph(turns.tail, turns.head, turns.weight, turns.nodes)
    return _Search(graph, turns.sources, turns.into, turns.into_start)


def _in_processes(search: _Search, blocks: list[range]) -> Iterator[Int32Array | None]:
    if len(blocks) < 2:
        yield from map(search.rows, blocks)
        return
    # Spawned, not forked: whoever builds a map from a program may have threads.
    context = multiprocessing.get_context("spawn")
    pool = ProcessPoolExecutor(PROCESSES, context, initializer=_prepare, initargs=(search,))
    try:
        yield from pool.map(_rows, blocks)
    finally:
        pool.shutdown(wait=True, cancel_futures=True)


class _Worker:
    """What a process of the pool searches."""

    search: _Search


def _prepare(search: _Search) -> None:
    # Ctrl-C reaches every process of the terminal; the parent decides what becomes of the work.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    threading.Thread(target=_end_with_parent, daemon=True).start()
    _Worker.search = search


def _end_with_parent() -> None:
    """A pool's workers wait for work for ever when their parent is killed; these do not."""
    parent = multiprocessing.parent_process()
    if parent is not None:
        wait([parent.sentinel])
        os._exit(1)


def _rows(block: range) -> Int32Array | None:
    return _Worker.search.rows(block)
