"""The list of operations: name, request, answer, what it does, what can go wrong. The servers'
routes, the OpenAPI documents and the reference in an agent's workspace are all made from it.

Two lists, because two parties speak to a run: the agent, who answers the phone, and whoever drives
the run and lets time pass. This module knows no run and no server.
"""

from __future__ import annotations

from dataclasses import dataclass

from tradesbench_gym.api import driver_models, models, requests
from tradesbench_gym.api.fields import Model

PREFIX = "/v1/"
BODY_LIMIT = 64 * 1024


@dataclass(frozen=True, slots=True)
class Fault:
    """One way in which a request can be refused."""

    status: int
    code: str
    meaning: str


@dataclass(frozen=True, slots=True)
class Operation:
    """One operation of the API.

    Attributes:
        name: as in the path, `POST /v1/<name>`.
        request: model of the body.
        answer: model of the answer to a request that succeeds.
        summary: one line.
        description: what it does, in the words of the office.
        faults: what can go wrong beside what can go wrong with every request (`COMMON_FAULTS`).
        writes: whether it changes the run.

    """

    name: str
    request: type[Model]
    answer: type[Model]
    summary: str
    description: str
    faults: tuple[Fault, ...] = ()
    writes: bool = False

    @property
    def path(self) -> str:
        """Where the operation is asked for."""
        return PREFIX + self.name

    @property
    def all_faults(self) -> tuple[Fault, ...]:
        """Everything that can go wrong, by status."""
        return tuple(sorted((*COMMON_FAULTS, *self.faults), key=lambda one: one.status))


COMMON_FAULTS = (
    Fault(400, "malformed_body", "the body is not one JSON object in UTF-8"),
    Fault(401, "token_missing", "there is no `Authorization: Bearer` header, or more than one"),
    Fault(401, "token_wrong", "the token is not that of this server"),
    Fault(401, "token_expired", "the token was right and is no longer valid"),
    Fault(413, "body_too_large", f"the body is larger than {BODY_LIMIT // 1024} KiB"),
    Fault(422, "invalid_argument", "an argument is missing, unknown, or not of its type"),
    Fault(500, "server_failed", "the server failed, which is not your fault"),
    Fault(503, "closed", "the server is being stopped"),
    Fault(503, "records_unusable", "the company's records cannot be used at the moment"),
)
"""What can go wrong with every request for an operation."""

ASTRAY_FAULTS = (
    Fault(404, "unknown_operation", "there is no operation at this path"),
    Fault(405, "method_not_allowed", "operations are asked for with POST"),
)
"""What can go wrong with a request that is for no operation."""

_UNKNOWN_CALL = Fault(404, "unknown_call", "no call of this number has rung")
_UNKNOWN_JOB = Fault(404, "unknown_job", "there is no job of this number")
_UNKNOWN_DAY = Fault(404, "unknown_day", "the day is not in the company's calendar")
_ANSWERED = Fault(409, "call_answered", "the call has been answered already")
_NOT_OPEN = Fault(409, "office_closed", "the office has not opened for the first time yet")
_UNKNOWN_TECHNICIAN = Fault(404, "unknown_technician", "there is no technician of this name")
_ADDRESS = (
    Fault(422, "address_unreadable", "the address does not begin with a house number"),
    Fault(422, "address_unknown", "there is no such address"),
    Fault(422, "address_ambiguous", "several addresses are written so"),
    Fault(422, "wrong_location", "the address is not the caller's own"),
)

_SQL = tuple(
    Fault(422, code, meaning)
    for code, meaning in (
        ("sql_empty", "there is no statement"),
        ("sql_text", "the statement is no text that SQLite can be handed"),
        ("sql_too_long", "the statement is too long"),
        ("sql_syntax", "SQLite does not understand it"),
        ("sql_statements", "there is more than one statement"),
        ("sql_parameters", "the statement has parameters, and there are no values for them"),
        ("sql_read_only", "the statement does something else than read"),
        ("sql_view", "there is no such public view"),
        ("sql_column", "there is no such column"),
        ("sql_function", "the function does not exist or is not open to queries"),
        ("sql_failed", "the statement failed while it ran"),
        ("sql_too_complex", "the statement is too complex"),
        ("sql_time", "it took too long"),
        ("sql_memory", "it needs too much memory"),
        ("sql_too_large", "a value or row of the answer is too long"),
        ("query_busy", "too many statements are being answered, or the views are being written"),
    )
)

