"""The ground of the map: where metres lie on the panel, zones, roads, hills and water.

Everything here is public and stands still for a whole run, so it is drawn once for a business and
kept; only the tint of the zones changes, once a day. Drawn at twice the size, for smooth edges.
"""

from __future__ import annotations

import math
from functools import cached_property, lru_cache
from typing import Any, Final

import numpy as np
import numpy.typing as npt
from PIL import Image, ImageDraw

from tradesbench_gym.core.codes import Condition
from tradesbench_gym.envs.picture.layout import Ground
from tradesbench_gym.envs.picture.palette import BORDER, FREEWAY, HILL, PAGE, ROAD, SKIES, WATER
from tradesbench_gym.roads import RoadMap
from tradesbench_gym.roads.layout import Landmark, Road, to_e6

FINE: Final = 2
"""How many times larger than the panel the ground is drawn."""
Point = tuple[float, float]
_MARGIN: Final = 14
_REACH_METRES: Final = 2_500
_LINES: Final = ((Road.ARTERIAL, ROAD, 1), (Road.RAMP, FREEWAY, 1), (Road.FREEWAY, FREEWAY, 4))
_NOWHERE: Final = 255
_SKIES_KEPT: Final = 4


@lru_cache(maxsize=4)
def city_of(roadmap: RoadMap, size: tuple[int, int]) -> City:
    """The ground of a map, the same one for everybody who draws on it."""
    return City(roadmap, size)


