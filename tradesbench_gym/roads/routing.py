"""Fastest routes over a network, exactly: the matrix of metres and the way to the nearest anchor.

Every edge weighs time × 2²⁰ + metres, a whole number that float64 holds exactly as long as a route
stays under 2⁵³. The shortest such weight is the fastest route and among equally fast ones the
shortest; it is unique, so no solver's way of breaking ties can show, and its low 20 bits are the
metres driven. The module knows `Network` records and scipy, no city.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

import numpy as np
import numpy.typing as npt
from scipy.sparse import csr_array
from scipy.sparse.csgraph import connected_components, dijkstra

from tradesbench_gym.errors import MapError
from tradesbench_gym.roads.content import Network
from tradesbench_gym.roads.layout import Int32Array, Int64Array

METRES_BITS: Final = 20
METRES_MASK: Final = (1 << METRES_BITS) - 1
ANCHOR_BITS: Final = 16
EXACT_LIMIT: Final = 1 << 53
MILLISECONDS_PER_METRE_AT_1_KMH: Final = 3600
BATCH: Final = 64

Report = Callable[[int, int], None]


def travel_weights(network: Network) -> Int64Array:
    """Time in milliseconds × 2²⁰ + metres of every edge, int64."""
    metres = network.edges["metres"].astype(np.int64)
    milliseconds = metres * MILLISECONDS_PER_METRE_AT_1_KMH // network.edges["speed"]
    weights: Int64Array = (milliseconds << METRES_BITS) + metres
    return weights


def anchor_metres(
    network: Network, anchors: Int32Array, report: Report = lambda *_: None
) -> Int32Array:
    """Metres of the fastest route between all pairs of anchors, int32 of shape (A, A).

    Raises MapError when one anchor cannot be reached from another.
    """
    matrix = _matrix(network, travel_weights(network))
    result = np.empty((len(anchors), len(anchors)), dtype=np.int32)
    for low in range(0, len(anchors), BATCH):
        high = min(low + BATCH, len(anchors))
        reached = dijkstra(matrix, directed=True, indices=anchors[low:high])[:, anchors]
        if not (reached < EXACT_LIMIT).all():
            raise MapError("An anchor cannot be reached by road.", code="map_disconnected")
        result[low:high] = (reached.astype(np.int64) & METRES_MASK).astype(np.int32)
        report(high, len(anchors))
    return result


def nearest_anchors(network: Network, anchors: Int32Array) -> tuple[Int32Array, Int32Array]:
    """For every node the anchor nearest by road and the metres to it, int32 each.

    A source joined to anchor k by weight k + 1 carries the anchor's number through the sums, so
    that equally near anchors yield to the lowest.
    """
    edges, count = network.edges, len(network.nodes)
    back = edges["oneway"] == 0
    weights = edges["metres"].astype(np.int64) << ANCHOR_BITS
    # Routes lead from addresses to anchors: the search from the anchors runs against traffic.
    rows = np.concatenate([edges["head"], edges["tail"][back], np.full(len(anchors), count)])
    columns = np.concatenate([edges["tail"], edges["head"][back], anchors])
    values = np.concatenate([weights, weights[back], np.arange(1, len(anchors) + 1)])
    graph = sparse_graph(rows, columns, values, count + 1)
    reached = dijkstra(graph, directed=True, indices=np.array([count]))[0, :count]
    if not (reached < EXACT_LIMIT).all():
        raise MapError("A junction cannot reach any anchor by road.", code="map_disconnected")
    whole = reached.astype(np.int64)
    nearest = (whole & ((1 << ANCHOR_BITS) - 1)) - 1
    return nearest.astype(np.int32), (whole >> ANCHOR_BITS).astype(np.int32)


def largest_part(network: Network) -> npt.NDArray[np.bool_]:
    """Which nodes belong to the largest part in which every node reaches every other."""
    matrix = _matrix(network, np.ones(len(network.edges), dtype=np.int64))
    _, label = connected_components(matrix, directed=True, connection="strong")
    result: npt.NDArray[np.bool_] = label == np.argmax(np.bincount(label))
    return result


def _matrix(network: Network, weights: Int64Array) -> Any:
    edges = network.edges
    back = edges["oneway"] == 0
    rows = np.concatenate([edges["tail"], edges["head"][back]])
    columns = np.concatenate([edges["head"], edges["tail"][back]])
    return sparse_graph(rows, columns, np.concatenate([weights, weights[back]]), len(network.nodes))


def sparse_graph(
    rows: npt.NDArray[Any], columns: npt.NDArray[Any], values: Int64Array, size: int
) -> Any:
    """A sparse graph; of parallel edges the lightest counts (a sparse matrix would add them up)."""
    order = np.lexsort((values, columns, rows))
    rows, columns, values = rows[order], columns[order], values[order]
    first = np.ones(len(rows), dtype=np.bool_)
    first[1:] = (rows[1:] != rows[:-1]) | (columns[1:] != columns[:-1])
    exact = values[first].astype(np.float64)
    return csr_array((exact, (rows[first], columns[first])), shape=(size, size))
