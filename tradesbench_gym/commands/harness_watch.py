"""What is shown of a run with an agent: where it stands, a line for each day, and the end.

In a terminal there is a live line; elsewhere each day and each fault is a line. This module knows
no option and plays nothing.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any, Self

import typer
from rich.console import Console
from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn
from rich.table import Table

from tradesbench_gym.commands.summary import pairs
from tradesbench_gym.envs.wording import dollars

if TYPE_CHECKING:
    from tradesbench_gym.api.driver_models import RunStatus
    from tradesbench_gym.harness.days import Watch
    from tradesbench_gym.harness.faults import Fault
    from tradesbench_gym.harness.manifest import Manifest

_COUNTS = ("calls", "booked", "declined", "rejected", "done", "missed", "failed", "cancelled")
_HEADS = {"declined": "decl.", "rejected": "rej.", "cancelled": "canc."}
_DAY_WIDTH, _CASH_WIDTH = 17, 14
_RESULTS = (
    "calls",
    "completed",
    "missed",
    "failed",
    "cancelled",
    "declined",
    "rejected",
    "installations",
    "weekend_jobs",
)


class Onlooker:
    """Shows a run as it is played.

    Args:
        manifest: of the run.
        quiet: show nothing.

    Attributes:
        watch: what the harness is to tell.

    """

    def __init__(self, manifest: Manifest, *, quiet: bool) -> None:
        from tradesbench_gym.harness.days import Watch

        self._quiet = quiet
        self._console = Console(markup=False, emoji=False, stderr=True, highlight=False)
        live = self._console.is_terminal and not self._console.is_dumb_terminal and not quiet
        self._progress = Progress(
            TextColumn("{task.description}", markup=False),
            BarColumn(bar_width=14),
            TextColumn("{task.fields[state]}", markup=False),
            TimeElapsedColumn(),
            console=self._console,
            disable=not live,
        )
        who = manifest.agent.name.value
        self._task = self._progress.add_task(who, total=manifest.run.days, state="begins")
        self._headed = False
        self.watch: Watch = Watch(self._moved, self._closed, self._fault)

    def __enter__(self) -> Self:
        self._progress.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._progress.stop()

    def _moved(self, status: RunStatus, what: str) -> None:
        state = f"day {status.day}/{status.days} {status.now[11:16]}, {what}"
        self._progress.update(self._task, completed=status.day - 1, state=state)

    def _closed(self, row: dict[str, Any]) -> None:
        if not row:
            return
        self._progress.update(self._task, completed=row["day"])
        if not self._headed:
            self._headed = True
            self._line(_day_head())
        self._line(_day_line(row))

    def _fault(self, fault: Fault) -> None:
        self._line(f"   {fault.kind.value} fault: {fault.sentence}")

    def _line(self, text: str) -> None:
        if not self._quiet:
            self._console.print(text, markup=False, soft_wrap=True)


def _day_head() -> str:
    heads = "".join(f"{_head(name):>{_width(name)}}" for name in _COUNTS)
    return f"{'day':<{_DAY_WIDTH}}{heads}{'cash':>{_CASH_WIDTH}}"


def _day_line(row: dict[str, Any]) -> str:
    counts = "".join(f"{row[name]:>{_width(name)}}" for name in _COUNTS)
    cash = "" if row["cash_cents"] is None else dollars(row["cash_cents"])
    return f"{row['day']:>2} {row['weekday'][:3]} {row['date']}{counts}{cash:>{_CASH_WIDTH}}"


def _head(name: str) -> str:
    return _HEADS.get(name, name)


def _width(name: str) -> int:
    return len(_head(name)) + 1


def print_summary(folder: Path, manifest: Manifest) -> None:
    """What a run came to, or where it stands."""
    console = Console(markup=False, emoji=False, highlight=False)
    who = manifest.agent.name.value
    if manifest.model is not None:
        who = f"{who} with {manifest.model.name}"
    console.print(f"{who}: {manifest.status.value}", style="bold", markup=False)
    if not manifest.isolated:
        console.print("not isolated: the agent could read the run's files", style="bold yellow")
    grid = Table.grid(padding=(0, 5, 0, 0))
    grid.add_row(pairs(_outcome(manifest)), pairs(_effort(manifest)))
    console.print(grid)
    typer.echo(f"Everything is in {folder}")


def _outcome(manifest: Manifest) -> list[tuple[str, str]]:
    found = manifest.results
    if found is None:
        return [("results", "when the run has ended")]
    rows = [("profit", dollars(found["profit_cents"] or 0))]
    if found["bankrupt_on"] is not None:
        rows.append(("bankrupt on day", str(found["bankrupt_on"])))
    return [*rows, *((name.replace("_", " "), str(found[name])) for name in _RESULTS)]


def _effort(manifest: Manifest) -> list[tuple[str, str]]:
    turns, usage = manifest.turns, manifest.usage
    rows = [
        ("turns", f"{turns.turns:,}"),
        ("turn hours", f"{turns.hours:.2f}"),
        ("reminders", str(turns.reminders)),
        ("calls unanswered", str(turns.unanswered)),
    ]
    if usage is not None:
        rows += [
            ("model requests", f"{usage.requests:,}"),
            ("input tokens", f"{usage.input_tokens:,}"),
            ("cached", f"{usage.cached_tokens:,}"),
            ("output tokens", f"{usage.output_tokens:,}"),
            ("cost", "unknown" if usage.cost is None else f"${usage.cost:,.2f}"),
        ]
        if usage.unreported:
            rows.append(("requests without a count", f"{usage.unreported:,}"))
    kinds = [fault.kind for fault in manifest.faults]
    rows += [(f"{kind} faults", str(kinds.count(kind))) for kind in sorted(set(kinds))]
    return rows
