"""The invariants: what must hold of a run's record after every step, whatever was decided.

Plain NumPy over one record, written apart from the rules so that it shares no mistake with them: it
knows what a consistent company looks like and not how one comes about. Meant for tests, fuzzing and
audits; it changes nothing.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from tradesbench_gym.core.codes import Activity, CallState, Condition, Entry, Phase
from tradesbench_gym.core.layout import (
    BOOKING_DAYS,
    DAY_SECONDS,
    MAX_BOOK,
    MAX_CALLS_A_DAY,
    NONE,
    Int,
    Record,
)

S = CallState
_ANSWERED_NO = (S.REJECTED, S.UNANSWERED)
_AWAITED = (S.BOOKED, S.DRIVING, S.WAITING)
_ACTIVE = (S.DRIVING, S.WAITING, S.WORKING)
_LOST = (S.MISSED, S.FAILED)
_SERVED = (S.WORKING, S.DONE, S.FAILED)
_INCOME = (Entry.INVOICE, Entry.PREMIUM)


class BrokenInvariantError(AssertionError):
    """A record that no run can reach; the message names the first invariant it breaks."""


def check(run: Record, p: Record) -> None:
    """Raise `BrokenInvariantError` for the first invariant that does not hold.

    Args:
        run: one record of dtype RUN.
        p: the record of dtype PARAMS it is played with.

    """
    calls = run["calls"][: max(0, int(run["n_calls"]))]
    for invariant in (
        _money,
        _time,
        _line,
        _indices,
        _offers,
        _times_of_calls,
        _cancellations,
        _technicians,
        _routes,
        _days,
        _lost_customers,
        _weather,
    ):
        invariant(run, p, calls)


def _must(holds: Any, what: str) -> None:
    if not np.all(holds):
        where = np.flatnonzero(~np.atleast_1d(np.asarray(holds)).ravel())
        raise BrokenInvariantError(f"{what} (first at {where[0]})" if len(where) else what)


def _within(values: Any, low: Int, high: Int) -> Any:
    """Low <= value < high."""
    return (np.asarray(values) >= low) & (np.asarray(values) < high)


def _is(calls: Any, *states: CallState) -> Any:
    return np.isin(calls["state"], [int(state) for state in states])


def _money(run: Record, p: Record, calls: Any) -> None:
    start, ledger = int(p["handbook"]["starting_cash"]), run["ledger"].astype(np.int64)
    _must(
        int(run["cash"]) == start + int(ledger.sum()), "cash is the starting cash plus the ledger"
    )
    _must(run["lowest"] <= min(int(run["cash"]), start), "lowest is no more than cash was or is")
    for entry in Entry:
        sign = 1 if entry in _INCOME else -1
        _must(sign * ledger[entry] >= 0, f"the ledger's {entry.name} has the right sign")
    done = calls[_is(calls, S.DONE)]
    for entry, column, sign in ((Entry.INVOICE, "invoice", 1), (Entry.MATERIAL, "material", -1)):
        total = sign * int(done[column].astype(np.int64).sum())
        _must(int(ledger[entry]) == total, f"the ledger's {entry.name} is that of the jobs done")
    _must((run["cash"] < 0) == (run["bankrupt"] == 1), "bankrupt exactly when cash is below zero")
    _must(not run["bankrupt"] or run["phase"] == Phase.ENDED, "a bankrupt run has ended")
    _must(
        _within(run["level"], 0, int(p["level_cap"]) + 1), "the demand level lies within 0 and cap"
    )


def _time(run: Record, p: Record, _calls: Any) -> None:
    book, day, phase = p["handbook"], int(run["day"]), int(run["phase"])
    days = int(book["days"])
    _must(phase in set(Phase), "the phase is one there is")
    _must(_within(day, 0, days), "the day is one of the run")
    second = int(run["clock"]) - day * DAY_SECONDS
    if phase == Phase.MORNING:
        _must(second == book["office_opens"], "a morning stands at the opening of the office")
    elif phase == Phase.OPEN:
        latest = DAY_SECONDS + int(book["office_opens"])
        _must(_within(second, int(book["calls_from"]), latest), "the clock is in the open day")
    elif phase == Phase.NIGHT:
        latest = DAY_SECONDS + int(book["office_opens"])
        _must(second < latest, "at night the next office has not opened")
    first, last = int(run["due_next"]), int(run["due_count"])
    _must(0 <= first <= last <= MAX_CALLS_A_DAY, "the calls of today are a list")
    due = run["due"][first:last]["at"]
    _must(due[1:] >= due[:-1], "calls of today ring in order")
    _must(phase != Phase.OPEN or np.all(due >= run["clock"]), "no call of today is overdue")


def _line(run: Record, _p: Record, calls: Any) -> None:
    ringing = np.flatnonzero(_is(calls, S.RINGING)).tolist()
    line = int(run["line"])
    _must(ringing == ([] if line == NONE else [line]), "the one ringing call is on the line")
    _must(line in {NONE, len(calls) - 1}, "the call on the line is the latest")
    phoned = int(run["phoned"])
    _must(
        phoned == NONE or (phoned < len(calls) and calls[phoned]["state"] == S.CANCELLED),
        "the cancellation on the line is a cancelled job",
    )


def _indices(run: Record, p: Record, calls: Any) -> None:
    book = p["handbook"]
    _must(_within(run["n_calls"], 0, len(run["calls"]) + 1), "the calls fit the record")
    _must(_within(calls["state"], 0, len(CallState)), "a call's state is one there is")
    services = int(book["services"]) + int(p["other_works"])
    for name, high in (
        ("service", services),
        ("customer", 3),
        ("urgent", 2),
        ("zone", int(book["zones"])),
        ("registered", 4),
        ("stream", 3),
        ("from_index", MAX_CALLS_A_DAY),
        ("from_day", int(book["days"])),
    ):
        _must(_within(calls[name], 0, high), f"a call's {name} is in range")
    _must(calls["address"] >= 0, "a call has an address")
    _must(_within(calls["book"], NONE, MAX_BOOK), "a call's number in the book is in range")


def _offers(run: Record, p: Record, calls: Any) -> None:
    book, days = p["handbook"], len(run["route"])
    offered = calls["state"] >= S.DECLINED
    for name, high in (
        ("technician", int(book["technicians"])),
        ("window", int(book["windows"])),
        ("day", days),
    ):
        _must(_within(calls[name][offered], 0, high), f"an offered {name} is in range")
        _must(calls[name][~offered] == NONE, f"a call without an offer has no {name}")
    ours = calls[offered]
    ahead = ours["day"].astype(np.int64) - ours["rang_at"] // DAY_SECONDS
    _must(_within(ahead, 0, BOOKING_DAYS), "an offer names one of the days ahead")
    opens = ours["day"].astype(np.int64) * DAY_SECONDS + book["opens"][ours["window"]]
    _must(opens >= ours["rang_at"], "an offered window had not started")
    off = _off_hours(book, ours)
    _must((book["on_call"][ours["technician"]] == 1) | ~off, "off-hours take somebody on call")
    service = np.minimum(ours["service"], int(book["services"]) - 1)
    fits = (ours["service"] < book["services"]) & (book["installation"][service] == 1)
    _must(~(fits & off), "no installation is booked off-hours")


def _off_hours(book: Record, calls: Any) -> Any:
    weekend = (int(book["first_weekday"]) + calls["day"].astype(np.int64)) % 7 >= 5
    return weekend | (book["evening"][calls["window"]] == 1)


def _times_of_calls(run: Record, p: Record, calls: Any) -> None:
    book, clock = p["handbook"], int(run["clock"])
    rang = calls["rang_at"].astype(np.int64)
    _must(rang[1:] >= rang[:-1], "calls are numbered in the order in which they rang")
    for name in ("rang_at", "departed", "arrived", "started", "ended"):
        _must(_within(calls[name], NONE, clock + 1), f"{name} is none or past")
    untouched = _is(calls, S.RINGING, S.DECLINED, S.BOOKED, *_ANSWERED_NO)
    for name in ("departed", "arrived", "started", "ended"):
        _must(calls[name][untouched] == NONE, f"a call nobody has driven to has no {name}")
    for name, states in (
        ("departed", (*_ACTIVE, S.DONE, S.FAILED)),
        ("arrived", (S.WAITING, *_SERVED)),
        ("started", _SERVED),
        ("ended", (S.DONE, S.FAILED, S.MISSED, S.CANCELLED)),
    ):
        _must(calls[name][_is(calls, *states)] >= 0, f"{name} is known from its moment on")
    _must(calls["started"][~_is(calls, *_SERVED)] == NONE, "only work that is done has started")
    _must(calls["ended"][_is(calls, *_ACTIVE)] == NONE, "what is in hand has not ended")
    _must(calls["arrived"][_is(calls, S.DRIVING)] == NONE, "who drives has not arrived")
    served = calls[_is(calls, *_SERVED)]
    for before, after in (("rang_at", "departed"), ("departed", "arrived"), ("arrived", "started")):
        _must(served[before] <= served[after], f"{before} is no later than {after}")
    finished = calls[_is(calls, S.DONE, S.FAILED)]
    _must(finished["started"] <= finished["ended"], "started is no later than ended")
    _windows_kept(book, calls)


def _windows_kept(book: Record, calls: Any) -> None:
    day = calls["day"].astype(np.int64) * DAY_SECONDS
    opens, closes = day + book["opens"][calls["window"]], day + book["closes"][calls["window"]]
    served = _is(calls, *_SERVED)
    started = calls["started"]
    _must((started >= opens)[served], "work never starts before its window opens")
    _must((started <= closes)[served], "work starts by the close of its window")
    missed = _is(calls, S.MISSED)
    _must((calls["ended"] == closes)[missed], "a missed appointment is missed at the close")
    waiting = _is(calls, S.WAITING)
    _must((calls["arrived"] < opens)[waiting], "who waits arrived before the window opened")
    _must(
        (calls["ended"] <= opens)[_is(calls, S.CANCELLED)], "who cancels does so before the window"
    )


def _cancellations(run: Record, _p: Record, calls: Any) -> None:
    coming = calls["cancel_at"] >= 0
    _must(_is(calls, *_AWAITED)[coming], "only a job not begun can still be cancelled")
    times = calls["cancel_at"][coming]
    _must(times >= run["clock"], "no cancellation is overdue")
    if len(times):
        _must(run["next_cancel"] == times.min(), "next_cancel is the earliest to come")
    else:
        _must(run["next_cancel"] > run["clock"], "next_cancel is none")


_HELD = {
    Activity.DRIVING: (S.DRIVING, S.MISSED, S.CANCELLED),
    Activity.WAITING: (S.WAITING,),
    Activity.WORKING: (S.WORKING,),
}


def _technicians(run: Record, p: Record, calls: Any) -> None:
    people = run["technicians"][: int(p["handbook"]["technicians"])]
    _must(_within(people["activity"], 0, len(Activity)), "an activity is one there is")
    _must(people["since"] <= run["clock"], "an activity began in the past")
    held: list[int] = []
    for k, man in enumerate(people):
        number, activity = int(man["job"]), Activity(int(man["activity"]))
        if activity == Activity.IDLE:
            # The payment that ends a run in the middle of the day leaves its cause in his hands.
            _must(number == NONE or run["bankrupt"], "who is idle has no job")
            if run["phase"] == Phase.OPEN:
                pending = _is(calls, S.BOOKED) & (calls["technician"] == k)
                _must(
                    ~(pending & (calls["day"] == run["day"])), "nobody is idle with a job pending"
                )
            continue
        _must(_within(number, 0, len(calls)), "who is busy has a job")
        call = calls[number]
        _must(call["technician"] == k, "he does his own job")
        _must(call["day"] == run["day"], "he does a job of today")
        _must(int(call["state"]) in _HELD[activity], f"what he is {activity.name} for agrees")
        _must(man["until"] >= run["clock"] or run["bankrupt"], "what he does is not overdue")
        _must(man["since"] == _since(call, activity), "his activity began when the job says")
        held.append(number)
    active = np.flatnonzero(_is(calls, *_ACTIVE)).tolist()
    _must(set(active) <= set(held), "each job in hand is in somebody's hands")


def _since(call: Any, activity: Activity) -> int:
    name = {
        Activity.DRIVING: "departed",
        Activity.WAITING: "arrived",
        Activity.WORKING: "started",
    }[activity]
    return int(call[name])


def _routes(run: Record, p: Record, calls: Any) -> None:
    on_route = np.zeros(len(calls), np.int64)
    technicians = int(p["handbook"]["technicians"])
    _must(run["route"][:, technicians:] == NONE, "nobody has a route who is not there")
    for day, technician in np.argwhere(run["route"] != NONE).tolist():
        number = int(run["route"][day, technician])
        while number != NONE:
            _must(_within(number, 0, len(calls)), "a route leads to a call")
            _must(on_route[number] == 0, "a route names each job once")
            on_route[number] = 1
            call = calls[number]
            _must(call["day"] == day and call["technician"] == technician, "a job is on its route")
            number = int(call["next"])
    _must(on_route == (calls["state"] >= S.BOOKED), "every booked job is on a route")


def _days(run: Record, _p: Record, calls: Any) -> None:
    size = len(run["days"])
    rang, served = calls["rang_at"] // DAY_SECONDS, calls["day"].astype(np.int64)
    cancelled = _is(calls, S.CANCELLED)
    for name, chosen, on in (
        ("calls", np.ones(len(calls), np.bool_), rang),
        ("booked", calls["state"] >= S.BOOKED, rang),
        ("declined", _is(calls, S.DECLINED), rang),
        ("rejected", _is(calls, *_ANSWERED_NO), rang),
        ("done", _is(calls, S.DONE), served),
        ("missed", _is(calls, S.MISSED), served),
        ("failed", _is(calls, S.FAILED), served),
        ("cancelled", cancelled, calls["ended"] // DAY_SECONDS),
    ):
        counted = np.bincount(on[chosen], minlength=size)
        _must(counted == run["days"][name], f"each day's count of {name} is that of its calls")
    closed = run["days"]["closed_at"] != NONE
    count, last = int(closed.sum()), int(run["day"])
    if run["phase"] in {Phase.MORNING, Phase.OPEN}:
        _must(count == last, "the present day is open")
    elif count or run["phase"] == Phase.ENDED:
        # Bankrupt in the middle of a day, that day never closes.
        _must(count in {last + 1, last + (run["bankrupt"] == 0)}, "the present day has closed")
    _must(closed == (np.arange(size) < count), "the days before the present one have closed")


def _lost_customers(run: Record, _p: Record, calls: Any) -> None:
    gone = calls["book"][_is(calls, *_LOST) & (calls["book"] >= 0)]
    lost = np.zeros(len(run["lost"]), np.int64)
    lost[gone] = 1
    _must(run["lost"] == lost, "exactly the customers who were missed or failed are lost")


def _weather(run: Record, p: Record, _calls: Any) -> None:
    zones, days = int(p["handbook"]["zones"]), int(p["handbook"]["days"]) + BOOKING_DAYS
    for name in ("sky", "forecast"):
        _must(_within(run[name]["condition"], 0, len(Condition)), f"a condition of the {name}")
    _must(run["sky"][days:]["high"] == 0, "no weather beyond the days one can book")
    today = int(run["day"])
    if run["phase"] in {Phase.MORNING, Phase.OPEN}:
        said, true = run["forecast"], run["sky"][today, :zones]
        for name in ("high", "condition"):
            _must(said[name][0, :zones] == true[name], "what is said of today is true")
