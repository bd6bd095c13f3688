"""One number for the whole answer."""

from __future__ import annotations

import warnings

import gymnasium as gym
import numpy as np
import pytest
from gymnasium.utils.env_checker import check_env

from tradesbench_gym.envs import TradesEnv
from tradesbench_gym.wrappers import FlattenAction


def test_every_flat_action_is_one_answer_and_zero_rejects() -> None:
    env = FlattenAction(TradesEnv(days=1))
    assert env.action_space == gym.spaces.Discrete(337)
    answers = {tuple(env.action(np.int64(flat))) for flat in range(337)}
    assert len(answers) == 337
    assert tuple(env.action(np.int64(0))) == (0, 0, 0, 0)
    assert tuple(env.action(np.int64(1))) == (1, 0, 0, 0)
    assert tuple(env.action(np.int64(336))) == (1, 3, 13, 5)


def test_the_mask_says_exactly_which_flat_actions_are_let_out() -> None:
    env = FlattenAction(TradesEnv(days=1, strict=True))
    _, info = env.reset(seed=3)
    legal = env.action_masks()
    assert legal[0]
    for flat in range(1, 337):
        _, technician, ahead, window = env.action(np.int64(flat))
        assert legal[flat] == info["action_mask"][technician, ahead, window]


def test_gymnasiums_checker_has_nothing_to_say() -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        warnings.filterwarnings("ignore", message=".*different from the unwrapped version")
        check_env(FlattenAction(TradesEnv(days=1)), skip_render_check=True)


def test_another_action_space_is_refused() -> None:
    with pytest.raises(TypeError, match="FlattenAction"):
        FlattenAction(gym.make("CartPole-v1"))


@pytest.mark.train
def test_maskable_ppo_learns_on_it() -> None:
    from sb3_contrib import MaskablePPO

    env = FlattenAction(TradesEnv(days=2))
    model = MaskablePPO("MultiInputPolicy", env, n_steps=32, batch_size=16, n_epochs=1)
    model.learn(64)
    action, _ = model.predict(env.reset(seed=1)[0], action_masks=env.action_masks())
    assert env.action_masks()[int(action)]
