"""`tradesbench run`: one run with a policy, live on the board, and its results."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console

from tradesbench_gym.commands import summary
from tradesbench_gym.commands.live import play_by_day, play_live
from tradesbench_gym.commands.options import (
    DaysOption,
    JsonOption,
    MapOption,
    PolicyOption,
    SaltOption,
    ScenarioOption,
    SeedOption,
    StartOption,
    check_writable,
    open_with,
    salt_number,
)
from tradesbench_gym.company.difference import write_events
from tradesbench_gym.company.simulation import Simulation
from tradesbench_gym.errors import INTERRUPTED, StateError
from tradesbench_gym.policies.load import load_policy
from tradesbench_gym.policies.registry import Policy

FASTEST = "max"


def run(
    policy: PolicyOption = "oracle",
    seed: SeedOption = 5,
    days: DaysOption = None,
    scenario: ScenarioOption = "sunridge",
    map_name: MapOption = "phoenix",
    start_date: StartOption = None,
    salt: SaltOption = "0",
    no_live: Annotated[
        bool, typer.Option("--no-live", help="A line a day instead of the board.")
    ] = False,
    speed: Annotated[
        str, typer.Option(help="Days of the run a second on the board; max or 0: no pacing.")
    ] = "2.5",
    events: Annotated[
        Path | None,
        typer.Option(help="Write everything that happens into this file, as JSON lines."),
    ] = None,
    world: Annotated[
        Path | None,
        typer.Option(help="Keep every step in this new file, to be resumed, replayed, audited."),
    ] = None,
    as_json: JsonOption = False,
) -> None:
    """Play one run live in the terminal and print what came of it.

    Money in --json is in whole cents. Ctrl-C stops the run and prints what there is so far.

    Example: tradesbench run --policy oracle:margin=20 --seed 7 --speed 1

    Example: tradesbench run --policy my_policy.py:decide --json

    Example: tradesbench run --world run5.sqlite
    """
    pace, secret = _speed(speed), salt_number(salt)
    check_writable(events)
    decide = load_policy(policy, seed=seed)
    if world is not None:
        if events is not None:
            raise StateError("a world file holds the events itself: give --world or --events")
        from tradesbench_gym.commands.resume import resume
        from tradesbench_gym.world import World

        World.create(
            world,
            seed,
            salt=secret,
            scenario=scenario,
            map=map_name,
            days=days,
            start_date=start_date,
        ).close()
        resume(world, policy, None if map_name == "phoenix" else map_name, as_json)
        return
    business = open_with(scenario, map_name, days, start_date)
    simulation = Simulation(seed, salt=secret, business=business)
    interrupted, told = False, False
    try:
        told = _play(simulation, decide, pace, quiet=as_json, no_live=no_live)
    except KeyboardInterrupt:
        interrupted = True
    if events is not None:
        _write(events, simulation)
    _report(simulation, policy, as_json=as_json, with_days=not told, interrupted=interrupted)
    if interrupted:
        raise typer.Exit(INTERRUPTED)


def _play(
    simulation: Simulation, decide: Policy, speed: float, *, quiet: bool, no_live: bool
) -> bool:
    """Play the run to its end; whether the days were told on the way."""
    if quiet:
        play_by_day(simulation, decide, lambda _day: None)
        return True
    console = Console(markup=False, emoji=False)
    if console.is_terminal and not console.is_dumb_terminal and not no_live:
        play_live(simulation, decide, speed, console)
        return False
    typer.echo(summary.day_head())
    play_by_day(simulation, decide, lambda day: typer.echo(summary.day_line(simulation, day)))
    return True


def _report(
    simulation: Simulation, policy: str, *, as_json: bool, with_days: bool, interrupted: bool
) -> None:
    if interrupted:
        moment = simulation.business.clock_text(int(simulation.record["clock"]))
        typer.echo(f"interrupted at {moment}; the run so far:", err=True)
    if as_json:
        found = summary.as_json(simulation, policy, interrupted=interrupted)
        typer.echo(json.dumps(found, indent=2))
    else:
        summary.print_summary(simulation, policy, with_days=with_days)


def _write(file: Path, simulation: Simulation) -> None:
    with file.open("w", encoding="utf-8") as lines:
        lines.writelines(write_events(simulation.take_events()))


def _speed(text: str) -> float:
    try:
        speed = 0.0 if text == FASTEST else float(text)
    except ValueError:
        speed = -1.0
    if not 0 <= speed < float("inf"):
        raise StateError(
            f"speed must be a number of days a second, 0 or {FASTEST}, not {text!r}",
            code="speed",
            field="speed",
        )
    return speed
