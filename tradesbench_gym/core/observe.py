"""Observations and action masks for learners: arrays of whole numbers and of floats, read from DESK
only.

What the arrays hold stands in one table, `OBSERVATION`; the spaces of the environment, its
documentation and the offsets below are derived from it. Sizes here are capacities; the environment
shows as much of each as the scenario has.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from tradesbench_gym.core.codes import Activity, CallState, Entry, code
from tradesbench_gym.core.jit import kernel, rule
from tradesbench_gym.core.layout import (
    BOOKING_DAYS,
    DAY_SECONDS,
    FORECAST_DAYS,
    MAX_TECHNICIANS,
    MAX_WINDOWS,
    MAX_ZONES,
    Int,
    Record,
)
from tradesbench_gym.core.plan import Desks, planned_length, slot_of
from tradesbench_gym.core.rules.calendar import refusal, weekday

OPEN_JOBS = 256
JOB_COLUMNS = 9
COUNTS = 8
_SLOTS = MAX_TECHNICIANS * BOOKING_DAYS * MAX_WINDOWS
_SKIES = (FORECAST_DAYS + 1) * MAX_ZONES
_KM = np.float32(0.001)
_CENT = 0.01
_MINUTE = 60.0
_HOUR = 3_600.0
WORST_SLACK = -1_440.0
BEST_SLACK = 1_440.0

_BOOKED, _WORKING_ON = code(CallState.BOOKED), code(CallState.WORKING)
_WORKING = code(Activity.WORKING)


class Part(NamedTuple):
    """One array of the observation: name, whether of floats, capacity, unit and meaning."""

    name: str
    floats: bool
    size: int
    unit: str
    meaning: str


OBSERVATION = (
    Part(
        "call",
        False,
        5,
        "category",
        "a call is on the line (0/1), service, customer type, urgent (0/1), zone",
    ),
    Part(
        "last_answer",
        False,
        1,
        "category",
        "your last: 0 none or refused, 1 rejected, 2 declined, 3 accepted",
    ),
    Part(
        "activity",
        False,
        MAX_TECHNICIANS,
        "category",
        "of each technician: 0 idle, 1 driving, 2 waiting, 3 working",
    ),
    Part("slot_jobs", False, _SLOTS, "jobs", "open jobs in each technician x day ahead x window"),
    Part(
        "weather", False, _SKIES, "category", "of each day ahead (0 to 7) x zone: see `Condition`"
    ),
    Part(
        "open_jobs",
        False,
        OPEN_JOBS * JOB_COLUMNS,
        "mixed",
        "open jobs, the next days first, a row each: see the class",
    ),
    Part("today", False, COUNTS, "calls, jobs", "today: see `counts`"),
    Part(
        "counts",
        False,
        COUNTS,
        "calls, jobs",
        "so far: calls, booked, declined, rejected; done, missed, failed, cancelled",
    ),
    Part(
        "time", True, 4, "mixed", "day of the run, hour of the day, weekday (Monday 0), days left"
    ),
    Part("cash", True, 1, "dollars", "cash"),
    Part("ledger", True, len(Entry), "dollars", "sum of the ledger by kind of entry: see `Entry`"),
    Part("call_place", True, 2, "km", "the caller's place, east and north"),
    Part(
        "place",
        True,
        2 * MAX_TECHNICIANS,
        "km",
        "where each technician stands or set off from, east and north",
    ),
    Part(
        "free_in", True, MAX_TECHNICIANS, "min", "until a job in progress ends by plan; 0 if none"
    ),
    Part(
        "slot_minutes",
        True,
        _SLOTS,
        "min",
        "planned time on site in each technician x day ahead x window",
    ),
    Part("high", True, _SKIES, "°F", "high of each day ahead (0 to 7) x zone"),
)
PLANNED = (
    Part(
        "slot_slack",
        True,
        _SLOTS,
        "min",
        "least time to spare on the route with the call in that slot",
    ),
    Part(
        "slot_added",
        True,
        _SLOTS,
        "km",
        "driving it adds, by the plan; 0 where the slot is not legal",
    ),
)
"""What `observation="planned"` adds: the dispatcher's own plan."""


def _offsets(floats: bool) -> dict[str, int]:
    place, found = 0, {}
    for piece in OBSERVATION + PLANNED:
        if piece.floats == floats:
            found[piece.name] = place
            place += piece.size
    return {**found, "": place}


