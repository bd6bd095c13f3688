"""The public views, column by column: the one table from which the database, its documentation and
the sentences about a misspelt name are made.

Whatever stands here a dispatcher may know. This module knows no row and no connection.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import IntEnum
from functools import cache

from tradesbench_gym.api.names import words_of
from tradesbench_gym.company.scenario_schema import CUSTOMER_TYPES
from tradesbench_gym.core.codes import Activity, CallState, Condition, Entry

_DATE = "YYYY-MM-DD"
_MOMENT = "YYYY-MM-DD HH:MM:SS, company's clock"
_TIME = "HH:MM"
_FLAG = "1 yes, 0 no"


def _words(kind: type[IntEnum], first: int = 0) -> str:
    return ", ".join(words_of(kind, first))


@dataclass(frozen=True, slots=True)
class Column:
    """One column.

    Attributes:
        name: as a statement writes it.
        type: INTEGER, REAL or TEXT.
        unit: of the value, or how it is written; empty where there is none.
        meaning: in a few words.
        empty: when it is NULL; empty if it never is.

    """

    name: str
    type: str
    unit: str
    meaning: str
    empty: str = ""


@dataclass(frozen=True, slots=True)
class View:
    """One public view.

    Attributes:
        name: as a statement writes it.
        meaning: what one row is.
        key: the columns that name a row.
        columns: in order.
        select: the statement behind a view over other views; empty for one that holds rows.

    """

    name: str
    meaning: str
    key: tuple[str, ...]
    columns: tuple[Column, ...]
    select: str = ""

    @property
    def names(self) -> tuple[str, ...]:
        """The names of its columns, in order."""
        return tuple(column.name for column in self.columns)


def _int(name: str, unit: str, meaning: str, empty: str = "") -> Column:
    return Column(name, "INTEGER", unit, meaning, empty)


def _text(name: str, unit: str, meaning: str, empty: str = "") -> Column:
    return Column(name, "TEXT", unit, meaning, empty)


_PLACE = (
    _text("address", "", "as people write it"),
    _text("zone", "", "service zone of the address"),
    Column("lat", "REAL", "degrees north", "where the address lies"),
    Column("lon", "REAL", "degrees east", "where the address lies"),
    _int("east_m", "m", "where the address lies, east of the map's origin"),
    _int("north_m", "m", "where the address lies, north of the map's origin"),
)
_JOB_TYPE = _text("job_type", "", "a service of the company, or the name of other work")
_CUSTOMER_TYPE = _text("customer_type", "", ", ".join(CUSTOMER_TYPES))
_URGENT = _int("urgent", _FLAG, "whether the caller said it was urgent")
_STATE = _text("state", "", f"what became of it so far: {_words(CallState, CallState.BOOKED)}")
_SERVICE_DATE = _text("service_date", _DATE, "day it is booked for")
_TECHNICIAN = _text("technician", "", "short name of the technician it is booked with")
_WINDOW_START = _text("window_start", _TIME, "start of its arrival window")
_WINDOW_END = _text("window_end", _TIME, "end of its arrival window")
_SKY = (
    _text("condition", "", _words(Condition)),
    _int("high_f", "°F", "high of the day"),
)

VIEWS: tuple[View, ...] = (
    View(
        "calls",
        "a call that has rung, with what became of it",
        ("call_id",),
        (
            _int("call_id", "", "number of the call, in the order of ringing"),
            _text("called_at", _MOMENT, "when the customer phoned"),
            _text("name", "", "name of the caller"),
            _text("phone", "", "phone number of the caller"),
            _CUSTOMER_TYPE,
            *_PLACE,
            _JOB_TYPE,
            _URGENT,
            _text("outcome", "", "ringing, rejected, unanswered, declined or booked"),
            _text("technician", "", "short name of the technician offered", "no offer was made"),
            _text("service_date", _DATE, "day offered", "no offer was made"),
            _text("window_start", _TIME, "start of the window offered", "no offer was made"),
            _int("customer_id", "", "number in customers", "the caller is not in the books"),
            _int("location_id", "", "number in locations", "the address is not in the books"),
        ),
    ),
    View(
        "customers",
        "a customer in the company's books",
        ("customer_id",),
        (
            _int("customer_id", "", "number of the customer, in the order of registration"),
            _text("name", "", "name"),
            _text("phone", "", "phone number"),
            _CUSTOMER_TYPE,
            _int("first_call_id", "", "number of the call during which that happened first"),
            _text("registered_at", _MOMENT, "when"),
        ),
    ),
    View(
        "locations",
        "a location in the company's books",
        ("location_id",),
        (
            _int("location_id", "", "number of the address in the address book"),
            *_PLACE,
            _int("first_call_id", "", "number of the call during which that happened first"),
            _text("registered_at", _MOMENT, "when"),
        ),
    ),
    View(
        "jobs",
        "a booked job: an offer that was accepted",
        ("job_id",),
        (
            _int("job_id", "", "number of the job: that of the call it was booked from"),
            _int("customer_id", "", "number in customers"),
            _int("location_id", "", "number in locations"),
            _JOB_TYPE,
            _CUSTOMER_TYPE,
            _URGENT,
            _TECHNICIAN,
            _SERVICE_DATE,
            _WINDOW_START,
            _WINDOW_END,
            _int("off_hours", _FLAG, "whether the window is off-hours on that day"),
            _text("booked_at", _MOMENT, "when it was booked"),
            _STATE,
            _text("ended_at", _MOMENT, "when it was done, missed, failed or cancelled", "not yet"),
            _int("invoice_cents", "cents", "invoice before any premium", "the job is not done"),
            _int("material_cents", "cents", "material cost", "the job is not done"),
        ),
    ),
    View(
        "technicians",
        "a technician, and what he or she is doing now",
        ("technician",),
        (
            _text("technician", "", "short name, as jobs.book takes it"),
            _text("name", "", "full name"),
            _text("job_types", "", "job types he or she can do, separated by commas"),
            _int("wage_cents", "cents an hour", "hourly wage"),
            _int("on_call", _FLAG, "whether he or she takes off-hours windows"),
            Column("home_lat", "REAL", "degrees north", "home, where the day begins"),
            Column("home_lon", "REAL", "degrees east", "home, where the day begins"),
            _int("home_east_m", "m", "home, east of the map's origin"),
            _int("home_north_m", "m", "home, north of the map's origin"),
            _text("activity", "", _words(Activity)),
            _text("since", _MOMENT, "when this activity began"),
            _int("job_id", "", "job driven to, waited for or worked on", "idle"),
            _int("east_m", "m", "where he or she stands or set off from, east"),
            _int("north_m", "m", "where he or she stands or set off from, north"),
        ),
    ),
    View(
        "windows",
        "an arrival window",
        ("window",),
        (
            _int("window", "", "number of the window, from 1"),
            _text("window_start", _TIME, "start, as jobs.book takes it"),
            _text("window_end", _TIME, "end: work not started by then is missed"),
            _int("evening", _FLAG, "off-hours on weekdays; at weekends every window is"),
        ),
    ),
    View(
        "schedule",
        "a job on a technician's route of a day; cancelled ones have left it",
        ("job_id",),
        (
            _SERVICE_DATE,
            _TECHNICIAN,
            _int(
                "position",
                "",
                "place in the route, from 1: as driven to, then by window and number; of one "
                "window the nearest is driven to first",
            ),
            _int("job_id", "", "number in jobs"),
            _WINDOW_START,
            _WINDOW_END,
            _JOB_TYPE,
            _STATE,
            _URGENT,
            _int("customer_id", "", "number in customers"),
            _int("location_id", "", "number in locations"),
            *_PLACE,
        ),
        """
        SELECT service_date, technician,
               row_number() OVER (
                   PARTITION BY service_date, technician
                   ORDER BY departed_at IS NULL, departed_at, jobs.window_start, jobs.job_id
               ) AS position,
               jobs.job_id, jobs.window_start, window_end, job_type, jobs.state, urgent,
               customer_id, jobs.location_id, address, zone, lat, lon, east_m, north_m
        FROM jobs JOIN locations ON locations.location_id = jobs.location_id
        LEFT JOIN (SELECT job_id AS visited, departed_at FROM visits) ON visited = jobs.job_id
        WHERE jobs.state <> 'cancelled'
        ORDER BY service_date, technician, position
        """,
    ),
    View(
        "visits",
        "a job that a technician has set off to",
        ("job_id",),
        (
            _int("job_id", "", "number in jobs"),
            _TECHNICIAN,
            _SERVICE_DATE,
            _WINDOW_START,
            _text("departed_at", _MOMENT, "when the technician set off"),
            _text("arrived_at", _MOMENT, "when he or she arrived", "not yet"),
            _text("started_at", _MOMENT, "when work began", "not yet, or never"),
            _text("ended_at", _MOMENT, "when it was done, missed, failed or cancelled", "not yet"),
            _STATE,
        ),
    ),
    View(
        "ledger",
        "an entry of the ledger",
        ("entry",),
        (
            _int("entry", "", "number of the entry, in the order of posting"),
            _text("posted_at", _MOMENT, "when it was posted"),
            _text("service_date", _DATE, "service day it belongs to"),
            _text("kind", "", _words(Entry)),
            _int("amount_cents", "cents", "positive brings money, negative costs it"),
            _int("balance_cents", "cents", "cash after it"),
            _int("job_id", "", "number in jobs", "it belongs to a day"),
            _text("technician", "", "who is paid", "nobody is"),
        ),
    ),
    View(
        "cash",
        "the company's cash now: one row",
        ("now",),
        (
            _text("now", _MOMENT, "what the company's clock says now"),
            _int("cash_cents", "cents", "cash now"),
            _int("starting_cash_cents", "cents", "cash at the start"),
            _int("lowest_cash_cents", "cents", "lowest cash so far"),
            _int("bankrupt", _FLAG, "whether cash has fallen below zero"),
        ),
    ),
    View(
        "weather",
        "the weather of a zone today, or on a day before",
        ("date", "zone"),
        (
            _text("date", _DATE, "day"),
            _text("zone", "", "service zone"),
            *_SKY,
        ),
    ),
    View(
        "forecast",
        "what was forecast for a zone and day; the latest has the largest made_on",
        ("made_on", "date", "zone"),
        (
            _text("made_on", _DATE, "day it was made on: today, or a day before"),
            _text("date", _DATE, "day it is for"),
            _text("zone", "", "service zone"),
            _int("days_ahead", "days", "from made_on to date, 1 to 7"),
            *_SKY,
        ),
    ),
    View(
        "days",
        "a day of the run that has been opened, with its figures so far",
        ("date",),
        (
            _text("date", _DATE, "day"),
            _int("day", "", "number of the day in the run, from 1"),
            _text("weekday", "", "Monday to Sunday"),
            _int("weekend", _FLAG, "whether it is a Saturday or Sunday"),
            _text("closed_at", _MOMENT, "when its last job was done and it closed", "not yet"),
            _int("calls", "", "new-job calls that rang"),
            _int("booked", "", "offers accepted"),
            _int("declined", "", "offers declined"),
            _int("rejected", "", "calls rejected or left unanswered"),
            _int("done", "", "jobs done"),
            _int("missed", "", "appointments missed"),
            _int("failed", "", "failed visits"),
            _int("cancelled", "", "cancellations phoned in"),
            _int("cash_cents", "cents", "cash at the close", "not closed yet"),
        ),
    ),
)
"""Every public view; those made of other views stand in a database after them all."""

BY_NAME: dict[str, View] = {view.name: view for view in VIEWS}


@cache
def schema() -> str:
    """The SQL that makes the database. No table has row numbers beside its key."""
    held = [_table(view) for view in VIEWS if not view.select]
    made = [f"CREATE VIEW {view.name} AS {view.select};" for view in VIEWS if view.select]
    return "\n".join([*held, *made])


def _table(view: View) -> str:
    columns = [
        f"{column.name} {column.type}{'' if column.empty else ' NOT NULL'}"
        for column in view.columns
    ]
    key = ", ".join(view.key)
    return (
        f"CREATE TABLE {view.name} ({', '.join(columns)}, PRIMARY KEY ({key}))"
        " STRICT, WITHOUT ROWID;"
    )