AGENT_OPERATIONS: tuple[Operation, ...] = (
    Operation(
        "calls.current",
        requests.Nothing,
        models.CurrentCall,
        "Who is on the line.",
        "Tells who is on the line: nobody, somebody who asks for new work, or a customer who "
        "cancels. The same caller stays on the line until answered.",
    ),
    Operation(
        "calls.reject",
        requests.TheCall,
        models.AnsweredCall,
        "Turn the caller away.",
        "Ends the call without an offer.",
        (_UNKNOWN_CALL, _ANSWERED),
        writes=True,
    ),
    Operation(
        "calls.acknowledge",
        requests.TheJob,
        models.Acknowledged,
        "Acknowledge a cancellation.",
        "Tells the customer who cancels that you have heard. The job is off either way.",
        (
            _UNKNOWN_JOB,
            Fault(409, "no_cancellation", "nobody is on the line to cancel this job"),
        ),
        writes=True,
    ),
    Operation(
        "customers.register",
        requests.RegisterCustomer,
        models.Customer,
        "Enter the caller in the company's books.",
        "Enters the caller as a customer, with the name and phone number he gave. Who is in the "
        "books already keeps his number.",
        (
            _UNKNOWN_CALL,
            _ANSWERED,
            Fault(422, "wrong_customer", "name or phone number are not the caller's own"),
        ),
        writes=True,
    ),
    Operation(
        "customers.find",
        requests.FindCustomers,
        models.Customers,
        "Look customers up in the company's books.",
        "Finds registered customers by number, part of the name, or phone number; what is given "
        "must all fit. Without arguments it lists everybody.",
    ),
    Operation(
        "locations.register",
        requests.RegisterLocation,
        models.Location,
        "Enter the place of the work in the company's books.",
        "Enters the caller's own address as a location. An address that is in the books already "
        "keeps its number.",
        (_UNKNOWN_CALL, _ANSWERED, *_ADDRESS),
        writes=True,
    ),
    Operation(
        "locations.find",
        requests.FindLocations,
        models.Locations,
        "Look locations up in the company's books.",
        "Finds registered locations by number or part of the address; what is given must all fit. "
        "Without arguments it lists every one.",
    ),
    Operation(
        "jobs.book",
        requests.BookJob,
        models.Booking,
        "Make the caller the one offer: a day, an arrival window, a technician.",
        "Offers the caller on the line an appointment for the work he asked for at his own "
        "address, and answers whether he took it. Customer and location must be registered. "
        "There is no second offer: after a no the caller has hung up. What is booked can be "
        "neither moved nor withdrawn. Nobody checks whether the technician can be there in time "
        "or knows the work; the appointment is then missed or the visit fails. An offer that is "
        "refused with an error has not been made: the caller is still on the line.",
        (
            _UNKNOWN_CALL,
            _UNKNOWN_TECHNICIAN,
            _ANSWERED,
            Fault(409, "customer_not_registered", "the caller is not in the company's books"),
            Fault(409, "location_not_registered", "his address is not in the company's books"),
            Fault(422, "wrong_service", "the job type is not the one the caller asked for"),
            Fault(422, "unknown_window", "no arrival window starts then"),
            Fault(422, "beyond_horizon", "the day is past, or too far ahead to be booked"),
            Fault(422, "window_started", "the window of today has started already"),
            Fault(422, "off_shift", "the technician does not work in this window"),
            Fault(422, "installation_off_hours", "installations are not booked off-hours"),
        ),
        writes=True,
    ),
    Operation(
        "jobs.get",
        requests.TheJob,
        models.Job,
        "Look at a job.",
        "Tells everything about a job that was booked, whatever became of it.",
        (_UNKNOWN_JOB,),
    ),
    Operation(
        "schedule.day",
        requests.TheDay,
        models.DaySchedule,
        "Look at a day's schedule.",
        "Tells for every technician the jobs of a day and, for today, what the technician is "
        "doing now and where. Within one window the list does not say who is visited first: that "
        "is decided on the road, by what is closest.",
        (_UNKNOWN_DAY,),
    ),
    Operation(
        "weather.today",
        requests.Nothing,
        models.Weather,
        "Today's weather.",
        "Tells today's high and condition in every service zone.",
        (_NOT_OPEN,),
    ),
    Operation(
        "weather.forecast",
        requests.Nothing,
        models.Forecast,
        "The weather forecast.",
        "Tells what is forecast today for the coming days in every service zone. Tomorrow's is "
        "worth more than that for the end of the week.",
        (_NOT_OPEN,),
    ),
    Operation(
        "company.status",
        requests.Nothing,
        models.CompanyStatus,
        "How the company stands.",
        "Tells the clock, the day, cash, and how many calls and jobs there were today and in all.",
    ),
    Operation(
        "query",
        requests.SqlQuery,
        models.QueryResult,
        "Ask the public views in SQL.",
        "Runs one read-only SELECT statement of SQLite's SQL over the public views. A question "
        "that takes too long or answers too much is refused or cut off.",
        _SQL,
    ),
)
"""What the agent can ask for."""

DRIVER_OPERATIONS: tuple[Operation, ...] = (
    Operation(
        "advance",
        requests.Nothing,
        driver_models.Advanced,
        "Let time pass until the next stop.",
        "Lets the run play on by itself to the next stop: the office opens, a call comes in, a "
        "customer cancels, the day closes, or the run ends. A cancellation that was not "
        "acknowledged stands all the same. A run that has ended stays so.",
        (Fault(409, "call_waiting", "a call is on the line and waits for its answer"),),
        writes=True,
    ),
    Operation(
        "leave_unanswered",
        requests.TheCall,
        models.AnsweredCall,
        "Let the call on the line go unanswered.",
        "Ends the call that nobody answered. For the company it is the same as a rejection.",
        (_UNKNOWN_CALL, _ANSWERED),
        writes=True,
    ),
    Operation(
        "status",
        requests.Nothing,
        driver_models.RunStatus,
        "How the run stands.",
        "Tells clock, day, who waits on the line, and what the run came to once it is over.",
    ),
)
"""What only whoever drives the run can ask for, on a socket of its own."""