FLOAT_OFFSETS = _offsets(True)
INT_OFFSETS = _offsets(False)
FLOATS = FLOAT_OFFSETS["slot_slack"]
PLANNED_FLOATS = FLOAT_OFFSETS[""]
INTS = INT_OFFSETS[""]
MASK_WORDS = _SLOTS // 4

_CALL, _LAST, _ACTIVITY = INT_OFFSETS["call"], INT_OFFSETS["last_answer"], INT_OFFSETS["activity"]
_SLOT_JOBS, _WEATHER, _OPEN_JOBS = (
    INT_OFFSETS["slot_jobs"],
    INT_OFFSETS["weather"],
    INT_OFFSETS["open_jobs"],
)
_TODAY, _COUNTS = INT_OFFSETS["today"], INT_OFFSETS["counts"]
_TIME, _CASH, _LEDGER = FLOAT_OFFSETS["time"], FLOAT_OFFSETS["cash"], FLOAT_OFFSETS["ledger"]
_CALL_PLACE, _PLACE, _FREE_IN = (
    FLOAT_OFFSETS["call_place"],
    FLOAT_OFFSETS["place"],
    FLOAT_OFFSETS["free_in"],
)
_SLOT_MINUTES, _HIGH = FLOAT_OFFSETS["slot_minutes"], FLOAT_OFFSETS["high"]
_SLOT_SLACK, _SLOT_ADDED = FLOAT_OFFSETS["slot_slack"], FLOAT_OFFSETS["slot_added"]

Floats = npt.NDArray[np.float32]
Ints = npt.NDArray[np.int32]
Out = npt.NDArray[np.int32]
Outs = npt.NDArray[np.int32]
"""A row a run: INTS whole numbers, FLOATS (or PLANNED_FLOATS) floats, MASK_WORDS of mask bytes."""


@rule
def write_mask(desk: Record, mask: npt.NDArray[np.int8]) -> None:
    """Write 1 for each technician x day ahead x window that the company lets out for the call on
    the line into a zeroed array.
    """
    if desk["line"] < 0:
        return
    book = desk["handbook"]
    service = np.int64(desk["calls"][desk["line"]]["service"])
    clock = np.int64(desk["clock"])
    place = 0
    for technician in range(np.int64(book["technicians"])):
        for ahead in range(np.int64(book["booking_days"])):
            for window in range(np.int64(book["windows"])):
                mask[place] = refusal(book, clock, service, technician, ahead, window) == 0
                place += 1


@rule
def write_observation(desk: Record, last_answer: Int, ints: Ints, floats: Floats) -> None:
    """Fill zeroed arrays with everything of `OBSERVATION`."""
    ints[_LAST] = last_answer
    _write_call(desk, ints, floats)
    _write_people(desk, ints, floats)
    _write_slots(desk, ints, floats)
    _write_weather(desk, ints, floats)
    _write_counts(desk, ints)
    clock = np.int64(desk["clock"])
    floats[_TIME] = desk["day"]
    floats[_TIME + 1] = (clock - np.int64(desk["day"]) * DAY_SECONDS) / _HOUR
    floats[_TIME + 2] = weekday(desk["handbook"], np.int64(desk["day"]))
    floats[_TIME + 3] = desk["handbook"]["days"] - desk["day"]
    floats[_CASH] = desk["cash"] * _CENT
    for entry in range(desk["ledger"].shape[0]):
        floats[_LEDGER + entry] = desk["ledger"][entry] * _CENT


@rule
def _write_call(desk: Record, ints: Ints, floats: Floats) -> None:
    if desk["line"] < 0:
        return
    call = desk["calls"][desk["line"]]
    ints[_CALL] = 1
    ints[_CALL + 1] = call["service"]
    ints[_CALL + 2] = call["customer"]
    ints[_CALL + 3] = call["urgent"]
    ints[_CALL + 4] = call["zone"]
    floats[_CALL_PLACE] = call["x"] * _KM
    floats[_CALL_PLACE + 1] = call["y"] * _KM


@rule
def _write_people(desk: Record, ints: Ints, floats: Floats) -> None:
    book = desk["handbook"]
    clock = np.int64(desk["clock"])
    for technician in range(np.int64(book["technicians"])):
        man = desk["technicians"][technician]
        ints[_ACTIVITY + technician] = man["activity"]
        floats[_PLACE + 2 * technician] = man["x"] * _KM
        floats[_PLACE + 2 * technician + 1] = man["y"] * _KM
        if man["activity"] == _WORKING:
            service = np.int64(desk["calls"][man["job"]]["service"])
            ends = np.int64(man["since"]) + planned_length(book, desk["plan"], technician, service)
            floats[_FREE_IN + technician] = max(np.int64(0), ends - clock) / _MINUTE


