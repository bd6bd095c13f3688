"""What the numbers in the records mean: one enum a kind, the same integers in record, SQL, JSON."""

from __future__ import annotations

from enum import IntEnum

import numpy as np


class CallState(IntEnum):
    """What became of a call; from BOOKED on it is a job under the same number."""

    RINGING = 0
    REJECTED = 1
    UNANSWERED = 2
    DECLINED = 3
    BOOKED = 4
    DRIVING = 5
    WAITING = 6
    WORKING = 7
    DONE = 8
    MISSED = 9
    FAILED = 10
    CANCELLED = 11


class Activity(IntEnum):
    """What a technician is doing."""

    IDLE = 0
    DRIVING = 1
    WAITING = 2
    WORKING = 3


class Stop(IntEnum):
    """Why `advance` came back."""

    DAY_OPENED = 1
    NEW_CALL = 2
    CANCELLATION = 3
    DAY_CLOSED = 4
    ENDED = 5
    EVENTS_FULL = 6


class Phase(IntEnum):
    """Where in its day a run stands."""

    NIGHT = 0
    MORNING = 1
    OPEN = 2
    ENDED = 3


class Stream(IntEnum):
    """Where a call comes from; with day and index it names the call for every draw."""

    SERVICE = 0
    INSTALLATION = 1
    OTHER = 2


class Condition(IntEnum):
    """The weather of one zone on one day."""

    CLEAR = 0
    COOL = 1
    HOT = 2
    EXTREME_HEAT = 3
    WIND = 4
    RAIN = 5
    STORM = 6


class Entry(IntEnum):
    """Kinds of ledger rows."""

    INVOICE = 0
    PREMIUM = 1
    MATERIAL = 2
    SHARE = 3
    OVERTIME = 4
    BASE_PAY = 5
    ON_CALL_PAY = 6
    OVERHEAD = 7


class Kind(IntEnum):
    """Kinds of events."""

    DAY_OPENED = 1
    RANG = 2
    REJECTED = 3
    UNANSWERED = 4
    DECLINED = 5
    BOOKED = 6
    CANCELLED = 7
    ACKNOWLEDGED = 8
    DEPARTED = 9
    ARRIVED = 10
    STARTED = 11
    DONE = 12
    MISSED = 13
    FAILED = 14
    LEDGER = 15
    DAY_CLOSED = 16
    BANKRUPT = 17
    ENDED = 18


class Refusal(IntEnum):
    """Why the company does not let an offer out; nothing changes then."""

    NONE = 0
    NO_CALL = 1
    UNKNOWN_TECHNICIAN = 2
    UNKNOWN_WINDOW = 3
    BEYOND_HORIZON = 4
    WINDOW_STARTED = 5
    OFF_SHIFT = 6
    INSTALLATION_OFF_HOURS = 7


def code(member: IntEnum) -> np.int64:
    """An enum's number as the rules use it: a plain int constant would be a type of its own to the
    compiler, and every function it is handed to would be compiled again for it.
    """
    return np.int64(member)
