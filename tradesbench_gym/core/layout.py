"""The two records everything is about: RUN, the whole state of one run, and DESK, what a dispatcher
may know of it.

Each field of the state stands once, in a table that says its name, type, unit, who may see it and
what it means; the dtypes are derived from these tables, and tests hold `core/desk.py` to them. This
module knows no rule and no number of the business: capacities are its only constants, and what does
not fit them is refused when a scenario is loaded.
"""

from __future__ import annotations

from typing import Any, NamedTuple, TypeAlias

import numpy as np

from tradesbench_gym.core.codes import Condition, Entry

Record: TypeAlias = np.void
"""One record of a structured array: a view, so that writing to it writes to the array."""
Int: TypeAlias = int | np.int64
"""A whole number in the rules: int64 when compiled, int or int64 without compilation."""

RULES_VERSION = 1
"""Raised with every change of behaviour; states, golden digests and recorded runs name it."""

MAX_TECHNICIANS = 8
MAX_WINDOWS = 6
MAX_SERVICES = 4
MAX_OTHER_WORK = 16
MAX_CUSTOMER_TYPES = 3
MAX_ZONES = 16
MAX_BOOK = 1024
MAX_CALLS_A_DAY = 40
BOOKING_DAYS = 14
FORECAST_DAYS = 7
SIZE_CLASSES = (14, 31)
LEAD_IN_DAYS = 20
"""Days of weather simulated before day 0, so that the first day stands in the season's own
distribution.
"""

DAY_SECONDS = 86_400
MINUTES_A_DAY = 1_440
MAX_LEAD_MINUTES = BOOKING_DAYS * MINUTES_A_DAY
NONE = np.int64(-1)
"""In every index or time field: there is none."""


class Field(NamedTuple):
    """One field of a record: `seen` is "desk" (copied as it is), "done" (copied once the job is
    done) or "hidden".
    """

    name: str
    dtype: Any
    unit: str
    seen: str
    meaning: str


_TECHNICIAN = (
    Field("since", "<i4", "s", "desk", "when the present activity began"),
    Field(
        "until",
        "<i4",
        "s",
        "hidden",
        "when it truly ends: arrival, opening of the window, or end of work",
    ),
    Field("address", "<i4", "id", "hidden", "address where he stands, or set off from; -1 at home"),
    Field("anchor", "<i4", "index", "hidden", "its anchor"),
    Field("leg", "<i4", "m", "hidden", "road metres between it and its anchor"),
    Field("x", "<i4", "m east", "desk", "where he stands, or set off from"),
    Field("y", "<i4", "m north", "desk", "where he stands, or set off from"),
    Field("job", "<i2", "call", "desk", "job driven to, waited for or worked on; -1 none"),
    Field("activity", "<i2", "Activity", "desk", "what he is doing"),
)

_CALL = (
    Field("rang_at", "<i4", "s", "desk", "when the call came in"),
    Field("address", "<i4", "id", "desk", "the caller's address in the map's address book"),
    Field("x", "<i4", "m east", "desk", "where the address lies"),
    Field("y", "<i4", "m north", "desk", "where the address lies"),
    Field("departed", "<i4", "s", "desk", "when the technician set off; -1 not yet"),
    Field("arrived", "<i4", "s", "desk", "when he arrived; -1 not yet"),
    Field("started", "<i4", "s", "desk", "when work began; -1 not yet"),
    Field(
        "ended",
        "<i4",
        "s",
        "desk",
        "when the job was done, missed, failed or cancelled; -1 not yet",
    ),
    Field("invoice", "<i4", "cents", "done", "invoice before any premium"),
    Field("material", "<i4", "cents", "done", "material cost"),
    Field("anchor", "<i4", "index", "hidden", "anchor of the address"),
    Field("leg", "<i4", "m", "hidden", "road metres between address and anchor"),
    Field("cancel_at", "<i4", "s", "hidden", "when the customer will phone to cancel; -1 never"),
    Field("metres", "<i4", "m", "hidden", "road metres of the drive to it"),
    Field("overtime", "<i4", "s", "hidden", "driving and work for it outside paid hours, so far"),
    Field("next", "<i2", "call", "desk", "next job of the same technician and day; -1 none"),
    Field("book", "<i2", "index", "hidden", "number in the starting book; -1 a new customer"),
    Field("day", "|i1", "day", "desk", "service day booked, or declined; -1 none"),
    Field("state", "|i1", "CallState", "desk", "what became of it"),
    Field("service", "|i1", "service", "desk", "requested service; from 4 on other work"),
    Field("customer", "|i1", "type", "desk", "customer type"),
    Field("urgent", "|i1", "flag", "desk", "1 if urgent"),
    Field("zone", "|i1", "zone", "desk", "service zone of the address"),
    Field("technician", "|i1", "index", "desk", "technician offered; -1 none"),
    Field("window", "|i1", "index", "desk", "window offered; -1 none"),
    Field("registered", "|i1", "bits", "desk", "entered in the books: 1 customer, 2 location"),
    Field("from_day", "|i1", "day", "hidden", "identity for draws: day of the call"),
    Field("from_index", "|i1", "index", "hidden", "identity for draws: index in the stream"),
    Field("stream", "|i1", "Stream", "hidden", "identity for draws: stream"),
)

