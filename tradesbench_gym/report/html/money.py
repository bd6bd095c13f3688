"""The figures about money: cash as it went, and each day's ledger by kind of entry."""

from __future__ import annotations

from collections import defaultdict
from typing import Any

from tradesbench_gym.report.html.facts import Run
from tradesbench_gym.report.html.palette import (
    ENTRIES,
    VERMILLION,
    Figure,
    lines,
    marker,
)
from tradesbench_gym.report.html.words import date_of, moment_of, money, stamp_of

_CENTS = 100
_HALF_DAY_MS = 12 * 3_600_000
_TICKS = [
    {"dtickrange": [None, _HALF_DAY_MS], "value": "%H:%M<br>%-d %b"},
    {"dtickrange": [_HALF_DAY_MS + 1, None], "value": "%-d %b"},
]


def cash_figure(run: Run) -> Figure:
    """Cash after every moment in which it changed, from the start of the run to where it stands."""
    at = [0, *dict.fromkeys(payment.at for payment in run.payments)]
    change: dict[int, int] = defaultdict(int)
    for payment in run.payments:
        change[payment.at] += payment.cents
    cash, course = run.starting_cash, [run.starting_cash]
    for moment in at[1:]:
        cash += change[moment]
        course.append(cash)
    if run.clock > at[-1]:
        at.append(run.clock)
        course.append(cash)
    trace = {
        "type": "scatter",
        "mode": "lines",
        "line": {"shape": "hv", "width": 2},
        "x": [stamp_of(run, moment) for moment in at],
        "y": [cents / _CENTS for cents in course],
        "text": [
            lines(moment_of(run, moment), f"<b>{money(cents)}</b>")
            for moment, cents in zip(at, course, strict=True)
        ],
        "hovertemplate": "%{text}<extra></extra>",
    }
    start = run.starting_cash / _CENTS
    layout: dict[str, Any] = {
        "height": 300,
        "xaxis": {
            "type": "date",
            "title": {"text": "date and time"},
            "tickformatstops": _TICKS,
        },
        "yaxis": {"title": {"text": "cash ($)"}, "tickformat": "$~s"},
        "shapes": [
            _level(start, "dot"),
            *([_level(0, "solid")] if min(course) < start / 4 else []),
        ],
    }
    if run.bankrupt:
        layout["annotations"] = [_bankrupt(run, at[-1], course[-1])]
    return {"data": [trace], "layout": layout}


def _level(dollars: float, dash: str) -> dict[str, Any]:
    line = {"color": VERMILLION if dollars == 0 else "#8b929b", "width": 1, "dash": dash}
    ends = {"x0": 0, "x1": 1, "xref": "paper", "y0": dollars, "y1": dollars}
    return {"type": "line", "layer": "below", "line": line, **ends}


def _bankrupt(run: Run, at: int, cents: int) -> dict[str, Any]:
    return {
        "x": stamp_of(run, at),
        "y": cents / _CENTS,
        "text": "bankrupt",
        "font": {"color": VERMILLION},
        "arrowcolor": VERMILLION,
        "ax": -40,
        "ay": -30,
    }


def ledger_figure(run: Run) -> Figure:
    """What each service day brought and cost, by kind of entry, and the day's sum."""
    sums: dict[tuple[int, int], int] = defaultdict(int)
    for payment in run.payments:
        sums[payment.day, payment.entry] += payment.cents
    days = [day.number for day in run.days]
    data = []
    for entry, look in ENTRIES.items():
        of_days = [sums[day, entry] for day in days]
        if any(of_days):
            bars = {"type": "bar", "marker": marker(look), "textposition": "none"}
            data.append({**bars, **_by_day(run, days, of_days, look.word)})
    net = [sum(cents for (day, _), cents in sums.items() if day == number) for number in days]
    white = {"symbol": "diamond", "size": 9, "color": "#ffffff"}
    dots = {
        "type": "scatter",
        "mode": "markers",
        "marker": {**white, "line": {"color": "#22282f", "width": 1.5}},
    }
    data.append({**dots, **_by_day(run, days, net, "the day's sum")})
    layout = {
        "height": 340,
        "barmode": "relative",
        "xaxis": day_axis(run),
        "yaxis": {"title": {"text": "money in and out ($ a day)"}, "tickformat": "$~s",
                  "zeroline": True},
    }  # fmt: skip
    return {"data": data, "layout": layout}


def _by_day(run: Run, days: list[int], cents: list[int], word: str) -> dict[str, Any]:
    """What all traces of the ledger have in common."""
    return {
        "name": word,
        "x": days,
        "y": [amount / _CENTS for amount in cents],
        "text": [
            lines(date_of(run, day), f"{word}: <b>{money(amount)}</b>")
            for day, amount in zip(days, cents, strict=True)
        ],
        "hovertemplate": "%{text}<extra></extra>",
    }


def day_axis(run: Run) -> dict[str, Any]:
    """An axis of service days; the page leaves out dates for which there is no room."""
    days = [day.number for day in run.days]
    dates = [run.business.date_of(day) for day in days]
    return {
        "title": {"text": "service day"},
        "tickvals": days,
        "ticktext": [f"{date:%a}<br>{date.day} {date:%b}" for date in dates],
        "tickangle": 0,
        "range": [-0.6, max(days, default=0) + 0.6],
    }
