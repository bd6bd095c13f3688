"""The cash curve: what there was at each close, what there is now, where it began."""

from __future__ import annotations

from typing import Final

from tradesbench_gym.core.layout import DAY_SECONDS
from tradesbench_gym.envs.picture.palette import BLUE, DIM, INK, RULE, VERMILLION, WHITE, Tone
from tradesbench_gym.envs.picture.sheet import Sheet
from tradesbench_gym.envs.wording import Office, dollars

_STEPS: Final = (1, 2, 5)
_MOST_TICKS: Final = 6
_MOST_DAYS: Final = 15
_DOT: Final = Tone(BLUE, WHITE, BLUE)


def draw_cash(sheet: Sheet, office: Office) -> None:
    """Fill the panel."""
    sheet.clear()
    points = _points(office)
    start = int(office.book["starting_cash"]) / 100
    values = [start, 0.0, *(cash for _, cash in points)]
    ticks = _ticks(min(values), max(values))
    left, right, top, bottom = 62, sheet.width - 14, 30, sheet.height - 40

    def place(day: float, cash: float) -> tuple[float, float]:
        high = (cash - ticks[0]) / (ticks[-1] - ticks[0])
        across = day / office.business.days
        return left + across * (right - left), bottom - high * (bottom - top)

    sheet.text((10, 16), "Cash, dollars", 14, bold=True)
    lowest = f"lowest {dollars(int(office.desk['lowest']))}"
    sheet.text((right, 16), lowest, 12, DIM, anchor="r")
    for tick in ticks:
        y = place(0, tick)[1]
        sheet.line([(left, y), (right, y)], RULE)
        sheet.text((left - 6, y), _short(tick), 11, DIM, anchor="r")
    _days(sheet, office.business.days, left, right, bottom)
    zero = round(place(0, 0)[1])
    sheet.line([(left, zero), (right, zero)], VERMILLION, 2)
    began = round(place(0, start)[1])
    sheet.dashes((left, began), (right, began), DIM)
    places = [place(*point) for point in points]
    sheet.line(places, BLUE, 2)
    for spot in places[1:]:
        sheet.disc(spot, 3, _DOT)
    _legend(sheet, left, sheet.height - 10)


def _points(office: Office) -> list[tuple[float, float]]:
    """Days since the beginning and dollars: the start, each close, now."""
    found = [(0.0, int(office.book["starting_cash"]) / 100)]
    days = office.desk["days"]
    closed = 0
    for day in range(office.today + 1):
        if days[day]["closed_at"] >= 0:
            closed = day + 1
            found.append((float(closed), int(days[day]["cash"]) / 100))
    if closed <= office.today:
        second = office.clock - office.today * DAY_SECONDS
        found.append(
            (office.today + min(1.0, second / DAY_SECONDS), int(office.desk["cash"]) / 100)
        )
    return found


def _ticks(low: float, high: float) -> list[float]:
    """Round dollars from below the lowest to above the highest."""
    span, size = max(high - low, 1_000.0), 100.0
    while True:
        for part in _STEPS:
            step = part * size
            first, last = int(low // step), -int(-high // step)
            if span / step <= _MOST_TICKS and last - first <= _MOST_TICKS:
                return [step * k for k in range(first, max(last, first + 1) + 1)]
        size *= 10


def _short(value: float) -> str:
    """Dollars on an axis: `-$5k`, `$12.5k`, `$500`."""
    sign, size = "-" if value < 0 else "", abs(value)
    return f"{sign}${size / 1000:g}k" if size >= 1000 else f"{sign}${size:g}"


def _days(sheet: Sheet, days: int, left: int, right: int, bottom: int) -> None:
    every = -(-days // _MOST_DAYS)
    for day in range(0, days, every):
        x = left + (right - left) * (day + 0.5) / days
        sheet.text((x, bottom + 11), str(day + 1), 11, DIM, anchor="m")


def _legend(sheet: Sheet, left: int, y: int) -> None:
    x = sheet.text((10, y), "day", 11, DIM)
    sheet.line([(left, y), (left + 18, y)], BLUE, 2)
    x = sheet.text((left + 23, y), "close of day, now", 11, INK)
    sheet.dashes((x + 12, y), (x + 30, y), DIM)
    x = sheet.text((x + 35, y), "start", 11, INK)
    sheet.line([(x + 12, y), (x + 30, y)], VERMILLION, 2)
    sheet.text((x + 35, y), "bankrupt below", 11, INK)
