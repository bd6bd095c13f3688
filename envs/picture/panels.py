"""The panels that are words and numbers: the head, the line, the counts, the days ahead.

Each is a function that fills a sheet from what the office knows; where a panel lies is `painter`'s
matter.
"""

from __future__ import annotations

import numpy as np

from tradesbench_gym.core.codes import CallState, Condition, Phase
from tradesbench_gym.envs.picture import lettering
from tradesbench_gym.envs.picture.palette import (
    BAD,
    DIM,
    GOOD,
    HEAD,
    HEAD_DIM,
    INK,
    SKIES,
    VERMILLION,
    WHITE,
    Colour,
    Tone,
)
from tradesbench_gym.envs.picture.sheet import Sheet
from tradesbench_gym.envs.wording import Office, clock, dollars, happenings

PAD = 10
TITLE = 16
"""Height of the middle of a panel's title."""
_Count = tuple[str, int, Colour]
_ALARM = Tone(VERMILLION, INK, VERMILLION)
_LATELY = 3
_ROWS = (20, 45, 66)
"""Heights of the lines of the call."""
_MONEY = 156
"""Room for an amount in the head; a larger one takes more."""
_CONDITIONS = {kind: kind.name.lower().replace("_", " ") for kind in Condition}


def draw_head(sheet: Sheet, office: Office) -> None:
    """Company, date and time, day of the run, cash and profit."""
    sheet.clear(HEAD, None)
    business, middle = office.business, sheet.height // 2
    cash = int(office.desk["cash"])
    profit = cash - int(office.book["starting_cash"])
    x = sheet.text(
        (14, middle), business.scenario.company, 20, WHITE, bold=True, room=sheet.width - 850,
        least=13,
    )  # fmt: skip
    date = f"{business.date_of(office.today):%a %Y-%m-%d}"
    x = sheet.text((x + 26, middle), date, 16, HEAD_DIM)
    x = sheet.text((x + 12, middle), clock(office.clock), 20, WHITE, bold=True)
    sheet.text((x + 20, middle), f"day {office.today + 1} of {business.days}", 16, HEAD_DIM)
    right = sheet.width - 14
    for name, said in (("profit", dollars(profit, sign=True)), ("cash", dollars(cash))):
        sheet.text((right, middle), said, 20, WHITE, bold=True, anchor="r")
        right -= max(_MONEY, lettering.width(said, 20, bold=True) + 12)
        right = sheet.text((right, middle), name, 14, HEAD_DIM, anchor="r") - 66


def draw_line(sheet: Sheet, office: Office) -> None:
    """The call on the line, or what there is instead."""
    sheet.clear()
    call = office.desk.call
    if call is None:
        _without_call(sheet, office)
        return
    first, second, third = _ROWS
    x = sheet.text((PAD, first), "☎", 22, INK)
    x = sheet.text((x + 8, first), f"Call {int(office.desk['line']) + 1}", 18, INK, bold=True)
    if call["urgent"]:
        sheet.chip((x + 10, first - 11, x + 88, first + 11), "URGENT", _ALARM, 14)
        x += 88
    business, service = office.business, int(call["service"])
    others = " (not our work)" if service >= int(office.book["services"]) else ""
    wanted = f"wants {office.service(service)}{others}"
    sheet.text((x + 12, first), wanted, 16, INK, room=sheet.width - x - 12 - PAD, least=12)
    kind = business.scenario.customers[int(call["customer"])].label
    zone = business.roadmap.zones[int(call["zone"])].name
    room = sheet.width - 2 * PAD
    sheet.text((PAD, second), f"{kind} in {zone}", 14, INK, room=room, least=11)
    address = business.roadmap.address(int(call["address"])).text
    sheet.text((PAD, third), address, 14, DIM, room=room, least=11)


