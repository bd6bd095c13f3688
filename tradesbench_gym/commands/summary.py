"""What a run came to, for people and for machines."""

from __future__ import annotations

from typing import Any

import typer
from rich.console import Console
from rich.table import Table

from tradesbench_gym.company.play import Results, results
from tradesbench_gym.company.simulation import Simulation
from tradesbench_gym.core.codes import Entry
from tradesbench_gym.envs.wording import dollars

_COUNTS = ("calls", "booked", "declined", "rejected", "done", "missed", "failed", "cancelled")
_DAY_WIDTH = 17
_CASH_WIDTH = 14


def day_head() -> str:
    """The heads above `day_line`."""
    counts = "".join(f"{_short(name):>{_width(name)}}" for name in _COUNTS)
    return f"{'day':<{_DAY_WIDTH}}{counts}{'cash':>{_CASH_WIDTH}}"


def day_line(simulation: Simulation, day: int) -> str:
    """One day of a run in one line."""
    row = simulation.record["days"][day]
    counts = "".join(f"{int(row[name]):>{_width(name)}}" for name in _COUNTS)
    cash = int(row["cash"]) if row["closed_at"] >= 0 else simulation.cash_cents
    date = f"{simulation.business.date_of(day):%a %Y-%m-%d}"
    return f"{day + 1:>2} {date}{counts}{dollars(cash):>{_CASH_WIDTH}}"


def _short(name: str) -> str:
    return {"declined": "decl.", "rejected": "rej.", "cancelled": "canc."}.get(name, name)


def _width(name: str) -> int:
    return len(_short(name)) + 1


def days_begun(simulation: Simulation) -> range:
    """The days of a run so far, the present one too if it has opened."""
    begun = int(simulation.record["clock"]) > 0
    return range(simulation.day + 1 if begun else 0)


def print_summary(simulation: Simulation, policy: str, *, with_days: bool) -> None:
    """Results and ledger side by side, and the days below if they were not told on the way."""
    console = Console(highlight=False)
    if with_days:
        typer.echo(day_head())
        for day in days_begun(simulation):
            typer.echo(day_line(simulation, day))
    typer.echo()
    business, came_to = simulation.business, results(simulation)
    title = (
        f"Run {came_to.seed} with {policy}: {business.scenario.company}, {business.days} days "
        f"from {business.start_date}"
    )
    console.print(title, style="bold", markup=False)
    if came_to.bankrupt_on is not None:
        console.print(f"Bankrupt on day {came_to.bankrupt_on}", style="bold red")
    grid = Table.grid(padding=(0, 5, 0, 0))
    grid.add_row(_money_table(came_to), _counts_table(came_to), _ledger(simulation))
    console.print(grid)


def pairs(rows: list[tuple[str, str]]) -> Table:
    """Names and their values, in two columns."""
    table = Table.grid(padding=(0, 2, 0, 0))
    table.add_column(no_wrap=True)
    table.add_column(justify="right", no_wrap=True)
    for name, value in rows:
        table.add_row(name, value)
    return table


def _money_table(came_to: Results) -> Table:
    return pairs(
        [
            ("profit", f"[bold]{dollars(came_to.profit)}[/bold]"),
            ("cash", dollars(came_to.cash)),
            ("lowest", dollars(came_to.lowest_cash)),
            ("", ""),
            ("calls", str(came_to.calls)),
            ("installations", str(came_to.installations)),
            ("weekend jobs", str(came_to.weekend_jobs)),
        ]
    )


def _counts_table(came_to: Results) -> Table:
    names = ("completed", "missed", "failed", "cancelled", "declined", "rejected", "open")
    return pairs([(name, str(getattr(came_to, name))) for name in names])


def _ledger(simulation: Simulation) -> Table:
    sums = simulation.record["ledger"].tolist()
    rows = [(entry.name.lower().replace("_", " "), dollars(sums[entry])) for entry in Entry]
    return pairs(rows)


def as_json(simulation: Simulation, policy: str, *, interrupted: bool) -> dict[str, Any]:
    """Plain values of everything that `print_summary` shows; money in whole cents."""
    business, days = simulation.business, simulation.record["days"]
    cash, rows = int(business.handbook["starting_cash"]), []
    for day in days_begun(simulation):
        closed = int(days[day]["closed_at"]) >= 0
        after = int(days[day]["cash"]) if closed else simulation.cash_cents
        counts = {name: int(days[day][name]) for name in _COUNTS}
        rows.append(
            {
                "day": day + 1,
                "date": business.date_of(day).isoformat(),
                **counts,
                "closed": closed,
                "change": after - cash,
                "cash": after,
            }
        )
        cash = after
    sums = simulation.record["ledger"].tolist()
    return {
        "policy": policy,
        "seed": int(simulation.record["seed"]),
        "sealed": bool(simulation.record["salt"]),
        "scenario": business.scenario.name,
        "map": business.roadmap.name,
        "start_date": business.start_date.isoformat(),
        "interrupted": interrupted,
        "digest": simulation.digest(),
        "results": results(simulation).as_dict(),
        "ledger": {entry.name.lower(): sums[entry] for entry in Entry},
        "days": rows,
    }
