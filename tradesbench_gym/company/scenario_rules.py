"""What must hold between the numbers of a scenario, beyond the bounds each has by itself.

Each rule is one function that raises `Wrong` with key, value and what is allowed. Here stands also
how late anybody can still be at work, which must end before the office opens again.
"""

from collections.abc import Callable, Iterable, Sequence
from decimal import Context, Decimal, localcontext
from itertools import pairwise
from math import ceil
from typing import TYPE_CHECKING

from tradesbench_gym.company.scenario_schema import CONDITIONS, Service
from tradesbench_gym.company.scenario_tree import Wrong, refuse_unknown, require
from tradesbench_gym.company.scenario_units import DAY_SECONDS, clock, exact, shown
from tradesbench_gym.core.layout import MAX_CALLS_A_DAY

if TYPE_CHECKING:
    from tradesbench_gym.company.scenario import Scenario

LONGEST_ROAD_METRES = 150_000
"""The longest drive from door to door reckoned with; Phoenix has one of 133 km at most."""

_PRECISION = 60


def check(scenario: "Scenario") -> None:
    """Raise `Wrong` for the first rule the scenario breaks."""
    with localcontext(Context(prec=_PRECISION)):  # whatever the caller's own context rounds
        for rule in _RULES:
            rule(scenario)


def latest_finish(scenario: "Scenario", longest_road_metres: int = LONGEST_ROAD_METRES) -> int:
    """The latest second of a service day at which anybody can still be at work.

    No job starts after its window closes, so work ends by a window's close and the longest job it
    may hold; a drive begun just before the last close, to a job that is then missed, is driven to
    its end.
    """
    last = scenario.windows[-1].closes
    return max(_latest_work(scenario), last + _longest_drive(scenario, longest_road_metres))


def _latest_work(scenario: "Scenario") -> int:
    regular = max(service.longest_s for service in scenario.services)
    evening = max(service.longest_s for service in scenario.services if not service.installation)
    return max(
        window.closes + max(evening if window.evening else regular, scenario.visits.failed_s)
        for window in scenario.windows
    )


def _longest_drive(scenario: "Scenario", metres: int) -> int:
    """Seconds at the slowest hour, in the worst weather, with the worst luck."""
    driving = scenario.driving
    kmh = min(*driving.speed_kmh_weekday, *driving.speed_kmh_weekend) * driving.speed_factor
    worst = max(driving.weather_factor.values()) * driving.variation_high
    return ceil(metres * 36 * worst / (kmh * 10))


def _must(fits: bool, key: str, value: object, allowed: str) -> None:
    if not fits:
        raise Wrong("wrong_combination", key, f"{key} is {shown(value)}, but must be {allowed}")


def _must_not_come_before(key: str, seconds: int, name: str, earliest: int) -> None:
    allowed = f"no earlier than {name}, {clock(earliest)}"
    _must(seconds >= earliest, key, clock(seconds), allowed)


def _must_come_after(key: str, seconds: int, name: str, before: int) -> None:
    _must(seconds > before, key, clock(seconds), f"later than {name}, {clock(before)}")


def _sums_to_one(values: Iterable[Decimal], key: str, what: str) -> None:
    total = exact(sum(values, Decimal(0)))
    if total != 1:
        raise Wrong("wrong_combination", key, f"{what} sum to {total}, but must sum to 1")


def _different(names: Sequence[str], key: str, what: str) -> None:
    for place, name in enumerate(names):
        if name in names[:place]:
            text = f"{what} hold {shown(name)} twice, but must all be different"
            raise Wrong("wrong_combination", key, text)


def _ascending(values: Sequence[int]) -> bool:
    return all(before <= after for before, after in pairwise(values))


def _hours_of_the_office(scenario: "Scenario") -> None:
    day = scenario.calendar
    _must_not_come_before("calendar.calls_from", day.calls_from, "office_opens", day.office_opens)
    _must_come_after("calendar.calls_until", day.calls_until, "calls_from", day.calls_from)


