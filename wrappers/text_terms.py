"""The office's words read back: names of technicians, dates and windows, as people write them.

It knows the business and today, and no reply as a whole; what it cannot read or cannot read in one
way only is an error whose sentence says what would be right.
"""

from __future__ import annotations

import re
from datetime import date, timedelta
from typing import Any

from tradesbench_gym.company.business import Business
from tradesbench_gym.company.refusals import window_text
from tradesbench_gym.errors import TradesBenchError

_MOST_QUOTED = 40
_NOON, _HOUR = 12, 3600
_MONTHS = ("jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec")
_WEEKDAYS = ("mon", "tue", "wed", "thu", "fri", "sat", "sun")

_MONTH = (
    r"(?:jan(?:uary)?|feb(?:ruary)?|mar(?:ch)?|apr(?:il)?|may|june?|july?|aug(?:ust)?"
    r"|sept?(?:ember)?|oct(?:ober)?|nov(?:ember)?|dec(?:ember)?)\.?"
)
_WEEKDAY = (
    r"(?:mon(?:day)?|tue(?:s(?:day)?)?|wed(?:nesday)?|thu(?:rs?(?:day)?)?|fri(?:day)?"
    r"|sat(?:urday)?|sun(?:day)?)\.?"
)
_NUMBER = r"\d{1,2}(?:st|nd|rd|th)?"
_YEAR = r"(?:,? ?\d{4})?"
_DATE = (
    rf"\d{{4}}[-/]\d{{1,2}}[-/]\d{{1,2}}|\d{{1,2}}[-/]\d{{1,2}}"
    rf"|{_MONTH} {_NUMBER}{_YEAR}|{_NUMBER} (?:of )?{_MONTH}{_YEAR}"
)
DAY = rf"today|tomorrow|{_WEEKDAY}(?:,? (?:{_DATE}))?|{_DATE}"
"""A day as it stands in a line, in small letters and with single spaces."""
_HALF = r" ?(?:[ap]\.?m\.?)?"
_TIME = rf"\d{{1,2}}(?::\d{{2}}(?::\d{{2}})?)?{_HALF}"
TIME = rf"{_TIME}(?: ?(?:-|–|—|to|until) ?{_TIME})?"
"""A window or its start, likewise."""


class ReplyError(TradesBenchError):
    """A reply that is no answer the office can carry out; nothing has changed."""