_DAY = (
    Field("level", "<i4", "1/10000 call", "hidden", "demand level the day was opened with"),
    Field("closed_at", "<i4", "s", "desk", "when the day closed; -1 not yet"),
    Field("cash", "<i8", "cents", "desk", "cash at the close"),
    Field("calls", "<i2", "calls", "desk", "new-job calls"),
    Field("booked", "<i2", "calls", "desk", "offers accepted"),
    Field("declined", "<i2", "calls", "desk", "offers declined"),
    Field("rejected", "<i2", "calls", "desk", "calls rejected or unanswered"),
    Field("done", "<i2", "jobs", "desk", "jobs of this service day done"),
    Field("missed", "<i2", "jobs", "desk", "appointments missed"),
    Field("failed", "<i2", "jobs", "desk", "failed visits"),
    Field("cancelled", "<i2", "jobs", "desk", "cancellations phoned in"),
)

_DUE = (
    Field("at", "<i4", "s", "hidden", "when the call will ring"),
    Field("index", "<i2", "index", "hidden", "index in the stream"),
    Field("stream", "<i2", "Stream", "hidden", "stream"),
)

_HEAD = (
    Field("seed", "<u8", "", "hidden", "the run's number"),
    Field("salt", "<u8", "", "hidden", "0 for an open run"),
    Field("cash", "<i8", "cents", "desk", "starting cash plus the ledger"),
    Field("lowest", "<i8", "cents", "desk", "lowest cash after any commit so far"),
    Field("ledger", ("<i8", (len(Entry),)), "cents", "desk", "sum of the ledger by kind of entry"),
    Field("entries", "<i4", "rows", "hidden", "rows in the ledger"),
    Field("clock", "<i4", "s", "desk", "seconds since 00:00 of day 0"),
    Field("level", "<i4", "1/10000 call", "hidden", "demand level"),
    Field(
        "next_cancel", "<i4", "s", "hidden", "earliest cancellation to come; a large number if none"
    ),
    Field("day", "<i2", "day", "desk", "service day"),
    Field("n_calls", "<i2", "calls", "desk", "calls that have rung"),
    Field("line", "<i2", "call", "desk", "call on the line waiting for an answer; -1 none"),
    Field("phoned", "<i2", "call", "desk", "cancellation to be acknowledged; -1 none"),
    Field("due_count", "<i2", "calls", "hidden", "calls of today"),
    Field("due_next", "<i2", "index", "hidden", "the next of them"),
    Field("phase", "<i2", "Phase", "desk", "where in its day the run stands"),
    Field("bankrupt", "<i2", "flag", "desk", "1 if cash fell below zero"),
)


def _dtype(fields: tuple[Field, ...], *more: tuple[Any, ...]) -> np.dtype[np.void]:
    made: list[Any] = []
    for field in fields:
        shaped = isinstance(field.dtype, tuple)
        made.append((field.name, *field.dtype) if shaped else (field.name, field.dtype))
    return np.dtype([*made, *more])


def _public(fields: tuple[Field, ...]) -> tuple[Field, ...]:
    return tuple(field for field in fields if field.seen != "hidden")


FIELDS: dict[str, tuple[Field, ...]] = {
    "run": _HEAD,
    "technician": _TECHNICIAN,
    "call": _CALL,
    "day": _DAY,
    "due": _DUE,
}
"""Every field of the state by record: what DESK and its documentation are derived from."""

CALL = _dtype(_CALL)
DESK_CALL = _dtype(_public(_CALL))
TECHNICIAN = _dtype(_TECHNICIAN)
DESK_TECHNICIAN = _dtype(_public(_TECHNICIAN))
DAY = _dtype(_DAY)
DESK_DAY = _dtype(_public(_DAY))
DUE = _dtype(_DUE)

SKY = np.dtype([("high", "<i2"), ("condition", "<i2")])
"""Weather of one zone on one day: high in whole °F, `Condition`."""

FORECAST = np.dtype(
    [
        ("high", "<i2", (FORECAST_DAYS + 1, MAX_ZONES)),
        ("condition", "<i2", (FORECAST_DAYS + 1, MAX_ZONES)),
    ]
)
"""Today's weather and what is forecast today, by day ahead and zone: copied whole at every look."""