def _windows_in_order(scenario: "Scenario") -> None:
    earliest, name, evening = scenario.calendar.office_opens, "the office opens", False
    for place, window in enumerate(scenario.windows):
        key = f"windows.{place}"
        _must_not_come_before(f"{key}.opens", window.opens, name, earliest)
        _must_come_after(f"{key}.closes", window.closes, "it opens", window.opens)
        allowed = "true as in the window before it"
        _must(window.evening or not evening, f"{key}.evening", window.evening, allowed)
        earliest, name, evening = window.closes, "the window before it closes", window.evening


def _skills(scenario: "Scenario") -> None:
    people = scenario.technicians
    _different([person.name for person in people], "technicians", "the names of technicians")
    known = [service.key for service in scenario.services]
    for person in people:
        key = f"technicians.{person.key}.skills"
        allowed = "a list of some of " + ", ".join(known)
        _must(set(person.skills) <= set(known), key, person.skills, allowed)
        _different(person.skills, key, key)


def _paid_hours(scenario: "Scenario") -> None:
    pay, opens = scenario.pay, scenario.calendar.office_opens
    weekend = pay.on_call_weekend_from
    _must_not_come_before("pay.shift_from", pay.shift_from, "office_opens", opens)
    _must_come_after("pay.shift_until", pay.shift_until, "shift_from", pay.shift_from)
    until = pay.on_call_weekday_until
    _must_not_come_before("pay.on_call_weekday_until", until, "shift_until", pay.shift_until)
    _must_not_come_before("pay.on_call_weekend_from", weekend, "office_opens", opens)
    until = pay.on_call_weekend_until
    _must_not_come_before("pay.on_call_weekend_until", until, "on_call_weekend_from", weekend)
    hours = (pay.shift_until - pay.shift_from) // 3600
    allowed = f"the {hours} hours from shift_from to shift_until"
    key = "pay.hours_per_weekday"
    _must(pay.hours_per_weekday == hours, key, pay.hours_per_weekday, allowed)


def _job_types(scenario: "Scenario") -> None:
    labels = [service.label for service in scenario.services]
    _different([*labels, *scenario.other_work], "other_work", "labels of services and other_work")
    installers = sum(service.installation for service in scenario.services)
    if installers != 1:
        text = f"services has {installers} job types with installation = true, but must have one"
        raise Wrong("wrong_combination", "services", text)
    for service in scenario.services:
        _one_job_type(service, f"services.{service.key}")


