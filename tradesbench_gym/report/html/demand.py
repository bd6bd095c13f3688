"""The figures about callers: how many there were and what became of them, and whether they took
what was offered, beside what the scenario's own rules say, which nobody who plays can see.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence
from typing import Any, NamedTuple

from tradesbench_gym.core.codes import CallState
from tradesbench_gym.core.layout import DAY_SECONDS
from tradesbench_gym.report.html.facts import Call, Offer, Run
from tradesbench_gym.report.html.money import day_axis
from tradesbench_gym.report.html.palette import (
    EDGE,
    FATES,
    VERMILLION,
    Figure,
    lines,
    marker,
)
from tradesbench_gym.report.html.words import date_of

TRUTH = "scenario's truth"
_BINS = ((0, 1), (1, 2), (2, 3), (3, 5), (5, 8), (8, 15))
_WAITS = ("same day", "next day", "later")
_Z = 1.959964
_SCALE = 2.0**64
_POINTS = 57
_COUNTS_AT = 1.12


def demand_figure(run: Run) -> Figure:
    """New-job calls of each day by what became of them, and the hidden level they come from."""
    days = [day.number for day in run.days]
    fates = Counter((call.at // DAY_SECONDS, _fate(call)) for call in run.calls)
    data: list[dict[str, Any]] = []
    for fate, look in FATES.items():
        counts = [fates[day, fate] for day in days]
        if any(counts):
            texts = [
                lines(date_of(run, day), f"{look.word}: <b>{count}</b>")
                for day, count in zip(days, counts, strict=True)
            ]
            data.append(
                {"type": "bar", "name": look.word, "marker": marker(look), "x": days, "y": counts,
                 "text": texts, "textposition": "none", "hovertemplate": "%{text}<extra></extra>"}
            )  # fmt: skip
    levels = [day.level for day in run.days]
    data.append(
        {
            "type": "scatter",
            "mode": "lines+markers",
            "name": TRUTH,
            "line": {"color": VERMILLION, "dash": "dash", "width": 2},
            "marker": {"color": VERMILLION, "size": 5},
            "x": days,
            "y": levels,
            "text": [
                lines(date_of(run, day), f"{TRUTH}: demand level <b>{level:.1f}</b>")
                for day, level in zip(days, levels, strict=True)
            ],
            "hovertemplate": "%{text}<extra></extra>",
        }
    )
    layout = {
        "height": 340,
        "barmode": "stack",
        "xaxis": {**day_axis(run), "title": {"text": "day of the call"}},
        "yaxis": {"title": {"text": "new-job calls"}, "rangemode": "tozero"},
    }
    return {"data": data, "layout": layout}


def _fate(call: Call) -> CallState:
    if CallState.BOOKED <= call.state <= CallState.WORKING or call.state == CallState.RINGING:
        return CallState.BOOKED
    return call.state


class Share(NamedTuple):
    """How many of some offers were accepted: `of` is all of them, `at` where they stand."""

    at: float
    word: str
    accepted: int
    of: int

    @property
    def interval(self) -> tuple[float, float]:
        """Wilson's 95 % interval of the share."""
        return wilson(self.accepted, self.of)


def wilson(accepted: int, of: int) -> tuple[float, float]:
    """Wilson's 95 % interval of a share.

    >>> tuple(round(end, 3) for end in wilson(5, 10))
    (0.237, 0.763)
    """
    share, square = accepted / of, _Z * _Z
    centre = (share + square / (2 * of)) / (1 + square / of)
    spread = math.sqrt(share * (1 - share) / of + square / (4 * of * of)) * _Z / (1 + square / of)
    return max(0.0, centre - spread), min(1.0, centre + spread)


