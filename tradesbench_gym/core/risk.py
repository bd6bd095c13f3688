"""How a technician's day may turn out: Monte Carlo over lengths of jobs, drives and cancellations.

Reads DESK and BELIEF only. A route keeps the order of `rules/routes.py` (earliest window, then the
nearest job); what is drawn comes from lots dealt once a run, by job and sample, so that two plans
that share a job also share its luck and differ by what the plans differ in.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from tradesbench_gym.core import draws
from tradesbench_gym.core.codes import Activity, CallState, code
from tradesbench_gym.core.jit import kernel, rule
from tradesbench_gym.core.layout import DAY_SECONDS, FORECAST_DAYS, NONE, Int, Record
from tradesbench_gym.core.plan import drive_estimate, straight
from tradesbench_gym.core.rules.calendar import paid_until, window_closes, window_opens
from tradesbench_gym.core.rules.routes import goes_first

Desks = npt.NDArray[np.void]
Lots = npt.NDArray[np.float64]
"""Shape (jobs, LOTS, samples): what may come of each job, in [0, 1) or as a standard deviate."""

MAX_STOPS = 24
LENGTH, DRIVE, CANCEL, IN_HAND = np.int64(0), np.int64(1), np.int64(2), np.int64(3)
LOTS = 4
_POLICY = code(draws.Event.POLICY)
_FINE = np.int64(1 << 30)
_UNIFORM_SD = np.sqrt(12.0)
_LEAST_PACE = 0.5
"""Of the mean: no drive is believed to be quicker."""

_BOOKED, _WAITING_FOR = code(CallState.BOOKED), code(CallState.WAITING)
_DRIVING, _WORKING = code(Activity.DRIVING), code(Activity.WORKING)

STOP = np.dtype(
    [
        ("number", "<i8"),  # of the call
        ("x", "<i8"),  # m
        ("y", "<i8"),
        ("window", "<i8"),
        ("service", "<i8"),
        ("customer", "<i8"),
        ("zone", "<i8"),
        ("drive", "<f8"),  # s, estimate of the drive to it, weather included
    ]
)
ROUTE = np.dtype(
    [
        ("technician", "<i8"),
        ("day", "<i8"),
        ("free", "<i8"),  # s, when he can set off if he has nothing in hand
        ("x", "<i8"),  # where he sets off
        ("y", "<i8"),
        ("activity", "<i8"),  # `Activity` in hand: driving, working or (IDLE) neither
        ("since", "<i8"),  # s, when that began
        ("service", "<i8"),  # of the job in hand
        ("drive", "<f8"),  # s, estimate of the drive in hand
        ("count", "<i8"),
        ("stops", STOP, (MAX_STOPS,)),
    ]
)
"""A technician's day as a dispatcher sees it: where it begins, and what is booked."""

OUTCOME = np.dtype(
    [
        ("kept", "<f8"),  # chance that the added job is done
        ("let_down", "<f8"),  # appointments missed
        ("lost", "<f8"),  # cents they would have brought
        ("overtime", "<f8"),  # s
        ("end", "<f8"),  # s, when the last job ends
        ("driving", "<f8"),  # s, by the estimate
    ]
)
"""Means over the samples."""


@kernel
def deal(seed: draws.Word, lots: Lots, stream: Lots) -> None:
    """Fill the lots of a run: each job's samples are spread evenly over what may be, in an order of
    their own; `stream` gets plain uniform numbers.
    """
    samples = lots.shape[2]
    drawn = np.zeros(samples)
    for job in range(lots.shape[0]):
        for lot in range(lots.shape[1]):
            for sample in range(samples):
                drawn[sample] = _uniform(seed, np.int64(lot), np.int64(job), np.int64(sample))
            order = np.argsort(drawn)
            for rank in range(samples):
                even = (np.float64(rank) + 0.5) / np.float64(samples)
                lots[job, lot, order[rank]] = (even - 0.5) * _UNIFORM_SD if lot == DRIVE else even
    for row in range(stream.shape[0]):
        for place in range(stream.shape[1]):
            stream[row, place] = _uniform(seed, np.int64(LOTS), np.int64(row), np.int64(place))


@rule
def _uniform(seed: draws.Word, a: Int, b: Int, c: Int) -> float:
    word, _, _, _ = draws.block(seed, np.uint64(0), _POLICY, a, b, c)
    return np.float64(draws.below(word, _FINE)) / np.float64(_FINE)


