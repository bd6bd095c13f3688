"""The parts of a scenario: every number of the business with its unit, source, meaning and bounds.

This module is the single home of those four; the comments in `sunridge.toml` repeat unit and source
for whoever edits the file, and a test holds the two together. A field is named as in the file, with
`_s` or `_cents` added where the file's minutes, times of day or dollars became seconds or cents.
It knows no rule that joins two numbers (`scenario_rules`) and reads no file (`scenario`).
"""

from dataclasses import dataclass
from datetime import date
from decimal import Decimal
from typing import Annotated, ClassVar

from tradesbench_gym.company.scenario_units import (
    CALIBRATED,
    GIVEN,
    Clock,
    Day,
    Dollars,
    Flag,
    Minutes,
    Named,
    Number,
    Row,
    Sections,
    Source,
    Table,
    Text,
    Whole,
)
from tradesbench_gym.core.codes import Condition
from tradesbench_gym.core.layout import BOOKING_DAYS as MAX_BOOKING_DAYS
from tradesbench_gym.core.layout import (
    FORECAST_DAYS,
    MAX_BOOK,
    MAX_CALLS_A_DAY,
    MAX_OTHER_WORK,
    MAX_SERVICES,
    MAX_TECHNICIANS,
    MAX_WINDOWS,
    MAX_ZONES,
    SIZE_CLASSES,
)

CONDITIONS = tuple(condition.name.lower() for condition in Condition)
"""The weather of a zone on a day; the order is that of the engine."""
SIGNS = ("storm", "rain", "wind")
"""Weather that comes to the region and reaches each zone or not."""
CUSTOMER_TYPES = ("residential", "apartment", "commercial")
"""What stands at an address of a map; the order is that of the maps."""

MAX_INSTALLATIONS = 7
MAX_DAYS = max(SIZE_CLASSES)

_MONTHS = 12
_HOURS = 24


def _share(source: Source, meaning: str) -> Number:
    return Number("share", source, meaning, "0", "1")


def _factor(source: Source, meaning: str, low: str = "0", high: str = "10") -> Number:
    return Number("factor", source, meaning, low, high, places=3)


def _days_a_month(meaning: str) -> Row:
    return Row(Number("days a month", CALIBRATED, meaning, "0", "28"), _MONTHS, _MONTHS)


def _speeds(meaning: str) -> Row:
    return Row(Number("km/h", CALIBRATED, meaning, "5", "150", places=3), _HOURS, _HOURS)


@dataclass(frozen=True, slots=True)
class Calendar:
    """When a run begins, how long it lasts, and the hours of the office."""

    weekend_days: ClassVar[tuple[int, int]] = (5, 6)
    """Saturday and Sunday, as `date.weekday` counts."""

    start_date: Annotated[date, Day("date", GIVEN, "day 0 of a run")]
    days: Annotated[int, Whole("days", GIVEN, "length of a run", 1, MAX_DAYS)]
    booking_days: Annotated[
        int, Whole("days", GIVEN, "days a booking may name, from today on", 1, MAX_BOOKING_DAYS)
    ]
    office_opens: Annotated[int, Clock("clock", GIVEN, "the day begins")]
    calls_from: Annotated[int, Clock("clock", GIVEN, "customers phone from here")]
    calls_until: Annotated[int, Clock("clock", GIVEN, "customers phone until here")]


@dataclass(frozen=True, slots=True)
class Window:
    """One arrival window."""

    opens: Annotated[int, Clock("clock", GIVEN, "work may start from here", step=3600)]
    closes: Annotated[int, Clock("clock", GIVEN, "work not started by here is missed", step=3600)]
    evening: Annotated[bool, Flag("yes or no", GIVEN, "off-hours on weekdays too")]


@dataclass(frozen=True, slots=True)
class Technician:
    """Someone who drives out and does the work."""

    key: str
    name: Annotated[str, Text("text", GIVEN, "name")]
    skills: Annotated[
        tuple[str, ...], Row(Text("services", GIVEN, "what the qualification covers"), 1, 4)
    ]
    wage_cents: Annotated[int, Dollars("dollars an hour", GIVEN, "hourly wage", 0, 1000)]
    on_call: Annotated[bool, Flag("yes or no", GIVEN, "takes off-hours windows")]
    home_lat: Annotated[
        Decimal, Number("degrees north", CALIBRATED, "home, where the day begins", "-85", "85", 6)
    ]
    home_lon: Annotated[
        Decimal, Number("degrees east", CALIBRATED, "home, where the day begins", "-180", "180", 6)
    ]


