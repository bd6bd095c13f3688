"""From a scenario on a map to PARAMS: every number of the business as the whole numbers the rules
read.

Probabilities become thresholds here, once and exactly (A.1 of the report): with fractions and
decimals, never with binary floats or the C library's exponential. No rule stands here; tables only
spare the rules a power or a logarithm.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from datetime import date, timedelta
from decimal import Decimal, localcontext
from fractions import Fraction
from itertools import pairwise
from math import lcm
from typing import Any

import numpy as np
import numpy.typing as npt

from tradesbench_gym.company.scenario import Scenario
from tradesbench_gym.company.scenario_rules import latest_finish
from tradesbench_gym.core.codes import Condition
from tradesbench_gym.core.draws import ALWAYS, threshold
from tradesbench_gym.core.layout import (
    DAY_SECONDS,
    LEAD_IN_DAYS,
    MAX_LEAD_MINUTES,
    MAX_ZONES,
    MINUTES_A_DAY,
    PARAMS,
)
from tradesbench_gym.errors import MapError, ScenarioError
from tradesbench_gym.roads import RoadMap

_PRECISION = 60
_UNIT = 10_000
_THOUSANDTHS = 1_000
_OUTSKIRTS = 30_000


def compile_params(
    scenario: Scenario, roadmap: RoadMap, days: int, start: date
) -> npt.NDArray[np.void]:
    """One PARAMS record, as an array of one.

    Raises:
        ScenarioError: a number that fits neither the records nor the map.

    """
    params = np.zeros(1, PARAMS)
    p = params[0]
    _check_roads(scenario, roadmap)
    _check_homes(scenario, roadmap)
    _fill_handbook(p["handbook"], scenario, roadmap, days, start)
    _fill_customers(p, scenario)
    _fill_demand(p, scenario, roadmap)
    _fill_weather(p, scenario, start)
    _fill_driving(p, scenario, roadmap)
    _fill_money(p, scenario)
    params.flags.writeable = False
    return params


def _check_roads(scenario: Scenario, roadmap: RoadMap) -> None:
    longest = int(roadmap.metres.max()) + 2 * int(roadmap.places["leg"].max())
    if latest_finish(scenario, longest) >= DAY_SECONDS + scenario.calendar.office_opens:
        raise MapError(
            f"the roads of this map are up to {longest // 1000} km long, too far for a drive begun "
            "as the last window closes to end before the office opens",
            field="map",
        )


def _check_homes(scenario: Scenario, roadmap: RoadMap) -> None:
    for person in scenario.technicians:
        x, y = roadmap.plane.east(_e6(person.home_lon)), roadmap.plane.north(_e6(person.home_lat))
        for axis, place in (("x", x), ("y", y)):
            everywhere = roadmap.places[axis]
            if not everywhere.min() - _OUTSKIRTS <= place <= everywhere.max() + _OUTSKIRTS:
                raise ScenarioError(
                    f"the home of {person.name} ({person.home_lat}, {person.home_lon}) lies more "
                    f"than {_OUTSKIRTS // 1000} km off the map {roadmap.name!r}",
                    code="home_off_the_map",
                    field=f"technicians.{person.key}.home_{'lon' if axis == 'x' else 'lat'}",
                )


def part(value: Decimal | int, unit: int) -> int:
    """A number in whole parts of a unit, rounded half up: 0.08 in 10,000ths is 800."""
    scaled = Fraction(value) * unit
    return (2 * scaled.numerator + scaled.denominator) // (2 * scaled.denominator)


def chance(value: Decimal | Fraction | int) -> int:
    """A probability as a threshold."""
    fraction = Fraction(value)
    return threshold(fraction.numerator, fraction.denominator)


def cuts(weights: Iterable[Decimal | Fraction | int]) -> list[int]:
    """Cumulative thresholds of a choice by weight; the weights need not sum to one."""
    exact = [Fraction(weight) for weight in weights]
    total = sum(exact)
    return [chance(Fraction(sum(exact[: k + 1])) / total) for k in range(len(exact))]


def _e6(degrees: Decimal) -> int:
    return part(degrees, 1_000_000)


def _fill(row: Any, values: Sequence[int], rest: int = 0) -> None:
    row[: len(values)] = values
    row[len(values) :] = rest


def _fill_handbook(book: Any, scenario: Scenario, roadmap: RoadMap, days: int, start: date) -> None:
    calendar, pay = scenario.calendar, scenario.pay
    keys = [service.key for service in scenario.services]
    book["windows"], book["technicians"] = len(scenario.windows), len(scenario.technicians)
    book["services"], book["zones"] = len(scenario.services), len(roadmap.zones)
    book["days"], book["booking_days"], book["first_weekday"] = (
        days,
        calendar.booking_days,
        start.weekday(),
    )
    book["office_opens"], book["calls_from"], book["calls_until"] = (
        calendar.office_opens,
        calendar.calls_from,
        calendar.calls_until,
    )
    for k, window in enumerate(scenario.windows):
        book["opens"][k], book["closes"][k], book["evening"][k] = (
            window.opens,
            window.closes,
            window.evening,
        )
    for k, person in enumerate(scenario.technicians):
        x, y = roadmap.plane.east(_e6(person.home_lon)), roadmap.plane.north(_e6(person.home_lat))
        book["skills"][k] = sum(1 << keys.index(skill) for skill in person.skills)
        book["on_call"][k], book["wage"][k] = person.on_call, person.wage_cents
        book["home_x"][k], book["home_y"][k] = x, y
    book["shift_from"], book["shift_until"] = pay.shift_from, pay.shift_until
    book["on_call_until"] = pay.on_call_weekday_until
    book["weekend_from"], book["weekend_until"] = (
        pay.on_call_weekend_from,
        pay.on_call_weekend_until,
    )
    book["overhead"], book["starting_cash"] = pay.overhead_cents, pay.starting_cash_cents
    for k, service in enumerate(scenario.services):
        book["shortest"][k], book["typical"][k] = service.shortest_s, service.typical_s
        book["longest"][k], book["installation"][k] = service.longest_s, service.installation
    book["failed_visit"] = scenario.visits.failed_s


def _fill_customers(p: Any, scenario: Scenario) -> None:
    accept, cancel = scenario.acceptance, scenario.cancellation
    p["accept_urgent"] = [
        chance(v) for v in (accept.urgent_same_day, accept.urgent_next_day, accept.urgent_later)
    ]
    p["accept"][0] = acceptance_thresholds(scenario, Decimal(1))
    p["accept"][1] = acceptance_thresholds(scenario, accept.late_installation_factor)
    p["late_installation_from"] = accept.late_installation_from
    p["cancel_notice"] = cancel.notice_s
    for k, customer in enumerate(scenario.customers):
        for urgent in (0, 1):
            for storm in (0, 1):
                factor = Fraction(cancel.urgent_factor if urgent else 1) * Fraction(
                    cancel.storm_factor if storm else 1
                )
                base = Fraction(customer.cancel_base) * factor
                slope = Fraction(cancel.slope_per_day) * factor / MINUTES_A_DAY
                p["cancel"][k, urgent, storm] = _linear_thresholds(base, slope)
    p["customer_cut"] = cuts(customer.share for customer in scenario.customers)


def acceptance_thresholds(scenario: Scenario, factor: Decimal) -> npt.NDArray[np.uint64]:
    """max(floor, start · e^(-decay · lead)) · factor for every lead in whole minutes, floor first
    (A.2).
    """
    accept = scenario.acceptance
    with localcontext(prec=_PRECISION):
        step = (-accept.routine_decay_per_day / MINUTES_A_DAY).exp()
        value, least, table = accept.routine_start, accept.routine_floor, []
        for _ in range(MAX_LEAD_MINUTES + 1):
            p = max(least, value) * factor
            table.append(ALWAYS if p >= 1 else min(int(p * 2**64), ALWAYS - 1))
            value *= step
    return np.array(table, np.uint64)


def _linear_thresholds(base: Fraction, slope: Fraction) -> npt.NDArray[np.uint64]:
    bottom = lcm(base.denominator, slope.denominator)
    first, rise = int(base * bottom), int(slope * bottom)
    return np.array(
        [threshold(first + rise * lead, bottom) for lead in range(MAX_LEAD_MINUTES + 1)], np.uint64
    )


def _fill_demand(p: Any, scenario: Scenario, roadmap: RoadMap) -> None:
    demand = scenario.demand
    p["from_book"], p["book"] = chance(demand.book_share if demand.book else 0), demand.book
    _fill(p["zone_cut"], cuts(_zone_weights(scenario, roadmap)), ALWAYS)
    _fill(
        p["pool_start"], [int(start) for start in roadmap.pool_start], int(roadmap.pool_start[-1])
    )
    for condition in Condition:
        tilt = demand.trade_tilt[condition.name.lower()]
        weights = [
            0 if service.installation else demand.trade_mix[service.key] * tilt[service.key]
            for service in scenario.services
        ]
        p["trade_cut"][condition] = cuts(weights)
        urgent = demand.urgent_share * demand.urgent_tilt[condition.name.lower()]
        p["urgent_cut"][condition] = chance(urgent)
    days = demand.installations
    _fill(
        p["installations_cut"], cuts(days.get(count, 0) for count in range(max(days) + 1)), ALWAYS
    )
    installs = [k for k, service in enumerate(scenario.services) if service.installation]
    p["installation_service"] = installs[0] if installs else 0
    p["other_min"], p["other_max"], p["other_works"] = (
        demand.other_min,
        demand.other_max,
        len(scenario.other_work),
    )
    p["level_start"], p["level_cap"] = part(demand.start, _UNIT), part(demand.cap, _UNIT)
    p["level_gain"], p["level_loss"] = part(demand.gain, _UNIT), part(demand.loss, _UNIT)
    p["weekend_share"], p["weekend_floor"] = part(demand.weekend_share, _UNIT), demand.weekend_floor
    p["call_time"] = [moment // 60 for moment in demand.call_time]


def _zone_weights(scenario: Scenario, roadmap: RoadMap) -> list[Decimal | int]:
    """The scenario's share of each zone; on a map none of whose zones it names, the number of
    addresses.
    """
    if len(roadmap.zones) > MAX_ZONES:
        raise MapError(
            f"the map has {len(roadmap.zones)} zones, but at most {MAX_ZONES} fit", field="map"
        )
    shares = scenario.demand.zone_share
    names = [zone.name for zone in roadmap.zones]
    if not any(name in shares for name in names):
        starts = roadmap.pool_start[::3]
        return [int(after - before) for before, after in pairwise(starts)]
    for name in names:
        if name not in shares:
            raise ScenarioError(
                f"demand.zone_share: zone {name!r} of the map has no share",
                field="demand.zone_share",
            )
    return [shares[name] for name in names]


def _fill_weather(p: Any, scenario: Scenario, start: date) -> None:
    weather = scenario.weather
    keep = weather.day_to_day
    with localcontext(prec=_PRECISION):
        fresh = (
            1 - keep * keep
        ).sqrt()  # so that the anomaly's own spread is the one the scenario says
    for index, season in enumerate(p["season"]):
        today = start + timedelta(days=index - LEAD_IN_DAYS)
        month = today.month - 1
        days = Decimal(_days_in_month(today))
        season["normal"] = part(_by_season(weather.normal_high, today), 100)
        season["region_sd"] = part(weather.region_sd[month] * fresh, 100)
        season["zone_sd"] = part(weather.zone_sd[month] * fresh, 100)
        season["storm"] = chance(Fraction(weather.storm_days[month]) / Fraction(days))
        season["rain"] = chance(Fraction(weather.rain_days[month]) / Fraction(days))
        season["wind"] = chance(Fraction(weather.wind_days[month]) / Fraction(days))
    p["persistence"] = part(keep, _THOUSANDTHS)
    p["zone_hit"] = [chance(weather.zone_hit[sign]) for sign in ("storm", "rain", "wind")]
    p["cool_below"], p["hot_from"], p["extreme_from"] = (
        weather.cool_below,
        weather.hot_from,
        weather.extreme_from,
    )
    p["forecast_sd"], p["forecast_flip"] = (
        part(weather.forecast_sd, 100),
        chance(weather.forecast_flip),
    )


def _days_in_month(today: date) -> int:
    first = today.replace(day=1)
    return ((first + timedelta(days=32)).replace(day=1) - first).days


def _by_season(monthly: Sequence[Decimal], today: date) -> Decimal:
    """Between the middles of two months, in proportion."""
    middle = today.replace(day=15)
    other = middle + timedelta(days=31 if today >= middle else -31)
    other = other.replace(day=15)
    weight = Decimal(abs((today - middle).days)) / Decimal(abs((other - middle).days))
    return monthly[middle.month - 1] * (1 - weight) + monthly[other.month - 1] * weight


def _fill_driving(p: Any, scenario: Scenario, roadmap: RoadMap) -> None:
    driving = scenario.driving
    for row, speeds in enumerate((driving.speed_kmh_weekday, driving.speed_kmh_weekend)):
        p["speed"][row] = [part(speed * driving.speed_factor, 1000) for speed in speeds]
    for condition in Condition:
        p["drive_weather"][condition] = part(
            driving.weather_factor[condition.name.lower()], _THOUSANDTHS
        )
    p["variation"] = [
        part(driving.variation_low, _THOUSANDTHS),
        part(driving.variation_high, _THOUSANDTHS),
    ]
    for k, person in enumerate(scenario.technicians):
        p["home_anchor"][k] = roadmap.nearest_anchor(float(person.home_lat), float(person.home_lon))


def _fill_money(p: Any, scenario: Scenario) -> None:
    pay = scenario.pay
    for k, service in enumerate(scenario.services):
        p["material"][k] = [part(service.material_low, _UNIT), part(service.material_high, _UNIT)]
        for c, customer in enumerate(scenario.customers):
            p["price"][k, c] = service.prices[customer.key]
    p["hours_paid"] = pay.hours_per_weekday
    p["premium"], p["share"] = part(pay.off_hours_premium, _UNIT), part(pay.off_hours_share, _UNIT)
    p["overtime_rate"], p["overtime_cap"] = (
        part(pay.overtime_multiple, _UNIT),
        part(pay.overtime_cap, _UNIT),
    )
