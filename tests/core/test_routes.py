"""How a technician's day is worked (A.7): earliest window, then nearest; waiting, missing,
failing.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from tests.worlds import (
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
)
from tradesbench_gym.core.codes import Activity, CallState, Entry, Kind, Stop
from tradesbench_gym.core.plan import slot

DONE, MISSED, FAILED = CallState.DONE, CallState.MISSED, CallState.FAILED


def lasting(minutes: int, service: str = "plumbing") -> dict[str, Any]:
    return {f"services.{service}.{name}": minutes for name in ("shortest", "typical", "longest")}


def order(script: Script, *numbers: int) -> list[int]:
    """The jobs in the order in which they were set off to."""
    return sorted(numbers, key=lambda number: script.happened(Kind.DEPARTED, number)[-1])


def test_at_seven_everybody_is_at_home_and_sets_off_at_once() -> None:
    script = Script()
    number = script.book("18:00", PLUMBING, 10, ROBERTO, W15, ahead=1)
    script.close_day()
    script.open_day()
    assert script.happened(Kind.DEPARTED, number) == [clock("07:00", 1)]
    assert script.man(ROBERTO)["address"] == -1
    script.close_day()
    assert script.job(number)["metres"] == 6_000  # from home, anchor 8
    assert script.happened(Kind.STARTED, number) == [clock("15:00", 1)]


def test_the_earliest_window_comes_first_however_far() -> None:
    script = Script()
    near = script.book("08:00", PLUMBING, 8, ROBERTO, W13, ahead=1)
    far = script.book("08:01", PLUMBING, 3, ROBERTO, W09, ahead=1)
    script.close_day()
    script.open_day()
    script.close_day()
    assert order(script, near, far) == [far, near]


def test_within_a_window_the_nearest_by_road_comes_first() -> None:
    """From anchor 9: anchor 10 is 3,000 m away; anchor 8 is as far on the map but west: 3,600 m."""
    script = Script()
    start = script.book("08:00", PLUMBING, 9, ROBERTO, W07, ahead=1)
    west = script.book("08:01", PLUMBING, 8, ROBERTO, W11, ahead=1)
    east = script.book("08:02", PLUMBING, 10, ROBERTO, W11, ahead=1)
    script.close_day()
    script.open_day()
    script.close_day()
    assert order(script, start, west, east) == [start, east, west]


def test_among_jobs_equally_near_the_lower_number_comes_first() -> None:
    script = Script()
    late = [script.book(f"08:0{k}", PLUMBING, 12 + 9, ROBERTO, W11, ahead=1) for k in range(3)]
    script.close_day()
    script.open_day()
    script.close_day()
    assert order(script, *reversed(late)) == late


def test_work_never_starts_before_the_window_opens() -> None:
    script = Script()
    number = script.book("07:30", PLUMBING, 8, ROBERTO, W13)
    script.look("07:31")
    assert script.man(ROBERTO)["activity"] == Activity.WAITING
    script.close_day()
    assert script.happened(Kind.STARTED, number) == [clock("13:00")]


def test_work_that_starts_exactly_at_the_close_is_on_time() -> None:
    """9,000 m are 900 s: who leaves at 10:45:00 is there at 11:00:00, one second later is too
    late.
    """
    script = Script(lasting(105, "hvac_service"))
    script.book("08:00", HVAC, 0, MARCUS, W09)  # 09:00 to 10:45
    number = script.book("08:01", HVAC, 3, MARCUS, W09)
    script.close_day()
    assert script.happened(Kind.STARTED, number) == [clock("11:00")]
    assert script.job(number)["state"] == DONE
    script = Script(lasting(105, "hvac_service"))
    script.book("08:00", HVAC, 0, MARCUS, W09)
    number = script.book("08:01", HVAC, 12 + 3, MARCUS, W09)  # 10 m more
    script.close_day()
    assert script.job(number)["state"] == MISSED
    assert script.happened(Kind.MISSED, number) == [clock("11:00")]
    assert script.happened(Kind.ARRIVED, number) == [clock("11:00:01")]
    assert script.happened(Kind.STARTED, number) == []


def test_a_missed_job_is_missed_at_the_close_wherever_he_is() -> None:
    script = Script(lasting(240))
    script.book("08:00", PLUMBING, 8, ROBERTO, W09)  # until 13:00
    number = script.book("08:01", PLUMBING, 9, ROBERTO, W11)
    later = script.book("08:02", PLUMBING, 9, ROBERTO, W15)
    script.look("13:00")
    # Finish at 13:00, set off for 9 at once, and in the same second the window closes.
    assert script.job(number)["state"] == MISSED
    assert script.happened(Kind.DEPARTED, number) == [clock("13:00")]
    assert script.man(ROBERTO)["activity"] == Activity.DRIVING
    script.close_day()
    assert script.happened(Kind.ARRIVED, number) == [clock("13:05")]
    assert script.job(later)["state"] == DONE
    script = Script(lasting(300))
    script.book("08:00", PLUMBING, 8, ROBERTO, W09)  # until 14:00
    number = script.book("08:01", PLUMBING, 9, ROBERTO, W11)
    script.close_day()
    assert script.happened(Kind.MISSED, number) == [clock("13:00")]
    assert script.happened(Kind.DEPARTED, number) == []
    assert script.paid(number) == {}


def test_a_drive_is_never_broken_off() -> None:
    """Driving to the far job of the afternoon when one in an earlier window is booked: he arrives
    first.
    """
    script = Script()
    far = script.book("08:00", HVAC, 3, MARCUS, W13)  # 900 s
    near = script.book("08:05", HVAC, 0, MARCUS, W11)
    script.cancel(near, "08:07")
    script.look("08:10")
    assert script.man(MARCUS)["job"] == far
    assert script.happened(Kind.ARRIVED, far) == []
    script.look("08:15")
    assert script.happened(Kind.ARRIVED, far) == [clock("08:15")]


def test_a_man_who_waits_leaves_for_an_earlier_window_that_is_booked_meanwhile() -> None:
    script = Script()
    late = script.book("08:00", HVAC, 1, MARCUS, W13)  # on site at 08:05
    script.look("08:30")
    assert script.job(late)["state"] == CallState.WAITING
    early = script.book("08:40", HVAC, 2, MARCUS, W09)
    assert script.happened(Kind.DEPARTED, early) == [clock("08:40")]
    assert script.job(late)["state"] == CallState.BOOKED
    assert script.job(late)["arrived"] == -1
    script.close_day()
    assert script.happened(Kind.STARTED, early) == [clock("09:00")]
    assert script.happened(Kind.STARTED, late) == [clock("13:00")]
    assert script.happened(Kind.DEPARTED, late) == [clock("08:00"), clock("10:00")]


def test_a_man_who_arrives_early_leaves_for_an_earlier_window_booked_while_he_drove() -> None:
    script = Script()
    late = script.book("08:00", HVAC, 3, MARCUS, W13)  # on the way until 08:15
    early = script.book("08:05", HVAC, 0, MARCUS, W09)
    script.close_day()
    assert script.happened(Kind.ARRIVED, late)[0] == clock("08:15")
    assert script.happened(Kind.DEPARTED, early) == [clock("08:15")]
    assert script.happened(Kind.STARTED, early) == [clock("09:00")]
    assert script.job(late)["state"] == script.job(early)["state"] == CallState.DONE


def test_the_plan_too_lets_a_man_who_will_arrive_early_decide_anew() -> None:
    script = Script()
    script.book("08:00", HVAC, 3, MARCUS, W13)  # on the way until 08:15
    script.call("08:05", HVAC, 0)
    simulation = script.simulation
    slack, _ = slot(simulation.desk.array, 0, np.array([simulation.desk["plan"]]), MARCUS, 0, 1)
    # He can be there when the window opens: two hours to spare there, at 13:00 more than enough.
    assert slack == 2 * 3600


def test_a_man_who_waits_stays_when_a_later_or_equal_window_is_booked() -> None:
    script = Script()
    first = script.book("08:00", HVAC, 1, MARCUS, W13)
    script.look("08:30")
    script.book("08:40", HVAC, 2, MARCUS, W13)
    script.book("08:41", HVAC, 0, MARCUS, W15)
    assert script.man(MARCUS)["job"] == first
    assert script.job(first)["state"] == CallState.WAITING


def test_a_man_who_waits_for_a_job_that_is_cancelled_goes_on_to_the_next() -> None:
    script = Script()
    first = script.book("08:00", HVAC, 1, MARCUS, W11)
    second = script.book("08:01", HVAC, 3, MARCUS, W13)
    script.cancel(first, "09:30")
    script.close_day()
    assert script.job(first)["state"] == CallState.CANCELLED
    assert script.happened(Kind.DEPARTED, second) == [clock("09:30")]
    assert script.job(second)["metres"] == 6_000  # from anchor 1, where he waited


def test_a_man_who_drives_to_a_job_that_is_cancelled_arrives_and_decides_anew() -> None:
    script = Script()
    first = script.book("08:00", HVAC, 3, MARCUS, W11)  # on the way until 08:15
    second = script.book("08:01", HVAC, 0, MARCUS, W13)
    script.cancel(first, "08:05")
    script.close_day()
    assert script.happened(Kind.CANCELLED, first) == [clock("08:05")]
    assert script.happened(Kind.ARRIVED, first) == [clock("08:15")]
    assert script.happened(Kind.DEPARTED, second) == [clock("08:15")]
    assert script.job(second)["metres"] == 9_600  # back west from anchor 3


def test_a_job_booked_for_today_is_set_off_to_at_once_by_whoever_is_idle() -> None:
    script = Script()
    number = script.book("14:00", PLUMBING, 10, ROBERTO, W17)
    assert script.happened(Kind.DEPARTED, number) == [clock("14:00")]


def test_he_sets_off_also_for_a_job_he_cannot_reach_in_time() -> None:
    script = Script(lasting(119, "hvac_service"))
    script.book("08:00", HVAC, 0, MARCUS, W09)  # until 10:59
    number = script.book("08:01", HVAC, 3, MARCUS, W09)
    script.close_day()
    assert script.happened(Kind.DEPARTED, number) == [clock("10:59")]
    assert script.job(number)["state"] == MISSED
    assert script.run["days"][0]["missed"] == 1


def test_any_number_of_jobs_fits_a_window_and_a_tight_route_is_not_refused() -> None:
    script = Script({"pay.starting_cash": 10**6})
    numbers = [script.book("08:00", PLUMBING, k, ROBERTO, W09) for k in range(12)]
    assert len(set(numbers)) == 12
    script.close_day()
    day = script.run["days"][0]
    assert (day["booked"], day["done"] + day["missed"]) == (12, 12)
    assert day["missed"] >= 9


@pytest.mark.parametrize(
    ("service", "who"),
    [(PLUMBING, KATHERINE), (INSTALLATION, MARCUS), (OTHER_WORK, KATHERINE)],
    ids=["not qualified", "no installer", "work the company does not do"],
)
def test_a_visit_that_must_fail_takes_half_an_hour_and_earns_nothing(
    service: int, who: int
) -> None:
    script = Script()
    number = script.book("08:00", service, 5, who, W09)
    script.close_day()
    assert script.happened(Kind.STARTED, number) == [clock("09:00")]
    assert script.happened(Kind.FAILED, number) == [clock("09:30")]
    assert script.paid(number) == {}
    assert script.job(number)["state"] == FAILED
    assert script.run["days"][0]["failed"] == 1


def test_a_failed_visit_in_overtime_is_paid_for_without_a_cap() -> None:
    """Marcus at a house that wants electrical work: two jobs of an hour, then 19:00 to 19:30."""
    script = Script()
    for _ in range(2):
        script.book("09:00", HVAC, 0, MARCUS, W17)
    number = script.book("09:02", ELECTRICAL, 0, MARCUS, W17)
    script.close_day()
    assert script.happened(Kind.FAILED, number) == [clock("19:30")]
    assert script.paid(number) == {Entry.OVERTIME: -1_800}  # half an hour at $36


def test_length_is_the_jobs_own_whichever_day_window_or_technician() -> None:
    spread = {
        "services.hvac_service.shortest": 45,
        "services.hvac_service.typical": 75,
        "services.hvac_service.longest": 180,
    }
    lengths = set()
    for who, window, ahead in ((MARCUS, W09, 0), (1, W13, 0), (1, W09, 1), (MARCUS, W15, 2)):
        script = Script(spread)
        number = script.book("08:00", HVAC, 5, who, window, ahead=ahead)
        while script.job(number)["state"] != DONE:
            script.close_day()
            script.open_day()
        lengths.add(int(script.job(number)["ended"] - script.job(number)["started"]))
    assert len(lengths) == 1
    assert 45 * 60 <= lengths.pop() <= 180 * 60


def test_lengths_follow_the_triangle_of_the_report() -> None:
    """45, 75, 180 minutes: mean 100; a third of 30 · (30/135) … 22 % lie below 75 minutes."""
    spread = {
        "services.plumbing.shortest": 45,
        "services.plumbing.typical": 75,
        "services.plumbing.longest": 180,
    }
    minutes = []
    for seed in range(25):
        script = Script({**spread, "pay.starting_cash": 10**6}, seed=seed)
        numbers = [script.book("07:30", PLUMBING, 8, ROBERTO, w) for w in range(1, 6)]
        script.close_day()
        for number in numbers:
            job = script.job(number)
            if job["state"] == DONE:
                minutes.append((job["ended"] - job["started"]) / 60)
    assert len(minutes) > 100
    assert min(minutes) >= 45
    assert max(minutes) <= 180
    # The variance of a triangle is (a² + b² + c² − ab − ac − bc) / 18 = 822.9, so SD 28.7 minutes.
    assert abs(sum(minutes) / len(minutes) - 100) < 4 * 28.7 / len(minutes) ** 0.5


def test_work_may_spill_past_midnight_and_its_service_day_closes_then() -> None:
    """On Friday evening an installation's five hours would do; plumbing is made to take seven."""
    script = Script(lasting(420))
    number = script.book("09:00", PLUMBING, 8, ROBERTO, W17)
    assert script.close_day() == Stop.DAY_CLOSED
    assert script.happened(Kind.DONE, number) == [clock("00:00", 1)]
    assert script.run["days"][0]["closed_at"] == clock("00:00", 1)
    assert script.run["days"][0]["done"] == 1
    # Paid to 19:00: five hours at $37 = $185, but no more than 20 % of $300.
    assert script.paid(number)[Entry.OVERTIME] == -6_000
    script.open_day()
    assert script.man(ROBERTO)["address"] == -1


