"""What the harness asks of an agent: to begin a day, to take a prompt and say when its turn is
over, to end the day. And what an agent is given: a place to run in.

A turn says how it ended and what went wrong in it, never whether the call was answered: that is for
the company's books to tell. This module knows no agent program.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from typing import Any, Protocol

from tradesbench_gym.api.listening import PORT_VARIABLE
from tradesbench_gym.api.tokens import AGENT_VARIABLE
from tradesbench_gym.harness.cell import Cell
from tradesbench_gym.harness.faults import Fault, FaultKind
from tradesbench_gym.harness.manifest import HarnessError, now

TEMPORARY = ".tmp"
"""The folder of the workspace that TMPDIR names; emptied every night."""
_PATH = "/usr/local/bin:/usr/bin:/bin"


@dataclass(frozen=True)
class Place:
    """What an agent is given.

    Attributes:
        room: where its processes run.
        token: for the company's API.
        gateway_token: what it presents to the gateway; None if there is no model.
        sessions: the folder in which its own records are kept; ours, out of its reach.
        home: the folder that HOME names; the workspace if not given.
        hear: is told what it says and does, as it does.
        told: is told of every fault, as it occurs.

    """

    room: Cell
    token: str
    gateway_token: str | None
    sessions: Path
    hear: Callable[[Mapping[str, Any]], None]
    told: Callable[[Fault], None]
    home: str | None = None

    def environment(self, **more: str) -> dict[str, str]:
        """All that an agent's process finds in its environment."""
        workspace = str(self.room.workspace)
        return {
            # Without walls the agent is somebody's own, and finds what he finds.
            "PATH": _PATH if self.room.isolated else os.environ.get("PATH", _PATH),
            "HOME": self.home or workspace,
            "TMPDIR": f"{workspace}/{TEMPORARY}",
            "LANG": "C.UTF-8",
            PORT_VARIABLE: str(self.room.ports.api),
            AGENT_VARIABLE: self.token,
            **more,
        }

    def fault(
        self, kind: FaultKind, code: str, sentence: str, **detail: str | float | bool | None
    ) -> None:
        """Tell of something that went wrong."""
        self.told(Fault(kind, code, sentence, now(), detail))


class TurnEnd(StrEnum):
    """How a turn ended."""

    SETTLED = "settled"
    """The agent said that it is done, or a program of one turn ended as it should."""
    FAILED = "failed"
    """The agent is done because its model could not be asked."""
    FULL = "full"
    """The conversation was too long for the model; a new one has begun."""
    DIED = "died"
    """The agent's program ended in the middle of it."""
    CUT = "cut"
    """It took longer, or said more, than it may."""


@dataclass(frozen=True)
class Turn:
    """An agent's turn: how it ended, how many seconds it took, and why it failed, if it did."""

    end: TurnEnd
    seconds: float
    why: str | None = None


class AgentFailedError(HarnessError):
    """The agent's program cannot be started at all: no run can be played with it."""


class Agent(Protocol):
    """Somebody who answers the phone."""

    version: str | None
    """Of the program, as it says it; None if it says none."""

    def begin_day(self, day: int) -> None:
        """Begin the conversation of a day, from 1; or take it up again, if it was begun.

        Raises:
            AgentFailedError: it cannot be started.

        """

    def prompt(self, number: int, kind: str, text: str) -> Turn:
        """Say something, and wait until the turn is over.

        Args:
            number: of the prompt, from 1.
            kind: what it is about: `opening`, `call`, `cancellation` or `closing`.
            text: what is said.

        Raises:
            AgentFailedError: it cannot be started again.

        """

    def end_day(self) -> None:
        """End the conversation of the day, and the program."""

    def put_away(self, day: int) -> None:
        """Take the record of a day's conversation out of its reach; nothing of it runs now."""

    def close(self) -> None:
        """End the program, if it runs, leaving the conversation to be taken up again."""