DOUBT = np.dtype([("error", "<i2", (FORECAST_DAYS,)), ("lost", "|i1", (FORECAST_DAYS,))])
"""What the forecasts of one zone and day err by, at each lead from one day on: in 1/100 °F, and the
longest lead until then (from 0) at which the sign of rain, wind or storm is lost, 0 where none is.
"""

HANDBOOK = np.dtype(
    [
        ("opens", "<i4", (MAX_WINDOWS,)),  # s of the day
        ("closes", "<i4", (MAX_WINDOWS,)),  # s of the day
        ("evening", "<i4", (MAX_WINDOWS,)),  # 1 if off-hours on a weekday
        ("windows", "<i4"),
        ("technicians", "<i4"),
        ("services", "<i4"),
        ("zones", "<i4"),
        ("days", "<i4"),
        ("booking_days", "<i4"),
        ("first_weekday", "<i4"),  # of day 0; Monday is 0
        ("office_opens", "<i4"),  # s of the day
        ("calls_from", "<i4"),
        ("calls_until", "<i4"),
        ("skills", "<i4", (MAX_TECHNICIANS,)),  # bit s: can do service s
        ("on_call", "<i4", (MAX_TECHNICIANS,)),
        ("wage", "<i4", (MAX_TECHNICIANS,)),  # cents an hour
        ("home_x", "<i4", (MAX_TECHNICIANS,)),  # m
        ("home_y", "<i4", (MAX_TECHNICIANS,)),  # m
        ("shift_from", "<i4"),  # s of the day
        ("shift_until", "<i4"),
        ("on_call_until", "<i4"),  # weekdays
        ("weekend_from", "<i4"),
        ("weekend_until", "<i4"),
        ("overhead", "<i4"),  # cents a day
        ("starting_cash", "<i8"),  # cents
        ("shortest", "<i4", (MAX_SERVICES,)),  # s on site
        ("typical", "<i4", (MAX_SERVICES,)),
        ("longest", "<i4", (MAX_SERVICES,)),
        ("installation", "<i4", (MAX_SERVICES,)),  # 1 if never off-hours
        ("failed_visit", "<i4"),  # s on site
    ]
)
"""What the company's handbook says: part of both PARAMS and DESK."""

PLAN = np.dtype(
    [
        ("lengths", "<i4", (MAX_SERVICES,)),  # s a job of each service is planned with
        ("margin", "<i4"),  # s to spare before a window closes
        ("circuity", "<i4"),  # thousandths: road metres for a straight metre
        ("speed", "<i4"),  # m an hour
    ]
)
"""How a dispatcher estimates: settings of the plan in `core/plan.py`."""

_SEASON_DAYS = LEAD_IN_DAYS + max(SIZE_CLASSES) + BOOKING_DAYS
_LEADS = MAX_LEAD_MINUTES + 1

SEASON = np.dtype(
    [
        ("storm", "<u8"),  # thresholds of a regional storm, rain, wind
        ("rain", "<u8"),
        ("wind", "<u8"),
        ("normal", "<i4"),  # 1/100 °F
        ("region_sd", "<i4"),  # 1/100 °F, of one day's innovation
        ("zone_sd", "<i4"),
    ]
)

