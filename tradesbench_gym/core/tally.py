"""What a run came to: one count of its calls and jobs, for results of one run and of a batch."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from tradesbench_gym.core.codes import CallState, code
from tradesbench_gym.core.engine import Runs
from tradesbench_gym.core.jit import kernel, rule
from tradesbench_gym.core.layout import NONE, Int, Record
from tradesbench_gym.core.rules.calendar import is_installation, is_weekend

COLUMNS = (
    "profit",
    "cash",
    "lowest_cash",
    "bankrupt_on",
    "calls",
    "completed",
    "missed",
    "failed",
    "cancelled",
    "declined",
    "rejected",
    "open",
    "installations",
    "weekend_jobs",
)
"""Money in whole cents; the day of the run, from 1, on which it went bankrupt, or -1; counts."""

Counts = npt.NDArray[np.int64]

_COLUMN = {name: np.int64(index) for index, name in enumerate(COLUMNS)}
_PROFIT, _CASH, _LOWEST = _COLUMN["profit"], _COLUMN["cash"], _COLUMN["lowest_cash"]
_BANKRUPT_ON, _CALLS, _COMPLETED = (
    _COLUMN["bankrupt_on"],
    _COLUMN["calls"],
    _COLUMN["completed"],
)
_MISSED, _FAILED, _CANCELLED = _COLUMN["missed"], _COLUMN["failed"], _COLUMN["cancelled"]
_DECLINED, _REJECTED, _OPEN = _COLUMN["declined"], _COLUMN["rejected"], _COLUMN["open"]
_INSTALLATIONS, _WEEKEND_JOBS = _COLUMN["installations"], _COLUMN["weekend_jobs"]

_IS_REJECTED, _IS_UNANSWERED = code(CallState.REJECTED), code(CallState.UNANSWERED)
_IS_DECLINED, _IS_BOOKED = code(CallState.DECLINED), code(CallState.BOOKED)
_IS_WORKED_ON, _IS_DONE = code(CallState.WORKING), code(CallState.DONE)
_IS_MISSED, _IS_FAILED = code(CallState.MISSED), code(CallState.FAILED)
_IS_CANCELLED = code(CallState.CANCELLED)


@rule
def _count(state: Int, counts: Counts) -> None:
    """Add one call to the column of what became of it."""
    if state in (_IS_REJECTED, _IS_UNANSWERED):
        counts[_REJECTED] += 1
    elif state == _IS_DECLINED:
        counts[_DECLINED] += 1
    elif state == _IS_DONE:
        counts[_COMPLETED] += 1
    elif state == _IS_MISSED:
        counts[_MISSED] += 1
    elif state == _IS_FAILED:
        counts[_FAILED] += 1
    elif state == _IS_CANCELLED:
        counts[_CANCELLED] += 1
    elif _IS_BOOKED <= state <= _IS_WORKED_ON:
        counts[_OPEN] += 1


@rule
def tally_run(run: Record, book: Record, counts: Counts) -> None:
    """Count one run as it stands, for callers inside kernels."""
    counts[:] = 0
    counts[_CASH] = run["cash"]
    counts[_PROFIT] = np.int64(run["cash"]) - np.int64(book["starting_cash"])
    counts[_LOWEST] = run["lowest"]
    counts[_BANKRUPT_ON] = np.int64(run["day"]) + 1 if run["bankrupt"] == 1 else NONE
    counts[_CALLS] = run["n_calls"]
    for number in range(np.int64(run["n_calls"])):
        call = run["calls"][number]
        _count(np.int64(call["state"]), counts)
        if call["state"] == _IS_DONE:
            counts[_INSTALLATIONS] += np.int64(is_installation(book, np.int64(call["service"])))
            counts[_WEEKEND_JOBS] += np.int64(is_weekend(book, np.int64(call["day"])))


@kernel
def tally(
    runs: Runs, chosen: npt.NDArray[np.bool_], params: Runs, counts: npt.NDArray[np.int64]
) -> None:
    """Count the chosen runs as they stand: row i of `counts`, shape (runs, columns), for run i."""
    for i in range(runs.shape[0]):
        if chosen[i]:
            tally_run(runs[i], params[0]["handbook"], counts[i])
