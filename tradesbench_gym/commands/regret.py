"""`tradesbench regret`: the price of each answer of a run, or the best run that hindsight finds.

Reads the options, shows how far the branches are, prints or writes what came of them. How branches
are played and priced stands in `report.regret`.
"""

from __future__ import annotations

import csv
import json
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated, Any, Final

import typer
from rich.console import Console, RenderableType
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

from tradesbench_gym.commands.options import JsonOption, PolicyOption
from tradesbench_gym.commands.world_options import FileArgument, MapOfFileOption
from tradesbench_gym.errors import INTERRUPTED, TradesBenchError
from tradesbench_gym.report.regret import (
    Ask,
    Budget,
    Found,
    Interrupted,
    Prices,
    Recorded,
    Sample,
    price,
    read_recorded,
    search,
)
from tradesbench_gym.report.regret.keeping import keep
from tradesbench_gym.report.regret.tables import best_page, prices_page
from tradesbench_gym.report.regret.words import found_as_dict, price_as_row, prices_as_dict
from tradesbench_gym.report.statistics import Unit
from tradesbench_gym.report.writing import rounded

_CSV, _JSON = ".csv", ".json"
_SECONDS: Final = 60.0


def regret(
    file: FileArgument,
    policy: PolicyOption = "oracle",
    calls: Annotated[
        int | None, typer.Option(min=1, help="Price so many calls, drawn; all if not given.")
    ] = None,
    answers: Annotated[
        int | None,
        typer.Option(min=1, help="Try so many other answers to a call, drawn; all if not given."),
    ] = None,
    seed: Annotated[int, typer.Option(min=0, help="Of these draws, and of the search.")] = 0,
    all_technicians: Annotated[
        bool, typer.Option("--all-technicians", help="Try those who cannot do the work as well.")
    ] = False,
    worst: Annotated[int, typer.Option(min=0, help="Show so many of the worst answers.")] = 10,
    best: Annotated[
        bool, typer.Option("--best", help="Search the best run that hindsight finds instead.")
    ] = False,
    seconds: Annotated[
        float | None,
        typer.Option(min=0.001, help="With --best: search so long.", show_default="60"),
    ] = None,
    branches: Annotated[
        int | None,
        typer.Option(min=1, help="With --best: play so many branches, whatever time it takes."),
    ] = None,
    save: Annotated[
        Path | None, typer.Option(help="With --best: write the run found into this world file.")
    ] = None,
    workers: Annotated[
        int | None, typer.Option(min=1, help="Threads or processes; one a core if not given.")
    ] = None,
    output: Annotated[
        Path | None,
        typer.Option(help="Write every price into this file, .csv or .json; with --best .json."),
    ] = None,
    map_name: MapOfFileOption = None,
    as_json: JsonOption = False,
) -> None:
    """Price each answer of a world file's run, or search the best run in hindsight.

    At each call every distinct answer is played on to the end of the run by a policy, on the same
    draws; a regret is what the best of them earns more than the answer that was given. Ctrl-C
    prints what was priced or found until then; begin again from a run that was saved.

    Example: tradesbench regret run5.sqlite --output prices.csv

    Example: tradesbench regret run5.sqlite --policy planner --calls 10 --answers 8

    Example: tradesbench regret run5.sqlite --best --seconds 120 --save best5.sqlite
    """
    _check_options(policy, calls, answers, best=best, search_only=(seconds, branches, save))
    _check_files(output, save, endings=(_JSON,) if best else (_CSV, _JSON))
    recorded = read_recorded(file, map=map_name)
    if best:
        most = _SECONDS if seconds is None and branches is None else seconds
        found = _search(recorded, Budget(most, branches, seed), workers, all_technicians)
        _tell_found(recorded, found, save, output, as_json=as_json)
        interrupted = found.interrupted
    else:
        ask = Ask(policy, Sample(calls, answers, seed), all_technicians, workers)
        prices, interrupted = _price(recorded, ask)
        _tell_prices(prices, worst, output, as_json=as_json)
    if interrupted:
        typer.echo("interrupted: this is what there was until then", err=True)
        raise typer.Exit(INTERRUPTED)


# -- prices --


def _price(recorded: Recorded, ask: Ask) -> tuple[Prices, bool]:
    """The prices, as far as they came; whether somebody stopped it."""
    with _bar("pricing", MofNCompleteColumn()) as (progress, task):
        ask.begun = lambda count: progress.update(task, total=count)
        ask.done = lambda count: progress.update(task, advance=count)
        try:
            return price(recorded, ask), False
        except Interrupted as stopped:
            return stopped.prices, True