class City:
    """A map's ground for a panel of a size.

    Args:
        roadmap: the map.
        size: width and height of the panel in pixels.

    """

    def __init__(self, roadmap: RoadMap, size: tuple[int, int]) -> None:
        self._roadmap = roadmap
        self.size = size
        xs, ys = roadmap.anchors["x"], roadmap.anchors["y"]
        west, east = int(xs.min()), int(xs.max())
        south, north = int(ys.min()), int(ys.max())
        room = (size[0] - 2 * _MARGIN, size[1] - 2 * _MARGIN)
        self.scale = min(room[0] / max(1, east - west), room[1] / max(1, north - south))
        """Pixels a metre."""
        self._middle = ((west + east) / 2, (south + north) / 2)
        self._tinted: dict[bytes, Image.Image] = {}

    def place(self, x: float, y: float) -> Point:
        """Where metres east and north lie on the panel, kept inside it."""
        across = self.size[0] / 2 + (x - self._middle[0]) * self.scale
        down = self.size[1] / 2 - (y - self._middle[1]) * self.scale
        edge = _MARGIN / 2
        return (
            min(max(across, edge), self.size[0] - edge),
            min(max(down, edge), self.size[1] - edge),
        )

    def centre(self, zone: int) -> Point:
        """Where the middle of a zone lies on the panel."""
        about, plane = self._roadmap.zones[zone], self._roadmap.plane
        return self.place(float(plane.east(to_e6(about.lon))), float(plane.north(to_e6(about.lat))))

    def ground(self, conditions: npt.NDArray[Any]) -> Image.Image:
        """The ground under a weather, shape (zones,) of `Condition`, at `FINE` times the size."""
        known = conditions.tobytes()
        if known not in self._tinted:
            if len(self._tinted) >= _SKIES_KEPT:
                del self._tinted[next(iter(self._tinted))]
            self._tinted[known] = self._painted(conditions)
        return self._tinted[known]

    def _painted(self, conditions: npt.NDArray[Any]) -> Image.Image:
        tints = np.full((256, 3), PAGE, np.uint8)
        for zone, condition in enumerate(conditions.tolist()):
            tints[zone] = SKIES[Condition(condition)]
        small = Image.fromarray(tints[self.zones])
        large = (self.size[0] * FINE, self.size[1] * FINE)
        ground = small.resize(large, Image.Resampling.NEAREST)
        for tint, mask in self._layers:
            ground.paste(tint, (0, 0), mask)
        return ground

    @cached_property
    def zones(self) -> npt.NDArray[np.uint8]:
        """The zone of each pixel: that of the nearest anchor, if one is near; shape (h, w)."""
        from scipy.spatial import KDTree  # not before somebody looks at a map

        anchors = self._roadmap.anchors
        across, down = np.meshgrid(np.arange(self.size[0]), np.arange(self.size[1]))
        x = self._middle[0] + (across + 0.5 - self.size[0] / 2) / self.scale
        y = self._middle[1] - (down + 0.5 - self.size[1] / 2) / self.scale
        tree = KDTree(np.stack([anchors["x"], anchors["y"]], axis=1))
        ground = float(np.ptp(anchors["x"])) * float(np.ptp(anchors["y"]))
        reach = max(_REACH_METRES, math.sqrt(ground / len(anchors)))
        away, nearest = tree.query(np.stack([x.ravel(), y.ravel()], axis=1))
        zones = np.where(away <= reach, anchors["zone"][nearest], _NOWHERE)
        return zones.reshape(x.shape).astype(np.uint8)

    @cached_property
    def labels(self) -> Ground:
        """Where labels of zones may stand."""
        return Ground(self.zones)

    @cached_property
    def _layers(self) -> list[tuple[Any, Image.Image]]:
        """What lies above the tint, from below: colour and mask."""
        hills = [mark for mark in self._roadmap.landmarks if not mark.width]
        waters = [mark for mark in self._roadmap.landmarks if mark.width]
        layers = [(HILL, self._outlines(hills)), (WATER, self._rivers(waters))]
        layers += [(tint, self._roads(road, width)) for road, tint, width in _LINES]
        return [*layers, (BORDER, self._borders())]

    def _mask(self) -> tuple[Image.Image, Any]:
        mask = Image.new("L", (self.size[0] * FINE, self.size[1] * FINE))
        return mask, ImageDraw.Draw(mask)

    def _fine(self, x: Any, y: Any) -> tuple[Any, Any]:
        across = self.size[0] / 2 + (x - self._middle[0]) * self.scale
        down = self.size[1] / 2 - (y - self._middle[1]) * self.scale
        return across * FINE, down * FINE

    def _corners(self, mark: Landmark) -> list[Point]:
        plane = self._roadmap.plane
        return [
            self._fine(float(plane.east(to_e6(lon))), float(plane.north(to_e6(lat))))
            for lat, lon in mark.points
        ]

    def _outlines(self, marks: list[Landmark]) -> Image.Image:
        mask, draw = self._mask()
        for mark in marks:
            draw.polygon(self._corners(mark), fill=255)
        return mask

    def _rivers(self, marks: list[Landmark]) -> Image.Image:
        mask, draw = self._mask()
        for mark in marks:
            wide = max(2, round(mark.width * self.scale * FINE))
            draw.line(self._corners(mark), fill=255, width=wide, joint="curve")
        return mask

    def _roads(self, road: Road, width: int) -> Image.Image:
        mask, draw = self._mask()
        network, plane = self._roadmap.network, self._roadmap.plane
        edges = network.edges[network.edges["road"] == road]
        x, y = self._fine(
            plane.east(network.nodes["lon_e6"]).astype(float),
            plane.north(network.nodes["lat_e6"]).astype(float),
        )
        tails, heads = edges["tail"], edges["head"]
        ends = np.stack([x[tails], y[tails], x[heads], y[heads]], axis=1)
        for line in ends.tolist():
            draw.line(line, fill=255, width=width)
        return mask

    def _borders(self) -> Image.Image:
        zones = self.zones
        border = np.zeros(zones.shape, np.bool_)
        border[:, 1:] |= zones[:, 1:] != zones[:, :-1]
        border[1:] |= zones[1:] != zones[:-1]
        large = (self.size[0] * FINE, self.size[1] * FINE)
        mask = Image.fromarray(border.astype(np.uint8) * 255)
        return mask.resize(large, Image.Resampling.NEAREST)
