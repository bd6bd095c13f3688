"""In which direction roads leave and reach their junctions, for what a turn costs goes by angle.

Most roads lead where their first segment points; where that is short, `sight` judges, and the two
carriageways of a road are `merged`. It knows arcs and no cost.
"""

from __future__ import annotations

from typing import Final

import numpy as np

from tradesbench_gym.roads.layout import Int64Array
from tradesbench_gym.roads.osm.arcs import Arcs, Mask, onward
from tradesbench_gym.roads.osm.merging import merged
from tradesbench_gym.roads.osm.network import DM_PER_METRE, FloatArray, Roads, band, scales
from tradesbench_gym.roads.osm.sight import LANE, Manner, Point, clear, seen
from tradesbench_gym.roads.osm.tags import HIGHWAYS, look_of

# No road is followed farther: what is judged lies within the first metres.
MOST_POINTS: Final = 60
ASSUMED_LANES: Final = 2
BLOCK: Final = 100_000
# What meets at a junction is the wider the greater the road.
WIDENINGS: Final = {
    "motorway": 2.5, "motorway_link": 2.5, "trunk": 2.5, "trunk_link": 2.5, "primary": 1.5,
}  # fmt: skip


def headings(roads: Roads, arcs: Arcs) -> tuple[FloatArray, FloatArray, Int64Array]:
    """Degrees, clockwise from north, in which every arc leaves its tail and arrives at its head,
    and how many roads are seen to meet at every node.
    """
    ahead = onward(arcs, arcs.inside)
    behind = np.arange(len(ahead))
    inner = np.flatnonzero(arcs.inside[arcs.head])
    behind[ahead[inner]] = inner
    for follow in (ahead, behind):
        _end_where_roads_change(roads, arcs, follow)
    for _ in range(2):  # a loop parts in two, and those two join the same nodes
        _end_beside_others(arcs, ahead, behind)
    lanes = _lanes(roads)
    leaving = _bearings(roads, arcs, (arcs.tail, arcs.head), ahead, lanes)
    arriving = _bearings(roads, arcs, (arcs.head, arcs.tail), behind, lanes) + 180
    return merged(roads, arcs, leaving, arriving, ahead, behind)


def _end_where_roads_change(roads: Roads, arcs: Arcs, follow: Int64Array) -> None:
    """Follow no road farther than its name, its class, its access and whether its directions are
    alike: there OSRM begins another road, and looks no farther. The number of lanes may change.
    """
    look = look_of(roads.look)
    for column in (roads.name, look.highway, look.circular, look.split, roads.restricted):
        changes = np.flatnonzero(column[arcs.edge] != column[arcs.edge[follow]])
        follow[changes] = changes


def _end_beside_others(arcs: Arcs, ahead: Int64Array, behind: Int64Array) -> None:
    """Of several roads from one node to another, OSRM sees only one as a whole: in the order of the
    nodes' numbers it draws segments together where that makes no second road between two nodes. So
    the others end at their node of the highest number, and so does a loop.
    """
    last, top = ahead, np.where(ahead != np.arange(len(ahead)), arcs.head, -1)
    while (last[last] != last).any():
        top = np.maximum(top, top[last])
        last = last[last]
    begin = np.flatnonzero(behind == np.arange(len(behind)))
    one, other, top = arcs.tail[begin], arcs.head[last[begin]], top[begin]
    pair = np.minimum(one, other) * arcs.nodes + np.maximum(one, other)
    order = np.lexsort((top, pair))
    pair, top, loop = pair[order], top[order], (one == other)[order]
    opens = np.append(True, pair[1:] != pair[:-1])
    lowest = top[opens][np.cumsum(opens) - 1]
    ends = np.zeros(arcs.nodes, dtype=np.bool_)
    ends[top[(top > lowest) | (loop & (top >= 0))]] = True
    for follow, node in ((ahead, arcs.head), (behind, arcs.tail)):
        here = np.flatnonzero(ends[node])
        follow[here] = here


def _lanes(roads: Roads) -> Int64Array:
    """The most lanes of a road at every node, by its tags; 0 for none."""
    lanes = look_of(roads.look).lanes
    most = np.zeros(len(roads.lat_e6), dtype=np.int64)
    np.maximum.at(most, roads.tail, lanes)
    np.maximum.at(most, roads.head, lanes)
    return most


def _bearings(
    roads: Roads, arcs: Arcs, ends: tuple[Int64Array, Int64Array], follow: Int64Array,
    lanes: Int64Array,
) -> FloatArray:  # fmt: skip
    """Degrees from the first end of every arc along it; `follow` is the arc behind its second."""
    near, far = ends
    lon, lat = roads.lon_e6[far].astype(np.float64), roads.lat_e6[far].astype(np.float64)
    unclear = np.flatnonzero(_unclear(roads, arcs, near, follow))
    look, most = look_of(roads.look[arcs.edge[unclear]]), lanes[near[unclear]]
    widening = np.array([WIDENINGS.get(name, 1.0) for name in (*HIGHWAYS, "")])[look.highway]
    width = widening * np.where(most > 0, most, ASSUMED_LANES) * LANE
    minor = look.highway >= list(HIGHWAYS).index("service")
    for row, arc in enumerate(unclear.tolist()):
        manner = Manner(bool(minor[row]), bool(look.circular[row]), float(width[row]))
        if not clear(manner, float(roads.dm[arcs.edge[arc]]) / DM_PER_METRE - 1):
            lon[arc], lat[arc] = seen(_line(roads, near, far, follow, arc), manner)
    for low in range(0, len(near), BLOCK):
        part = slice(low, low + BLOCK)
        lat[part] = _degrees(roads, near[part], lat[part], lon[part])
    return lat


def _degrees(roads: Roads, near: Int64Array, lat: FloatArray, lon: FloatArray) -> FloatArray:
    """Directions from nodes to points, clockwise from north."""
    along, across = scales(band((roads.lat_e6[near] + lat) / 2))
    degrees: FloatArray = np.degrees(
        np.arctan2((lon - roads.lon_e6[near]) * across, (lat - roads.lat_e6[near]) * along)
    )
    return degrees


def _line(
    roads: Roads, near: Int64Array, far: Int64Array, follow: Int64Array, arc: int
) -> list[Point]:
    """The points from the near end of an arc on, each once."""
    nodes = [int(near[arc]), int(far[arc])]
    while follow[arc] != arc and len(nodes) < MOST_POINTS:
        arc = int(follow[arc])
        nodes.append(int(far[arc]))
    points: list[Point] = []
    for node in nodes:
        point = int(roads.lon_e6[node]), int(roads.lat_e6[node])
        if len(points) < 2 or point != points[-1]:
            points.append(point)
    return points


def _unclear(roads: Roads, arcs: Arcs, near: Int64Array, follow: Int64Array) -> Mask:
    """Arcs that begin at a junction and are not the whole of their road."""
    result: Mask = ~arcs.inside[near] & (roads.legs[near] > 2)
    result &= follow != np.arange(len(follow))
    return result
