"""How many people call, when and for what (A.4): the hidden level, the weekend, the quotas of a
day.
"""

from __future__ import annotations

from collections import Counter
from typing import Any

import numpy as np
import pytest

from tests.worlds import (
    ELECTRICAL,
    HVAC,
    INSTALLATION,
    KATHERINE,
    MARCUS,
    ONE_CALL,
    PLUMBING,
    ROBERTO,
    STILL,
    W09,
    W11,
    W15,
    Script,
    clock,
    tiny_business,
)
from tradesbench_gym.company.business import Business
from tradesbench_gym.company.simulation import Simulation
from tradesbench_gym.core.codes import Activity, CallState, Condition, Stop, Stream

WEEKEND = (2, 3, 9, 10)


def reject_all(simulation: Simulation) -> None:
    while simulation.next_call() == Stop.NEW_CALL:
        simulation.reject()


def rang(simulation: Simulation) -> Any:
    run = simulation.record
    return run["calls"][: int(run["n_calls"])]


def calls_a_day(business: Business, seed: int = 0) -> list[int]:
    simulation = Simulation(seed, business=business)
    reject_all(simulation)
    return [int(day["calls"]) for day in simulation.record["days"][: business.days]]


def level_of(start: int, **more: Any) -> dict[str, Any]:
    rich = {"pay.starting_cash": 100_000}
    return {**STILL, **ONE_CALL, **rich, "demand.start": start, "demand.cap": 40, **more}


@pytest.mark.parametrize(
    ("level", "weekend"),
    [
        (18, 13),  # 0.7 · 18 = 12.6
        (30, 21),
        (20, 14),
        (15, 11),  # 0.7 · 15 = 10.5, half up
        (14, 10),  # 9.8
        (12, 10),  # 8.4, but at least ten while the level is at least ten
        (10, 10),
        (9, 6),  # 6.3: below ten there is no floor
        (1, 1),
    ],
)
def test_weekends_bring_70_of_100_calls_and_at_least_ten_while_the_level_is_ten(
    level: int, weekend: int
) -> None:
    expected = [weekend if day in WEEKEND else level for day in range(14)]
    assert calls_a_day(tiny_business(level_of(level))) == expected


def test_no_level_no_calls_but_those_for_other_work_and_installations() -> None:
    """A bad day can push the level to zero; the quotas of a day always arrive."""
    business = tiny_business({"demand.start": 0, "pay.starting_cash": 100_000})
    simulation = Simulation(3, business=business)
    reject_all(simulation)
    calls = rang(simulation)
    assert len(calls) > 0
    assert not (calls["stream"] == Stream.SERVICE).any()


def quotas(simulation: Simulation) -> list[tuple[int, int]]:
    """Calls for other work and for installations, day by day."""
    calls = rang(simulation)

    def count(day: int, stream: Stream) -> int:
        return int(((calls["from_day"] == day) & (calls["stream"] == stream)).sum())

    return [(count(day, Stream.OTHER), count(day, Stream.INSTALLATION)) for day in range(14)]


def test_each_day_brings_2_to_5_calls_for_other_work_and_0_to_2_installations() -> None:
    seen: Counter[tuple[str, int]] = Counter()
    for seed in range(6):
        simulation = Simulation(seed, business=tiny_business({"pay.starting_cash": 100_000}))
        reject_all(simulation)
        for other, installations in quotas(simulation):
            seen[("other", other)] += 1
            seen[("installations", installations)] += 1
    assert {n for kind, n in seen if kind == "other"} == {2, 3, 4, 5}
    assert {n for kind, n in seen if kind == "installations"} == {0, 1, 2}


def test_the_quotas_of_a_day_come_from_seed_and_date_alone() -> None:
    busy = Simulation(4, business=tiny_business({"demand.start": 30, "pay.starting_cash": 10**6}))
    quiet = Simulation(4, business=tiny_business({"demand.start": 3, "pay.starting_cash": 10**6}))
    reject_all(busy)
    reject_all(quiet)
    assert quotas(busy) == quotas(quiet)
    assert len(rang(busy)) > 3 * len(rang(quiet))


def test_what_the_quotas_leave_are_service_calls() -> None:
    simulation = Simulation(4, business=tiny_business({"pay.starting_cash": 10**6}))
    reject_all(simulation)
    for day, (other, installations) in enumerate(quotas(simulation)):
        total = 13 if day in WEEKEND else 18
        calls = rang(simulation)
        service = (calls["from_day"] == day) & (calls["stream"] == Stream.SERVICE)
        assert service.sum() == total - other - installations
        assert set(calls["service"][service].tolist()) <= {HVAC, PLUMBING, ELECTRICAL}


def test_installations_and_other_work_are_never_urgent() -> None:
    urgent = {"demand.urgent_share": "0.7"}
    simulation = Simulation(2, business=tiny_business({**urgent, "pay.starting_cash": 10**6}))
    reject_all(simulation)
    calls = rang(simulation)
    assert not calls["urgent"][calls["stream"] != Stream.SERVICE].any()
    assert calls["urgent"][calls["stream"] == Stream.SERVICE].any()
    assert (calls["service"][calls["stream"] == Stream.INSTALLATION] == INSTALLATION).all()
    assert (calls["service"][calls["stream"] == Stream.OTHER] > ELECTRICAL).all()


