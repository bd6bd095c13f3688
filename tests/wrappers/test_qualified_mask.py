"""Masks that leave out whoever cannot do the work, for one environment and for many."""

from __future__ import annotations

import warnings
from typing import Any

import gymnasium as gym
import numpy as np
import pytest
from gymnasium.utils.env_checker import check_env

from tradesbench_gym.envs import TradesEnv
from tradesbench_gym.wrappers import FlattenAction, QualifiedMask

# By the handbook: Marcus services HVAC, Diana also installs it, Roberto plumbs, Katherine wires.
ABLE = {0: [0, 1], 1: [1], 2: [2], 3: [3]}
REJECT = np.zeros(4, np.int64)


def calls_of(env: gym.Env[Any, Any], seed: int) -> Any:
    observation, info = env.reset(seed=seed)
    ended = False
    while not ended:
        yield observation, info
        observation, _, ended, _, info = env.step(REJECT)


def test_only_technicians_who_can_do_the_work_are_left() -> None:
    services = set()
    for observation, info in calls_of(QualifiedMask(TradesEnv(days=3)), seed=12_000):
        service = int(observation["call"][1])
        offered = np.flatnonzero(info["action_mask"].any((1, 2)))
        assert set(offered) <= set(ABLE.get(service, []))
        services.add(min(service, 4))
    assert services == {0, 1, 2, 3, 4}


def test_for_other_work_there_is_only_reject() -> None:
    env = QualifiedMask(TradesEnv(days=2))
    seen = 0
    for observation, info in calls_of(env, seed=12_000):
        if observation["call"][1] >= 4:
            seen += 1
            assert not info["action_mask"].any()
            masks = env.action_masks()
            assert masks[0]
            assert not masks[1:].any()
    assert seen >= 4  # two to five calls a day are for other work


def test_the_mask_loses_offers_and_gains_none() -> None:
    plain, narrowed = TradesEnv(days=2), QualifiedMask(TradesEnv(days=2))
    for (_, before), (_, after) in zip(
        calls_of(plain, 12_001), calls_of(narrowed, 12_001), strict=True
    ):
        assert after["action_mask"].dtype == np.int8
        assert (after["action_mask"] <= before["action_mask"]).all()
        assert after["run_seed"] == 12_001


@pytest.mark.parametrize("flat_first", [True, False])
def test_flat_masks_are_narrowed_in_either_order(flat_first: bool) -> None:
    inner: gym.Env[Any, Any] = TradesEnv(days=2)
    env: gym.Env[Any, Any] = (
        QualifiedMask(FlattenAction(inner)) if flat_first else FlattenAction(QualifiedMask(inner))
    )
    _, info = env.reset(seed=12_002)
    for _ in range(20):
        masks = env.get_wrapper_attr("action_masks")()
        assert masks.shape == (337,)
        assert masks[0]
        assert np.array_equal(masks[1:], info["action_mask"].ravel())
        _, _, ended, _, info = env.step(0)
        assert not ended


def test_options_and_refusals_are_the_environments_own() -> None:
    env = QualifiedMask(TradesEnv(days=1))
    open_, _ = env.reset(seed=5)
    sealed, _ = env.reset(seed=5, options={"salt": 7})
    assert not all(np.array_equal(open_[key], sealed[key]) for key in open_)
    with pytest.raises(TypeError, match=r"TradesBench-v0"):
        QualifiedMask(gym.make("CartPole-v1"))


def test_gymnasiums_wrappers_stand_above_and_below_it() -> None:
    env: gym.Env[Any, Any] = gym.wrappers.TimeLimit(TradesEnv(days=2), max_episode_steps=5)
    env = QualifiedMask(gym.wrappers.FlattenObservation(env))
    env = gym.wrappers.RecordEpisodeStatistics(env)
    observation, info = env.reset(seed=12_003)
    assert observation in env.observation_space
    for step in range(5):
        assert np.array_equal(
            env.get_wrapper_attr("action_masks")()[1:], info["action_mask"].ravel()
        )
        _, _, ended, cut, info = env.step(REJECT)
        assert cut == (step == 4)
        assert not ended
    assert info["episode"]["l"] == 5


def test_gymnasiums_checker_has_nothing_to_say() -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        warnings.filterwarnings("ignore", message=".*different from the unwrapped version")
        check_env(QualifiedMask(TradesEnv(days=1)), skip_render_check=True)
