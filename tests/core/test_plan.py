"""The dispatcher's plan and the oracle (A.8), with estimates worked out by hand."""

from __future__ import annotations

from decimal import Decimal
from typing import Any

import pytest

from tests.worlds import (
    DIANA,
    ELECTRICAL,
    HVAC,
    INSTALLATION,
    KATHERINE,
    MARCUS,
    OTHER_WORK,
    PLUMBING,
    ROBERTO,
    W07,
    W09,
    W11,
    W13,
    W15,
    W17,
    Script,
    clock,
    tiny_business,
)
from tradesbench_gym.core import plan as planning
from tradesbench_gym.core.settings import planned_length
from tradesbench_gym.policies import make_policy

MINUTE = 60
# Handbook lengths as published, so that plans use 110, 127 and 330 minutes.
RANGES: dict[str, Any] = {
    f"services.{service}.{name}": minutes
    for service, row in (
        ("hvac_service", (45, 75, 180)),
        ("plumbing", (45, 75, 180)),
        ("electrical", (45, 90, 210)),
        ("hvac_installation", (120, 300, 480)),
    )
    for name, minutes in zip(("shortest", "typical", "longest"), row, strict=True)
}


@pytest.mark.parametrize(
    ("low", "usual", "high", "minutes"),
    [
        # high − sqrt(0.35 · (high − low) · (high − usual)):
        (45, 75, 180, 110),  # 180 − sqrt(0.35 · 135 · 105) = 180 − 70.44 = 109.56
        (45, 90, 210, 127),  # 210 − sqrt(0.35 · 165 · 120) = 210 − 83.25 = 126.75
        (120, 300, 480, 330),  # 480 − sqrt(0.35 · 360 · 180) = 480 − 150.60 = 329.40
    ],
)
def test_jobs_are_planned_at_the_quantile_of_their_range(
    low: int, usual: int, high: int, minutes: int
) -> None:
    seconds = planned_length(low * MINUTE, usual * MINUTE, high * MINUTE, Decimal("0.65"))
    assert seconds == minutes * MINUTE


def test_the_published_settings_are_those_of_the_scenario() -> None:
    plan = tiny_business().plan
    assert plan["lengths"].tolist() == [110 * 60, 330 * 60, 110 * 60, 127 * 60]
    assert plan["margin"] == 40 * 60
    assert (plan["circuity"], plan["speed"]) == (1_300, 40_000)


def slot(script: Script, technician: int, ahead: int, window: int) -> tuple[int, int]:
    """Seconds to spare on the route, and straight metres added."""
    desk = script.simulation.desk
    slack, added = planning.slot(
        desk.array, 0, script.simulation.business.plan.reshape(1), technician, ahead, window
    )
    return int(slack), int(added)


def test_a_drive_is_estimated_by_straight_line_times_1_3_at_40_km_h() -> None:
    """From home, anchor 8 (0, 6000), to anchor 3 (9000, 0): sqrt(9,000² + 6,000²) = 10,816.65 m.

    10,817 m · 1.3 / 40 km/h = 10,817 · 0.117 s = 1,265.6 s. From 07:00 he is there at 07:21:06;
    the first window closes at 09:00: 7,200 − 1,266 = 5,934 s to spare.
    """
    script = Script(RANGES)
    script.call("08:00", PLUMBING, 3)
    assert slot(script, ROBERTO, 1, W07) == (5_934, 10_817)
    # A later window opens after he is there: the whole two hours are to spare.
    assert slot(script, ROBERTO, 1, W09) == (7_200, 10_817)


def test_the_plan_of_today_starts_now_where_the_man_stands() -> None:
    """At 08:00 from home: there at 08:21:06, 2,334 s before nine: less than the margin of 40
    minutes.
    """
    script = Script(RANGES)
    script.call("08:00", PLUMBING, 3)
    assert slot(script, ROBERTO, 0, W09) == (7_200, 10_817)
    script.simulation.reject()
    script.call("10:30", PLUMBING, 3)
    # 10:30 + 1,266 s = 10:51:06.
    assert slot(script, ROBERTO, 0, W11) == (7_200, 10_817)