def _without_call(sheet: Sheet, office: Office) -> None:
    title, more, tint = "No call on the line", "", INK
    phoned = int(office.desk["phoned"])
    profit = int(office.desk["cash"]) - int(office.book["starting_cash"])
    if office.desk["bankrupt"]:
        title, tint = "BANKRUPT", BAD
        more = f"Cash fell below zero on day {office.today + 1}; the company is closed."
    elif office.desk["phase"] == Phase.ENDED:
        title = "The run has ended"
        more = f"The last day has closed; profit {dollars(profit, sign=True)}."
    elif phoned >= 0:
        title = f"Job {phoned + 1} is cancelled"
        more = "Its customer is on the line."
    sheet.text((PAD, _ROWS[0]), title, 18, tint, bold=True)
    sheet.text((PAD, _ROWS[1]), more, 14, DIM, room=sheet.width - 2 * PAD)


def draw_counts(sheet: Sheet, office: Office) -> None:
    """What became of calls and jobs so far, and the last things that happened."""
    sheet.clear()
    sheet.text((PAD, TITLE), "So far", 14, bold=True)
    states = office.calls["state"]
    count = {state: int(np.count_nonzero(states == state)) for state in CallState}
    booked = sum(count[state] for state in CallState if state >= CallState.BOOKED)
    open_ = sum(count[s] for s in CallState if CallState.BOOKED <= s <= CallState.WORKING)
    turned_away = count[CallState.REJECTED] + count[CallState.UNANSWERED]
    left: tuple[_Count, ...] = (
        ("calls", len(states), INK),
        ("booked", booked, INK),
        ("declined", count[CallState.DECLINED], INK),
        ("rejected", turned_away, INK),
    )
    right: tuple[_Count, ...] = (
        ("jobs done", count[CallState.DONE], GOOD),
        ("open", open_, INK),
        ("missed", count[CallState.MISSED], BAD),
        ("failed", count[CallState.FAILED], BAD),
        ("cancelled", count[CallState.CANCELLED], INK),
    )
    half = sheet.width // 2
    for x, column in ((PAD, left), (half + 6, right)):
        for number, (name, value, tint) in enumerate(column):
            y = 37 + 15 * number
            sheet.text((x, y), name, 12, DIM)
            shade = tint if value else DIM
            sheet.text((x + half - 26, y), f"{value:,}", 12, shade, bold=True, anchor="r")
    _lately(sheet, office, 119)


def _lately(sheet: Sheet, office: Office, top: int) -> None:
    sheet.text((PAD, top), "Lately", 14, bold=True)
    for number, happened in enumerate(sorted(happenings(office))[-_LATELY:]):
        y = top + 18 + 16 * number
        sheet.text((PAD, y), clock(happened.at), 12, DIM)
        service = office.service(int(office.calls[happened.job]["service"]))
        said = f"{happened.job + 1} {happened.word}, {service}"
        sheet.text((PAD + 42, y), said, 12, room=sheet.width - 42 - 2 * PAD)


def draw_sky(sheet: Sheet, office: Office) -> None:
    """Today's and the next days' weather: the commonest in the ten zones, and the span of highs."""
    sheet.clear()
    said, zones = office.desk["forecast"], len(office.business.roadmap.zones)
    sheet.text((PAD, TITLE), "Weather: the sky of most zones, highs in °F", 14, bold=True)
    days = said["condition"].shape[0]
    step = (sheet.width - 2 * PAD) / days
    for ahead in range(days):
        kinds = said["condition"][ahead, :zones]
        highs = said["high"][ahead, :zones]
        commonest = Condition(int(np.bincount(kinds).argmax()))
        left, right = round(PAD + ahead * step), round(PAD + (ahead + 1) * step) - 3
        date = office.business.date_of(office.today + ahead)
        head = "today" if ahead == 0 else f"{date:%a %d}"
        middle = (left + right) / 2
        sheet.text((middle, 37), head, 12, INK, bold=ahead == 0, anchor="m")
        sheet.area((left, 47, right, 82), SKIES[commonest], DIM)
        words = _CONDITIONS[commonest].split()
        for number, part in enumerate(words):
            y = 64 + 13 * number - 6.5 * (len(words) - 1)
            sheet.text((middle, y), part, 12, INK, anchor="m")
        low, high = int(highs.min()), int(highs.max())
        span = f"{low}" if low == high else f"{low}–{high}"
        sheet.text((middle, 92), span, 12, INK, anchor="m", room=right - left)
