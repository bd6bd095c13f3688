"""What Gymnasium asks of a vector environment: `make_vec`, spaces, its wrappers, rendering."""

from __future__ import annotations

import math
import warnings
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any

import gymnasium as gym
import numpy as np
import pytest
from gymnasium.vector import AutoresetMode, SyncVectorEnv, VectorEnv, VectorWrapper
from gymnasium.wrappers import vector as wrappers

import tradesbench_gym  # noqa: F401 - registers the environment
from tests.envs.batches import (
    MODES,
    NAME,
    Twins,
    any_actions,
    assert_same,
    batch_of,
    reject_all,
    world,
)
from tests.envs.playing import in_another_process
from tradesbench_gym.envs import TradesEnv, TradesVectorEnv

each_mode = pytest.mark.parametrize("mode", MODES, ids=lambda mode: mode.name)
Wrap = Callable[[VectorEnv[Any, Any, Any]], VectorEnv[Any, Any, Any]]


if TYPE_CHECKING:
    _Wrapper = VectorWrapper[Any, Any, Any, Any, Any]
else:  # generic from Gymnasium 1.3 on only
    _Wrapper = VectorWrapper


@pytest.fixture(autouse=True)
def _warnings_are_errors() -> Iterator[None]:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        yield


# -- make_vec --


def test_make_vec_gives_the_native_batch_and_hands_arguments_on() -> None:
    batch = gym.make_vec(
        NAME,
        num_envs=3,
        days=2,
        observation="planned",
        strict=True,
        render_mode="ansi",
        autoreset_mode="SameStep",
        copy=False,
        threads=1,
    )
    assert isinstance(batch, TradesVectorEnv)
    assert batch.num_envs == 3
    assert (batch.strict, batch.render_mode) == (True, "ansi")
    assert batch.metadata["autoreset_mode"] is AutoresetMode.SAME_STEP
    assert "slot_slack" in batch.single_observation_space.spaces  # type: ignore[attr-defined]
    observation, _ = batch.reset(seed=1)
    assert observation["time"][:, 3].tolist() == [2, 2, 2]
    assert batch.step(reject_all(3))[0]["cash"] is batch.step(reject_all(3))[0]["cash"]
    batch.close()


def test_a_spec_makes_the_same_batch_again() -> None:
    batch = gym.make_vec(NAME, num_envs=4, days=1)
    assert batch.spec is not None
    again = gym.make_vec(batch.spec)
    assert isinstance(again, TradesVectorEnv)
    assert (again.num_envs, repr(again)) == (4, f"TradesVectorEnv({NAME}, num_envs=4)")
    assert_same(again.reset(seed=3), batch.reset(seed=3))


@pytest.mark.parametrize("mode", MODES, ids=lambda mode: mode.name)
def test_make_vec_of_single_environments_gives_the_same(mode: AutoresetMode) -> None:
    many = gym.make_vec(
        NAME, 3, vectorization_mode="sync", vector_kwargs={"autoreset_mode": mode}, days=1
    )
    assert isinstance(many, SyncVectorEnv)
    batch = gym.make_vec(NAME, 3, autoreset_mode=mode, days=1)
    assert_same(batch.reset(seed=10_000), many.reset(seed=10_000))
    batch.action_space.seed(4)
    for _ in range(30):
        actions = batch.action_space.sample()
        mine = batch.step(actions)
        assert_same(mine, many.step(actions))
        if mode is AutoresetMode.DISABLED and mine[2].any():
            break
    many.close()
    batch.close()


def test_worker_processes_give_what_the_batch_gives() -> None:
    apart = gym.make_vec(
        NAME, 2, vectorization_mode="async", vector_kwargs={"context": "spawn"}, days=1
    )
    batch = gym.make_vec(NAME, 2, days=1)
    try:
        assert_same(batch.reset(seed=10_000), apart.reset(seed=10_000))
        batch.action_space.seed(5)
        for _ in range(30):
            actions = batch.action_space.sample()
            assert_same(batch.step(actions), apart.step(actions))
    finally:
        apart.close()