def test_a_job_in_progress_is_planned_to_end_after_its_planned_length_or_now() -> None:
    """Plumbing at his own corner since 09:00 ends by plan at 10:50, though in truth at 12:30."""
    script = Script(RANGES)
    script.book("08:00", PLUMBING, 8, ROBERTO, W09)
    script.call("09:30", PLUMBING, 8)
    script.man(ROBERTO)["until"] = clock("12:30")
    # Free at 10:50 for the house he is at: ten minutes before 11:00, or when 11-13 opens.
    assert slot(script, ROBERTO, 0, W11) == (120 * MINUTE, 0)


def test_a_job_that_runs_late_by_plan_is_planned_to_end_now() -> None:
    """Since 11:00, by plan until 12:50: still at work at 13:00, he is free at 13:00, not before."""
    script = Script(RANGES)
    script.book("08:00", PLUMBING, 8, ROBERTO, W11)
    script.look("11:01")
    script.man(ROBERTO)["until"] = clock("15:00")
    script.call("13:00", PLUMBING, 3)
    # From 13:00 the 1,266 s of the drive: 13:21:06, so 7,200 − 1,266 s to spare before 15:00.
    assert slot(script, ROBERTO, 0, W13) == (5_934, 10_817)


def test_every_job_of_the_route_must_keep_its_margin_not_only_the_new_one() -> None:
    """Two jobs at Roberto's corner tomorrow in 09-11 and 11-13; a third in 09-11 squeezes the
    second.

    09:00 + 110 = 10:50, + 110 = 12:40: the job of 11-13 starts 20 minutes before its close.
    """
    script = Script(RANGES)
    script.book("08:00", PLUMBING, 8, ROBERTO, W09, ahead=1)
    script.book("08:01", PLUMBING, 8, ROBERTO, W11, ahead=1)
    script.call("08:02", PLUMBING, 8)
    # The new job starts at 10:50, ten minutes before eleven: the least of 120, 10 and 20.
    assert slot(script, ROBERTO, 1, W09) == (10 * MINUTE, 0)
    assert slot(script, ROBERTO, 1, W13) == (120 * MINUTE - 0, 0)


def decided(script: Script, name: str = "oracle") -> tuple[int, int, int] | None:
    decision = make_policy(name)(script.simulation.desk)
    return None if decision is None else (decision[0], decision[1], decision[2])


def test_the_oracle_takes_the_earliest_window_that_keeps_the_margin() -> None:
    script = Script(RANGES)
    script.call("08:00", PLUMBING, 3)
    assert decided(script) == (ROBERTO, 0, W09)
    script.simulation.offer(ROBERTO, 0, W09)
    script.call("08:05", PLUMBING, 3)
    # 09:00 + 110 min = 10:50, ten minutes to spare: not with the margin; 11-13 has plenty.
    assert decided(script) == (ROBERTO, 0, W11)


def test_among_equally_early_slots_the_oracle_drives_least_then_takes_the_lower_number() -> None:
    script = Script(RANGES)
    script.call("08:00", HVAC, 2)  # Marcus lives at 0, Diana at 3: one block for her
    assert decided(script) == (DIANA, 0, W09)
    script.simulation.reject()
    middle = 12 * 2 + 1
    script.call("08:01", HVAC, middle)
    assert decided(script) == (MARCUS, 0, W09)
    script.simulation.reject()
    # Homes at (0, 0) and (9000, 0): a house in the middle is as far for both.
    number = script.call("08:02", HVAC, 1)
    script.job(number)["x"], script.job(number)["y"] = 4_500, 0
    assert slot(script, MARCUS, 0, W09) == slot(script, DIANA, 0, W09)
    assert decided(script) == (MARCUS, 0, W09)


def full_days(changes: dict[str, Any]) -> Script:
    """Two days can be booked; Katherine has a job at her corner in each of their windows."""
    script = Script({**RANGES, **changes, "calendar.booking_days": 2})
    for ahead, windows in ((0, (W09, W11, W13, W15)), (1, (W07, W09, W11, W13, W15))):
        for window in windows:
            script.book("07:30", ELECTRICAL, 11, KATHERINE, window, ahead=ahead)
    return script


def test_where_no_window_fits_with_or_without_margin_the_oracle_rejects() -> None:
    """Today 09:00, 11:07, 13:14, 15:21: wherever one more is put, the last begins at 17:28, 28
    minutes after its close; tomorrow 07:00, 09:07, 11:14, 13:21, 15:28 and then 17:35.
    """
    script = full_days({})
    script.call("07:31", ELECTRICAL, 11)
    for ahead, late in ((0, 28), (1, 35)):
        for window in (W09, W11, W13, W15):
            assert slot(script, KATHERINE, ahead, window) == (-late * MINUTE, 0)
    assert decided(script) is None


