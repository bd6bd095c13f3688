"""The board: one screen that shows a run as the office sees it, for `render()` and the live view.

It reads DESK and the public words of the business (names, addresses, the handbook) and nothing of
the run behind them, so that two runs that differ only in hidden state look the same. It knows no
rule and decides nothing. Every mark can be read without colour.
"""

from __future__ import annotations

from collections.abc import Iterator
from io import StringIO

import numpy as np
from rich.console import Console, ConsoleOptions, Group, RenderableType, RenderResult
from rich.table import Table
from rich.text import Text

from tradesbench_gym.company.business import Business
from tradesbench_gym.company.refusals import window_text
from tradesbench_gym.core.codes import CallState, Condition, Phase
from tradesbench_gym.core.view import Desk
from tradesbench_gym.envs.rows import WIDE_FROM, legend, line, today
from tradesbench_gym.envs.wording import Office, clock, dollars, happenings

ANSI_WIDTH = 100
NARROWEST = 72
RECENT = 4
FULL_HEIGHT = 29
"""Lines of the board of four technicians with everything on it."""
_RULES = 3
_LINES_A_PERSON = 3
_DAYS = ("Mo", "Tu", "We", "Th", "Fr", "Sa", "Su")


_SKY_STYLES = {
    Condition.EXTREME_HEAT: "bold red",
    Condition.HOT: "yellow",
    Condition.STORM: "bold magenta",
    Condition.RAIN: "cyan",
    Condition.WIND: "cyan",
}


def show(business: Business, desk: Desk, mode: str) -> str | None:
    """The board as text with ANSI colours (mode "ansi"), or printed to the terminal ("human")."""
    drawn = board(business, desk)
    if mode == "ansi":
        page = Console(
            file=StringIO(),
            width=ANSI_WIDTH,
            force_terminal=True,
            color_system="standard",
            legacy_windows=False,
        )
        with page.capture() as captured:
            page.print(drawn)
        return captured.get()
    screen = Console()
    if screen.encoding.startswith("utf"):
        screen.print(drawn)
    else:  # an old terminal: a sign it lacks becomes a question mark, not an error
        with screen.capture() as captured:
            screen.print(drawn)
        text = captured.get().encode(screen.encoding, "replace").decode(screen.encoding)
        screen.file.write(text)
    return None


def board(business: Business, desk: Desk, height: int | None = None) -> RenderableType:
    """Everything on one screen, for as many columns as there are (from 72 on).

    Args:
        business: of the run.
        desk: what a dispatcher may know now; it is copied.
        height: lines there are, if the board is to make do with them.

    """
    return _Board(business, desk, height)


class _Board:
    """The board as rich draws it: laid out for the console's width at that moment."""

    def __init__(self, business: Business, desk: Desk, height: int | None) -> None:
        self._office = Office(business, desk)
        self._height = height

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        width = max(NARROWEST, options.max_width)
        page = Group(*_parts(self._office, width, self._height))
        yield from console.render(page, options.update(width=width))


def _parts(office: Office, width: int, height: int | None) -> Iterator[RenderableType]:
    """The board from top to bottom. A low terminal goes without rules, then without old news, then
    with one line a technician, at last without the days ahead.
    """
    people = len(office.names)
    full = FULL_HEIGHT + _LINES_A_PERSON * max(0, people - 4)
    missing = 0 if height is None else max(0, full - height)
    flat = missing > _RULES + RECENT
    bare = missing > _RULES + RECENT + people
    saved = _RULES + people * flat + (people + 2) * bare
    rule = [] if missing else [Text("─" * width, style="dim", no_wrap=True)]
    yield _header(office, width)
    yield from _on_the_line(office)
    yield from rule
    yield today(office, width, flat=flat)
    yield legend()
    yield from rule
    if not bare:
        yield _ahead_and_sky(office, width)
        yield from rule
    yield from _counts(office)
    yield from _recent(office, min(RECENT, max(0, RECENT + saved - missing)))


def _header(office: Office, width: int) -> RenderableType:
    business, desk = office.business, office.desk
    wide = width >= WIDE_FROM
    cut = None if wide else -len(".00")
    cash = int(desk["cash"])
    profit = cash - int(office.book["starting_cash"])
    left = line(
        (business.scenario.company, "bold"),
        f"  {business.date_of(office.today):%a %Y-%m-%d} ",
        (clock(office.clock), "bold"),
        "  ",
        _day_or_end(office, wide=wide),
    )
    right = line(
        "cash ",
        (dollars(cash)[:cut], "bold red" if cash < 0 else "bold"),
        "  profit ",
        (dollars(profit, sign=True)[:cut], "red" if profit < 0 else "green"),
    )
    head = Table.grid(expand=True)
    head.width = width
    head.add_column(ratio=1, no_wrap=True)
    head.add_column(justify="right", no_wrap=True)
    head.add_row(left, right)
    return head


def _day_or_end(office: Office, *, wide: bool) -> Text:
    if office.desk["bankrupt"]:
        return Text("BANKRUPT", "bold red")
    if office.desk["phase"] == Phase.ENDED:
        return Text("run ended", "bold")
    between = " of " if wide else "/"
    return Text(f"day {office.today + 1}{between}{office.business.days}")


