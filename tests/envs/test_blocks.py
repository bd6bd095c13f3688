"""Whoever gets an observation owns it, although the memory of what nobody holds is used again."""

from __future__ import annotations

import copy
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from tests.envs.playing import any_action, episode, frozen
from tradesbench_gym.envs import TradesEnv

Holding = Callable[[dict[str, Any], dict[str, Any]], Any]
HOLDS: dict[str, Holding] = {
    "the dictionary": lambda seen, _: seen,
    "one array": lambda seen, _: seen["cash"],
    "a view of one": lambda seen, _: seen["open_jobs"].reshape(-1, 8)[3:7, ::2],
    "another type's view": lambda seen, _: seen["time"].view(np.uint8),
    "its memory": lambda seen, _: memoryview(seen["high"]),
    "the mask": lambda _, info: info["action_mask"],
    "a row of the mask": lambda _, info: info["action_mask"][1, 2],
}


def content(held: Any) -> Any:
    return held.tobytes() if isinstance(held, memoryview) else frozen(held)


@pytest.mark.parametrize("hold", HOLDS)
def test_what_somebody_holds_never_changes(hold: str) -> None:
    env, kept = TradesEnv(), []
    for step, moment in enumerate(episode(env, 31, any_action)):
        if step % 3 == 0:
            held = HOLDS[hold](moment.observation, moment.info)
            kept.append((held, content(held)))
    assert len(kept) > 20
    for held, before in kept:
        assert content(held) == before


def test_what_an_owner_writes_is_in_no_later_observation() -> None:
    clean = [frozen(moment.observation) for moment in episode(TradesEnv(), 32, any_action)]
    found = []
    for moment in episode(TradesEnv(), 32, any_action):
        found.append(frozen(moment.observation))
        for array in (*moment.observation.values(), moment.info["action_mask"]):
            array[...] = 77
        moment.observation.clear()
    assert found == clean


def test_memory_that_nobody_holds_is_used_again() -> None:
    env, seen = TradesEnv(), set()
    for moment in episode(env, 33, any_action):
        seen.add(moment.observation["cash"].ctypes.data)
    assert len(seen) <= 4


def test_a_copy_of_an_environment_shares_no_memory_with_it() -> None:
    env = TradesEnv()
    env.reset(seed=34)
    twin = copy.deepcopy(env)
    for _ in range(4):
        action = np.array([0, 0, 0, 0])
        mine, other = env.step(action)[0], twin.step(action)[0]
        assert frozen(mine) == frozen(other)
        assert not any(np.shares_memory(mine[name], other[name]) for name in mine)
