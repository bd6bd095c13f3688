"""One turn of pi's, from its events: what is worth keeping, whether it is over, what went wrong.

This module knows the events and no process.
"""

from __future__ import annotations

import re
import time
from collections.abc import Mapping
from typing import Any

from tradesbench_gym.harness.agents.agent import Place
from tradesbench_gym.harness.faults import FaultKind
from tradesbench_gym.harness.manifest import LimitsPart

_OVERFLOW = re.compile(
    r"context[ _]length|context[ _]window|maximum context|prompt is too long|too many tokens"
    r"|input is too long|exceeds? (?:the )?(?:limit|maximum)",
    re.IGNORECASE,
)
_KEPT = {
    "agent_start",
    "auto_retry_start",
    "auto_retry_end",
    "compaction_start",
    "compaction_end",
    "extension_error",
}
_LATE_SECONDS = 10.0
"""So long a command may outlive its time: the shell it runs in ends it."""
_QUIET_SECONDS = 30.0


class PiTurn:
    """A turn that goes on.

    Attributes:
        over: pi will do no more.
        cut: it took too long or said too much, and has to be ended.
        why: its last word, if that is that the model could not be asked; else None.
        context_full: the conversation is too long for the model, and pi could not shorten it.

    """

    def __init__(self, limits: LimitsPart, place: Place) -> None:
        self._limits, self._place = limits, place
        self._begun = time.monotonic()
        self._heard_at = self._begun
        self._characters = 0
        self._commands: dict[str, float] = {}
        self.why: str | None = None
        self.over = self.cut = self.context_full = False

    def patience(self, until: float) -> float:
        """Seconds to wait for the next event before `watch` has to look."""
        late = self._limits.command_seconds + _LATE_SECONDS
        ends = [until, *(begun + late for begun in self._commands.values())]
        return max(min(ends) - time.monotonic(), 0.01)

    # -- events --

    def hear(self, said: Mapping[str, Any]) -> None:
        """Take an event into account."""
        kind = str(said.get("type"))
        self._heard_at = time.monotonic()
        if kind in _KEPT:
            self._place.hear(said)
        if kind == "message_update":
            self._stream(said)
        elif kind == "message_end":
            self._message(said.get("message") or {})
        elif kind == "tool_execution_start":
            self._commands[str(said.get("toolCallId"))] = self._heard_at
        elif kind == "tool_execution_end":
            self._executed(said)
        elif kind == "agent_settled":
            self._settle()
        elif kind == "response" and said.get("command") == "prompt" and not said.get("success"):
            self._refused(said)

    def _stream(self, said: Mapping[str, Any]) -> None:
        event = said.get("assistantMessageEvent") or {}
        self._characters += len(str(event.get("delta") or ""))
        if self._characters > self._limits.turn_characters and not self.cut:
            self.cut = True
            self._place.fault(
                FaultKind.MODEL,
                "endless_output",
                f"the model was stopped after {self._limits.turn_characters:,} characters",
            )

    def _message(self, message: Mapping[str, Any]) -> None:
        role = message.get("role")
        if role not in {"assistant", "toolResult"}:
            return  # prompts are our own words
        names = ("role", "content", "stopReason", "errorMessage", "usage", "toolName", "isError")
        self._place.hear(
            {"type": "message", **{name: message[name] for name in names if name in message}}
        )
        if role == "assistant":
            failed = message.get("stopReason") == "error"
            self.why = str(message.get("errorMessage") or "no reason given") if failed else None
            if message.get("stopReason") == "length":
                self._place.fault(
                    FaultKind.MODEL, "output_cut", "the model's answer was longer than it may be"
                )

    def _executed(self, said: Mapping[str, Any]) -> None:
        name = str(said.get("toolCallId"))
        begun = self._commands.pop(name, self._heard_at)
        seconds = self._heard_at - begun
        if seconds >= self._limits.command_seconds and not self.cut:
            self._place.fault(
                FaultKind.AGENT,
                "command_time",
                f"a command was ended after {seconds:.0f} s",
                seconds=round(seconds, 1),
            )

    def _refused(self, said: Mapping[str, Any]) -> None:
        self.over = True
        self.why = str(said.get("error"))
        self._place.fault(FaultKind.AGENT, "protocol", f"pi refused a prompt: {self.why}")

    def _settle(self) -> None:
        self.over = True
        if self.cut or self.why is None:
            return
        if _OVERFLOW.search(self.why):
            self.context_full, self.why = True, None
            sentence = "the conversation is too long for the model; a new one begins"
            self._place.fault(FaultKind.MODEL, "context_full", sentence)

    # -- time --

    def watch(self, until: float) -> None:
        """See whether the turn, or a command in it, takes too long."""
        if self.over or self.cut:
            return
        now = time.monotonic()
        late = self._limits.command_seconds + _LATE_SECONDS
        if any(now - begun >= late for begun in self._commands.values()):
            self.cut = True
            self._place.fault(
                FaultKind.AGENT, "tool_hung", f"a tool did not come back within {late:g} s"
            )
        elif now >= until:
            self.cut = True
            self._too_long(now)

    def _too_long(self, now: float) -> None:
        sentence = f"the turn was ended after {self._limits.turn_seconds:g} s"
        if self._commands:
            self._place.fault(FaultKind.AGENT, "turn_time", f"{sentence}, while a tool ran")
        elif now - self._heard_at < _QUIET_SECONDS:
            self._place.fault(FaultKind.MODEL, "turn_time", f"{sentence}, while the model spoke")
        else:
            self.why = "nothing was heard of it for long"
            self._place.fault(
                FaultKind.INFRASTRUCTURE, "model_silent", f"{sentence}: nothing was heard for long"
            )
