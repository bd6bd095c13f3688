"""The days of a run, from stop to stop: what is said to the agent at each, and what comes of it.

Where the run stands is asked anew at every stop, and what has been said is in the transcript, so
that the same loop plays a run from its start and from wherever it was left. Time passes here and
nowhere else. Whether a call was answered the company's books say, never the agent. This module
knows no agent program, no gateway and no process.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

from tradesbench_gym.api.driver_models import RunStatus
from tradesbench_gym.company.scenario import Scenario
from tradesbench_gym.harness import prompts
from tradesbench_gym.harness.agents.agent import Agent, Turn, TurnEnd
from tradesbench_gym.harness.company import Company
from tradesbench_gym.harness.faults import Fault, FaultKind
from tradesbench_gym.harness.manifest import HarnessError, LimitsPart, now
from tradesbench_gym.harness.prompts import Prompt
from tradesbench_gym.harness.recorder import Recorder
from tradesbench_gym.harness.transcript import Occasion

_MOST_PAUSE_SECONDS = 30.0


class RunStoppedError(HarnessError):
    """The run cannot go on now; it can be resumed where it stands."""


class House(Protocol):
    """What the loop needs of everything around it."""

    def check(self) -> None:
        """See that everything runs that should, and take down what went wrong.

        Raises:
            RunStoppedError: a limit of the run is reached.

        """

    def close_day(self, day: int) -> None:
        """Send everybody home at the end of a day, from 1, and keep the agent's notes."""


@dataclass(frozen=True)
class Watch:
    """Who looks on: `moved` is told where the run stands and what goes on, `closed` a day's row."""

    moved: Callable[[RunStatus, str], None] = lambda _status, _what: None
    closed: Callable[[dict[str, Any]], None] = lambda _row: None
    fault: Callable[[Fault], None] = lambda _fault: None


