"""Observations and masks for learners, written from DESK into the arrays of `core/parts.py`."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from tradesbench_gym.core.codes import Activity, CallState, code
from tradesbench_gym.core.jit import inlined, kernel, rule
from tradesbench_gym.core.layout import DAY_SECONDS, MAX_ZONES, Int, Record
from tradesbench_gym.core.machine import convert_row
from tradesbench_gym.core.parts import (
    BEST_SLACK,
    COUNTS,
    JOB_COLUMNS,
    MOST_IN_A_SLOT,
    OPEN_JOBS,
    PARTS,
    SKY_DAYS,
    WORD,
    WORST_SLACK,
    Where,
    Words,
)
from tradesbench_gym.core.plan import Desks, planned_length, slot_of
from tradesbench_gym.core.rules.calendar import (
    is_installation,
    is_weekend,
    slot_refusal,
    weekday,
    window_opens,
)
from tradesbench_gym.core.walk import DAYS_A_WORD, next_route, routes_in_use

_KM = np.float32(0.001)
_CENT = 0.01
_MINUTE = 60.0
_HOUR = 3_600.0

_BOOKED, _WORKING_ON = code(CallState.BOOKED), code(CallState.WORKING)
_WORKING = code(Activity.WORKING)

# As NumPy's: of a plain number a kernel would make a type, and compile for each anew.
_PLACE_OF = {part.name: np.int64(index) for index, part in enumerate(PARTS)}
_CALL, _LAST, _ACTIVITY = _PLACE_OF["call"], _PLACE_OF["last_answer"], _PLACE_OF["activity"]
_SLOT_JOBS, _WEATHER, _OPEN = _PLACE_OF["slot_jobs"], _PLACE_OF["weather"], _PLACE_OF["open_jobs"]
_TODAY, _COUNTS = _PLACE_OF["today"], _PLACE_OF["counts"]
_TIME, _CASH, _LEDGER = _PLACE_OF["time"], _PLACE_OF["cash"], _PLACE_OF["ledger"]
_JOB_PLACES = _PLACE_OF["job_places"]
_CALL_PLACE, _PLACE, _FREE_IN = _PLACE_OF["call_place"], _PLACE_OF["place"], _PLACE_OF["free_in"]
_SLOT_MINUTES, _HIGH, _MASK = _PLACE_OF["slot_minutes"], _PLACE_OF["high"], _PLACE_OF["action_mask"]
_SLOT_SLACK, _SLOT_ADDED = _PLACE_OF["slot_slack"], _PLACE_OF["slot_added"]

_ZEROED = (_SLOT_JOBS, _SLOT_MINUTES, _OPEN, _JOB_PLACES)
"""Of these only some entries are written; the others begin as zeroes."""

Floats = npt.NDArray[np.float32]
Small = npt.NDArray[np.int8]
Mask = npt.NDArray[np.int8]
Masks = npt.NDArray[np.int8]
"""What `all_masks` writes, shape (2, 7, windows + 1, slots)."""


@inlined
def _row(where: Where, part: Int, runs: Int, i: Int) -> np.int64:
    """The word at which an array's row of run i of so many begins."""
    return np.int64(runs * where[part] + i * (where[part + 1] - where[part]))


@rule
def write_mask(book: Record, clock: Int, installs: bool, mask: Mask) -> None:
    """Write 1 for each slot that the company lets out at a moment, for an installation or other
    work, into zeroes.
    """
    slots = np.int64(book["booking_days"]) * np.int64(book["windows"])
    for technician in range(np.int64(book["technicians"])):
        own, twin = mask[technician * slots :], _same_hours(book, technician)
        if twin < technician:  # what is let out depends on a technician's hours, not on who he is
            other = mask[twin * slots :]
            for slot in range(slots):
                own[slot] = other[slot]
        else:
            _write_hours(book, clock, np.int64(book["on_call"][technician]), installs, own)


@rule
def _write_hours(book: Record, clock: Int, on_call: Int, installs: bool, mask: Mask) -> None:
    days, windows = np.int64(book["booking_days"]), np.int64(book["windows"])
    today = np.int64(clock) // DAY_SECONDS
    for ahead in range(days):
        weekend = is_weekend(book, today + ahead)
        for window in range(windows):
            refused = slot_refusal(book, clock, today + ahead, weekend, window, on_call, installs)
            mask[ahead * windows + window] = refused == 0


@rule
def _same_hours(book: Record, technician: Int) -> np.int64:
    """The first technician who is on call if this one is."""
    other = np.int64(0)
    while book["on_call"][other] != book["on_call"][technician]:
        other += 1
    return other


@inlined
def _begun(book: Record, clock: Int) -> np.int64:
    """How many windows of the day have begun: with the weekday all that a mask hangs on."""
    begun, today = np.int64(0), np.int64(clock) // DAY_SECONDS
    for window in range(np.int64(book["windows"])):
        begun += np.int64(window_opens(book, today, window) < clock)
    return begun


