"""The arrays of an observation: what each holds, in which unit, and where it lies in memory.

One table, `PARTS`; the spaces of the environment, its documentation and the places in memory are
derived from it. All arrays of a batch lie behind one another in one block of 32-bit words, each
array whole with a row of whole words a run, so that a batch of one and of a thousand are written by
the same lines. Filled by `core/observe.py`.
"""

from __future__ import annotations

import itertools
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from tradesbench_gym.core.codes import Entry
from tradesbench_gym.core.layout import FORECAST_DAYS

OPEN_JOBS = 128
JOB_COLUMNS = 8
COUNTS = 8
MOST_IN_A_SLOT = 127
"""What `slot_jobs` shows of that many jobs or more: an entry has a byte."""
WORD = 4
"""Bytes of a word: a row of any array begins with one."""
WORST_SLACK = -1_440.0
BEST_SLACK = 1_440.0


class Part(NamedTuple):
    """One array: name, "int32", "float32" or "int8", entries for each technician, slot, sky or
    once, unit and meaning.
    """

    name: str
    dtype: str
    size: int
    each: str
    unit: str
    meaning: str


OBSERVATION = (
    Part(
        "call",
        "int32",
        5,
        "once",
        "category",
        "a call is on the line (0/1), service, customer type, urgent (0/1), zone",
    ),
    Part(
        "last_answer",
        "int32",
        1,
        "once",
        "category",
        "your last: 0 none or refused, 1 rejected, 2 declined, 3 accepted",
    ),
    Part(
        "activity",
        "int32",
        1,
        "technician",
        "category",
        "of each technician: 0 idle, 1 driving, 2 waiting, 3 working",
    ),
    Part("slot_jobs", "int8", 1, "slot", "jobs", "open jobs in each slot; 127: or more"),
    Part("weather", "int8", 1, "sky", "category", "of each day ahead x zone: see `Condition`"),
    Part(
        "open_jobs",
        "int8",
        OPEN_JOBS * JOB_COLUMNS,
        "once",
        "mixed",
        "open jobs, the next days first, a row each: see the class",
    ),
    Part("job_places", "float32", 2 * OPEN_JOBS, "once", "km", "of `open_jobs`, east and north"),
    Part("today", "int32", COUNTS, "once", "calls, jobs", "today: see `counts`"),
    Part(
        "counts",
        "int32",
        COUNTS,
        "once",
        "calls, jobs",
        "so far: calls, booked, declined, rejected; done, missed, failed, cancelled",
    ),
    Part(
        "time",
        "float32",
        4,
        "once",
        "mixed",
        "day of the run, hour of the day, weekday (Monday 0), days left",
    ),
    Part("cash", "float32", 1, "once", "dollars", "cash"),
    Part(
        "ledger",
        "float32",
        len(Entry),
        "once",
        "dollars",
        "sum of the ledger by kind of entry: see `Entry`",
    ),
    Part("call_place", "float32", 2, "once", "km", "the caller's place, east and north"),
    Part(
        "place",
        "float32",
        2,
        "technician",
        "km",
        "where each technician stands or set off from, east and north",
    ),
    Part(
        "free_in",
        "float32",
        1,
        "technician",
        "min",
        "until a job in progress ends by plan; 0 if none",
    ),
    Part("slot_minutes", "float32", 1, "slot", "min", "planned time on site in each slot"),
    Part("high", "float32", 1, "sky", "°F", "high of each day ahead x zone"),
)
MASK = Part("action_mask", "int8", 1, "slot", "flag", "1 where the company lets the offer out")
PLANNED = (
    Part(
        "slot_slack",
        "float32",
        1,
        "slot",
        "min",
        "least time to spare on the route with the call in that slot",
    ),
    Part(
        "slot_added",
        "float32",
        1,
        "slot",
        "km",
        "driving it adds, by the plan; 0 where the slot is not legal",
    ),
)
"""What `observation="planned"` adds: the dispatcher's own plan. Slots run technician x day ahead x
window, skies day ahead (0 to 7) x zone, the last fastest.
"""
PARTS = (*OBSERVATION, MASK, *PLANNED)
SKY_DAYS = FORECAST_DAYS + 1

Words = npt.NDArray[np.int32]
"""The block of a batch, shape (words,): see the module."""
Where = npt.NDArray[np.int64]
"""Words of one run before each array of `PARTS`, shape (arrays + 1,); equal entries: left out."""


def places(technicians: int, slots: int, zones: int, *, planned: bool) -> Where:
    """`Where` of a company with so many technicians, slots and zones."""
    each = {"once": 1, "technician": technicians, "slot": slots, "sky": SKY_DAYS * zones}
    sizes = [part.size * each[part.each] * np.dtype(part.dtype).itemsize for part in PARTS]
    widths = [-(-size // WORD) for size in sizes]
    if not planned:
        widths[-len(PLANNED) :] = [0] * len(PLANNED)
    return np.array([0, *itertools.accumulate(widths)], np.int64)