def _tell_prices(prices: Prices, worst: int, output: Path | None, *, as_json: bool) -> None:
    if output is not None and output.suffix == _CSV:
        _write_rows(output, [price_as_row(prices, one) for one in prices.of])
    elif output is not None:
        _write(output, json.dumps(prices_as_dict(prices), indent=2))
    if as_json:
        typer.echo(json.dumps(prices_as_dict(prices), indent=2))
    else:
        _print(prices_page(prices, worst))
    wall, processor = prices.seconds
    who = "threads" if prices.compiled else "processes"
    spent = f", {processor:.1f} s of processor time" if prices.compiled else ""
    typer.echo(
        f"{len(prices.of)} of {prices.calls} calls, {prices.branches:,} branches in {wall:.1f} s"
        f"{spent}; {who}: {prices.workers}",
        err=True,
    )


# -- the best run --


def _search(
    recorded: Recorded, budget: Budget, workers: int | None, all_technicians: bool
) -> Found:
    with _bar("searching", TextColumn("{task.fields[found]}")) as (progress, task):
        progress.update(task, total=budget.branches or budget.seconds)

        def told(branches: int, profit: int) -> None:
            spent = branches if budget.branches else progress.tasks[0].elapsed or 0.0
            found = f"{rounded(profit, Unit.CENTS)} · {branches:,} branches"
            progress.update(task, completed=spent, found=found)

        return search(recorded, budget, workers=workers, all_technicians=all_technicians, told=told)


def _tell_found(
    recorded: Recorded, found: Found, save: Path | None, output: Path | None, *, as_json: bool
) -> None:
    if save is not None:
        keep(save, recorded, found.answers, found.profit)
    told = json.dumps(found_as_dict(recorded, found), indent=2)
    if output is not None:
        _write(output, told)
    if as_json:
        typer.echo(told)
    else:
        _print(best_page(recorded, found))
    wall, processor = found.seconds
    typer.echo(
        f"{found.branches:,} branches in {wall:.1f} s, {processor:.1f} s of processor time; "
        f"threads: {found.workers}",
        err=True,
    )
    if save is not None:
        typer.echo(f"written: {save}; search on with: regret {save} --best", err=True)


# -- options, files, screen --


def _check_options(
    policy: str,
    calls: int | None,
    answers: int | None,
    *,
    best: bool,
    search_only: tuple[Any, Any, Any],
) -> None:
    if best and (policy != "oracle" or calls is not None or answers is not None):
        raise TradesBenchError(
            "--best searches with every answer and the oracle: leave out --policy, --calls and "
            "--answers",
            code="option",
            field="best",
        )
    if not best and any(value is not None for value in search_only):
        raise TradesBenchError(
            "--seconds, --branches and --save belong to --best: give it as well",
            code="option",
            field="best",
        )


def _check_files(output: Path | None, save: Path | None, endings: tuple[str, ...]) -> None:
    """Refuse before a minute of branches what would fail after it."""
    if output is not None and output.suffix not in endings:
        raise _unwritable(output, f"its name must end in {' or '.join(endings)}")
    for path in (output, save):
        if path is not None and path.is_dir():
            raise _unwritable(path, "it is a folder")
        if path is not None and not path.absolute().parent.is_dir():
            raise _unwritable(path, f"there is no folder {path.absolute().parent}")
    if save is not None and save.exists():
        raise _unwritable(save, "there is a file of that name already")


def _write(path: Path, text: str) -> None:
    try:
        path.write_text(text + "\n", encoding="utf-8")
    except OSError as error:
        raise _unwritable(path, error.strerror or str(error)) from error


def _write_rows(path: Path, rows: list[dict[str, Any]]) -> None:
    try:
        with path.open("w", encoding="utf-8", newline="") as file:
            writer = csv.DictWriter(file, list(rows[0]) if rows else [], lineterminator="\n")
            writer.writeheader()
            writer.writerows(rows)
    except OSError as error:
        raise _unwritable(path, error.strerror or str(error)) from error


def _unwritable(path: Path, reason: str) -> TradesBenchError:
    return TradesBenchError(
        f"{path} cannot be written: {reason}", code="unwritable_file", field="output"
    )


def _print(page: Iterator[RenderableType]) -> None:
    console = Console(markup=False, emoji=False, highlight=False)
    for place, piece in enumerate(page):
        if place:
            console.print()
        console.print(piece)


@contextmanager
def _bar(word: str, count: Any) -> Iterator[tuple[Progress, Any]]:
    console = Console(markup=False, emoji=False, stderr=True)
    columns = (TextColumn(word), BarColumn(), count, TimeRemainingColumn())
    with Progress(
        *columns, console=console, transient=True, disable=not console.is_terminal
    ) as progress:
        yield progress, progress.add_task("", total=None, found="")
