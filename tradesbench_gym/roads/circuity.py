"""How much longer than the straight line the roads of a map are, by distance.

It reads the anchors and their matrix; it decides nothing and knows no city.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise
from typing import Final

import numpy as np
import numpy.typing as npt

from tradesbench_gym.roads.roadmap import RoadMap

BAND_KM: Final = (0, 1, 2, 5, 10, 20, 40, 80)
# Sources looked at: with more anchors than that, every second, third … of them.
MOST_SOURCES: Final = 2_500
FloatArray = npt.NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Band:
    """Pairs of anchors whose straight line is `low_km` to `high_km` long (None: no upper end).

    `p10`, `median` and `p90` are quantiles of road ÷ straight line; `shorter` counts pairs whose
    road is more than a metre shorter than the straight line, which whole-metre positions explain.
    """

    low_km: int
    high_km: int | None
    pairs: int
    p10: float
    median: float
    p90: float
    shorter: int

    @property
    def label(self) -> str:
        """The band in words: `2-5 km`."""
        if self.high_km is None:
            return f"over {self.low_km} km"
        return f"{self.low_km}-{self.high_km} km"


def pairs_of(road_map: RoadMap) -> tuple[FloatArray, FloatArray]:
    """Straight-line and road metres of all pairs of different anchors, each way by itself."""
    x, y = (road_map.anchors[axis].astype(np.float64) for axis in "xy")
    step = -(-len(x) // MOST_SOURCES)
    straight = np.hypot(x[::step, None] - x, y[::step, None] - y)
    roads = road_map.metres[::step].astype(np.float64)
    apart = np.ones(straight.shape, dtype=np.bool_)
    apart[np.arange(len(straight)), np.arange(0, len(x), step)] = False
    return straight[apart], roads[apart]


def circuity(road_map: RoadMap) -> tuple[Band, ...]:
    """Road metres over the straight line, for every band of distance that has pairs."""
    return tuple(_bands(*pairs_of(road_map)))


def _bands(straight: FloatArray, roads: FloatArray) -> Iterator[Band]:
    edges: list[int | None] = [*BAND_KM, None]
    for low, high in pairwise(edges):
        assert low is not None  # noqa: S101 - only the last edge is open
        chosen = (straight >= 1000 * low) & (straight > 0)
        if high is not None:
            chosen &= straight < 1000 * high
        if not chosen.any():
            continue
        ratio = roads[chosen] / straight[chosen]
        p10, median, p90 = (float(q) for q in np.quantile(ratio, (0.1, 0.5, 0.9)))
        shorter = int((roads[chosen] < straight[chosen] - 1).sum())
        yield Band(low, high, int(chosen.sum()), p10, median, p90, shorter)
