"""What holds for the prices of every run: no regret below nothing, branches that are the run's own,
parts that add up, the same prices whoever plays.
"""

from __future__ import annotations

import random
from functools import lru_cache
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.worlds import tiny_business
from tradesbench_gym.company.business import Business
from tradesbench_gym.company.simulation import Simulation
from tradesbench_gym.core.codes import CallState
from tradesbench_gym.core.plan import why_refused
from tradesbench_gym.core.view import Desk
from tradesbench_gym.errors import PolicyError, StateError
from tradesbench_gym.policies import Decision, make_policy, register, registry
from tradesbench_gym.report.regret import Ask, Price, Prices, Recorded, Sample, price, record
from tradesbench_gym.report.regret.outcomes import distinct
from tradesbench_gym.report.regret.playing import (
    CompiledPlayer,
    PolicyPlayer,
    blank_script,
    oracle_plan,
)
from tradesbench_gym.report.regret.proof import own_script, prove

SEEDS = st.integers(0, 200)


def business(days: int = 2) -> Business:
    return tiny_business(days=days)


def careless(chance: int) -> Any:
    """Anybody at any hour of the next days that the company lets out, or nobody, by chance."""
    draws = random.Random(chance)

    def decide(desk: Desk) -> Decision | None:
        offer = draws.randrange(4), draws.randrange(3), draws.randrange(6)
        if draws.random() < 0.2 or why_refused(desk.array, 0, *offer) != 0:
            return None
        return Decision(*offer)

    return decide


@lru_cache(maxsize=32)
def careless_run(seed: int) -> Recorded:
    return record(Simulation(seed, business=business()), careless(seed))


@lru_cache(maxsize=32)
def careless_prices(seed: int) -> Prices:
    return price(careless_run(seed))


@given(SEEDS)
@settings(max_examples=8)
def test_no_regret_is_below_nothing_and_its_parts_add_up_to_it(seed: int) -> None:
    for one in careless_prices(seed).of:
        assert one.regret >= 0
        assert sum(one.comparison.parts.values()) == one.regret
        assert (one.regret == 0) == (one.better == 0)


@given(SEEDS)
@settings(max_examples=8)
def test_kinds_and_parts_share_out_the_same_sum(seed: int) -> None:
    prices = careless_prices(seed)
    by_kind = sum(one.regret for those in prices.by_kind().values() for one in those)
    assert by_kind == sum(prices.by_part().values()) == prices.regret


@given(SEEDS)
@settings(max_examples=8)
def test_a_run_s_own_later_answers_lead_from_every_call_to_its_own_profit(seed: int) -> None:
    recorded = careless_run(seed)
    player = CompiledPlayer(recorded.business, recorded.states, oracle_plan(recorded.business))
    calls = len(recorded.answers)
    ends = player.play(np.arange(calls), recorded.answers, own_script(recorded))
    assert set(ends.tolist()) == {int(recorded.end[0]["cash"])}
    prove(recorded)


@given(SEEDS)
@settings(max_examples=8)
def test_departures_from_the_policy_add_up_to_the_distance_from_its_run(seed: int) -> None:
    prices = careless_prices(seed)
    oracle = record(Simulation(seed, business=business()), make_policy("oracle"))
    assert prices.policy_profit == oracle.profit
    departed = sum(one.against_policy for one in prices.of)
    assert departed == prices.recorded.profit - oracle.profit


@given(SEEDS)
@settings(max_examples=8)
def test_in_the_oracle_s_own_run_the_chosen_branch_is_the_run(seed: int) -> None:
    recorded = record(Simulation(seed, business=business()), make_policy("oracle"))
    prices = price(recorded)
    assert {one.value for one in prices.of} == {recorded.profit}
    assert all(one.against_policy == 0 for one in prices.of)


@given(SEEDS)
@settings(max_examples=5)
def test_all_declined_offers_and_turning_away_leave_the_same_world(seed: int) -> None:
    """Every declined offer to a call is played on, not one of them: the ends differ in the slot
    that was offered, what the caller is called then, and the two counts of the day.
    """
    recorded = careless_run(seed)
    player = CompiledPlayer(recorded.business, recorded.states, oracle_plan(recorded.business))
    for call in range(0, len(recorded.answers), 7):
        choice = distinct(recorded, call, all_technicians=True)
        offers = [int(code) for code in np.flatnonzero(choice.bits)]
        declined = [code for code in offers if choice.outcome(code) == CallState.DECLINED]
        turned_away = _end(player, call, 0)
        for code in declined:
            assert _end(player, call, code) == turned_away