@dataclass(frozen=True, slots=True)
class Pay:
    """Paid hours, premiums, overtime, overhead and the cash at the start."""

    hours_per_weekday: Annotated[
        int, Whole("hours", GIVEN, "paid to every technician on every weekday", 1, 24)
    ]
    shift_from: Annotated[int, Clock("clock", GIVEN, "weekday shift begins", step=3600)]
    shift_until: Annotated[int, Clock("clock", GIVEN, "weekday shift ends", step=3600)]
    on_call_weekday_until: Annotated[
        int,
        Clock("clock", GIVEN, "on call on weekdays from the end of the shift to here", step=3600),
    ]
    on_call_weekend_from: Annotated[
        int, Clock("clock", GIVEN, "on call at weekends from here", step=3600)
    ]
    on_call_weekend_until: Annotated[
        int, Clock("clock", GIVEN, "on call at weekends to here", step=3600)
    ]
    off_hours_premium: Annotated[
        Decimal, Number("share", GIVEN, "billed on top of an off-hours invoice", "0", "1", 4)
    ]
    off_hours_share: Annotated[
        Decimal, Number("share", GIVEN, "of an off-hours invoice, to the technician", "0", "1", 4)
    ]
    overtime_multiple: Annotated[
        Decimal, Number("factor", GIVEN, "overtime wage over the hourly wage", "0", "5", 4)
    ]
    overtime_cap: Annotated[
        Decimal, Number("share", GIVEN, "most overtime of a paid job, of its invoice", "0", "1", 4)
    ]
    overhead_cents: Annotated[
        int, Dollars("dollars a day", GIVEN, "operating overhead", 0, 1_000_000)
    ]
    starting_cash_cents: Annotated[
        int, Dollars("dollars", GIVEN, "cash on day 0", 0, 1_000_000_000)
    ]


_PRICES = Named(
    Row(
        Dollars(
            "dollars",
            CALIBRATED,
            "invoice: low, usual, high",
            0,
            1_000_000,
            given_for=("hvac_service.prices.residential",),
        ),
        3,
        3,
    ),
    CUSTOMER_TYPES,
)


def _material(meaning: str, key: str) -> Number:
    given = (f"hvac_service.{key}",)
    return Number("share", CALIBRATED, meaning, "0", "1", 4, given_for=given)


@dataclass(frozen=True, slots=True)
class Service:
    """A job type: how long it takes, what it bills and what it costs."""

    key: str
    label: Annotated[str, Text("text", GIVEN, "name in the handbook")]
    installation: Annotated[
        bool, Flag("yes or no", GIVEN, "never off-hours, accepted less often late in the day")
    ]
    shortest_s: Annotated[int, Minutes("minutes", GIVEN, "on site at least", 1, 720)]
    typical_s: Annotated[int, Minutes("minutes", GIVEN, "on site most often", 1, 720)]
    longest_s: Annotated[int, Minutes("minutes", GIVEN, "on site at most", 1, 720)]
    material_low: Annotated[Decimal, _material("least material, of the invoice", "material_low")]
    material_high: Annotated[Decimal, _material("most material, of the invoice", "material_high")]
    prices: Annotated[Table[str, tuple[int, int, int]], _PRICES]


@dataclass(frozen=True, slots=True)
class CustomerType:
    """Who calls."""

    key: str
    label: Annotated[str, Text("text", GIVEN, "name in the handbook")]
    share: Annotated[Decimal, _share(CALIBRATED, "of all callers")]
    cancel_base: Annotated[Decimal, _share(GIVEN, "chance of cancelling at no lead")]