@kernel
def slot_risk(
    desks: Desks, j: Int, beliefs: Desks, lots: Lots, technician: Int, ahead: Int, window: Int
) -> tuple[float, float, float]:
    """The call on the line in a slot: the chance that its job is done, and how many appointments
    more are missed and how many seconds of overtime more are worked on that day.
    """
    desk, belief = desks[j], beliefs[0]
    line, day = np.int64(desk["line"]), np.int64(desk["day"]) + ahead
    routes, outcomes = np.zeros(1, ROUTE), np.zeros(2, OUTCOME)
    order = np.empty(MAX_STOPS, np.int64)
    without, with_it = outcomes[0], outcomes[1]
    read_route(desk, technician, day, routes[0])
    play_out(desk, belief, routes[0], lots, np.int64(NONE), order, without)
    add_call(routes[0], desk["calls"][line], line, window)
    play_out(desk, belief, routes[0], lots, line, order, with_it)
    return (
        float(with_it["kept"]),
        float(with_it["let_down"] - without["let_down"]),
        float(with_it["overtime"] - without["overtime"]),
    )


@rule
def read_route(desk: Record, technician: Int, day: Int, route: Record) -> None:
    """Take a technician's day from the desk: where it begins, and the jobs still to be done."""
    book = desk["handbook"]
    route["technician"], route["day"], route["count"] = technician, day, 0
    route["activity"], route["drive"] = 0, 0.0
    route["free"] = np.int64(day) * DAY_SECONDS + np.int64(book["calls_from"])
    route["x"], route["y"] = book["home_x"][technician], book["home_y"][technician]
    if day == desk["day"]:
        _read_present(desk, technician, route)
    number = np.int64(desk["route"][day, technician])
    while number >= 0:
        call = desk["calls"][number]
        if _BOOKED <= call["state"] <= _WAITING_FOR:
            add_call(route, call, number, np.int64(call["window"]))
        number = np.int64(call["next"])


@rule
def _read_present(desk: Record, technician: Int, route: Record) -> None:
    man = desk["technicians"][technician]
    route["free"] = max(np.int64(desk["clock"]), np.int64(route["free"]))
    route["x"], route["y"] = man["x"], man["y"]
    route["since"] = man["since"]
    if man["activity"] == _WORKING:
        route["activity"] = _WORKING
        route["service"] = desk["calls"][man["job"]]["service"]
    elif man["activity"] == _DRIVING:
        route["activity"] = _DRIVING
        job = desk["calls"][man["job"]]
        x, y = np.int64(job["x"]), np.int64(job["y"])
        metres = straight(np.int64(man["x"]), np.int64(man["y"]), x, y)
        route["drive"] = np.float64(drive_estimate(desk["plan"], metres))
        route["x"], route["y"] = x, y


@rule
def add_call(route: Record, call: Record, number: Int, window: Int) -> None:
    """Put a call into a window of the route; a route that is full stays as it is."""
    if route["count"] >= MAX_STOPS:
        return
    stop = route["stops"][route["count"]]
    stop["number"] = number
    stop["x"], stop["y"] = call["x"], call["y"]
    stop["window"] = window
    stop["service"], stop["customer"] = call["service"], call["customer"]
    stop["zone"] = call["zone"]
    route["count"] += 1


@rule
def put_in_order(desk: Record, belief: Record, route: Record, order: npt.NDArray[np.int64]) -> None:
    """Say in which order the stops are visited, and estimate each drive."""
    x, y = np.int64(route["x"]), np.int64(route["y"])
    ahead = np.int64(route["day"]) - np.int64(desk["day"])
    taken = np.int64(0)
    for place in range(np.int64(route["count"])):
        best, window, metres = np.int64(NONE), np.int64(0), np.int64(0)
        for i in range(np.int64(route["count"])):
            if (taken >> i) & 1 == 1:
                continue
            stop = route["stops"][i]
            far = straight(x, y, np.int64(stop["x"]), np.int64(stop["y"]))
            if goes_first(np.int64(stop["window"]), far, np.int64(i), window, metres, best):
                best, window, metres = np.int64(i), np.int64(stop["window"]), far
        taken |= np.int64(1) << best
        order[place] = best
        stop = route["stops"][best]
        stop["drive"] = np.float64(drive_estimate(desk["plan"], metres))
        if ahead <= FORECAST_DAYS:
            stop["drive"] *= belief["weather"][desk["forecast"]["condition"][ahead, stop["zone"]]]
        x, y = np.int64(stop["x"]), np.int64(stop["y"])