def _end(player: CompiledPlayer, call: int, answer: int) -> bytes:
    run = player.ending(call, answer).run
    day = int(run["calls"]["from_day"][0, call])
    for name in ("state", "technician", "window", "day", "registered"):
        run["calls"][name][0, call] = 0
    for name in ("declined", "rejected"):
        run["days"][name][0, day] = 0
    return run.tobytes()


@pytest.mark.parametrize("workers", [1, 2, 5])
def test_prices_do_not_depend_on_the_number_of_threads(workers: int) -> None:
    assert price(careless_run(3), Ask(workers=workers)).of == careless_prices(3).of


def test_compiled_branches_are_those_of_the_policy_in_python() -> None:
    recorded = careless_run(4)
    settings_of = "oracle:margin=10,quantile=0.8"
    compiled = price(recorded, Ask(settings_of, Sample(calls=12, seed=1)))
    assert compiled.compiled
    player = PolicyPlayer(recorded.business, recorded.states, settings_of)
    for one in compiled.of:
        values = [cash - 2_500_000 for cash in player.cash(one.call, [one.answer, one.best])]
        assert values == [one.value, one.best_value]
        assert _ending(player, one) == one.best_value


def _ending(player: PolicyPlayer, one: Price) -> int:
    ending = player.ending(one.call, one.best)
    return ending.cash - 2_500_000


@pytest.mark.slow  # two processes start
def test_a_python_policy_plays_on_in_processes_as_it_does_alone() -> None:
    recorded = careless_run(5)
    sample = Sample(calls=4, answers=3, seed=2)
    alone = price(recorded, Ask("accept-all", sample, workers=1))
    together = price(recorded, Ask("accept-all", sample, workers=2))
    assert alone.of == together.of
    assert not together.compiled
    assert {len(alone.of), alone.calls} == {4}


def test_a_sample_is_drawn_by_its_seed_and_never_asks_more_than_everything() -> None:
    recorded, whole = careless_run(6), careless_prices(6)
    drawn = {
        seed: price(recorded, Ask(sample=Sample(calls=9, answers=4, seed=seed))) for seed in (1, 2)
    }
    again = price(recorded, Ask(sample=Sample(calls=9, answers=4, seed=1)))
    assert again.of == drawn[1].of
    assert [one.call for one in drawn[1].of] != [one.call for one in drawn[2].of]
    by_call = {one.call: one for one in whole.of}
    for one in drawn[1].of:
        assert one.tried <= 1 + 1 + 4 + 1  # chosen, turned away, four drawn, the oracle's own
        assert one.value == by_call[one.call].value
        assert one.regret <= by_call[one.call].regret
    assert whole.complete
    assert not drawn[1].complete


def test_a_run_that_was_changed_behind_its_answers_is_refused() -> None:
    recorded = careless_run(7)
    answers = recorded.answers.copy()
    call = int(np.flatnonzero(recorded.end[0]["calls"]["state"] == CallState.DONE)[0])
    answers[call] = 0
    other = Recorded(recorded.business, recorded.start, recorded.states, answers, recorded.end)
    with pytest.raises(StateError, match="the run's own answers lead elsewhere"):
        price(other)


def test_an_unfinished_run_is_priced_as_far_as_it_went() -> None:
    simulation = Simulation(8, business=business())
    whole = record(simulation, careless(8))
    part = Recorded(
        whole.business, whole.start, whole.states[:5], whole.answers[:5], whole.states[5:6]
    )
    assert not part.finished
    some, all_of_them = price(part), price(whole)
    assert some.of == all_of_them.of[:5]


def test_a_run_in_which_nobody_called_has_no_prices() -> None:
    quiet = tiny_business(
        {
            "demand.start": 0,
            "demand.other_min": 0,
            "demand.other_max": 0,
            "demand.installations": {"0": 1},
        },
        days=1,
    )
    with pytest.raises(StateError, match="no call that was answered"):
        record(Simulation(1, business=quiet), make_policy("oracle"))


def rude(desk: Desk) -> Decision | None:
    """Offers what the company does not let out."""
    del desk
    return Decision(99, 0, 0)


def test_a_policy_whose_offer_is_not_let_out_is_named_with_its_call(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(registry, "_FACTORIES", dict(registry._FACTORIES))
    register("regret-test-rude")(rude)
    with pytest.raises(PolicyError, match=r"offered call \d+ what the company does not"):
        price(careless_run(9), Ask("regret-test-rude", Sample(calls=1), workers=1))


def test_the_script_of_a_run_knows_its_calls_and_no_other() -> None:
    recorded = careless_run(10)
    script = own_script(recorded)
    assert int((script >= 0).sum()) == len(recorded.answers)
    assert (blank_script(recorded.business) < 0).all()
