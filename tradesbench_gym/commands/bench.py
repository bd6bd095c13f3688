"""`tradesbench bench`: policies × seeds, and what they came to beside the report's figures.

Reads the options, shows how far the runs are, prints or writes what came of them. How runs are
played stands in `report.runs`, how a table looks in `report.table`.
"""

from __future__ import annotations

import csv
import json
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import asdict
from enum import StrEnum
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Final

import typer
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

from tradesbench_gym.commands.options import DaysOption, JsonOption, MapOption, ScenarioOption
from tradesbench_gym.company.business import Business, open_business
from tradesbench_gym.errors import TradesBenchError
from tradesbench_gym.report import writing
from tradesbench_gym.report.published import DAYS, POLICIES, PUBLISHED
from tradesbench_gym.report.runs import Executor, Played, play_all
from tradesbench_gym.report.selection import check_size, parse_policies, parse_seeds
from tradesbench_gym.report.statistics import Spread, Unit, by_policy, spreads
from tradesbench_gym.report.table import published_notes, results_tables

if TYPE_CHECKING:
    from tradesbench_gym.report.paired import Paired

_MONEY: Final = ("profit", "cash", "lowest_cash")


class Place(StrEnum):
    """Where runs are played."""

    PROCESSES = "processes"
    RAY = "ray"


def bench(
    policies: Annotated[
        str,
        typer.Option(
            help="Policies to play, with settings if any.", show_default="the report's four"
        ),
    ] = ",".join(POLICIES),
    seeds: Annotated[
        str, typer.Option(help="Runs to play: 0:23 (23 is not played), 5, or 1,4,7:10.")
    ] = "0:23",
    scenario: ScenarioOption = "sunridge",
    map_name: MapOption = "phoenix",
    days: DaysOption = None,
    workers: Annotated[
        int | None, typer.Option(min=1, help="Processes that play; as many as pay if not given.")
    ] = None,
    executor: Annotated[
        Place, typer.Option(help="Processes of this machine, or a Ray cluster.")
    ] = Place.PROCESSES,
    address: Annotated[
        str | None,
        typer.Option(help="The Ray cluster's host:port, or auto; this machine if not given."),
    ] = None,
    as_json: JsonOption = False,
    csv_file: Annotated[
        Path | None, typer.Option("--csv", help="Write a line for each run into this file.")
    ] = None,
) -> None:
    """Play policies on many seeds and print the results beside the report's.

    A key=value belongs to the policy before it, so that oracle,oracle:margin=20,quantile=0.8 is
    two policies. Results do not depend on who plays, nor on the number of workers.

    Example: tradesbench bench --policies oracle,oracle:margin=20 --seeds 0:23
    """
    chosen, numbers = parse_policies(policies), parse_seeds(seeds)
    check_size(chosen, numbers)
    _check_writable(csv_file)
    play = _executor(executor, address)
    business = open_business(scenario, map_name, days)
    begun = time.perf_counter()
    with _progress(len(chosen) * len(numbers)) as done:
        played = play(business, chosen, numbers, workers=workers, done=done)
    seconds = time.perf_counter() - begun
    if csv_file is not None:
        write_csv(csv_file, played)
    if as_json:
        typer.echo(json.dumps(results_as_json(business, numbers, played), indent=2))
    else:
        _print(business, seeds, played)
    typer.echo(f"{len(played)} runs in {seconds:.1f} s", err=True)


def _executor(place: Place, address: str | None) -> Executor:
    if place is Place.RAY:
        from tradesbench_gym.training.ray_runs import play_on_ray

        return partial(play_on_ray, address=address)
    if address is not None:
        raise TradesBenchError(
            "--address names a Ray cluster: give --executor ray with it",
            code="address",
            field="address",
        )
    return play_all


