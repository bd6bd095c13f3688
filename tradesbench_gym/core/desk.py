"""DESK from RUN: the one place where what a dispatcher may know and what is hidden part.

Every public field of the tables in `core/layout.py` is copied here and nothing else is; a test
derives from the tables that none is forgotten and none too many. The handbook in DESK is written
once by the simulation and left alone here.
"""

from __future__ import annotations

import numpy as np

from tradesbench_gym.core.codes import CallState, code
from tradesbench_gym.core.engine import Runs
from tradesbench_gym.core.jit import inlined, kernel
from tradesbench_gym.core.layout import Int, Record
from tradesbench_gym.core.machine import copy_whole
from tradesbench_gym.core.walk import DAYS_A_WORD, next_route, routes_in_use

_REJECTED, _DECLINED = code(CallState.REJECTED), code(CallState.DECLINED)
_DONE, _FAILED = code(CallState.DONE), code(CallState.FAILED)
_MISSED, _CANCELLED = code(CallState.MISSED), code(CallState.CANCELLED)


@kernel
def fill(runs: Runs, i: Int, desks: Runs, j: Int) -> None:
    """Write into desks[j], blank or last filled from the same run, what the dispatcher of runs[i]
    may know now.
    """
    fill_desk(runs[i], desks[j])


@inlined
def fill_desk(run: Record, desk: Record) -> None:
    """Copy every public field into a desk that is blank or was last filled from this run; the
    handbook and the plan's settings stay as they are.
    """
    _fill_around(run, desk)
    for number in range(np.int64(run["n_calls"])):
        if not _is_over(desk["calls"][number]):  # most of a run is over
            _fill_call(run["calls"][number], desk["calls"][number])


@inlined
def fill_ahead(run: Record, desk: Record) -> None:
    """Copy into any desk what observations and plans read: all but the calls that are on no route
    of today's and later ones. Those stay another run's.

    A job in hand is on today's route: scenarios end all work before the office opens again.
    """
    _fill_around(run, desk)
    today = np.int64(run["day"])
    if run["line"] >= 0:
        _fill_call(run["calls"][run["line"]], desk["calls"][run["line"]])
    days = np.int64(desk["handbook"]["booking_days"])
    for first in range(np.int64(0), days, DAYS_A_WORD):
        left = routes_in_use(run["route"], today + first, days - first)
        while left != 0:
            _, _, number, left = next_route(run["route"], today + first, left)
            while number >= 0:
                _fill_call(run["calls"][number], desk["calls"][number])
                number = np.int64(run["calls"][number]["next"])


@inlined
def _fill_around(run: Record, desk: Record) -> None:
    """Copy everything but calls."""
    _fill_head(run, desk)
    copy_whole(run["route"], desk["route"])
    for technician in range(run["technicians"].shape[0]):
        _fill_technician(run["technicians"][technician], desk["technicians"][technician])
    for day in range(np.int64(run["day"] + 1)):
        _fill_day(run["days"][day], desk["days"][day])
    _fill_forecast(run["forecast"], desk["forecast"])


@inlined
def _fill_forecast(said: Record, seen: Record) -> None:
    copy_whole(said["high"], seen["high"])
    copy_whole(said["condition"], seen["condition"])


@inlined
def _fill_head(run: Record, desk: Record) -> None:
    desk["cash"] = run["cash"]
    desk["lowest"] = run["lowest"]
    copy_whole(run["ledger"], desk["ledger"])
    desk["clock"] = run["clock"]
    desk["day"] = run["day"]
    desk["n_calls"] = run["n_calls"]
    desk["line"] = run["line"]
    desk["phoned"] = run["phoned"]
    desk["phase"] = run["phase"]
    desk["bankrupt"] = run["bankrupt"]


@inlined
def _fill_technician(man: Record, seen: Record) -> None:
    seen["since"] = man["since"]
    seen["x"] = man["x"]
    seen["y"] = man["y"]
    seen["job"] = man["job"]
    seen["activity"] = man["activity"]


@inlined
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


@inlined
def _is_over(seen: Record) -> bool:
    """Whether a call will never change again: an appointment missed or cancelled while somebody
    drove to it still gets the time of his arrival.
    """
    state = seen["state"]
    if state in (_MISSED, _CANCELLED):
        return bool(seen["departed"] < 0 or seen["arrived"] >= 0)
    return bool(_REJECTED <= state <= _DECLINED or state in (_DONE, _FAILED))


@inlined
def _fill_call(call: Record, seen: Record) -> None:
    # First read, then written: neighbours then go in one move.
    rang_at, address, x, y = call["rang_at"], call["address"], call["x"], call["y"]
    departed, arrived = call["departed"], call["arrived"]
    started, ended = call["started"], call["ended"]
    day, state, service, customer = call["day"], call["state"], call["service"], call["customer"]
    urgent, zone = call["urgent"], call["zone"]
    technician, window = call["technician"], call["window"]
    seen["rang_at"] = rang_at
    seen["address"] = address
    seen["x"] = x
    seen["y"] = y
    seen["departed"] = departed
    seen["arrived"] = arrived
    seen["started"] = started
    seen["ended"] = ended
    seen["day"] = day
    seen["state"] = state
    seen["service"] = service
    seen["customer"] = customer
    seen["urgent"] = urgent
    seen["zone"] = zone
    seen["technician"] = technician
    seen["window"] = window
    seen["next"] = call["next"]
    seen["registered"] = call["registered"]
    done = state == _DONE
    seen["invoice"] = np.int64(call["invoice"]) if done else np.int64(0)
    seen["material"] = np.int64(call["material"]) if done else np.int64(0)
