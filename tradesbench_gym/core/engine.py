"""Time: what happens next, and what an answer to a call changes. The entry points take `(runs, i)`.

One loop finds the next thing due, lets its rule act, and comes back at the stops where somebody
outside may want to know or decide. Order of things due in one second: a technician's arrival, start
or finish; a missed appointment; a cancellation; a new call. This module knows when, the rules know
what.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from tradesbench_gym.core.codes import Activity, CallState, Kind, Phase, Refusal, Stop, code
from tradesbench_gym.core.jit import kernel, rule
from tradesbench_gym.core.layout import DAY_SECONDS, LOG_EVENTS, LOG_ROOM, NONE, Int, Record
from tradesbench_gym.core.log import emit
from tradesbench_gym.core.rules.calendar import refusal
from tradesbench_gym.core.rules.calls import Pool, look_up, open_lines, ring
from tradesbench_gym.core.rules.customers import NEVER, accepts, cancel_moment, find_next_cancel
from tradesbench_gym.core.rules.demand import update_level
from tradesbench_gym.core.rules.money import close_books, pay_overtime
from tradesbench_gym.core.rules.routes import (
    BOOKED,
    DRIVEN_TO,
    WAITED_FOR,
    arrive,
    begin,
    finish,
    go,
    miss,
    next_deadline,
)
from tradesbench_gym.core.rules.weather import make_forecast, make_sky

Runs = npt.NDArray[np.void]
Metres = npt.NDArray[np.int32]

_DAY_OPENED, _NEW_CALL, _CANCELLATION = (
    code(Stop.DAY_OPENED),
    code(Stop.NEW_CALL),
    code(Stop.CANCELLATION),
)
_DAY_CLOSED, _STOP_ENDED, _EVENTS_FULL = (
    code(Stop.DAY_CLOSED),
    code(Stop.ENDED),
    code(Stop.EVENTS_FULL),
)
_NIGHT, _MORNING, _OPEN, _ENDED = (
    code(Phase.NIGHT),
    code(Phase.MORNING),
    code(Phase.OPEN),
    code(Phase.ENDED),
)
_IDLE, _DRIVING = code(Activity.IDLE), code(Activity.DRIVING)
_WAITING = code(Activity.WAITING)
_DECLINED = code(CallState.DECLINED)
_REJECTED, _UNANSWERED = code(CallState.REJECTED), code(CallState.UNANSWERED)
_WAS_CANCELLED = code(CallState.CANCELLED)
_SAID_OPENED, _SAID_CLOSED, _SAID_ENDED = (
    code(Kind.DAY_OPENED),
    code(Kind.DAY_CLOSED),
    code(Kind.ENDED),
)
_SAID_RANG, _SAID_CANCELLED, _SAID_HEARD = (
    code(Kind.RANG),
    code(Kind.CANCELLED),
    code(Kind.ACKNOWLEDGED),
)
_SAID_BOOKED, _SAID_DECLINED = code(Kind.BOOKED), code(Kind.DECLINED)
_SAID_REJECTED, _SAID_UNANSWERED = code(Kind.REJECTED), code(Kind.UNANSWERED)
_NO_CALL = code(Refusal.NO_CALL)

DECLINED = 0
ACCEPTED = 1
CUSTOMER = 1
LOCATION = 2

_BY_TECHNICIAN = 0
_BY_DEADLINE = 1
_BY_CANCELLATION = 2
_BY_CALL = 3
_BY_CLOSE = 4


@kernel
def start(runs: Runs, i: Int, params: Runs, seed: np.uint64, salt: np.uint64) -> None:
    """Put a blank record at the start of run `seed`: 00:00 of day 0, its weather made, its cash in
    the till.
    """
    start_run(runs[i], params[0], seed, salt)


@rule
def start_run(run: Record, p: Record, seed: np.uint64, salt: np.uint64) -> None:
    """`start` for callers inside kernels."""
    run["seed"] = seed
    run["salt"] = salt
    run["cash"] = p["handbook"]["starting_cash"]
    run["lowest"] = p["handbook"]["starting_cash"]
    run["level"] = p["level_start"]
    run["next_cancel"] = NEVER
    run["line"] = NONE
    run["phoned"] = NONE
    run["phase"] = _NIGHT
    for day in range(run["route"].shape[0]):
        for technician in range(run["route"].shape[1]):
            run["route"][day, technician] = NONE
    for day in range(run["days"].shape[0]):
        run["days"][day]["closed_at"] = NONE
    make_sky(run, p)
    _send_home(run, p)


@rule
def _send_home(run: Record, p: Record) -> None:
    book = p["handbook"]
    for technician in range(run["technicians"].shape[0]):
        man = run["technicians"][technician]
        man["activity"] = _IDLE
        man["job"] = NONE
        man["since"] = run["clock"]
        man["until"] = 0
        man["address"] = NONE
        man["leg"] = 0
        man["anchor"] = p["home_anchor"][technician]
        man["x"] = book["home_x"][technician]
        man["y"] = book["home_y"][technician]


@kernel
def advance(runs: Runs, i: Int, params: Runs, pool: Pool, metres: Metres, logs: Runs) -> np.int64:
    """Let the world run until somebody may want to know: a `Stop`. A call on the line stops it at
    once.
    """
    stop = advance_run(runs[i], params[0], metres, logs[i])
    look_up(runs[i], pool)
    return stop


@rule
def advance_run(run: Record, p: Record, metres: Metres, log: Record) -> np.int64:
    """`advance` for callers inside kernels, who `look_up` the caller before anybody sees him."""
    run["phoned"] = NONE
    while True:
        if run["phase"] == _ENDED:
            return np.int64(_STOP_ENDED)
        if run["line"] >= 0:
            return np.int64(_NEW_CALL)
        if log["count"] > LOG_EVENTS - LOG_ROOM:
            return np.int64(_EVENTS_FULL)
        stop = _one_thing(run, p, metres, log)
        if stop != 0:
            return stop


@rule
def _one_thing(run: Record, p: Record, metres: Metres, log: Record) -> np.int64:
    """Do the one thing that comes next; the stop it is worth, or 0."""
    if run["phase"] == _NIGHT:
        return _next_morning(run, p, log)
    if run["phase"] == _MORNING:
        run["clock"] = np.int64(run["day"]) * DAY_SECONDS + np.int64(p["handbook"]["calls_from"])
        run["phase"] = _OPEN
        open_lines(run, p)
        for technician in range(np.int64(p["handbook"]["technicians"])):
            go(run, p, metres, log, np.int64(technician))
        return np.int64(0)
    at, what, which = _next_due(run, p)
    run["clock"] = at
    if what == _BY_TECHNICIAN:
        _move(run, p, metres, log, which)
    elif what == _BY_DEADLINE:
        miss(run, p, log, which)
    elif what == _BY_CANCELLATION:
        return _cancel(run, p, metres, log)
    elif what == _BY_CALL:
        number = ring(run, p)
        emit(run, log, _SAID_RANG, number, NONE)
        return np.int64(_NEW_CALL)
    else:
        return _close(run, p, log)
    return np.int64(0)


@rule
def _next_morning(run: Record, p: Record, log: Record) -> np.int64:
    if run["days"][run["day"]]["closed_at"] >= 0:  # all night the closed day is the present one
        if run["day"] + 1 >= p["handbook"]["days"]:
            run["phase"] = _ENDED
            emit(run, log, _SAID_ENDED, NONE, NONE)
            return np.int64(_STOP_ENDED)
        run["day"] += 1
    run["clock"] = np.int64(run["day"]) * DAY_SECONDS + np.int64(p["handbook"]["office_opens"])
    run["phase"] = _MORNING
    _send_home(run, p)
    make_forecast(run, p)
    emit(run, log, _SAID_OPENED, NONE, NONE)
    return np.int64(_DAY_OPENED)


@rule
def _next_due(run: Record, p: Record) -> tuple[np.int64, np.int64, np.int64]:
    """When, what and whose is next: the earliest, and in one second the order of this module's
    first paragraph.
    """
    book = p["handbook"]
    calls_end = np.int64(run["day"]) * DAY_SECONDS + np.int64(book["calls_until"])
    at, what, which = max(np.int64(run["clock"]), calls_end), np.int64(_BY_CLOSE), NONE
    if run["due_next"] < run["due_count"]:
        at, what = np.int64(run["due"][run["due_next"]]["at"]), np.int64(_BY_CALL)
    cancel = np.int64(run["next_cancel"])
    if cancel <= min(at, calls_end):
        at, what = cancel, np.int64(_BY_CANCELLATION)
    deadline, late = next_deadline(run, book)
    if deadline <= at or (what == _BY_CLOSE and late >= 0):
        at, what, which = deadline, np.int64(_BY_DEADLINE), late
    busy, who = _next_technician(run, book)
    if who >= 0 and (busy <= at or what == _BY_CLOSE):
        at, what, which = busy, np.int64(_BY_TECHNICIAN), who
    return at, what, which


@rule
def _next_technician(run: Record, book: Record) -> tuple[np.int64, np.int64]:
    soonest, who = np.int64(NEVER), NONE
    for technician in range(np.int64(book["technicians"])):
        man = run["technicians"][technician]
        if man["activity"] != _IDLE and man["until"] < soonest:
            soonest, who = np.int64(man["until"]), np.int64(technician)
    return soonest, who


@rule
def _move(run: Record, p: Record, metres: Metres, log: Record, technician: Int) -> None:
    activity = run["technicians"][technician]["activity"]
    if activity == _DRIVING:
        arrive(run, p, metres, log, technician)
    elif activity == _WAITING:
        begin(run, p, log, technician)
    else:
        finish(run, p, metres, log, technician)


@rule
def _cancel(run: Record, p: Record, metres: Metres, log: Record) -> np.int64:
    number = _cancelling(run)
    call = run["calls"][number]
    call["cancel_at"] = NONE
    find_next_cancel(run)
    if not BOOKED <= call["state"] <= WAITED_FOR:
        return np.int64(0)  # too late: work has begun, which a notice of zero allows
    on_the_way = call["state"] == DRIVEN_TO
    call["state"] = _WAS_CANCELLED
    call["ended"] = run["clock"]
    run["days"][run["day"]]["cancelled"] += 1
    run["phoned"] = number
    emit(run, log, _SAID_CANCELLED, number, np.int64(call["technician"]))
    if not on_the_way:
        pay_overtime(run, p, log, number, np.int64(call["technician"]))
    if run["bankrupt"] == 1:
        return np.int64(_STOP_ENDED)
    if call["day"] == run["day"]:
        _reconsider(run, p, metres, log, np.int64(call["technician"]))
    return np.int64(_CANCELLATION)


@rule
def _cancelling(run: Record) -> np.int64:
    number = np.int64(0)
    while run["calls"][number]["cancel_at"] != run["next_cancel"]:
        number += 1
    return number


@rule
def _reconsider(run: Record, p: Record, metres: Metres, log: Record, technician: Int) -> None:
    """A technician who is free or waits decides anew; one who drives or works does not."""
    activity = run["technicians"][technician]["activity"]
    if activity in (_IDLE, _WAITING):
        go(run, p, metres, log, technician)


@rule
def _close(run: Record, p: Record, log: Record) -> np.int64:
    today = run["days"][run["day"]]
    update_level(run, p)
    close_books(run, p, log)
    today["closed_at"] = run["clock"]
    today["cash"] = run["cash"]
    if run["bankrupt"] == 1:
        return np.int64(_STOP_ENDED)
    emit(run, log, _SAID_CLOSED, NONE, NONE)
    run["phase"] = _NIGHT
    return np.int64(_DAY_CLOSED)


@kernel
def offer(
    runs: Runs,
    i: Int,
    params: Runs,
    metres: Metres,
    logs: Runs,
    technician: Int,
    ahead: Int,
    window: Int,
) -> np.int64:
    """Make the caller the one offer: ACCEPTED, DECLINED, or minus a `Refusal`, and then nothing has
    changed.
    """
    return offer_to_run(runs[i], params[0], metres, logs[i], technician, ahead, window)


@rule
def offer_to_run(
    run: Record, p: Record, metres: Metres, log: Record, technician: Int, ahead: Int, window: Int
) -> np.int64:
    """`offer` for callers inside kernels."""
    number = np.int64(run["line"])
    if number < 0:
        return np.int64(-_NO_CALL)
    call = run["calls"][number]
    refused = refusal(p["handbook"], run["clock"], call["service"], technician, ahead, window)
    if refused != 0:
        return -refused
    call["registered"] = CUSTOMER | LOCATION  # whoever is made an offer is in the books
    call["technician"] = technician
    call["window"] = window
    call["day"] = np.int64(run["day"]) + np.int64(ahead)
    run["line"] = NONE
    if not accepts(run, p, call, np.int64(call["day"]), np.int64(window)):
        call["state"] = _DECLINED
        run["days"][run["day"]]["declined"] += 1
        emit(run, log, _SAID_DECLINED, number, np.int64(technician))
        return np.int64(DECLINED)
    _book(run, p, metres, log, number)
    return np.int64(ACCEPTED)


@rule
def _book(run: Record, p: Record, metres: Metres, log: Record, number: Int) -> None:
    call = run["calls"][number]
    call["state"] = BOOKED
    call["cancel_at"] = cancel_moment(run, p, call)
    if call["cancel_at"] >= 0:
        run["next_cancel"] = min(np.int64(run["next_cancel"]), np.int64(call["cancel_at"]))
    first = run["route"][call["day"], call["technician"]]
    call["next"] = first
    run["route"][call["day"], call["technician"]] = number
    run["days"][run["day"]]["booked"] += 1
    emit(run, log, _SAID_BOOKED, number, np.int64(call["technician"]))
    if call["day"] == run["day"]:
        _reconsider(run, p, metres, log, np.int64(call["technician"]))


@kernel
def turn_away(runs: Runs, i: Int, logs: Runs, answered: Int) -> np.int64:
    """Reject the call on the line, or (answered = 0) leave it unanswered: the same for the company.
    Minus a `Refusal` where there is no call."""
    return turn_away_in_run(runs[i], logs[i], answered)


@rule
def turn_away_in_run(run: Record, log: Record, answered: Int) -> np.int64:
    """`turn_away` for callers inside kernels."""
    number = np.int64(run["line"])
    if number < 0:
        return np.int64(-_NO_CALL)
    run["line"] = NONE
    run["days"][run["day"]]["rejected"] += 1
    call = run["calls"][number]
    call["state"] = _REJECTED if answered == 1 else _UNANSWERED
    emit(run, log, _SAID_REJECTED if answered == 1 else _SAID_UNANSWERED, number, NONE)
    return np.int64(DECLINED)


@kernel
def acknowledge(runs: Runs, i: Int, logs: Runs) -> np.int64:
    """Acknowledge the cancellation on the line; it stands either way. Minus a `Refusal` where there
    is none.
    """
    return acknowledge_in_run(runs[i], logs[i])


@rule
def acknowledge_in_run(run: Record, log: Record) -> np.int64:
    """`acknowledge` for callers inside kernels."""
    number = np.int64(run["phoned"])
    if number < 0:
        return np.int64(-_NO_CALL)
    run["phoned"] = NONE
    emit(run, log, _SAID_HEARD, number, np.int64(run["calls"][number]["technician"]))
    return np.int64(ACCEPTED)
