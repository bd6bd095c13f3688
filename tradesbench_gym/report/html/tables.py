"""The tables of a page: a run, or the means of several by name, beside the report's figures.

Rows of text only; what the figures mean stands in `statistics`, the report's in `published`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from tradesbench_gym.report import writing
from tradesbench_gym.report.html.comparing import names_of, played_of
from tradesbench_gym.report.html.facts import Run
from tradesbench_gym.report.published import DAYS, PUBLISHED
from tradesbench_gym.report.runs import Played
from tradesbench_gym.report.statistics import METRICS, Metric, Spread, Unit, spreads
from tradesbench_gym.report.table import published_notes

ROWS = (
    "profit", "lowest_cash", "bankrupt", "calls", "completed", "missed", "failed", "cancelled",
    "declined", "rejected", "installations", "weekend_jobs",
)  # fmt: skip
_NOTED = list(dict.fromkeys(figure.about for figure in PUBLISHED.values()))


@dataclass(frozen=True, slots=True)
class TableRow:
    """A figure: its name, the report's with the mark of its note, and a cell for each column."""

    label: str
    published: str
    mark: str
    cells: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class ResultsTable:
    """A table of results; `beside` says whether the report's figures are about as many days."""

    heads: tuple[str, ...]
    rows: tuple[TableRow, ...]
    beside: bool
    notes: tuple[str, ...]


def table_of_run(run: Run) -> ResultsTable:
    """One run beside the report's figures."""
    played = played_of(run)
    cells = {key: (_exact(run, played, METRICS[key]),) for key in ROWS}
    return _table(("this run",), cells, beside=run.business.days == DAYS)


def _exact(run: Run, played: Played, metric: Metric) -> str:
    if metric.key == "bankrupt":
        return f"on day {run.results.bankrupt_on}" if run.bankrupt else "no"
    return writing.exact(metric.of(played), metric.unit)


def table_of_names(runs: Sequence[Run]) -> ResultsTable:
    """Means by name over the runs that are over, with their standard deviations."""
    heads, columns = [], []
    for name in names_of(runs):
        over = [played_of(run) for run in runs if run.name == name and run.ended]
        heads.append(f"{name} ({len(over)})")
        columns.append(spreads(over))
    cells = {key: tuple(_mean(of[key], METRICS[key]) for of in columns) for key in ROWS}
    beside = {run.business.days for run in runs} == {DAYS}
    return _table(tuple(heads), cells, beside=beside)


def _mean(spread: Spread, metric: Metric) -> str:
    if metric.key == "bankrupt":
        return f"{round((spread.mean or 0) * spread.count)} of {spread.count}"
    if metric.unit is Unit.COUNT and spread.count == 1:
        return writing.exact(spread.low, metric.unit)
    text = writing.rounded(spread.mean, metric.unit)
    if spread.deviation is None or spread.low == spread.high:
        return text
    return f"{text} ± {writing.rounded(spread.deviation, metric.unit)}"


def _table(
    heads: tuple[str, ...], cells: Mapping[str, tuple[str, ...]], *, beside: bool
) -> ResultsTable:
    rows = []
    for key in ROWS:
        figure = PUBLISHED.get(key)
        text = figure.text if figure else ""
        mark = "abcdefgh"[_NOTED.index(figure.about)] if figure else ""
        rows.append(TableRow(METRICS[key].label, text, mark, cells[key]))
    return ResultsTable(heads, tuple(rows), beside, tuple(published_notes()))
