"""The rows of the board: technicians by windows, who does what now, and the clock across them.

They read the office and decide nothing; what stands above and below them on the screen is
`rendering`'s matter. Every mark can be read without colour.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from rich.table import Table
from rich.text import Text

from tradesbench_gym.company.refusals import window_text
from tradesbench_gym.core.codes import Activity, CallState
from tradesbench_gym.core.layout import DAY_SECONDS
from tradesbench_gym.envs.wording import MARKS, Office, clock

WIDE_FROM = 96
"""Columns from which there is room for whole names."""
_MARK_WIDTH = 5
_CELL_LINES = 2
_DOING = {
    Activity.DRIVING: ("drives to", "cyan"),
    Activity.WAITING: ("waits at", "yellow"),
    Activity.WORKING: ("works on", "bold magenta"),
}


_MARKED = {
    Activity.DRIVING: CallState.DRIVING,
    Activity.WAITING: CallState.WAITING,
    Activity.WORKING: CallState.WORKING,
}


def line(*pieces: str | tuple[str, str] | Text, overflow: Any = "ellipsis") -> Text:
    """A text of one line, cut where the screen ends."""
    return Text.assemble(*pieces, no_wrap=True, overflow=overflow)


def today(office: Office, width: int, *, flat: bool) -> Table:
    """Technicians by windows: who does what now, the jobs of each window, the clock across them.

    Args:
        office: what there is to show.
        width: columns of the screen.
        flat: one line a technician instead of two.

    """
    windows = int(office.book["windows"])
    name = 24 if width >= WIDE_FROM else 19
    cell = (width - name) // windows - 1
    table = Table.grid(padding=(0, 1, 0, 0))
    table.add_column(width=name, no_wrap=True, overflow="ellipsis")
    for _ in range(windows):
        table.add_column(width=cell)
    heads = [
        Text(window_text(office.business, k).replace(":00", ""), "bold") for k in range(windows)
    ]
    table.add_row(Text("Today", "bold"), *heads)
    table.add_row(Text(f"now {clock(office.clock)}", "dim"), *_now_line(office, cell))
    for technician in range(len(office.names)):
        jobs = office.visits(office.today, technician)
        cells = [
            _cell(
                office,
                technician,
                window,
                [j for j in jobs if office.calls[j]["window"] == window],
                cell,
                1 if flat else _CELL_LINES,
            )
            for window in range(windows)
        ]
        who = _who(office, technician, width, name, flat=flat)
        table.add_row(who, *cells)
    return table


def _who(office: Office, technician: int, width: int, room: int, *, flat: bool) -> Text:
    """The name and what its bearer does, in one line or two."""
    full = office.names[technician]
    if flat:
        short = full if len(full) <= room - _MARK_WIDTH else office.firsts[technician]
        return Text.assemble((short, "bold"), " ", _at(office, technician), no_wrap=True)
    whole = full if width >= WIDE_FROM else full[:room]
    return Text.assemble((whole, "bold"), "\n", _doing(office, technician, width))


def _now_line(office: Office, cell: int) -> Iterator[Text]:
    now = office.clock - office.today * DAY_SECONDS
    for opens, closes in zip(
        office.book["opens"].tolist(), office.book["closes"].tolist(), strict=True
    ):
        if closes <= opens:
            return
        passed = min(cell, max(0, (now - opens) * cell // (closes - opens)))
        yield line(("━" * passed, "bold"), ("┄" * (cell - passed), "dim"))


def _cell(
    office: Office, technician: int, window: int, jobs: list[int], width: int, lines: int
) -> Text:
    if not jobs:
        off = not office.on_shift(technician, window)
        return Text("off" if off else "·", "dim")
    room = max(1, (width + 1) // _MARK_WIDTH) * lines
    shown = jobs if len(jobs) <= room else jobs[: room - 1]
    text = Text(no_wrap=False)
    for place, job in enumerate(shown):
        mark = MARKS[CallState(int(office.calls[job]["state"]))]
        text.append(" " if place else "").append(f"{mark.sign}{job + 1}", mark.style)
    if len(shown) < len(jobs):
        text.append(f" +{len(jobs) - len(shown)}", "bold")
    return text


def _doing(office: Office, technician: int, width: int) -> Text:
    man = office.desk["technicians"][technician]
    since = ("since " if width >= WIDE_FROM else "") + clock(man["since"])
    if int(man["activity"]) in _DOING:
        verb, style = _DOING[Activity(int(man["activity"]))]
        return line((f"{verb} {int(man['job']) + 1} {since}", style))
    home = (int(office.book["home_x"][technician]), int(office.book["home_y"][technician]))
    if (int(man["x"]), int(man["y"])) == home:
        return line(("at home", "dim"))
    return line((f"free {since}", "dim"))


def _at(office: Office, technician: int) -> Text:
    """What a technician does, in one mark."""
    man = office.desk["technicians"][technician]
    if int(man["activity"]) in _DOING:
        mark = MARKS[_MARKED[Activity(int(man["activity"]))]]
        return Text(f"{mark.sign}{int(man['job']) + 1}", mark.style)
    return Text("idle", "dim")


def legend() -> Text:
    """What each mark means."""
    pieces = [(f"{mark.sign} {mark.word}  ", mark.style) for mark in MARKS.values()]
    return line(*pieces)
