"""How long a drive takes (A.6): metres, the hour's speed, the destination's weather, its own
variation.
"""

from __future__ import annotations

from typing import Any

import pytest

from tests.worlds import (
    CONDITIONS,
    ELECTRICAL,
    HVAC,
    KATHERINE,
    MARCUS,
    PLUMBING,
    ROBERTO,
    W09,
    W11,
    W13,
    W15,
    W17,
    Script,
    clock,
    tiny_business,
)
from tradesbench_gym.core.codes import Condition, Kind


def drive(script: Script, number: int) -> int:
    """Seconds from departure to arrival."""
    return int(script.job(number)["arrived"] - script.job(number)["departed"])


def driven(changes: dict[str, Any] | None = None, *, address: int = 10, seed: int = 1) -> int:
    script = Script(changes, seed=seed)
    number = script.book("08:00", PLUMBING, address, ROBERTO, W13)
    script.close_day()
    return drive(script, number)


def test_metres_are_house_to_anchor_to_anchor_to_house() -> None:
    script = Script()
    first = script.book("08:00", PLUMBING, 12 * 3 + 9, ROBERTO, W09)  # 30 m from anchor 9
    then = script.book("08:01", PLUMBING, 12 * 5 + 6, ROBERTO, W11)  # 50 m from anchor 6
    script.close_day()
    assert script.job(first)["metres"] == 3_000 + 30  # one block east of anchor 8
    # 30 m back to anchor 9 (column 1, row 2), to anchor 6 (column 2, row 1) two blocks, 50 m on.
    assert script.job(then)["metres"] == 30 + 6_000 + 50


def test_the_road_is_measured_in_the_direction_of_the_drive() -> None:
    script = Script()
    east = script.book("08:00", PLUMBING, 9, ROBERTO, W09)
    west = script.book("08:01", PLUMBING, 8, ROBERTO, W11)
    script.close_day()
    assert (script.job(east)["metres"], script.job(west)["metres"]) == (3_000, 3_600)


def test_the_same_address_is_no_drive_and_the_same_anchor_the_sum_of_two_legs() -> None:
    script = Script()
    one = script.book("08:00", PLUMBING, 12 * 4 + 9, ROBERTO, W09)
    same = script.book("08:01", PLUMBING, 12 * 4 + 9, ROBERTO, W11)
    near = script.book("08:02", PLUMBING, 12 * 7 + 9, ROBERTO, W13)
    script.close_day()
    assert script.job(same)["metres"] == 0
    assert drive(script, same) == 0
    assert script.job(near)["metres"] == 40 + 70
    assert script.job(one)["metres"] == 3_040


@pytest.mark.parametrize(
    ("condition", "seconds"),
    # 6,000 m at 10 m/s are 600 s; the factors are the report's.
    list(zip(CONDITIONS, (600, 600, 612, 648, 630, 690, 840), strict=True)),
)
def test_weather_stretches_a_drive(condition: str, seconds: int) -> None:
    script = Script()
    script.run["sky"]["condition"][0, 1] = Condition[condition.upper()]
    number = script.book("08:00", PLUMBING, 10, ROBERTO, W13)
    script.close_day()
    assert drive(script, number) == seconds


def test_the_weather_that_counts_is_that_of_the_zone_driven_to() -> None:
    script = Script()
    script.run["sky"]["condition"][0, 0] = Condition.STORM  # the west, where Roberto lives
    number = script.book("08:00", PLUMBING, 10, ROBERTO, W13)
    script.close_day()
    assert drive(script, number) == 600


def test_the_speed_is_that_of_the_hour_of_departure() -> None:
    speeds = [36] * 24
    speeds[8], speeds[9] = 18, 72
    assert (
        driven({"driving.speed_kmh_weekday": speeds}) == 1_200
    )  # all of it, though it ends at 8:20
    script = Script({"driving.speed_kmh_weekday": speeds})
    number = script.book("08:50", PLUMBING, 10, ROBERTO, W13)
    script.close_day()
    assert drive(script, number) == 1_200  # though 9 o'clock comes on the way
    script = Script({"driving.speed_kmh_weekday": speeds})
    number = script.book("09:00", PLUMBING, 10, ROBERTO, W13)
    script.close_day()
    assert drive(script, number) == 300


