"""What the public views say of a run: rows made of a dispatcher's desk and of what has happened.

Rows come from `Desk`, events, the handbook and the callers' names, and from nothing else: no field
of the run itself is within reach here. This module knows no connection.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from tradesbench_gym.api.names import Names
from tradesbench_gym.company.business import Business
from tradesbench_gym.company.callers import Caller
from tradesbench_gym.company.events import Event
from tradesbench_gym.core.codes import Activity, CallState, Condition, Entry, Kind, Phase
from tradesbench_gym.core.engine import CUSTOMER, LOCATION
from tradesbench_gym.core.layout import (
    DAY_SECONDS,
    DESK_CALL,
    DESK_DAY,
    DESK_TECHNICIAN,
    FORECAST_DAYS,
)
from tradesbench_gym.core.view import Desk

Row = tuple[Any, ...]
Key = tuple[Any, ...]
_TURNED_AWAY = (CallState.REJECTED, CallState.UNANSWERED)
_WEEKDAYS = ("Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday")
_WEEKEND = 5
_CALL = DESK_CALL.names or ()
_DAY = DESK_DAY.names or ()
_TECHNICIAN = DESK_TECHNICIAN.names or ()


class News(NamedTuple):
    """One step of a run: the desk after it, what came of it, and who may be asked for a name."""

    desk: Desk
    events: list[Event]
    caller: Callable[[int], Caller]


class Change(NamedTuple):
    """A row to be put in the place of what a view has under this key; None takes it out."""

    view: str
    key: Key
    row: Row | None


@dataclass
class PublicRows:
    """Turns the steps of a run, in order and from its start, into changes of the public views."""

    business: Business
    _calls: npt.NDArray[np.uint8] = field(default_factory=lambda: np.zeros((0, 0), np.uint8))
    _callers: list[Caller] = field(default_factory=list)
    _customers: dict[Key, int] = field(default_factory=dict)
    _locations: set[int] = field(default_factory=set)
    _visits: set[int] = field(default_factory=set)
    _said: dict[str, dict[Key, Row]] = field(default_factory=dict)
    _dates: dict[int, str] = field(default_factory=dict)
    _men: bytes = b""
    _names: Names = field(init=False)
    _entries: int = 0
    _balance: int = 0

    def __post_init__(self) -> None:
        self._names = Names(self.business)

    def changes(self, news: News) -> Iterator[Change]:
        """What one step changes."""
        desk, events, caller = news
        if not self._said:
            self._balance = int(desk["handbook"]["starting_cash"])
            yield from self._windows(desk)
        for number in range(len(self._callers) + 1, int(desk["n_calls"]) + 1):
            self._callers.append(caller(number))
        for place in self._changed(desk):
            call = dict(zip(_CALL, desk["calls"][place].item(), strict=True))
            yield from self._call(place + 1, call)
        for event in events:
            if event.kind == Kind.LEDGER:
                yield self._posted(event)
            elif event.kind == Kind.DAY_OPENED:
                yield from self._weather(desk)
        yield from self._news("cash", [self._cash(desk)])
        yield from self._news("technicians", self._technicians(desk))
        yield from self._news("days", self._days(desk))

    # -- calls and what becomes of them ------------------------------------------------------------

    def _changed(self, desk: Desk) -> list[int]:
        """Places of the calls that are not what they were."""
        count = int(desk["n_calls"])
        calls = desk["calls"][:count]
        now = calls.view(np.uint8).reshape(count, calls.dtype.itemsize) if count else self._calls
        before = len(self._calls)
        changed = (now[:before] != self._calls).any(axis=1) if before else np.zeros(0, np.bool_)
        self._calls = now.copy()
        return [*np.flatnonzero(changed).tolist(), *range(before, count)]

    def _call(self, number: int, call: dict[str, int]) -> Iterator[Change]:
        caller = self._callers[number - 1]
        customer: int | None = None
        location: int | None = None
        type_ = self.business.scenario.customers[call["customer"]].key
        if call["registered"] & CUSTOMER:
            person = (caller.name, caller.phone, type_)
            customer = self._customers.get(person)
            if customer is None:
                customer = self._customers[person] = len(self._customers) + 1
                row = (customer, *person, number, self._moment(call["rang_at"]))
                yield Change("customers", (customer,), row)
        if call["registered"] & LOCATION:
            location = call["address"]
            if location not in self._locations:
                self._locations.add(location)
                row = (location, *self._place(call, caller), number, self._moment(call["rang_at"]))
                yield Change("locations", (location,), row)
        row = (
            number,
            self._moment(call["rang_at"]),
            caller.name,
            caller.phone,
            type_,
            *self._place(call, caller),
            self._names.job_types[call["service"]],
            call["urgent"],
            _outcome(call["state"]),
            *self._offer(call),
            customer,
            location,
        )
        yield Change("calls", (number,), row)
        if call["state"] >= CallState.BOOKED:
            yield from self._job(number, call, type_, customer, location)

    def _job(
        self,
        number: int,
        call: dict[str, int],
        type_: str,
        customer: int | None,
        location: int | None,
    ) -> Iterator[Change]:
        technician, date, start = self._offer(call)
        state, done = CallState(call["state"]), call["state"] == CallState.DONE
        window = call["window"]
        row = (
            number,
            customer,
            location,
            self._names.job_types[call["service"]],
            type_,
            call["urgent"],
            technician,
            date,
            start,
            _time(int(self.business.handbook["closes"][window])),
            int(self._is_weekend(call["day"]) or self.business.handbook["evening"][window] == 1),
            self._moment(call["rang_at"]),
            state.name.lower(),
            self._moment(call["ended"]),
            call["invoice"] if done else None,
            call["material"] if done else None,
        )
        yield Change("jobs", (number,), row)
        if call["departed"] >= 0:
            moments = (self._moment(call[key]) for key in ("departed", "arrived", "started"))
            ended = self._moment(call["ended"])
            visit = (number, technician, date, start, *moments, ended, state.name.lower())
            self._visits.add(number)
            yield Change("visits", (number,), visit)
        elif number in self._visits:  # called away while waiting on site: as if never set off to
            self._visits.discard(number)
            yield Change("visits", (number,), None)

    def _offer(self, call: dict[str, int]) -> tuple[str | None, str | None, str | None]:
        if call["technician"] < 0 or call["state"] in _TURNED_AWAY:
            return None, None, None
        start = int(self.business.handbook["opens"][call["window"]])
        who = self.business.scenario.technicians[call["technician"]].key
        return who, self._date(call["day"]), _time(start)

    def _place(self, call: dict[str, int], caller: Caller) -> Row:
        zone = self.business.roadmap.zones[call["zone"]].name
        address = caller.address
        return address.text, zone, address.lat, address.lon, call["x"], call["y"]

    # -- money, days, weather, people --------------------------------------------------------------

    def _posted(self, event: Event) -> Change:
        self._entries += 1
        self._balance += event.cents or 0
        people = self.business.scenario.technicians
        row = (
            self._entries,
            self._moment(event.at),
            self._date(event.day or 0),
            Entry(event.entry or 0).name.lower(),
            event.cents,
            self._balance,
            event.call,
            None if event.technician is None else people[event.technician].key,
        )
        return Change("ledger", (self._entries,), row)

    def _cash(self, desk: Desk) -> Row:
        start = int(desk["handbook"]["starting_cash"])
        sums = int(desk["cash"]), start, int(desk["lowest"]), int(desk["bankrupt"])
        return (self._moment(desk["clock"]), *sums)

    def _weather(self, desk: Desk) -> Iterator[Change]:
        today, day = self._date(desk["day"]), int(desk["day"])
        zones = [zone.name for zone in self.business.roadmap.zones]
        for ahead in range(FORECAST_DAYS + 1):
            date = self._date(day + ahead)
            for zone, name in enumerate(zones):
                sky = desk["forecast"][ahead, zone]
                said = Condition(int(sky["condition"])).name.lower(), int(sky["high"])
                if ahead == 0:
                    yield Change("weather", (date, name), (date, name, *said))
                else:
                    key = (today, date, name)
                    yield Change("forecast", key, (*key, ahead, *said))

    def _days(self, desk: Desk) -> Iterator[Row]:
        opened = int(desk["day"]) + 1
        if desk["phase"] == Phase.NIGHT and desk["days"][opened - 1]["closed_at"] < 0:
            opened -= 1
        counts = ("calls", "booked", "declined", "rejected", "done", "missed", "failed")
        # What is over does not change: the days before the last one said are left alone.
        for day in range(max(0, len(self._said.get("days", ())) - 1), opened):
            said = dict(zip(_DAY, desk["days"][day].item(), strict=True))
            date = self.business.date_of(day)
            closed = said["closed_at"] >= 0
            yield (
                date.isoformat(),
                day + 1,
                _WEEKDAYS[date.weekday()],
                int(self._is_weekend(day)),
                self._moment(said["closed_at"]),
                *(said[key] for key in counts),
                said["cancelled"],
                said["cash"] if closed else None,
            )

    def _technicians(self, desk: Desk) -> Iterator[Row]:
        now = desk["technicians"].tobytes()
        if now == self._men:
            return
        self._men, book = now, desk["handbook"]
        for place, person in enumerate(self.business.scenario.technicians):
            man = dict(zip(_TECHNICIAN, desk["technicians"][place].item(), strict=True))
            home = float(person.home_lat), float(person.home_lon)
            yield (
                person.key,
                person.name,
                ",".join(person.skills),
                person.wage_cents,
                int(person.on_call),
                *home,
                int(book["home_x"][place]),
                int(book["home_y"][place]),
                Activity(man["activity"]).name.lower(),
                self._moment(man["since"]),
                man["job"] + 1 if man["job"] >= 0 else None,
                man["x"],
                man["y"],
            )

    def _windows(self, desk: Desk) -> Iterator[Change]:
        book = desk["handbook"]
        for place in range(int(book["windows"])):
            span = _time(int(book["opens"][place])), _time(int(book["closes"][place]))
            row = (place + 1, *span, int(book["evening"][place]))
            yield Change("windows", (place + 1,), row)

    # -- words -------------------------------------------------------------------------------------

    def _news(self, view: str, rows: Any) -> Iterator[Change]:
        """The rows that are not what was said before; the one row of cash gives way to the next."""
        said = self._said.setdefault(view, {})
        for row in rows:
            key = row[:1]
            if said.get(key) == row:
                continue
            if view == "cash" and said and key not in said:
                old, _ = said.popitem()
                yield Change(view, old, None)
            said[key] = row
            yield Change(view, key, row)

    def _date(self, day: Any) -> str:
        wanted = int(day)
        if wanted not in self._dates:
            self._dates[wanted] = self.business.date_of(wanted).isoformat()
        return self._dates[wanted]

    def _moment(self, at: Any) -> str | None:
        if at < 0:
            return None
        day, second = divmod(int(at), DAY_SECONDS)
        return f"{self._date(day)} {_time(second)}:{second % 60:02}"

    def _is_weekend(self, day: Any) -> bool:
        return self.business.date_of(int(day)).weekday() >= _WEEKEND


def _outcome(state: int) -> str:
    return CallState(min(state, CallState.BOOKED)).name.lower()


def _time(second: int) -> str:
    return f"{second // 3600:02}:{second // 60 % 60:02}"
