"""The results of runs as tables within 80 columns: several, with the runs in the same rows of each.

Every run has its row, finished or not; under those of a group stand mean and standard deviation of
the finished ones. What is unknown is a question mark, what does not apply a dash, and neither is
ever a 0. Layout only.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Final

from rich import box
from rich.console import Console
from rich.table import Table
from rich.text import Text

from tradesbench_gym.harness.results.facts import RunFacts
from tradesbench_gym.harness.results.groups import FIGURES, Group
from tradesbench_gym.report import writing
from tradesbench_gym.report.paired import Paired
from tradesbench_gym.report.statistics import Unit

_UNKNOWN: Final = "?"
_LITTLE: Final = 0.005
_MONEY: Final = frozenset({"profit", "lowest_cash", "oracle", "difference"})
_OF_MODELS: Final = frozenset({"input_tokens", "cached_tokens", "output_tokens", "cost"})
_TABLES: Final = (
    (
        "Money",
        {
            "profit": "profit",
            "oracle": "oracle's",
            "difference": "less oracle's",
            "lowest_cash": "lowest cash",
        },
    ),
    (
        "Work",
        {
            "calls": "calls",
            "completed": "done",
            "missed": "missed",
            "failed": "failed",
            "cancelled": "canc.",
            "declined": "decl.",
            "rejected": "rej.",
            "installations": "install.",
            "weekend_jobs": "weekend",
        },
    ),
    (
        "Effort",
        {
            "turns": "turns",
            "hours": "turn hours",
            "input_tokens": "input",
            "cached_tokens": "cached",
            "output_tokens": "output",
            "cost": "cost",
        },
    ),
    (
        "What went wrong",
        {
            "reminders": "reminders",
            "unanswered": "unanswered",
            "infrastructure_faults": "infrastructure",
            "agent_faults": "agent",
            "model_faults": "model",
        },
    ),
)
_NOTES: Final = {
    "Effort": "input: without the cached ones; all as reported",
    "What went wrong": "the last three are faults, by whose they were",
}


def print_results(console: Console, groups: Sequence[Group]) -> None:
    """Everything there is to see of runs."""
    console.print(_runs_table(groups))
    for title, columns in _TABLES:
        console.print()
        console.print(_figures_table(title, columns, groups))
    console.print()
    for group in groups:
        console.print(_difference(group, named=len(groups) > 1), markup=False)
    for note in _footnotes(groups):
        console.print(note, style="dim", markup=False)
    _print_faults(console, groups)


def _runs_table(groups: Sequence[Group]) -> Table:
    table = _grid("Runs")
    table.add_column("", justify="right", no_wrap=True)
    table.add_column("folder", overflow="fold")
    table.add_column("who", overflow="fold")
    table.add_column("seed", justify="right", no_wrap=True)
    table.add_column("isolated", no_wrap=True)
    table.add_column("state", overflow="fold")
    for place, run in _rows(groups):
        shut = "yes" if run.manifest.isolated else Text("NO", "bold yellow")
        state = run.state if run.finished else Text(run.state, "yellow")
        seed = str(run.manifest.run.seed)
        table.add_row(_mark(place, run), Text(str(run.path)), Text(run.who), seed, shut, state)
    return table


def _rows(groups: Sequence[Group]) -> Iterator[tuple[int, RunFacts]]:
    for group in groups:
        yield from group.runs


def _mark(place: int, run: RunFacts) -> str:
    return f"{place}{'' if run.finished else '*'}{'' if run.manifest.isolated else '!'}"


def _figures_table(title: str, columns: dict[str, str], groups: Sequence[Group]) -> Table:
    table = _grid(title)
    table.add_column("", justify="right", no_wrap=True)
    for head in columns.values():
        table.add_column(head, justify="right", no_wrap=True)
    for group in groups:
        for place, run in group.runs:
            table.add_row(_mark(place, run), *(_cell(key, run) for key in columns))
        if group.finished:
            count = len(group.finished)
            means = {key: group.mean(key) for key in columns}
            floors = {key: "≥" if mean.floor else "" for key, mean in means.items()}
            models = {key: _has(key, group) for key in columns}
            table.add_row(
                f"mean of {count}",
                *(_mean(key, means[key].mean, floors[key], there=models[key]) for key in columns),
                style="bold",
            )
            table.add_row(
                "s.d.", *(_mean(key, means[key].deviation, "", there=False) for key in columns)
            )
        table.add_section()
    if title in _NOTES:
        table.caption, table.caption_justify = _NOTES[title], "left"
    return table


def _has(key: str, group: Group) -> bool:
    """Whether a figure that is missing is unknown, and not one that there cannot be."""
    return key not in _OF_MODELS or any(run.tokens is not None for run in group.finished)


def _cell(key: str, run: RunFacts) -> str:
    figure = FIGURES[key]
    value = figure.of(run)
    if value is None:
        there = key in _OF_MODELS and run.tokens is not None
        return _UNKNOWN if there else writing.NONE
    return ("≥" if figure.floor(run) else "") + _written(key, value, exact=True)


def _mean(key: str, value: float | None, floor: str, *, there: bool) -> str:
    if value is None:
        return _UNKNOWN if there else writing.NONE
    return floor + _written(key, value, exact=False)


def _written(key: str, value: float, *, exact: bool) -> str:
    if key == "cost":
        return f"${value:,.2f}"
    if key == "hours":
        return "<0.01" if 0 < value < _LITTLE else f"{value:,.2f}"
    if key in _MONEY:
        return (writing.exact if exact else writing.rounded)(value, Unit.CENTS)
    if key in _OF_MODELS:
        return f"{value:,.0f}"
    return (writing.exact if exact else writing.rounded)(value, Unit.COUNT)


def _difference(group: Group, *, named: bool) -> str:
    less: Paired = group.difference
    who = f"{group.name}: " if named else ""
    if less.mean is None:
        return f"{who}no run is at its end, so there is nothing to compare with the oracle."
    mean = writing.rounded(less.mean, Unit.CENTS)
    runs = f"{less.runs} run{'' if less.runs == 1 else 's'}"
    said = f"{who}profit less the oracle's on the same world, {runs}: {mean}"
    if less.low is None:
        return f"{said}; one run tells nothing of the next, so there is no interval."
    ends = [writing.rounded(end, Unit.CENTS) for end in (less.low, less.high)]
    drawn = f"{less.worlds} worlds" if less.worlds > 1 else f"{less.runs} runs of one world only"
    return f"{said}, 95 % interval {ends[0]} to {ends[1]} (bootstrap over {drawn})."


def _footnotes(groups: Sequence[Group]) -> Iterator[str]:
    runs = [run for _, run in _rows(groups)]
    if any(not run.finished for run in runs):
        yield "* unfinished: as far as it came, and in no mean"
    if any(not run.manifest.isolated for run in runs):
        yield "! not isolated: the agent could read the run's own files"
    tokens = [run.tokens for run in runs if run.tokens is not None]
    if any(one.known == "part" for one in tokens):
        yield "≥ some requests came back without a count: what they took is not in it"
    if any(one.known == "none" or one.cost is None for one in tokens):
        yield "? unknown: no count was reported, or a price is not known; never counted as 0"
    if len(tokens) < len(runs):
        yield "– there is no such figure: no model, or a run not at its end"


def _print_faults(console: Console, groups: Sequence[Group]) -> None:
    faulty = [(place, run) for place, run in _rows(groups) if run.faults]
    if not faulty:
        return
    console.print()
    console.print("Faults", style="bold")
    for place, run in faulty:
        codes: dict[tuple[str, str], int] = {}
        for fault in run.faults:
            codes[fault.kind, fault.code] = codes.get((fault.kind, fault.code), 0) + 1
        said = ", ".join(f"{kind} {code} ×{count}" for (kind, code), count in codes.items())
        console.print(f"{_mark(place, run)}: {said}", markup=False)


def _grid(title: str) -> Table:
    return Table(
        title=title,
        box=box.SIMPLE_HEAD,
        padding=(0, 1, 0, 0),
        show_edge=False,
        pad_edge=False,
        title_justify="left",
        title_style="bold",
    )