def test_calls_ring_in_whole_minutes_from_seven_to_seven() -> None:
    simulation = Simulation(6, business=tiny_business({"pay.starting_cash": 10**6}))
    reject_all(simulation)
    times = rang(simulation)["rang_at"]
    assert (times % 60 == 0).all()
    assert (times % 86_400 >= 7 * 3600).all()
    assert (times % 86_400 < 19 * 3600).all()


# -- the level

LEVEL = {"demand.start": 18, "demand.cap": 30, "demand.gain": "0.08", "demand.loss": 3}


def level_after_a_day(*, done: int = 0, missed: int = 0, failed: int = 0, start: int = 18) -> int:
    script = Script({**LEVEL, "demand.start": start})
    for window in range(1, done + 1):  # at Roberto's own corner, one a window
        script.book("08:30", PLUMBING, 8, ROBERTO, window)
    for _ in range(missed and missed + 3):  # an hour each: at 9, at 10, at 11 sharp, and too late
        script.book("08:30", HVAC, 0, MARCUS, W09)
    for place in range(failed):  # by somebody who is no plumber
        script.book("08:30", PLUMBING, 11, KATHERINE, W09 + place)
    script.close_day()
    day = script.run["days"][0]
    expected = (done + (3 if missed else 0), missed, failed)
    assert (day["done"], day["missed"], day["failed"]) == expected
    return int(script.run["level"])


def test_a_job_done_on_time_adds_a_little_and_a_miss_or_failure_cuts_sharply() -> None:
    assert level_after_a_day() == 180_000
    assert level_after_a_day(done=3) == 182_400  # 18 + 3 · 0.08
    assert level_after_a_day(missed=1) == 152_400  # 18 + 3 · 0.08 − 3
    assert level_after_a_day(failed=2) == 120_000
    assert level_after_a_day(done=2, missed=1, failed=1) == 124_000  # 18 + 5 · 0.08 − 2 · 3


def test_the_level_never_falls_below_zero_nor_rises_above_its_cap() -> None:
    assert level_after_a_day(failed=1, start=1) == 0
    assert level_after_a_day(done=1, start=30) == 300_000


def test_the_level_of_tomorrow_comes_from_the_appointments_of_today() -> None:
    script = Script({**LEVEL, "demand.start": 5})
    script.book("08:30", PLUMBING, 11, KATHERINE, W09)
    assert script.run["level"] == 50_000
    script.close_day()
    script.simulation.next_call()
    assert script.run["days"][1]["level"] == 20_000
    assert script.run["due_count"] == 2


def levels(rejecting: bool, cancelling: bool) -> list[int]:
    script = Script(LEVEL)
    number = script.book("08:30", PLUMBING, 8, ROBERTO, W11)
    script.call("08:40", PLUMBING, 8)
    if rejecting:
        script.simulation.reject()
    else:
        script.simulation.leave_unanswered()
    other = script.book("08:50", ELECTRICAL, 11, KATHERINE, W15)
    if cancelling:
        script.cancel(other, "10:00")
    else:
        script.job(other)["day"] = 0
    script.close_day()
    assert script.job(number)["state"] == CallState.DONE
    return [int(script.run["level"]), int(script.run["days"][0]["done"])]


def test_rejecting_a_caller_never_changes_demand() -> None:
    assert levels(rejecting=True, cancelling=True) == levels(rejecting=False, cancelling=True)
    business = tiny_business({"pay.starting_cash": 10**6})
    simulation = Simulation(1, business=business)
    reject_all(simulation)
    assert set(simulation.record["days"]["level"][:14].tolist()) == {180_000}


def test_a_cancellation_never_changes_demand() -> None:
    assert levels(rejecting=True, cancelling=True) == [180_800, 1]
    assert levels(rejecting=True, cancelling=False) == [181_600, 2]


def test_a_customer_who_declines_never_changes_demand() -> None:
    script = Script({**LEVEL, "acceptance.routine_start": 0, "acceptance.routine_floor": 0})
    script.call("08:30", PLUMBING, 8)
    assert not script.simulation.offer(ROBERTO, 0, W09)
    script.close_day()
    assert script.run["level"] == 180_000


# -- who calls

BOOK = {
    **STILL,
    "pay.starting_cash": 10**6,
    "demand.book_share": 1,
    "demand.book": 1,
    "demand.start": 1,
}


