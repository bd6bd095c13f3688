"""The words for the numbers of a run: job types, technicians, windows, zones, moments and days.

Requests speak in words and the rules count, and here the one becomes the other. It knows the
business and nothing of how a run goes.
"""

from __future__ import annotations

import re
from datetime import date
from enum import IntEnum

from tradesbench_gym.company.business import Business
from tradesbench_gym.company.scenario_schema import CUSTOMER_TYPES
from tradesbench_gym.company.scenario_units import clock
from tradesbench_gym.core.layout import DAY_SECONDS

_NO_LETTER = re.compile(r"[^a-z0-9]+")
_WEEKDAYS = ("Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday")
_SATURDAY = 5


def short_name(text: str) -> str:
    """A name as a request writes it.

    >>> short_name("Pest control")
    'pest_control'
    """
    return _NO_LETTER.sub("_", text.lower()).strip("_") or "other"


def word(kind: type[IntEnum], number: int) -> str:
    """The word for a number of the rules."""
    return kind(number).name.lower()


def words_of(kind: type[IntEnum], first: int = 0) -> tuple[str, ...]:
    """The words of an enum of the rules, from one of its numbers on.

    >>> from tradesbench_gym.core.codes import Phase
    >>> words_of(Phase)
    ('night', 'morning', 'open', 'ended')
    """
    return tuple(member.name.lower() for member in kind if member >= first)


class Names:
    """The words of one business; every list is in the order of the rules' numbers.

    Attributes:
        job_types: short names of the services, then of the other work that people ask for.
        requested: the same in the caller's words.
        technicians: short names.
        window_starts, window_ends: as `09:00`.
        zones: names of the service zones.
        customer_types: as in the scenario.

    """

    def __init__(self, business: Business) -> None:
        scenario = business.scenario
        own = [(service.key, service.label) for service in scenario.services]
        other = [(short_name(work), work) for work in scenario.other_work]
        self.job_types = tuple(key for key, _ in (*own, *other))
        self.requested = tuple(label for _, label in (*own, *other))
        self.technicians = tuple(person.key for person in scenario.technicians)
        self.window_starts = tuple(clock(window.opens) for window in scenario.windows)
        self.window_ends = tuple(clock(window.closes) for window in scenario.windows)
        self.zones = tuple(zone.name for zone in business.roadmap.zones)
        self.customer_types = CUSTOMER_TYPES
        self._evening = tuple(window.evening for window in scenario.windows)
        self._first = business.start_date.toordinal()
        self._dates: dict[int, str] = {}

    def moment(self, second: int) -> str:
        """A second of the run as `2026-10-01 09:05:00`."""
        day, rest = divmod(int(second), DAY_SECONDS)
        return f"{self.date(day)} {clock(rest)}:{rest % 60:02}"

    def moment_if(self, second: int) -> str | None:
        """The same; None for what has not happened, as the rules write it."""
        return None if second < 0 else self.moment(second)

    def date(self, day: int) -> str:
        """A day of the run, from 0, as `2026-10-01`."""
        if day not in self._dates:
            self._dates[day] = date.fromordinal(self._first + day).isoformat()
        return self._dates[day]

    def weekday(self, day: int) -> str:
        """The day of the week of a day of the run."""
        return _WEEKDAYS[(self._first + day - 1) % len(_WEEKDAYS)]

    def is_weekend(self, day: int) -> bool:
        """Whether a day of the run is a Saturday or Sunday."""
        return (self._first + day - 1) % len(_WEEKDAYS) >= _SATURDAY

    def is_off_hours(self, day: int, window: int) -> bool:
        """Whether a window is off-hours on a day of the run."""
        return self.is_weekend(day) or self._evening[window]

    def day(self, text: str) -> int:
        """The day of the run that a date is, from 0; negative before the first."""
        return date.fromisoformat(text).toordinal() - self._first
