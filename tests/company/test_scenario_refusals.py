"""A wrong scenario is refused in one sentence that names file, key, value and what is allowed."""

import os
import tomllib
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest

from tests.company.scenarios import (
    HOUR,
    SUNRIDGE,
    TEXT,
    Write,
    assert_one_sentence,
    refusal,
    writer,
)
from tradesbench_gym.company.scenario import load_scenario
from tradesbench_gym.company.scenario_rules import LONGEST_ROAD_METRES, latest_finish
from tradesbench_gym.errors import ScenarioError
from tradesbench_gym.roads import open_map


@pytest.fixture(scope="module")
def write(tmp_path_factory: pytest.TempPathFactory) -> Write:
    return writer(tmp_path_factory.mktemp("scenario"))


def edited(before: str, after: str) -> str:
    assert TEXT.count(before) == 1, before
    return TEXT.replace(before, after)


@pytest.mark.parametrize(
    ("before", "after", "code", "sentence"),
    [
        (
            "gain = 0.107 ",
            "gian = 0.08 ",
            "unknown_key",
            "demand.gian is no key of a scenario, the nearest one is demand.gain.",
        ),
        (
            "gain = 0.107 ",
            "# ",
            "missing_key",
            (
                "demand.gain is missing, but must be a number from 0 to 40 (calls) "
                "with at most 4 decimals."
            ),
        ),
        (
            "gain = 0.107 ",
            'gain = "lots" ',
            "wrong_value",
            (
                "demand.gain is 'lots', but must be a number from 0 to 40 (calls) "
                "with at most 4 decimals."
            ),
        ),
        (
            "wage = 36 ",
            "wage = -1 ",
            "wrong_value",
            (
                "technicians.marcus.wage is -1, but must be an amount from 0 to 1000 "
                "(dollars an hour), to the cent."
            ),
        ),
        (
            "apartment = [160, 320, 535]    # dollars, calibrated: about",
            "apartment = [160, 320]  # ",
            "wrong_value",
            (
                "services.hvac_service.prices.apartment is [160, 320], but must be "
                "a list of 3 values (dollars)."
            ),
        ),
        (
            "[visits]\nfailed = 30 ",
            "visits = 30 ",
            "unknown_key",
            "cancellation.visits is no key of a scenario, the nearest one is ",
        ),
        (
            '"11:00", closes = "13:00"',
            '"10:00", closes = "13:00"',
            "wrong_combination",
            (
                "windows.2.opens is '10:00', but must be no earlier than the window before it "
                "closes, 11:00."
            ),
        ),
        (
            "share = 0.72 ",
            "share = 0.62 ",
            "wrong_combination",
            "the shares of customers sum to 0.9, but must sum to 1.",
        ),
    ],
)
def test_the_sentence_names_file_key_value_and_what_is_allowed(
    write: Write, before: str, after: str, code: str, sentence: str
) -> None:
    path = write(edited(before, after))
    with pytest.raises(ScenarioError) as caught:
        load_scenario(path)
    assert_one_sentence(caught.value)
    assert str(caught.value).startswith(f"{path}: {sentence}")
    assert caught.value.code == code


