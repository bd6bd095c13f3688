"""From runs to figures: the columns of a results table, their spread, and the verdict of a band.

Pure arithmetic over `Played` runs, in whole cents and counts; it plays nothing and prints nothing.
"""

from __future__ import annotations

import math
import statistics
from collections.abc import Callable, Iterable, Sequence
from dataclasses import asdict, dataclass
from enum import Enum
from typing import Any, Final

from tradesbench_gym.report.published import Band, Judged
from tradesbench_gym.report.runs import Played


class Unit(Enum):
    """How a figure is written."""

    CENTS = "cents"
    COUNT = "count"


@dataclass(frozen=True, slots=True)
class Metric:
    """One column of the results: its key, its name for people, its unit and where it is read."""

    key: str
    label: str
    unit: Unit
    of: Callable[[Played], int | None]


def _column(key: str, label: str, unit: Unit = Unit.COUNT) -> Metric:
    return Metric(key, label, unit, lambda played: getattr(played.results, key))


METRICS: Final[dict[str, Metric]] = {
    metric.key: metric
    for metric in (
        _column("profit", "profit", Unit.CENTS),
        _column("lowest_cash", "lowest cash", Unit.CENTS),
        _column("calls", "new-job calls"),
        _column("completed", "jobs completed"),
        _column("missed", "missed"),
        _column("failed", "failed visits"),
        _column("cancelled", "cancelled"),
        _column("declined", "declined"),
        _column("rejected", "rejected"),
        _column("installations", "installations"),
        _column("weekend_jobs", "weekend jobs"),
        _column("bankrupt_on", "bankrupt, day"),
        Metric("bankrupt", "bankrupt", Unit.COUNT, lambda played: int(played.bankrupt)),
        Metric("fixed_costs", "fixed costs", Unit.CENTS, lambda played: played.fixed_costs),
    )
}
"""Every figure that a table may show, by key."""


@dataclass(frozen=True, slots=True)
class Spread:
    """A figure over several runs. Runs without the figure (a day of bankruptcy) are not counted.

    Attributes:
        count: runs that have the figure.
        mean, low, high: None when no run has it.
        deviation: sample standard deviation; None for fewer than two runs.

    """

    count: int
    mean: float | None
    deviation: float | None
    low: int | None
    high: int | None

    @property
    def error(self) -> float | None:
        """Standard error of the mean."""
        return None if self.deviation is None else self.deviation / math.sqrt(self.count)

    def as_dict(self) -> dict[str, Any]:
        """Plain values for JSON."""
        return asdict(self)


def spread(values: Iterable[int | None]) -> Spread:
    """The spread of the values that there are.

    >>> spread([2, 4, None, 6])
    Spread(count=3, mean=4.0, deviation=2.0, low=2, high=6)
    """
    there = [value for value in values if value is not None]
    if not there:
        return Spread(0, None, None, None, None)
    deviation = statistics.stdev(there) if len(there) > 1 else None
    return Spread(len(there), statistics.fmean(there), deviation, min(there), max(there))


def spreads(runs: Sequence[Played]) -> dict[str, Spread]:
    """The spread of every metric over runs of one policy."""
    return {key: spread(map(metric.of, runs)) for key, metric in METRICS.items()}


def by_policy(runs: Iterable[Played]) -> dict[str, list[Played]]:
    """Runs by policy, in the order in which policies first come."""
    found: dict[str, list[Played]] = {}
    for played in runs:
        found.setdefault(played.policy, []).append(played)
    return found


@dataclass(frozen=True, slots=True)
class Verdict:
    """A band and what our runs came to; `holds` is None where nothing is judged."""

    band: Band
    spread: Spread
    holds: bool | None


def judge(band: Band, runs: Sequence[Played]) -> Verdict:
    """Whether a band holds for the runs of its policy; it breaks if a run lacks the figure."""
    values = [METRICS[band.metric].of(played) for played in runs if played.policy == band.policy]
    figure = spread(values)
    if band.judged is Judged.NOT:
        return Verdict(band, figure, None)
    if not values or figure.count < len(values):
        return Verdict(band, figure, False)
    judged = [figure.mean] if band.judged is Judged.MEAN else [figure.low, figure.high]
    return Verdict(band, figure, all(_within(band, value) for value in judged))


def _within(band: Band, value: float | None) -> bool:
    if value is None:
        return False
    return (band.low is None or band.low <= value) and (band.high is None or value <= band.high)
