"""Where the gap between two runs of one world comes from, to the cent.

Every call of either run is in one part, by the first of the rules below that fits, and a part's
difference is what its calls brought in the one run less what they brought in the other; pay and
overhead are a part of their own. So the parts add up to the difference of the two profits. Calls
are the same in both runs by day, stream and index in the stream (A.1 of the report), not by
number. It reads two accounts and plays nothing.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from enum import StrEnum
from typing import Any, Final

from tradesbench_gym.core.codes import CallState
from tradesbench_gym.core.rules.calendar import is_installation, is_weekend
from tradesbench_gym.errors import StateError
from tradesbench_gym.report.analysis.accounts import Account


class Part(StrEnum):
    """Where money between two runs lies, in the order in which the rules are tried."""

    DEMAND = "demand"
    MISSES = "misses"
    INSTALLATIONS = "installations"
    WEEKENDS = "weekends"
    CANCELLED = "cancelled"
    DECLINED = "declined"
    TURNED_AWAY = "turned_away"
    UNSERVED = "unserved"
    TERMS = "terms"
    FIXED = "fixed"


PARTS: Final[dict[Part, tuple[str, str]]] = {
    Part.DEMAND: (
        "callers of one run only",
        "calls that rang in one of the two runs only: what demand was won or lost, by whatever",
    ),
    Part.MISSES: (
        "missed in one only",
        "calls of both runs whose visit was missed or failed in one of them only",
    ),
    Part.INSTALLATIONS: ("installations", "other calls of both runs for an installation"),
    Part.WEEKENDS: (
        "weekend work",
        "other calls of both runs that were offered a weekend day in either",
    ),
    Part.CANCELLED: ("cancelled in one only", "weekday work that was cancelled in one only"),
    Part.DECLINED: ("declined in one only", "weekday work whose offer was declined in one only"),
    Part.TURNED_AWAY: (
        "turned away in one only",
        "weekday work rejected or left unanswered in one only",
    ),
    Part.UNSERVED: ("not served by the end", "weekday work still booked at the end of one only"),
    Part.TERMS: ("the same in both", "weekday work with one outcome in both: overtime, premium"),
    Part.FIXED: ("pay and overhead", "what is paid by the day; differs after a bankruptcy only"),
}
"""The name of each part, and its rule in words."""

_MISSED: Final = frozenset({CallState.MISSED, CallState.FAILED})
_AWAY: Final = frozenset({CallState.REJECTED, CallState.UNANSWERED})
_SETTLED: Final = frozenset({CallState.CANCELLED, CallState.DECLINED, CallState.DONE})


@dataclass(frozen=True)
class Row:
    """A part: of the run and of the other run, the jobs done and the cents.

    Attributes:
        calls: how many calls of either run are in the part.
        done, cents: in the run.
        done_there, cents_there: in the other run.

    """

    calls: int = 0
    done: int = 0
    cents: int = 0
    done_there: int = 0
    cents_there: int = 0

    @property
    def difference(self) -> int:
        """What the run has more than the other, in cents."""
        return self.cents - self.cents_there

    def plus(self, other: Row) -> Row:
        """Both together."""
        return Row(
            self.calls + other.calls,
            self.done + other.done,
            self.cents + other.cents,
            self.done_there + other.done_there,
            self.cents_there + other.cents_there,
        )

    def as_dict(self) -> dict[str, int]:
        """Plain values for JSON."""
        return {
            "calls": self.calls,
            "done": self.done,
            "done_there": self.done_there,
            "cents": self.cents,
            "cents_there": self.cents_there,
            "difference_cents": self.difference,
        }


@dataclass(frozen=True)
class Gap:
    """The gap between two runs: `rows` by part, `total` of all of them."""

    rows: dict[Part, Row]

    @property
    def total(self) -> Row:
        """All parts together: the two profits and their difference."""
        found = Row()
        for row in self.rows.values():
            found = found.plus(row)
        return found

    def as_dict(self) -> dict[str, Any]:
        """Plain values for JSON."""
        rows = {part.value: row.as_dict() for part, row in self.rows.items()}
        return {"parts": rows, "total": self.total.as_dict()}


def gap(mine: Account, other: Account) -> Gap:
    """Hold two runs of one world side by side.

    Raises:
        StateError: they are not of one world, or one of them is not at its end.

    """
    _check(mine, other)
    rows = dict.fromkeys(Part, Row())
    for part, row in _calls(mine, other):
        rows[part] = rows[part].plus(row)
    rows[Part.FIXED] = Row(cents=mine.fixed, cents_there=other.fixed)
    found = Gap(rows)
    # The ledgers are proven on the way here; a part that is left out would be a fault of ours.
    sums = found.total.cents, found.total.cents_there
    if sums != (mine.simulation.profit_cents, other.simulation.profit_cents):
        raise RuntimeError(f"the parts do not add up to the profits: {sums}")
    return found


def _check(mine: Account, other: Account) -> None:
    worlds = [(one.seed, one.salt, one.business.identity) for one in (mine, other)]
    if worlds[0] != worlds[1]:
        raise StateError(
            "two runs are compared on one world: the same seed, salt, scenario, map and days",
            code="other_world",
            field="path",
        )
    if not (mine.finished and other.finished):
        raise StateError(
            "a run that is not at its end has no gap to another",
            code="unfinished",
            field="path",
        )


def _calls(mine: Account, other: Account) -> Iterator[tuple[Part, Row]]:
    here, there = mine.numbers(), other.numbers()
    for name in here.keys() | there.keys():
        one, two = here.get(name), there.get(name)
        done, cents = _share(mine, one)
        done_there, cents_there = _share(other, two)
        row = Row(1, done, cents, done_there, cents_there)
        part = Part.DEMAND if one is None or two is None else _part(mine, one, other, two)
        yield part, row


def _share(account: Account, number: int | None) -> tuple[int, int]:
    if number is None:
        return 0, 0
    return int(account.state(number) == CallState.DONE), account.cents.get(number, 0)


def _part(mine: Account, one: int, other: Account, two: int) -> Part:
    """The first part whose rule fits a call of both runs."""
    states = mine.state(one), other.state(two)
    book = mine.business.handbook
    calls = mine.calls[one - 1], other.calls[two - 1]
    if _in_one_only(states, _MISSED):
        return Part.MISSES
    if is_installation(book, int(calls[0]["service"])):
        return Part.INSTALLATIONS
    if any(call["day"] >= 0 and is_weekend(book, int(call["day"])) for call in calls):
        return Part.WEEKENDS
    for part, which in (
        (Part.CANCELLED, frozenset({CallState.CANCELLED})),
        (Part.DECLINED, frozenset({CallState.DECLINED})),
        (Part.TURNED_AWAY, _AWAY),
        (Part.UNSERVED, frozenset(CallState) - _MISSED - _AWAY - _SETTLED),
    ):
        if _in_one_only(states, which):
            return part
    return Part.TERMS


def _in_one_only(states: tuple[CallState, CallState], which: frozenset[CallState]) -> bool:
    return (states[0] in which) != (states[1] in which)
