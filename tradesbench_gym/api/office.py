"""The run as the servers share it: one command after the other, and a picture of it for everybody
who only looks.

After each command the office takes a picture of what a dispatcher may know; questions are answered
from the last one and wait for nobody. This module knows the world and no HTTP.
"""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Protocol, TypeVar

import numpy as np

from tradesbench_gym.api.names import Names
from tradesbench_gym.company.business import Business
from tradesbench_gym.company.callers import Caller, caller_of
from tradesbench_gym.core.codes import CallState
from tradesbench_gym.core.engine import CUSTOMER, LOCATION
from tradesbench_gym.core.view import Desk
from tradesbench_gym.errors import TradesBenchError
from tradesbench_gym.world import World

T = TypeVar("T")
_LOG = logging.getLogger(__name__)


class Rows(Protocol):
    """The answer to a query."""

    @property
    def columns(self) -> list[str]:
        """Names of the columns."""

    @property
    def rows(self) -> list[list[Any]]:
        """The rows."""

    @property
    def truncated(self) -> bool:
        """Whether there are more."""


class Database(Protocol):
    """The public database, as the office uses it."""

    def follow(self) -> None:
        """Take in what has happened; called while no command is being done."""

    def query(self, sql: str) -> Rows:
        """Answer a question; from any thread."""

    def close(self) -> None:
        """Let go of it."""


@dataclass(frozen=True)
class Picture:
    """What a dispatcher may know at one moment, never to change again.

    Attributes:
        business: what the run is of.
        names: its words.
        desk: the dispatcher's desk.
        callers: of every call so far.

    """

    business: Business
    names: Names
    desk: Desk
    callers: tuple[Caller, ...]

    @property
    def calls(self) -> Any:
        """The calls so far, as records of the desk; call n stands at n - 1."""
        return self.desk["calls"][: len(self.callers)]

    def is_job(self, number: int) -> bool:
        """Whether a call, by its number from 1, was booked."""
        known = 1 <= number <= len(self.callers)
        return known and bool(self.calls[number - 1]["state"] >= CallState.BOOKED)

    @cached_property
    def customers(self) -> dict[tuple[str, str, int], int]:
        """The company's customers by name, phone and type, in order of registration: the number of
        the call that entered each.
        """
        books: dict[tuple[str, str, int], int] = {}
        for index in np.flatnonzero(self.calls["registered"] & CUSTOMER).tolist():
            books.setdefault(self._person(index + 1), index + 1)
        return books

    @cached_property
    def _customer_ids(self) -> dict[tuple[str, str, int], int]:
        return {person: place for place, person in enumerate(self.customers, 1)}

    def _person(self, number: int) -> tuple[str, str, int]:
        caller = self.callers[number - 1]
        return caller.name, caller.phone, int(self.calls[number - 1]["customer"])

    @cached_property
    def locations(self) -> dict[int, int]:
        """The company's locations by address: the number of the call that entered each."""
        books: dict[int, int] = {}
        for index in np.flatnonzero(self.calls["registered"] & LOCATION).tolist():
            books.setdefault(int(self.calls[index]["address"]), index + 1)
        return books

    def customer_id(self, number: int) -> int | None:
        """A caller's number in the books, by his call; None if he is not in them."""
        return self._customer_ids.get(self._person(number))

    def location_id(self, number: int) -> int | None:
        """The number of a call's address in the books; None if it is not in them."""
        address = int(self.calls[number - 1]["address"])
        return address if address in self.locations else None


class Office:
    """A world that several servers speak to.

    Args:
        world: the run; the office is the only one to command it from now on.
        database: its public database.

    """

    def __init__(self, world: World, database: Database) -> None:
        self._world = world
        self._database = database
        self._names = Names(world.business)
        self._callers: list[Caller] = []
        self._turn = threading.Lock()
        self._behind = False
        with self._turn:
            self._picture = self._look()
            database.follow()

    @property
    def picture(self) -> Picture:
        """The run as it stands after the last command."""
        return self._picture

    def command(self, ask: Callable[[World, Picture], T]) -> tuple[T, Picture]:
        """Do something with the world while nobody else does; what came of it, and the run then.

        Raises:
            TradesBenchError: what the command raises; nothing has changed.

        """
        with self._turn:
            said = ask(self._world, self._picture)
            self._picture = self._look()
            self._behind = True
            try:
                self._catch_up()
            except TradesBenchError as error:
                # The command is done and in the file; the next question meets the error itself.
                _LOG.warning("the public database is behind: %s", error.message)
            return said, self._picture

    def look(self, ask: Callable[[World, Picture], T]) -> T:
        """Look at the world itself while nobody commands it."""
        with self._turn:
            return ask(self._world, self._picture)

    def query(self, sql: str) -> Rows:
        """Ask the public database.

        Raises:
            TradesBenchError: a question it does not answer.

        """
        if self._behind:
            with self._turn:
                self._catch_up()
        return self._database.query(sql)

    def close(self) -> None:
        """Close the public database and the world, when the command that is being done is done."""
        with self._turn:
            self._database.close()
            self._world.close()

    def _catch_up(self) -> None:
        if self._behind:
            self._database.follow()
            self._behind = False

    def _look(self) -> Picture:
        desk = self._world.desk.copy()
        for number in range(len(self._callers) + 1, int(desk["n_calls"]) + 1):
            self._callers.append(caller_of(self._world.simulation, number))
        return Picture(self._world.business, self._names, desk, tuple(self._callers))
