"""What a page tells of a run: plain rows of calls, stretches of technicians' time, days and money.

Times are seconds since 00:00 of day 0, money is whole cents, places are metres east and north of
the map's origin. How the rows are read from a world file is `reading`'s matter, how they are shown
that of the figures; nothing here is computed from a rule.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum
from pathlib import Path

from tradesbench_gym.company.business import Business
from tradesbench_gym.company.play import Results
from tradesbench_gym.core.codes import CallState, Condition, Entry
from tradesbench_gym.core.layout import DAY_SECONDS


class Doing(Enum):
    """What a technician does in a stretch of his time."""

    DRIVE = "drive"
    WAIT = "wait"
    WORK = "work"


@dataclass(frozen=True, slots=True)
class Offer:
    """The one offer a caller got.

    Attributes:
        day, window: service day from 0 and index of the window.
        opens, closes: of the window, seconds of the run.
        lead: seconds from the call to the window's start.
        accepted: the answer.
        late_installation: whether the scenario counts it as an installation offered late.

    """

    technician: int
    day: int
    window: int
    opens: int
    closes: int
    lead: int
    accepted: bool
    late_installation: bool


@dataclass(frozen=True, slots=True)
class Call:
    """A call, and the job it became if an offer was accepted.

    Attributes:
        number: from 1.
        at: when it rang.
        service, customer, zone: as indices; `urgent` and `known` (in the starting book) as flags.
        x, y: where the address lies.
        offer: None if none was made.
        state: what became of it.
        states: every change of the job's state with its time, the booking first.
        ended: when it was done, missed, failed or cancelled; None if not yet.
        invoice: before any premium, for a job that is done.

    """

    number: int
    at: int
    service: int
    customer: int
    zone: int
    urgent: bool
    known: bool
    address: int
    x: int
    y: int
    offer: Offer | None
    state: CallState
    states: tuple[tuple[int, CallState], ...]
    ended: int | None
    invoice: int

    @property
    def job(self) -> Offer | None:
        """The offer, if it was accepted."""
        return self.offer if self.offer is not None and self.offer.accepted else None


@dataclass(frozen=True, slots=True)
class Stretch:
    """A stretch of a technician's time for one job; `over` is False while it is still going on.

    `start_address` is where a drive sets off, None for home; `metres` by road, of a drive.
    """

    technician: int
    day: int
    doing: Doing
    job: int
    start: int
    end: int
    over: bool = True
    start_address: int | None = None
    metres: int = 0
    sky: Condition = Condition.CLEAR


@dataclass(frozen=True, slots=True)
class Payment:
    """A row of the ledger and the service day it belongs to."""

    at: int
    day: int
    entry: Entry
    cents: int


@dataclass(frozen=True, slots=True)
class Day:
    """A service day that has opened; `level` is the hidden demand level, calls a weekday."""

    number: int
    level: float
    closed: bool
    cash: int


@dataclass(frozen=True)
class Run:
    """Everything a page tells of one run.

    Attributes:
        name: who played it, as far as the reader has said so.
        path: the world file.
        seed, sealed: of the run; a salt is never kept here.
        business: what the run is of.
        clock: how far it is.
        ended: whether the last day has closed or the company is bankrupt.
        waiting: what waits for an answer, in words, or nothing.
        results: its figures.
        digest: of the state it stands in.
        pairing: two runs with the same value had the same draws.

    """

    name: str
    path: Path
    seed: int
    sealed: bool
    business: Business
    clock: int
    ended: bool
    waiting: str
    results: Results
    digest: str
    pairing: str
    calls: tuple[Call, ...]
    stretches: tuple[Stretch, ...]
    payments: tuple[Payment, ...]
    days: tuple[Day, ...]

    @property
    def bankrupt(self) -> bool:
        """Whether the company went bankrupt."""
        return self.results.bankrupt_on is not None

    @property
    def starting_cash(self) -> int:
        """Cash before anything happened."""
        return int(self.business.handbook["starting_cash"])

    @property
    def windows(self) -> list[tuple[int, int]]:
        """When each window opens and closes, seconds of the day."""
        return [(window.opens, window.closes) for window in self.business.scenario.windows]

    def jobs_on(self, day: int) -> list[Call]:
        """The jobs booked for a service day, cancelled ones too."""
        return [call for call in self.calls if call.job is not None and call.job.day == day]

    def stretches_on(self, day: int, technician: int | None = None) -> list[Stretch]:
        """What the technicians, or one of them, did on a service day, in order of time."""
        return [
            one for one in self.stretches if one.day == day and technician in (None, one.technician)
        ]


def clock_of(moment: int) -> str:
    """The time of day of a moment of the run: `09:05`."""
    minute = moment % DAY_SECONDS // 60
    return f"{minute // 60:02}:{minute % 60:02}"
