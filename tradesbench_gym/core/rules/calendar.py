"""Days, windows and shifts: which offers the company lets out at all (A.7 of the report), and who
is paid when.

Everything here is public: it reads the handbook only, so that the engine, the action mask and the
dispatcher's plan share one definition of a legal offer.
"""

from __future__ import annotations

import numpy as np

from tradesbench_gym.core.codes import Refusal, code
from tradesbench_gym.core.jit import inlined, rule
from tradesbench_gym.core.layout import DAY_SECONDS, Int, Record

_SATURDAY = 5
_DAYS_A_WEEK = 7

ALLOWED = code(Refusal.NONE)
_UNKNOWN_TECHNICIAN = code(Refusal.UNKNOWN_TECHNICIAN)
_UNKNOWN_WINDOW = code(Refusal.UNKNOWN_WINDOW)
_BEYOND_HORIZON = code(Refusal.BEYOND_HORIZON)
_WINDOW_STARTED = code(Refusal.WINDOW_STARTED)
_OFF_SHIFT = code(Refusal.OFF_SHIFT)
_INSTALLATION_OFF_HOURS = code(Refusal.INSTALLATION_OFF_HOURS)


@inlined
def weekday(book: Record, day: Int) -> np.int64:
    """0 for Monday to 6 for Sunday."""
    return np.int64((book["first_weekday"] + day) % _DAYS_A_WEEK)


@inlined
def is_weekend(book: Record, day: Int) -> bool:
    """Saturday or Sunday."""
    return bool(weekday(book, day) >= _SATURDAY)


@inlined
def off_hours(book: Record, day: Int, window: Int) -> bool:
    """The evening window on weekdays, every window at weekends."""
    return bool(is_weekend(book, day) or book["evening"][window] == 1)


@inlined
def window_opens(book: Record, day: Int, window: Int) -> np.int64:
    """Seconds since the start of the run."""
    return np.int64(day) * DAY_SECONDS + np.int64(book["opens"][window])


@inlined
def window_closes(book: Record, day: Int, window: Int) -> np.int64:
    """Seconds since the start of the run."""
    return np.int64(day) * DAY_SECONDS + np.int64(book["closes"][window])


@inlined
def refusal(
    book: Record, clock: Int, service: Int, technician: Int, ahead: Int, window: Int
) -> np.int64:
    """Why the company does not let this offer out; `Refusal.NONE` if it does.

    It refuses neither an unqualified technician nor work it does not do: those visits fail.
    """
    if technician < 0 or technician >= book["technicians"]:
        return np.int64(_UNKNOWN_TECHNICIAN)
    if window < 0 or window >= book["windows"]:
        return np.int64(_UNKNOWN_WINDOW)
    if ahead < 0 or ahead >= book["booking_days"]:
        return np.int64(_BEYOND_HORIZON)
    day = np.int64(clock) // DAY_SECONDS + np.int64(ahead)
    on_call, installs = book["on_call"][technician], is_installation(book, service)
    return slot_refusal(book, clock, day, is_weekend(book, day), window, on_call, installs)


@inlined
def slot_refusal(
    book: Record, clock: Int, day: Int, weekend: bool, window: Int, on_call: Int, installs: bool
) -> np.int64:
    """`refusal` of an offer that names a technician, day and window there are."""
    if window_opens(book, day, window) < clock:
        return np.int64(_WINDOW_STARTED)
    if weekend or book["evening"][window] == 1:
        if on_call == 0:
            return np.int64(_OFF_SHIFT)
        if installs:
            return np.int64(_INSTALLATION_OFF_HOURS)
    return np.int64(ALLOWED)


@inlined
def is_installation(book: Record, service: Int) -> bool:
    """Whether the service is an installation; other work is not."""
    return bool(service < book["services"] and book["installation"][service] == 1)


@inlined
def qualified(book: Record, technician: Int, service: Int) -> bool:
    """Whether the technician can do the work; nobody can do other work."""
    return bool(
        service < book["services"]
        and (np.int64(book["skills"][technician]) >> np.int64(service)) & 1 == 1
    )


@rule
def paid_until(book: Record, day: Int, technician: Int) -> np.int64:
    """When the hours a technician is paid for anyway end on a service day, in seconds since the
    start of the run.
    """
    ends = np.int64(book["shift_until"])
    if is_weekend(book, day):
        ends = np.int64(book["weekend_until"])
    elif book["on_call"][technician] == 1:
        ends = max(ends, np.int64(book["on_call_until"]))
    return np.int64(day) * DAY_SECONDS + ends


@rule
def paid_from(book: Record, day: Int) -> np.int64:
    """When the hours paid for anyway begin on a service day, in seconds since the start."""
    begins = np.int64(book["shift_from"])
    if is_weekend(book, day):
        begins = np.int64(book["weekend_from"])
    return np.int64(day) * DAY_SECONDS + begins


@rule
def calling_seconds(book: Record, moment: Int) -> np.int64:
    """Seconds of calling hours since the start of the run that lie before a moment."""
    from_, until = np.int64(book["calls_from"]), np.int64(book["calls_until"])
    days = np.int64(moment) // DAY_SECONDS
    today = min(max(np.int64(moment) % DAY_SECONDS - from_, np.int64(0)), until - from_)
    return days * (until - from_) + today


@rule
def calling_moment(book: Record, seconds: Int) -> np.int64:
    """The moment before which `seconds` of calling hours lie: the inverse of `calling_seconds`."""
    from_, until = np.int64(book["calls_from"]), np.int64(book["calls_until"])
    return (
        np.int64(seconds) // (until - from_) * DAY_SECONDS
        + from_
        + np.int64(seconds) % (until - from_)
    )