@rule
def _write_slots(desk: Record, ints: Ints, floats: Floats) -> None:
    book = desk["handbook"]
    row = np.int64(0)
    days, windows = np.int64(book["booking_days"]), np.int64(book["windows"])
    for ahead in range(days):
        for technician in range(np.int64(book["technicians"])):
            number = np.int64(desk["route"][np.int64(desk["day"]) + ahead, technician])
            while number >= 0:
                call = desk["calls"][number]
                if _BOOKED <= call["state"] <= _WORKING_ON:
                    place = (technician * days + ahead) * windows + np.int64(call["window"])
                    ints[_SLOT_JOBS + place] += 1
                    length = planned_length(
                        book, desk["plan"], technician, np.int64(call["service"])
                    )
                    floats[_SLOT_MINUTES + place] += length / _MINUTE
                    if row < OPEN_JOBS:
                        _write_job(call, ints, _OPEN_JOBS + row * JOB_COLUMNS, ahead)
                        row += 1
                number = np.int64(call["next"])


@rule
def _write_job(call: Record, ints: Ints, place: Int, ahead: Int) -> None:
    ints[place] = np.int64(call["state"])
    ints[place + 1] = np.int64(call["technician"])
    ints[place + 2] = ahead
    ints[place + 3] = np.int64(call["window"])
    ints[place + 4] = np.int64(call["service"])
    ints[place + 5] = np.int64(call["customer"])
    ints[place + 6] = np.int64(call["urgent"])
    ints[place + 7] = np.int64(call["x"])
    ints[place + 8] = np.int64(call["y"])


@rule
def _write_weather(desk: Record, ints: Ints, floats: Floats) -> None:
    zones = np.int64(desk["handbook"]["zones"])
    for ahead in range(FORECAST_DAYS + 1):
        for zone in range(zones):
            sky = desk["forecast"][ahead, zone]
            ints[_WEATHER + ahead * zones + zone] = sky["condition"]
            floats[_HIGH + ahead * zones + zone] = sky["high"]


@rule
def _write_counts(desk: Record, ints: Ints) -> None:
    for day in range(np.int64(desk["day"]) + 1):
        row = desk["days"][day]
        for start in (_TODAY, _COUNTS):
            if start == _TODAY and day < desk["day"]:
                continue
            ints[start] += row["calls"]
            ints[start + 1] += row["booked"]
            ints[start + 2] += row["declined"]
            ints[start + 3] += row["rejected"]
            ints[start + 4] += row["done"]
            ints[start + 5] += row["missed"]
            ints[start + 6] += row["failed"]
            ints[start + 7] += row["cancelled"]


@rule
def write_plan(desk: Record, mask: npt.NDArray[np.int8], floats: Floats) -> None:
    """Add the dispatcher's plan for the call on the line to `floats` with room for `PLANNED`."""
    book = desk["handbook"]
    place = 0
    for technician in range(np.int64(book["technicians"])):
        for ahead in range(np.int64(book["booking_days"])):
            for window in range(np.int64(book["windows"])):
                floats[_SLOT_SLACK + place] = WORST_SLACK
                if mask[place] == 1:
                    slack, added = slot_of(desk, desk["plan"], technician, ahead, window)
                    minutes = min(max(slack / _MINUTE, WORST_SLACK), BEST_SLACK)
                    floats[_SLOT_SLACK + place] = minutes
                    floats[_SLOT_ADDED + place] = added * _KM
                place += 1


@rule
def write_out(desk: Record, last_answer: Int, out: Out) -> None:
    """Fill one zeroed row: whole numbers, floats and mask behind one another."""
    ints = out[:INTS]
    floats = out[INTS : out.shape[0] - MASK_WORDS].view(np.float32)
    mask = out[out.shape[0] - MASK_WORDS :].view(np.int8)
    write_mask(desk, mask)
    write_observation(desk, last_answer, ints, floats)
    if floats.shape[0] == PLANNED_FLOATS:
        write_plan(desk, mask, floats)


@kernel
def mask(desks: Desks, j: Int, mask: npt.NDArray[np.int8]) -> None:
    """Write 1 into a zeroed array for each offer the company lets out, as `write_mask` does."""
    write_mask(desks[j], mask)


@kernel
def observe(desks: Desks, j: Int, last_answer: Int, outs: Outs) -> None:
    """Write observation and mask of desks[j] into the zeroed row outs[j], with the plan if it has
    room for it.
    """
    write_out(desks[j], last_answer, outs[j])
