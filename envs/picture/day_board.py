"""The day board: technicians by arrival windows, jobs coloured by state, and the line of now.

Under the jobs of each row runs what the technician did: driving, waiting and working by the hour.
All of it is read off the times that DESK keeps of every job.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise
from typing import Final

import numpy as np

from tradesbench_gym.company.refusals import window_text
from tradesbench_gym.core.codes import Activity, CallState
from tradesbench_gym.core.layout import DAY_SECONDS
from tradesbench_gym.envs.picture.palette import DIM, INK, NOW, PEOPLE, RULE, SHADE, STATES, WHITE
from tradesbench_gym.envs.picture.people import initials
from tradesbench_gym.envs.picture.sheet import Sheet
from tradesbench_gym.envs.wording import MARKS, Office, clock

_PAD: Final = 10
_NAMES: Final = 188
_HEADS: Final = 46
_LEGEND: Final = 26
_CHIP: Final = (37, 16)
_GAP: Final = 2
_STRIP: Final = 6
_LATE: Final = 0.5
"""Width of the time after the last window, as a part of a window's."""
_DOING: Final = {
    Activity.DRIVING: "drives to",
    Activity.WAITING: "waits at",
    Activity.WORKING: "works on",
}
_SPANS: Final = (
    ("departed", "arrived", CallState.DRIVING),
    ("arrived", "started", CallState.WAITING),
    ("started", "ended", CallState.WORKING),
)


_IN_HAND: Final = (CallState.DRIVING, CallState.WAITING, CallState.WORKING)


class _Hours:
    """Where a time of the day lies: windows are equally wide, what is between takes none."""

    def __init__(self, office: Office, left: int, right: int) -> None:
        windows = int(office.book["windows"])
        self.opens = office.book["opens"][:windows].tolist()
        self.closes = office.book["closes"][:windows].tolist()
        self.step = (right - left) / (windows + _LATE)
        self._left, self._right = left, right
        last = self.closes[-1]
        late = last + round((last - self.opens[-1]) * _LATE)
        edges = [(left + k * self.step, left + (k + 1) * self.step) for k in range(windows)]
        self._times = [t for pair in zip(self.opens, self.closes, strict=True) for t in pair]
        self._places = [x for pair in edges for x in pair]
        self._times.append(late)
        self._places.append(right)

    def column(self, window: int) -> tuple[int, int]:
        """Left and right edge of a window."""
        return round(self._left + window * self.step), round(self._left + (window + 1) * self.step)

    def at(self, second: int) -> int:
        """The place of a second of the day, within the board."""
        return round(float(np.interp(second, self._times, self._places)))


def draw_day(sheet: Sheet, office: Office) -> None:
    """Fill the panel."""
    sheet.clear()
    hours = _Hours(office, _PAD + _NAMES, sheet.width - _PAD)
    people = len(office.names)
    bottom = sheet.height - _LEGEND
    sheet.text((_PAD, 16), "Day board", 14, bold=True)
    sheet.text((_PAD, 36), "arrival window", 11, DIM)
    for window in range(len(hours.opens)):
        left, right = hours.column(window)
        said = window_text(office.business, window).replace(":00", "").replace("-", "–")
        sheet.text(((left + right) / 2, 36), said, 12, bold=True, anchor="m", room=right - left - 4)
    sheet.text((hours.column(len(hours.opens))[0] + 6, 36), "later", 12, DIM)
    rows = [round(_HEADS + (bottom - _HEADS) * k / people) for k in range(people + 1)]
    _grid(sheet, office, hours, rows)
    _now(sheet, office, hours, bottom)
    for technician in range(people):
        _row(sheet, office, hours, technician, (rows[technician], rows[technician + 1]))
    _legend(sheet, bottom + _LEGEND / 2)


def _grid(sheet: Sheet, office: Office, hours: _Hours, rows: list[int]) -> None:
    """The lines between rows and windows, and a shade where nobody may be booked."""
    for window in range(len(hours.opens)):
        left, right = hours.column(window)
        for technician, (top, bottom) in enumerate(pairwise(rows)):
            if not office.on_shift(technician, window):
                sheet.area((left, top, right, bottom), SHADE)
    for y in rows:
        sheet.line([(_PAD, y), (sheet.width - _PAD, y)], RULE)
    for window in range(len(hours.opens) + 1):
        x = hours.column(window)[0]
        sheet.line([(x, rows[0]), (x, rows[-1])], RULE)


