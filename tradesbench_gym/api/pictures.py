"""What a dispatcher may know at one moment, and what has happened since the moment before.

Everything that the API tells is made from these, so that no answer and no public view can tell
more. Pictures are taken here and nowhere else; this module knows no request and no database.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple

from tradesbench_gym.api.names import Names
from tradesbench_gym.company.business import Business
from tradesbench_gym.company.callers import Caller, caller_of
from tradesbench_gym.company.events import Event
from tradesbench_gym.company.simulation import Simulation
from tradesbench_gym.core.codes import CallState
from tradesbench_gym.core.engine import CUSTOMER, LOCATION
from tradesbench_gym.core.view import Desk
from tradesbench_gym.world import World, replay

Person = tuple[str, str, int]
"""Who a customer is to the books: name, phone and type."""


class Entered(NamedTuple):
    """An entry of the books: its number, and the call that made it."""

    number: int
    call: int


@dataclass(frozen=True)
class Picture:
    """What a dispatcher may know at one moment, never to change again.

    Attributes:
        business: what the run is of.
        names: its words.
        desk: the dispatcher's desk.
        callers: of every call so far.
        customers, locations: the company's books, in the order in which they were filled; locations
            by address.

    """

    business: Business
    names: Names
    desk: Desk
    callers: tuple[Caller, ...]
    customers: Mapping[Person, Entered]
    locations: Mapping[int, Entered]

    @property
    def calls(self) -> Any:
        """The calls so far, as records of the desk; call n stands at n - 1."""
        return self.desk["calls"][: len(self.callers)]

    def is_job(self, number: int) -> bool:
        """Whether a call, by its number from 1, was booked."""
        known = 1 <= number <= len(self.callers)
        return known and bool(self.calls[number - 1]["state"] >= CallState.BOOKED)

    def person(self, number: int) -> Person:
        """Who called, by the number of his call."""
        caller = self.callers[number - 1]
        return caller.name, caller.phone, int(self.calls[number - 1]["customer"])

    def customer_id(self, number: int) -> int | None:
        """A caller's number in the books, by his call; None if he is not in them."""
        found = self.customers.get(self.person(number))
        return None if found is None else found.number

    def location_id(self, number: int) -> int | None:
        """The number of a call's address in the books; None if it is not in them."""
        found = self.locations.get(int(self.calls[number - 1]["address"]))
        return None if found is None else found.number


class News(NamedTuple):
    """What has happened in one step of a run, or in several of one day.

    Attributes:
        after: number of the command before it; -1 for the start of the run.
        step: number of its last command.
        picture: the run after that.
        events: what came of it.

    """

    after: int
    step: int
    picture: Picture
    events: list[Event]

    def with_next(self, news: News) -> list[News]:
        """What was told and what follows; as one if they are of one day, as a forecast is."""
        if news.picture.desk["day"] != self.picture.desk["day"]:
            return [self, news]
        return [News(self.after, news.step, news.picture, self.events + news.events)]


class Watcher:
    """Takes pictures of one run as it is played on."""

    def __init__(self, business: Business) -> None:
        self._business = business
        self._names = Names(business)
        self._callers: tuple[Caller, ...] = ()
        self._customers: dict[Person, Entered] = {}
        self._locations: dict[int, Entered] = {}

    def look(self, simulation: Simulation) -> Picture:
        """The run as it is now; earlier than at the last look it cannot be."""
        desk, before = simulation.desk.copy(), len(self._callers)
        rung = range(before + 1, int(desk["n_calls"]) + 1)
        self._callers += tuple(caller_of(simulation, number) for number in rung)
        seen = self._seen(desk)
        # Whoever is on the line can be entered in the books, and nobody who called before him.
        for number in range(max(before, 1), len(self._callers) + 1):
            self._enter(seen, number)
        return self._seen(desk)

    def _seen(self, desk: Desk) -> Picture:
        return Picture(
            self._business, self._names, desk, self._callers, self._customers, self._locations
        )

    def _enter(self, seen: Picture, number: int) -> None:
        books = int(seen.calls[number - 1]["registered"])
        who, where = seen.person(number), int(seen.calls[number - 1]["address"])
        # In new books each time: those of a picture that was taken stay as they are.
        if books & CUSTOMER and who not in self._customers:
            entered = Entered(len(self._customers) + 1, number)
            self._customers = {**self._customers, who: entered}
        if books & LOCATION and where not in self._locations:
            self._locations = {**self._locations, where: Entered(where, number)}


def story(world: World) -> Iterator[News]:
    """The steps of a world's run from its start to where its file stands, played again.

    Raises:
        WorldError: the journal leads elsewhere than it says.

    """
    watcher = Watcher(world.business)
    for step in replay(world.path, map=world.business.roadmap):
        yield News(step.number - 1, step.number, watcher.look(step.simulation), step.events)