def test_a_window_that_fits_only_without_the_margin_is_offered_when_no_other_fits() -> None:
    """Planned at 119 minutes: at work until 10:59, then 11:00, one more in 11-13 at 12:59, which
    moves 13-15 to 14:58 and 15-17 to 16:57: one, two and three minutes to spare.
    """
    script = full_days(
        {f"services.electrical.{name}": 119 for name in ("shortest", "typical", "longest")}
    )
    script.call("09:01", ELECTRICAL, 11)
    assert slot(script, KATHERINE, 0, W11) == (1 * MINUTE, 0)
    assert decided(script) == (KATHERINE, 0, W11)
    assert decided(script, "oracle:margin=0") == (KATHERINE, 0, W11)


def test_the_oracle_never_books_installations_off_hours_nor_work_the_company_does_not_do() -> None:
    script = Script(RANGES)
    script.call("16:30", INSTALLATION, 3)
    assert decided(script) == (DIANA, 1, W07)
    script.simulation.reject()
    script.call("16:40", OTHER_WORK, 3)
    assert decided(script) is None


def test_the_oracle_treats_routine_and_urgent_calls_alike() -> None:
    for urgent in (0, 1):
        script = Script(RANGES)
        script.call("08:00", PLUMBING, 3, urgent=urgent)
        assert decided(script) == (ROBERTO, 0, W09)


def test_the_oracle_uses_evenings_and_weekends_of_who_is_on_call() -> None:
    script = Script(RANGES)
    script.call("15:30", PLUMBING, 8)
    assert decided(script) == (ROBERTO, 0, W17)
    script.simulation.reject()
    script.call("15:40", ELECTRICAL, 11)
    assert decided(script) == (KATHERINE, 1, W07)


def test_a_man_who_drives_is_planned_to_arrive_when_the_estimate_says() -> None:
    """Roberto leaves home at 10:00 for anchor 3, by estimate 1,266 s: free at 12:50 after 11:00 +
    110 min.
    """
    script = Script(RANGES)
    script.book("10:00", PLUMBING, 3, ROBERTO, W11)
    script.call("10:05", PLUMBING, 3)
    slack, added = slot(script, ROBERTO, 0, W11)
    # Arrives 10:21:06, starts at 11:00, ends 12:50: the new job next door starts then: ten minutes.
    assert (slack, added) == (10 * MINUTE, 0)


def test_accept_all_takes_the_first_open_window_with_the_first_qualified_technician() -> None:
    script = Script(RANGES)
    script.call("08:01", PLUMBING, 3)
    assert decided(script, "accept-all") == (ROBERTO, 0, W09)
    script.simulation.reject()
    script.call("09:00", HVAC, 3)
    assert decided(script, "accept-all") == (MARCUS, 0, W09)
    script.simulation.reject()
    script.call("15:01", INSTALLATION, 3)
    assert decided(script, "accept-all") == (DIANA, 1, W07)
    script.simulation.reject()
    script.call("15:02", OTHER_WORK, 3)
    assert decided(script, "accept-all") == (MARCUS, 0, W17)
    script.simulation.reject()
    script.call("17:30", ELECTRICAL, 3)
    assert decided(script, "accept-all") == (KATHERINE, 1, W07)


def test_reject_heavy_rejects_80_of_100_calls_by_a_draw_of_its_own() -> None:
    taken = total = 0
    for seed in range(40):
        script = Script(RANGES, seed=seed)
        policy = make_policy("reject-heavy", seed=seed)
        for minute in range(10):
            script.call(f"08:{minute:02}", PLUMBING, 3)
            offer = policy(script.simulation.desk)
            assert offer is None or tuple(offer) == (ROBERTO, 0, W09)
            taken += offer is not None
            total += 1
            script.simulation.reject()
    # The standard error of a share of 0.2 in 400 is 0.02.
    assert abs(taken / total - 0.2) < 4 * 0.02


def test_do_nothing_takes_no_call() -> None:
    script = Script()
    script.call("08:00", PLUMBING, 3)
    assert decided(script, "do-nothing") is None
