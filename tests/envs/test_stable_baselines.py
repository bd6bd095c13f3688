"""What stable-baselines3 asks of an environment; needs the [train] extra."""

from __future__ import annotations

import warnings

import gymnasium as gym
import numpy as np
import pytest

import tradesbench_gym  # noqa: F401 - registers the environment

pytestmark = pytest.mark.train


@pytest.mark.parametrize("observation", ["desk", "planned"])
def test_its_checker_finds_nothing(observation: str) -> None:
    checker = pytest.importorskip("stable_baselines3.common.env_checker")
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        checker.check_env(gym.make("TradesBench-v0", observation=observation).unwrapped)


def test_its_vector_environment_plays_runs_on_end() -> None:
    vectors = pytest.importorskip("stable_baselines3.common.vec_env")
    many = vectors.DummyVecEnv([lambda: gym.make("TradesBench-v0", days=1)] * 2)
    many.seed(10_000)
    many.reset()
    many.action_space.seed(1)
    ends = 0
    for _ in range(80):
        _, rewards, ended, infos = many.step([many.action_space.sample() for _ in range(2)])
        assert rewards.dtype == np.float32
        ends += int(ended.sum())
        assert all(
            ("terminal_observation" in info) == over
            for info, over in zip(infos, ended, strict=True)
        )
    assert ends >= 4


def test_the_mask_is_the_one_sb3_contrib_asks_for() -> None:
    masking = pytest.importorskip("sb3_contrib.common.maskable.utils")
    env = gym.make("TradesBench-v0")
    env.reset(seed=1)
    assert masking.is_masking_supported(env)
    mask = masking.get_action_masks(env)
    assert mask.shape == (1 + 4 * 14 * 6,)
    assert mask.dtype == np.bool_
