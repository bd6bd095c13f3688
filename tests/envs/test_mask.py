"""The action mask agrees exactly with what the company lets out."""

from __future__ import annotations

import numpy as np
import pytest

from tests.envs.playing import REJECT, episode, frozen, legal_offer, offer, tiny_env
from tradesbench_gym.company.refusals import booking_error
from tradesbench_gym.core.codes import Refusal
from tradesbench_gym.envs import TradesEnv
from tradesbench_gym.errors import ActionError

SLOTS = list(np.ndindex(4, 14, 6))


@pytest.mark.parametrize(("seed", "start_date"), [(1, None), (2, "2026-10-02")])
def test_a_slot_is_legal_exactly_when_an_offer_for_it_is_let_out(
    seed: int, start_date: str | None
) -> None:
    """All 336 slots, on copies, for each kind of call and every ninth call of a run."""
    env = TradesEnv(start_date=start_date)
    copy = TradesEnv(start_date=start_date)
    kinds, tried = set(), 0
    for number, moment in enumerate(episode(env, seed)):
        seen = moment.observation
        kind = (bool(seen["call"][1] == 1), bool(seen["time"][2] >= 5))
        if moment.terminated or (number % 9 and kind in kinds):
            continue
        kinds.add(kind)
        state, mask = env.get_state(), moment.info["action_mask"]
        for slot in SLOTS:
            copy.set_state(state)
            error = copy.step(offer(*slot))[4].get("error")
            assert (error is None) == bool(mask[slot]), (number, slot, error)
        tried += 1
    assert tried > 8
    assert kinds == {(False, False), (False, True), (True, False), (True, True)}


def test_strict_mode_raises_exactly_where_the_mask_is_zero() -> None:
    env = TradesEnv(strict=True)
    for number, moment in enumerate(episode(env, 3)):
        if number % 25 or moment.terminated:
            continue
        state = env.get_state()
        for slot in SLOTS:
            if moment.info["action_mask"][slot]:
                env.step(offer(*slot))
                env.set_state(state)
            else:
                with pytest.raises(ActionError):
                    env.step(offer(*slot))


def test_the_mask_does_not_ask_whether_somebody_is_qualified() -> None:
    """Work nobody can do is let out: those visits fail."""
    env = TradesEnv()
    for moment in episode(env, 4, legal_offer):
        mask = moment.info["action_mask"]
        if moment.terminated or moment.observation["call"][1] == 1:
            continue
        tomorrow = env.simulation.business.date_of(env.simulation.day + 1)
        assert mask[0, 1].all()
        assert mask[2, 1].all()
        on_weekdays = [True] * 5 + [False]
        assert mask[3, 1].tolist() == (on_weekdays if tomorrow.weekday() < 5 else [False] * 6)


def test_action_masks_is_the_same_mask_for_the_flattened_action() -> None:
    env = TradesEnv()
    for moment in episode(env, 5):
        flat = env.action_masks()
        assert flat.shape == (1 + 4 * 14 * 6,)
        assert flat.dtype == np.bool_
        assert flat[0]
        for slot in [(0, 0, 0), (1, 3, 2), (3, 13, 5), (2, 0, 5)]:
            place = 1 + (slot[0] * 14 + slot[1]) * 6 + slot[2]
            assert flat[place] == moment.info["action_mask"][slot]
        assert flat.sum() == 1 + moment.info["action_mask"].sum()


def test_the_mask_has_the_scenarios_own_sizes() -> None:
    env = tiny_env({"calendar.booking_days": 3})
    _, info = env.reset(seed=1)
    assert info["action_mask"].shape == (4, 3, 6)
    assert env.action_masks().shape == (1 + 4 * 3 * 6,)
    info = env.step(offer(0, 3, 0))[4]
    assert info["error"]["code"] == "beyond_horizon"
    assert "2 days ahead" in info["error"]["message"]


def test_setting_a_state_brings_its_mask_back() -> None:
    env = TradesEnv()
    env.reset(seed=6)
    env.step(REJECT)
    state, mask, info = env.get_state(), env.action_masks(), env.observe()[1]
    for _ in range(30):
        env.step(REJECT)
    env.set_state(state)
    np.testing.assert_array_equal(env.action_masks(), mask)
    assert frozen(env.observe()[1]) == frozen(info)


def test_every_refusal_has_its_sentence() -> None:
    business = TradesEnv().simulation.business
    sentences = [booking_error(business, 0, why, 1, 0, 5).message for why in Refusal if why]
    assert len(set(sentences)) == len(sentences)


@pytest.mark.parametrize("minute", [0, 1, 419, 420, 421, 660, 779, 780, 781, 1139, 1140])
def test_a_mask_out_of_all_there_are_is_the_one_the_rule_gives(minute: int) -> None:
    env = TradesEnv(start_date="2026-10-02")
    env.reset(seed=36)
    run = env.simulation.record
    for day in range(8):
        for service in range(5):
            # Between two minutes too: a window that begins this second has not begun.
            for second in (0, 1, 59):
                run["clock"] = day * 86_400 + minute * 60 + second
                run["day"] = day
                run["calls"][run["line"]]["service"] = service
                slow = env.simulation.desk.legal(qualified=False)
                np.testing.assert_array_equal(env.observe()[1]["action_mask"], slow)