def _row(
    sheet: Sheet, office: Office, hours: _Hours, technician: int, span: tuple[int, int]
) -> None:
    top, bottom = span
    middle, tone = (top + bottom) / 2, PEOPLE[technician]
    sheet.disc((_PAD + 11, middle), 11, tone)
    sheet.text(
        (_PAD + 11.5, middle), initials(office.names)[technician], 11, tone.ink,
        bold=True, anchor="m",
    )  # fmt: skip
    x, room = _PAD + 28, _NAMES - 34
    sheet.text((x, middle - 8), office.names[technician], 13, bold=True, room=room, least=11)
    sheet.text((x, middle + 8), _doing(office, technician), 11, DIM, room=room)
    jobs = office.visits(office.today, technician)
    for window in range(len(hours.opens)):
        left, right = hours.column(window)
        mine = [job for job in jobs if office.calls[job]["window"] == window]
        if not mine and not office.on_shift(technician, window):
            x = round((left + right) / 2)
            sheet.area((x - 11, round(middle) - 7, x + 12, round(middle) + 7), SHADE)
            sheet.text((x, middle), "off", 11, DIM, anchor="m")
        _chips(sheet, office, mine, (left + 2, top + 3, right - 1, bottom - _STRIP - 3))
    _strip(sheet, office, hours, jobs, bottom - 2)


def _doing(office: Office, technician: int) -> str:
    man = office.desk["technicians"][technician]
    since = clock(man["since"])
    if int(man["activity"]) in _DOING:
        return f"{_DOING[Activity(int(man['activity']))]} {int(man['job']) + 1} since {since}"
    home = (int(office.book["home_x"][technician]), int(office.book["home_y"][technician]))
    return "at home" if (int(man["x"]), int(man["y"])) == home else f"free since {since}"


def _chips(sheet: Sheet, office: Office, jobs: list[int], box: tuple[int, int, int, int]) -> None:
    """The jobs of a window, as many as there is room for, and how many more there are."""
    left, top, right, bottom = box
    wide, high = min(_CHIP[0], right - left), _CHIP[1]
    across = max(1, (right - left + _GAP) // (wide + _GAP))
    room = across * max(1, (bottom - top + _GAP) // (high + _GAP))
    if len(jobs) > room:  # what is in hand is not among those left out
        jobs = sorted(jobs, key=lambda job: int(office.calls[job]["state"]) not in _IN_HAND)
    shown = jobs if len(jobs) <= room else jobs[: room - 1]
    for place in range(len(shown) + (len(shown) < len(jobs))):
        down, along = divmod(place, across)
        x, y = left + along * (wide + _GAP), top + down * (high + _GAP)
        if place == len(shown):
            more = f"+{len(jobs) - len(shown)}"
            sheet.text((x + wide / 2, y + high / 2), more, 11, bold=True, anchor="m")
            continue
        state = CallState(int(office.calls[shown[place]]["state"]))
        said = f"{MARKS[state].sign}{shown[place] + 1}"
        sheet.chip((x, y, x + wide, y + high), said, STATES[state])


def _strip(sheet: Sheet, office: Office, hours: _Hours, jobs: list[int], bottom: int) -> None:
    for begin, end, state in _spans(office, jobs):
        left, right = hours.at(begin), hours.at(end)
        sheet.area((left, bottom - _STRIP, max(right, left + 1), bottom), STATES[state].fill)


def _spans(office: Office, jobs: list[int]) -> Iterator[tuple[int, int, CallState]]:
    """What a technician did today: seconds of the day, and the state of the job meanwhile."""
    midnight = office.today * DAY_SECONDS
    for job in jobs:
        call = office.calls[job]
        for first, last, state in _SPANS:
            begin, end = int(call[first]), int(call[last])
            if begin < 0 or (state == CallState.WAITING and _left_before_work(call)):
                continue
            until = end if end >= 0 else office.clock
            yield begin - midnight, until - midnight, state


def _left_before_work(call: np.void) -> bool:
    """Whether an appointment was over without work: nobody waits there any more."""
    return bool(call["started"] < 0 and call["ended"] >= 0)


def _now(sheet: Sheet, office: Office, hours: _Hours, bottom: int) -> None:
    x = hours.at(office.clock - office.today * DAY_SECONDS)
    sheet.line([(x, 24), (x, 28)], NOW, 2)  # not across the heads
    sheet.line([(x, _HEADS), (x, bottom)], NOW, 2)
    left = min(x - 24, sheet.width - _PAD - 48)
    sheet.area((left, 6, left + 48, 24), NOW)
    sheet.text((left + 24, 15), clock(office.clock), 13, WHITE, bold=True, anchor="m")


def _legend(sheet: Sheet, middle: float) -> None:
    x = _PAD
    for state, mark in MARKS.items():
        box = (x, round(middle) - 8, x + 20, round(middle) + 8)
        sheet.chip(box, mark.sign, STATES[state])
        x = sheet.text((x + 24, middle), mark.word, 12, INK) + 12