# -- in one second


def test_in_one_second_come_arrival_then_missed_then_cancellation_then_new_call() -> None:
    script = Script(lasting(120))
    first = script.book("08:00", PLUMBING, 8, ROBERTO, W09)  # 09:00 to 11:00
    missed = script.book("08:01", PLUMBING, 10, ROBERTO, W09)
    other = script.book("08:02", ELECTRICAL, 5, KATHERINE, W13)
    script.cancel(other, "11:00")
    script.look("11:00")
    same = [e for e in script.events if e.at == clock("11:00")]
    assert [(e.kind, e.call) for e in same if e.kind not in {Kind.LEDGER, Kind.ACKNOWLEDGED}][
        :5
    ] == [
        (Kind.DONE, first + 1),
        (Kind.DEPARTED, missed + 1),
        (Kind.MISSED, missed + 1),
        (Kind.CANCELLED, other + 1),
        (Kind.RANG, other + 2),
    ]


def test_a_job_reached_in_the_second_of_its_close_is_not_missed() -> None:
    script = Script(lasting(105, "hvac_service"))
    script.book("08:00", HVAC, 0, MARCUS, W09)
    number = script.book("08:01", HVAC, 3, MARCUS, W09)
    script.look("11:00")
    assert script.job(number)["state"] == CallState.WORKING
    assert script.happened(Kind.MISSED, number) == []


def test_a_booking_for_a_window_that_opens_this_second_is_let_out() -> None:
    script = Script()
    number = script.book("09:00", PLUMBING, 8, ROBERTO, W09)
    assert script.happened(Kind.DEPARTED, number) == [clock("09:00")]
    script.close_day()
    assert script.happened(Kind.STARTED, number) == [clock("09:00")]


def test_days_after_the_last_can_be_booked_and_are_never_served() -> None:
    script = Script({"pay.starting_cash": 10**6}, days=2)
    number = script.book("08:00", PLUMBING, 8, ROBERTO, W09, ahead=5)
    script.close_day()
    script.open_day()
    assert script.close_day() == Stop.DAY_CLOSED
    assert script.simulation.advance() == Stop.ENDED
    assert script.simulation.ended
    assert script.job(number)["state"] == CallState.BOOKED
    assert script.day == 1
