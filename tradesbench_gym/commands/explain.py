"""`tradesbench explain`: the draws behind one call of a run, for whoever checks results."""

from __future__ import annotations

import json
from enum import StrEnum
from typing import Annotated

import typer

from tradesbench_gym.commands.options import (
    DaysOption,
    JsonOption,
    MapOption,
    PolicyOption,
    SaltOption,
    ScenarioOption,
    SeedOption,
    StartOption,
    open_with,
    salt_number,
)
from tradesbench_gym.company.explain import CallEvent, explain_call
from tradesbench_gym.company.play import play
from tradesbench_gym.company.simulation import Simulation
from tradesbench_gym.core.codes import CallState
from tradesbench_gym.policies.load import load_policy


class What(StrEnum):
    """Events of a call that can be explained."""

    ANSWER = "answer"
    CANCELLATION = "cancellation"
    DRIVE = "drive"
    VISIT = "visit"
    ALL = "all"


def explain(
    what: Annotated[What, typer.Argument(help="Which of the call's events.")],
    call: Annotated[int, typer.Argument(help="Number of the call, from 1.")],
    policy: PolicyOption = "oracle",
    seed: SeedOption = 5,
    days: DaysOption = None,
    scenario: ScenarioOption = "sunridge",
    map_name: MapOption = "phoenix",
    start_date: StartOption = None,
    salt: SaltOption = "0",
    as_json: JsonOption = False,
) -> None:
    """Show the draws behind one call: identity, words, threshold, outcome.

    The run is played to its end first, so that the call has the number it has there.

    Example: tradesbench explain --seed 5 answer 1

    Example: tradesbench explain --seed 5 --policy accept-all all 12 --json
    """
    secret = salt_number(salt)
    decide = load_policy(policy, seed=seed)
    business = open_with(scenario, map_name, days, start_date)
    simulation = Simulation(seed, salt=secret, business=business)
    play(simulation, decide)
    told = explain_call(simulation, call)
    chosen = [event for event in told if what in (What.ALL, event.drawn.event.name.lower())]
    if as_json:
        typer.echo(json.dumps([event.as_dict() for event in chosen], indent=2))
        return
    state = CallState(int(simulation.record["calls"][call - 1]["state"]))
    typer.echo(f"Call {call} of run {seed} with {policy}: {state.name.lower()}.")
    if not chosen:
        typer.echo(f"Nothing was drawn for {what.value}: the run never asked.")
    for event in chosen:
        _print(event)


def _print(event: CallEvent) -> None:
    drawn = event.drawn
    typer.echo(f"\n{drawn.event.name.lower()}: {event.asked}")
    identity = ", ".join(f"{name} {value}" for name, value in drawn.identity.items())
    typer.echo(f"  identity   {identity}")
    for name, word in drawn.words.items():
        typer.echo(f"  word       {name}: {word} (u = {word / 2**64:.6f})")
    if drawn.threshold is not None:
        sign = "always" if drawn.probability == 1 else f"p = {drawn.probability:.6f}"
        typer.echo(f"  threshold  {drawn.threshold} ({sign})")
    for name, value in event.outcome.items():
        typer.echo(f"  outcome    {_shown(name, value)}")


def _shown(name: str, value: int | bool) -> str:
    """A result with its unit, which is the last word of its name."""
    if isinstance(value, bool):
        return f"{name.replace('_', ' ')}: {'yes' if value else 'no'}"
    said, _, unit = name.rpartition("_")
    return f"{said.replace('_', ' ')}: {value} {unit}"
