"""The prompt of one call: who is on the line, and how the company stands, in the office's words.

It is made of the dispatcher's desk, the public words of the business and who is calling, and of
nothing of the run behind them. Lines of at most 80 columns; every list has an end.
"""

from __future__ import annotations

import textwrap
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

import numpy as np

from tradesbench_gym.company.callers import Caller
from tradesbench_gym.company.refusals import window_text
from tradesbench_gym.core.codes import Activity, CallState, Condition, Phase
from tradesbench_gym.envs.wording import Office, clock, dollars

WIDTH = 80
MOST_NEWS = 30
MOST_ROUTES = 12
"""Lines of booked jobs that are shown; the days closest to today come first."""
_DOING = {
    Activity.DRIVING: "drives to",
    Activity.WAITING: "waits at",
    Activity.WORKING: "works on",
}
_DAY_WIDTH = 16
_CONDITIONS = [kind.name.lower().replace("_", " ") for kind in Condition]
_Jobs = Mapping[tuple[int, int], list[int]]
"""Indices of jobs by day and technician."""


def call_prompt(office: Office, caller: Caller, news: list[str]) -> str:
    """Everything a dispatcher may know that bears on the call on the line."""
    parts = (
        _head(office),
        _news(news),
        _call(office, caller),
        _routes(office),
        _calendar(office),
        _ahead(office),
        _weather(office),
        f"What do you answer to call {int(office.desk['line']) + 1}?",
    )
    return "\n\n".join(part for part in parts if part)


def brief_prompt(office: Office, caller: Caller, news: list[str]) -> str:
    """What is worth remembering of a prompt once its call is over: news and call, no calendar."""
    parts = (_head(office), _news(news), _call(office, caller))
    return "\n\n".join(part for part in parts if part)


def end_prompt(office: Office, news: list[str]) -> str:
    """What there is to say when the run is over."""
    over = "The company is bankrupt." if office.desk["bankrupt"] else "The last day has closed."
    return "\n\n".join(
        part for part in (_head(office), _news(news), f"{over} No more calls.") if part
    )


def _head(office: Office) -> str:
    cash = int(office.desk["cash"])
    profit = dollars(cash - int(office.book["starting_cash"]), sign=True)
    date = office.business.date_of(office.today)
    ended = office.desk["phase"] == Phase.ENDED
    day = "the end" if ended else f"day {office.today + 1} of {office.business.days}"
    return wrapped(
        f"{date:%A} {date} {clock(office.clock)}, {day}; "
        f"cash {dollars(cash)}, profit so far {profit}"
    )


def _news(news: list[str]) -> str:
    if not news:
        return ""
    left_out = len(news) - MOST_NEWS
    first = news[:1] if left_out > 0 else []
    cut = [f"({left_out} more in between)"] if left_out > 0 else []
    last = news[-MOST_NEWS + 1 :] if left_out > 0 else news
    return listed("Since the last call:", [*first, *cut, *last])


def _call(office: Office, caller: Caller) -> str:
    call = office.desk.call
    if call is None:
        return ""
    urgent = "URGENT" if call["urgent"] else "routine"
    kind = office.business.scenario.customers[int(call["customer"])].label
    return listed(
        f"On the line, call {int(office.desk['line']) + 1}:",
        [
            f"caller: {caller.name}, {caller.phone}",
            f"address: {caller.address.text}",
            f"place: {_where(office, call)}",
            f"customer type: {kind}",
            f"requested service: {office.service(int(call['service']))}, {urgent}",
        ],
    )


def _routes(office: Office) -> str:
    """Where everybody is, and what is still to be done today."""
    lines, booked = [], _open(office)
    for number, person in enumerate(office.business.scenario.technicians):
        man = office.desk["technicians"][number]
        at_work = int(man["job"]) if int(man["activity"]) in _DOING else -1
        waiting = [job for job in booked.get((office.today, number), []) if job != at_work]
        lines.append(f"{person.key} {_doing(office, number)}" + _then(office, waiting))
    return listed("Today's routes:", lines)


def _doing(office: Office, number: int) -> str:
    man = office.desk["technicians"][number]
    activity = int(man["activity"])
    if activity in _DOING:
        job = int(man["job"])
        verb = _DOING[Activity(activity)]
        return f"{verb} {_job(office, job)} since {clock(man['since'])}"
    place = int(man["x"]), int(man["y"])
    home = int(office.book["home_x"][number]), int(office.book["home_y"][number])
    return f"is {'at home' if place == home else 'free'} {_point(*place)}"


def _then(office: Office, jobs: list[int]) -> str:
    return f"; then {'; '.join(_job(office, job) for job in jobs)}" if jobs else ""


def _open(office: Office) -> _Jobs:
    """Jobs that are not over, by window."""
    calls, found = office.calls, defaultdict(list)
    states = calls["state"]
    open_ = np.flatnonzero((states >= CallState.BOOKED) & (states <= CallState.WORKING))
    for job in sorted(open_.tolist(), key=lambda job: (int(calls[job]["window"]), job)):
        found[int(calls[job]["day"]), int(calls[job]["technician"])].append(job)
    return found


def _job(office: Office, job: int) -> str:
    call = office.calls[job]
    window = window_text(office.business, int(call["window"]))
    return f"job {job + 1} {window} {office.service(int(call['service']))}, {_where(office, call)}"


def _where(office: Office, call: Any) -> str:
    return f"{_zone(office, int(call['zone']))} {_point(int(call['x']), int(call['y']))}"


