"""The ways that drives took, as lines to draw: from address to anchor, by road, to an address.

A run knows only the length of a drive; the line drawn is the fastest way over the map's own roads
between the two anchors, as the table of distances was made. On a map without roads it is straight.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import TypeAlias

import numpy as np
import numpy.typing as npt
from scipy.sparse import csr_array
from scipy.sparse.csgraph import dijkstra

from tradesbench_gym.company.business import Business
from tradesbench_gym.report.html.facts import Doing, Stretch
from tradesbench_gym.roads import RoadMap
from tradesbench_gym.roads.routing import travel_weights

Line: TypeAlias = list[tuple[int, int]]
"""Points of a line, whole metres east and north of the map's origin."""
Pair: TypeAlias = tuple[int, int]

_TOLERANCE_M = 60.0
_NOWHERE = -9999
_BATCH = 16


def ways_of(business: Business, drives: Iterable[Stretch], ends: dict[int, int]) -> list[Line]:
    """The line of each drive, in order.

    Args:
        business: of the run.
        drives: stretches of driving.
        ends: the address of every job.

    """
    wanted = [drive for drive in drives if drive.doing is Doing.DRIVE]
    legs = [_anchors(business, drive, ends[drive.job]) for drive in wanted]
    between = _roads_between(business.roadmap, set(legs))
    lines = []
    for drive, pair in zip(wanted, legs, strict=True):
        first, last = _start(business, drive), _place(business, ends[drive.job])
        same = drive.start_address == ends[drive.job]
        lines.append(simplified([first, *([] if same else between[pair]), last]))
    return lines


def _anchors(business: Business, drive: Stretch, end: int) -> Pair:
    if drive.start_address is None:
        start = int(business.params[0]["home_anchor"][drive.technician])
    else:
        start = int(business.places[drive.start_address]["anchor"])
    return start, int(business.places[end]["anchor"])


def _start(business: Business, drive: Stretch) -> Pair:
    if drive.start_address is not None:
        return _place(business, drive.start_address)
    book = business.handbook
    return int(book["home_x"][drive.technician]), int(book["home_y"][drive.technician])


def _place(business: Business, address: int) -> Pair:
    place = business.places[address]
    return int(place["x"]), int(place["y"])


def _roads_between(roadmap: RoadMap, pairs: set[Pair]) -> dict[Pair, Line]:
    """The points of the fastest way between two anchors, both included."""
    anchors = roadmap.anchors
    ends = {pair: [_spot(anchors, anchor) for anchor in dict.fromkeys(pair)] for pair in pairs}
    nodes = _nodes_of(roadmap)
    if nodes is None:
        return ends
    network = roadmap.network
    x, y = roadmap.plane.east(network.nodes["lon_e6"]), roadmap.plane.north(network.nodes["lat_e6"])
    matrix, found = _matrix(roadmap), dict(ends)
    starts = sorted({pair[0] for pair in pairs})
    for low in range(0, len(starts), _BATCH):
        part = starts[low : low + _BATCH]
        _, before = dijkstra(matrix, indices=nodes[part], return_predecessors=True)
        for row, start in enumerate(part):
            for pair in (pair for pair in pairs if pair[0] == start):
                trail = _trail(before[row], int(nodes[start]), int(nodes[pair[1]]))
                if trail:
                    found[pair] = [(int(x[node]), int(y[node])) for node in trail]
    return found


def _spot(anchors: npt.NDArray[np.void], anchor: int) -> Pair:
    return int(anchors[anchor]["x"]), int(anchors[anchor]["y"])


def _nodes_of(roadmap: RoadMap) -> npt.NDArray[np.int64] | None:
    """The node of the road network on which each anchor lies; None if one lies on none."""
    nodes = roadmap.network.nodes
    known = {
        place: node
        for node, place in enumerate(
            zip(nodes["lat_e6"].tolist(), nodes["lon_e6"].tolist(), strict=True)
        )
    }
    anchors = roadmap.anchors
    places = zip(anchors["lat_e6"].tolist(), anchors["lon_e6"].tolist(), strict=True)
    found = np.array([known.get(place, -1) for place in places], np.int64)
    return None if (found < 0).any() else found


def _matrix(roadmap: RoadMap) -> csr_array:
    network = roadmap.network
    edges, weights = network.edges, travel_weights(network).astype(np.float64)
    back = edges["oneway"] == 0
    rows = np.concatenate([edges["tail"], edges["head"][back]])
    columns = np.concatenate([edges["head"], edges["tail"][back]])
    values = np.concatenate([weights, weights[back]])
    # Of parallel roads the fastest counts: a sparse matrix would add them up.
    order = np.lexsort((values, columns, rows))
    rows, columns, values = rows[order], columns[order], values[order]
    first = np.ones(len(rows), np.bool_)
    first[1:] = (rows[1:] != rows[:-1]) | (columns[1:] != columns[:-1])
    size = len(network.nodes)
    return csr_array((values[first], (rows[first], columns[first])), shape=(size, size))


def _trail(before: npt.NDArray[np.int32], start: int, end: int) -> list[int]:
    """The nodes from start to end; none if no road leads there."""
    trail = [end]
    while trail[-1] != start:
        previous = int(before[trail[-1]])
        if previous == _NOWHERE:
            return []
        trail.append(previous)
    return trail[::-1]


def simplified(line: Line) -> Line:
    """A line with fewer points that strays no more than 60 m from the old one.

    >>> simplified([(0, 0), (500, 10), (1000, 0), (1000, 1000)])
    [(0, 0), (1000, 0), (1000, 1000)]
    """
    points = np.array(line, np.float64)
    keep = np.zeros(len(points), np.bool_)
    keep[[0, -1]] = True
    waiting = [(0, len(points) - 1)]
    while waiting:
        low, high = waiting.pop()
        if high - low < 2:
            continue
        away = _distances(points[low + 1 : high], points[low], points[high])
        if away.max() > _TOLERANCE_M:
            middle = low + 1 + int(away.argmax())
            keep[middle] = True
            waiting += [(low, middle), (middle, high)]
    return [line[index] for index in np.flatnonzero(keep).tolist()]


def _distances(
    points: npt.NDArray[np.float64], start: npt.NDArray[np.float64], end: npt.NDArray[np.float64]
) -> npt.NDArray[np.float64]:
    """How far points lie from a stretch, not from the line through it: ways turn back."""
    along = end - start
    length = float(along @ along)
    share = np.clip((points - start) @ along / length, 0, 1) if length else np.zeros(len(points))
    gap = points - (start + share[:, None] * along)
    away: npt.NDArray[np.float64] = np.hypot(gap[:, 0], gap[:, 1])
    return away
