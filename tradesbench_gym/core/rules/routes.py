"""How a technician's day is worked: earliest window first, then the nearest job (A.6 and A.7 of the
report).

`goes_first` and `begins` say the rule; the dispatcher's plan (`core/plan.py`) follows the same two
with its own estimates. The rest moves the technicians of the true world. That work which starts
exactly at the close is on time follows from the engine's order of things due in one second.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from tradesbench_gym.core import draws
from tradesbench_gym.core.codes import Activity, CallState, Kind, code
from tradesbench_gym.core.draws import div_round
from tradesbench_gym.core.jit import inlined, rule
from tradesbench_gym.core.layout import DAY_SECONDS, NONE, Int, Record
from tradesbench_gym.core.log import emit
from tradesbench_gym.core.rules.calendar import is_weekend, qualified, window_closes, window_opens
from tradesbench_gym.core.rules.customers import NEVER, lose
from tradesbench_gym.core.rules.money import bill, count_overtime, pay_overtime
from tradesbench_gym.core.rules.weather import weather_at

_DRIVE = code(draws.Event.DRIVE)
_VISIT = code(draws.Event.VISIT)
_IDLE, _DRIVING = code(Activity.IDLE), code(Activity.DRIVING)
_WAITING, _WORKING = code(Activity.WAITING), code(Activity.WORKING)
BOOKED = code(CallState.BOOKED)
DRIVEN_TO = code(CallState.DRIVING)
WAITED_FOR = code(CallState.WAITING)
WORKED_ON = code(CallState.WORKING)
_DONE, _FAILED, _MISSED = code(CallState.DONE), code(CallState.FAILED), code(CallState.MISSED)
_SAID_DEPARTED, _SAID_ARRIVED, _SAID_STARTED = (
    code(Kind.DEPARTED),
    code(Kind.ARRIVED),
    code(Kind.STARTED),
)
_SAID_DONE, _SAID_FAILED, _SAID_MISSED = code(Kind.DONE), code(Kind.FAILED), code(Kind.MISSED)
_HOUR = np.int64(3_600)
_THOUSANDTHS = np.int64(1_000)


@inlined
def goes_first(
    window: Int, metres: Int, number: Int, best_window: Int, best_metres: Int, best_number: Int
) -> bool:
    """The earliest window goes first, within it the nearest job, among equals the lower number;
    best_number -1: none.
    """
    if best_number < 0 or window != best_window:
        return bool(best_number < 0 or window < best_window)
    if metres != best_metres:
        return bool(metres < best_metres)
    return bool(number < best_number)


@inlined
def begins(arrival: Int, opens: Int) -> np.int64:
    """Work never starts before the window opens."""
    return max(np.int64(arrival), np.int64(opens))


@rule
def road_metres(metres: npt.NDArray[np.int32], man: Record, call: Record) -> np.int64:
    """Road distance from where a technician stands to a job: address, anchor, anchor, address
    (A.6).
    """
    if man["address"] == call["address"]:
        return np.int64(0)
    between = np.int64(metres[man["anchor"], call["anchor"]])
    return np.int64(man["leg"]) + between + np.int64(call["leg"])


@rule
def drive_seconds(run: Record, p: Record, call: Record, distance: Int) -> np.int64:
    """Time of the drive to a job that sets off now: the hour's speed, the zone's weather, the
    trip's own variation.
    """
    word, _, _, _ = draws.of_call(run, _DRIVE, call)
    low, high = np.int64(p["variation"][0]), np.int64(p["variation"][1])
    variation = low + draws.below(word, high - low + 1)
    clock = np.int64(run["clock"])
    weekend = np.int64(is_weekend(p["handbook"], clock // DAY_SECONDS))
    speed = np.int64(p["speed"][weekend, clock % DAY_SECONDS // _HOUR])
    weather = np.int64(p["drive_weather"][weather_at(run, np.int64(call["zone"]), clock)])
    return div_round(
        np.int64(distance) * _HOUR * weather * variation, speed * _THOUSANDTHS * _THOUSANDTHS
    )


@rule
def site_seconds(run: Record, p: Record, call: Record) -> np.int64:
    """Time on site, drawn by the job alone; a visit that must fail takes its fixed time."""
    book = p["handbook"]
    service = np.int64(call["service"])
    if not qualified(book, np.int64(call["technician"]), service):
        return np.int64(book["failed_visit"])
    word, _, _, _ = draws.of_call(run, _VISIT, call)
    shortest, typical = np.int64(book["shortest"][service]), np.int64(book["typical"][service])
    return draws.triangle(word, shortest, typical, np.int64(book["longest"][service]))


@rule
def first_job(run: Record, metres: npt.NDArray[np.int32], technician: Int) -> np.int64:
    """The job of today that the technician, free where he stands, takes next; NONE if there is
    none.
    """
    man = run["technicians"][technician]
    best, best_window, best_metres = np.int64(NONE), np.int64(0), np.int64(0)
    number = np.int64(run["route"][run["day"], technician])
    while number >= 0:
        call = run["calls"][number]
        if call["state"] == BOOKED or call["state"] == WAITED_FOR:
            window, distance = np.int64(call["window"]), road_metres(metres, man, call)
            if goes_first(window, distance, number, best_window, best_metres, best):
                best, best_window, best_metres = number, window, distance
        number = np.int64(call["next"])
    return best


@rule
def go(run: Record, p: Record, metres: npt.NDArray[np.int32], log: Record, technician: Int) -> None:
    """Let a technician who is free, or waits on site, take what comes first and set off."""
    man = run["technicians"][technician]
    number = first_job(run, metres, technician)
    if man["activity"] == _WAITING:
        if number == man["job"]:
            return
        _leave(run, np.int64(man["job"]))
    man["since"] = run["clock"]
    man["job"] = number
    if number < 0:
        man["activity"] = _IDLE
        return
    call = run["calls"][number]
    call["metres"] = road_metres(metres, man, call)
    call["departed"] = run["clock"]
    call["state"] = DRIVEN_TO
    man["activity"] = _DRIVING
    man["until"] = np.int64(run["clock"]) + drive_seconds(run, p, call, np.int64(call["metres"]))
    emit(run, log, _SAID_DEPARTED, number, technician)


@rule
def _leave(run: Record, number: Int) -> None:
    call = run["calls"][number]
    if call["state"] == WAITED_FOR:  # not where the customer has just cancelled
        call["state"] = BOOKED
        call["departed"] = NONE
        call["arrived"] = NONE


@rule
def arrive(
    run: Record, p: Record, metres: npt.NDArray[np.int32], log: Record, technician: Int
) -> None:
    """End a drive: begin or wait; if the job was missed or cancelled meanwhile, decide anew."""
    man = run["technicians"][technician]
    number = np.int64(man["job"])
    call = run["calls"][number]
    count_overtime(run, p, number, technician, np.int64(man["since"]), np.int64(run["clock"]))
    man["address"] = call["address"]
    man["anchor"] = call["anchor"]
    man["leg"] = call["leg"]
    man["x"] = call["x"]
    man["y"] = call["y"]
    man["since"] = run["clock"]
    man["activity"] = _IDLE
    man["job"] = NONE
    call["arrived"] = run["clock"]
    emit(run, log, _SAID_ARRIVED, number, technician)
    if call["state"] != DRIVEN_TO:
        pay_overtime(run, p, log, number, technician)
        if run["bankrupt"] == 0:
            go(run, p, metres, log, technician)
        return
    man["activity"] = _WAITING
    man["job"] = number
    man["until"] = begins(
        np.int64(run["clock"]),
        window_opens(p["handbook"], np.int64(call["day"]), np.int64(call["window"])),
    )
    call["state"] = WAITED_FOR
    if man["until"] == run["clock"]:
        begin(run, p, log, technician)
    else:
        go(run, p, metres, log, technician)  # what was booked on the way may come first


@rule
def begin(run: Record, p: Record, log: Record, technician: Int) -> None:
    """Start work: its length is drawn now."""
    man = run["technicians"][technician]
    call = run["calls"][man["job"]]
    call["state"] = WORKED_ON
    call["started"] = run["clock"]
    man["activity"] = _WORKING
    man["since"] = run["clock"]
    man["until"] = np.int64(run["clock"]) + site_seconds(run, p, call)
    emit(run, log, _SAID_STARTED, np.int64(man["job"]), technician)


@rule
def finish(
    run: Record, p: Record, metres: npt.NDArray[np.int32], log: Record, technician: Int
) -> None:
    """End work: done and billed, or failed; then take the next job."""
    man = run["technicians"][technician]
    number = np.int64(man["job"])
    call = run["calls"][number]
    today = run["days"][run["day"]]
    count_overtime(run, p, number, technician, np.int64(man["since"]), np.int64(run["clock"]))
    call["ended"] = run["clock"]
    man["activity"] = _IDLE
    man["job"] = NONE
    if qualified(p["handbook"], technician, np.int64(call["service"])):
        call["state"] = _DONE
        today["done"] += 1
        emit(run, log, _SAID_DONE, number, technician)
        bill(run, p, log, number)
    else:
        call["state"] = _FAILED
        today["failed"] += 1
        lose(run, call)
        emit(run, log, _SAID_FAILED, number, technician)
        pay_overtime(run, p, log, number, technician)
    if run["bankrupt"] == 0:
        go(run, p, metres, log, technician)


@rule
def miss(run: Record, p: Record, log: Record, number: Int) -> None:
    """An appointment not begun when its window closes is missed at that moment, wherever the
    technician is.
    """
    call = run["calls"][number]
    on_the_way = call["state"] == DRIVEN_TO
    call["state"] = _MISSED
    call["ended"] = run["clock"]
    run["days"][run["day"]]["missed"] += 1
    lose(run, call)
    emit(run, log, _SAID_MISSED, number, np.int64(call["technician"]))
    if not on_the_way:  # of an earlier drive to it; who is on his way is paid when he arrives
        pay_overtime(run, p, log, number, np.int64(call["technician"]))


@inlined
def next_deadline(run: Record, book: Record) -> tuple[np.int64, np.int64]:
    """The appointment of today whose window closes first without work begun: its close and number
    (NONE: none).
    """
    soonest, which = np.int64(NEVER), NONE
    for technician in range(np.int64(book["technicians"])):
        number = np.int64(run["route"][run["day"], technician])
        while number >= 0:
            call = run["calls"][number]
            if BOOKED <= call["state"] <= WAITED_FOR:
                closes = window_closes(book, np.int64(call["day"]), np.int64(call["window"]))
                if closes < soonest or (closes == soonest and number < which):
                    soonest, which = closes, number
            number = np.int64(call["next"])
    return soonest, which
