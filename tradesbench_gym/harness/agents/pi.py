"""The agent `pi`: the coding agent `@earendil-works/pi-coding-agent`, spoken to in its RPC mode.

pi runs as the agent's user, a process for each day, with one conversation a day, which is taken up
again if the process is lost. What a turn does is watched as it happens: a command or a turn that
takes too long, output without end, a model that cannot be asked. This module knows the protocol and
no run.
"""

from __future__ import annotations

import subprocess
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tradesbench_gym.harness.agents import pi_files
from tradesbench_gym.harness.agents.agent import AgentFailedError, Place, Turn, TurnEnd
from tradesbench_gym.harness.agents.lines import SEND_SECONDS, EndedError, Lines
from tradesbench_gym.harness.agents.pi_turn import PiTurn
from tradesbench_gym.harness.cell import CellError
from tradesbench_gym.harness.faults import FaultKind
from tradesbench_gym.harness.manifest import LimitsPart, ModelPart
from tradesbench_gym.harness.workspace import make_folder, read_folder, remove

_START_SECONDS = 60.0
_STOP_SECONDS = 10.0
_ABORT_SECONDS = 10.0
_MOST_SESSION = 256 * 1024 * 1024


@dataclass(frozen=True)
class PiProgram:
    """Where pi is installed: the folder, Node's binary and pi's script in it, their versions."""

    folder: Path
    node: Path
    script: Path
    version: str | None = None
    node_version: str | None = None


