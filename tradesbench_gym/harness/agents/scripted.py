"""The agent `scripted`: any executable that speaks the company's HTTP API.

It is started when there is something to say, in the workspace, with SUNRIDGE_API_PORT and
SUNRIDGE_API_TOKEN in its environment. A prompt is one JSON line on its stdin,
`{"type": "prompt", "id": 12, "about": "call", "day": 3, "text": "…"}`. Its turn is over when it
prints a line `{"type": "settled", "id": 12}`, or when it exits with status 0: so a program that
reads one line, answers the call and exits is an agent, and one that stays is a faster one. The next
prompt starts it again if it has exited; every day begins with a new process. What else it prints is
kept in the transcript.
"""

from __future__ import annotations

import subprocess
import time
from collections.abc import Mapping, Sequence

from tradesbench_gym.harness.agents.agent import AgentFailedError, Place, Turn, TurnEnd
from tradesbench_gym.harness.agents.lines import SEND_SECONDS, EndedError, Lines
from tradesbench_gym.harness.cell import CellError
from tradesbench_gym.harness.faults import FaultKind
from tradesbench_gym.harness.manifest import LimitsPart

_STOP_SECONDS = 5.0


class Scripted:
    """An executable that answers the phone.

    Args:
        place: where it runs.
        program: what it is started with, and its arguments.
        limits: how long it is waited for, and how much it may say.
        environment: what it needs besides what every agent finds.

    """

    version: str | None = None

    def __init__(
        self,
        place: Place,
        program: Sequence[str],
        limits: LimitsPart,
        environment: Mapping[str, str] | None = None,
    ) -> None:
        self._place, self._program, self._limits = place, list(program), limits
        self._environment = dict(environment or {})
        self._lines: Lines | None = None
        self._day = 0

    def begin_day(self, day: int) -> None:
        """Nothing runs until there is something to say."""
        self._day = day

    def prompt(self, number: int, kind: str, text: str) -> Turn:
        """Say something, and wait until it says that it is done or exits."""
        begun = time.monotonic()
        lines = self._running()
        said = {"type": "prompt", "id": number, "about": kind, "day": self._day, "text": text}
        try:
            lines.send(said, min(SEND_SECONDS, self._limits.turn_seconds))
            end = self._wait(lines, number, begun + self._limits.turn_seconds)
        except TimeoutError:
            self._cut("deaf", "it did not read what was said to it")
            end = TurnEnd.CUT
        except EndedError:
            end = self._ended(lines)
        return Turn(end, time.monotonic() - begun)

    def _running(self) -> Lines:
        if self._lines is not None and self._lines.process.poll() is not None:
            self.close()
        if self._lines is None:
            pipe = subprocess.PIPE
            try:
                process = self._place.room.popen(
                    self._program,
                    self._place.environment(**self._environment),
                    stdin=pipe,
                    stdout=pipe,
                    stderr=pipe,
                )
            except CellError as error:
                raise AgentFailedError(error.message, code="agent", field="program") from error
            self._lines = Lines(process)
        return self._lines

    def _wait(self, lines: Lines, number: int, until: float) -> TurnEnd:
        heard = 0
        while (left := until - time.monotonic()) > 0:
            said = lines.receive(left)
            if said is None:
                continue
            if said.get("type") == "settled" and said.get("id") == number:
                return TurnEnd.SETTLED
            self._place.hear(said)
            heard += len(str(said))
            if heard > self._limits.turn_characters:
                most = self._limits.turn_characters
                self._cut("endless_output", f"it said more than {most:,} characters")
                return TurnEnd.CUT
        self._cut("turn_time", f"its turn took longer than {self._limits.turn_seconds:g} s")
        return TurnEnd.CUT

    def _cut(self, code: str, why: str) -> None:
        if self._lines is not None:
            self._lines.end()
            self._lines = None
        self._place.room.reap()
        self._place.fault(FaultKind.AGENT, code, f"the agent was stopped: {why}")

    def _ended(self, lines: Lines) -> TurnEnd:
        status = lines.end(_STOP_SECONDS)
        self._lines = None
        if status == 0:
            return TurnEnd.SETTLED
        self._place.fault(
            FaultKind.AGENT,
            "agent_died",
            f"the agent's program ended with status {status} in the middle of its turn",
            status=status,
            last_words=lines.last_word,
        )
        return TurnEnd.DIED

    def end_day(self) -> None:
        """End the program."""
        self.close()

    def put_away(self, day: int) -> None:
        """A program has no conversation."""

    def close(self) -> None:
        """End the program, if it runs."""
        if self._lines is not None:
            self._lines.end(_STOP_SECONDS)
            self._lines = None
