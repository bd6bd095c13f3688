"""A board of planned days on which later calls are booked in thought: what a slot is worth to them.

Whoever takes a slot takes it from somebody who has not called yet. Here callers are drawn from
those who have called so far, and booked one by one by a plain rule, the earliest slot that fits;
the worth of what is booked with and without the call on the line is what that call displaces.
Plans are single-valued (mean lengths, mean pace), so that a whole day of calls takes microseconds;
the risk of a day is `risk.py`'s. Reads DESK and BELIEF only.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from tradesbench_gym.core.beliefs import (
    LATE,
    ROUTINE,
    URGENT,
    chance_of_yes,
    kind_of_answer,
)
from tradesbench_gym.core.codes import Activity, code
from tradesbench_gym.core.jit import rule
from tradesbench_gym.core.layout import (
    DAY_SECONDS,
    MAX_SERVICES,
    MAX_TECHNICIANS,
    NONE,
    Int,
    Record,
)
from tradesbench_gym.core.risk import MAX_STOPS, put_in_order, read_route
from tradesbench_gym.core.rules.calendar import is_installation, is_weekend, off_hours, qualified

DAYS = 5
"""Days ahead that later callers are booked into."""
WAVES = 3
"""Days of later callers: the rest of today, tomorrow, the day after."""
_PLACES = 14
MAX_CALLERS = 64
_WORKING, _DRIVING = code(Activity.WORKING), code(Activity.DRIVING)
_HOUR = 3_600.0
_THOUSANDTHS = 1_000.0
_BEGUN = np.float64(600.0)
"""Seconds that work past its mean length is thought to take still."""

CALLER = np.dtype(
    [
        ("time", "<i8"),  # s of the day
        ("x", "<i8"),
        ("y", "<i8"),
        ("service", "<i8"),
        ("customer", "<i8"),
        ("urgent", "<i8"),
        ("ahead", "<i8"),  # days from today
        ("patience", "<f8"),  # says yes where the chance of a yes is greater
    ]
)
PLANNED = np.dtype(
    [
        ("x", "<f8"),
        ("y", "<f8"),
        ("window", "<i8"),  # NONE: where the day begins
        ("length", "<f8"),  # s
        ("start", "<f8"),  # s of the day
        ("end", "<f8"),
    ]
)
BOARD = np.dtype(
    [
        ("count", "<i8", (MAX_TECHNICIANS, DAYS)),
        ("stops", PLANNED, (MAX_TECHNICIANS, DAYS, _PLACES + 1)),  # the first: where it begins
        ("length", "<f8", (MAX_SERVICES,)),  # s a job is planned with
        ("pace", "<f8"),  # s a straight metre
        ("related", "<i8", (MAX_SERVICES,)),  # 1: competes with the call on the line
    ]
)


@rule
def set_up(desk: Record, belief: Record, length_share: float, route: Record, board: Record) -> None:
    """Plan the coming days of everybody who could do the work on the line, or work that competes
    with it.
    """
    book, plan = desk["handbook"], desk["plan"]
    for service in range(np.int64(book["services"])):
        total = np.float64(book["shortest"][service]) + np.float64(book["typical"][service])
        mean = (total + np.float64(book["longest"][service])) / 3.0
        board["length"][service] = mean * length_share
    metres = belief["pace"] * np.float64(plan["circuity"]) / _THOUSANDTHS
    board["pace"] = metres / np.float64(plan["speed"]) * _HOUR
    _relate(book, np.int64(desk["calls"][desk["line"]]["service"]), board)
    order = np.empty(MAX_STOPS, np.int64)
    for technician in range(np.int64(book["technicians"])):
        if not _works_on_related(book, board, technician):
            continue
        for ahead in range(_days_left(desk, DAYS)):
            read_route(desk, technician, np.int64(desk["day"]) + ahead, route)
            put_in_order(desk, belief, route, order)
            _lay_out(belief, route, order, np.int64(ahead), book, board)


@rule
def _days_left(desk: Record, most: Int) -> np.int64:
    """Days of the run from today on, at most so many."""
    return min(np.int64(desk["handbook"]["days"]) - np.int64(desk["day"]), np.int64(most))


@rule
def _relate(book: Record, service: Int, board: Record) -> None:
    """Services that share a technician with the one on the line."""
    for other in range(np.int64(book["services"])):
        board["related"][other] = 0
        for technician in range(np.int64(book["technicians"])):
            if qualified(book, technician, service) and qualified(book, technician, other):
                board["related"][other] = 1


@rule
def _works_on_related(book: Record, board: Record, technician: Int) -> bool:
    for service in range(np.int64(book["services"])):
        if board["related"][service] == 1 and qualified(book, technician, service):
            return True
    return False


@rule
def _lay_out(
    belief: Record,
    route: Record,
    order: npt.NDArray[np.int64],
    ahead: Int,
    book: Record,
    board: Record,
) -> None:
    technician, midnight = np.int64(route["technician"]), np.int64(route["day"]) * DAY_SECONDS
    first = board["stops"][technician, ahead, 0]
    first["x"], first["y"], first["window"] = route["x"], route["y"], NONE
    free = np.float64(np.int64(route["free"]) - midnight)
    since = np.float64(np.int64(route["since"]) - midnight)
    if route["activity"] == _WORKING:
        free = max(free + _BEGUN, since + board["length"][route["service"]])
    elif route["activity"] == _DRIVING:
        free = max(free, since + route["drive"] * belief["pace"])
    first["end"] = free
    board["count"][technician, ahead] = 0
    for place in range(min(np.int64(route["count"]), np.int64(_PLACES))):
        stop = route["stops"][order[place]]
        write_in(
            book,
            board,
            technician,
            ahead,
            np.int64(place),
            np.int64(stop["window"]),
            np.float64(stop["x"]),
            np.float64(stop["y"]),
            board["length"][stop["service"]],
        )


@rule
def _drive(board: Record, x: float, y: float, x2: float, y2: float) -> float:
    return float(np.sqrt((x - x2) * (x - x2) + (y - y2) * (y - y2)) * board["pace"])


@rule
def place_for(board: Record, technician: Int, ahead: Int, window: Int) -> np.int64:
    """The stop after which a job of a window comes: behind all of its window and before."""
    place = np.int64(board["count"][technician, ahead])
    while place > 0 and board["stops"][technician, ahead, place]["window"] > window:
        place -= 1
    return place


@rule
def write_in(
    book: Record,
    board: Record,
    technician: Int,
    ahead: Int,
    place: Int,
    window: Int,
    x: float,
    y: float,
    length: float,
) -> None:
    """Book a job behind a stop, and plan anew what comes after; a full day stays as it is."""
    count = np.int64(board["count"][technician, ahead])
    if count >= _PLACES:
        return
    for i in range(count, place, -1):
        board["stops"][technician, ahead, i + 1] = board["stops"][technician, ahead, i]
    new = board["stops"][technician, ahead, place + 1]
    new["x"], new["y"], new["window"], new["length"] = x, y, window, length
    board["count"][technician, ahead] = count + 1
    for i in range(place + 1, count + 2):
        stop, before = (
            board["stops"][technician, ahead, i],
            board["stops"][technician, ahead, i - 1],
        )
        arrives = before["end"] + _drive(board, before["x"], before["y"], stop["x"], stop["y"])
        stop["start"] = max(arrives, np.float64(book["opens"][stop["window"]]))
        stop["end"] = stop["start"] + stop["length"]


@rule
def _fits(
    book: Record,
    board: Record,
    technician: Int,
    ahead: Int,
    window: Int,
    caller: Record,
    spare: float,
) -> tuple[np.int64, float]:
    """Behind which stop a caller's job fits so that no window grows too tight (NONE: nowhere), and
    the drive to it.
    """
    place = place_for(board, technician, ahead, window)
    before = board["stops"][technician, ahead, place]
    x, y = np.float64(caller["x"]), np.float64(caller["y"])
    drive = _drive(board, before["x"], before["y"], x, y)
    start = max(before["end"] + drive, np.float64(book["opens"][window]))
    if start > np.float64(book["closes"][window]) - spare:
        return np.int64(NONE), drive
    end = start + board["length"][caller["service"]]
    for i in range(place + 1, np.int64(board["count"][technician, ahead]) + 1):
        stop = board["stops"][technician, ahead, i]
        arrives = end + _drive(board, x, y, stop["x"], stop["y"])
        start = max(arrives, np.float64(book["opens"][stop["window"]]))
        if start <= stop["start"] + 1.0:
            return place, drive
        if start > np.float64(book["closes"][stop["window"]]) - spare:
            return np.int64(NONE), drive
        end, x, y = start + stop["length"], stop["x"], stop["y"]
    return place, drive


@rule
def draw_callers(
    desk: Record,
    belief: Record,
    board: Record,
    imagined: npt.NDArray[np.void],
    luck: npt.NDArray[np.float64],
    callers: npt.NDArray[np.void],
) -> np.int64:
    """Fill `callers` with those who may yet call, in order, and say how many: as many a day as
    demand is believed to bring, each like one who has called (or was imagined before anybody had).
    """
    book, now = desk["handbook"], np.int64(desk["clock"]) % DAY_SECONDS
    known = np.int64(imagined.shape[0]) + np.int64(desk["n_calls"])
    count, used = np.int64(0), np.int64(0)
    for ahead in range(_days_left(desk, WAVES)):
        quiet = is_weekend(book, np.int64(desk["day"]) + ahead)
        expected = belief["level"] * (belief["quiet"] if quiet else 1.0)
        if used >= luck.shape[0]:
            return count
        many = np.int64(expected + luck[used])
        used += 1
        for _ in range(many):
            if count >= MAX_CALLERS or used + 2 > luck.shape[0]:
                return count
            which = np.int64(luck[used] * np.float64(known))
            _resemble(desk, imagined, which, callers[count])
            callers[count]["ahead"], callers[count]["patience"] = ahead, luck[used + 1]
            used += 2
            service, time = np.int64(callers[count]["service"]), np.int64(callers[count]["time"])
            if service >= book["services"] or board["related"][service] == 0:
                continue
            if ahead == 0 and time <= now:
                continue
            _sort_in(callers, count)
            count += 1
    return count


@rule
def _resemble(desk: Record, imagined: npt.NDArray[np.void], which: Int, caller: Record) -> None:
    if which < imagined.shape[0]:
        like = imagined[which]
        caller["time"], caller["x"], caller["y"] = like["time"], like["x"], like["y"]
        caller["service"], caller["customer"] = like["service"], like["customer"]
        caller["urgent"] = like["urgent"]
        return
    call = desk["calls"][which - imagined.shape[0]]
    caller["time"] = np.int64(call["rang_at"]) % DAY_SECONDS
    caller["x"], caller["y"] = call["x"], call["y"]
    caller["service"], caller["customer"] = call["service"], call["customer"]
    caller["urgent"] = call["urgent"]


@rule
def _sort_in(callers: npt.NDArray[np.void], last: Int) -> None:
    """Move the last caller to his place among those of the same day; the row behind is scratch."""
    spare, place = callers.shape[0] - 1, np.int64(last)
    callers[spare] = callers[last]
    while (
        place > 0
        and callers[place - 1]["ahead"] == callers[spare]["ahead"]
        and callers[place - 1]["time"] > callers[spare]["time"]
    ):
        callers[place] = callers[place - 1]
        place -= 1
    callers[place] = callers[spare]


@rule
def serve(
    desk: Record,
    belief: Record,
    temper: Record,
    board: Record,
    callers: npt.NDArray[np.void],
    count: Int,
) -> float:
    """Book the callers one by one where they fit first: the cents they may be expected to bring."""
    book, worth = desk["handbook"], 0.0
    for i in range(count):
        caller = callers[i]
        technician, ahead, window = _earliest(desk, board, temper, caller)
        if technician < 0:
            continue
        service, waits = np.int64(caller["service"]), ahead - np.int64(caller["ahead"])
        lead = np.float64(book["opens"][window]) - np.float64(caller["time"])
        lead = np.float64(waits) + lead / np.float64(DAY_SECONDS)
        kind = URGENT if caller["urgent"] == 1 else ROUTINE
        yes = chance_of_yes(belief, kind, waits, lead)
        left = np.float64(np.int64(book["days"]) - 1 - np.int64(desk["day"]) - ahead)
        net = belief["net"][service, caller["customer"]]
        net += temper["growth"] * belief["gain"] * belief["caller"] * left
        share = temper["installation"] if is_installation(book, service) else temper["service"]
        worth += share * yes * (1.0 - belief["cancels"][waits]) * net
        if caller["patience"] < yes:
            x, y = np.float64(caller["x"]), np.float64(caller["y"])
            place = place_for(board, technician, ahead, window)
            write_in(book, board, technician, ahead, place, window, x, y, board["length"][service])
    return worth


@rule
def _earliest(
    desk: Record, board: Record, temper: Record, caller: Record
) -> tuple[np.int64, np.int64, np.int64]:
    """The first slot that fits a caller: technician (NONE: no slot), days ahead, window."""
    book, service = desk["handbook"], np.int64(caller["service"])
    last = _days_left(desk, DAYS)
    for ahead in range(np.int64(caller["ahead"]), last):
        for window in range(np.int64(book["windows"])):
            if ahead == caller["ahead"] and book["opens"][window] < caller["time"]:
                continue
            best, least = np.int64(NONE), 0.0
            for technician in range(np.int64(book["technicians"])):
                if not _may(book, service, technician, np.int64(desk["day"]) + ahead, window):
                    continue
                if kind_of_answer(book, service, np.int64(0), window) == LATE:
                    continue
                place, drive = _fits(
                    book, board, technician, ahead, window, caller, temper["spare"]
                )
                if np.int64(book["skills"][technician]) != np.int64(1) << service:
                    drive += temper["versatile"]  # who can do more is kept for it
                if place >= 0 and (best < 0 or drive < least):
                    best, least = np.int64(technician), drive
            if best >= 0:
                return best, np.int64(ahead), np.int64(window)
    return np.int64(NONE), np.int64(NONE), np.int64(NONE)


@rule
def _may(book: Record, service: Int, technician: Int, day: Int, window: Int) -> bool:
    """Whether an offer would be let out and could be kept: as `refusal`, for another moment."""
    if not qualified(book, technician, service):
        return False
    if not off_hours(book, day, window):
        return True
    return bool(book["on_call"][technician] == 1 and not is_installation(book, service))
