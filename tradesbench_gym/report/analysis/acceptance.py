"""Who accepted what, by how far ahead it was offered, beside what the scenario's rule expects.

The expectation is the scenario's truth: nobody who plays can see it, and it is worked out for the
very offers that were made (A.2 of the report). Routine callers are counted by time to the window,
urgent ones by calendar days; installations offered late in the day are kept apart, because the rule
does.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from enum import StrEnum
from typing import Any, Final

from scipy.stats import binomtest

from tradesbench_gym.company.explain import explain_call
from tradesbench_gym.core.layout import DAY_SECONDS
from tradesbench_gym.core.rules.calendar import is_installation
from tradesbench_gym.report.analysis.accounts import Account


class Asked(StrEnum):
    """Who was asked."""

    ROUTINE = "routine"
    LATE_INSTALLATION = "late installation"
    URGENT = "urgent"


_ENDS: Final = (1, 2, 3, 5, 7, 10, 14)
_WAITS: Final = ("same day", "next day", "later")


@dataclass(frozen=True)
class Bucket:
    """Offers that were alike.

    Attributes:
        asked: who was asked.
        lead: how far ahead, in words.
        offers, accepted: how many.
        expected: mean chance by the scenario's rule, of these offers.

    """

    asked: Asked
    lead: str
    offers: int
    accepted: int
    expected: float

    @property
    def rate(self) -> float:
        """The share that was accepted."""
        return self.accepted / self.offers

    @property
    def interval(self) -> tuple[float, float]:
        """Wilson's 95 % interval of the rate: what so few answers tell of it."""
        found = binomtest(self.accepted, self.offers).proportion_ci(0.95, "wilson")
        return float(found.low), float(found.high)

    def as_dict(self) -> dict[str, Any]:
        """Plain values for JSON."""
        return {
            "asked": self.asked.value,
            "lead": self.lead,
            "offers": self.offers,
            "accepted": self.accepted,
            "rate": self.rate,
            "rate_interval": list(self.interval),
            "expected_by_the_scenario": self.expected,
        }


def acceptance(accounts: Iterable[Account]) -> list[Bucket]:
    """The offers of runs by lead; buckets in order, those without an offer left out."""
    found: dict[tuple[Asked, str], list[tuple[bool, float]]] = {}
    for account in accounts:
        for offer in account.offers:
            chance = explain_call(account.simulation, offer.call)[0].drawn.probability
            key = _bucket(account, offer.call)
            found.setdefault(key, []).append((offer.accepted, float(chance or 0.0)))
    order = [(asked, lead) for asked in Asked for lead in _leads(asked)]
    return [_made(*key, found[key]) for key in order if key in found]


def _made(asked: Asked, lead: str, answers: list[tuple[bool, float]]) -> Bucket:
    expected = sum(chance for _, chance in answers) / len(answers)
    return Bucket(asked, lead, len(answers), sum(yes for yes, _ in answers), expected)


def _bucket(account: Account, number: int) -> tuple[Asked, str]:
    call, book = account.calls[number - 1], account.business.handbook
    day, rang = int(call["day"]), int(call["rang_at"])
    if call["urgent"]:
        return Asked.URGENT, _WAITS[min(day - rang // DAY_SECONDS, len(_WAITS) - 1)]
    opens = int(book["opens"][call["window"]])
    late = account.business.params[0]["late_installation_from"]
    installs = is_installation(book, int(call["service"]))
    asked = Asked.LATE_INSTALLATION if installs and opens >= late else Asked.ROUTINE
    lead = (day * DAY_SECONDS + opens - rang) / DAY_SECONDS
    place = next((n for n, end in enumerate(_ENDS) if lead < end), len(_ENDS) - 1)
    return asked, _leads(asked)[place]


def _leads(asked: Asked) -> list[str]:
    if asked == Asked.URGENT:
        return list(_WAITS)
    return [f"{low} to {high} days" for low, high in zip((0, *_ENDS), _ENDS, strict=False)]
