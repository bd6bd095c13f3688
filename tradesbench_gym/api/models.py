"""What the operations answer. Every field says what it is, its unit and an example; the reference
in an agent's workspace and the OpenAPI document are made from these models.

Nothing in an answer lies in the future or is hidden from a dispatcher. This module knows no run.
"""

from __future__ import annotations

from typing import Annotated

from tradesbench_gym.api.fields import (
    ActivityWord,
    AddressText,
    CallId,
    ConditionWord,
    CustomerId,
    CustomerType,
    DayNumber,
    East,
    JobId,
    JobState,
    JobType,
    LocationId,
    Model,
    Name,
    North,
    PhaseWord,
    Phone,
    RequestedService,
    ServiceDate,
    TechnicianKey,
    Urgent,
    WindowEnd,
    WindowStart,
    Zone,
    cents,
    described,
    moment,
    nested,
)

ClockNow = Annotated[str, moment("What the company's clock says now.")]


class Problem(Model):
    """What went wrong with a request: nothing was changed by it."""

    code: Annotated[str, described("Stable name of the problem.", "call_answered")]
    message: Annotated[str, described("One sentence for people.", "no call is on the line")]
    field: Annotated[
        str | None, described("The argument at fault, null if there is none.", "call_id")
    ]


class ErrorAnswer(Model):
    """The body of every answer that is no success."""

    error: Annotated[Problem, nested("What went wrong.")]


class Job(Model):
    """A call that was booked, and what became of it."""

    job_id: JobId
    call_id: CallId
    state: JobState
    job_type: JobType
    requested_service: RequestedService
    urgent: Urgent
    customer_id: CustomerId
    name: Name
    phone: Phone
    customer_type: CustomerType
    location_id: LocationId
    address: AddressText
    zone: Zone
    east_m: East
    north_m: North
    called_at: Annotated[str, moment("When the customer phoned.")]
    technician: TechnicianKey
    service_date: ServiceDate
    window_start: WindowStart
    window_end: WindowEnd
    departed_at: Annotated[str | None, moment("When the technician set off for it; null: not yet.")]
    arrived_at: Annotated[str | None, moment("When the technician arrived; null: not yet.")]
    started_at: Annotated[str | None, moment("When work began; null: not yet.")]
    ended_at: Annotated[
        str | None, moment("When it was done, missed, failed or cancelled; null: not yet.")
    ]
    invoice_cents: Annotated[
        int | None, cents("Invoice before any premium; null until the job is done.")
    ]
    material_cents: Annotated[
        int | None, cents("Material it took; null until the job is done.", 6_000)
    ]


class NewJobCall(Model):
    """Somebody on the line who asks for work: book or reject it."""

    call_id: CallId
    called_at: Annotated[str, moment("When the customer phoned.")]
    name: Name
    phone: Phone
    customer_type: CustomerType
    address: AddressText
    zone: Zone
    east_m: East
    north_m: North
    requested_service: RequestedService
    job_type: JobType
    urgent: Urgent
    customer_id: Annotated[
        int | None,
        described("The caller in the company's books; null: register the customer first.", 12),
    ]
    location_id: Annotated[
        int | None,
        described("The address in the company's books; null: register it first.", 402117),
    ]


class Cancellation(Model):
    """A customer on the line who cancels a job; it stands, and is to be acknowledged."""

    job_id: JobId
    phoned_at: Annotated[str, moment("When the customer phoned.")]
    job: Annotated[Job, nested("The job as it stands now.")]


class CurrentCall(Model):
    """Who is on the line, if anybody."""

    kind: Annotated[
        str,
        described(
            "What kind of call it is; none: nobody is on the line.",
            "new_job",
            words=("none", "new_job", "cancellation"),
        ),
    ]
    new_job: Annotated[NewJobCall | None, nested("The caller, if kind is new_job; else null.")]
    cancellation: Annotated[
        Cancellation | None,
        nested("What is cancelled, if kind is cancellation; else null."),
    ]


class AnsweredCall(Model):
    """A call that has been answered without a booking."""

    call_id: CallId
    outcome: Annotated[
        str,
        described("What became of the call.", "rejected", words=("rejected", "unanswered")),
    ]


class Acknowledged(Model):
    """A cancellation that has been heard."""

    job_id: JobId
    state: JobState


class Customer(Model):
    """A customer in the company's books."""

    customer_id: CustomerId
    name: Name
    phone: Phone
    customer_type: CustomerType


class Customers(Model):
    """Customers in the company's books that were looked for, by number."""

    customers: Annotated[list[Customer], nested("Those that fit, none if nobody does.")]


class Location(Model):
    """A location in the company's books."""

    location_id: LocationId
    address: AddressText
    zone: Zone
    east_m: East
    north_m: North


