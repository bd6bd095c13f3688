"""Runs compared seed by seed: what two names' runs of the same draws differ by, with an interval.

Pure arithmetic. Which runs had the same draws is the caller's matter: they come under keys.
"""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass
from typing import TypeVar

import numpy as np

Key = TypeVar("Key", bound=Hashable)

RESAMPLES = 10_000
LEVEL = 95
FEWEST = 3
"""Pairs below which an interval would say nothing."""


@dataclass(frozen=True, slots=True)
class Difference:
    """A mean difference over pairs.

    Attributes:
        count: pairs.
        mean: of the differences.
        low, high: the 95 % bootstrap interval of the mean; None with fewer than three pairs.

    """

    count: int
    mean: float
    low: float | None
    high: float | None


def difference(
    ours: Mapping[Key, Sequence[float]], theirs: Mapping[Key, Sequence[float]]
) -> Difference | None:
    """Ours minus theirs under the keys that both have, repeats averaged; None if there are none.

    >>> difference({5: [10, 14], 6: [1]}, {5: [7], 7: [3]})
    Difference(count=1, mean=5.0, low=None, high=None)
    """
    common = [key for key in ours if key in theirs]
    if not common:
        return None
    pairs = np.array([np.mean(ours[key]) - np.mean(theirs[key]) for key in common])
    low, high = interval(pairs.tolist()) if len(common) >= FEWEST else (None, None)
    return Difference(len(common), float(pairs.mean()), low, high)


def interval(values: Sequence[float], seed: int = 0) -> tuple[float, float]:
    """The 95 % percentile bootstrap interval of a mean, the same at every call.

    >>> interval([5.0, 5.0, 5.0])
    (5.0, 5.0)
    """
    random, there = np.random.default_rng(seed), np.asarray(values, np.float64)
    means = there[random.integers(0, len(there), (RESAMPLES, len(there)))].mean(1)
    low, high = np.percentile(means, [(100 - LEVEL) / 2, (100 + LEVEL) / 2])
    return float(low), float(high)