@dataclass(frozen=True, slots=True)
class Demand:
    """How many customers call, when, and for what."""

    start: Annotated[int, Whole("calls", GIVEN, "level on day 0", 0, MAX_CALLS_A_DAY)]
    cap: Annotated[int, Whole("calls", GIVEN, "highest level", 1, MAX_CALLS_A_DAY)]
    gain: Annotated[
        Decimal, Number("calls", CALIBRATED, "added by a job done on time", "0", "40", 4)
    ]
    loss: Annotated[
        Decimal, Number("calls", CALIBRATED, "lost by a missed or failed visit", "0", "40", 4)
    ]
    weekend_share: Annotated[
        Decimal, Number("share", GIVEN, "of the level, at weekends", "0", "1", 4)
    ]
    weekend_floor: Annotated[
        int,
        Whole("calls", GIVEN, "least at weekends while the level is this", 0, MAX_CALLS_A_DAY),
    ]
    book: Annotated[
        int, Whole("customers", CALIBRATED, "existing customers at the start", 0, MAX_BOOK)
    ]
    book_share: Annotated[Decimal, _share(GIVEN, "of service calls from existing customers")]
    other_min: Annotated[
        int, Whole("calls a day", GIVEN, "fewest for work not done", 0, MAX_CALLS_A_DAY)
    ]
    other_max: Annotated[
        int, Whole("calls a day", GIVEN, "most for work not done", 0, MAX_CALLS_A_DAY)
    ]
    installations: Annotated[
        Table[int, Decimal],
        Named(
            _share(CALIBRATED, "of days with so many installation requests"),
            tuple(str(count) for count in range(MAX_INSTALLATIONS + 1)),
            counts=True,
        ),
    ]
    call_time: Annotated[
        tuple[int, int, int],
        Row(Clock("clock", CALIBRATED, "of a call: earliest, most often, latest"), 3, 3),
    ]
    urgent_share: Annotated[Decimal, _share(CALIBRATED, "urgent, of service calls")]
    trade_mix: Annotated[
        Table[str, Decimal], Named(_share(CALIBRATED, "of service calls, in mild weather"))
    ]
    trade_tilt: Annotated[
        Table[str, Table[str, Decimal]],
        Named(
            Named(_factor(CALIBRATED, "weight of a trade in this weather")),
            CONDITIONS,
        ),
    ]
    urgent_tilt: Annotated[
        Table[str, Decimal],
        Named(_factor(CALIBRATED, "on the urgent share in this weather"), CONDITIONS),
    ]
    zone_share: Annotated[
        Table[str, Decimal], Named(_share(CALIBRATED, "of calls from this zone"), most=MAX_ZONES)
    ]


@dataclass(frozen=True, slots=True)
class Acceptance:
    """Whether a caller takes the window offered."""

    urgent_same_day: Annotated[Decimal, _share(GIVEN, "urgent, offered the day of the call")]
    urgent_next_day: Annotated[Decimal, _share(GIVEN, "urgent, offered the next day")]
    urgent_later: Annotated[Decimal, _share(GIVEN, "urgent, offered anything later")]
    routine_start: Annotated[Decimal, _share(GIVEN, "routine, at no lead")]
    routine_decay_per_day: Annotated[
        Decimal, Number("per day", CALIBRATED, "exponent of the decline with lead", "0", "10")
    ]
    routine_floor: Annotated[Decimal, _share(GIVEN, "routine, however long the lead")]
    late_installation_from: Annotated[
        int, Clock("clock", GIVEN, "an installation window that starts here or later is late")
    ]
    late_installation_factor: Annotated[
        Decimal, _share(GIVEN, "factor on accepting a late installation window")
    ]


@dataclass(frozen=True, slots=True)
class Cancellation:
    """Whether a booking is cancelled; the rate at no lead stands with the customer type."""

    slope_per_day: Annotated[
        Decimal, Number("per day", CALIBRATED, "added for each day of lead", "0", "1")
    ]
    urgent_factor: Annotated[Decimal, _factor(CALIBRATED, "on the chance, if urgent")]
    storm_factor: Annotated[Decimal, _factor(GIVEN, "on the chance, if a storm hits that day")]
    notice_s: Annotated[
        int, Minutes("minutes", GIVEN, "a cancellation comes this long before the window", 0, 720)
    ]


@dataclass(frozen=True, slots=True)
class Visits:
    """Visits that earn nothing."""

    failed_s: Annotated[int, Minutes("minutes", GIVEN, "on site, of a failed visit", 0, 720)]


