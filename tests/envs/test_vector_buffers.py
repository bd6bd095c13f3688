"""Whoever gets an observation of the native batch owns it; `copy=False` gives that up for speed."""

from __future__ import annotations

import copy
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest
from gymnasium.vector import AutoresetMode

from tests.envs.batches import (
    MODES,
    any_actions,
    assert_same,
    batch_of,
    reject_all,
    whole_state,
)
from tradesbench_gym.envs import TradesVectorEnv

each_mode = pytest.mark.parametrize("mode", MODES, ids=lambda mode: mode.name)
Shown = tuple[Any, ...]
HOLDS: dict[str, Callable[[Shown], Any]] = {
    "the observation": lambda shown: shown[0],
    "one array": lambda shown: shown[0]["cash"],
    "one run's row": lambda shown: shown[0]["open_jobs"][3],
    "a view of a view": lambda shown: shown[0]["open_jobs"].reshape(5, -1, 8)[1:4, 3:7, ::2],
    "another type's view": lambda shown: shown[0]["time"].view(np.uint8),
    "its memory": lambda shown: memoryview(shown[0]["high"]),
    "an iterator over it": lambda shown: shown[0]["counts"].flat,
    "the mask": lambda shown: shown[4]["action_mask"],
    "a row of the mask": lambda shown: shown[4]["action_mask"][2, 1, 2],
    "rewards and flags": lambda shown: shown[1:4],
    "the info": lambda shown: shown[4],
    "all of it": lambda shown: shown,
}


def _content(held: Any) -> Any:
    if isinstance(held, memoryview):
        return held.tobytes()
    return np.array(held) if isinstance(held, np.flatiter) else copy.deepcopy(held)


def _moments(batch: TradesVectorEnv, steps: int) -> Iterator[Shown]:
    """A reset and so many steps, with more resets where autoreset is disabled.

    It lets go of what it yields, so that nothing but the test holds it.
    """
    random = np.random.default_rng(6)
    yield _as_shown(batch, *batch.reset(seed=6))
    for _ in range(steps):
        made = [batch.step(any_actions(random, batch.action_masks()))]
        ended = made[0][2].copy()
        yield made.pop()
        if batch.autoreset_mode is AutoresetMode.DISABLED and ended.any():
            yield _as_shown(batch, *batch.reset(options={"reset_mask": ended}))


def _as_shown(batch: TradesVectorEnv, observation: Any, info: Any) -> Shown:
    """What a reset shows, in the form of a step."""
    nothing = np.zeros(batch.num_envs, np.bool_)
    return observation, nothing.astype(float), nothing, nothing.copy(), info


@each_mode
@pytest.mark.parametrize("hold", HOLDS)
def test_what_somebody_holds_never_changes(hold: str, mode: AutoresetMode) -> None:
    kept, steps, ends = [], 0, 0
    batch = batch_of(5, days=1, autoreset_mode=mode)
    for shown in _moments(batch, 45):
        steps, ends = steps + 1, ends + int(shown[2].sum())
        if steps % 3 == 0 or shown[2].any():
            held = HOLDS[hold](shown)
            kept.append((held, _content(held)))
        del shown  # or the loop itself would hold the last one
    assert len(kept) >= 15
    assert ends >= 10
    for held, before in kept:
        assert_same(_content(held), before)


def test_what_threads_filled_never_changes_either() -> None:
    batch = batch_of(140, days=1, threads=2)
    kept = [(shown, copy.deepcopy(shown)) for shown in _moments(batch, 12)]
    batch.close()
    for shown, before in kept:
        assert_same(shown, before)


@each_mode
def test_what_an_owner_writes_is_in_nothing_that_comes_later(mode: AutoresetMode) -> None:
    arguments: dict[str, Any] = {"days": 1, "autoreset_mode": mode, "observation": "planned"}
    clean = [copy.deepcopy(shown) for shown in _moments(batch_of(5, **arguments), 40)]
    batch, found = batch_of(5, **arguments), []
    for shown in _moments(batch, 40):
        found.append(copy.deepcopy(shown))
        masks = batch.action_masks()
        _overwrite(shown)
        assert_same(batch.action_masks(), masks)
        _overwrite(masks)
    assert_same(found, clean)


