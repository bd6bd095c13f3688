"""How runs are numbered, drawn and sealed, and that a number means the same run everywhere."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import gymnasium as gym
import numpy as np
import pytest
from gymnasium.utils.seeding import np_random

from tests.envs.playing import (
    assert_one_sentence,
    episode,
    fingerprint,
    frozen,
    in_another_process,
)
from tradesbench_gym.envs import TradesEnv
from tradesbench_gym.errors import ActionError, StateError, TradesBenchError


def _run_seed(env: TradesEnv, **arguments: Any) -> int:
    seed = env.reset(**arguments)[1]["run_seed"]
    assert type(seed) is int
    return seed


@pytest.mark.parametrize("seed", [0, 5, 45, 10_000, 2**31, 2**63, 2**64 - 1])
def test_a_seed_is_the_number_of_the_run(seed: int) -> None:
    env = TradesEnv(days=1)
    assert _run_seed(env, seed=seed) == seed
    assert env.simulation.record["seed"] == seed
    *_, last = episode(env, seed)
    assert last.info["run_seed"] == seed
    assert "seed" not in last.info["results"]


def test_the_same_seed_is_the_same_run_however_often_it_is_played() -> None:
    env, other = TradesEnv(observation="planned"), TradesEnv(observation="planned")
    first = [frozen(tuple(moment)) for moment in episode(env, 7)]
    list(episode(env, 8))
    assert [frozen(tuple(moment)) for moment in episode(env, 7)] == first
    assert [frozen(tuple(moment)) for moment in episode(other, 7)] == first


def test_different_seeds_are_different_runs() -> None:
    env = TradesEnv()
    seen = {str(frozen(env.reset(seed=seed)[0])) for seed in range(20)}
    assert len(seen) == 20


CHILD = """
from tests.envs.playing import fingerprint
print(fingerprint(9, days=2, observation="planned"))
"""


@pytest.mark.parametrize(
    ("flags", "environment"),
    [
        (
            ("-W", "error::RuntimeWarning", "-W", "ignore:The map is unpacked into memory"),
            {"NUMBA_DISABLE_JIT": "1"},
        ),
        ((), {"PYTHONHASHSEED": "1"}),
    ],
    ids=["without JIT", "under another hash seed"],
)
def test_a_run_is_the_same_to_the_bit_in_another_process(
    flags: tuple[str, ...], environment: dict[str, str]
) -> None:
    wanted = fingerprint(9, days=2, observation="planned")
    assert in_another_process(CHILD, *flags, **environment) == wanted


def test_unseeded_runs_are_numbered_from_ten_thousand_up() -> None:
    env = TradesEnv(days=1)
    seeds = [_run_seed(env) for _ in range(200)]
    assert min(seeds) >= 10_000
    assert max(seeds) < 2**31
    assert len(set(seeds)) == 200


def test_unseeded_runs_are_drawn_from_np_random_one_draw_each() -> None:
    env = TradesEnv(days=1)
    env.reset(seed=77)
    random, _ = np_random(77)
    drawn = random.integers(10_000, 2**31, 5).tolist()
    assert [_run_seed(env) for _ in range(5)] == drawn


def test_after_a_seed_the_unseeded_runs_follow_reproducibly() -> None:
    def series(env: TradesEnv) -> list[int]:
        return [_run_seed(env, seed=3), *(_run_seed(env) for _ in range(4))]

    first = series(TradesEnv(days=1))
    env = TradesEnv(days=1)
    list(episode(env, 12))
    assert series(env) == first
    assert series(TradesEnv(days=1, observation="planned")) == first


def test_environments_that_nobody_seeded_play_different_runs() -> None:
    assert len({_run_seed(TradesEnv(days=1)) for _ in range(10)}) == 10


def test_playing_a_run_draws_nothing_from_np_random() -> None:
    env = TradesEnv(days=2)
    env.reset(seed=4)
    before = env.np_random.bit_generator.state
    list(episode(env, 4))
    assert env.np_random.bit_generator.state == before


def test_a_salt_seals_a_run() -> None:
    env = TradesEnv()
    shown = [
        frozen(env.reset(seed=5, options=options)[0])
        for options in (None, {}, {"salt": 0}, {"salt": 1}, {"salt": 2**64 - 1}, {"salt": 1})
    ]
    assert shown[0] == shown[1] == shown[2]
    assert shown[3] == shown[5]
    assert len({str(seen) for seen in shown}) == 3
    assert _run_seed(env, seed=5, options={"salt": 9}) == 5
    assert env.simulation.record["salt"] == 9


def test_a_salt_seals_one_run_only() -> None:
    env = TradesEnv()
    open_run = frozen(env.reset(seed=5)[0])
    env.reset(seed=5, options={"salt": 3})
    assert frozen(env.reset(seed=5)[0]) == open_run


BAD_SEEDS: list[Any] = [-1, 2**64, 1.5, "5", [1], np.float64(3)]
BAD_OPTIONS: list[Any] = [
    {"salt": -1},
    {"salt": 2**64},
    {"salt": "secret"},
    {"salt": None},
    {"salt": True},
    {"salt": 1.0},
    {"seed": 5},
    {"salt": 1, "pepper": 2, "sugar": 3},
    {"": 0},
]


def _alternating(env: TradesEnv) -> Any:
    return frozen([env.observe(), env.step(np.array([1, 0, 1, 2])), env.step(np.zeros(4, int))])


@pytest.mark.parametrize("seed", BAD_SEEDS, ids=repr)
def test_a_seed_that_is_no_64_bit_number_is_refused_and_the_run_goes_on(seed: Any) -> None:
    env, twin = TradesEnv(), TradesEnv()
    env.reset(seed=1)
    twin.reset(seed=1)
    with pytest.raises((StateError, gym.error.Error)) as caught:
        env.reset(seed=seed)
    if isinstance(caught.value, TradesBenchError):
        assert_one_sentence(caught.value)
        assert "seed" in caught.value.message
    assert _alternating(env) == _alternating(twin)


@pytest.mark.parametrize("options", BAD_OPTIONS, ids=repr)
def test_an_option_that_is_unknown_or_wrong_is_refused_and_the_run_goes_on(options: Any) -> None:
    env, twin = TradesEnv(), TradesEnv()
    env.reset(seed=1)
    twin.reset(seed=1)
    with pytest.raises((ActionError, StateError)) as caught:
        env.reset(seed=2, options=options)
    assert_one_sentence(caught.value)
    assert "salt" in caught.value.message
    assert _alternating(env) == _alternating(twin)


@pytest.mark.parametrize(
    ("seed", "options"), [(2**64, None), (3, {"pepper": 1}), (None, {"salt": -1})]
)
def test_a_refused_reset_changes_no_later_run(seed: int | None, options: Any) -> None:
    env, twin = TradesEnv(), TradesEnv()
    env.reset(seed=1)
    twin.reset(seed=1)
    with pytest.raises(TradesBenchError):
        env.reset(seed=seed, options=options)
    assert env.get_state() == twin.get_state()
    assert _run_seed(env) == _run_seed(twin)


@pytest.mark.parametrize("options", [{1: 2, "a": 3}, 5])
def test_options_that_are_no_table_of_names_are_refused_too(options: Any) -> None:
    with pytest.raises(ActionError) as caught:
        TradesEnv(days=1).reset(seed=1, options=options)
    assert_one_sentence(caught.value)


def test_seeds_are_in_order_as_long_as_nobody_seeds_again() -> None:
    env = TradesEnv(days=1)
    env.reset(seed=1)
    ones = [_run_seed(env) for _ in range(3)]
    env.reset(seed=2)
    twos = [_run_seed(env) for _ in range(3)]
    assert not set(ones) & set(twos)
    assert all(before != after for before, after in pairwise(ones + twos))
