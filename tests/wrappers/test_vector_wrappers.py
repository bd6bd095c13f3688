"""The wrappers for vector environments give, run by run, what those for one environment give."""

from __future__ import annotations

from typing import Any

import gymnasium as gym
import numpy as np
import pytest
from gymnasium.vector import AutoresetMode, SyncVectorEnv, VectorEnv
from gymnasium.wrappers.vector import FlattenObservation, RecordEpisodeStatistics

import tradesbench_gym  # noqa: F401 - registers the environment
from tradesbench_gym import wrappers
from tradesbench_gym.envs import TradesEnv
from tradesbench_gym.wrappers import vector

Many = VectorEnv[Any, Any, Any]
NEXT, SAME = AutoresetMode.NEXT_STEP, AutoresetMode.SAME_STEP


def native(mode: AutoresetMode = NEXT, count: int = 3, **arguments: Any) -> Many:
    return gym.make_vec(
        "TradesBench-v0", num_envs=count, autoreset_mode=mode, **{"days": 2, **arguments}
    )


def all_three(env: Any, kinds: Any) -> Any:
    return kinds.ScaleObservation(kinds.FlattenAction(kinds.QualifiedMask(env)))


def test_three_runs_at_once_are_three_runs_one_by_one() -> None:
    many: Any = all_three(native(), vector)
    single: list[Any] = [all_three(TradesEnv(days=2), wrappers) for _ in range(3)]
    assert many.single_action_space == single[0].action_space
    assert many.single_observation_space == single[0].observation_space
    seen, infos = many.reset(seed=14_000)
    alone = [env.reset(seed=14_000 + i) for i, env in enumerate(single)]
    random = np.random.default_rng(1)
    for _ in range(30):
        masks = many.action_masks()
        for i, (observation, info) in enumerate(alone):
            assert all(np.array_equal(seen[key][i], observation[key]) for key in observation)
            assert np.array_equal(infos["action_mask"][i], info["action_mask"])
            assert np.array_equal(masks[i], single[i].get_wrapper_attr("action_masks")())
        actions = np.array([random.choice(np.flatnonzero(row)) for row in masks])
        seen, rewards, _, _, infos = many.step(actions)
        stepped = [env.step(action) for env, action in zip(single, actions, strict=True)]
        assert rewards.tolist() == [outcome[1] for outcome in stepped]
        alone = [(outcome[0], outcome[4]) for outcome in stepped]


@pytest.mark.parametrize("mode", list(AutoresetMode))
def test_spaces_hold_what_is_shown_in_every_mode(mode: AutoresetMode) -> None:
    many: Any = all_three(native(mode), vector)
    seen, _ = many.reset(seed=[14_000, None, 14_002], options={"salt": 3})
    for _ in range(70):
        assert seen in many.observation_space
        seen, _, ended, _, infos = many.step(np.zeros(3, np.int64))
        for i in np.flatnonzero(infos.get("_final_obs", [])):
            assert infos["final_obs"][i] in many.single_observation_space
        if mode is AutoresetMode.DISABLED and ended.any():
            seen, _ = many.reset(options={"reset_mask": ended})
    many.close()


def test_the_last_observation_of_a_run_is_scaled_too() -> None:
    many: Any = vector.ScaleObservation(native(SAME))
    many.reset(seed=14_000)
    for _ in range(70):
        *_, infos = many.step(np.zeros((3, 4), np.int64))
        if "final_obs" in infos:
            last = infos["final_obs"][int(np.flatnonzero(infos["_final_obs"])[0])]
            assert last["call"][0] == 0
            assert last["time"][1] < 1  # of 48 hours
            return
    raise AssertionError("no run of two days ended in 70 steps")


def test_gymnasiums_wrappers_stand_above_and_below() -> None:
    many: Any = vector.FlattenAction(
        vector.ScaleObservation(FlattenObservation(vector.QualifiedMask(native())))
    )
    counted = RecordEpisodeStatistics(many)
    seen, infos = counted.reset(seed=14_000)
    assert seen in counted.observation_space
    lengths = []
    for _ in range(80):
        assert np.array_equal(many.action_masks()[:, 1:], infos["action_mask"].reshape(3, -1))
        seen, _, _, _, infos = counted.step(np.zeros(3, np.int64))
        if "episode" in infos:
            lengths += infos["episode"]["l"][infos["_episode"]].tolist()
    assert len(lengths) >= 3
    assert min(lengths) > 15  # two days of about 18 calls


def test_attributes_are_found_through_layers() -> None:
    many: Any = all_three(native(), vector)
    assert many.has_wrapper_attr("action_masks")
    assert many.get_wrapper_attr("strict") is False
    assert not many.has_wrapper_attr("no_such_thing")
    with pytest.raises(AttributeError, match="no_such_thing"):
        many.get_wrapper_attr("no_such_thing")


def test_gymnasiums_own_batch_is_taken_as_well() -> None:
    ours: Any = all_three(native(count=2), vector)
    theirs: Any = all_three(SyncVectorEnv([lambda: TradesEnv(days=2)] * 2), vector)
    ours.reset(seed=14_000)
    theirs.reset(seed=14_000)
    for _ in range(10):
        assert np.array_equal(ours.action_masks(), theirs.action_masks())
        first, second = (env.step(np.zeros(2, np.int64)) for env in (ours, theirs))
        assert all(np.array_equal(first[0][key], second[0][key]) for key in first[0])
        assert np.array_equal(first[4]["action_mask"], second[4]["action_mask"])


def test_another_environment_is_refused() -> None:
    with pytest.raises(TypeError, match="TradesBench-v0"):
        vector.FlattenAction(gym.make_vec("CartPole-v1", num_envs=2))
    with pytest.raises(TypeError, match="TradesBench-v0"):
        vector.QualifiedMask(gym.make_vec("CartPole-v1", num_envs=2))