def _overwrite(value: Any) -> None:
    """Write nonsense into every array, and empty every dictionary."""
    if isinstance(value, np.ndarray):
        for inner in value.flat if value.dtype == object else ():
            _overwrite(inner)
        value[...] = 1 if value.dtype != object else "nonsense"
    elif isinstance(value, dict):
        for inner in value.values():
            _overwrite(inner)
        value.clear()
    elif isinstance(value, tuple):
        for inner in value:
            _overwrite(inner)


def test_a_mask_of_actions_is_the_caller_s_own() -> None:
    batch = batch_of(3, days=1)
    batch.reset(seed=1)
    first, second = batch.action_masks(), batch.action_masks()
    assert not np.shares_memory(first, second)
    assert first.flags.owndata
    assert first.flags.writeable


def test_actions_and_options_are_left_as_they_were_given() -> None:
    batch = batch_of(3, days=1)
    seeds, options = [4, None, 5], {"salt": 3, "reset_mask": np.array([True, False, True])}
    before = copy.deepcopy((seeds, options))
    batch.reset(seed=1)
    batch.reset(seed=seeds, options=options)
    assert_same((seeds, options), before)
    actions = np.array([[1, 9, 9, 9], [5, 0, 0, 0], [1, 0, 1, 1]])
    given = actions.copy()
    batch.step(given)
    assert_same(given, actions)


def test_what_the_caller_does_with_his_arrays_later_is_his_own_business() -> None:
    """Neither the mask of a reset nor a list of seeds nor actions are kept."""
    batch, mask = batch_of(3, days=1), np.array([True, True, True])
    batch.reset(seed=[1, 2, 3], options={"reset_mask": mask})
    actions, state = reject_all(3), whole_state(batch)
    mask[:] = False
    assert whole_state(batch) == state
    batch.step(actions)
    state = whole_state(batch)
    actions[:] = 7
    assert whole_state(batch) == state


def test_memory_that_nobody_holds_is_used_again() -> None:
    batch, seen = batch_of(5, days=1), set()
    for shown in _moments(batch, 40):
        seen.add(shown[0]["cash"].ctypes.data)
    assert len(seen) <= 4


@each_mode
def test_without_copies_the_next_step_overwrites_the_same_memory(mode: AutoresetMode) -> None:
    copied = batch_of(5, days=1, autoreset_mode=mode)
    reused = batch_of(5, days=1, autoreset_mode=mode, copy=False)
    places, firsts = set(), []
    for theirs, mine in zip(_moments(copied, 40), _moments(reused, 40), strict=True):
        assert_same(mine, theirs)
        places.add(tuple(array.ctypes.data for array in mine[0].values()))
        firsts.append(mine[0])
    assert len(places) == 1
    assert_same(firsts[0], firsts[-1])


@pytest.mark.parametrize("held", [True, False], ids=["copy=True", "copy=False"])
@pytest.mark.parametrize("count", [1, 5])
def test_a_last_observation_shares_no_memory_with_the_one_after_the_reset(
    held: bool, count: int
) -> None:
    batch = batch_of(count, days=1, autoreset_mode=AutoresetMode.SAME_STEP, copy=held)
    ends, kept = 0, []
    for observation, _, ended, _, info in _moments(batch, 40):
        if not ended.any():
            continue
        last, told = info["final_obs"], info["final_info"]
        assert not np.shares_memory(told["action_mask"], info["action_mask"])
        for i in np.flatnonzero(ended):
            ends += 1
            assert last[i]["call"][0] == 0
            assert not told["action_mask"][i].any()
            for name, array in last[i].items():
                assert array.flags.writeable
                assert not np.shares_memory(array, observation[name])
        kept.append(((last, told), copy.deepcopy((last, told))))
    assert ends >= 2 * count
    for final, before in kept:  # with copy=False too: it is no buffer of the batch
        assert_same(final, before)
