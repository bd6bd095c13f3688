"""The risk that each booking took, and what came of it.

Slack and chance are those of the moment of the booking (`weighing`): a day that was easy then may
have been filled up afterwards. So a miss is told with the tightest booking that was made onto the
same technician's day from then on. It reads an account and plays nothing.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any, Final

from tradesbench_gym.core.codes import CallState
from tradesbench_gym.report.analysis.accounts import Account, Offer

_MINUTE: Final = 60
_EDGES: Final = (0, 20, 40, 60, 80, 100)
"""Minutes of slack between the buckets: the oracle keeps 40 if it can (A.8); a window has 120."""
_KEPT, _LOST = CallState.DONE, CallState.MISSED


@dataclass(frozen=True)
class Booking:
    """A booking: the offer that was accepted, and what became of the job."""

    offer: Offer
    day: int
    became: CallState

    def as_dict(self) -> dict[str, Any]:
        """Plain values for JSON."""
        return {
            "call": self.offer.call,
            "technician": self.offer.technician,
            "day": self.day + 1,
            "window": self.offer.window,
            "slack_seconds": self.offer.weight.slack,
            "chance_of_a_miss": self.offer.weight.miss,
            "others_put_at_risk": self.offer.weight.others,
            "became": self.became.name.lower(),
        }


@dataclass(frozen=True)
class SlackBucket:
    """Bookings with about the same slack.

    Attributes:
        slack: of the route, in words.
        bookings: how many; `kept` were done, `missed` missed, the others failed, were cancelled or
            are not over.
        risk: mean chance of a miss when they were made; None where none could be worked out.

    """

    slack: str
    bookings: int
    kept: int
    missed: int
    risk: float | None

    @property
    def share(self) -> float | None:
        """Missed of those that were done or missed; None where there are none."""
        tried = self.kept + self.missed
        return self.missed / tried if tried else None

    def as_dict(self) -> dict[str, Any]:
        """Plain values for JSON."""
        return {
            "slack": self.slack,
            "bookings": self.bookings,
            "kept": self.kept,
            "missed": self.missed,
            "missed_share": self.share,
            "mean_chance_of_a_miss": self.risk,
        }


@dataclass(frozen=True)
class Miss:
    """A missed job: its booking, and the tightest one made later onto the same day; None if none
    was.
    """

    booking: Booking
    tightest: Booking | None

    def as_dict(self) -> dict[str, Any]:
        """Plain values for JSON."""
        later = None if self.tightest is None else self.tightest.as_dict()
        return {**self.booking.as_dict(), "tightest_later": later}


def bookings(account: Account) -> list[Booking]:
    """The bookings of a run, in the order in which they were made."""
    return [
        Booking(offer, int(account.calls[offer.call - 1]["day"]), account.state(offer.call))
        for offer in account.offers
        if offer.accepted
    ]


def by_slack(made: Iterable[Booking]) -> list[SlackBucket]:
    """Bookings by their slack, tightest first; buckets without any left out."""
    found: dict[int, list[Booking]] = {}
    for booking in made:
        found.setdefault(_place(booking.offer.weight.slack), []).append(booking)
    return [_bucket(place, found[place]) for place in sorted(found)]


def misses(made: Sequence[Booking]) -> list[Miss]:
    """The missed jobs, in the order of their calls."""
    found = []
    for number, booking in enumerate(made):
        if booking.became != _LOST:
            continue
        where = booking.day, booking.offer.technician
        later = [one for one in made[number + 1 :] if (one.day, one.offer.technician) == where]
        found.append(Miss(booking, min(later, key=_slack, default=None)))
    return found


def _slack(booking: Booking) -> float:
    slack = booking.offer.weight.slack
    return float("-inf") if slack is None else float(slack)


def _place(slack: int | None) -> int:
    if slack is None:
        return -1
    return sum(slack >= edge * _MINUTE for edge in _EDGES)


def _bucket(place: int, inside: list[Booking]) -> SlackBucket:
    risks = [one.offer.weight.miss for one in inside]
    known = [risk for risk in risks if risk is not None]
    states = [one.became for one in inside]
    return SlackBucket(
        _words(place),
        len(inside),
        states.count(_KEPT),
        states.count(_LOST),
        sum(known) / len(known) if known else None,
    )


def _words(place: int) -> str:
    if place < 0:
        return "too many jobs to plan"
    if place == 0:
        return "late by the plan"
    if place == len(_EDGES):
        return f"{_EDGES[-1]} min or more"
    return f"{_EDGES[place - 1]} to {_EDGES[place]} min"
