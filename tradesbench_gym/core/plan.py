"""The dispatcher's plan: what can be worked out with a handbook, a map and a clock (A.8 of the
report).

Reads DESK only, so it cannot know a true drive time, length or road distance. Routes follow the
rules of `rules/routes.py` with estimates in their place: straight line times a factor at one speed,
and planned lengths.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from tradesbench_gym.core.codes import Activity, CallState, Refusal, code
from tradesbench_gym.core.draws import div_round
from tradesbench_gym.core.jit import inlined, kernel, rule
from tradesbench_gym.core.layout import DAY_SECONDS, NONE, Int, Record
from tradesbench_gym.core.rules.calendar import qualified, refusal, window_closes, window_opens
from tradesbench_gym.core.rules.routes import begins, goes_first

Desks = npt.NDArray[np.void]

_BOOKED, _WAITING_FOR = code(CallState.BOOKED), code(CallState.WAITING)
_DRIVEN_TO = code(CallState.DRIVING)
_DRIVING, _WORKING = code(Activity.DRIVING), code(Activity.WORKING)
_NO_CALL = code(Refusal.NO_CALL)
_HOUR = np.int64(3_600)
_THOUSANDTHS = np.int64(1_000)
_LONG_ROUTE = 60
NO_SLACK = -(1 << 30)
"""Slack of a route that cannot be planned."""


@rule
def straight(x: Int, y: Int, x2: Int, y2: Int) -> np.int64:
    """Straight line in whole metres."""
    dx, dy = np.float64(x - x2), np.float64(y - y2)
    return np.int64(np.sqrt(dx * dx + dy * dy) + 0.5)


@rule
def drive_estimate(plan: Record, metres: Int) -> np.int64:
    """Seconds a dispatcher reckons with for a straight line of so many metres."""
    road = np.int64(metres) * np.int64(plan["circuity"])
    return div_round(road * _HOUR, np.int64(plan["speed"]) * _THOUSANDTHS)


@inlined
def planned_length(book: Record, plan: Record, technician: Int, service: Int) -> np.int64:
    """Seconds on site a job is planned with; a visit that must fail takes its fixed time."""
    if not qualified(book, technician, service):
        return np.int64(book["failed_visit"])
    return np.int64(plan["lengths"][service])


@rule
def _start_of_route(
    desk: Record, plan: Record, technician: Int, day: Int
) -> tuple[np.int64, np.int64, np.int64, np.int64, np.int64, np.int64]:
    """Where and when a technician is free for the route of a day: time, x, y; slack and number of a
    job he will begin on arrival (NONE: he will decide anew), and metres of the drive he is on.

    Today a job in progress ends at max(now, start + planned length), and a man who drives arrives
    when the estimate says; on a later day he is at home when the calls begin.
    """
    book = desk["handbook"]
    man = desk["technicians"][technician]
    free = -np.int64(NO_SLACK)
    if day != desk["day"]:
        return (
            np.int64(day) * DAY_SECONDS + np.int64(book["calls_from"]),
            np.int64(book["home_x"][technician]),
            np.int64(book["home_y"][technician]),
            free,
            NONE,
            np.int64(0),
        )
    now = max(np.int64(desk["clock"]), np.int64(day) * DAY_SECONDS + np.int64(book["calls_from"]))
    x, y = np.int64(man["x"]), np.int64(man["y"])
    if man["activity"] == _WORKING:
        service = np.int64(desk["calls"][man["job"]]["service"])
        ends = np.int64(man["since"]) + planned_length(book, plan, technician, service)
        return max(now, ends), x, y, free, NONE, np.int64(0)
    if man["activity"] == _DRIVING:
        job = desk["calls"][man["job"]]
        metres = straight(x, y, np.int64(job["x"]), np.int64(job["y"]))
        arrives = max(now, np.int64(man["since"]) + drive_estimate(plan, metres))
        x, y = np.int64(job["x"]), np.int64(job["y"])
        window = np.int64(job["window"])
        if job["state"] != _DRIVEN_TO or arrives < window_opens(book, day, window):
            return arrives, x, y, free, NONE, metres
        slack = window_closes(book, day, window) - arrives
        ends = arrives + planned_length(book, plan, technician, np.int64(job["service"]))
        return ends, x, y, slack, np.int64(man["job"]), metres
    return now, x, y, free, NONE, np.int64(0)


@rule
def _route(
    desk: Record, plan: Record, technician: Int, day: Int, added: Int, added_window: Int
) -> tuple[np.int64, np.int64]:
    """Plan a day's route, with call `added` in a window (NONE: without): least slack of a job,
    straight metres driven.

    Slack is the time from a job's planned start to the close of its window; the job in progress has
    none to give.
    """
    book = desk["handbook"]
    time, x, y, slack, held, driven = _start_of_route(desk, plan, technician, day)
    taken = np.int64(0)
    while True:
        best, best_window, best_metres, best_place = (
            np.int64(NONE),
            np.int64(0),
            np.int64(0),
            np.int64(0),
        )
        number, place = np.int64(desk["route"][day, technician]), np.int64(1)
        if added >= 0:
            call = desk["calls"][added]
            if taken & 1 == 0:
                best, best_window = np.int64(added), np.int64(added_window)
                best_metres = straight(x, y, np.int64(call["x"]), np.int64(call["y"]))
        while number >= 0:
            call = desk["calls"][number]
            pending = _BOOKED <= call["state"] <= _WAITING_FOR and number != held
            if pending and (taken >> place) & 1 == 0:
                metres = straight(x, y, np.int64(call["x"]), np.int64(call["y"]))
                if goes_first(
                    np.int64(call["window"]), metres, number, best_window, best_metres, best
                ):
                    best, best_window, best_metres, best_place = (
                        number,
                        np.int64(call["window"]),
                        metres,
                        place,
                    )
            number = np.int64(call["next"])
            place += 1
        if place > _LONG_ROUTE:
            return np.int64(NO_SLACK), np.int64(0)
        if best < 0:
            return slack, driven
        taken |= np.int64(1) << best_place
        call = desk["calls"][best]
        starts = begins(
            time + drive_estimate(plan, best_metres), window_opens(book, day, best_window)
        )
        slack = min(slack, window_closes(book, day, best_window) - starts)
        time = starts + planned_length(book, plan, technician, np.int64(call["service"]))
        driven += best_metres
        x, y = np.int64(call["x"]), np.int64(call["y"])


@kernel
def slot(
    desks: Desks, j: Int, plans: Desks, technician: Int, ahead: Int, window: Int
) -> tuple[np.int64, np.int64]:
    """The call on the line in a slot: least slack of the route in seconds, and straight metres it
    adds.
    """
    return slot_of(desks[j], plans[0], technician, ahead, window)


@rule
def slot_of(
    desk: Record, plan: Record, technician: Int, ahead: Int, window: Int
) -> tuple[np.int64, np.int64]:
    """`slot` for callers inside kernels."""
    day = np.int64(desk["day"]) + ahead
    slack, driven = _route(desk, plan, technician, day, np.int64(desk["line"]), window)
    _, before = _route(desk, plan, technician, day, np.int64(NONE), np.int64(NONE))
    return slack, driven - before


@kernel
def why_refused(desks: Desks, j: Int, technician: Int, ahead: Int, window: Int) -> np.int64:
    """The `Refusal` that an offer to the call on the line would meet, or NONE."""
    desk = desks[j]
    if desk["line"] < 0:
        return np.int64(_NO_CALL)
    service = np.int64(desk["calls"][desk["line"]]["service"])
    return refusal(desk["handbook"], np.int64(desk["clock"]), service, technician, ahead, window)


@kernel
def earliest_fit(desks: Desks, j: Int, plans: Desks) -> tuple[np.int64, np.int64, np.int64]:
    """The oracle's offer for the call on the line: technician, days ahead, window; technician NONE:
    reject.

    The earliest window whose route keeps the margin, then the least added driving, then the lower
    technician; if there is none with the margin, again without.
    """
    return earliest_fit_of(desks[j], plans[0])


@rule
def earliest_fit_of(desk: Record, plan: Record) -> tuple[np.int64, np.int64, np.int64]:
    """`earliest_fit` for callers inside kernels."""
    offered = _search(desk, plan, np.int64(plan["margin"]))
    if offered[0] < 0 and plan["margin"] > 0:
        offered = _search(desk, plan, np.int64(0))
    return offered


@rule
def _search(desk: Record, plan: Record, margin: Int) -> tuple[np.int64, np.int64, np.int64]:
    book = desk["handbook"]
    service = np.int64(desk["calls"][desk["line"]]["service"])
    clock = np.int64(desk["clock"])
    for ahead in range(np.int64(book["booking_days"])):
        for window in range(np.int64(book["windows"])):
            best, least = np.int64(NONE), np.int64(0)
            for technician in range(np.int64(book["technicians"])):
                if not qualified(book, technician, service):
                    continue
                if refusal(book, clock, service, technician, ahead, window) != 0:
                    continue
                slack, added = slot_of(
                    desk, plan, np.int64(technician), np.int64(ahead), np.int64(window)
                )
                if slack >= margin and (best < 0 or added < least):
                    best, least = np.int64(technician), added
            if best >= 0:
                return best, np.int64(ahead), np.int64(window)
    return np.int64(NONE), np.int64(NONE), np.int64(NONE)


@kernel
def first_open(desks: Desks, j: Int) -> tuple[np.int64, np.int64, np.int64]:
    """The first window some technician may be offered for, qualified if anybody is: what accept-all
    books.
    """
    desk = desks[j]
    book = desk["handbook"]
    service = np.int64(desk["calls"][desk["line"]]["service"])
    ours = service < book["services"]
    for ahead in range(np.int64(book["booking_days"])):
        for window in range(np.int64(book["windows"])):
            for technician in range(np.int64(book["technicians"])):
                if ours and not qualified(book, technician, service):
                    continue
                if refusal(book, np.int64(desk["clock"]), service, technician, ahead, window) == 0:
                    return np.int64(technician), np.int64(ahead), np.int64(window)
    return np.int64(NONE), np.int64(NONE), np.int64(NONE)
