"""What the public views say of a run: rows made of the facts of each picture and of what has
happened since the one before.

Rows come from pictures and events, and from nothing else: no field of the run itself is within
reach here. This module knows no connection.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from tradesbench_gym.api import facts
from tradesbench_gym.api.facts import Facts
from tradesbench_gym.api.names import word
from tradesbench_gym.api.pictures import News, Person, Picture
from tradesbench_gym.api.views import BY_NAME, VIEWS, View
from tradesbench_gym.company.events import Event
from tradesbench_gym.core.codes import Entry, Kind, Phase
from tradesbench_gym.core.layout import FORECAST_DAYS

Row = tuple[Any, ...]
Key = tuple[Any, ...]
Told = Iterator[tuple[str, Facts]]


class Change(NamedTuple):
    """A row to be put in the place of what a view has under this key; None takes it out."""

    view: str
    key: Key
    row: Row | None


class PublicRows:
    """Turns the steps of a run, in order and from its start, into changes of the public views."""

    def __init__(self) -> None:
        self._said: dict[str, dict[Key, Row]] = {one.name: {} for one in VIEWS if not one.select}
        self._calls: npt.NDArray[np.uint8] = np.zeros((0, 0), np.uint8)
        self._calls_of: dict[Person | int, list[int]] = {}
        self._men = b""

    def changes(self, news: News) -> Iterator[Change]:
        """What one step changes."""
        now = news.picture
        changed = self._changed(now)
        for name, known in self._told(news, changed):
            view, said = BY_NAME[name], self._said[name]
            row, key = row_of(view, known), tuple(known[column] for column in view.key)
            if said.get(key) == row:
                continue
            if name == "cash" and said:  # its one row gives way to the next
                yield self._taken(name, next(iter(said)))
            said[key] = row
            yield Change(name, key, row)
        for number in changed:
            # Called away while waiting on site: it is as if nobody had ever set off.
            if now.calls[number - 1]["departed"] < 0 and (number,) in self._said["visits"]:
                yield self._taken("visits", (number,))

    def _taken(self, view: str, key: Key) -> Change:
        del self._said[view][key]
        return Change(view, key, None)

    def _told(self, news: News, changed: list[int]) -> Told:
        """The facts of every row that may be another now."""
        now = news.picture
        if not self._said["windows"]:
            yield from (("windows", facts.of_window(now, k)) for k in range(_windows(now)))
        for who in list(now.customers)[len(self._said["customers"]) :]:
            yield "customers", facts.of_customer(now, who)
        for where in list(now.locations)[len(self._said["locations"]) :]:
            yield "locations", facts.of_location(now, where)
        for number in changed:
            yield from _call(facts.of_call(now, number))
        for event in news.events:
            if event.kind == Kind.LEDGER:
                yield "ledger", self._posted(now, event)
            elif event.kind == Kind.DAY_OPENED:
                yield from _weather(now)
        yield "cash", facts.of_cash(now)
        yield from self._technicians(now)
        # What is over does not change: the days before the last one said are left alone.
        for day in range(max(0, len(self._said["days"]) - 1), _opened(now)):
            yield "days", facts.of_day(now, day)

    def _changed(self, now: Picture) -> list[int]:
        """Numbers of the calls that are not what they were, or whose caller or address has entered
        the books.
        """
        count, before = len(now.callers), len(self._calls)
        calls = now.calls
        here = calls.view(np.uint8).reshape(count, calls.dtype.itemsize) if count else self._calls
        changed = set(range(before + 1, count + 1))
        if before:
            differs = (here[:before] != self._calls).any(axis=1)
            changed.update((np.flatnonzero(differs) + 1).tolist())
        self._calls = here.copy()
        for number in range(before + 1, count + 1):
            for known in (now.person(number), int(calls[number - 1]["address"])):
                self._calls_of.setdefault(known, []).append(number)
        for number in list(changed):
            if calls[number - 1]["registered"]:
                changed.update(self._calls_of[now.person(number)])
                changed.update(self._calls_of[int(calls[number - 1]["address"])])
        return sorted(changed)

    def _posted(self, now: Picture, event: Event) -> Facts:
        entries = self._said["ledger"]
        balance = BY_NAME["ledger"].names.index("balance_cents")
        start = int(now.desk["handbook"]["starting_cash"])
        before = entries[len(entries),][balance] if entries else start
        people = now.names.technicians
        return {
            "entry": len(entries) + 1,
            "posted_at": now.names.moment(event.at),
            "service_date": now.names.date(event.day or 0),
            "kind": word(Entry, event.entry or 0),
            "amount_cents": event.cents,
            "balance_cents": before + (event.cents or 0),
            "job_id": event.call,
            "technician": None if event.technician is None else people[event.technician],
        }

    def _technicians(self, now: Picture) -> Told:
        men = now.desk["technicians"].tobytes()
        if men != self._men:
            self._men = men
            for place in range(len(now.names.technicians)):
                yield "technicians", facts.of_technician(now, place)


def row_of(view: View, known: Facts) -> Row:
    """The row of a view that says what is known, in SQLite's types."""
    return tuple(_cell(known[name]) for name in view.names)


def _cell(value: Any) -> Any:
    if isinstance(value, bool):
        return int(value)
    return ",".join(value) if isinstance(value, list) else value


def _call(known: Facts) -> Told:
    yield "calls", known
    if known["job_id"] is not None:
        yield "jobs", {**known, "booked_at": known["called_at"]}
        if known["departed_at"] is not None:
            yield "visits", known


def _weather(now: Picture) -> Told:
    zones = range(len(now.names.zones))
    yield from (("weather", facts.of_weather(now, 0, zone)) for zone in zones)
    for ahead in range(1, FORECAST_DAYS + 1):
        yield from (("forecast", facts.of_weather(now, ahead, zone)) for zone in zones)


def _windows(now: Picture) -> int:
    return int(now.desk["handbook"]["windows"])


def _opened(now: Picture) -> int:
    """How many days have been opened so far."""
    day = int(now.desk["day"])
    night = now.desk["phase"] == Phase.NIGHT and now.desk["days"][day]["closed_at"] < 0
    return day if night else day + 1
