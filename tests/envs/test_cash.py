"""Rewards, cash and ledger agree to the cent, whatever is decided in whatever business."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.envs.playing import (
    REJECT,
    Choose,
    any_action,
    episode,
    legal_offer,
    reject,
    tiny_env,
)
from tradesbench_gym.core.check import check
from tradesbench_gym.core.codes import Kind
from tradesbench_gym.envs import TradesEnv
from tradesbench_gym.errors import ScenarioError

RUNS_AN_EXAMPLE = 40
SERVICES = ("hvac_service", "hvac_installation", "plumbing", "electrical")
CUSTOMERS = ("residential", "apartment", "commercial")


def _each_service(name: str, value: Any) -> dict[str, Any]:
    return {f"services.{service}.{name}": value for service in SERVICES}


def _material(low: str, high: str) -> dict[str, Any]:
    return {**_each_service("material_low", low), **_each_service("material_high", high)}


# Each entry changes one corner of the business; some combinations are refused by the loader.
EDGES: tuple[tuple[dict[str, Any], ...], ...] = (
    ({"demand.start": 0}, {"demand.start": 1}, {"demand.start": 40, "demand.cap": 40}),
    ({"demand.gain": 0}, {"demand.gain": 40}),
    ({"demand.loss": 0}, {"demand.loss": 40}),
    ({"demand.weekend_share": 0, "demand.weekend_floor": 0}, {"demand.weekend_share": 1}),
    ({"demand.book": 0}, {"demand.book": 1024, "demand.book_share": 1}),
    ({"demand.other_min": 1, "demand.other_max": 1}, {"demand.other_max": 38}),
    ({"demand.installations": {"0": 1}}, {"demand.installations": {"7": 1}}),
    ({"demand.urgent_share": 0}, {"demand.call_time": ["07:00", "07:00", "07:00"]}),
    ({"acceptance.routine_start": 0, "acceptance.routine_floor": 0},),
    ({"acceptance.routine_start": 1, "acceptance.routine_floor": 1},),
    (
        {
            "acceptance.urgent_same_day": 0,
            "acceptance.urgent_next_day": 0,
            "acceptance.urgent_later": 0,
        },
    ),
    ({"cancellation.slope_per_day": 0}, {"cancellation.slope_per_day": "0.04"}),
    ({"cancellation.notice": 0}, {"cancellation.notice": 720}),
    ({"pay.starting_cash": 0}, {"pay.starting_cash": 1_000_000}),
    ({"pay.overhead": 0}, {"pay.overhead": "12345.67"}),
    ({"pay.off_hours_premium": 0}, {"pay.off_hours_premium": 1, "pay.off_hours_share": 1}),
    ({"pay.overtime_multiple": 0}, {"pay.overtime_multiple": 5, "pay.overtime_cap": 1}),
    ({"technicians.diana.on_call": True}, {"technicians.marcus.wage": "36.01"}),
    (_material("0", "0"), _material("1", "1"), _material("0.3333", "0.3334")),
    (
        {f"services.plumbing.prices.{who}": [0, 0, 0] for who in CUSTOMERS},
        {f"services.plumbing.prices.{who}": [1, "1.01", 99_999] for who in CUSTOMERS},
    ),
    ({"visits.failed": 0}, {"visits.failed": 690}),
    (
        {"driving.speed_factor": 3},
        {"driving.variation_low": "1.6", "driving.variation_high": "1.6"},
    ),
    ({"calendar.booking_days": 1}, {"calendar.booking_days": 3}),
    ({"weather.storm_days": [28] * 12}, {"weather.storm_days": [0] * 12}),
    ({"estimate.quantile": 0}, {"estimate.quantile": 1}),
)


@st.composite
def businesses(draw: st.DrawFn) -> dict[str, Any]:
    """Changes to the scenario that push one to eight corners of it to their limits."""
    chosen = draw(st.lists(st.sampled_from(range(len(EDGES))), min_size=1, max_size=8, unique=True))
    changes: dict[str, Any] = {}
    for place in chosen:
        changes |= draw(st.sampled_from(EDGES[place]))
    return changes


def assert_the_books_agree(
    env: TradesEnv, seed: int, choose: Choose, *, look: bool = False
) -> None:
    """One run: the sum of rewards is what cash gained is the sum of the ledger, in whole cents."""
    simulation = env.simulation
    rewards = []
    for moment in episode(env, seed, choose):
        cents = moment.reward * 100
        assert abs(cents - round(cents)) < 1e-4 + 1e-9 * abs(cents), "a reward is whole cents"
        rewards.append(round(cents))
        if look:
            check(simulation.record, simulation.business.params[0])
    gained = int(simulation.record["cash"]) - int(simulation.business.handbook["starting_cash"])
    rows = [e.cents for e in env.take_events() if e.kind == Kind.LEDGER]
    assert sum(rewards) == gained == simulation.profit_cents == sum(map(int, rows))  # type: ignore[arg-type]
    assert gained == int(simulation.record["ledger"].astype(np.int64).sum())
    assert gained == moment.info["results"]["profit"]
    assert len(rows) == simulation.record["entries"]


def _open(changes: dict[str, Any], days: int, start_date: str) -> TradesEnv | None:
    try:
        return tiny_env(changes, days=days, start_date=start_date)
    except ScenarioError:
        return None  # two edges that cannot stand together


start_dates = st.sampled_from(["2026-10-01", "2026-10-03", "2027-07-01", "2028-02-28"])


@settings(max_examples=25, suppress_health_check=[HealthCheck.too_slow])
@given(
    changes=businesses(),
    days=st.sampled_from([1, 2, 3, 5, 14, 20]),
    start_date=start_dates,
    seed=st.integers(0, 2**32),
    choose=st.sampled_from([any_action, legal_offer]),
)
def test_rewards_cash_and_ledger_agree_to_the_cent_on_a_thousand_random_runs(
    changes: dict[str, Any], days: int, start_date: str, seed: int, choose: Choose
) -> None:
    env = _open(changes, days, start_date) or tiny_env(days=days, start_date=start_date)
    for run in range(RUNS_AN_EXAMPLE):
        assert_the_books_agree(env, seed + run, choose, look=run == 0 and days <= 5)


@pytest.mark.slow
@settings(max_examples=60, suppress_health_check=[HealthCheck.too_slow])
@given(
    changes=businesses(),
    days=st.sampled_from([14, 31]),
    start_date=start_dates,
    seed=st.integers(0, 2**32),
    choose=st.sampled_from([any_action, legal_offer]),
)
def test_every_invariant_holds_at_every_step_of_full_runs(
    changes: dict[str, Any], days: int, start_date: str, seed: int, choose: Choose
) -> None:
    env = _open(changes, days, start_date) or tiny_env(days=days, start_date=start_date)
    for run in range(5):
        assert_the_books_agree(env, seed + run, choose, look=True)


@pytest.mark.parametrize("choose", [any_action, legal_offer, reject])
def test_the_books_of_the_shipped_company_agree(choose: Choose) -> None:
    env = TradesEnv()
    for seed in range(20):
        assert_the_books_agree(env, seed, choose, look=seed == 0)


@pytest.mark.parametrize(("days", "dollars"), [(1, -2_916), (3, -2_916 * 2 - 2_126)])
def test_rejecting_everybody_costs_what_the_report_says(days: int, dollars: int) -> None:
    """Thursday, Friday 2,916 each; Saturday 2,126."""
    env = TradesEnv(days=days)
    assert sum(moment.reward for moment in episode(env, 5, reject)) == dollars


def test_rejecting_everybody_is_bankrupt_on_day_ten_at_the_reports_figure() -> None:
    env = TradesEnv()
    *_, last = episode(env, 5, reject)
    assert last.info["results"]["profit"] == -26_790_00
    assert last.info["results"]["bankrupt_on"] == 10
    assert last.terminated


QUIET = {"demand.start": 0, "demand.other_min": 0, "demand.other_max": 0, "demand.book_share": 0}


def test_days_that_pass_before_the_first_call_are_in_the_rewards_too() -> None:
    """Nobody but an installation customer calls, on one day in ten; reset plays on to the first."""
    env = tiny_env({**QUIET, "demand.installations": {"0": "0.9", "1": "0.1"}}, days=14)
    seed = _late_first_call(env)
    assert_the_books_agree(env, seed, reject)


def test_a_state_saved_before_the_first_answer_keeps_what_those_days_cost() -> None:
    env = tiny_env({**QUIET, "demand.installations": {"0": "0.9", "1": "0.1"}}, days=14)
    env.reset(seed=_late_first_call(env))
    state = env.get_state()
    reward = env.step(REJECT)[1]
    env.reset(seed=1)
    env.set_state(state)
    assert env.step(REJECT)[1] == reward < -2_900


def _late_first_call(env: TradesEnv) -> int:
    """A run in which nobody calls on the first day, and somebody does later."""
    return next(
        seed
        for seed in range(100)
        if env.reset(seed=seed)[0]["time"][0] > 0 and env.desk.call is not None
    )


def test_a_run_without_a_single_call_can_still_be_played() -> None:
    env = tiny_env({**QUIET, "demand.installations": {"0": 1}}, days=1)
    observation, info = env.reset(seed=1)
    assert observation["call"][0] == 0
    assert not info["action_mask"].any()
    _, reward, terminated, _, info = env.step(REJECT)
    assert (reward, terminated) == (-2_916.0, True)
    assert info["results"]["calls"] == 0
