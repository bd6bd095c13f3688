"""The difference of runs to others on the same worlds, with an interval by the bootstrap.

Runs of one world are no independent evidence of how the next world would go, so worlds are drawn
again whole, with all their runs; only where there is a single world are its runs drawn, and the
result says so. Pure arithmetic in cents.
"""

from __future__ import annotations

import statistics
from collections.abc import Hashable, Iterable
from dataclasses import asdict, dataclass
from typing import Any, Final

import numpy as np
import numpy.typing as npt
from scipy.stats import bootstrap

LEVEL: Final = 0.95
_DRAWS: Final = 9_999
_Floats = npt.NDArray[np.float64]


@dataclass(frozen=True)
class Paired:
    """Differences of pairs.

    Attributes:
        runs, worlds: how many.
        mean: of the runs; None if there are none.
        deviation: sample standard deviation of the runs; None for fewer than two.
        low, high: bootstrap interval of the mean (95 %, percentiles); None for fewer than two runs.
        drawn: what was drawn again: "worlds", or "runs" of the one world.

    """

    runs: int
    worlds: int
    mean: float | None
    deviation: float | None
    low: float | None
    high: float | None
    drawn: str

    def as_dict(self) -> dict[str, Any]:
        """Plain values for JSON."""
        return asdict(self)


def paired(differences: Iterable[tuple[Hashable, float]]) -> Paired:
    """The mean of differences, each with the world it is of, and its interval.

    >>> found = paired([(1, 100), (2, 300)])
    >>> found.mean, found.low, found.high, found.drawn
    (200.0, 100.0, 300.0, 'worlds')
    >>> paired([(1, 100)]).low is None
    True
    """
    every = list(differences)
    found: dict[Hashable, list[float]] = {}
    for world, difference in every:
        found.setdefault(world, []).append(float(difference))
    values = [value for _, value in every]
    clusters = list(found.values()) if len(found) > 1 else [[value] for value in values]
    low, high = _interval(clusters) if len(clusters) > 1 else (None, None)
    return Paired(
        runs=len(values),
        worlds=len(found),
        mean=statistics.fmean(values) if values else None,
        deviation=statistics.stdev(values) if len(values) > 1 else None,
        low=low,
        high=high,
        drawn="worlds" if len(found) > 1 else "runs",
    )


def _interval(clusters: list[list[float]]) -> tuple[float, float]:
    sums = np.array([sum(one) for one in clusters])
    counts = np.array([float(len(one)) for one in clusters])
    found = bootstrap(
        (sums, counts),
        _mean,
        paired=True,
        vectorized=True,
        n_resamples=_DRAWS,
        confidence_level=LEVEL,
        method="percentile",
        rng=np.random.default_rng(0),
    ).confidence_interval
    return float(found.low), float(found.high)


def _mean(sums: _Floats, counts: _Floats, axis: int = -1) -> _Floats:
    found: _Floats = sums.sum(axis=axis) / counts.sum(axis=axis)
    return found
