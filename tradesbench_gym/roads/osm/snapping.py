"""Where the houses stand on the roads: the nearest stretch of each, and how far along it.

It knows points and stretches on a plane; motorways and ramps have no houses.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

import numpy as np
import numpy.typing as npt
from scipy.spatial import cKDTree

from tradesbench_gym.roads.layout import Int32Array, Int64Array, Plane, Road
from tradesbench_gym.roads.osm.network import DM_PER_METRE, Roads

SPACING_METRES: Final = 20.0
CANDIDATES: Final = 12
BLOCK: Final = 10_000
STRIP_METRES: Final = 10_000
# Farther from every road that hangs together with the rest: an island, or no house at all.
REACH_METRES: Final = 1_000
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
    `CANDIDATES`; on a tie the stretch of the lowest number. A point farther than `REACH_METRES`
    from every road is said to be farther than that; which road is named for it means nothing.
    """
    usable = np.flatnonzero((roads.road != Road.FREEWAY) & (roads.road != Road.RAMP))
    if not len(usable):
        usable = np.arange(len(roads.tail))
    nodes = _metres(plane, roads.lat_e6, roads.lon_e6)
    start, end = nodes[roads.tail[usable]], nodes[roads.head[usable]]
    south, north = (ends(start[:, 1], end[:, 1]) for ends in (np.minimum, np.maximum))
    points = _metres(plane, lat_e6, lon_e6)
    edge = np.zeros(len(points), dtype=np.int64)
    along, off = np.zeros(len(points)), np.full(len(points), 2.0 * REACH_METRES)
    # Strip by strip: the points along all roads at once would need much room.
    strip = np.floor(points[:, 1] / STRIP_METRES)
    for at in np.unique(strip).tolist():
        here = np.flatnonzero(strip == at)
        bottom, top = at * STRIP_METRES - REACH_METRES, (at + 1) * STRIP_METRES + REACH_METRES
        near = np.flatnonzero((north >= bottom) & (south <= top))
        if len(near):
            lines = _Lines(start[near], end[near], roads.dm[usable[near]])
            which, along[here], off[here] = lines.nearest(points[here])
            edge[here] = near[which]
    chosen = usable[edge]
    return Snapped(
        chosen,
        np.rint(along * roads.dm[chosen]).astype(np.int64),
        np.rint(off * DM_PER_METRE).astype(np.int64),
    )


class _Lines:
    """Stretches of road, to be asked for the nearest."""

    def __init__(self, start: FloatArray, end: FloatArray, dm: Int32Array) -> None:
        self._start, self._end = start, end
        pieces = np.maximum(np.ceil(dm / DM_PER_METRE / SPACING_METRES), 1).astype(int)
        self._owner = np.repeat(np.arange(len(dm)), pieces)
        order = np.arange(len(self._owner)) - np.repeat(np.cumsum(pieces) - pieces, pieces)
        share = (order + 0.5) / pieces[self._owner]
        step = (end - start)[self._owner]
        self._tree = cKDTree(start[self._owner] + step * share[:, None])

    def nearest(self, points: FloatArray) -> tuple[Int64Array, FloatArray, FloatArray]:
        """Of every point its stretch, how far along it (0 to 1) and how far off it stands."""
        parts = [self._nearest(points[k : k + BLOCK]) for k in range(0, len(points), BLOCK)]
        edge, along, off = (np.concatenate(column) for column in zip(*parts, strict=True))
        return edge, along, off

    def _nearest(self, points: FloatArray) -> tuple[Int64Array, FloatArray, FloatArray]:
        near = min(CANDIDATES, len(self._owner))
        _, samples = self._tree.query(points, k=near)
        edges = np.sort(self._owner[samples.reshape(len(points), near)], axis=1)
        first, step = self._start[edges], self._end[edges] - self._start[edges]
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