def _print(business: Business, seeds: str, played: Sequence[Played]) -> None:
    console = Console(markup=False, emoji=False, highlight=False)
    found = {policy: spreads(runs) for policy, runs in by_policy(played).items()}
    runs = len(played) // len(found)
    console.print(
        f"Seeds {seeds}, {runs} {'run' if runs == 1 else 'runs'} a policy of {business.days} days; "
        f"scenario {business.scenario.name}, map {business.roadmap.name}. Counts are means, "
        "± standard deviation where there is room.",
        markup=False,
    )
    comparable = business.days == DAYS
    for table in results_tables(found, console, published=comparable):
        console.print()
        console.print(table)
    console.print()
    _print_differences(console, played)
    if comparable:
        console.print("Figures of the report:", style="dim")
        for note in published_notes():
            console.print(note, style="dim")
    else:
        console.print(f"The report's figures are for {DAYS} days and left out.", style="dim")


def less_first(played: Sequence[Played]) -> dict[str, Paired]:
    """Profit of every other policy less the first one's on the same seeds, in cents."""
    from tradesbench_gym.report.paired import paired  # SciPy's statistics take a second to load

    runs = by_policy(played)
    first, *others = runs
    theirs = {run.results.seed: run.results.profit for run in runs[first]}
    return {
        name: paired(
            (run.results.seed, run.results.profit - theirs[run.results.seed]) for run in runs[name]
        )
        for name in others
    }


def _print_differences(console: Console, played: Sequence[Played]) -> None:
    found = less_first(played)
    if not found:
        return
    first = played[0].policy
    console.print(
        f"Profit less {first}'s, paired by seed, mean and 95 % bootstrap interval:", markup=False
    )
    for name, less in found.items():
        mean, low, high = (
            writing.rounded(one, Unit.CENTS) for one in (less.mean, less.low, less.high)
        )
        between = "" if less.low is None else f", {low} to {high}"
        console.print(f"  {name}: {mean}{between}", markup=False)
    console.print()


def results_as_json(
    business: Business, seeds: Sequence[int], played: Sequence[Played]
) -> dict[str, Any]:
    """Everything the table is made of, and every run; money in whole cents, as the names say."""
    return {
        "business": business.identity,
        "seeds": list(seeds),
        "policies": [
            {"policy": policy, "runs": len(runs), **_figures(spreads(runs))}
            for policy, runs in by_policy(played).items()
        ],
        "profit_cents_less_first": {
            name: less.as_dict() for name, less in less_first(played).items()
        },
        "report": {key: asdict(figure) for key, figure in PUBLISHED.items()},
        "runs": [run_as_row(run) for run in played],
    }


def _figures(found: Mapping[str, Spread]) -> dict[str, Any]:
    return {_with_unit(key): figure.as_dict() for key, figure in found.items()}


def run_as_row(played: Played) -> dict[str, Any]:
    """One run as plain values by column; money in whole cents."""
    columns = {_with_unit(key): value for key, value in played.results.as_dict().items()}
    return {"policy": played.policy, **columns}


def _with_unit(key: str) -> str:
    return f"{key}_cents" if key in (*_MONEY, "fixed_costs") else key


def write_csv(path: Path, played: Sequence[Played]) -> None:
    """Write a line for each run.

    Raises:
        TradesBenchError: the file cannot be written.

    """
    rows = [run_as_row(run) for run in played]
    try:
        with path.open("w", encoding="utf-8", newline="") as file:
            writer = csv.DictWriter(file, list(rows[0]), lineterminator="\n")
            writer.writeheader()
            writer.writerows(rows)
    except OSError as error:
        raise _unwritable(path, error.strerror or str(error)) from error


def _check_writable(path: Path | None) -> None:
    """Refuse before an hour of runs what would fail after it."""
    if path is None:
        return
    if path.is_dir():
        raise _unwritable(path, "it is a folder")
    if not path.absolute().parent.is_dir():
        raise _unwritable(path, f"there is no folder {path.absolute().parent}")


def _unwritable(path: Path, reason: str) -> TradesBenchError:
    return TradesBenchError(
        f"{path} cannot be written: {reason}", code="unwritable_file", field="csv"
    )


@contextmanager
def _progress(total: int) -> Iterator[Callable[[int], None]]:
    console = Console(markup=False, emoji=False, stderr=True)
    columns = (TextColumn("playing"), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn())
    with Progress(
        *columns, console=console, transient=True, disable=not console.is_terminal
    ) as progress:
        task = progress.add_task("", total=total)
        yield lambda count: progress.update(task, advance=count)
