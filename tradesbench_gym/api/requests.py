"""What the operations take. Every field says what it is, its unit and an example.

A request says whole what it means: an operation on a call names the call, so that no answer can go
to another caller than the one it was meant for. This module knows no run.
"""

from __future__ import annotations

from typing import Annotated

from tradesbench_gym.api.fields import (
    LARGEST,
    LONGEST_SQL,
    LONGEST_TEXT,
    AddressText,
    CallId,
    JobId,
    JobType,
    Model,
    Name,
    Phone,
    ServiceDate,
    TechnicianKey,
    WindowStart,
    described,
)


class Nothing(Model):
    """No arguments: an empty object."""


class TheCall(Model):
    """A call by its number."""

    call_id: CallId


class TheJob(Model):
    """A job by its number."""

    job_id: JobId


class RegisterCustomer(Model):
    """The caller, as he gave his name and number."""

    call_id: CallId
    name: Name
    phone: Phone


class FindCustomers(Model):
    """What to look for; every field given must fit, and none lists all."""

    customer_id: Annotated[
        int | None, described("Number of the customer.", 12, ge=1, le=LARGEST)
    ] = None
    name: Annotated[
        str | None,
        described("Part of the name, in any case.", "lopez", min_length=1, max_length=LONGEST_TEXT),
    ] = None
    phone: Annotated[
        str | None,
        described("Phone number, by its digits.", "602-555-0142", min_length=1, max_length=40),
    ] = None


class RegisterLocation(Model):
    """The caller's own address."""

    call_id: CallId
    address: AddressText


class FindLocations(Model):
    """What to look for; every field given must fit, and none lists all."""

    location_id: Annotated[
        int | None, described("Number of the location.", 402117, ge=0, le=LARGEST)
    ] = None
    address: Annotated[
        str | None,
        described(
            "Part of the address, in any case.",
            "Camelback",
            min_length=1,
            max_length=LONGEST_TEXT,
        ),
    ] = None


class BookJob(Model):
    """The one offer that a caller gets."""

    call_id: CallId
    job_type: JobType
    service_date: ServiceDate
    window_start: WindowStart
    technician: TechnicianKey


class TheDay(Model):
    """A day of the company's calendar."""

    date: ServiceDate


class SqlQuery(Model):
    """A question to the public views."""

    sql: Annotated[
        str,
        described(
            "One SELECT statement of SQLite's SQL.",
            "SELECT count(*) FROM jobs",
            min_length=1,
            max_length=LONGEST_SQL,
        ),
    ]
