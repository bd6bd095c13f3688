"""`tradesbench diff`: the first event in which two runs part."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console
from rich.table import Table

from tradesbench_gym.commands.event_words import event_text, values_of
from tradesbench_gym.commands.options import (
    DaysOption,
    JsonOption,
    MapOption,
    SaltOption,
    ScenarioOption,
    StartOption,
    open_with,
    salt_number,
)
from tradesbench_gym.company.business import Business
from tradesbench_gym.company.difference import FIELDS, Difference, first_difference, read_events
from tradesbench_gym.company.events import Event
from tradesbench_gym.company.play import play
from tradesbench_gym.company.simulation import Simulation
from tradesbench_gym.errors import StateError
from tradesbench_gym.policies.load import load_policy
from tradesbench_gym.world import replay

PARTED = 1
_SPEC = "policy@seed, such as oracle@5, a world file, or what `tradesbench run --events` wrote"
_WORLD = b"SQLite format 3"


def diff(
    left: Annotated[str, typer.Argument(metavar="A", help=f"{_SPEC}.")],
    right: Annotated[str, typer.Argument(metavar="B", help="The same.")],
    days: DaysOption = None,
    scenario: ScenarioOption = "sunridge",
    map_name: MapOption = "phoenix",
    start_date: StartOption = None,
    salt: SaltOption = "0",
    as_json: JsonOption = False,
) -> None:
    """Name the first event in which two runs part.

    Exits 0 if they are the same and 1 if they part.

    Example: tradesbench diff oracle@5 oracle:margin=20@5

    Example: tradesbench diff mine.sqlite oracle@5
    """
    secret = salt_number(salt)
    runs = [_source(spec) for spec in (left, right)]
    business = None
    if any(isinstance(run, tuple) for run in runs):
        business = open_with(scenario, map_name, days, start_date)
    worlds_map = None if map_name == "phoenix" else map_name  # a world file names its own
    (one, of_one), (other, of_other) = (_events(run, business, secret, worlds_map) for run in runs)
    companies = (of_one or of_other, of_other or of_one)
    found = first_difference(one, other)
    if as_json:
        counts = {"events": [len(one), len(other)], "same": found is None}
        shown = None if found is None else found.as_dict()
        typer.echo(json.dumps({**counts, "difference": shown}, indent=2))
    elif found is None:
        typer.echo(f"The runs are the same: {len(one):,} events.")
    else:
        _print(found, (left, right), (len(one), len(other)), companies)
    if found is not None:
        raise typer.Exit(PARTED)


def _source(spec: str) -> Path | tuple[str, int]:
    """A file of events, or a policy and a seed."""
    policy, at, seed = spec.rpartition("@")
    if Path(spec).is_file():
        return Path(spec)
    if not (at and policy and seed.isdecimal()):
        raise StateError(
            f"{spec!r} is neither a file that is there nor {_SPEC.partition(',')[0]}, "
            "such as oracle@5",
            code="unknown_run",
            field="run",
        )
    return policy, int(seed)


def _events(
    source: Path | tuple[str, int], business: Business | None, salt: int, worlds_map: str | None
) -> tuple[Sequence[Event], Business | None]:
    """The events of a run, and what they are of where that is known."""
    if isinstance(source, tuple):
        policy, seed = source
        simulation = Simulation(seed, salt=salt, business=business)
        play(simulation, load_policy(policy, seed=seed))
        return simulation.take_events(), business
    if _is_world(source):
        steps = list(replay(source, map=worlds_map))
        return [event for step in steps for event in step.events], steps[0].simulation.business
    try:
        text = source.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise StateError(
            f"{source} cannot be read as events: {error}", code="file", field="run"
        ) from None
    return list(read_events(text.splitlines(), str(source))), business


def _is_world(path: Path) -> bool:
    """Whether a file is a world file, or any other of SQLite."""
    try:
        with path.open("rb") as file:
            return file.read(len(_WORLD)) == _WORLD
    except OSError:
        return False


def _print(
    found: Difference,
    names: tuple[str, str],
    counts: tuple[int, int],
    companies: tuple[Business | None, Business | None],
) -> None:
    console = Console(markup=False, emoji=False, highlight=False)
    console.print(
        f"The runs part after {found.place:,} events of {counts[0]:,} and {counts[1]:,}.",
        markup=False,
    )
    common = "none" if found.common is None else event_text(found.common, companies[0])
    console.print(f"last common  {common}", markup=False)
    table = Table("", *names, "", box=None, pad_edge=False, header_style="bold")
    sides = [
        {} if event is None else values_of(event, business)
        for event, business in zip((found.left, found.right), companies, strict=True)
    ]
    for field in FIELDS:
        ended = "no more events" if field == "at" else ""
        pair = [side.get(field, "") if side else ended for side in sides]
        if any(pair):
            differs = field in found.differing
            table.add_row(field, *pair, "≠" if differs else "", style="bold" if differs else "")
    console.print(table)