@pytest.mark.parametrize("lost_by", [CallState.FAILED, CallState.MISSED])
def test_a_customer_of_the_book_who_was_missed_or_failed_never_calls_again(
    lost_by: CallState,
) -> None:
    """A book of one customer: every service call is his, until he is lost."""
    script = Script({"demand.book_share": 1, "demand.book": 1})
    number = script.call("08:30", PLUMBING, 3)
    assert script.job(number)["book"] == 0
    # Katherine is no plumber; Roberto, on his way, is held up until a second after the close.
    script.simulation.offer(KATHERINE if lost_by == CallState.FAILED else ROBERTO, 0, W09)
    if lost_by == CallState.MISSED:
        script.man(ROBERTO)["activity"] = Activity.DRIVING
        script.man(ROBERTO)["until"] = clock("11:00:01")
    script.close_day()
    assert script.job(number)["state"] == lost_by
    assert script.run["lost"][0] == 1
    script.open_day()
    assert script.job(int(script.run["n_calls"]) - 1)["book"] == -1


def test_a_customer_who_was_served_or_turned_away_may_call_again() -> None:
    script = Script({"demand.book_share": 1, "demand.book": 1})
    number = script.book("08:30", PLUMBING, 8, ROBERTO, W09)
    script.close_day()
    assert script.job(number)["state"] == CallState.DONE
    script.open_day()
    assert script.job(int(script.run["n_calls"]) - 1)["book"] == 0


def test_where_the_drawn_customer_was_lost_a_new_one_calls_with_the_calls_own_draws() -> None:
    """Same time, work and urgency as the call of the book would have had; other house, other
    caller.
    """
    business = tiny_business({**BOOK, "demand.start": 20, "demand.book": 1})
    kept, lost = Simulation(7, business=business), Simulation(7, business=business)
    lost.record["lost"][0] = 1
    kept.next_call()
    lost.next_call()
    for name in ("rang_at", "stream", "from_day", "from_index"):
        assert kept.record["calls"][0][name] == lost.record["calls"][0][name]
    assert (kept.record["calls"][0]["book"], lost.record["calls"][0]["book"]) == (0, -1)
    assert kept.record["calls"][0]["address"] != lost.record["calls"][0]["address"]


def test_a_customer_of_the_book_always_calls_from_the_same_house() -> None:
    simulation = Simulation(7, business=tiny_business({**BOOK, "demand.start": 10}))
    reject_all(simulation)
    calls = rang(simulation)
    assert len(calls) > 50
    assert len(set(calls["address"].tolist())) == 1
    assert len(set(calls["customer"].tolist())) == 1


def test_about_a_quarter_of_service_calls_come_from_existing_customers() -> None:
    business = tiny_business({"pay.starting_cash": 10**6, "demand.start": 30})
    known = total = 0
    for seed in range(3):
        simulation = Simulation(seed, business=business)
        reject_all(simulation)
        service = rang(simulation)["stream"] == Stream.SERVICE
        known += int((rang(simulation)["book"][service] >= 0).sum())
        total += int(service.sum())
        assert (rang(simulation)["book"][~service] == -1).all()
    # The standard error is sqrt(0.25 · 0.75 / 1,000) = 0.014.
    assert total > 850
    assert abs(known / total - 0.25) < 4 * 0.015


def test_weather_changes_what_people_call_for_and_how_urgently_never_how_many() -> None:
    shares: dict[int, np.ndarray[Any, Any]] = {}
    counts = set()
    for condition in (Condition.CLEAR, Condition.EXTREME_HEAT, Condition.STORM):
        simulation = Simulation(5, business=tiny_business({"pay.starting_cash": 10**6}))
        simulation.record["sky"]["condition"] = condition
        reject_all(simulation)
        calls = rang(simulation)
        service = calls[calls["stream"] == Stream.SERVICE]
        trades = [(service["service"] == k).mean() for k in (HVAC, PLUMBING, ELECTRICAL)]
        shares[condition] = np.array([*trades, service["urgent"].mean()])
        counts.add(tuple(simulation.record["days"]["calls"].tolist()))
    clear, heat, storm = shares.values()
    assert len(counts) == 1
    assert heat[0] > clear[0]
    assert storm[1] + storm[2] > clear[1] + clear[2]
    assert min(heat[3], storm[3]) > clear[3]


def test_the_trades_weights_in_each_weather_are_the_scenarios() -> None:
    """A storm: 0.42 · 0.85, 0.32 · 1.35, 0.26 · 1.60, the installation never by this way."""
    business = tiny_business(
        {
            "demand.trade_mix.hvac_service": "0.42",
            "demand.trade_mix.plumbing": "0.32",
            "demand.trade_mix.electrical": "0.26",
            "demand.trade_tilt.storm.hvac_service": "0.85",
            "demand.trade_tilt.storm.plumbing": "1.35",
            "demand.trade_tilt.storm.electrical": "1.6",
        }
    )
    cut = business.params[0]["trade_cut"][Condition.STORM].astype(float) / 2**64
    weights = np.array([0.42 * 0.85, 0.0, 0.32 * 1.35, 0.26 * 1.60])
    assert cut == pytest.approx(np.cumsum(weights) / weights.sum(), abs=1e-12)


def test_a_call_has_its_number_only_when_it_rings() -> None:
    simulation = Simulation(1, business=tiny_business())
    for number in range(1, 10):
        assert simulation.next_call() == Stop.NEW_CALL
        assert simulation.line == number
        assert int(simulation.desk["n_calls"]) == number
        simulation.reject()
