"""The words of the board: DESK's numbers as the office says them, and what happened lately.

It reads DESK and the public words of the business and nothing of the run behind them. How the board
is laid out on a screen is `rendering`'s matter.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

import numpy as np

from tradesbench_gym.company.business import Business
from tradesbench_gym.core.codes import CallState
from tradesbench_gym.core.layout import DAY_SECONDS, NONE
from tradesbench_gym.core.rules.calendar import off_hours
from tradesbench_gym.core.view import Desk


class Mark(NamedTuple):
    """How a job's state is shown: a sign that reads without colour, one of 16 colours, a word."""

    sign: str
    style: str
    word: str


MARKS = {
    CallState.BOOKED: Mark("○", "default", "booked"),
    CallState.DRIVING: Mark("→", "cyan", "drives"),
    CallState.WAITING: Mark("…", "yellow", "waits"),
    CallState.WORKING: Mark("●", "bold magenta", "works"),
    CallState.DONE: Mark("✓", "green", "done"),
    CallState.MISSED: Mark("✗", "bold red", "missed"),
    CallState.FAILED: Mark("!", "bold red", "failed"),
    CallState.CANCELLED: Mark("−", "dim", "cancelled"),
}


def short_names(names: Sequence[str]) -> list[str]:
    """First names, with a letter of the last or a number where two are the same.

    >>> short_names(["Diana Chen", "Ann Poe", "Ann Lee", "Bo", "Bo"])
    ['Diana', 'Ann P', 'Ann L', 'Bo 4', 'Bo 5']
    """
    found = [name.split()[0] for name in names]
    longer = [" ".join((name.split()[0], *(p[0] for p in name.split()[-1:]))) for name in names]
    for number, (name, more) in enumerate(zip(names, longer, strict=True)):
        first = name.split()[0]
        if [other.split()[0] for other in names].count(first) > 1:
            alone = longer.count(more) == 1
            found[number] = more if alone else f"{first} {number + 1}"
    return found


class Office:
    """DESK with the business's own words for what its numbers mean."""

    def __init__(self, business: Business, desk: Desk) -> None:
        self.business = business
        self.desk = desk.copy()
        self.book = self.desk["handbook"]
        self.clock = int(self.desk["clock"])
        self.today = int(self.desk["day"])
        self.calls = self.desk["calls"][: int(self.desk["n_calls"])]
        people = business.scenario.technicians
        self.names = [person.name for person in people]
        self.firsts = short_names(self.names)

    def service(self, number: int) -> str:
        """What the caller wants, by the handbook's name."""
        scenario = self.business.scenario
        ours = len(scenario.services)
        return (
            scenario.services[number].label if number < ours else scenario.other_work[number - ours]
        )

    def weekday(self, day: int) -> int:
        """0 for Monday to 6 for Sunday."""
        return self.business.date_of(day).weekday()

    def on_shift(self, technician: int, window: int) -> bool:
        """Whether a technician may work in a window of today at all."""
        on_call = bool(self.book["on_call"][technician] == 1)
        return on_call or not off_hours(self.book, self.today, window)

    def visits(self, day: int, technician: int) -> list[int]:
        """Indices of the jobs of a day and technician, cancelled ones too."""
        calls = self.calls
        mine = (calls["day"] == day) & (calls["technician"] == technician)
        chosen: list[int] = np.flatnonzero(mine & (calls["state"] >= CallState.BOOKED)).tolist()
        return chosen


class Happening(NamedTuple):
    """One thing that happened to a call or job; `order` settles what came first in one second."""

    at: int
    order: int
    job: int
    word: str
    style: str


_MOMENTS = (
    ("departed", "sets off", "cyan"),
    ("arrived", "arrived", "default"),
    ("started", "begun", "magenta"),
)
_ANSWERS = {
    CallState.REJECTED: ("rejected", "dim"),
    CallState.UNANSWERED: ("no answer", "dim"),
    CallState.DECLINED: ("declined", "yellow"),
}


def happenings(office: Office) -> Iterator[Happening]:
    """What happened in the last 24 hours, read off the times that DESK keeps of every call."""
    since = office.clock - DAY_SECONDS
    calls = office.calls
    latest = np.maximum(calls["rang_at"], np.maximum(calls["departed"], calls["ended"]))
    for job in np.flatnonzero(np.maximum(latest, calls["started"]) >= since).tolist():
        call = calls[job]
        state = CallState(int(call["state"]))
        if state == CallState.RINGING:
            continue
        word, style = _ANSWERS.get(state, ("booked", "bold"))
        yield Happening(int(call["rang_at"]), 0, job, word, style)
        for order, (field, said, tone) in enumerate(_MOMENTS, start=1):
            if call[field] != NONE:
                yield Happening(int(call[field]), order, job, said, tone)
        if call["ended"] != NONE:
            mark = MARKS[state]
            yield Happening(int(call["ended"]), len(_MOMENTS) + 1, job, mark.word, mark.style)


def clock(moment: int) -> str:
    """The time of day of a moment of the run: `09:05`."""
    minute = int(moment) % DAY_SECONDS // 60
    return f"{minute // 60:02}:{minute % 60:02}"


def dollars(cents: int, *, sign: bool = False) -> str:
    """Cents as people write money: `-$1,234.56`; with `sign` a plus as well."""
    before = "-" if cents < 0 else "+" if sign else ""
    return f"{before}${abs(cents) // 100:,}.{abs(cents) % 100:02}"
