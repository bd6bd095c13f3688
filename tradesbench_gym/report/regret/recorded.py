"""The calls of a run and how each was answered, with the whole state at each of them.

Read from a world file, which proves every step on the way, or noted while a policy plays. It knows
where a run can branch and nothing of what a branch would come to.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from tradesbench_gym.company.business import Business
from tradesbench_gym.company.play import answer as answer_with
from tradesbench_gym.company.simulation import Simulation
from tradesbench_gym.core.branching import CODES, REJECT, code_of, slot_of
from tradesbench_gym.core.codes import CallState, Phase, Stop
from tradesbench_gym.core.view import Desk
from tradesbench_gym.errors import StateError
from tradesbench_gym.world import Command, replay
from tradesbench_gym.world.identity import MapLike

States = npt.NDArray[np.void]
_REJECTED = int(REJECT)


@dataclass(frozen=True, eq=False)
class Recorded:
    """A run, as far as it was played.

    Attributes:
        business: what it is of.
        start: the run before anything happened, shape (1,).
        states: the run at each call that was answered, in order, shape (calls,).
        answers: to these calls, by their code in `core.branching`, shape (calls,); a call left
            unanswered is a rejected one.
        end: the run where the recording leaves it, shape (1,).

    """

    business: Business
    start: States
    states: States
    answers: npt.NDArray[np.int64]
    end: States

    @property
    def seed(self) -> int:
        """The run's number."""
        return int(self.start[0]["seed"])

    @property
    def finished(self) -> bool:
        """Whether the recording goes to the end of the run."""
        return int(self.end[0]["phase"]) == Phase.ENDED

    @property
    def profit(self) -> int:
        """Profit where the recording leaves the run, in cents."""
        return int(self.end[0]["cash"]) - int(self.business.handbook["starting_cash"])

    def outcome(self, call: int) -> CallState:
        """What the answer to a call, by index, came to at once: rejected, unanswered, declined or
        booked.
        """
        state = CallState(int(self.end[0]["calls"][call]["state"]))
        return min(state, CallState.BOOKED)


def read_recorded(path: str | Path, *, map: MapLike | None = None) -> Recorded:  # noqa: A002 - the word of the trade
    """The run of a world file.

    Raises:
        WorldError: no world file, one that cannot be played here, or one that was changed.
        StateError: no call of the run was answered yet.

    """
    notes = _Notes()
    for step in replay(path, map=map):
        notes.take(step.simulation, step.command, step.arguments)
    return notes.recorded(str(path))


def record(simulation: Simulation, decide: Callable[[Desk], Any]) -> Recorded:
    """Play a run at its start to its end with a policy, and note its calls.

    Raises:
        PolicyError: the policy made an offer that the company does not let out.
        StateError: nobody called.

    """
    notes = _Notes()
    notes.take(simulation, Command.BEGIN, {})
    while simulation.next_call() == Stop.NEW_CALL:
        notes.take(simulation, Command.ADVANCE, {})
        answer_with(simulation, decide)
        call = simulation.record["calls"][int(simulation.record["n_calls"]) - 1]
        if call["technician"] < 0:
            notes.take(simulation, Command.REJECT, {})
        else:
            ahead = int(call["day"]) - int(call["from_day"])
            slot = {"technician": int(call["technician"]), "window": int(call["window"])}
            notes.take(simulation, Command.OFFER, {**slot, "ahead": ahead})
    notes.take(simulation, Command.ADVANCE, {})
    return notes.recorded("the run")


class _Notes:
    """What is kept of a run while it is played."""

    def __init__(self) -> None:
        self._start: States | None = None
        self._waiting: States | None = None
        self._states: list[States] = []
        self._answers: list[int] = []
        self._last: Simulation | None = None

    def take(self, simulation: Simulation, command: Command, arguments: dict[str, Any]) -> None:
        """Note a step that was just made."""
        self._last = simulation
        if command == Command.OFFER:
            slot = (int(arguments[name]) for name in ("technician", "ahead", "window"))
            self._answer(int(code_of(*slot)))
        elif command in {Command.REJECT, Command.LEAVE_UNANSWERED}:
            self._answer(_REJECTED)
        if command == Command.BEGIN:
            self._start = _copy(simulation)
        if simulation.line is not None:
            self._waiting = _copy(simulation)

    def _answer(self, code: int) -> None:
        if self._waiting is None:
            raise RuntimeError("an answer without a call")
        self._states.append(self._waiting)
        self._answers.append(code)
        self._waiting = None

    def recorded(self, name: str) -> Recorded:
        if self._start is None or self._last is None or not self._states:
            raise StateError(f"{name} has no call that was answered", code="no_calls", field="path")
        answers = np.array(self._answers, np.int64)
        states = np.concatenate(self._states)
        return Recorded(self._last.business, self._start, states, answers, _copy(self._last))


def _copy(simulation: Simulation) -> States:
    return np.array([simulation.record])


def offer_of(answer: int) -> tuple[int, int, int] | None:
    """Technician, days ahead and window of an answer; None where the caller is turned away."""
    if not _REJECTED <= answer < CODES:
        raise ValueError(f"an answer is a number from 0 to {CODES - 1}, not {answer}")
    if answer == _REJECTED:
        return None
    technician, ahead, window = slot_of(answer)
    return int(technician), int(ahead), int(window)