def test_a_fresh_process_makes_it_by_module_and_name() -> None:
    script = (
        "import gymnasium as gym; batch = gym.make_vec('tradesbench_gym:TradesBench-v0', 2);"
        "print(type(batch).__name__, batch.reset(seed=3)[1]['run_seed'].tolist())"
    )
    found = in_another_process(script, "-W", "error::UserWarning")
    assert found == "TradesVectorEnv [3, 4]"


# -- spaces --


@pytest.mark.parametrize("observation", ["desk", "planned"])
def test_spaces_are_those_of_single_environments(observation: str) -> None:
    twins = Twins(4, "shipped", observation=observation)
    single = TradesEnv(observation=observation)
    for name in ("action_space", "observation_space"):
        assert getattr(twins.batch, name) == getattr(twins.likeness, name)
        assert getattr(twins.batch, f"single_{name}") == getattr(single, name)
    assert twins.batch.metadata["render_modes"] == ["ansi", "rgb_array"]


@each_mode
@pytest.mark.parametrize("observation", ["desk", "planned"])
def test_what_is_shown_lies_in_its_space_and_what_is_sampled_is_an_action(
    mode: AutoresetMode, observation: str
) -> None:
    batch = TradesVectorEnv(5, days=2, observation=observation, autoreset_mode=mode)
    batch.action_space.seed(1)
    seen, info = batch.reset(seed=1)
    ends = 0
    for _ in range(50):
        assert batch.observation_space.contains(seen)
        assert set(np.unique(info["action_mask"])) <= {0, 1}
        seen, rewards, ended, truncated, info = batch.step(batch.action_space.sample())
        ends += int(ended.sum())
        assert rewards.dtype == np.float64
        assert ended.dtype == truncated.dtype == np.bool_
        assert rewards.shape == ended.shape == truncated.shape == (5,)
        assert not truncated.any()
        for last in info.get("final_obs", ()):
            assert last is None or batch.single_observation_space.contains(last)
        if mode is AutoresetMode.DISABLED and ended.any():
            seen, info = batch.reset(options={"reset_mask": ended})
    assert ends >= 5


def test_masks_are_the_legal_ones_in_both_their_forms() -> None:
    batch = batch_of(6, days=2)
    _, info = batch.reset(seed=4)
    for _ in range(40):
        masks = batch.action_masks()
        assert (masks.shape, masks.dtype) == ((6, 337), np.dtype(np.bool_))
        assert masks[:, 0].all()
        assert (masks[:, 1:] == info["action_mask"].reshape(6, -1)).all()
        info = batch.step(reject_all(6))[4]


# -- wrappers --


def _skip_where_gymnasium_differs(mode: AutoresetMode) -> None:
    release = tuple(int(number) for number in gym.__version__.split(".")[:2])
    if mode is AutoresetMode.SAME_STEP and release < (1, 3):
        pytest.skip("Gymnasium's own wrappers take or count this mode otherwise before 1.3")


class _Limit(_Wrapper):
    """As `TimeLimit` for a single environment: cuts runs short and begins others."""

    def __init__(self, env: VectorEnv[Any, Any, Any], steps: int = 7) -> None:
        super().__init__(env)
        self._most, self._steps = steps, np.zeros(env.num_envs, np.int64)

    def step(self, actions: Any) -> tuple[Any, Any, Any, Any, dict[str, Any]]:
        seen, rewards, ended, _, info = self.env.step(actions)
        self._steps += 1
        cut = self._steps >= self._most
        if (over := cut | ended).any():
            self._steps[over] = 0
            seen, fresh = self.env.reset(options={"reset_mask": over})
            info = {"step": info, "reset": fresh}
        return seen, rewards, ended, cut, info


WRAPPERS: dict[str, Wrap] = {
    "DictInfoToList": wrappers.DictInfoToList,
    "FlattenObservation": wrappers.FlattenObservation,
    "FilterObservation": lambda env: wrappers.FilterObservation(env, ["cash", "call"]),
    "ClipReward": lambda env: wrappers.ClipReward(env, -100, 100),
    "NormalizeReward": wrappers.NormalizeReward,
    "TransformAction": lambda env: wrappers.TransformAction(env, lambda actions: actions * 1),
    "several": lambda env: wrappers.DictInfoToList(
        wrappers.FlattenObservation(wrappers.ClipReward(env, 0, 500))
    ),
}
OF_OBSERVATIONS = {"FlattenObservation", "FilterObservation", "several"}