WRONG = {
    "a_low_price_above_the_usual": {"services.plumbing.prices.residential": [310, 300, 500]},
    "a_usual_price_above_the_high": {"services.plumbing.prices.residential": [150, 600, 500]},
    "a_typical_length_above_the_longest": {"services.electrical.typical": 211},
    "a_shortest_length_above_the_longest": {"services.electrical.shortest": 211},
    "less_material_at_most_than_at_least": {"services.plumbing.material_high": "0.1"},
    "a_share_above_one": {"acceptance.routine_start": "1.01"},
    "a_share_below_zero": {"acceptance.routine_floor": "-0.01"},
    "trades_that_do_not_sum_to_one": {"demand.trade_mix.plumbing": "0.3"},
    "zones_that_do_not_sum_to_one": {"demand.zone_share.Glendale": "0.07"},
    "days_of_installations_that_do_not_sum_to_one": {"demand.installations.2": "0.5"},
    "a_gap_in_the_numbers_of_installations": {"demand.installations": {"0": 0, "2": 1}},
    "a_trade_without_weight": {"demand.trade_mix": {"plumbing": "0.5", "electrical": "0.5"}},
    "an_unknown_trade": {"demand.trade_tilt.rain": {"hvac": 1, "plumbing": 1, "electrical": 1}},
    "weather_in_which_nobody_calls": {
        "demand.trade_tilt.rain": {"hvac_service": 0, "plumbing": 0, "electrical": 0}
    },
    "an_urgent_share_above_one_in_a_storm": {"demand.urgent_tilt.storm": "4.6"},
    "calls_before_the_office_opens": {"calendar.calls_from": "06:30"},
    "calls_that_end_before_they_begin": {"calendar.calls_until": "07:00"},
    "calls_outside_the_calling_hours": {"demand.call_time": ["06:50", "10:00", "19:00"]},
    "call_times_out_of_order": {"demand.call_time": ["11:00", "10:00", "19:00"]},
    "a_window_off_the_full_hour": {"windows.0.opens": "07:30"},
    "windows_that_overlap": {"windows.1.opens": "08:00"},
    "a_window_that_closes_as_it_opens": {"windows.1.closes": "09:00"},
    "a_window_before_the_office_opens": {"windows.0.opens": "06:00"},
    "a_regular_window_after_the_evening": {"windows.3.evening": True},
    "a_time_past_midnight": {"windows.5.closes": "25:00"},
    "seven_windows": {
        "windows": [
            {"opens": f"{hour:02}:00", "closes": f"{hour + 1:02}:00", "evening": False}
            for hour in range(7, 14)
        ]
    },
    "no_window": {"windows": []},
    "thirty_two_days": {"calendar.days": 32},
    "no_day": {"calendar.days": 0},
    "fifteen_days_of_booking": {"calendar.booking_days": 15},
    "a_date_that_is_none": {"calendar.start_date": "2026-02-30"},
    "two_technicians_of_one_name": {"technicians.diana.name": "Marcus Vega"},
    "an_unknown_skill": {"technicians.diana.skills": ["roofing"]},
    "a_skill_twice": {"technicians.diana.skills": ["plumbing", "plumbing"]},
    "no_technician": {"technicians": {}},
    "an_unknown_customer_type": {"customers": {"industrial": {}}},
    "two_services_of_one_label": {"services.plumbing.label": "Electrical"},
    "other_work_that_the_company_does": {"other_work": ["Roofing", "Plumbing"]},
    "two_installations": {"services.plumbing.installation": True},
    "no_installation": {"services.hvac_installation.installation": False},
    "a_start_above_the_cap": {"demand.start": 31},
    "a_cap_beyond_the_record": {"demand.cap": 41},
    "fewer_other_calls_at_most_than_at_least": {"demand.other_max": 1},
    "more_other_calls_and_installations_than_the_record_holds": {"demand.other_max": 39},
    "hours_that_are_not_those_of_the_shift": {"pay.hours_per_weekday": 9},
    "a_shift_that_ends_before_it_begins": {"pay.shift_until": "07:00"},
    "on_call_hours_that_end_before_the_shift": {"pay.on_call_weekday_until": "16:00"},
    "on_call_hours_at_weekends_that_end_early": {"pay.on_call_weekend_until": "06:00"},
    "a_later_offer_more_welcome_to_urgent_callers": {"acceptance.urgent_later": "0.2"},
    "a_floor_above_the_start": {"acceptance.routine_floor": "0.95"},
    "a_chance_of_cancelling_above_one": {"cancellation.slope_per_day": "0.05"},
    "a_longest_variation_below_the_shortest": {"driving.variation_high": "0.9"},
    "a_cool_day_hotter_than_a_hot_one": {"weather.cool_below": 101},
    "a_hot_day_hotter_than_extreme_heat": {"weather.hot_from": 111},
    "a_forecast_of_three_days": {"weather.forecast_days": 3},
    "an_amount_below_a_cent": {"pay.overhead": "1250.001"},
    "a_binary_float": {"demand.gain": 0.08},
    "more_decimals_than_the_level_has": {"demand.gain": "0.00001"},
    "eleven_months": {"weather.normal_high": [80] * 11},
    "twenty_three_hours": {"driving.speed_kmh_weekday": [40] * 23},
    "a_standstill": {"driving.speed_kmh_weekday": [0] * 24},
    "text_for_a_table": {"pay": "well"},
    "a_number_for_a_flag": {"technicians.diana.on_call": 1},
    "a_flag_for_a_number": {"technicians.diana.wage": True},
    "two_lines_of_name": {"company": "Sunridge\nServices"},
    "a_nameless_zone": {"demand.zone_share": {"": 1}},
    "a_zone_with_a_dot": {"demand.zone_share": {"St. Johns": 1}},
    "seventeen_zones": {"demand.zone_share": {f"Zone {n}": 0 for n in range(17)}},
    "a_key_inside_a_number": {"demand.gain.now": 1},
    "a_key_of_another_table": {"demand.overhead": 1},
    "a_window_that_is_not_there": {"windows.6.opens": "07:00"},
}


@pytest.mark.parametrize("changes", WRONG.values(), ids=WRONG.keys())
def test_the_loader_refuses(changes: dict[str, object]) -> None:
    error = refusal(changes)
    assert str(error).startswith("scenario 'sunridge' with changes: ")
    assert error.code in {"wrong_value", "wrong_combination", "unknown_key", "missing_key"}


def test_nine_technicians_and_five_job_types_are_too_many() -> None:
    person = {
        "name": "",
        "skills": ["plumbing"],
        "wage": 30,
        "on_call": False,
        "home_lat": "33.5",
        "home_lon": "-112",
    }
    crew = {f"t{n}": person | {"name": f"Technician {n}"} for n in range(9)}
    assert "holds 9 tables, but must hold 1 to 8" in str(refusal({"technicians": crew}))
    eight = SUNRIDGE.replace({"technicians": dict(list(crew.items())[:8])})
    assert len(eight.technicians) == 8
    services: dict[str, object] = {f"s{n}": {} for n in range(5)}
    assert "holds 5 tables, but must hold 2 to 4" in str(refusal({"services": services}))