class Terms:
    """The words of one business.

    Attributes:
        technicians: short names, as answers use them.
        starts: when each window opens, as `09:00`.

    """

    def __init__(self, business: Business) -> None:
        self._business = business
        people = business.scenario.technicians
        self.technicians = tuple(person.key for person in people)
        self.starts = tuple(
            window_text(business, k)[:5] for k in range(len(business.scenario.windows))
        )
        self._called: dict[str, set[int]] = {}
        for number, person in enumerate(people):
            words = single(person.name).split()
            for name in (" ".join(words), words[0], words[-1]):
                self._called.setdefault(name, set()).add(number)
        # What answers are asked to use is never unclear.
        self._called |= {single(key): {number} for number, key in enumerate(self.technicians)}

    def technician(self, said: Any) -> int:
        """Index of the technician that a name means.

        Raises:
            ReplyError: a name that is nobody's, or that of several.

        """
        found = self._called.get(single(said), set()) if isinstance(said, str) else set()
        if len(found) == 1:
            return next(iter(found))
        several = "more than one technician is called" if found else "there is no technician"
        names = _either(self.technicians)
        raise ReplyError(
            f"{several} {quoted(said)}: write {names}",
            code="ambiguous_technician" if found else "unknown_technician",
            field="technician",
        )

    def days_ahead(self, said: Any, today: int) -> int:
        """Days from today to the day that a date, or the name of a day, means.

        Raises:
            ReplyError: words that are no date, or may be several.

        """
        now = self._business.date_of(today)
        named = single(said) if isinstance(said, str) else ""
        named = re.sub(r"(?<=\d)t[\d:.z+-]*$", "", named)  # a time behind an ISO date
        if not re.fullmatch(DAY, named):
            raise self._no_date(said, now)
        if named in ("today", "tomorrow"):
            return int(named == "tomorrow")
        weekday = _weekday_in(named)
        written = re.search(_DATE, named)
        if written is None:
            return self._by_weekday(said, weekday, today)
        meant = self._written(written[0], now)
        if meant is None:
            raise self._no_date(said, now)
        if weekday is not None and meant.weekday() != weekday:
            raise ReplyError(
                f"{quoted(said)} contradicts itself: {meant} is a {meant:%A}",
                code="ambiguous_date",
                field="date",
            )
        return (meant - now).days

    def window(self, said: Any) -> int:
        """Index of the window that a time, or two, mean.

        Raises:
            ReplyError: a time at which no window opens.

        """
        if isinstance(said, int) and not isinstance(said, bool):
            said = str(said)
        text = single(said) if isinstance(said, str) else ""
        if re.fullmatch(TIME, text):
            begin, *end = (_clocks(match) for match in re.finditer(_TIME, text))
            found = [
                k
                for k, window in enumerate(self._business.scenario.windows)
                if window.opens in begin and (not end or window.closes in end[0])
            ]
            if len(found) == 1:
                return found[0]
        raise ReplyError(
            f"there is no window {quoted(said)}: name one by its start, {_either(self.starts)}",
            code="unknown_window",
            field="window",
        )

    def _by_weekday(self, said: Any, weekday: int | None, today: int) -> int:
        """The one day of that name that can be meant; days after the run are nobody's meaning."""
        last = self._business.scenario.calendar.booking_days
        ahead = [k for k in range(last) if self._business.date_of(today + k).weekday() == weekday]
        in_run = [k for k in ahead if today + k < self._business.days]
        found = in_run or ahead
        if len(found) != 1:
            dates = [str(self._business.date_of(today + k)) for k in found]
            which = f"may be {_either(dates)}" if dates else "is beyond the days that are booked"
            raise ReplyError(
                f"{quoted(said)} {which}: write the date", code="ambiguous_date", field="date"
            )
        return found[0]

    def _written(self, text: str, now: date) -> date | None:
        """The date that a text with a day and a month means; without a year, the next such."""
        numbers = [int(number) for number in re.findall(r"\d+", text)]
        month = next((k + 1 for k, name in enumerate(_MONTHS) if name in text), None)
        year = next((number for number in numbers if number > 31), None)
        rest = [number for number in numbers if number <= 31]
        if month is None and len(rest) == 2:
            month, rest = rest[0], rest[1:]
        if month is None or len(rest) != 1:
            return None
        years = [now.year - 1, now.year, now.year + 1] if year is None else [year]
        there = [day for each in years if (day := _date(each, month, rest[0])) is not None]
        return min(there, key=lambda day: abs((day - now).days), default=None)

    def _no_date(self, said: Any, now: date) -> ReplyError:
        last = now + timedelta(days=self._business.scenario.calendar.booking_days - 1)
        return ReplyError(
            f"{quoted(said)} is no date: write it as {now}, and none after {last}",
            code="unknown_date",
            field="date",
        )


def single(text: str) -> str:
    """Small letters, single spaces, nothing at the ends.

    >>> single("  Diana   CHEN ")
    'diana chen'
    """
    return " ".join(text.lower().split())


def quoted(said: Any) -> str:
    r"""What was said, short and in plain characters, whatever it was.

    >>> print(quoted("bo\udc80b"), quoted("x" * 99)[:9], quoted(None))
    'bo\udc80b' 'xxxxxxxx null
    """
    if said is None:
        return "null"
    if isinstance(said, str):
        # Cut first: the whole of it may be a megabyte.
        text = ascii(said[:_MOST_QUOTED])
        return text if len(said) <= _MOST_QUOTED else f"{text[:-1]}...'"
    if isinstance(said, bool | int | float):
        return ascii(said)[:_MOST_QUOTED] if abs(said) < 1e15 else "a huge number"
    return "a list" if isinstance(said, list) else "an object"


def _either(words: tuple[str, ...] | list[str]) -> str:
    return words[0] if len(words) == 1 else f"{', '.join(words[:-1])} or {words[-1]}"


def _weekday_in(text: str) -> int | None:
    return next((k for k, name in enumerate(_WEEKDAYS) if text.startswith(name)), None)


def _date(year: int, month: int, day: int) -> date | None:
    try:
        return date(year, month, day)
    except ValueError:
        return None


def _half(text: str) -> str:
    found = re.findall(r"([ap])\.?m", text)
    return found[-1] if found else ""


def _clocks(match: re.Match[str]) -> set[int]:
    """The seconds of a day that a time may mean: `1:00` is one o'clock, at night or after noon."""
    hour, minute, *_ = (int(part) for part in [*re.findall(r"\d+", match[0]), "0"])
    half = _half(match[0])
    if half and not 1 <= hour <= _NOON:
        return set()
    hours = {hour, hour + _NOON} if not half and 1 <= hour < _NOON else {hour}
    if half:
        hours = {hour % _NOON + _NOON * (half == "p")}
    return {each * _HOUR + minute * 60 for each in hours}