@each_mode
@pytest.mark.parametrize("wrapper", WRAPPERS)
def test_gymnasiums_wrappers_make_of_it_what_they_make_of_single_environments(
    wrapper: str, mode: AutoresetMode
) -> None:
    _skip_where_gymnasium_differs(mode)
    twins, random = Twins(4, "shipped", mode, days=1), np.random.default_rng(7)
    if mode is AutoresetMode.SAME_STEP and wrapper in OF_OBSERVATIONS:
        for env in (twins.batch, twins.likeness):
            with pytest.raises(ValueError, match="SAME_STEP"):  # Gymnasium's own word
                WRAPPERS[wrapper](env)
        return
    mine, theirs = (WRAPPERS[wrapper](env) for env in (twins.batch, twins.likeness))
    assert mine.observation_space == theirs.observation_space
    assert_same(mine.reset(seed=2), theirs.reset(seed=2))
    for _ in range(40):
        actions = any_actions(random, twins.masks())
        shown = mine.step(actions)
        assert_same(shown, theirs.step(actions))
        assert mine.observation_space.contains(shown[0])
        if mode is AutoresetMode.DISABLED and shown[2].any():
            options = [{"reset_mask": shown[2]}, {"reset_mask": shown[2]}]
            assert_same(mine.reset(options=options[0]), theirs.reset(options=options[1]))


def test_a_limit_of_steps_cuts_runs_short_and_begins_others() -> None:
    twins, random = Twins(4, "tiny", AutoresetMode.DISABLED, days=1), np.random.default_rng(7)
    mine, theirs = _Limit(twins.batch), _Limit(twins.likeness)
    assert_same(mine.reset(seed=2), theirs.reset(seed=2))
    cut = 0
    for _ in range(60):
        actions = any_actions(random, twins.masks())
        shown = mine.step(actions)
        assert_same(shown, theirs.step(actions))
        cut += int(shown[3].sum())
    assert cut >= 16


@each_mode
def test_recorded_statistics_hold_the_profit_and_the_steps_of_each_run(
    mode: AutoresetMode,
) -> None:
    _skip_where_gymnasium_differs(mode)
    batch = batch_of(4, days=1, autoreset_mode=mode)
    env = wrappers.RecordEpisodeStatistics(batch)
    env.reset(seed=2)
    random, told = np.random.default_rng(7), 0
    for _ in range(60):
        _, _, ended, _, info = env.step(any_actions(random, batch.action_masks()))
        assert ("episode" in info) == ended.any()
        if not ended.any():
            continue
        results = info["final_info"]["results"] if "final_info" in info else info["results"]
        for i in np.flatnonzero(info["_episode"]):
            told += 1
            assert math.isclose(info["episode"]["r"][i], results["profit"][i] / 100)
            assert info["episode"]["l"][i] == results["calls"][i]
        if mode is AutoresetMode.DISABLED:
            env.reset(options={"reset_mask": ended})
    assert told >= 12
    assert len(env.return_queue) == told


# -- looking --


def test_each_environment_has_its_board() -> None:
    arguments = world("tiny") | {"days": 1, "render_mode": "ansi"}
    batch, single = TradesVectorEnv(3, **arguments), TradesEnv(**arguments)
    batch.reset(seed=5)
    for _ in range(4):
        boards = batch.render()
        batch.step(reject_all(3))
    assert boards is not None
    assert len(boards) == len(set(boards)) == 3
    single.reset(seed=6)
    for _ in range(3):
        single.step(reject_all(1)[0])
    assert boards[1] == single.render()


def test_rendering_without_a_mode_says_what_to_do_and_shows_nothing() -> None:
    batch = batch_of(2, days=1)
    batch.reset(seed=1)
    with pytest.warns(UserWarning, match="render_mode"):
        assert batch.render() is None


def test_looking_changes_nothing_that_is_shown_later() -> None:
    looked, left = batch_of(3, days=1, render_mode="ansi"), batch_of(3, days=1)
    looked.reset(seed=4)
    left.reset(seed=4)
    for _ in range(20):
        looked.render()
        looked.action_masks()
        assert_same(looked.step(reject_all(3)), left.step(reject_all(3)))