def test_a_company_of_one_trade_and_one_technician_is_allowed() -> None:
    document = tomllib.loads(TEXT, parse_float=Decimal)
    services = {key: document["services"][key] for key in ("hvac_service", "hvac_installation")}
    one = SUNRIDGE.replace(
        {
            "services": services,
            "technicians": {"diana": document["technicians"]["diana"]},
            "demand.trade_mix": {"hvac_service": 1},
            "demand.trade_tilt": {
                name: {"hvac_service": 1} for name in SUNRIDGE.weather.conditions
            },
        }
    )
    assert len(one.services) == 2


def test_the_latest_job_is_an_installation_begun_at_17_00_that_takes_8_hours() -> None:
    # The evening's longest, electrical, ends at 22:30; without roads nothing is later than 01:00.
    assert latest_finish(SUNRIDGE, longest_road_metres=0) == (17 + 8) * HOUR


def test_a_drive_begun_at_the_last_close_is_counted_to_its_end() -> None:
    # 37 km/h x 0.83 = 30.71 km/h; in a storm and with bad luck x 1.4 x 1.08.
    hours = Decimal(200) / Decimal("30.71") * Decimal("1.4") * Decimal("1.08")
    seconds = latest_finish(SUNRIDGE, longest_road_metres=200_000) - 19 * HOUR
    assert abs(seconds - hours * HOUR) <= 1


def test_numbers_with_which_somebody_could_still_work_at_06_45_are_refused() -> None:
    # Begun at 21:00 at the latest, a job may take 9 hours 44 minutes and no longer.
    late = {"windows.5.opens": "19:00", "windows.5.closes": "21:00"}
    fits = SUNRIDGE.replace({**late, "services.electrical.longest": 584})
    assert latest_finish(fits) == (24 + 6) * HOUR + 44 * 60
    error = refusal({**late, "services.electrical.longest": 585})
    assert "before the office opens, 06:45" in str(error)
    assert error.field == "windows.5.closes"


def test_cars_too_slow_to_be_home_before_morning_are_refused() -> None:
    error = refusal({"driving.speed_factor": "0.5"})
    # 150 km / (37 km/h x 0.5) x 1.4 x 1.08 = 12.3 hours from 19:00 on; 11.75 are allowed.
    assert LONGEST_ROAD_METRES == 150_000
    assert "which now takes up to 12.3 hours" in str(error)
    assert error.field == "driving.speed_factor"
    # 150 km / (37 km/h x 0.53) x 1.4 x 1.08 = 11.6 hours
    assert SUNRIDGE.replace({"driving.speed_factor": "0.53"}).driving.speed_factor < 1


def test_no_drive_in_phoenix_is_longer_than_the_loader_reckons_with() -> None:
    phoenix = open_map("phoenix")
    from_door_to_anchor = int(phoenix.places["leg"].max())
    assert int(phoenix.metres.max()) + 2 * from_door_to_anchor <= LONGEST_ROAD_METRES


def test_an_unknown_name_is_told_which_scenarios_there_are() -> None:
    with pytest.raises(ScenarioError, match="No scenario is called 'sunrise': there is sunridge,"):
        load_scenario("sunrise")


@pytest.mark.parametrize("wanted", [None, 3, b"sunridge", ["sunridge"]])
def test_what_is_neither_name_nor_path_is_refused(wanted: Any) -> None:
    with pytest.raises(ScenarioError) as caught:
        load_scenario(wanted)
    assert_one_sentence(caught.value)


@pytest.mark.parametrize(
    "content",
    [
        b"\xff\xfe",
        b"pay = ",
        b"pay = [",
        b"[pay]\n[pay]\n",
        b"pay = " + b"[" * 5_000,
        b"pay = " + b"9" * 5_000,
        b"pay = 1e999999999999999999999",
        b"name = '\x00'",
    ],
)
def test_what_is_no_toml_is_refused(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "my.toml"
    path.write_bytes(content)
    with pytest.raises(ScenarioError) as caught:
        load_scenario(path)
    assert_one_sentence(caught.value)
    assert caught.value.code == "unreadable_file"
    assert str(path) in str(caught.value)


@pytest.mark.parametrize("name", ["none.toml", "", "no\0name.toml", "x" * 5_000 + ".toml"])
def test_a_file_that_cannot_be_read_is_refused(tmp_path: Path, name: str) -> None:
    with pytest.raises(ScenarioError) as caught:
        load_scenario(str(tmp_path) + "/" + name)
    assert_one_sentence(caught.value)


def test_a_pipe_is_refused_and_not_waited_for(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "my.toml")
    with pytest.raises(ScenarioError, match="no regular file"):
        load_scenario(tmp_path / "my.toml")