def _one_job_type(service: Service, key: str) -> None:
    low, usual, high = (s // 60 for s in (service.shortest_s, service.typical_s, service.longest_s))
    _must(low <= high, f"{key}.shortest", low, f"at most longest, {high}")
    allowed = f"from shortest to longest, {low} to {high}"
    _must(low <= usual <= high, f"{key}.typical", usual, allowed)
    least, most = service.material_low, service.material_high
    _must(least <= most, f"{key}.material_low", least, f"at most material_high, {most}")
    for customer, prices in service.prices.items():
        dollars = [exact(Decimal(cents) / 100) for cents in prices]
        _must(_ascending(prices), f"{key}.prices.{customer}", dollars, "low <= usual <= high")


def _people_who_call(scenario: "Scenario") -> None:
    customers = scenario.customers
    labels = [customer.label for customer in customers]
    _different(labels, "customers", "the labels of customers")
    _sums_to_one((who.share for who in customers), "customers", "the shares of customers")


def _number_of_calls(scenario: "Scenario") -> None:
    demand = scenario.demand
    _must(demand.start <= demand.cap, "demand.start", demand.start, f"at most cap, {demand.cap}")
    fewest, most = demand.other_min, demand.other_max
    _must(fewest <= most, "demand.other_min", fewest, f"at most other_max, {most}")
    key = "demand.installations"
    _sums_to_one(demand.installations.values(), key, f"the shares in {key}")
    # These calls come even on a day whose level brings fewer calls than they are.
    room = MAX_CALLS_A_DAY - max(demand.installations)
    allowed = f"at most {room}, so that a day holds {MAX_CALLS_A_DAY} calls with its installations"
    _must(most <= room, "demand.other_max", most, allowed)


def _mix_of_calls(scenario: "Scenario") -> None:
    demand = scenario.demand
    trades = [service.key for service in scenario.services if not service.installation]
    tilts = {f"demand.trade_tilt.{name}": demand.trade_tilt[name] for name in CONDITIONS}
    for key, table in {"demand.trade_mix": demand.trade_mix, **tilts}.items():
        refuse_unknown(table, trades, key)
        require(trades, table, key, "a number, as for every service but the installation")
    _sums_to_one(demand.trade_mix.values(), "demand.trade_mix", "the shares in demand.trade_mix")
    key = "demand.zone_share"
    _sums_to_one(demand.zone_share.values(), key, f"the shares in {key}")
    for name in CONDITIONS:
        key, tilt = f"demand.trade_tilt.{name}", demand.trade_tilt[name]
        calls = any(demand.trade_mix[trade] * tilt[trade] for trade in trades)
        weights = [tilt[trade] for trade in trades]
        _must(calls, key, weights, "above 0 for a trade that trade_mix holds")
        most, factor = demand.urgent_share, demand.urgent_tilt[name]
        allowed = f"at most 1 when multiplied by urgent_share, {most}"
        _must(most * factor <= 1, f"demand.urgent_tilt.{name}", factor, allowed)


def _times_of_calls(scenario: "Scenario") -> None:
    day, times = scenario.calendar, scenario.demand.call_time
    allowed = f"ascending within {clock(day.calls_from)} to {clock(day.calls_until)}"
    fits = _ascending((day.calls_from, *times, day.calls_until))
    _must(fits, "demand.call_time", [clock(moment) for moment in times], allowed)


def _patience(scenario: "Scenario") -> None:
    # A customer's patience is one number, so a better offer must never have the lower chance.
    accept = scenario.acceptance
    for key, value, better, most in (
        ("urgent_next_day", accept.urgent_next_day, "urgent_same_day", accept.urgent_same_day),
        ("urgent_later", accept.urgent_later, "urgent_next_day", accept.urgent_next_day),
        ("routine_floor", accept.routine_floor, "routine_start", accept.routine_start),
    ):
        _must(value <= most, f"acceptance.{key}", value, f"at most {better}, {most}")


def _chance_of_cancelling(scenario: "Scenario") -> None:
    cancel, days = scenario.cancellation, scenario.calendar.booking_days
    factor = max(Decimal(1), cancel.urgent_factor) * max(Decimal(1), cancel.storm_factor)
    base = max(customer.cancel_base for customer in scenario.customers)
    chance = (base + cancel.slope_per_day * days) * factor
    allowed = (
        f"low enough for a chance of at most 1 after {days} days in the worst case, "
        f"which now comes to {exact(chance)}"
    )
    _must(chance <= 1, "cancellation.slope_per_day", cancel.slope_per_day, allowed)


def _weather_and_drives(scenario: "Scenario") -> None:
    driving, weather = scenario.driving, scenario.weather
    low, high = driving.variation_low, driving.variation_high
    _must(low <= high, "driving.variation_low", low, f"at most variation_high, {high}")
    cool, hot, extreme = weather.cool_below, weather.hot_from, weather.extreme_from
    _must(cool <= hot, "weather.cool_below", cool, f"at most hot_from, {hot}")
    _must(hot <= extreme, "weather.hot_from", hot, f"at most extreme_from, {extreme}")


def _nights(scenario: "Scenario") -> None:
    opens = scenario.calendar.office_opens
    end = f"to end before the office opens, {clock(opens)}"
    last = scenario.windows[-1].closes
    key = f"windows.{len(scenario.windows) - 1}.closes"
    allowed = f"early enough for the longest job of the evening {end}"
    _must(_latest_work(scenario) < DAY_SECONDS + opens, key, clock(last), allowed)
    drive = _longest_drive(scenario, LONGEST_ROAD_METRES)
    allowed = (
        f"high enough for a drive of {LONGEST_ROAD_METRES // 1000} km begun at {clock(last)} "
        f"{end}, which now takes up to {Decimal(drive) / 3600:.1f} hours"
    )
    fits = last + drive < DAY_SECONDS + opens
    _must(fits, "driving.speed_factor", scenario.driving.speed_factor, allowed)


_RULES: tuple[Callable[["Scenario"], None], ...] = (
    _hours_of_the_office,
    _windows_in_order,
    _skills,
    _paid_hours,
    _job_types,
    _people_who_call,
    _number_of_calls,
    _mix_of_calls,
    _times_of_calls,
    _patience,
    _chance_of_cancelling,
    _weather_and_drives,
    _nights,
)