class Pi:
    """pi, answering the phone.

    Args:
        place: where it runs.
        program: where it is installed.
        model: what it asks through the gateway.
        thinking: how hard the model is to think.
        limits: how long it is waited for, and how much it may say.
        system: the system prompt.

    """

    def __init__(
        self,
        place: Place,
        program: PiProgram,
        model: ModelPart,
        thinking: str | None,
        limits: LimitsPart,
        system: str,
    ) -> None:
        self._place, self._program, self._model = place, program, model
        self._thinking, self._limits, self._system = thinking, limits, system
        self._folder = place.room.workspace / pi_files.FOLDER
        self._lines: Lines | None = None
        self._day = 0
        self._asked = 0
        self._stats: dict[str, Any] = {}
        self.version = program.version

    # -- days --

    def begin_day(self, day: int) -> None:
        """Begin the conversation of a day, or take it up again."""
        self._day = day
        self._start()

    def end_day(self) -> None:
        """End the program, and say what it counted."""
        stats = self._question("get_session_stats")
        if stats is not None:
            self._place.hear({"type": "session_stats", **stats})
        self.close()

    def put_away(self, day: int) -> None:
        """Take the record of a day's conversation out of the agent's reach."""
        self._keep_conversation(pi_files.conversation(day))
        remove(self._folder)

    def _forget(self) -> None:
        """Begin a new conversation in the middle of the day."""
        self.close()
        self._place.room.reap()
        self._keep_conversation(f"{pi_files.conversation(self._day)}-{int(time.time())}")
        self._start()

    def close(self) -> None:
        """End the program, if it runs; the conversation stays to be taken up again."""
        if self._lines is not None:
            self._lines.end(_STOP_SECONDS)
            self._lines = None

    def _keep_conversation(self, name: str) -> None:
        kept = b"".join(self._conversations().values())
        if kept:
            (self._place.sessions / f"{name}.jsonl").write_bytes(kept)
        if not self._folder.is_symlink():  # what a link leads to is not the agent's
            remove(self._folder / pi_files.SESSIONS)

    def _conversations(self) -> dict[str, bytes]:
        """The files of its conversations, as far as they are its own."""
        if self._folder.is_symlink():
            return {}
        return read_folder(self._folder / pi_files.SESSIONS, _MOST_SESSION)

    def _start(self) -> None:
        """Start the program and see that it answers.

        Raises:
            AgentFailedError: it does not.

        """
        room = self._place.room
        self._write_files()
        argv = pi_files.command(
            self._program.node,
            self._program.script,
            self._folder,
            self._model.name,
            self._thinking,
            self._day,
            self._system,
        )
        env = self._place.environment(**pi_files.environment(self._folder))
        pipe = subprocess.PIPE
        try:
            process = room.popen(argv, env, stdin=pipe, stdout=pipe, stderr=pipe)
        except CellError as error:
            raise AgentFailedError(error.message, code="agent", field="pi") from error
        self._lines = Lines(process)
        state = self._question("get_state")
        if state is None or (state.get("model") or {}).get("id") != self._model.name:
            why = self._lines.last_word or "it does not answer"
            self.close()
            raise AgentFailedError(f"pi does not start: {why}", code="agent")

    def _write_files(self) -> None:
        """The configuration as it must be, whatever was made of it; the conversation is kept."""
        port, token = self._place.room.ports.gateway, self._place.gateway_token
        if port is None or token is None:
            raise AgentFailedError("pi needs a model: give --model", code="no_model")
        kept = {name: (content, 0o600) for name, content in self._conversations().items()}
        uid = self._place.room.uid
        files = pi_files.files(self._model, self._limits, port, token)
        make_folder(self._folder.parent, self._folder.name, files, uid)
        make_folder(self._folder, pi_files.SESSIONS, kept, uid)

    # -- turns --

    def prompt(self, number: int, kind: str, text: str) -> Turn:
        """Say something, and wait until pi will do no more about it."""
        del number, kind
        begun = time.monotonic()
        if self._lines is None:
            self._start()
        turn = PiTurn(self._limits, self._place)
        end = self._converse(text, turn, begun + self._limits.turn_seconds)
        return Turn(end, time.monotonic() - begun, turn.why)

    def _converse(self, text: str, turn: PiTurn, until: float) -> TurnEnd:
        if self._lines is None:
            raise AgentFailedError("pi does not run", code="agent")
        lines = self._lines
        try:
            self._send("prompt", message=text)
            while not turn.over:
                said = lines.receive(turn.patience(until))
                if said is not None:
                    turn.hear(said)
                turn.watch(until)
                if turn.cut:
                    return self._abort(lines, turn)
        except TimeoutError:
            sentence = "pi was ended: it did not read what was said to it"
            self._place.fault(FaultKind.AGENT, "deaf", sentence)
            return self._died(lines)
        except EndedError:
            return self._died(lines)
        if turn.context_full:
            self._forget()
            return TurnEnd.FULL
        return TurnEnd.FAILED if turn.why else TurnEnd.SETTLED

    def _abort(self, lines: Lines, turn: PiTurn) -> TurnEnd:
        """End a turn from outside: by asking, and if that takes too long, by force."""
        until = time.monotonic() + _ABORT_SECONDS
        try:
            self._send("clear_queue")
            self._send("abort")
            while not turn.over and time.monotonic() < until:
                said = lines.receive(until - time.monotonic())
                if said is not None:
                    turn.hear(said)
        except TimeoutError:
            pass  # by force, then
        except EndedError:
            return self._died(lines)
        if not turn.over:
            lines.process.kill()
            self.close()
            self._place.room.reap()
        return TurnEnd.FAILED if turn.why else TurnEnd.CUT

    def _died(self, lines: Lines) -> TurnEnd:
        status = lines.end()
        self._lines = None
        self._place.room.reap()
        self._place.fault(
            FaultKind.AGENT,
            "agent_died",
            f"pi ended with status {status} in the middle of its turn",
            status=status,
            last_words=lines.last_word,
        )
        return TurnEnd.DIED

    def _send(self, command: str, **arguments: Any) -> str:
        self._asked += 1
        name = f"h{self._asked}"
        if self._lines is None:
            raise EndedError
        self._lines.send(
            {"id": name, "type": command, **arguments}, min(SEND_SECONDS, self._limits.turn_seconds)
        )
        return name

    def _question(self, command: str) -> dict[str, Any] | None:
        """What pi answers to a command between turns; None if it does not."""
        if self._lines is None:
            return None
        until = time.monotonic() + _START_SECONDS
        try:
            name = self._send(command)
            while (left := until - time.monotonic()) > 0:
                said = self._lines.receive(left)
                if said is not None and said.get("id") == name:
                    data = said.get("data")
                    return data if said.get("success") and isinstance(data, dict) else None
        except (EndedError, TimeoutError):
            return None
        return None
