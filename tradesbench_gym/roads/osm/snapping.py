"""Where the houses stand on the roads: the nearest stretch of each, and how far along it.

It knows points and stretches on a plane; motorways and ramps have no houses.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Final

import numpy as np
import numpy.typing as npt
from scipy.spatial import cKDTree

from tradesbench_gym.roads.layout import Int64Array, Plane, Road
from tradesbench_gym.roads.osm.network import DM_PER_METRE, Roads

SPACING_METRES: Final = 20.0
CANDIDATES: Final = 12
BLOCK: Final = 50_000
FloatArray = npt.NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Snapped:
    """For every point: its edge, decimetres from the edge's tail, decimetres off the road."""

    edge: Int64Array
    along: Int64Array
    off: Int64Array


def snap(roads: Roads, plane: Plane, lat_e6: Int64Array, lon_e6: Int64Array) -> Snapped:
    """The nearest stretch of road of each point, of those that houses stand on.

    Exact among the stretches of which a point within `SPACING_METRES` / 2 is one of the nearest
    `CANDIDATES`; on a tie the stretch of the lowest number.
    """
    usable = np.flatnonzero((roads.road != Road.FREEWAY) & (roads.road != Road.RAMP))
    if not len(usable):
        usable = np.arange(len(roads.tail))
    nodes = _metres(plane, roads.lat_e6, roads.lon_e6)
    start, end = nodes[roads.tail[usable]], nodes[roads.head[usable]]
    pieces = np.maximum(np.ceil(roads.dm[usable] / DM_PER_METRE / SPACING_METRES), 1).astype(int)
    owner = np.repeat(np.arange(len(usable)), pieces)
    order = np.arange(len(owner)) - np.repeat(np.cumsum(pieces) - pieces, pieces)
    share = (order + 0.5) / pieces[owner]
    tree = cKDTree(start[owner] + (end[owner] - start[owner]) * share[:, None])
    points = _metres(plane, lat_e6, lon_e6)
    near = min(CANDIDATES, len(owner))
    parts = [
        _nearest(points[low : low + BLOCK], tree, near, owner, start, end)
        for low in range(0, len(points), BLOCK)
    ]
    edge, along, off = (np.concatenate(column) for column in zip(*parts, strict=True))
    chosen = usable[edge]
    return Snapped(
        chosen,
        np.rint(along * roads.dm[chosen]).astype(np.int64),
        np.rint(off * DM_PER_METRE).astype(np.int64),
    )


def _nearest(
    points: FloatArray, tree: Any, near: int, owner: Int64Array, start: FloatArray, end: FloatArray
) -> tuple[Int64Array, FloatArray, FloatArray]:
    _, samples = tree.query(points, k=near)
    edges = np.sort(owner[samples.reshape(len(points), near)], axis=1)
    first, step = start[edges], end[edges] - start[edges]
    away = points[:, None, :] - first
    square = np.maximum((step * step).sum(axis=2), 1e-9)
    along = np.clip((away * step).sum(axis=2) / square, 0, 1)
    off = np.sqrt(((away - along[:, :, None] * step) ** 2).sum(axis=2))
    best = off.argmin(axis=1)
    row = np.arange(len(points))
    return edges[row, best], along[row, best], off[row, best]


def _metres(plane: Plane, lat_e6: Int64Array, lon_e6: Int64Array) -> FloatArray:
    north = (lat_e6 - plane.origin_lat_e6) * (plane.metres_per_degree_lat / 1e6)
    east = (lon_e6 - plane.origin_lon_e6) * (plane.metres_per_degree_lon / 1e6)
    return np.stack([east, north], axis=1)
