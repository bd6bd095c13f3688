"""The kinds of value that the API speaks: each with its description, unit, example and bounds.

A model's fields are made of these, so that a call's number or an amount of money means the same
wherever it stands. The words of states come from the enums of the rules. This module knows no
operation.
"""

from __future__ import annotations

from datetime import date
from typing import Annotated, Any

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, StringConstraints

from tradesbench_gym.api.guard import MOST_SQL_BYTES
from tradesbench_gym.api.names import words_of
from tradesbench_gym.company.scenario_schema import CUSTOMER_TYPES
from tradesbench_gym.core.codes import Activity, CallState, Condition, Phase, Stop

LARGEST = 2**63 - 1
LONGEST_TEXT = 200
LONGEST_SQL = MOST_SQL_BYTES


class Model(BaseModel):
    """A part of a request or an answer: no field too many, none of another type."""

    model_config = ConfigDict(extra="forbid", strict=True, frozen=True)


def described(
    description: str,
    example: Any,
    unit: str | None = None,
    words: tuple[str, ...] = (),
    **bounds: Any,
) -> Any:
    """What the reference says of a field: description, example, unit, and the words it can be."""
    extra: dict[str, Any] = {}
    if unit is not None:
        extra["x-unit"] = unit
    if words:
        extra["enum"] = list(words)
    return Field(
        description=description, examples=[example], json_schema_extra=extra or None, **bounds
    )


def _calendar_date(text: str) -> str:
    date.fromisoformat(text)
    return text


_Date = Annotated[
    str,
    StringConstraints(pattern=r"^[0-9]{4}-[0-9]{2}-[0-9]{2}$"),
    AfterValidator(_calendar_date),
]
_DATE = {"format": "date"}
_MOMENT = "company's clock, local time"

CallId = Annotated[int, described("Number of a call, given when it rings.", 12, ge=1, le=LARGEST)]
JobId = Annotated[
    int,
    described("Number of a job: that of the call it was booked from.", 12, ge=1, le=LARGEST),
]
CustomerId = Annotated[
    int,
    described(
        "Number of a customer in the company's books, in order of registration.",
        12,
        ge=1,
        le=LARGEST,
    ),
]
LocationId = Annotated[
    int,
    described("Number of a location in the company's books.", 402117, ge=0, le=LARGEST),
]
Name = Annotated[
    str, described("Name of the customer.", "Maria Lopez", min_length=1, max_length=LONGEST_TEXT)
]
Phone = Annotated[
    str,
    described("Phone number of the customer.", "(602) 555-0142", min_length=1, max_length=40),
]
AddressText = Annotated[
    str,
    described(
        "Address as people write it.",
        "1234 W Camelback Rd, Phoenix, AZ 85015",
        min_length=1,
        max_length=LONGEST_TEXT,
    ),
]
ServiceDate = Annotated[
    _Date,
    Field(
        description="Day of the company's calendar.",
        examples=["2026-10-02"],
        json_schema_extra=_DATE,
    ),
]
WindowStart = Annotated[
    str,
    described(
        "Start of the arrival window.",
        "09:00",
        unit="time of day",
        pattern=r"^([01][0-9]|2[0-3]):[0-5][0-9]$",
    ),
]
WindowEnd = Annotated[str, described("End of the arrival window.", "11:00", unit="time of day")]
JobType = Annotated[
    str,
    described(
        "Job type: one of the company's services, or the name of other work a caller asked for.",
        "hvac_service",
        min_length=1,
        max_length=LONGEST_TEXT,
    ),
]
TechnicianKey = Annotated[
    str,
    described("Short name of a technician.", "diana", min_length=1, max_length=LONGEST_TEXT),
]
RequestedService = Annotated[
    str, described("The work the caller asks for, in words.", "HVAC service")
]
CustomerType = Annotated[
    str, described("Type of customer.", CUSTOMER_TYPES[0], words=CUSTOMER_TYPES)
]
Urgent = Annotated[bool, described("Whether the caller says it is urgent.", example=False)]
Zone = Annotated[str, described("Service zone.", "Central Phoenix")]
East = Annotated[int, described("Place, east of the map's origin.", -4120, unit="m east")]
North = Annotated[int, described("Place, north of the map's origin.", 7890, unit="m north")]
Moment = Annotated[
    str, described("Moment of the company's clock.", "2026-10-01 09:05:00", unit=_MOMENT)
]
DayNumber = Annotated[int, described("Day of the run, from 1.", 1, unit="day")]
Count = Annotated[int, described("How many.", 3, ge=0)]
JobState = Annotated[
    str,
    described(
        "What became of the job so far.", "booked", words=words_of(CallState, CallState.BOOKED)
    ),
]
ActivityWord = Annotated[
    str, described("What the technician is doing.", "driving", words=words_of(Activity))
]
ConditionWord = Annotated[
    str, described("Weather of the zone on the day.", "clear", words=words_of(Condition))
]
PhaseWord = Annotated[
    str,
    described(
        "Where in its day the company stands: night until the office opens, morning until the "
        "phones open, open until the day's last job is done, ended when the run is over.",
        "open",
        words=words_of(Phase),
    ),
]
StopWord = Annotated[
    str,
    described("Why time stopped.", "new_call", words=words_of(Stop)[: Stop.ENDED]),
]


def cents(description: str, example: int = 30_000) -> Any:
    """A field for an amount of money."""
    return described(description, example, unit="cents")


def moment(description: str, example: str = "2026-10-01 09:05:00") -> Any:
    """A field for a moment of the company's clock."""
    return described(description, example, unit=_MOMENT)


def nested(description: str) -> Any:
    """A field that is made of others, which say their own examples."""
    return Field(description=description)
