"""The words for the numbers of a run: job types, technicians, windows, zones, moments and days.

Requests speak in words and the rules count, and here the one becomes the other. It knows the
business and nothing of how a run goes.
"""

from __future__ import annotations

import re
from datetime import date, datetime, timedelta

from tradesbench_gym.company.business import Business
from tradesbench_gym.company.scenario_schema import CUSTOMER_TYPES

_NO_LETTER = re.compile(r"[^a-z0-9]+")


def short_name(text: str) -> str:
    """A name as a request writes it.

    >>> short_name("Pest control")
    'pest_control'
    """
    return _NO_LETTER.sub("_", text.lower()).strip("_") or "other"


def time_of_day(second: int) -> str:
    """A second of a day as `09:00`."""
    return f"{second // 3600:02}:{second // 60 % 60:02}"


class Names:
    """The words of one business; every list is in the order of the rules' numbers.

    Attributes:
        job_types: short names of the services, then of the other work that people ask for.
        requested: the same in the caller's words.
        services: how many of them are the company's own.
        technicians: short names.
        window_starts, window_ends: as `09:00`.
        zones: names of the service zones.
        customer_types: as in the scenario.

    """

    def __init__(self, business: Business) -> None:
        scenario = business.scenario
        self.services = len(scenario.services)
        own = [(service.key, service.label) for service in scenario.services]
        other = [(short_name(work), work) for work in scenario.other_work]
        self.job_types = tuple(key for key, _ in (*own, *other))
        self.requested = tuple(label for _, label in (*own, *other))
        self.technicians = tuple(person.key for person in scenario.technicians)
        self.full_names = tuple(person.name for person in scenario.technicians)
        self.window_starts = tuple(time_of_day(window.opens) for window in scenario.windows)
        self.window_ends = tuple(time_of_day(window.closes) for window in scenario.windows)
        self.zones = tuple(zone.name for zone in business.roadmap.zones)
        self.customer_types = CUSTOMER_TYPES
        self._start = business.start_date

    def moment(self, second: int) -> str:
        """A second of the run as `2026-10-01 09:05:00`."""
        midnight = datetime.combine(self._start, datetime.min.time())
        return (midnight + timedelta(seconds=int(second))).isoformat(" ")

    def moment_if(self, second: int) -> str | None:
        """The same; None for what has not happened, as the rules write it."""
        return None if second < 0 else self.moment(second)

    def date(self, day: int) -> date:
        """The date of a day of the run, from 0."""
        return date.fromordinal(self._start.toordinal() + int(day))

    def day(self, text: str) -> int:
        """The day of the run that a date is, from 0; negative before the first."""
        return date.fromisoformat(text).toordinal() - self._start.toordinal()