class Locations(Model):
    """Locations in the company's books that were looked for, by number."""

    locations: Annotated[list[Location], nested("Those that fit, none if no one does.")]


class Booking(Model):
    """What the customer said to the one offer: the call has ended either way."""

    call_id: CallId
    accepted: Annotated[
        bool, described("Whether the customer accepted; if not, the call is over.", example=True)
    ]
    job: Annotated[Job | None, nested("The job, if accepted; else null.")]


class Presence(Model):
    """What a technician is doing now, and where."""

    activity: ActivityWord
    since: Annotated[str, moment("When that began.")]
    job_id: Annotated[
        int | None, described("Job driven to, waited for or worked on; null if none.", 12)
    ]
    east_m: Annotated[
        int,
        described("Where the technician is, or set off from.", -4120, unit="m east of the origin"),
    ]
    north_m: Annotated[
        int,
        described("Where the technician is, or set off from.", 7890, unit="m north of the origin"),
    ]


class TechnicianDay(Model):
    """A technician, and the jobs he has on a day."""

    technician: TechnicianKey
    name: Annotated[str, described("Full name.", "Diana Chen")]
    job_types: Annotated[
        list[str],
        described("Job types the technician is qualified for.", ["hvac_service"]),
    ]
    on_call: Annotated[bool, described("Whether off-hours windows may be booked.", example=False)]
    wage_cents: Annotated[int, described("Wage.", 4_000, unit="cents an hour")]
    home_east_m: Annotated[
        int, described("Home, where the day begins.", 8_700, unit="m east of the origin")
    ]
    home_north_m: Annotated[
        int, described("Home, where the day begins.", 11_100, unit="m north of the origin")
    ]
    present: Annotated[
        Presence | None,
        nested("What the technician is doing now; null unless the day is today."),
    ]
    jobs: Annotated[
        list[Job],
        nested(
            "Jobs of the day, cancelled ones too: first those set off for, in that order, then "
            "by window."
        ),
    ]


class DaySchedule(Model):
    """Who does what on a day."""

    date: ServiceDate
    weekday: Annotated[str, described("Day of the week.", "Thursday")]
    now: ClockNow
    technicians: Annotated[list[TechnicianDay], nested("All technicians, in the handbook's order.")]


class ZoneWeather(Model):
    """Weather of one service zone on one day."""

    zone: Zone
    high_f: Annotated[int, described("High of the day.", 91, unit="°F")]
    condition: ConditionWord


class Weather(Model):
    """Weather of one day."""

    date: ServiceDate
    zones: Annotated[list[ZoneWeather], nested("Every service zone.")]


class Forecast(Model):
    """What is forecast today; the further ahead, the less certain."""

    made_on: Annotated[str, described("Day the forecast was made.", "2026-10-01")]
    days: Annotated[list[Weather], nested("The coming days, tomorrow first.")]


class Counts(Model):
    """How many calls and jobs there were."""

    calls: Annotated[int, described("Calls for new work.", 17)]
    booked: Annotated[int, described("Offers the customer accepted.", 9)]
    declined: Annotated[int, described("Offers the customer declined.", 3)]
    rejected: Annotated[int, described("Calls rejected or unanswered.", 5)]
    done: Annotated[int, described("Jobs done and billed.", 8)]
    missed: Annotated[int, described("Appointments missed.", 0)]
    failed: Annotated[int, described("Failed visits.", 0)]
    cancelled: Annotated[int, described("Jobs cancelled by the customer.", 1)]


class CompanyStatus(Model):
    """How the company stands."""

    company: Annotated[str, described("Name of the company.", "Sunridge Services")]
    now: ClockNow
    date: Annotated[str, described("Today.", "2026-10-01")]
    weekday: Annotated[str, described("Day of the week.", "Thursday")]
    day: DayNumber
    days: Annotated[int, described("Length of the run.", 14, unit="days")]
    days_left: Annotated[int, described("Days after today.", 13, unit="days")]
    phase: PhaseWord
    cash_cents: Annotated[int, cents("Cash now.", 2_500_000)]
    starting_cash_cents: Annotated[int, cents("Cash at the start.", 2_500_000)]
    lowest_cash_cents: Annotated[int, cents("Lowest cash so far.", 2_361_450)]
    bankrupt: Annotated[bool, described("Whether cash fell below zero.", example=False)]
    today: Annotated[Counts, nested("Today so far.")]
    total: Annotated[Counts, nested("The run so far.")]


Cell = str | int | float | bool | None


class QueryResult(Model):
    """The rows of a query."""

    columns: Annotated[list[str], described("Names of the columns.", ["day", "cash_cents"])]
    rows: Annotated[list[list[Cell]], described("The rows, in order.", [[1, 2_500_000]])]
    truncated: Annotated[
        bool, described("Whether there are more rows than were answered.", example=False)
    ]