class Days:
    """Plays a run with an agent.

    Args:
        company: the run.
        agent: who answers.
        house: everything around.
        recorder: of what happens.
        scenario: for the words of the prompts.
        limits: reminders, and how often a turn that nobody could help is repeated.
        watch: who looks on.

    """

    def __init__(
        self,
        company: Company,
        agent: Agent,
        house: House,
        recorder: Recorder,
        scenario: Scenario,
        limits: LimitsPart,
        watch: Watch,
    ) -> None:
        self._company, self._agent, self._house = company, agent, house
        self._recorder, self._scenario, self._limits = recorder, scenario, limits
        self._watch = watch
        self._day = 0

    def play(self) -> RunStatus:
        """Play the run to its end, from wherever it stands; how it stands then.

        Raises:
            RunStoppedError: it cannot go on now.
            AgentFailedError: the agent cannot be started.

        """
        self._settle(self._company.status())
        while True:
            status = self._company.status()
            if not status.ended:
                self._attend(status)
            else:  # a bankrupt company's last day does not close by itself
                self._close(status.day)
            if status.ended:
                return status
            self._recorder.write("advance", now=status.now, commands=status.commands)
            self._company.advance()

    def _settle(self, status: RunStatus) -> None:
        """Take down what came of a prompt that an earlier sitting saw answered, and no more."""
        for about in self._recorder.history.left_open():
            if about.kind == "call" and about.number != status.call_id:
                self._over(about, self._company.outcome(about.number))
            elif about.kind == "cancellation" and about.number != status.job_id:
                self._over(about, "acknowledged")

    def _attend(self, status: RunStatus) -> None:
        """Say what there is to say where the run stands, unless that is over."""
        if status.call_id is not None:
            self._call(status, status.call_id)
        elif status.job_id is not None:
            self._cancellation(status, status.job_id)
        elif status.phase == "morning":
            prompt = prompts.opening(self._scenario, status.day, status.date)
            self._tell(status, prompt, "opens the office")
        elif status.phase == "night" and status.now != f"{status.date} 00:00:00":
            self._tell(status, prompts.closing(status.day, status.now), "closes the day")
            self._close(status.day)

    def _close(self, day: int) -> None:
        about = Occasion("day", day)
        if self._is_over(about):
            return
        self._house.close_day(day)
        self._day = 0
        self._recorder.write("outcome", about=about.kind, number=day, outcome="closed")
        self._watch.closed(self._company.day(day))

    def _is_over(self, about: Occasion) -> bool:
        return self._recorder.history.is_over(about)

    # -- occasions --

    def _call(self, status: RunStatus, number: int) -> None:
        about = Occasion("call", number)
        if self._is_over(about):
            return
        call = self._company.current_call().new_job
        if call is None or call.call_id != number:
            return  # answered this very moment; the status tells
        self._watch.moved(status, f"call {number}")
        prompt = prompts.new_call(self._scenario, call)
        if not self._ask(status, prompt, lambda: self._company.status().call_id == number):
            self._company.leave_unanswered(number)
        self._over(about, self._company.outcome(number))

    def _cancellation(self, status: RunStatus, number: int) -> None:
        about = Occasion("cancellation", number)
        said = self._company.current_call().cancellation
        if self._is_over(about) or said is None:
            return
        self._watch.moved(status, f"cancellation of job {number}")
        waiting = lambda: self._company.status().job_id == number  # noqa: E731 - as above
        heard = self._ask(status, prompts.cancellation(said), waiting)
        self._over(about, "acknowledged" if heard else "unanswered")

    def _tell(self, status: RunStatus, prompt: Prompt, what: str) -> None:
        """Say something to which there is no answer to give."""
        if self._is_over(prompt.about):
            return
        self._watch.moved(status, what)
        before = self._recorder.history.attempts(prompt.about)
        self._ask(
            status, prompt, lambda: self._recorder.history.attempts(prompt.about) == before, most=0
        )
        self._over(prompt.about, "told")

    def _over(self, about: Occasion, outcome: str) -> None:
        self._recorder.write("outcome", about=about.kind, number=about.number, outcome=outcome)

    # -- turns --

    def _ask(
        self,
        status: RunStatus,
        prompt: Prompt,
        waiting: Callable[[], bool],
        most: int | None = None,
    ) -> bool:
        """Say something until it has had its effect or the last reminder is given; whether it had.

        Raises:
            RunStoppedError: it was nobody's fault but the machine's or the provider's.

        """
        history, reminders = (
            self._recorder.history,
            self._limits.reminders if most is None else most,
        )
        spared, fresh, last = 0, False, None
        while waiting():
            attempt = history.attempts(prompt.about)
            if attempt > reminders:
                self._no_answer(prompt.about, last)
                return False
            before = len(self._recorder.faults)
            text = self._text(prompt, attempt, fresh=fresh)
            last = self._turn(status, prompt.about, attempt, text, spared)
            fresh = last.end == TurnEnd.FULL
            if history.attempts(prompt.about) == attempt:
                spared += 1
                self._spare(last, self._recorder.faults[before:], spared)
        return True

    def _text(self, prompt: Prompt, attempt: int, *, fresh: bool) -> str:
        if attempt == 0:
            return prompt.text
        reminder = prompt.reminder(attempt, self._limits.reminders)
        return f"{prompt.text}\n\n{reminder}" if fresh else reminder

    def _turn(
        self, status: RunStatus, about: Occasion, attempt: int, text: str, spared: int
    ) -> Turn:
        recorder = self._recorder
        self._house.check()
        if self._day != status.day:
            recorder.write("day", day=status.day, date=status.date)
            self._agent.begin_day(status.day)
            self._day = status.day
        number, before = recorder.prompts + 1, len(recorder.faults)
        said = {"about": about.kind, "number": about.number, "prompt": number}
        recorder.write("prompt", **said, attempt=attempt, now=status.now, text=text)
        turn = self._agent.prompt(number, about.kind, text)
        try:
            self._house.check()
        finally:
            faults = recorder.faults[before:]
            counts = self._counts(turn, faults, spared)
            recorder.write(
                "turn",
                **said,
                end=turn.end.value,
                seconds=round(turn.seconds, 3),
                counts=counts,
                faults=[fault.code for fault in faults],
            )
        return turn

    def _counts(self, turn: Turn, faults: Sequence[Fault], spared: int) -> bool:
        """Whether the agent has had its turn: not if it was kept from it."""
        if any(fault.code == "company_died" for fault in faults):
            return False
        if turn.end == TurnEnd.FAILED:
            return {fault.kind for fault in faults} == {FaultKind.MODEL}
        # Somebody must be able to end a run with an agent that always dies.
        return turn.end != TurnEnd.DIED or spared >= self._limits.repeats

    def _spare(self, turn: Turn, faults: Sequence[Fault], spared: int) -> None:
        """Wait before the same is said again; give up if that has been done often enough."""
        infrastructure = [one for one in faults if one.kind == FaultKind.INFRASTRUCTURE]
        if turn.end == TurnEnd.FAILED and not infrastructure:
            fault = Fault(
                FaultKind.INFRASTRUCTURE,
                "model_unreachable",
                f"the model could not be asked: {turn.why}",
                now(),
            )
            self._recorder.fault(fault)
            infrastructure = [fault]
        if spared > self._limits.repeats:
            why = infrastructure[-1].sentence if infrastructure else "its turns fail"
            raise RunStoppedError(f"the run was stopped: {why}", code="stopped")
        if turn.end == TurnEnd.FAILED:
            time.sleep(min(2.0**spared, _MOST_PAUSE_SECONDS))

    def _no_answer(self, about: Occasion, last: Turn | None) -> None:
        """Take down whose fault it is that there was no answer."""
        if about.kind in {"opening", "closing"}:
            return
        broken = last is not None and last.end in {TurnEnd.DIED, TurnEnd.CUT}
        self._recorder.fault(
            Fault(
                FaultKind.AGENT if broken else FaultKind.MODEL,
                "no_answer",
                f"{about.kind} {about.number} was not answered after {self._limits.reminders} "
                "reminders",
                now(),
                {about.kind: about.number},
            )
        )
