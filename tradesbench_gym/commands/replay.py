"""`tradesbench replay`: step through a recorded run, on the board or as lines."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Annotated, Any

import typer
from rich.console import Console

from tradesbench_gym.commands.event_words import event_text, technician_name
from tradesbench_gym.commands.options import JsonOption
from tradesbench_gym.commands.world_options import FileArgument, MapOfFileOption
from tradesbench_gym.company.refusals import window_text
from tradesbench_gym.core.codes import Stop
from tradesbench_gym.envs.rendering import board
from tradesbench_gym.world import Command, Step
from tradesbench_gym.world import replay as replay_file

_KEYS = "Enter: next step   d: next day   a number: that step   q: quit "
_LAST = 1 << 62


def replay(
    file: FileArgument,
    map_name: MapOfFileOption = None,
    first: Annotated[
        int, typer.Option("--from", min=0, help="Number of the first step to show; 0 is the start.")
    ] = 0,
    last: Annotated[
        int | None, typer.Option("--to", min=0, help="Number of the last step to show.")
    ] = None,
    no_live: Annotated[bool, typer.Option("--no-live", help="Lines instead of the board.")] = False,
    as_json: JsonOption = False,
) -> None:
    """Step through the run of a world file.

    It shows what was asked of the company, and what came of it. Each step is played again and
    proven by its digest. A run that is still being played can be looked at as far as it has got.
    --json prints one object a line.

    Example: tradesbench replay run5.sqlite

    Example: tradesbench replay run5.sqlite --from 40 --to 60 --no-live
    """
    shown = _between(replay_file(file, map=map_name), first, _LAST if last is None else last)
    console = Console(markup=False, emoji=False, highlight=False)
    if as_json:
        for step in shown:
            typer.echo(json.dumps(_plain(step)))
    elif console.is_terminal and not console.is_dumb_terminal and not no_live:
        _step_through(shown, console)
    else:
        for step in shown:
            typer.echo("\n".join(_lines(step)))


def _between(steps: Iterator[Step], first: int, last: int) -> Iterator[Step]:
    for step in steps:
        if step.number > last:
            return
        if step.number >= first:
            yield step


def _step_through(steps: Iterator[Step], console: Console) -> None:
    """Show each step on the board until the reader has had enough."""
    skip_to, day = 0, -1
    for step in steps:
        simulation = step.simulation
        if step.number < skip_to or (day >= 0 and simulation.day <= day and not simulation.ended):
            continue
        console.clear()
        console.print(board(simulation.business, simulation.desk))
        console.print("\n".join(_lines(step)), markup=False)
        try:
            said = console.input(_KEYS, markup=False).strip().lower()
        except EOFError:
            return
        if said.startswith("q"):
            return
        day = simulation.day if said.startswith("d") else -1
        skip_to = int(said) if said.isdecimal() else 0


def _lines(step: Step) -> list[str]:
    business = step.simulation.business
    events = (f"      {event_text(event, business)}" for event in step.events)
    return [f"{step.number:>5} {_said(step)}", *events]


def _said(step: Step) -> str:
    given, business = step.arguments, step.simulation.business
    command = step.command.name.lower().replace("_", " ")
    if step.command == Command.BEGIN:
        return f"run {given['seed']} of {given['scenario']} on {given['map']}, {given['days']} days"
    if step.command == Command.OFFER:
        who = technician_name(business, given["technician"])
        when = window_text(business, given["window"])
        answer = "accepted" if step.outcome else "declined"
        return f"offer {who}, {_ahead(given['ahead'])}, {when}: {answer}"
    given_text = "".join(f" {name}={value}" for name, value in given.items())
    if step.command == Command.ADVANCE and step.outcome is not None:
        return f"{command}{given_text}: {Stop(step.outcome).name.lower().replace('_', ' ')}"
    return f"{command}{given_text}"


def _ahead(days: int) -> str:
    return ("today", "tomorrow")[days] if days < 2 else f"in {days} days"


def _plain(step: Step) -> dict[str, Any]:
    arguments = {key: value for key, value in step.arguments.items() if key != "salt"}
    return {
        "number": step.number,
        "command": step.command.name.lower(),
        "arguments": arguments,
        "outcome": step.outcome,
        "digest": step.digest,
        "cash": step.simulation.cash_cents,
        "events": [event.as_dict() for event in step.events],
    }