@inlined
def copy_mask(book: Record, clock: Int, service: Int, masks: Masks, mask: Mask) -> None:
    """The mask of a moment out of all there are: to work it out takes a tenth of a step."""
    installs, today = is_installation(book, service), weekday(book, np.int64(clock) // DAY_SECONDS)
    found = masks[np.int64(installs), today, _begun(book, clock)]
    for slot in range(mask.shape[0]):
        mask[slot] = found[slot]


@inlined
def write_observation(
    desk: Record, last_answer: Int, where: Where, runs: Int, i: Int, words: Words
) -> None:
    """Fill the rows of run i of so many, of which `_ZEROED` hold zeroes, with all `OBSERVATION`."""
    floats, small = words.view(np.float32), words.view(np.int8)
    words[_row(where, _LAST, runs, i)] = last_answer
    _write_call(desk, where, runs, i, words, floats)
    _write_people(desk, where, runs, i, words, floats)
    _write_slots(desk, where, runs, i, small, floats)
    _write_weather(desk, where, runs, i, small, floats)
    _write_counts(desk, where, runs, i, words)
    clock = np.int64(desk["clock"])
    time = _row(where, _TIME, runs, i)
    floats[time] = desk["day"]
    floats[time + 1] = (clock - np.int64(desk["day"]) * DAY_SECONDS) / _HOUR
    floats[time + 2] = weekday(desk["handbook"], np.int64(desk["day"]))
    floats[time + 3] = desk["handbook"]["days"] - desk["day"]
    floats[_row(where, _CASH, runs, i)] = desk["cash"] * _CENT
    ledger = _row(where, _LEDGER, runs, i)
    for entry in range(desk["ledger"].shape[0]):
        floats[ledger + entry] = desk["ledger"][entry] * _CENT


@inlined
def _write_call(
    desk: Record, where: Where, runs: Int, i: Int, words: Words, floats: Floats
) -> None:
    start, place = _row(where, _CALL, runs, i), _row(where, _CALL_PLACE, runs, i)
    if desk["line"] < 0:
        words[start : start + 5] = 0
        floats[place : place + 2] = 0
        return
    call = desk["calls"][desk["line"]]
    words[start] = 1
    words[start + 1] = call["service"]
    words[start + 2] = call["customer"]
    words[start + 3] = call["urgent"]
    words[start + 4] = call["zone"]
    floats[place] = call["x"] * _KM
    floats[place + 1] = call["y"] * _KM


@inlined
def _write_people(
    desk: Record, where: Where, runs: Int, i: Int, words: Words, floats: Floats
) -> None:
    book = desk["handbook"]
    clock = np.int64(desk["clock"])
    activity, place = _row(where, _ACTIVITY, runs, i), _row(where, _PLACE, runs, i)
    free_in = _row(where, _FREE_IN, runs, i)
    for technician in range(np.int64(book["technicians"])):
        man = desk["technicians"][technician]
        words[activity + technician] = man["activity"]
        floats[place + 2 * technician] = man["x"] * _KM
        floats[place + 2 * technician + 1] = man["y"] * _KM
        floats[free_in + technician] = 0
        if man["activity"] == _WORKING:
            service = np.int64(desk["calls"][man["job"]]["service"])
            ends = np.int64(man["since"]) + planned_length(book, desk["plan"], technician, service)
            floats[free_in + technician] = max(np.int64(0), ends - clock) / _MINUTE


@inlined
def _write_slots(
    desk: Record, where: Where, runs: Int, i: Int, small: Small, floats: Floats
) -> None:
    book = desk["handbook"]
    row = np.int64(0)
    days, windows = np.int64(book["booking_days"]), np.int64(book["windows"])
    jobs, minutes = WORD * _row(where, _SLOT_JOBS, runs, i), _row(where, _SLOT_MINUTES, runs, i)
    rows, places = WORD * _row(where, _OPEN, runs, i), _row(where, _JOB_PLACES, runs, i)
    today = np.int64(desk["day"])
    for first in range(np.int64(0), days, DAYS_A_WORD):
        left = routes_in_use(desk["route"], today + first, days - first)
        while left != 0:
            later, technician, number, left = next_route(desk["route"], today + first, left)
            ahead = first + later
            while number >= 0:
                call = desk["calls"][number]
                if _BOOKED <= call["state"] <= _WORKING_ON:
                    slot = (technician * days + ahead) * windows + np.int64(call["window"])
                    length = planned_length(
                        book, desk["plan"], technician, np.int64(call["service"])
                    )
                    if small[jobs + slot] < MOST_IN_A_SLOT:
                        small[jobs + slot] += 1
                    floats[minutes + slot] += length / _MINUTE
                    if row < OPEN_JOBS:
                        _write_job(call, small, rows + row * JOB_COLUMNS, ahead)
                        floats[places + 2 * row] = call["x"] * _KM
                        floats[places + 2 * row + 1] = call["y"] * _KM
                        row += 1
                number = np.int64(call["next"])


@inlined
def _write_job(call: Record, small: Small, place: Int, ahead: Int) -> None:
    small[place] = call["state"]
    small[place + 1] = call["technician"]
    small[place + 2] = ahead
    small[place + 3] = call["window"]
    small[place + 4] = call["service"]
    small[place + 5] = call["customer"]
    small[place + 6] = call["urgent"]
    small[place + 7] = call["zone"]


@inlined
def _write_weather(
    desk: Record, where: Where, runs: Int, i: Int, small: Small, floats: Floats
) -> None:
    zones = np.int64(desk["handbook"]["zones"])
    weather, high = WORD * _row(where, _WEATHER, runs, i), _row(where, _HIGH, runs, i)
    condition, most = desk["forecast"]["condition"], desk["forecast"]["high"]
    for ahead in range(SKY_DAYS):
        first = np.int64(ahead) * zones
        # Rows of the record are the longer ones: what is too much, the next day overwrites.
        if first + MAX_ZONES <= SKY_DAYS * zones:
            convert_row(condition, np.int64(ahead), small, weather + first)
            convert_row(most, np.int64(ahead), floats, high + first)
        else:
            for zone in range(zones):
                small[weather + first + zone] = condition[ahead, zone]
                floats[high + first + zone] = most[ahead, zone]


@inlined
def _write_counts(desk: Record, where: Where, runs: Int, i: Int, words: Words) -> None:
    start, today = _row(where, _COUNTS, runs, i), _row(where, _TODAY, runs, i)
    words[start : start + COUNTS] = 0
    for day in range(np.int64(desk["day"]) + 1):
        _add_counts(desk["days"][day], words, start)
    words[today : today + COUNTS] = 0
    _add_counts(desk["days"][desk["day"]], words, today)


@inlined
def _add_counts(day: Record, words: Words, start: Int) -> None:
    words[start] += day["calls"]
    words[start + 1] += day["booked"]
    words[start + 2] += day["declined"]
    words[start + 3] += day["rejected"]
    words[start + 4] += day["done"]
    words[start + 5] += day["missed"]
    words[start + 6] += day["failed"]
    words[start + 7] += day["cancelled"]


@inlined
def write_plan(desk: Record, mask: Mask, floats: Floats, slack_at: Int, added_at: Int) -> None:
    """Write the dispatcher's plan for the call on the line: `PLANNED`, for the slots of a mask."""
    book = desk["handbook"]
    place = np.int64(0)
    for technician in range(np.int64(book["technicians"])):
        for ahead in range(np.int64(book["booking_days"])):
            for window in range(np.int64(book["windows"])):
                floats[slack_at + place] = WORST_SLACK
                floats[added_at + place] = 0
                if mask[place] == 1:
                    slack, added = slot_of(desk, desk["plan"], technician, ahead, window)
                    minutes = min(max(slack / _MINUTE, WORST_SLACK), BEST_SLACK)
                    floats[slack_at + place] = minutes
                    floats[added_at + place] = added * _KM
                place += 1


@inlined
def write_out(
    desk: Record,
    last_answer: Int,
    where: Where,
    masks: Masks,
    runs: Int,
    i: Int,
    words: Words,
) -> None:
    """Write observation and mask of run i of so many, with the plan if there is room for it."""
    for part in _ZEROED:
        first = _row(where, part, runs, i)
        words[first : first + where[part + 1] - where[part]] = 0
    write_observation(desk, last_answer, where, runs, i, words)
    first = WORD * _row(where, _MASK, runs, i)
    mask = words.view(np.int8)[first : first + np.int64(masks.shape[3])]
    if desk["line"] >= 0:
        service = np.int64(desk["calls"][desk["line"]]["service"])
        copy_mask(desk["handbook"], np.int64(desk["clock"]), service, masks, mask)
    else:
        mask[:] = 0
    if where[_SLOT_SLACK + 1] > where[_SLOT_SLACK]:
        slack, added = _row(where, _SLOT_SLACK, runs, i), _row(where, _SLOT_ADDED, runs, i)
        write_plan(desk, mask, words.view(np.float32), slack, added)


@kernel
def mask(desks: Desks, j: Int, mask: Mask) -> None:
    """Write 1 into a zeroed array for each offer the company lets out to the call on the line."""
    desk = desks[j]
    if desk["line"] >= 0:
        service = np.int64(desk["calls"][desk["line"]]["service"])
        installs = is_installation(desk["handbook"], service)
        write_mask(desk["handbook"], np.int64(desk["clock"]), installs, mask)


@kernel
def all_masks(desks: Desks, masks: Masks) -> None:
    """Write every mask of a company into zeroes: by installation (0, 1), weekday, windows begun."""
    book = desks[0]["handbook"]
    for day in range(masks.shape[1]):
        midnight = np.int64(day) * DAY_SECONDS
        for begun in range(masks.shape[2]):
            clock = midnight
            if begun > 0:
                clock = window_opens(book, np.int64(day), np.int64(begun) - 1) + 1
            for installs in range(masks.shape[0]):
                found = masks[installs, weekday(book, np.int64(day)), begun]
                write_mask(book, clock, installs == 1, found)


@kernel
def observe(
    desks: Desks, j: Int, last_answer: Int, where: Where, masks: Masks, words: Words
) -> None:
    """Write observation and mask of desks[j] into row j of a block for all of them."""
    write_out(desks[j], last_answer, where, masks, np.int64(desks.shape[0]), j, words)