@rule
def play_out(
    desk: Record,
    belief: Record,
    route: Record,
    lots: Lots,
    added: Int,
    order: npt.NDArray[np.int64],
    outcome: Record,
) -> None:
    """Means of what comes of a route over all samples; `added` is the call whose fate is asked for
    (NONE: none), and which does not cancel.
    """
    put_in_order(desk, belief, route, order)
    kept, let_down, lost, overtime, end = 0.0, 0.0, 0.0, 0.0, 0.0
    samples = lots.shape[2]
    for sample in range(samples):
        one = _play_sample(desk, belief, route, lots, np.int64(sample), added, order)
        kept += one[0]
        let_down += one[1]
        lost += one[2]
        overtime += one[3]
        end += one[4]
    many, driving = np.float64(samples), 0.0
    for i in range(np.int64(route["count"])):
        driving += route["stops"][i]["drive"]
    outcome["kept"], outcome["let_down"], outcome["lost"] = (
        kept / many,
        let_down / many,
        lost / many,
    )
    outcome["overtime"], outcome["end"] = overtime / many, end / many
    outcome["driving"] = driving


@rule
def _play_sample(
    desk: Record,
    belief: Record,
    route: Record,
    lots: Lots,
    sample: Int,
    added: Int,
    order: npt.NDArray[np.int64],
) -> tuple[float, float, float, float, float]:
    book, day = desk["handbook"], np.int64(route["day"])
    until = np.float64(paid_until(book, day, np.int64(route["technician"])))
    cancels = 0.0 if day == desk["day"] else belief["cancels"][day - np.int64(desk["day"])]
    time = _set_off(book, belief, route, lots, sample)
    kept, let_down, lost, overtime = 0.0, 0.0, 0.0, 0.0
    for place in range(np.int64(route["count"])):
        stop = route["stops"][order[place]]
        number = np.int64(stop["number"])
        lot = lots[number % lots.shape[0]]
        if number != added and lot[CANCEL, sample] < cancels:
            continue
        window = np.int64(stop["window"])
        closes = np.float64(window_closes(book, day, window))
        begun = time
        if time <= closes:  # else he does not even set off
            time += stop["drive"] * _pace(belief, lot[DRIVE, sample])
        if time > closes:
            let_down += 1.0
            lost += belief["net"][stop["service"], stop["customer"]]
        else:
            time = max(time, np.float64(window_opens(book, day, window)))
            time += time_on_site(book, np.int64(stop["service"]), lot[LENGTH, sample])
            kept += 1.0 if number == added else 0.0
        overtime += max(time - max(begun, until), 0.0)
    return kept, let_down, lost, overtime, time


@rule
def _set_off(book: Record, belief: Record, route: Record, lots: Lots, sample: Int) -> float:
    """When he is free for the first stop; work that has gone on for a while is drawn from what it
    may still take.
    """
    free = np.float64(route["free"])
    lot = lots[np.int64(route["technician"]) % lots.shape[0]]
    since = np.float64(route["since"])
    if route["activity"] == _WORKING:
        service = np.int64(route["service"])
        past = _share_done_by(book, service, free - since)
        rest = past + (1.0 - past) * lot[IN_HAND, sample]
        return float(max(free, since + time_on_site(book, service, rest)))
    if route["activity"] == _DRIVING:
        return float(max(free, since + route["drive"] * _pace(belief, lot[DRIVE, sample])))
    return free


@rule
def _pace(belief: Record, deviate: float) -> float:
    pace = belief["pace"] + belief["spread"] * deviate
    return float(max(pace, _LEAST_PACE * belief["pace"]))


@rule
def time_on_site(book: Record, service: Int, u: float) -> float:
    """Seconds of a job: the triangle over the handbook's range, at u in [0, 1)."""
    low, usual = np.float64(book["shortest"][service]), np.float64(book["typical"][service])
    high = np.float64(book["longest"][service])
    if u * (high - low) < usual - low:
        return float(low + np.sqrt(u * (high - low) * (usual - low)))
    return float(high - np.sqrt((1.0 - u) * (high - low) * (high - usual)))


@rule
def _share_done_by(book: Record, service: Int, seconds: float) -> float:
    """The share of jobs of a service that take no longer than so many seconds."""
    low, usual = np.float64(book["shortest"][service]), np.float64(book["typical"][service])
    high = np.float64(book["longest"][service])
    if seconds <= low:
        return 0.0
    if seconds >= high:
        return 1.0
    if seconds < usual:
        return (seconds - low) * (seconds - low) / ((high - low) * (usual - low))
    return 1.0 - (high - seconds) * (high - seconds) / ((high - low) * (high - usual))
