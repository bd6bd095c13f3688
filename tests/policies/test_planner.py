"""The planner: it knows what a dispatcher may know, and learns the rest."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np
import pytest

from tests.worlds import (
    DIANA,
    ELECTRICAL,
    HVAC,
    INSTALLATION,
    MARCUS,
    W07,
    W09,
    W13,
    Script,
    tiny_business,
)
from tradesbench_gym.company.business import Business, open_business
from tradesbench_gym.company.play import play
from tradesbench_gym.company.scenario import load_scenario
from tradesbench_gym.company.simulation import Simulation
from tradesbench_gym.core import beliefs as learning
from tradesbench_gym.core import risk
from tradesbench_gym.core.codes import CallState, Stop
from tradesbench_gym.core.view import Desk
from tradesbench_gym.errors import PolicyError
from tradesbench_gym.policies import Decision, make_policy, planner
from tradesbench_gym.policies.registry import Policy

NOBODY_WAITS: dict[str, Any] = {
    "acceptance.urgent_same_day": "0.5",
    "acceptance.urgent_next_day": "0.5",
    "acceptance.urgent_later": "0.01",
    "acceptance.routine_start": "0.3",
    "acceptance.routine_decay_per_day": "0.9",
    "acceptance.routine_floor": "0.01",
    "acceptance.late_installation_factor": 1,
}
ALL_CANCEL: dict[str, Any] = {
    "customers.residential.cancel_base": "0.4",
    "customers.apartment.cancel_base": "0.4",
    "customers.commercial.cancel_base": "0.4",
    "cancellation.slope_per_day": "0.02",
}
OTHER_DEMAND: dict[str, Any] = {"demand.gain": 3, "demand.loss": "0.1", "demand.cap": 38}
OTHER_PRICES: dict[str, Any] = {
    f"services.{service}.prices.{customer}": [10, 20, 30]
    for service in ("hvac_service", "hvac_installation", "plumbing", "electrical")
    for customer in ("residential", "apartment", "commercial")
}
LENGTHS = ("shortest", "typical", "longest")
HIDDEN = {
    "acceptance": NOBODY_WAITS,
    "cancellation": ALL_CANCEL,
    "demand": OTHER_DEMAND,
    "prices": OTHER_PRICES,
    "roads": {"driving.speed_factor": "0.7"},
}


def sunridge(changes: Mapping[str, Any] | None = None) -> Business:
    return tiny_business({"demand.start": 18, **(changes or {})})


def decisions(business: Business, seed: int) -> Iterator[tuple[bytes, Decision | None]]:
    """What the desk showed and what was decided, call by call."""
    simulation, decide = Simulation(seed, business=business), make_policy("planner", seed=seed)
    while simulation.next_call() == Stop.NEW_CALL:
        desk = simulation.desk
        made = decide(desk)
        yield desk.array.tobytes(), made
        if made is None:
            simulation.reject()
        else:
            simulation.offer(*made)


@pytest.mark.parametrize("hidden", HIDDEN)
def test_hidden_numbers_change_no_decision_until_they_show_on_the_desk(hidden: str) -> None:
    alike = 0
    for seed in range(10_000, 10_008):
        here, there = decisions(sunridge(), seed), decisions(sunridge(HIDDEN[hidden]), seed)
        for (seen, made), (seen_there, made_there) in zip(here, there, strict=False):
            if seen != seen_there:
                break
            assert made == made_there
            alike += 1
    assert alike >= 8


def test_the_same_desk_and_seed_give_the_same_decision_whatever_was_decided_before() -> None:
    for k, (seen, made) in enumerate(decisions(sunridge(), 10_001)):
        if k % 16 == 0:
            array = np.frombuffer(seen, sunridge().new_desks().dtype).copy()
            assert make_policy("planner", seed=10_001)(Desk(array)) == made


def test_every_offer_is_for_a_qualified_technician_within_the_run() -> None:
    business = sunridge()
    for seen, made in decisions(business, 10_002):
        desk = Desk(np.frombuffer(seen, business.new_desks().dtype).copy())
        if made is not None:
            assert desk.legal()[made] == 1
            assert int(desk["day"]) + made.ahead < int(desk["handbook"]["days"])


def test_other_work_is_turned_away() -> None:
    run = play(Simulation(10_003, business=sunridge()), make_policy("planner", seed=1))
    assert run.failed == 0
    assert run.completed > 0


def believed(desk: Desk) -> np.void:
    """What the planner believes at a desk."""
    beliefs = np.zeros(1, learning.BELIEF)
    learning.believe(desk.array, 0, planner.record(learning.PRIOR, planner.FIRST_BELIEFS), beliefs)
    return beliefs[0]  # type: ignore[no-any-return]


def played(policy: Policy, changes: Mapping[str, Any] | None = None) -> Desk:
    simulation = Simulation(10_004, business=sunridge(changes))
    play(simulation, policy)
    return simulation.desk.copy()


def test_before_the_first_call_the_planner_believes_its_prior() -> None:
    desk = Simulation(1, business=sunridge()).desk
    first, belief = planner.FIRST_BELIEFS, believed(desk)
    assert belief["accepts"][learning.ROUTINE, 0] == first["routine"]
    assert belief["accepts"][learning.URGENT, :3].tolist() == list(first["urgent"])
    assert belief["net"][HVAC].tolist() == [first["job"]] * 3
    assert belief["net"][INSTALLATION].tolist() == [first["installation"]] * 3
    assert belief["pace"] == pytest.approx(first["pace"])
    assert belief["level"] == pytest.approx(first["calls"])
    assert (belief["gain"], belief["loss"]) == pytest.approx((first["gain"], first["loss"]))


def test_urgent_callers_are_believed_as_they_answered() -> None:
    desk = played(make_policy("oracle"))
    calls = desk["calls"][: int(desk["n_calls"])]
    ahead = calls["day"] - calls["rang_at"] // 86_400
    asked = calls[(calls["urgent"] == 1) & (calls["technician"] >= 0) & (ahead == 1)]
    yes = int((asked["state"] != CallState.DECLINED).sum())
    weight = planner.FIRST_BELIEFS["answers"]
    expected = (planner.FIRST_BELIEFS["urgent"][1] * weight + yes) / (weight + len(asked))
    assert len(asked) > 0
    assert believed(desk)["accepts"][learning.URGENT, 1] == pytest.approx(expected)


def test_who_is_never_refused_comes_to_expect_a_yes_and_who_always_is_a_no() -> None:
    willing = dict.fromkeys(NOBODY_WAITS, 1) | {"acceptance.routine_decay_per_day": 0}
    unwilling = dict.fromkeys(NOBODY_WAITS, 0)
    yes = believed(played(make_policy("oracle"), willing))["accepts"][learning.ROUTINE, 0]
    no = believed(played(make_policy("oracle"), unwilling))["accepts"][learning.ROUTINE, 0]
    assert no < 0.2
    assert yes > 0.95


def test_drives_are_believed_as_long_as_they_took() -> None:
    quick = believed(played(make_policy("oracle"), {"driving.speed_factor": "1.4"}))["pace"]
    slow = believed(played(make_policy("oracle"), {"driving.speed_factor": "0.7"}))["pace"]
    assert slow > 1.5 * quick


def test_demand_is_believed_as_the_days_show_it() -> None:
    # Calls of a weekday are the level, rounded, and a job done adds 0.2 of a call to it.
    changes = {"demand.gain": "0.2", "demand.loss": 0, "demand.cap": 38}
    simulation = Simulation(10_004, business=sunridge(changes))
    decide = make_policy("oracle")
    while simulation.next_call() == Stop.NEW_CALL and simulation.day < 6:
        offer = decide(simulation.desk)
        simulation.offer(*offer) if offer else simulation.reject()
    belief = believed(simulation.desk)
    assert belief["gain"] == pytest.approx(0.2, abs=0.05)
    assert belief["level"] == pytest.approx(int(simulation.record["level"]) / 10_000, abs=2)


@pytest.fixture(scope="module")
def luck() -> tuple[np.ndarray[Any, Any], np.ndarray[Any, Any]]:
    lots, stream = np.empty((64, risk.LOTS, 64)), np.empty((2, 16))
    risk.deal(np.uint64(7), lots, stream)
    return lots, stream


def test_lots_are_spread_evenly_over_what_may_be(luck: Any) -> None:
    lots, stream = luck
    even = (np.arange(64) + 0.5) / 64
    assert (np.sort(lots[:, risk.LENGTH], axis=1) == even).all()
    assert abs(lots[:, risk.DRIVE].mean(axis=1)).max() < 1e-12
    assert (stream >= 0).all()
    assert (stream < 1).all()
    assert (lots[0, risk.LENGTH] != lots[1, risk.LENGTH]).any()


def test_time_on_site_follows_the_triangle_of_the_handbook() -> None:
    ranges = {f"services.hvac_service.{k}": m for k, m in zip(LENGTHS, (45, 75, 180), strict=True)}
    handbook = sunridge(ranges).handbook
    assert risk.time_on_site(handbook, HVAC, 0.0) == 45 * 60
    # Of a triangle the share (75 - 45) / (180 - 45) lies below its top.
    assert risk.time_on_site(handbook, HVAC, 30 / 135) == pytest.approx(75 * 60)
    assert risk.time_on_site(handbook, HVAC, 1.0) == pytest.approx(180 * 60)


def risks(
    script: Script, technician: int, ahead: int, window: int, luck: Any
) -> tuple[float, float, float]:
    """Chance that the call on the line is done in a slot, appointments missed more, overtime more;
    of drives that take what the plan says.
    """
    desk = script.simulation.desk
    priors = planner.record(
        learning.PRIOR, {**planner.FIRST_BELIEFS, "pace": 1, "spread": 0, "cancels": 0}
    )
    beliefs = np.zeros(1, learning.BELIEF)
    learning.believe(desk.array, 0, priors, beliefs)
    return risk.slot_risk(desk.array, 0, beliefs, luck[0], technician, ahead, window)


RANGE: dict[str, Any] = {
    f"services.hvac_service.{key}": minutes
    for key, minutes in zip(LENGTHS, (45, 75, 180), strict=True)
}


def test_a_job_in_an_empty_morning_is_sure_to_be_done(luck: Any) -> None:
    script = Script(RANGE)
    script.call("08:00", HVAC, 0)
    assert risks(script, MARCUS, 1, W07, luck) == (1, 0, 0)


def test_the_second_of_two_jobs_in_a_window_is_done_if_the_first_takes_less_than_that(
    luck: Any,
) -> None:
    # At his own door twice: the second begins when the first ends, in time up to 120 minutes.
    # Of the triangle 45, 75, 180 the share 1 - (180 - 120)^2 / (135 * 105) = 0.746 is shorter.
    script = Script(RANGE)
    script.book("08:00", HVAC, 0, MARCUS, W07, ahead=1)
    script.call("08:01", HVAC, 0)
    kept, let_down, _ = risks(script, MARCUS, 1, W07, luck)
    assert kept == pytest.approx(0.746, abs=1 / 64)
    assert let_down == pytest.approx(1 - 0.746, abs=1 / 64)


def test_two_installations_cannot_begin_in_one_window(luck: Any) -> None:
    script = Script()  # 300 minutes each
    script.book("08:00", INSTALLATION, 3, DIANA, W09, ahead=1)
    script.call("08:01", INSTALLATION, 3)
    kept, let_down, overtime = risks(script, DIANA, 1, W09, luck)
    assert (kept, let_down) == (0, 1)
    assert overtime == 0  # the first ends at 14:00


def test_work_past_the_end_of_the_shift_is_overtime(luck: Any) -> None:
    script = Script()
    script.call("08:01", INSTALLATION, 3)
    # At her own door from 13:00 to 18:00: an hour past the shift.
    assert risks(script, DIANA, 1, W13, luck) == (1, 0, 3600)


def test_an_urgent_caller_is_offered_today() -> None:
    script = Script(RANGE)
    script.call("08:00", HVAC, 1, urgent=1)
    offer = make_policy("planner", seed=1)(script.simulation.desk)
    assert offer is not None
    assert (offer.ahead, offer.technician in {MARCUS, DIANA}) == (0, True)


def test_nobody_is_offered_a_day_that_is_full_nor_one_after_the_run() -> None:
    # On the last day at 16:30 an electrician who works till the end of his shift has no window.
    script = Script(days=1)
    script.call("16:30", ELECTRICAL, 11)
    assert make_policy("planner", seed=1)(script.simulation.desk) is None


@pytest.mark.parametrize("futures", ["-1", "many", "1001", "2.5"])
def test_futures_that_cannot_be_are_refused_in_a_sentence(futures: str) -> None:
    with pytest.raises(PolicyError, match="futures must be a whole number from 0 to 1000"):
        make_policy(f"planner:futures={futures}")


def test_a_planner_who_has_seen_one_company_plays_another_as_a_fresh_one_does() -> None:
    moved = {f"technicians.{name}.home_lat": "33.600000" for name in ("marcus", "diana", "roberto")}
    elsewhere = open_business(load_scenario("sunridge").replace(moved))
    used, fresh = (make_policy("planner:futures=8", seed=3) for _ in range(2))
    first = Simulation(1, business=open_business())
    first.next_call()
    used(first.desk)
    run, decided = Simulation(2, business=elsewhere), 0
    while decided < 25 and run.next_call() == Stop.NEW_CALL:
        mine, theirs = used(run.desk), fresh(run.desk)
        assert mine == theirs
        decided += 1
        if mine is None:
            run.reject()
        else:
            run.offer(*mine)
