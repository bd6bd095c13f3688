"""Observations from 0 to 1, by the bounds of their space."""

from __future__ import annotations

import warnings
from typing import Any

import gymnasium as gym
import numpy as np
import pytest
from gymnasium import spaces
from gymnasium.utils.env_checker import check_env

from tradesbench_gym.envs import TradesEnv
from tradesbench_gym.wrappers import FlattenAction, ScaleObservation
from tradesbench_gym.wrappers.scale_observation import bounds_of, scaled


@pytest.mark.parametrize("kind", ["desk", "planned"])
def test_every_observation_of_a_run_lies_in_the_scaled_space(kind: str) -> None:
    env = ScaleObservation(TradesEnv(days=3, observation=kind))
    assert isinstance(env.observation_space, spaces.Dict)
    for space in env.observation_space.spaces.values():
        assert space == spaces.Box(0.0, 1.0, space.shape, np.float32)
    observation, info = env.reset(seed=13_000)
    ended = False
    while not ended:
        assert observation in env.observation_space
        legal = np.argwhere(info["action_mask"])
        observation, _, ended, _, info = env.step(np.array([1, *legal[0]], np.int64))
    assert observation in env.observation_space


def test_lowest_is_zero_highest_is_one_and_the_middle_a_half() -> None:
    space = spaces.Dict(
        {
            "box": spaces.Box(np.array([-10, 4], np.float32), np.array([30, 4], np.float32)),
            "kinds": spaces.MultiDiscrete([2, 5, 1], dtype=np.int32),
        }
    )
    bounds = bounds_of(space)
    lowest = {"box": np.array([-10, 4], np.float32), "kinds": np.zeros(3, np.int32)}
    highest = {"box": np.array([30, 4], np.float32), "kinds": np.array([1, 4, 0], np.int32)}
    assert scaled(lowest, bounds)["box"].tolist() == [0, 0]
    assert scaled(lowest, bounds)["kinds"].tolist() == [0, 0, 0]
    # An entry that can have one value only is 0.
    assert scaled(highest, bounds)["box"].tolist() == [1, 0]
    assert scaled(highest, bounds)["kinds"].tolist() == [1, 1, 0]
    # (10 - -10) / (30 - -10) = 1/2, and 2 of 0 to 4 is 1/2.
    middle = {"box": np.array([10, 4], np.float32), "kinds": np.array([0, 2, 0], np.int32)}
    assert scaled(middle, bounds)["box"][0] == 0.5
    assert scaled(middle, bounds)["kinds"][1] == 0.5


def test_it_can_be_undone() -> None:
    env = TradesEnv(days=2)
    observation, _ = env.reset(seed=13_001)
    bounds: Any = bounds_of(env.observation_space)
    for name, values in scaled(observation, bounds).items():
        lowest, width = bounds[name]
        assert np.allclose(values * width + lowest, observation[name], rtol=1e-6, atol=0.05)


def test_gymnasiums_wrappers_stand_above_and_below_it() -> None:
    env: gym.Env[Any, Any] = ScaleObservation(
        gym.wrappers.TimeLimit(gym.wrappers.FlattenObservation(TradesEnv(days=1)), 3)
    )
    env = gym.wrappers.RecordEpisodeStatistics(FlattenAction(env))
    observation, _ = env.reset(seed=13_002, options={"salt": 1})
    assert isinstance(env.observation_space, spaces.Box)
    assert observation in env.observation_space
    for _ in range(3):
        observation, _, _, cut, info = env.step(0)
        assert observation in env.observation_space
    assert cut
    assert info["episode"]["l"] == 3
    assert env.get_wrapper_attr("action_masks")().shape == (337,)


def test_a_space_without_bounds_is_refused() -> None:
    with pytest.raises(TypeError, match="bounds"):
        bounds_of(spaces.Box(-np.inf, np.inf, (2,)))


def test_gymnasiums_checker_has_nothing_to_say() -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        warnings.filterwarnings("ignore", message=".*different from the unwrapped version")
        check_env(ScaleObservation(TradesEnv(days=1)), skip_render_check=True)