@dataclass(frozen=True, slots=True)
class Driving:
    """How long a drive takes."""

    speed_kmh_weekday: Annotated[tuple[Decimal, ...], _speeds("by hour of departure, weekdays")]
    speed_kmh_weekend: Annotated[tuple[Decimal, ...], _speeds("by hour of departure, weekends")]
    speed_factor: Annotated[Decimal, _factor(CALIBRATED, "on both tables", "0.1", "3")]
    variation_low: Annotated[Decimal, _factor(CALIBRATED, "shortest of a drive", "0.1", "3")]
    variation_high: Annotated[Decimal, _factor(CALIBRATED, "longest of a drive", "0.1", "3")]
    weather_factor: Annotated[
        Table[str, Decimal],
        Named(_factor(GIVEN, "on drive time, weather at the destination", "0.1", "5"), CONDITIONS),
    ]


@dataclass(frozen=True, slots=True)
class Weather:
    """The climate of the region; lists of twelve run from January to December."""

    conditions: ClassVar[tuple[str, ...]] = CONDITIONS

    normal_high: Annotated[
        tuple[Decimal, ...],
        Row(Number("°F", CALIBRATED, "normal daily high", "-50", "150", 2), _MONTHS, _MONTHS),
    ]
    day_to_day: Annotated[
        Decimal, Number("share", CALIBRATED, "of an anomaly left the next day", "0", "0.99", 3)
    ]
    region_sd: Annotated[
        tuple[Decimal, ...],
        Row(
            Number("°F", CALIBRATED, "spread (SD) of the anomaly all zones share", "0", "30", 2),
            _MONTHS,
            _MONTHS,
        ),
    ]
    zone_sd: Annotated[
        tuple[Decimal, ...],
        Row(
            Number("°F", CALIBRATED, "spread (SD) of a zone about the region", "0", "30", 2),
            _MONTHS,
            _MONTHS,
        ),
    ]
    cool_below: Annotated[int, Whole("°F", CALIBRATED, "cool when the high is below", -100, 200)]
    hot_from: Annotated[int, Whole("°F", CALIBRATED, "hot from this high on", -100, 200)]
    extreme_from: Annotated[int, Whole("°F", CALIBRATED, "extreme heat from here on", -100, 200)]
    storm_days: Annotated[tuple[Decimal, ...], _days_a_month("a storm somewhere in the region")]
    rain_days: Annotated[tuple[Decimal, ...], _days_a_month("rain somewhere in the region")]
    wind_days: Annotated[tuple[Decimal, ...], _days_a_month("strong wind in the region")]
    zone_hit: Annotated[
        Table[str, Decimal], Named(_share(CALIBRATED, "of zones reached on such a day"), SIGNS)
    ]
    forecast_days: Annotated[
        int, Whole("days", GIVEN, "a forecast reaches ahead", FORECAST_DAYS, FORECAST_DAYS)
    ]
    forecast_sd: Annotated[
        Decimal, Number("°F", CALIBRATED, "error (SD) each day of lead adds", "0", "30", 2)
    ]
    forecast_flip: Annotated[
        Decimal, _share(CALIBRATED, "chance that a day of lead loses sight of storm, rain, wind")
    ]


@dataclass(frozen=True, slots=True)
class Estimate:
    """How a dispatcher reckons: the oracle's settings (A.8)."""

    circuity: Annotated[
        Decimal, Number("factor", GIVEN, "road over straight line", "1", "5", places=3)
    ]
    speed_kmh: Annotated[Decimal, Number("km/h", GIVEN, "of every drive", "1", "150", places=3)]
    quantile: Annotated[Decimal, _share(GIVEN, "of a job's length, to plan with")]
    margin_s: Annotated[int, Minutes("minutes", GIVEN, "to spare before a window closes", 0, 720)]


WINDOWS = Sections(1, MAX_WINDOWS, keyed=False)
TECHNICIANS = Sections(1, MAX_TECHNICIANS, keyed=True)
SERVICES = Sections(2, MAX_SERVICES, keyed=True)
CUSTOMERS = Sections(3, 3, keyed=True, names=CUSTOMER_TYPES)
OTHER_WORK = Row(Text("text", CALIBRATED, "trades the company does not do"), 1, MAX_OTHER_WORK)
NAME = Text("text", CALIBRATED, "name of the scenario")
COMPANY = Text("text", GIVEN, "name of the company")