def routine_figure(run: Run) -> Figure:
    """Offers to routine callers by lead; installations offered late follow a rule of their own."""
    offers = [o for o in _offers(run, urgent=False) if not o.late_installation]
    shares = []
    for low, high in _BINS:
        part = [o for o in offers if low <= o.lead / DAY_SECONDS < high]
        if part:
            mean = sum(offer.lead for offer in part) / len(part) / DAY_SECONDS
            word = f"{low} to {high} days ahead"
            shares.append(Share(mean, word, sum(o.accepted for o in part), len(part)))
    thresholds = run.business.params[0]["accept"][0]
    most = max((offer.lead / DAY_SECONDS for offer in offers), default=7.0)
    leads = [max(1.0, most) * point / (_POINTS - 1) for point in range(_POINTS)]
    truth = [float(thresholds[int(lead * 1440)]) / _SCALE for lead in leads]
    figure = _acceptance(shares, leads, truth)
    figure["layout"]["xaxis"] = {
        "title": {"text": "lead: from the call to the window's start (days)"},
        "range": [-0.3, max(1.0, most) + 0.3],
    }
    return figure


def urgent_figure(run: Run) -> Figure:
    """Offers to urgent callers by the day they were offered."""
    waits: dict[int, list[bool]] = {}
    for call in run.calls:
        if call.urgent and call.offer is not None:
            wait = min(call.offer.day - call.at // DAY_SECONDS, len(_WAITS) - 1)
            waits.setdefault(wait, []).append(call.offer.accepted)
    shares = [Share(w, _WAITS[w], sum(of), len(of)) for w, of in sorted(waits.items())]
    chances = [float(one) / _SCALE for one in run.business.params[0]["accept_urgent"]]
    figure = _acceptance(shares, [0, 1, 2], chances)
    figure["data"][0].update(mode="markers", marker={
        "symbol": "line-ew", "size": 34, "line": {"color": VERMILLION, "width": 2.5}})  # fmt: skip
    figure["layout"]["xaxis"] = {
        "title": {"text": "day offered"},
        "tickvals": [0, 1, 2],
        "ticktext": list(_WAITS),
        "range": [-0.6, 2.6],
    }
    return figure


def _offers(run: Run, *, urgent: bool) -> list[Offer]:
    return [c.offer for c in run.calls if c.offer is not None and c.urgent == urgent]


def _acceptance(shares: Sequence[Share], at: Sequence[float], truth: Sequence[float]) -> Figure:
    rule = {
        "type": "scatter",
        "mode": "lines",
        "line": {"color": VERMILLION, "dash": "dash", "width": 2},
        "x": list(at),
        "y": list(truth),
        "hovertemplate": f"{TRUTH}: %{{y:.0%}}<extra></extra>",
    }
    counts = {
        "type": "scatter",
        "mode": "text",
        "x": [share.at for share in shares],
        "y": [_COUNTS_AT] * len(shares),
        "text": [f"{share.accepted}/{share.of}" for share in shares],
        "hoverinfo": "skip",
    }
    layout = {
        "height": 300,
        "yaxis": {"title": {"text": "offers accepted (%)"}, "tickformat": ".0%",
                  "range": [-0.04, 1.2], "tickvals": [0, 0.25, 0.5, 0.75, 1]},
    }  # fmt: skip
    return {"data": [rule, _seen(shares), counts], "layout": layout}


def _seen(shares: Sequence[Share]) -> dict[str, Any]:
    """The shares that were seen, with their intervals."""
    ends = [share.interval for share in shares]
    rates = [share.accepted / share.of for share in shares]
    return {
        "type": "scatter",
        "mode": "markers",
        "x": [share.at for share in shares],
        "y": rates,
        "error_y": {
            "type": "data", "symmetric": False, "color": EDGE, "thickness": 1.5, "width": 5,
            "array": [high - rate for (_, high), rate in zip(ends, rates, strict=True)],
            "arrayminus": [rate - low for (low, _), rate in zip(ends, rates, strict=True)],
        },
        "marker": {"size": 10},
        "customdata": [
            lines(
                share.word,
                f"accepted {share.accepted} of {share.of}: <b>{rate:.0%}</b>",
                f"95 % interval {low:.0%} to {high:.0%}",
            )
            for share, rate, (low, high) in zip(shares, rates, ends, strict=True)
        ],
        "hovertemplate": "%{customdata}<extra></extra>",
    }  # fmt: skip
