"""The calendar: one figure a service day, technicians by time, with promises, drives and work.

Each technician has a band. In its upper half lie drives (thin), waits and work (thick, numbered);
below it, each job's promised window as a bracket in the colour of what became of the job.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final, NamedTuple

from tradesbench_gym.core.codes import CallState, Condition
from tradesbench_gym.core.layout import DAY_SECONDS
from tradesbench_gym.core.rules.calendar import off_hours
from tradesbench_gym.report.html.facts import Call, Doing, Run, Stretch, clock_of
from tradesbench_gym.report.html.palette import (
    DOINGS,
    EDGE,
    STATES,
    Figure,
    Look,
    lines,
    marker,
    said,
)
from tradesbench_gym.report.html.words import (
    HOUR,
    customer_of,
    length,
    moment_of,
    money,
    service_of,
    technician_of,
    window_of,
    zone_of,
)

_TOP = 0.22
_THICK, _THIN = 0.42, 0.16
_FIRST_LANE, _LAST_LANE = -0.1, -0.42
_ROW_PX, _FRAME_PX = 96, 76
_SIGN_AT = (0.5, 0.25, 0.75)
_SIGN_MINUTES = 17
_UNWORKED = (CallState.MISSED, CallState.CANCELLED, CallState.BOOKED)
_MINUTE = 60
_NOTHING: Final = {
    "text": "No job was booked for this day.",
    "xref": "paper",
    "yref": "paper",
    "x": 0.03,
    "y": 0.97,
    "xanchor": "left",
    "showarrow": False,
}
_ROADS_SLOWED = (Condition.RAIN, Condition.STORM, Condition.WIND, Condition.EXTREME_HEAT)


def day_figure(run: Run, day: int) -> Figure:
    """The calendar of one service day."""
    men = len(run.business.scenario.technicians)
    jobs = {call.number: call for call in run.jobs_on(day)}
    stretches = [one for one in run.stretches_on(day) if one.job in jobs]
    data = [*_drives_and_waits(run, day, stretches, jobs), *_work(run, day, stretches, jobs)]
    data += _promises(run, day, list(jobs.values()))
    data += _signs(run, day, list(jobs.values()))
    low, high = _reach(run, day, stretches)
    hours = range(-(-low // 120) * 120, high + 1, 120)
    names = [said(technician_of(run, man)) for man in range(men)]
    layout: dict[str, Any] = {
        "height": _FRAME_PX + _ROW_PX * men,
        "barmode": "overlay",
        "xaxis": {
            "range": [low, high],
            "tickvals": list(hours),
            "ticktext": [f"{hour // 60 % 24:02}:00" for hour in hours],
            "title": {"text": "time of day"},
            "tickangle": 0,
        },
        "yaxis": {
            "range": [men - 0.45, -0.55],
            "tickvals": list(range(men)),
            "ticktext": names,
            "title": {"text": "technician"},
            "showgrid": False,
        },
        "shapes": [*_windows(run, day), *_rules(men), *_now(run, day)],
    }
    if not jobs:
        layout["annotations"] = [_NOTHING]
    return {"data": data, "layout": layout}


def _minutes(day: int, moment: int) -> float:
    return round((moment - day * DAY_SECONDS) / _MINUTE, 1)


def _reach(run: Run, day: int, stretches: Sequence[Stretch]) -> tuple[int, int]:
    """First and last minute of the day shown: the windows, and whatever lies outside them."""
    opens = min(window[0] for window in run.windows) // _MINUTE
    closes = max(window[1] for window in run.windows) // _MINUTE
    last = max([_minutes(day, one.end) for one in stretches], default=0.0)
    return opens - 75, max(closes + 45, int(last) + 20)


def hover_of(run: Run, call: Call) -> str:
    """What is said of a job wherever it is pointed at."""
    job = call.job
    if job is None:
        return ""
    look = STATES[call.state] if call.state in STATES else STATES[CallState.BOOKED]
    ending = f" {clock_of(call.ended)}" if call.ended is not None else ""
    paid = f"invoice {money(call.invoice)}" if call.state == CallState.DONE else ""
    return lines(
        f"<b>job {call.number}</b> {look.sign} {look.word}{ending}",
        f"{said(service_of(run, call))}, {said(customer_of(run, call))}",
        f"{said(technician_of(run, job.technician))}, promised {window_of(run, job.window)}",
        f"booked {moment_of(run, call.at)}, {said(zone_of(run, call))}",
        paid,
    )


def hover_of_stretch(stretch: Stretch) -> str:
    """What is said of a drive, a wait or work."""
    until = clock_of(stretch.end) if stretch.over else "still going on"
    span = f"{clock_of(stretch.start)}–{until}, {length(stretch.end - stretch.start)}"
    if stretch.doing is Doing.DRIVE:
        sky = stretch.sky.name.lower().replace("_", " ")
        slowed = f", {sky}" if stretch.sky in _ROADS_SLOWED else ""
        return f"drive {span}, {stretch.metres / 1000:.1f} km{slowed}"
    return f"{'work' if stretch.doing is Doing.WORK else 'waits for the window'} {span}"


def _bars(
    run: Run, day: int, stretches: Sequence[Stretch], jobs: dict[int, Call], look: Look, size: float
) -> dict[str, Any]:
    return {
        "type": "bar",
        "orientation": "h",
        "name": look.word,
        "marker": marker(look),
        "width": size,
        "y": [one.technician - _TOP for one in stretches],
        "base": [_minutes(day, one.start) for one in stretches],
        "x": [round((one.end - one.start) / _MINUTE, 1) for one in stretches],
        "customdata": [
            lines(hover_of_stretch(one), hover_of(run, jobs[one.job])) for one in stretches
        ],
        "hovertemplate": "%{customdata}<extra></extra>",
    }


def _drives_and_waits(
    run: Run, day: int, stretches: Sequence[Stretch], jobs: dict[int, Call]
) -> list[dict[str, Any]]:
    data = []
    for doing, look in DOINGS.items():
        mine = [one for one in stretches if one.doing is doing]
        if mine:
            data.append(_bars(run, day, mine, jobs, look, _THIN))
    return data


def _work(
    run: Run, day: int, stretches: Sequence[Stretch], jobs: dict[int, Call]
) -> list[dict[str, Any]]:
    data = []
    for state, look in STATES.items():
        mine = [
            one for one in stretches if one.doing is Doing.WORK and jobs[one.job].state == state
        ]
        if not mine:
            continue
        ink = "#ffffff" if state in (CallState.DONE, CallState.MISSED) else "#14181d"
        bars = _bars(run, day, mine, jobs, look, _THICK)
        bars |= {
            "text": [str(one.job) for one in mine],
            "textposition": "inside",
            "insidetextanchor": "middle",
            "textangle": 0,
            "textfont": {"color": ink, "size": 11},
        }
        data.append(bars)
    return data


class _Lane(NamedTuple):
    """Where a job's bracket lies below its technician's line, and where its sign stands on it."""

    below: float
    share: float


def _lanes(jobs: Sequence[Call]) -> dict[int, _Lane]:
    """A lane for each job, so that no bracket and no sign covers another."""
    lanes: dict[int, _Lane] = {}
    groups: dict[tuple[int, int], list[Call]] = {}
    for call in jobs:
        if call.job is not None:
            groups.setdefault((call.job.technician, call.job.window), []).append(call)
    most = max(map(len, groups.values()), default=1)
    step = (_LAST_LANE - _FIRST_LANE) / max(3, most - 1)
    for group in groups.values():
        for place, call in enumerate(sorted(group, key=lambda one: one.number)):
            share = _SIGN_AT[place % len(_SIGN_AT)]
            lanes[call.number] = _Lane(_FIRST_LANE + step * place, share)
    return lanes


def _promises(run: Run, day: int, jobs: Sequence[Call]) -> list[dict[str, Any]]:
    """The brackets, in one trace a state; those without work to show leave room for a sign."""
    lanes, data = _lanes(jobs), []
    for state, look in STATES.items():
        x: list[float | None] = []
        y: list[float | None] = []
        texts: list[str | None] = []
        for call in jobs:
            if call.job is None or call.state != state:
                continue
            opens, closes = _minutes(day, call.job.opens) + 2, _minutes(day, call.job.closes) - 2
            lane = lanes[call.number]
            level, sign = call.job.technician - lane.below, opens + lane.share * (closes - opens)
            room = _SIGN_MINUTES if state in _UNWORKED else 0
            x += [opens, sign - room, None, sign + room, closes, None]
            y += [level, level, None, level, level, None]
            texts += [hover_of(run, call)] * 2 + [None] + [hover_of(run, call)] * 2 + [None]
        if x:
            data.append(_brackets(look, x, y, texts, dotted=state == CallState.CANCELLED))
    return data


def _brackets(
    look: Look,
    x: list[float | None],
    y: list[float | None],
    texts: list[str | None],
    *,
    dotted: bool,
) -> dict[str, Any]:
    return {
        "type": "scatter",
        "mode": "lines+markers",
        "name": f"window promised: {look.word}",
        "x": x,
        "y": y,
        "line": {"color": look.colour, "width": 2.5, "dash": "dot" if dotted else "solid"},
        "marker": {
            "symbol": "line-ns",
            "size": [7, 0, 0, 0, 7, 0] * (len(x) // 6),
            "line": {"color": look.colour, "width": 2.5},
        },
        "customdata": texts,
        "hovertemplate": "%{customdata}<extra></extra>",
    }


def _signs(run: Run, day: int, jobs: Sequence[Call]) -> list[dict[str, Any]]:
    """Sign and number, on its bracket, of each job that no work shows."""
    lanes, data = _lanes(jobs), []
    for state in _UNWORKED:
        look = STATES[state]
        spots = [(call, call.job) for call in jobs if call.state == state and call.job is not None]
        if not spots:
            continue
        shares = [lanes[call.number].share for call, _ in spots]
        data.append(
            {
                "type": "scatter",
                "mode": "text",
                "name": look.word,
                "x": [
                    _minutes(day, job.opens + round(share * (job.closes - job.opens)))
                    for share, (_, job) in zip(shares, spots, strict=True)
                ],
                "y": [job.technician - lanes[call.number].below for call, job in spots],
                "text": [f"{look.sign}{call.number}" for call, _ in spots],
                "textfont": {"size": 11, "color": look.colour},
                "customdata": [hover_of(run, call) for call, _ in spots],
                "hovertemplate": "%{customdata}<extra></extra>",
            }
        )
    return data


def _windows(run: Run, day: int) -> list[dict[str, Any]]:
    """Where windows begin, and a ground under those that are off-hours."""
    shapes: list[dict[str, Any]] = []
    for index, (opens, closes) in enumerate(run.windows):
        ends = {"x0": opens // _MINUTE, "x1": closes // _MINUTE, "yref": "paper", "y0": 0, "y1": 1}
        if off_hours(run.business.handbook, day, index):
            shapes.append(
                {"type": "rect", "layer": "below", "line": {"width": 0},
                 "fillcolor": "rgba(139,146,155,0.16)", **ends}
            )  # fmt: skip
    edges = sorted({edge // _MINUTE for window in run.windows for edge in window})
    shapes += [
        {"type": "line", "layer": "below", "yref": "paper", "y0": 0, "y1": 1, "x0": edge,
         "x1": edge, "line": {"color": EDGE, "width": 0.8, "dash": "dot"}}
        for edge in edges
    ]  # fmt: skip
    return shapes


def _rules(men: int) -> list[dict[str, Any]]:
    return [
        {"type": "line", "layer": "below", "xref": "paper", "x0": 0, "x1": 1,
         "y0": man + 0.5, "y1": man + 0.5, "line": {"color": EDGE, "width": 0.6}}
        for man in range(men - 1)
    ]  # fmt: skip


def _now(run: Run, day: int) -> list[dict[str, Any]]:
    """Where an unfinished run stands."""
    if run.ended or run.clock // DAY_SECONDS != day:
        return []
    at = _minutes(day, run.clock)
    return [
        {"type": "line", "yref": "paper", "y0": 0, "y1": 1, "x0": at, "x1": at,
         "line": {"color": EDGE, "width": 2}}
    ]  # fmt: skip


def hours_of(run: Run, day: int) -> tuple[int, int]:
    """First and last second of a service day in which anything may be seen."""
    low, high = _reach(run, day, run.stretches_on(day))
    begin = day * DAY_SECONDS
    return begin + low * _MINUTE // HOUR * HOUR, begin + -(-high * _MINUTE // HOUR) * HOUR
