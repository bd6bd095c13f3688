"""Marks and labels on the map moved apart, so that each can be read.

Plain geometry: the same marks are always put to the same places, whatever was drawn before.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

import numpy as np
import numpy.typing as npt

from tradesbench_gym.envs.picture.sheet import Box

Point = tuple[float, float]
_Places = tuple[npt.NDArray[np.int64], npt.NDArray[np.int64], npt.NDArray[np.float64]]
_ROUNDS: Final = 200
_LEAST: Final = 1e-6
_STEP: Final = 4
"""Pixels between the places that are tried for a label."""
_FAR: Final = 90.0
"""Pixels from a zone's centre within which its label stays."""
_AWAY: Final = 4.0
"""What a pixel from the centre costs, in pixels of the label outside its zone."""
_TURN: Final = 2.399963  # the golden angle: marks on one spot part in as many directions


def spread(
    places: Sequence[Point], radii: Sequence[float], size: tuple[int, int]
) -> npt.NDArray[np.float64]:
    """Circles pushed apart until none covers another, as far as there is room.

    Args:
        places: of their middles.
        radii: of each.
        size: of the panel, which they do not leave.

    Returns:
        shape (circles, 2), the new middles.

    """
    at = np.array(places, np.float64).reshape(-1, 2)
    radius = np.array(radii, np.float64)
    count = len(at)
    turns = _TURN * np.arange(count)
    ways = 0.01 * np.stack([np.cos(turns), np.sin(turns)], axis=1)  # out of one spot
    apart = radius[:, None] + radius[None, :]
    np.fill_diagonal(apart, 0.0)
    low, high = radius[:, None], np.array(size, np.float64) - radius[:, None]
    for _ in range(_ROUNDS):
        at = np.clip(at, low, high)
        away = (at + ways)[:, None, :] - (at + ways)[None, :, :]
        far = np.maximum(np.sqrt((away**2).sum(2)), _LEAST) + np.eye(count)
        short = np.maximum(0.0, apart - far)
        if short.max(initial=0.0) < 0.5:
            break
        at += ((away / far[:, :, None]) * (short / 2)[:, :, None]).sum(1)
    return np.clip(at, low, high)


class Ground:
    """Where labels of zones may stand: a raster of zones, summed so that a box is told at once.

    Args:
        zones: zone of each pixel, shape (height, width).

    """

    def __init__(self, zones: npt.NDArray[np.uint8]) -> None:
        self._zones = zones
        self._sums: dict[int, npt.NDArray[np.int64]] = {}
        self._known: dict[tuple[int, tuple[int, int]], _Places] = {}

    def smallest_first(self, zones: int) -> list[int]:
        """Numbers of zones in the order in which they choose: the smallest have the least room."""
        pixels = np.bincount(self._zones.ravel(), minlength=zones)[:zones].tolist()
        return sorted(range(zones), key=lambda zone: int(pixels[zone]))

    def label(
        self, zone: int, centre: Point, size: tuple[int, int], taken: Sequence[tuple[Box, float]]
    ) -> Box:
        """A box of a size in a zone: clear of what is taken first, then inside the zone, then near
        its centre.

        Args:
            zone: number of the zone.
            centre: of the zone.
            size: width and height of the box.
            taken: boxes, and how bad it is to cover a pixel of each.

        """
        wide, high = size
        x, y, cost = self._places(zone, centre, size)
        boxes = np.array([box for box, _ in taken], np.int64).reshape(-1, 4)
        across = np.minimum(x + wide, boxes[:, 2]) - np.maximum(x, boxes[:, 0])
        down = np.minimum(y + high, boxes[:, 3]) - np.maximum(y, boxes[:, 1])
        covered = np.maximum(across, 0) * np.maximum(down, 0)
        weights = np.array([weight for _, weight in taken], np.float64)
        best = int(np.argmin(cost + covered @ weights))
        left, top = int(x[best, 0]), int(y[best, 0])
        return left, top, left + wide, top + high

    def _places(self, zone: int, centre: Point, size: tuple[int, int]) -> _Places:
        """Where a label may stand, shape (places, 1) each, and what it costs there by itself."""
        if (zone, size) not in self._known:
            wide, high = size
            rows, columns = self._zones.shape
            left = np.arange(0, max(1, columns - wide), _STEP)
            top = np.arange(0, max(1, rows - high), _STEP)
            x, y = (grid.ravel() for grid in np.meshgrid(left, top))
            near = np.hypot(x + wide / 2 - centre[0], y + high / 2 - centre[1])
            close = near <= max(_FAR, float(near.min()))
            x, y, near = x[close], y[close], near[close]
            total = self._sum(zone)
            above = total[y, x + wide] - total[y, x]
            inside = total[y + high, x + wide] - total[y + high, x] - above
            cost = near * _AWAY + (wide * high - inside)
            self._known[zone, size] = x[:, None], y[:, None], cost
        return self._known[zone, size]

    def _sum(self, zone: int) -> npt.NDArray[np.int64]:
        """How many pixels of a zone lie above and left of each corner."""
        if zone not in self._sums:
            inside = self._zones == zone
            total = np.zeros((inside.shape[0] + 1, inside.shape[1] + 1), np.int64)
            total[1:, 1:] = inside.cumsum(0).cumsum(1)
            self._sums[zone] = total
        return self._sums[zone]