def _zone(office: Office, zone: int) -> str:
    return office.business.roadmap.zones[zone].name.partition("/")[0]


def _point(x: int, y: int) -> str:
    """Kilometres east and north.

    >>> _point(1234, -1250)
    '(1.2, -1.2)'
    """
    return f"({x / 1000:.1f}, {y / 1000:.1f})"


def _calendar(office: Office) -> str:
    """Open jobs in each window of each technician and day, and where no offer may be made."""
    starts = [opens // 3600 for opens in office.book["opens"].tolist()][
        : int(office.book["windows"])
    ]
    head = (
        f"Calendar, a sign for each window ({' '.join(f'{hour:02}' for hour in starts)}): "
        "a digit for its open jobs, . for none, - where this caller cannot be offered it"
    )
    people = [person.key for person in office.business.scenario.technicians]
    widths = [max(len(starts), len(key)) + 2 for key in people]
    lines: list[str] = [wrapped(head)]
    for group in _groups(widths, WIDTH - _DAY_WIDTH):
        lines += _calendar_rows(office, [people[k] for k in group], list(group), widths)
    return "\n".join(lines)


def _groups(widths: list[int], room: int) -> Iterator[range]:
    """Columns that fit beside each other."""
    begin = 0
    for end in range(1, len(widths) + 1):
        if end == len(widths) or sum(widths[begin : end + 1]) > room:
            yield range(begin, end)
            begin = end


def _calendar_rows(
    office: Office, people: list[str], numbers: list[int], widths: list[int]
) -> Iterator[str]:
    heads = "".join(f"{key:<{widths[k]}}" for k, key in zip(numbers, people, strict=True))
    yield (" " * _DAY_WIDTH + heads).rstrip()
    counts, legal = _open_jobs(office), office.desk.legal(qualified=False)
    for ahead in range(legal.shape[1]):
        day = office.today + ahead
        cells = "".join(
            f"{_signs(counts[k, ahead], legal[k, ahead]):<{widths[k]}}" for k in numbers
        )
        after = "" if day < office.business.days else "*"
        yield (
            f"{office.business.date_of(day):%a %Y-%m-%d}{after}".ljust(_DAY_WIDTH) + cells.rstrip()
        )
    if office.today + legal.shape[1] > office.business.days:
        yield "* after the last day of the run: such jobs are never done"


def _open_jobs(office: Office) -> Any:
    """Shape (technicians, days ahead, windows)."""
    book, calls = office.book, office.calls
    counts = np.zeros((len(office.names), int(book["booking_days"]), int(book["windows"])), int)
    states = calls["state"]
    open_ = calls[(states >= CallState.BOOKED) & (states <= CallState.WORKING)]
    ahead = open_["day"].astype(int) - office.today
    there = (ahead >= 0) & (ahead < counts.shape[1])
    place = (open_["technician"][there], ahead[there], open_["window"][there])
    np.add.at(counts, place, 1)
    return counts


def _signs(counts: Any, legal: Any) -> str:
    return "".join(
        str(min(int(n), 9)) if n else "." if may else "-"
        for n, may in zip(counts, legal, strict=True)
    )


def _ahead(office: Office) -> str:
    """The jobs of the next days, one entry for each technician and day that has some."""
    lines = []
    for (day, number), jobs in sorted(_open(office).items()):
        if day > office.today:
            key = office.business.scenario.technicians[number].key
            named = "; ".join(_job(office, job) for job in jobs)
            lines.append(f"{office.business.date_of(day):%a %m-%d} {key}: {named}")
    cut = [f"({len(lines) - MOST_ROUTES} more routes on later days)"] * (len(lines) > MOST_ROUTES)
    return listed("Booked for the next days:", [*lines[:MOST_ROUTES], *cut]) if lines else ""


def _weather(office: Office) -> str:
    lines = []
    said = office.desk["forecast"]
    for ahead, sky in enumerate(zip(said["condition"], said["high"], strict=True)):
        day = office.business.date_of(office.today + ahead)
        lines.append(f"{day:%a %m-%d} {_sky(office, *sky)}")
    return listed("Weather today and forecast, highs in °F:", lines)


def _sky(office: Office, condition: Any, high: Any) -> str:
    """A day's weather: what most zones have, then where it is another."""
    zones = len(office.business.roadmap.zones)
    under: dict[int, list[int]] = defaultdict(list)
    for zone, kind in enumerate(condition.tolist()[:zones]):
        under[kind].append(zone)
    kinds = sorted(under, key=lambda kind: (-len(under[kind]), kind))
    return "; ".join(
        f"{_CONDITIONS[kind]} {_span(high[under[kind]])}"
        + (f" in {', '.join(_zone(office, zone) for zone in under[kind])}" if place else "")
        for place, kind in enumerate(kinds)
    )


def _span(highs: Any) -> str:
    low, high = int(highs.min()), int(highs.max())
    return str(low) if low == high else f"{low}-{high}"


def listed(head: str, lines: Iterable[str]) -> str:
    """A heading and a dash before each line, all of it wrapped."""
    return "\n".join([wrapped(head), *(wrapped(line, "- ", "  ") for line in lines)])


def wrapped(text: str, first: str = "", then: str = "") -> str:
    """A text in lines of `WIDTH` columns, with something before the first and the others."""
    if len(first) + len(text) <= WIDTH:
        return first + text
    return textwrap.fill(
        text, WIDTH, initial_indent=first, subsequent_indent=then, break_on_hyphens=False
    )
