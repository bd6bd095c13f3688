"""Runs that may be averaged: one agent, one model, one way to play, on worlds that differ in their
number and salt alone.

Means are of the runs that are at their end, and every run counts; a figure that one of them does
not know has no mean. What makes runs comparable is decided here, and how a table looks elsewhere.
"""

from __future__ import annotations

import statistics
from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass
from typing import Any, Final, NamedTuple

from tradesbench_gym.harness.results.facts import RunFacts
from tradesbench_gym.report.paired import Paired, paired


class Figure(NamedTuple):
    """A figure of a run.

    Attributes:
        key: its name for machines.
        of: reads it; None where it is unknown, or where there is no such thing.
        floor: whether the figure is no more than a lower bound in a run.

    """

    key: str
    of: Callable[[RunFacts], float | None]
    floor: Callable[[RunFacts], bool] = lambda _run: False


def _result(key: str) -> Figure:
    return Figure(key, lambda run: getattr(run.results, key))


def _part(run: RunFacts) -> bool:
    return run.tokens is not None and run.tokens.known == "part"


def _token(key: str) -> Figure:
    return Figure(
        f"{key}_tokens",
        lambda run: None if run.tokens is None else getattr(run.tokens, key),
        _part,
    )


def _cost(run: RunFacts) -> float | None:
    if run.tokens is None:
        return None
    known = run.tokens.cost if run.tokens.known == "all" else run.tokens.at_least
    return None if known is None else float(known)


def _fault(kind: str) -> Figure:
    return Figure(f"{kind}_faults", lambda run: run.fault_counts[kind])


FIGURES: Final[dict[str, Figure]] = {
    figure.key: figure
    for figure in (
        *map(_result, ("profit", "lowest_cash", "calls", "completed", "missed", "failed")),
        *map(_result, ("cancelled", "declined", "rejected", "installations", "weekend_jobs")),
        Figure("oracle", lambda run: None if run.oracle is None else run.oracle.profit),
        Figure("difference", lambda run: run.difference),
        Figure("turns", lambda run: run.turns.turns),
        Figure("hours", lambda run: run.hours),
        Figure("reminders", lambda run: run.turns.reminders),
        Figure("unanswered", lambda run: run.turns.unanswered),
        *map(_token, ("input", "cached", "output")),
        Figure("cost", _cost, _part),
        *map(_fault, ("infrastructure", "agent", "model")),
    )
}
"""Every figure of the tables. Money of the company in cents, the model's cost in dollars."""


@dataclass(frozen=True)
class Mean:
    """A figure over finished runs.

    Attributes:
        mean: None if a run does not know it, or there is none.
        deviation: sample standard deviation; None for fewer than two runs.
        floor: whether both are of lower bounds.

    """

    mean: float | None
    deviation: float | None
    floor: bool

    def as_dict(self) -> dict[str, Any]:
        """Plain values for JSON."""
        return {"mean": self.mean, "deviation": self.deviation, "at_least": self.floor}


@dataclass(frozen=True, eq=False)
class Group:
    """Runs that may be averaged, finished or not, with their places among all runs, from 1."""

    name: str
    runs: tuple[tuple[int, RunFacts], ...]

    @property
    def finished(self) -> list[RunFacts]:
        """The runs at their end."""
        return [run for _, run in self.runs if run.finished]

    def mean(self, key: str) -> Mean:
        """A figure over the finished runs."""
        figure = FIGURES[key]
        values = [figure.of(run) for run in self.finished]
        known = [value for value in values if value is not None]
        floor = any(figure.floor(run) for run in self.finished)
        if not values or len(known) < len(values):
            return Mean(None, None, floor)
        deviation = statistics.stdev(known) if len(known) > 1 else None
        return Mean(statistics.fmean(known), deviation, floor)

    @property
    def difference(self) -> Paired:
        """Profit less the oracle's, run by run on the same world, in cents."""
        pairs = [(run.world, run.difference) for run in self.finished]
        return paired((world, less) for world, less in pairs if less is not None)

    def as_dict(self) -> dict[str, Any]:
        """Plain values for JSON."""
        return {
            "name": self.name,
            "runs": [place for place, _ in self.runs],
            "finished": len(self.finished),
            "means": {key: self.mean(key).as_dict() for key in FIGURES},
            "profit_less_oracle": self.difference.as_dict(),
        }


def grouped(runs: Sequence[RunFacts]) -> list[Group]:
    """Runs in groups, in the order in which they first come."""
    found: dict[Hashable, list[tuple[int, RunFacts]]] = {}
    for place, run in enumerate(runs, 1):
        found.setdefault(_alike(run), []).append((place, run))
    return [Group(_name(inside[0][1]), tuple(inside)) for inside in found.values()]


_BUDGETS: Final = {"max_cost", "max_tokens", "max_hours"}
"""Limits that stop a run: one that came to its end came to it without them."""


def _alike(run: RunFacts) -> Hashable:
    manifest = run.manifest
    known, model = manifest.run, manifest.model
    return (
        manifest.agent.model_dump_json(),
        None if model is None else (model.name, model.base_url, model.context_tokens),
        manifest.limits.model_dump_json(exclude=_BUDGETS),
        manifest.isolated,
        manifest.versions.rules,
        (known.scenario_digest, known.map_digest, known.days, known.start_date),
    )


def _name(run: RunFacts) -> str:
    return run.who if run.manifest.isolated else f"{run.who} (not isolated)"
