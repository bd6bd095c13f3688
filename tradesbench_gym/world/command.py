"""What can be asked of the company, as the journal keeps it: a command, its arguments, its outcome.

Playing and replaying go through the same function, so that a journal says exactly what was done.
This module knows `Simulation` and no file.
"""

from __future__ import annotations

import json
import operator
from collections.abc import Callable, Mapping
from enum import IntEnum
from typing import Any

from tradesbench_gym.company.simulation import Simulation

Arguments = Mapping[str, Any]


class Command(IntEnum):
    """The commands of a run; BEGIN stands once, in row 0 of the journal."""

    BEGIN = 0
    ADVANCE = 1
    OFFER = 2
    REJECT = 3
    LEAVE_UNANSWERED = 4
    ACKNOWLEDGE = 5
    REGISTER = 6


ARGUMENTS: dict[Command, tuple[str, ...]] = {
    Command.ADVANCE: (),
    Command.OFFER: ("technician", "ahead", "window"),
    Command.REJECT: (),
    Command.LEAVE_UNANSWERED: (),
    Command.ACKNOWLEDGE: (),
    Command.REGISTER: ("address", "books"),
}
"""The arguments of each command: whole numbers, all of them there, and no other."""


def _advance(simulation: Simulation, _: Arguments) -> int:
    return int(simulation.advance())


def _offer(simulation: Simulation, given: Arguments) -> int:
    return int(simulation.offer(given["technician"], given["ahead"], given["window"]))


def _register(simulation: Simulation, given: Arguments) -> None:
    simulation.register(given["address"], given["books"])


_DOERS: dict[Command, Callable[[Simulation, Arguments], int | None]] = {
    Command.ADVANCE: _advance,
    Command.OFFER: _offer,
    Command.REJECT: lambda simulation, _: simulation.reject(),
    Command.LEAVE_UNANSWERED: lambda simulation, _: simulation.leave_unanswered(),
    Command.ACKNOWLEDGE: lambda simulation, _: simulation.acknowledge(),
    Command.REGISTER: _register,
}


def perform(simulation: Simulation, command: Command, arguments: Arguments) -> int | None:
    """Do a command; its outcome: the `Stop` of an advance, 1 or 0 for an offer accepted or not.

    Raises:
        BookingError: the company refuses; nothing has changed.

    """
    return _DOERS[command](simulation, arguments)


def whole(**arguments: Any) -> dict[str, int]:
    """Arguments as plain whole numbers; TypeError for anything else."""
    return {name: operator.index(value) for name, value in arguments.items()}


def arguments_text(arguments: Arguments) -> str:
    """Arguments as the journal writes them.

    >>> arguments_text({"technician": 0, "ahead": 1, "window": 2})
    '{"technician":0,"ahead":1,"window":2}'
    """
    return json.dumps(arguments, ensure_ascii=False, separators=(",", ":"))


def read_command(code: Any, text: Any) -> tuple[Command, dict[str, int]]:
    """A command and its arguments from a row of the journal; ValueError if they are none.

    >>> read_command(3, "{}")
    (<Command.REJECT: 3>, {})
    """
    command = Command(code)
    arguments = json.loads(text)
    if not isinstance(arguments, dict) or tuple(arguments) != ARGUMENTS.get(command):
        raise ValueError(f"no arguments of {command.name}")
    if not all(type(value) is int for value in arguments.values()):
        raise ValueError(f"arguments of {command.name} are whole numbers")
    return command, arguments
