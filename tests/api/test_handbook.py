"""The handbook says every public number of a scenario, no hidden one, and can be read back."""

from collections.abc import Mapping
from datetime import date
from typing import Any

import numpy as np
import pytest

from tests.company.scenarios import SUNRIDGE
from tests.worlds import tiny_business
from tradesbench_gym.api.handbook import handbook_text
from tradesbench_gym.api.handbook_figures import HandbookError, read_handbook
from tradesbench_gym.core.layout import HANDBOOK

TEXT = handbook_text(SUNRIDGE)

PEOPLE = [person.key for person in SUNRIDGE.technicians]
PUBLIC: tuple[dict[str, Any], ...] = (
    {"company": "Moonridge Repairs"},
    {"calendar.start_date": date(2026, 10, 3)},
    {"calendar.days": 12},
    {"calendar.booking_days": 9},
    {"calendar.office_opens": "06:30"},
    {"calendar.calls_from": "06:50"},
    {"calendar.calls_until": "19:30"},
    {"pay.hours_per_weekday": 9, "pay.shift_from": "08:00"},
    {"pay.hours_per_weekday": 11, "pay.shift_until": "18:00"},
    {"pay.on_call_weekday_until": "20:00"},
    {"pay.on_call_weekend_from": "08:00"},
    {"pay.on_call_weekend_until": "20:00"},
    {"pay.off_hours_premium": "0.125"},
    {"pay.off_hours_share": "0.3"},
    {"pay.overtime_multiple": "1.5"},
    {"pay.overtime_cap": "0.1"},
    {"pay.overhead": "1300.25"},
    {"pay.starting_cash": 31_000},
    {"visits.failed": 25},
    {"windows.0.opens": "08:00"},
    *({f"windows.{k}.opens": f"{8 + 2 * k:02}:00"} for k in range(1, 6)),
    *({f"windows.{k}.closes": f"{8 + 2 * k:02}:00"} for k in range(6)),
    *({f"windows.{k}.evening": True for k in range(first, 6)} for first in range(5)),
    {"windows.5.evening": False},
    *({f"technicians.{who}.name": f"Ada {who}"} for who in PEOPLE),
    *({f"technicians.{who}.skills": ["hvac_installation"]} for who in PEOPLE),
    *({f"technicians.{who}.wage": "41.50"} for who in PEOPLE),
    *({f"technicians.{who.key}.on_call": not who.on_call} for who in SUNRIDGE.technicians),
    *({f"services.{job.key}.label": f"Better {job.label}"} for job in SUNRIDGE.services),
    *({f"services.{job.key}.shortest": job.shortest_s // 60 - 1} for job in SUNRIDGE.services),
    *({f"services.{job.key}.typical": job.typical_s // 60 + 1} for job in SUNRIDGE.services),
    *({f"services.{job.key}.longest": job.longest_s // 60 + 1} for job in SUNRIDGE.services),
    {
        "services.plumbing.installation": True,
        "services.hvac_service.installation": False,
        "services.hvac_installation.installation": False,
        **{
            f"demand.{name}": {"hvac_service": 1, "hvac_installation": 0, "electrical": 0}
            for name in ("trade_mix", *(f"trade_tilt.{sky}" for sky in SUNRIDGE.weather.conditions))
        },
    },
)
"""Each public number with another value; with it the numbers that must follow."""
HIDDEN: dict[str, Any] = {
    "name": "another",
    "other_work": ["Roofing", "Carpets"],
    "demand.start": 11,
    "demand.cap": 29,
    "demand.gain": "0.2",
    "demand.loss": 4,
    "demand.weekend_share": "0.6",
    "demand.weekend_floor": 7,
    "demand.book": 300,
    "demand.book_share": "0.35",
    "demand.other_min": 1,
    "demand.other_max": 4,
    "demand.installations": {"0": "0.3", "1": "0.3", "2": "0.4"},
    "demand.call_time": ["08:00", "11:00", "18:00"],
    "demand.urgent_share": "0.21",
    "demand.trade_mix": {"hvac_service": "0.4", "plumbing": "0.4", "electrical": "0.2"},
    "demand.trade_tilt": {
        name: {"hvac_service": "1.01", "plumbing": "1.02", "electrical": "1.03"}
        for name in SUNRIDGE.demand.trade_tilt
    },
    "demand.urgent_tilt": dict.fromkeys(SUNRIDGE.demand.urgent_tilt, "0.9"),
    "demand.zone_share": dict(
        zip(SUNRIDGE.demand.zone_share, ("0.19", *["0.09"] * 9), strict=True)
    ),
    "acceptance.urgent_same_day": "0.9",
    "acceptance.urgent_next_day": "0.2",
    "acceptance.urgent_later": "0.1",
    "acceptance.routine_start": "0.8",
    "acceptance.routine_decay_per_day": "0.2",
    "acceptance.routine_floor": "0.3",
    "acceptance.late_installation_from": "13:00",
    "acceptance.late_installation_factor": "0.4",
    "cancellation.slope_per_day": "0.01",
    "cancellation.urgent_factor": "0.6",
    "cancellation.storm_factor": "1.3",
    "cancellation.notice": 90,
    "driving.speed_kmh_weekday": [41] * 24,
    "driving.speed_kmh_weekend": [42] * 24,
    **{f"technicians.{who}.home_lat": "33.5" for who in PEOPLE},
    **{f"technicians.{who}.home_lon": "-112.0" for who in PEOPLE},
    "driving.speed_factor": "0.9",
    "driving.variation_low": "0.9",
    "driving.variation_high": "1.1",
    "driving.weather_factor": dict.fromkeys(SUNRIDGE.driving.weather_factor, "1.2"),
    "weather.normal_high": [80] * 12,
    "weather.day_to_day": "0.6",
    "weather.region_sd": [3] * 12,
    "weather.zone_sd": [2] * 12,
    "weather.cool_below": 70,
    "weather.hot_from": 101,
    "weather.extreme_from": 111,
    "weather.storm_days": [2] * 12,
    "weather.rain_days": [3] * 12,
    "weather.wind_days": [4] * 12,
    "weather.zone_hit": {"storm": "0.5", "rain": "0.5", "wind": "0.5"},
    "weather.forecast_sd": 2,
    "weather.forecast_flip": "0.1",
    "estimate.circuity": "1.4",
    "estimate.speed_kmh": 41,
    "estimate.quantile": "0.7",
    "estimate.margin": 41,
    **{f"customers.{one.key}.label": f"Other {one.label}" for one in SUNRIDGE.customers},
    **{f"customers.{one.key}.cancel_base": "0.07" for one in SUNRIDGE.customers},
    "customers.residential.share": "0.5",
    "customers.apartment.share": "0.3",
    "customers.commercial.share": "0.2",
    **{f"services.{job.key}.material_low": "0.11" for job in SUNRIDGE.services},
    **{f"services.{job.key}.material_high": "0.77" for job in SUNRIDGE.services},
    **{
        f"services.{job.key}.prices.{customer.key}": [101, 1201, 12_001]
        for job in SUNRIDGE.services
        for customer in SUNRIDGE.customers
    },
}


def keys_of(changes: Mapping[str, Any]) -> set[str]:
    """The entries of the scenario's file that a set of changes changes."""
    before = {row.key: row.value for row in SUNRIDGE.describe()}
    after = {row.key: row.value for row in SUNRIDGE.replace(changes).describe()}
    return {key for key in before.keys() | after.keys() if before.get(key) != after.get(key)}


@pytest.mark.parametrize("changes", PUBLIC, ids=lambda changes: next(iter(changes)))
def test_changing_a_public_number_changes_the_handbook(changes: dict[str, Any]) -> None:
    assert handbook_text(SUNRIDGE.replace(changes)) != TEXT


@pytest.mark.parametrize("key", HIDDEN)
def test_changing_a_hidden_number_changes_no_byte_of_it(key: str) -> None:
    together = ("customers.", "services.") if key.endswith((".share", "material_low")) else (key,)
    changes = {other: value for other, value in HIDDEN.items() if other.startswith(together)}
    assert handbook_text(SUNRIDGE.replace(changes)) == TEXT


def test_every_number_of_a_scenario_is_public_or_hidden() -> None:
    said = {key for changes in PUBLIC for key in keys_of(changes)}
    unsaid = keys_of(HIDDEN)
    # The rules know one reach of a forecast; the installation is one job type, listed above.
    alone = {
        "weather.forecast_days",
        "services.electrical.installation",
        "services.hvac_service.installation",
    }
    every = {row.key for row in SUNRIDGE.describe()}
    assert every - said - unsaid <= alone
    assert {key for key in said & unsaid if not key.startswith("demand.")} == set()


def test_the_run_s_own_days_and_first_day_stand_in_it() -> None:
    text = handbook_text(SUNRIDGE, 5, date(2027, 1, 4))
    assert "| length | 5 days |" in text
    assert "| first day | 2027-01-04, a Monday |" in text


@pytest.mark.parametrize(
    "fact",
    [
        "| hvac_service | HVAC service | 45 min | 75 min | 180 min | any hours |",
        "| plumbing | Plumbing | 45 min | 75 min | 180 min | any hours |",
        "| electrical | Electrical | 45 min | 90 min | 210 min | any hours |",
        "| hvac_installation | HVAC installation | 120 min | 300 min | 480 min | office",
        "| 15:00-17:00 | regular | off-hours |",
        "| 17:00-19:00 | off-hours | off-hours |",
        "Marcus Vega and Roberto Salas are on call",
        "| katherine | Katherine Osei | Electrical | $39.00 | no |",
        "| base pay | 10 hours a weekday |",
        "| on call on weekdays | 17:00-19:00 |",
        "| on call at weekends | 07:00-19:00 |",
        "| off-hours share | 25% of the invoice |",
        "| overtime | 1 x hourly wage |",
        "| overtime cap | 20% of the invoice |",
        "| overhead | $1,250.00 a day |",
        "| starting cash | $25,000.00 |",
        "| failed visit | 30 min on site |",
    ],
)
def test_the_facts_of_the_report_stand_in_it(fact: str) -> None:
    assert fact in TEXT


def test_a_company_with_nobody_on_call_says_so() -> None:
    alone = {f"technicians.{who}.on_call": False for who in PEOPLE}
    assert "Nobody is on call" in handbook_text(SUNRIDGE.replace(alone))
    one = handbook_text(SUNRIDGE.replace({**alone, "technicians.diana.on_call": True}))
    assert "Diana Chen is on call" in one


@pytest.mark.parametrize(
    "changes",
    [
        {},
        {
            "company": "Ours | Yours",
            "services.electrical.label": "Wires | lamps",
            "calendar.start_date": date(2026, 10, 3),
            "calendar.booking_days": 1,
            "windows.4.evening": True,
            "pay.overhead": "123456.78",
            "pay.on_call_weekday_until": "17:00",
            "visits.failed": 0,
        },
    ],
)
def test_its_figures_read_back_are_those_of_the_rules(changes: dict[str, Any]) -> None:
    business = tiny_business(changes)
    scenario = business.scenario
    read = read_handbook(handbook_text(scenario))
    told_elsewhere = {"technicians", "skills", "on_call", "wage", "home_x", "home_y", "zones"}
    for name in set(HANDBOOK.names or ()) - told_elsewhere:
        assert np.array_equal(read.book[name], business.handbook[name]), name
    assert read.job_types == tuple(job.key for job in scenario.services)
    assert read.first_day == scenario.calendar.start_date


@pytest.mark.parametrize(
    "part",
    ["| overhead |", "| starting", "| window |", " 45 min |", "07:00-09"],
)
def test_a_handbook_with_something_missing_is_refused_in_a_sentence(part: str) -> None:
    with pytest.raises(HandbookError) as caught:
        read_handbook(TEXT.replace(part, "| other |"))
    assert caught.value.code == "handbook"
