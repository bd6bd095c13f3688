"""What must have been said in a run, worked out from its world file alone: every occasion in order,
word for word, with what came of it.

The run is played again from its seed, so nothing here rests on the transcript that is held against
it. It knows the prompts and the company's answers, and no agent.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path

from tradesbench_gym.api.answers import current_call
from tradesbench_gym.api.facts import of_company
from tradesbench_gym.api.pictures import Picture, Watcher
from tradesbench_gym.company.scenario import Scenario
from tradesbench_gym.company.simulation import Simulation
from tradesbench_gym.core.codes import Kind, Stop
from tradesbench_gym.harness import prompts
from tradesbench_gym.harness.prompts import Prompt
from tradesbench_gym.harness.transcript import Occasion
from tradesbench_gym.world import Command, Step, WorldError, replay
from tradesbench_gym.world.identity import MapLike

_ANSWERS = {
    Kind.REJECTED: "rejected",
    Kind.UNANSWERED: "unanswered",
    Kind.DECLINED: "declined",
    Kind.BOOKED: "booked",
}


@dataclass
class Said:
    """One occasion.

    Attributes:
        prompt: what is said; None for the end of a day, at which nothing is.
        now: the company's clock then.
        outcome: what came of it; None if nothing has yet.

    """

    prompt: Prompt | None
    now: str
    outcome: str | None = None


@dataclass
class Expected:
    """What the world file says of a run.

    Attributes:
        simulation: the run where the file stands.
        occasions: in order.
        began: the company's clock at the start.
        advances: the commands with which time moved, by number, with the clock after each.
        commands: how many there are.
        opened: the day that is open; `phoned`: the cancellation on the line.

    """

    simulation: Simulation
    began: str
    occasions: dict[Occasion, Said] = field(default_factory=dict)
    advances: dict[int, str] = field(default_factory=dict)
    commands: int = 0
    opened: int | None = None
    phoned: Occasion | None = None


def expect(world: Path, known: MapLike | None) -> Expected:
    """Play a world's run again and note its occasions.

    Raises:
        WorldError: no world file, one that cannot be played here, or one that was changed.

    """
    found, watcher = None, None
    for step in replay(world, map=known):
        if found is None or watcher is None:
            watcher = Watcher(step.simulation.business)
            began = str(of_company(watcher.look(step.simulation))["now"])
            found = Expected(step.simulation, began)
        found.commands = step.number
        _take(found, step, watcher.look(step.simulation))
    if found is None:
        raise WorldError(f"{world} holds no run", code="damaged", field="path")
    return found


def _take(found: Expected, step: Step, now: Picture) -> None:
    for event in step.events:
        if event.kind in _ANSWERS and event.call is not None:
            found.occasions[Occasion("call", event.call)].outcome = _ANSWERS[event.kind]
    if step.command == Command.ACKNOWLEDGE and found.phoned is not None:
        found.occasions[found.phoned].outcome = "acknowledged"
        found.phoned = None
    elif step.command == Command.ADVANCE and step.outcome is not None:
        found.advances[step.number] = str(of_company(now)["now"])
        _let_go(found)
        _stop(found, Stop(step.outcome), now)


def _let_go(found: Expected) -> None:
    """Time has moved on: a cancellation that nobody acknowledged stays so."""
    if found.phoned is not None:
        found.occasions[found.phoned].outcome = "unanswered"
        found.phoned = None


def _stop(found: Expected, stop: Stop, now: Picture) -> None:
    known, scenario = of_company(now), now.business.scenario
    day, moment = int(known["day"]), str(known["now"])
    if stop == Stop.ENDED:
        if found.opened is not None:  # bankrupt in the middle of a day
            _end_day(found, day, moment)
        return
    prompt = _prompt(stop, now, scenario, day, moment)
    if prompt is None:
        return
    told = stop in {Stop.DAY_OPENED, Stop.DAY_CLOSED}
    found.occasions[prompt.about] = Said(prompt, moment, "told" if told else None)
    if stop == Stop.DAY_OPENED:
        found.opened = day
    elif stop == Stop.CANCELLATION:
        found.phoned = prompt.about
    elif stop == Stop.DAY_CLOSED:
        _end_day(found, day, moment)


def _prompt(stop: Stop, now: Picture, scenario: Scenario, day: int, moment: str) -> Prompt | None:
    if stop == Stop.DAY_OPENED:
        return prompts.opening(scenario, day, now.names.date(day - 1))
    if stop == Stop.DAY_CLOSED:
        return prompts.closing(day, moment)
    current = current_call(now)
    if current.new_job is not None:
        return prompts.new_call(scenario, current.new_job)
    if current.cancellation is not None:
        return prompts.cancellation(current.cancellation)
    return None


def _end_day(found: Expected, day: int, moment: str) -> None:
    found.occasions[Occasion("day", day)] = Said(None, moment, "closed")
    found.opened = None
