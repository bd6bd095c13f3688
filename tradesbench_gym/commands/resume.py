"""`tradesbench resume`: play the run of a world file on from where it stopped."""

from __future__ import annotations

import json

import typer

from tradesbench_gym.commands import summary
from tradesbench_gym.commands.options import JsonOption, PolicyOption
from tradesbench_gym.commands.world_options import FileArgument, MapOfFileOption
from tradesbench_gym.core.codes import Stop
from tradesbench_gym.errors import INTERRUPTED
from tradesbench_gym.policies.load import load_policy
from tradesbench_gym.policies.registry import Policy
from tradesbench_gym.world import World, play_on


def resume(
    file: FileArgument,
    policy: PolicyOption = "oracle",
    map_name: MapOfFileOption = None,
    as_json: JsonOption = False,
) -> None:
    """Play the run of a world file on to its end, whoever played it so far.

    Every step is kept as it is made: after Ctrl-C, a crash or a power cut the same command plays
    on. Money in --json is in whole cents.

    Example: tradesbench resume run5.sqlite --policy oracle:margin=20
    """
    load_policy(policy)  # a wrong name is told before the file is opened
    interrupted = False
    with World.open(file, map=map_name) as world:
        decide = load_policy(policy, seed=int(world.record["seed"]))
        if not as_json:
            _say_where(world)
        try:
            _play(world, decide, quiet=as_json)
        except KeyboardInterrupt:
            interrupted = True
        _report(world, policy, as_json=as_json, interrupted=interrupted)
    if interrupted:
        raise typer.Exit(INTERRUPTED)


def _say_where(world: World) -> None:
    moment = world.business.clock_text(int(world.record["clock"]))
    if world.left_by is not None:
        typer.echo(f"{world.path} was left by {world.left_by}, which was killed; nothing is lost.")
    if world.ended:
        typer.echo(f"The run ended at {moment}; there is nothing to play.")
    else:
        typer.echo(f"Resumed at {moment}, after {world.commands} commands.")
        typer.echo(summary.day_head())


def _play(world: World, decide: Policy, *, quiet: bool) -> None:
    day = world.day
    for stop in play_on(world, decide):
        closed = stop == Stop.DAY_CLOSED or (stop == Stop.ENDED and world.record["bankrupt"])
        if closed and not quiet:
            typer.echo(summary.day_line(world.simulation, day))
        day = world.day


def _report(world: World, policy: str, *, as_json: bool, interrupted: bool) -> None:
    simulation = world.simulation
    if interrupted:
        moment = simulation.business.clock_text(int(world.record["clock"]))
        typer.echo(f"interrupted at {moment}; resume {world.path} to play on", err=True)
    if as_json:
        found = summary.as_json(simulation, policy, interrupted=interrupted)
        typer.echo(json.dumps(found, indent=2))
    else:
        summary.print_summary(simulation, policy, with_days=False)