PARAMS = np.dtype(
    [
        # thresholds: a probability p as floor(p * 2**64), 2**64 - 1 standing for "always" (see
        # draws.py)
        ("accept_urgent", "<u8", (3,)),  # same day, next day, later
        ("accept", "<u8", (2, _LEADS)),  # by late installation (0/1) and lead in minutes
        (
            "cancel",
            "<u8",
            (MAX_CUSTOMER_TYPES, 2, 2, _LEADS),
        ),  # type, urgent, storm, lead in minutes
        ("from_book", "<u8"),
        ("zone_cut", "<u8", (MAX_ZONES,)),  # cumulative
        ("customer_cut", "<u8", (MAX_CUSTOMER_TYPES,)),  # cumulative
        ("trade_cut", "<u8", (len(Condition), MAX_SERVICES)),  # cumulative
        ("urgent_cut", "<u8", (len(Condition),)),
        ("installations_cut", "<u8", (8,)),  # cumulative over 0, 1, 2 ...
        ("zone_hit", "<u8", (3,)),  # storm, rain, wind of a zone, given the region's
        ("forecast_flip", "<u8"),
        ("season", SEASON, (_SEASON_DAYS,)),  # index: day + LEAD_IN_DAYS
        ("handbook", HANDBOOK),
        ("installations_max", "<i4"),
        ("installation_service", "<i4"),
        ("other_min", "<i4"),
        ("other_max", "<i4"),
        ("other_works", "<i4"),
        ("book", "<i4"),  # customers in the starting book
        ("late_installation_from", "<i4"),  # s of the day
        ("cancel_notice", "<i4"),  # s before the window
        ("level_start", "<i4"),  # 1/10000 call
        ("level_cap", "<i4"),
        ("level_gain", "<i4"),
        ("level_loss", "<i4"),
        ("weekend_share", "<i4"),  # 1/10000
        ("weekend_floor", "<i4"),  # calls
        ("call_time", "<i4", (3,)),  # minutes of the day: earliest, usual, latest
        ("persistence", "<i4"),  # thousandths kept of yesterday's anomaly
        ("cool_below", "<i4"),  # °F
        ("hot_from", "<i4"),
        ("extreme_from", "<i4"),
        ("forecast_sd", "<i4"),  # 1/100 °F for each day of lead
        ("speed", "<i4", (2, 24)),  # m an hour, weekday and weekend by hour
        ("drive_weather", "<i4", (len(Condition),)),  # thousandths
        ("variation", "<i4", (2,)),  # thousandths, lowest and highest
        ("home_anchor", "<i4", (MAX_TECHNICIANS,)),
        (
            "pool_start",
            "<i4",
            (MAX_ZONES * MAX_CUSTOMER_TYPES + 1,),
        ),  # of the map's address pool, by zone and type
        ("price", "<i4", (MAX_SERVICES, MAX_CUSTOMER_TYPES, 3)),  # cents: low, usual, high
        ("material", "<i4", (MAX_SERVICES, 2)),  # 1/10000 of the invoice
        ("hours_paid", "<i4"),  # base hours a weekday
        ("premium", "<i4"),  # 1/10000
        ("share", "<i4"),  # 1/10000
        ("overtime_rate", "<i4"),  # 1/10000 of the wage
        ("overtime_cap", "<i4"),  # 1/10000 of the invoice
    ]
)
"""A scenario on a map, in whole numbers: what the rules read, hidden from every dispatcher."""


def run_dtype(days: int) -> np.dtype[np.void]:
    """RUN of the size class that holds `days` days (14 or 31)."""
    size = size_class(days)
    calls, sky = _calls(size), size + BOOKING_DAYS
    return _dtype(
        _HEAD,
        ("technicians", TECHNICIAN, (MAX_TECHNICIANS,)),
        ("days", DAY, (size,)),
        ("due", DUE, (MAX_CALLS_A_DAY,)),
        (
            "route",
            "<i2",
            (size + BOOKING_DAYS, MAX_TECHNICIANS),
        ),  # first job of a day and technician
        ("lost", "|i1", (MAX_BOOK,)),  # customers of the starting book who never call again
        ("sky", SKY, (sky, MAX_ZONES)),  # true weather
        (
            "doubt",
            DOUBT,
            (FORECAST_DAYS, MAX_ZONES),
        ),  # of the next days, by day modulo their number
        ("forecast", FORECAST),
        ("calls", CALL, (calls,)),  # last: a run that begins anew wipes those that have rung
    )


def desk_dtype(days: int) -> np.dtype[np.void]:
    """DESK of the size class that holds `days` days."""
    size = size_class(days)
    return _dtype(
        _public(_HEAD),
        ("handbook", HANDBOOK),
        ("plan", PLAN),
        ("technicians", DESK_TECHNICIAN, (MAX_TECHNICIANS,)),
        ("days", DESK_DAY, (size,)),
        ("calls", DESK_CALL, (_calls(size),)),
        ("route", "<i2", (size + BOOKING_DAYS, MAX_TECHNICIANS)),
        ("forecast", FORECAST),
    )


def _calls(size: int) -> int:
    return size * MAX_CALLS_A_DAY


def size_class(days: int) -> int:
    """The smallest size class that holds `days` days; ValueError beyond the largest."""
    for size in SIZE_CLASSES:
        if 1 <= days <= size:
            return size
    raise ValueError(f"a run has 1 to {max(SIZE_CLASSES)} days, not {days}")


EVENT = np.dtype(
    [
        ("amount", "<i8"),  # cents of a ledger row
        ("at", "<i4"),  # s
        ("call", "<i2"),
        ("kind", "<i2"),  # Kind
        ("technician", "<i2"),
        ("entry", "<i2"),  # Entry of a ledger row
        ("day", "<i2"),  # booked or declined day of the call, else the present day
        ("window", "<i2"),
    ]
)
"""One thing that happened; fields that do not apply are -1 (amount 0)."""

LOG_EVENTS = 256
LOG_ROOM = 32
"""More events than one indivisible change makes; a day's close is 17 ledger rows and itself."""

LOG = np.dtype([("count", "<i8"), ("events", EVENT, (LOG_EVENTS,))])
