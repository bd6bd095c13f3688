"""Whether a caller accepts, and whether and when a booked customer cancels (A.2 and A.3 of the
report).
"""

from __future__ import annotations

import numpy as np

from tradesbench_gym.core import draws
from tradesbench_gym.core.codes import code
from tradesbench_gym.core.draws import happens
from tradesbench_gym.core.jit import inlined, rule
from tradesbench_gym.core.layout import DAY_SECONDS, NONE, Int, Record
from tradesbench_gym.core.rules.calendar import (
    calling_moment,
    calling_seconds,
    is_installation,
    window_opens,
)
from tradesbench_gym.core.rules.weather import STORM

_ANSWER = code(draws.Event.ANSWER)
_CANCELLATION = code(draws.Event.CANCELLATION)
_MINUTE = 60
_LATER = 2
NEVER = 1 << 30
"""A time after every run."""


@inlined
def lead_minutes(book: Record, clock: Int, day: Int, window: Int) -> np.int64:
    """Lead of an offer: from the call to the start of the window, floored to minutes."""
    return (window_opens(book, day, window) - np.int64(clock)) // _MINUTE


@inlined
def accepts(run: Record, p: Record, call: Record, day: Int, window: Int) -> bool:
    """The customer's patience is one number, so that a better offer never gets a worse answer."""
    w0, _, _, _ = draws.of_call(run, _ANSWER, call)
    if call["urgent"] == 1:
        wait = np.int64(day) - np.int64(call["rang_at"]) // DAY_SECONDS
        return happens(w0, p["accept_urgent"][min(wait, np.int64(_LATER))])
    book = p["handbook"]
    late = (
        is_installation(book, call["service"])
        and book["opens"][window] >= p["late_installation_from"]
    )
    return happens(w0, p["accept"][np.int64(late), lead_minutes(book, run["clock"], day, window)])


@inlined
def cancel_moment(run: Record, p: Record, call: Record) -> np.int64:
    """When the customer of a job just booked will phone to cancel it; NONE if never.

    Whoever means to cancel needs a second of the calling hours between now and the notice before
    the window; where there is none, the booking stands.
    """
    w0, w1, _, _ = draws.of_call(run, _CANCELLATION, call)
    book = p["handbook"]
    day, window = np.int64(call["day"]), np.int64(call["window"])
    storm = np.int64(run["sky"][day, call["zone"]]["condition"] == STORM)
    lead = lead_minutes(book, run["clock"], day, window)
    if not happens(w0, p["cancel"][call["customer"], call["urgent"], storm, lead]):
        return np.int64(NONE)
    first = calling_seconds(book, np.int64(run["clock"]) + 1)
    last = calling_seconds(book, window_opens(book, day, window) - np.int64(p["cancel_notice"]) + 1)
    if last <= first:
        return np.int64(NONE)
    return calling_moment(book, first + draws.below(w1, last - first))


@rule
def lose(run: Record, call: Record) -> None:
    """A customer who was missed or failed never calls again."""
    if call["book"] >= 0:
        run["lost"][call["book"]] = 1


@rule
def find_next_cancel(run: Record) -> None:
    """Note the earliest cancellation still to come."""
    soonest = np.int64(NEVER)
    for number in range(np.int64(run["n_calls"])):
        at = np.int64(run["calls"][number]["cancel_at"])
        if at >= 0:
            soonest = min(soonest, at)
    run["next_cancel"] = soonest