def test_at_weekends_other_speeds_hold() -> None:
    script = Script()
    number = script.book("08:00", PLUMBING, 10, ROBERTO, W13, ahead=2)
    for _ in range(2):
        script.close_day()
        script.open_day()
    script.close_day()
    assert drive(script, number) == 480  # 6,000 m at 45 km/h = 12.5 m/s


def test_who_sets_off_at_the_close_of_the_window_is_too_late_and_drives_to_the_end() -> None:
    speeds = [36] * 24
    speeds[19] = 72
    script = Script(
        {
            "driving.speed_kmh_weekday": speeds,
            **{f"services.hvac_service.{n}": 120 for n in ("shortest", "typical", "longest")},
        }
    )
    near = script.book("09:00", HVAC, 0, MARCUS, W17)
    far = script.book("09:01", HVAC, 3, MARCUS, W17)
    script.close_day()
    assert script.happened(Kind.DONE, near) == [clock("19:00")]
    assert script.happened(Kind.DEPARTED, far) == script.happened(Kind.MISSED, far)
    assert script.happened(Kind.MISSED, far) == [clock("19:00")]
    assert drive(script, far) == 450  # 9,000 m at 20 m/s, the speed of 19 o'clock
    assert script.run["days"][0]["closed_at"] == clock("19:07:30")


def test_the_variation_of_a_drive_lies_within_its_range_and_is_the_jobs_own() -> None:
    vary = {"driving.variation_low": "0.92", "driving.variation_high": "1.08"}
    seconds = [driven(vary, seed=seed) for seed in range(60)]
    assert 552 <= min(seconds) < 570  # 600 · 0.92 = 552
    assert 630 < max(seconds) <= 648  # 600 · 1.08 = 648
    assert len(set(seconds)) > 20
    assert [driven(vary, seed=seed) for seed in range(5)] == seconds[:5]


def test_the_variation_does_not_depend_on_who_drives_or_when() -> None:
    vary = {"driving.variation_low": "0.92", "driving.variation_high": "1.08"}
    one, two = Script(vary), Script(vary)
    a = one.book("08:00", ELECTRICAL, 4, KATHERINE, W13)  # 3 blocks west, 1 south: 12,600 m
    b = two.book("08:00", ELECTRICAL, 4, ROBERTO, W15)  # from anchor 8, one block: 3,000 m
    one.close_day()
    two.close_day()
    # The same thousandths: each drive is within half a second of its metres at 10 m/s times them.
    assert abs(drive(one, a) / 1_260 - drive(two, b) / 300) < 0.5 / 300 + 0.5 / 1_260


def test_the_drive_home_is_neither_simulated_nor_paid() -> None:
    """Marcus ends at 20:15, 9 km and more from home; the day closes in that second."""
    script = Script({f"services.hvac_service.{n}": 195 for n in ("shortest", "typical", "longest")})
    number = script.book("09:00", HVAC, 11, MARCUS, W17)
    script.close_day()
    assert script.job(number)["ended"] == clock("20:15")
    assert script.run["days"][0]["closed_at"] == clock("20:15")
    assert script.job(number)["overtime"] == 75 * 60


def test_the_map_of_the_tiny_world_is_what_it_says() -> None:
    business = tiny_business()
    assert len(business.places) == 200
    assert business.metres.shape == (12, 12)
    assert business.places["x"][:12].tolist() == [0, 3_000, 6_000, 9_000] * 3
    assert business.places["y"][:12].tolist() == [0] * 4 + [3_000] * 4 + [6_000] * 4
    assert business.params[0]["home_anchor"][:4].tolist() == [0, 3, 8, 11]
