"""What Gymnasium asks of an environment: checkers, registration, vectors of it, wrappers."""

from __future__ import annotations

import math
import warnings
from collections.abc import Iterator
from typing import Any

import gymnasium as gym
import numpy as np
import pytest
from gymnasium.utils.env_checker import check_env
from gymnasium.utils.passive_env_checker import env_reset_passive_checker, env_step_passive_checker
from gymnasium.vector import AutoresetMode, SyncVectorEnv
from gymnasium.wrappers import FlattenObservation, RecordEpisodeStatistics, TimeLimit

import tradesbench_gym  # noqa: F401 - registers the environment
from tests.envs.playing import REJECT, frozen, in_another_process
from tradesbench_gym.envs import TradesEnv

NAME = "TradesBench-v0"
MODES = ("desk", "planned")


@pytest.fixture(autouse=True)
def _warnings_are_errors() -> Iterator[None]:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        yield


@pytest.mark.parametrize("observation", MODES)
@pytest.mark.parametrize("render_mode", [None, "ansi"])
def test_gymnasiums_checker_finds_nothing(observation: str, render_mode: str | None) -> None:
    env = gym.make(NAME, observation=observation, render_mode=render_mode)
    check_env(env.unwrapped)


@pytest.mark.parametrize("observation", MODES)
def test_the_passive_checker_is_silent_at_every_step_of_a_random_episode(observation: str) -> None:
    env: gym.Env[Any, Any] = TradesEnv(observation=observation)
    env.action_space.seed(3)
    env_reset_passive_checker(env, seed=3, options={})
    steps, ended = 0, False
    while not ended:
        _, _, ended, _, _ = env_step_passive_checker(env, env.action_space.sample())
        steps += 1
    assert steps > 50


def test_a_random_episode_through_make_warns_of_nothing() -> None:
    env = gym.make(NAME, render_mode="ansi")
    env.action_space.seed(4)
    env.reset(seed=4)
    ended = False
    while not ended:
        _, _, ended, truncated, _ = env.step(env.action_space.sample())
        assert truncated is False
    assert isinstance(env.render(), str)
    env.close()


def test_rendering_without_a_mode_says_what_to_do_and_shows_nothing() -> None:
    env = TradesEnv()
    env.reset(seed=1)
    with pytest.warns(UserWarning, match="render_mode"):
        assert env.render() is None


@pytest.mark.parametrize(
    "code",
    [
        "import tradesbench_gym; env = gym.make('TradesBench-v0')",
        "env = gym.make('tradesbench_gym:TradesBench-v0')",
    ],
    ids=["after the import", "by module and name"],
)
def test_a_fresh_process_makes_it_by_name(code: str) -> None:
    script = f"import gymnasium as gym; {code}; print(env.reset(seed=3)[1]['run_seed'])"
    assert in_another_process(script, "-W", "error::UserWarning") == "3"


def test_make_vec_plays_copies_side_by_side_and_seeds_them_in_order() -> None:
    many = gym.make_vec(NAME, num_envs=3, vectorization_mode="sync", days=2)
    observations, infos = many.reset(seed=20_000)
    assert infos["run_seed"].tolist() == [20_000, 20_001, 20_002]
    assert infos["action_mask"].shape == (3, 4, 14, 6)
    many.action_space.seed(1)
    for _ in range(60):
        observations, rewards, *_, infos = many.step(many.action_space.sample())
        assert many.observation_space.contains(observations)
    assert rewards.shape == (3,)
    many.close()


def test_worker_processes_give_what_one_process_gives() -> None:
    arguments: dict[str, Any] = {"num_envs": 2, "days": 1, "observation": "planned"}
    one = gym.make_vec(NAME, vectorization_mode="sync", **arguments)
    apart = gym.make_vec(
        NAME, vectorization_mode="async", vector_kwargs={"context": "spawn"}, **arguments
    )
    try:
        one.action_space.seed(5)
        assert frozen(one.reset(seed=10_005)[0]) == frozen(apart.reset(seed=10_005)[0])
        for _ in range(40):
            action = one.action_space.sample()
            here, there = one.step(action), apart.step(action)
            assert frozen(here[:4]) == frozen(there[:4])
            assert frozen(here[4]["run_seed"]) == frozen(there[4]["run_seed"])
    finally:
        apart.close()
        one.close()


@pytest.mark.parametrize("mode", list(AutoresetMode), ids=lambda mode: mode.name)
def test_a_vector_environment_begins_the_next_run_by_itself(mode: AutoresetMode) -> None:
    many = SyncVectorEnv([lambda: TradesEnv(days=1)] * 2, autoreset_mode=mode)
    _, infos = many.reset(seed=[31, 32])
    runs, ends = {31, 32}, 0
    for _ in range(120):
        _, _, terminated, _, infos = many.step(np.tile(REJECT, (2, 1)))
        ends += int(terminated.sum())
        if mode == AutoresetMode.DISABLED and terminated.any():
            _, infos = many.reset(options={"reset_mask": terminated})
        runs |= set(np.atleast_1d(infos.get("run_seed", [])).tolist()) - {0}
    assert ends >= 4
    assert len(runs) >= ends
    assert min(runs - {31, 32}) >= 10_000


def test_recorded_statistics_hold_the_profit() -> None:
    inner = TradesEnv(days=3)
    env = RecordEpisodeStatistics(inner)
    env.action_space.seed(2)
    env.reset(seed=2)
    ended = False
    while not ended:
        _, _, ended, _, info = env.step(env.action_space.sample())
    assert math.isclose(info["episode"]["r"], inner.simulation.profit_cents / 100, rel_tol=1e-9)
    assert info["results"]["profit"] == inner.simulation.profit_cents


def test_a_time_limit_truncates_and_the_environment_does_not() -> None:
    env = TimeLimit(TradesEnv(), 5)
    env.reset(seed=1)
    flags = [env.step(REJECT)[2:4] for _ in range(5)]
    assert flags == [(False, False)] * 4 + [(False, True)]
    limited = gym.make(NAME, max_episode_steps=2)
    limited.reset(seed=1)
    assert [limited.step(REJECT)[3] for _ in range(2)] == [False, True]


def test_flattened_observations_lie_in_the_flattened_space() -> None:
    env = FlattenObservation(TradesEnv(observation="planned", days=2))
    env.action_space.seed(6)
    observation, _ = env.reset(seed=6)
    ended = False
    while not ended:
        assert env.observation_space.contains(observation)
        observation, _, ended, _, _ = env.step(env.action_space.sample())
    assert env.observation_space.contains(observation)
