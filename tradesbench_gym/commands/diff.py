"""`tradesbench diff`: the first event in which two runs part."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console
from rich.table import Table

from tradesbench_gym.commands.event_words import event_text, slot_text, technician_name
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
from tradesbench_gym.core.layout import DAY_SECONDS
from tradesbench_gym.envs.wording import dollars
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
    (one, of_one), (other, of_other) = (_events(run, business, secret) for run in runs)
    business = of_one or of_other
    found = first_difference(one, other)
    if as_json:
        counts = {"events": [len(one), len(other)], "same": found is None}
        shown = None if found is None else found.as_dict()
        typer.echo(json.dumps({**counts, "difference": shown}, indent=2))
    elif found is None:
        typer.echo(f"The runs are the same: {len(one):,} events.")
    else:
        _print(found, (left, right), (len(one), len(other)), business)
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
    source: Path | tuple[str, int], business: Business | None, salt: int
) -> tuple[Sequence[Event], Business | None]:
    """The events of a run, and what they are of where that is known."""
    if isinstance(source, tuple):
        policy, seed = source
        simulation = Simulation(seed, salt=salt, business=business)
        play(simulation, load_policy(policy, seed=seed))
        return simulation.take_events(), business
    if is_world(source):
        steps = list(replay(source))
        return [event for step in steps for event in step.events], steps[0].simulation.business
    try:
        text = source.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise StateError(
            f"{source} cannot be read as events: {error}", code="file", field="run"
        ) from None
    return list(read_events(text.splitlines(), str(source))), business


def is_world(path: Path) -> bool:
    """Whether a file is a world file, or any other of SQLite."""
    try:
        with path.open("rb") as file:
            return file.read(len(_WORLD)) == _WORLD
    except OSError:
        return False


def _print(
    found: Difference, names: tuple[str, str], counts: tuple[int, int], business: Business | None
) -> None:
    first = next(event for event in (found.left, found.right) if event is not None)
    date = f" ({business.clock_text(first.at)})" if business else ""
    console = Console(markup=False, emoji=False, highlight=False)
    console.print(
        f"The runs part after {found.place:,} events of {counts[0]:,} and {counts[1]:,}{date}.",
        markup=False,
    )
    common = "none" if found.common is None else found.common
    if isinstance(common, Event) and business is not None:
        common = event_text(common, business)
    console.print(f"last common  {common}", markup=False)
    table = Table("", *names, "", box=None, pad_edge=False, header_style="bold")
    for field in FIELDS:
        pair = [_shown(event, field, business) for event in (found.left, found.right)]
        if any(pair):
            differs = field in found.differing
            table.add_row(field, *pair, "≠" if differs else "", style="bold" if differs else "")
    console.print(table)


def _shown(event: Event | None, field: str, business: Business | None) -> str:
    if event is None:
        return "no more events" if field == "at" else ""
    value = event.as_dict().get(field)
    if value is None:
        return ""
    if field == "at":
        day, second = divmod(event.at, DAY_SECONDS)
        return f"day {day + 1} {second // 3600:02}:{second // 60 % 60:02}:{second % 60:02}"
    if field == "day":
        return f"day {int(value) + 1}"
    if field == "cents":
        return dollars(int(value), sign=True)
    if business is not None and field == "technician":
        return technician_name(business, int(value))
    if business is not None and field == "window":
        return slot_text(business, None, int(value))
    return str(value).replace("_", " ")
