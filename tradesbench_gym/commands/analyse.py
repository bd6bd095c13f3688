"""`tradesbench analyse`: where runs lost or won money against another policy, who accepted what,
and the risk that each booking took.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.console import Console
from rich.table import Table
from rich.text import Text

from tradesbench_gym.commands.options import JsonOption
from tradesbench_gym.commands.world_options import MapOfFileOption
from tradesbench_gym.company.play import Results
from tradesbench_gym.policies.load import load_policy
from tradesbench_gym.report import writing
from tradesbench_gym.report.analysis import (
    PARTS,
    Account,
    Booking,
    Gap,
    acceptance,
    bookings,
    by_slack,
    gap,
    missed_jobs,
    played_account,
    read_account,
    tables,
)
from tradesbench_gym.report.analysis.weighing import Weigher
from tradesbench_gym.report.paired import Paired, paired
from tradesbench_gym.report.statistics import Unit

_WORLD, _MANIFEST = "world.sqlite", "manifest.json"


@dataclass(frozen=True, eq=False)
class _Analysed:
    """A run with what was found; `gap` is None where the run is not at its end."""

    name: str
    account: Account
    other: Account | None
    gap: Gap | None
    made: list[Booking]


def analyse(
    targets: Annotated[
        list[Path],
        typer.Argument(metavar="FOLDER|FILE", help="Folders of runs, or world files."),
    ],
    against: Annotated[
        str, typer.Option(help="The policy to compare with, on the same world.")
    ] = "oracle",
    map_name: MapOfFileOption = None,
    as_json: JsonOption = False,
) -> None:
    """Show where the gap to the oracle comes from, who accepted, and what was risked.

    The gap is split to the cent: its parts add up to the difference of the two profits. A run that
    is not at its end has no gap yet; the rest is shown as far as it came.

    Example: tradesbench analyse my-run

    Example: tradesbench analyse --against planner mine.sqlite other.sqlite
    """
    load_policy(against)
    weigher = Weigher()
    found = [_analyse(target, against, map_name, weigher) for target in targets]
    if as_json:
        typer.echo(json.dumps(_as_json(found, against), indent=2))
        return
    console = Console(markup=False, emoji=False, highlight=False)
    for one in found:
        _print_one(console, one, against)
    if len(found) > 1:
        _print_all(console, found, against)
    console.print()
    for note in (tables.gap_note(), tables.ACCEPTANCE_NOTE, tables.SLACK_NOTE):
        console.print(note, style="dim", markup=False)


def _analyse(target: Path, against: str, map_name: str | None, weigher: Weigher) -> _Analysed:
    file, known = _world(target, map_name)
    account = read_account(file, map=known, weigher=weigher)
    other = None
    if account.finished:
        policy = load_policy(against, seed=account.seed)
        other = played_account(
            account.business, account.seed, account.salt, policy, weigher=weigher
        )
    found = None if other is None else gap(account, other)
    return _Analysed(str(target), account, other, found, bookings(account))


def _world(target: Path, map_name: str | None) -> tuple[Path, str | None]:
    """The world file of a target, and the map it is to be opened with."""
    if not (target / _MANIFEST).exists():
        return target, map_name
    from tradesbench_gym.harness.manifest import read_manifest  # needs [harness]

    manifest = read_manifest(target / _MANIFEST)
    return target / _WORLD, map_name or manifest.run.map


# -- for people --


def _print_one(console: Console, one: _Analysed, against: str) -> None:
    console.print()
    console.rule(Text(one.name, "bold"), align="left")
    came_to = one.account.results
    console.print(f"profit {writing.exact(came_to.profit, Unit.CENTS)}{_beside(one, against)}")
    if one.gap is None:
        at = one.account.business.clock_text(int(one.account.simulation.record["clock"]))
        console.print(f"unfinished, at {at}: there is no gap to {against} yet")
    else:
        _print_table(console, tables.gap_table([one.gap], "run", against))
    _print_offers(console, [one])
    missed = missed_jobs(one.made)
    if missed:
        _print_table(console, tables.misses_table(one.account.business, missed))


def _print_table(console: Console, table: Table) -> None:
    console.print()
    console.print(table)


def _beside(one: _Analysed, against: str) -> str:
    if one.other is None or one.gap is None:
        return ""
    more = one.gap.total.difference
    size = writing.exact(abs(more), Unit.CENTS)
    theirs = writing.exact(one.other.results.profit, Unit.CENTS)
    return f", {against} on the same world {theirs}: {size} {'less' if more < 0 else 'more'}"


def _print_offers(console: Console, found: Sequence[_Analysed]) -> None:
    accepted = acceptance(one.account for one in found)
    slack = by_slack(booking for one in found for booking in one.made)
    for table in (tables.acceptance_table(accepted), tables.slack_table(slack)):
        if table.row_count:
            _print_table(console, table)


def _print_all(console: Console, found: Sequence[_Analysed], against: str) -> None:
    console.print()
    console.rule(Text(f"all {len(found)} runs", "bold"), align="left")
    gaps = [one.gap for one in found if one.gap is not None]
    if gaps:
        console.print(f"means of the {len(gaps)} finished runs")
        _print_table(console, tables.gap_table(gaps, "run", against))
        console.print(_interval(_difference(found), against))
    _print_offers(console, found)


def _interval(less: Paired, against: str) -> str:
    mean = writing.rounded(less.mean, Unit.CENTS)
    ends = [writing.rounded(end, Unit.CENTS) for end in (less.low, less.high)]
    known = "" if less.low is None else f", 95 % interval {ends[0]} to {ends[1]}"
    return f"profit less {against}'s: mean {mean}{known} (bootstrap over {less.drawn})"


# -- for machines --


def _difference(found: Sequence[_Analysed]) -> Paired:
    def pairs() -> Iterator[tuple[tuple[int, int], int]]:
        for one in found:
            if one.gap is not None:
                yield (one.account.seed, one.account.salt), one.gap.total.difference

    return paired(pairs())


def _as_json(found: Sequence[_Analysed], against: str) -> dict[str, Any]:
    return {
        "against": against,
        "definitions": {part.value: rule for part, (_, rule) in PARTS.items()},
        "notes": {"acceptance": tables.ACCEPTANCE_NOTE, "risk": tables.SLACK_NOTE},
        "runs": [_run_as_json(one) for one in found],
        "difference_cents": _difference(found).as_dict(),
        **_offers_as_json(found),
    }


def _run_as_json(one: _Analysed) -> dict[str, Any]:
    def plain(came_to: Results) -> dict[str, Any]:
        return {key: value for key, value in came_to.as_dict().items() if key != "seed"}

    return {
        "path": one.name,
        "seed": one.account.seed,
        "sealed": one.account.salt != 0,
        "finished": one.account.finished,
        "results": plain(one.account.results),
        "against": None if one.other is None else plain(one.other.results),
        "gap": None if one.gap is None else one.gap.as_dict(),
        **_offers_as_json([one]),
        "bookings": [booking.as_dict() for booking in one.made],
        "missed": [miss.as_dict() for miss in missed_jobs(one.made)],
    }


def _offers_as_json(found: Sequence[_Analysed]) -> dict[str, Any]:
    slack = by_slack(booking for one in found for booking in one.made)
    return {
        "acceptance": [bucket.as_dict() for bucket in acceptance(one.account for one in found)],
        "risk": [bucket.as_dict() for bucket in slack],
    }