def _on_the_line(office: Office) -> Iterator[Text]:
    call = office.desk.call
    if call is None:
        phoned = int(office.desk["phoned"])
        if phoned < 0:
            yield line(("☎ no call on the line", "dim"))
        else:
            yield line(("☎ ", "bold"), f"the customer of job {phoned + 1} cancels it")
        yield Text("")
        return
    number, service = f"☎ call {int(office.desk['line']) + 1} ", int(call["service"])
    yield line(
        (number, "bold"),
        ("URGENT ", "bold red") if call["urgent"] else "",
        (office.service(service), "bold"),
        (" (not our work)", "dim") if service >= office.book["services"] else "",
        f" · {office.business.scenario.customers[int(call['customer'])].label}",
    )
    zone = office.business.roadmap.zones[int(call["zone"])].name
    address = office.business.roadmap.address(int(call["address"])).text
    yield line(" " * len(number), f"{zone} · {address}")


def _ahead_and_sky(office: Office, width: int) -> Table:
    grid = Table.grid(padding=(0, 3, 0, 0))
    grid.width = width
    grid.add_column(no_wrap=True)
    grid.add_column(ratio=1)
    grid.add_row(_ahead(office), _Clipped(_sky(office, width), 2 + len(office.names)))
    return grid


def _ahead(office: Office) -> Table:
    """How many jobs each technician has booked on each of the next days."""
    days = range(office.today + 1, office.today + int(office.book["booking_days"]))
    table = Table.grid(padding=(0, 1, 0, 0))
    table.add_column(min_width=max(map(len, office.firsts)), no_wrap=True)
    for _ in days:
        table.add_column(width=2, justify="right")
    dates = [office.business.date_of(day) for day in days]
    last = office.business.days
    styles = ["bold" if day < last else "dim" for day in days]
    heads = zip(dates, styles, strict=True)
    table.add_row(
        Text("Ahead", "bold"),
        *(Text(f"{_DAYS[date.weekday()]}\n{date.day:2}", style) for date, style in heads),
    )
    waiting = office.calls[office.calls["state"] == CallState.BOOKED]
    for technician, name in enumerate(office.firsts):
        mine = waiting["day"][waiting["technician"] == technician]
        counts = [int(np.count_nonzero(mine == day)) for day in days]
        table.add_row(
            name, *(Text(str(n), _load_style(n)) if n else Text("·", "dim") for n in counts)
        )
    return table


def _load_style(jobs: int) -> str:
    if jobs >= 5:
        return "bold red"
    return "yellow" if jobs >= 3 else "default"


def _sky(office: Office, width: int) -> Text:
    """Today's weather with its highs: where it is unlike most zones, and then elsewhere."""
    zones = office.business.roadmap.zones
    names = [zone.name if width >= WIDE_FROM else zone.name.partition("/")[0] for zone in zones]
    said = office.desk["forecast"]
    today, high_today = (said[name][0, : len(zones)] for name in ("condition", "high"))
    under = {sky: np.flatnonzero(today == sky).tolist() for sky in Condition}
    text = Text.assemble(("Weather today", "bold"))
    for sky in sorted(under, key=lambda sky: len(under[sky])):
        if not under[sky]:
            continue
        highs = high_today[under[sky]]
        low, high = int(highs.min()), int(highs.max())
        span = f"{low}" if low == high else f"{low}-{high}"
        word = sky.name.lower().replace("_", " ")
        text.append(f"\n{word} {span}°F ", _SKY_STYLES.get(sky, "default"))
        most = sky == max(under, key=lambda sky: len(under[sky]))
        few = "everywhere" if len(under[sky]) == len(zones) else "elsewhere"
        text.append(few if most else ", ".join(names[zone] for zone in under[sky]), "dim" * most)
    return text


class _Clipped:
    """Text of at most so many lines."""

    def __init__(self, text: Text, lines: int) -> None:
        self._text = text
        self._lines = lines

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        wrapped = self._text.wrap(console, options.max_width)
        if len(wrapped) > self._lines:
            last = wrapped[self._lines - 1]
            last.truncate(options.max_width - 2)
            last.append(" …")
        yield from wrapped[: self._lines]


def _counts(office: Office) -> Iterator[Text]:
    states = office.calls["state"]
    count = {state: int(np.count_nonzero(states == state)) for state in CallState}
    jobs = sum(count[state] for state in CallState if state >= CallState.BOOKED)
    to_come = sum(count[s] for s in CallState if CallState.BOOKED <= s <= CallState.WORKING)
    missed, failed = count[CallState.MISSED], count[CallState.FAILED]
    yield line(
        ("Calls ", "bold"),
        f"{len(states)} so far: {jobs} booked, {count[CallState.DECLINED]} declined, ",
        f"{count[CallState.REJECTED] + count[CallState.UNANSWERED]} rejected",
    )
    yield line(
        ("Jobs  ", "bold"),
        (f"{count[CallState.DONE]} done", "green"),
        f", {to_come} open, ",
        (f"{missed} missed", "red" if missed else ""),
        ", ",
        (f"{failed} failed", "red" if failed else ""),
        f", {count[CallState.CANCELLED]} cancelled; ",
        f"lowest cash {dollars(int(office.desk['lowest']))}",
    )


def _recent(office: Office, lines: int) -> Iterator[Text]:
    """The last things that happened, read off the times that DESK keeps of every call."""
    last = sorted(happenings(office))[-lines:] if lines else []
    for happening in last:
        call = office.calls[happening.job]
        detail = f"  {office.service(int(call['service']))}"
        if call["day"] >= 0 and happening.word != "rejected":
            day = office.business.date_of(int(call["day"]))
            window = window_text(office.business, int(call["window"]))
            detail += f", {office.firsts[int(call['technician'])]}, {day:%a %d} {window}"
        if happening.word == "done":
            detail += f", {dollars(int(call['invoice']))}"
        yield line(
            (f"{clock(happening.at)} ", "dim"),
            f"{happening.job + 1:>3} ",
            (f"{happening.word:<9}", happening.style),
            detail,
        )
    for _ in range(lines - len(last)):
        yield Text("")
