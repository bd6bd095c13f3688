"""Which command the journal should hold, when what it holds does not lead to the state it says.

A state's digest tells one command from every other that could have been given, so the true one is
found by trying them all: a few hundred, a few milliseconds. This module knows what can be asked of
the company, and no file.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import suppress
from typing import Any, NamedTuple

from tradesbench_gym.company.simulation import Simulation
from tradesbench_gym.core.layout import BOOKING_DAYS
from tradesbench_gym.errors import TradesBenchError
from tradesbench_gym.world.command import Command, perform, read_command
from tradesbench_gym.world.schema import Row

_NUMBER, _COMMAND, _ARGUMENTS, _OUTCOME, _AT, _DIGEST = range(6)
_HEAD_JOURNAL, _HEAD_DIGEST = 1, 5


class Done(NamedTuple):
    """A command that has been done, and its outcome."""

    command: Command
    arguments: dict[str, Any]
    outcome: int | None


def end(journal: list[Row], head: list[Row]) -> tuple[int, Callable[[int], str | None]]:
    """The number of the journal's last row, and what the head says of the digest after a row."""
    digests = {row[_NUMBER]: row[_DIGEST] for row in journal if row[_NUMBER] >= 0}
    head = [row for row in head if row[0] == 1] or head
    last = max(digests, default=0)
    said, digest = (head[0][_HEAD_JOURNAL], head[0][_HEAD_DIGEST]) if head else (last, None)
    said = said if isinstance(said, int) else last
    whole = last == len(digests) - 1
    if digest in (None, digests.get(said)):
        ends_at = said
    elif whole and digests.get(last) == digest:
        ends_at = last  # the head has the right digest under a wrong number
    else:
        ends_at = said if said > last else min(last, len(digests) - 1)
    return ends_at, lambda number: digest if number == ends_at else None


def settle(
    simulation: Simulation, row: Row | None, following: Row | None, final: str | None
) -> Done | None:
    """Do the command that belongs into a row of the journal; None if nothing explains the row.

    Args:
        simulation: before the command; after it at the end.
        row: what the journal holds there.
        following: the row behind it.
        final: the digest the file's head gives for the state after this row, if this is the last.

    """
    before, standing = simulation.get_state(), simulation.digest()
    said = _said(row)
    witness = row[_DIGEST] if row is not None else None
    # A command that changes nothing is not written down.
    witness, final = (None if one == standing else one for one in (witness, final))
    if said is not None and row is not None:
        done = _try(simulation, *said)
        if done is not None and simulation.digest() == witness:
            return done
    # Its own digest tells the command; where that is the wrong value, what stands behind it does.
    if witness is not None:
        found = _search(simulation, before, lambda: simulation.digest() == witness)
        if found is not None:
            return found
    return _search(simulation, before, lambda: _leads_on(simulation, following, final), first=said)


def _said(row: Row | None) -> tuple[Command, dict[str, int]] | None:
    if row is None:
        return None
    with suppress(ValueError, TypeError):
        return read_command(row[_COMMAND], row[_ARGUMENTS])
    return None


def _search(
    simulation: Simulation,
    before: bytes,
    proves: Callable[[], bool],
    first: tuple[Command, dict[str, int]] | None = None,
) -> Done | None:
    """Do the first command after which the proof holds; the state before it if there is none."""
    wanted = [first] if first is not None else []
    simulation.set_state(before)
    for command, arguments in [*wanted, *_possible(simulation)]:
        simulation.set_state(before)
        done = _try(simulation, command, arguments)
        if done is None:
            continue
        if proves():
            simulation.set_state(before)
            return _try(simulation, command, arguments)
    simulation.set_state(before)
    return None


def _leads_on(simulation: Simulation, following: Row | None, final: str | None) -> bool:
    """Whether what stands behind a row follows from the present state."""
    if following is None:
        return simulation.digest() == final
    said = _said(following)
    if said is None or _try(simulation, *said) is None:
        return False
    return bool(simulation.digest() == following[_DIGEST])


def _try(simulation: Simulation, command: Command, arguments: dict[str, int]) -> Done | None:
    try:
        return Done(command, arguments, perform(simulation, command, arguments))
    except (TradesBenchError, KeyError, ArithmeticError):
        return None  # refused, or a number that no command can have


def _possible(simulation: Simulation) -> Iterator[tuple[Command, dict[str, int]]]:
    """Every command that could be given now."""
    if simulation.line is None:
        return iter([(Command.ADVANCE, {}), (Command.ACKNOWLEDGE, {})])
    book = simulation.business.handbook
    address = int(simulation.record["calls"][simulation.line - 1]["address"])
    offers = [
        (Command.OFFER, {"technician": technician, "ahead": ahead, "window": window})
        for technician in range(int(book["technicians"]))
        for ahead in range(min(int(book["booking_days"]), BOOKING_DAYS))
        for window in range(int(book["windows"]))
    ]
    plain: list[tuple[Command, dict[str, int]]] = [
        (Command.REJECT, {}),
        (Command.LEAVE_UNANSWERED, {}),
        *((Command.REGISTER, {"address": address, "books": books}) for books in (1, 2, 3)),
    ]
    return iter([*plain, *offers])
