"""DESK from RUN: the one place where what a dispatcher may know and what is hidden part.

Every public field of the tables in `core/layout.py` is copied here and nothing else is; a test
derives from the tables that none is forgotten and none too many. The handbook in DESK is written
once by the simulation and left alone here.
"""

from __future__ import annotations

import numpy as np

from tradesbench_gym.core.codes import CallState, code
from tradesbench_gym.core.engine import Runs
from tradesbench_gym.core.jit import kernel, rule
from tradesbench_gym.core.layout import FORECAST_DAYS, Int, Record

_REJECTED, _DECLINED = code(CallState.REJECTED), code(CallState.DECLINED)
_DONE, _FAILED = code(CallState.DONE), code(CallState.FAILED)
_MISSED, _CANCELLED = code(CallState.MISSED), code(CallState.CANCELLED)


@kernel
def fill(runs: Runs, i: Int, desks: Runs, j: Int) -> None:
    """Write into desks[j], blank or last filled from the same run, what the dispatcher of runs[i]
    may know now.
    """
    fill_desk(runs[i], desks[j])


@rule
def fill_desk(run: Record, desk: Record) -> None:
    """Copy every public field into a desk that is blank or was last filled from this run; the
    handbook and the plan's settings stay as they are.
    """
    _fill_around(run, desk)
    for number in range(np.int64(run["n_calls"])):
        if not _is_over(desk["calls"][number]):  # most of a run is over
            _fill_call(run["calls"][number], desk["calls"][number])
    for day in range(run["route"].shape[0]):
        _fill_route(run, desk, np.int64(day))


@rule
def fill_ahead(run: Record, desk: Record) -> None:
    """Copy into any desk what observations and plans read: all but the routes of days gone by and
    the calls that are on none of today's and later ones. The rest stays another run's.

    A job in hand is on today's route: scenarios end all work before the office opens again.
    """
    _fill_around(run, desk)
    today = np.int64(run["day"])
    if run["line"] >= 0:
        _fill_call(run["calls"][run["line"]], desk["calls"][run["line"]])
    for day in range(today, today + np.int64(desk["handbook"]["booking_days"])):
        _fill_route(run, desk, np.int64(day))
        for technician in range(np.int64(desk["handbook"]["technicians"])):
            number = np.int64(run["route"][day, technician])
            while number >= 0:
                _fill_call(run["calls"][number], desk["calls"][number])
                number = np.int64(run["calls"][number]["next"])


@rule
def _fill_around(run: Record, desk: Record) -> None:
    """Copy everything but calls and routes."""
    _fill_head(run, desk)
    for technician in range(run["technicians"].shape[0]):
        _fill_technician(run["technicians"][technician], desk["technicians"][technician])
    for day in range(np.int64(run["day"] + 1)):
        _fill_day(run["days"][day], desk["days"][day])
    for ahead in range(FORECAST_DAYS + 1):
        for zone in range(run["forecast"].shape[1]):
            desk["forecast"][ahead, zone] = run["forecast"][ahead, zone]


@rule
def _fill_route(run: Record, desk: Record, day: Int) -> None:
    for technician in range(run["route"].shape[1]):
        desk["route"][day, technician] = run["route"][day, technician]


@rule
def _fill_head(run: Record, desk: Record) -> None:
    desk["cash"] = run["cash"]
    desk["lowest"] = run["lowest"]
    for entry in range(run["ledger"].shape[0]):
        desk["ledger"][entry] = run["ledger"][entry]
    desk["clock"] = run["clock"]
    desk["day"] = run["day"]
    desk["n_calls"] = run["n_calls"]
    desk["line"] = run["line"]
    desk["phoned"] = run["phoned"]
    desk["phase"] = run["phase"]
    desk["bankrupt"] = run["bankrupt"]


@rule
def _fill_technician(man: Record, seen: Record) -> None:
    seen["since"] = man["since"]
    seen["x"] = man["x"]
    seen["y"] = man["y"]
    seen["job"] = man["job"]
    seen["activity"] = man["activity"]


@rule
def _fill_day(day: Record, seen: Record) -> None:
    seen["closed_at"] = day["closed_at"]
    seen["cash"] = day["cash"]
    seen["calls"] = day["calls"]
    seen["booked"] = day["booked"]
    seen["declined"] = day["declined"]
    seen["rejected"] = day["rejected"]
    seen["done"] = day["done"]
    seen["missed"] = day["missed"]
    seen["failed"] = day["failed"]
    seen["cancelled"] = day["cancelled"]


@rule
def _is_over(seen: Record) -> bool:
    """Whether a call will never change again: an appointment missed or cancelled while somebody
    drove to it still gets the time of his arrival.
    """
    state = seen["state"]
    if state in (_MISSED, _CANCELLED):
        return bool(seen["departed"] < 0 or seen["arrived"] >= 0)
    return bool(_REJECTED <= state <= _DECLINED or state in (_DONE, _FAILED))


@rule
def _fill_call(call: Record, seen: Record) -> None:
    seen["rang_at"] = call["rang_at"]
    seen["address"] = call["address"]
    seen["x"] = call["x"]
    seen["y"] = call["y"]
    seen["departed"] = call["departed"]
    seen["arrived"] = call["arrived"]
    seen["started"] = call["started"]
    seen["ended"] = call["ended"]
    done = call["state"] == _DONE
    seen["invoice"] = np.int64(call["invoice"]) if done else np.int64(0)
    seen["material"] = np.int64(call["material"]) if done else np.int64(0)
    seen["next"] = call["next"]
    seen["day"] = call["day"]
    seen["state"] = call["state"]
    seen["service"] = call["service"]
    seen["customer"] = call["customer"]
    seen["urgent"] = call["urgent"]
    seen["zone"] = call["zone"]
    seen["technician"] = call["technician"]
    seen["window"] = call["window"]
    seen["registered"] = call["registered"]
