"""The native batch shows to the bit what as many single environments show behind Gymnasium's own
vector environment: in every mode, for actions of every kind, whatever is reset when.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from gymnasium.vector import AutoresetMode

from tests.envs.batches import (
    MODES,
    Twins,
    any_actions,
    assert_same,
    legal_offers,
    random_actions,
    reject_all,
)

each_mode = pytest.mark.parametrize("mode", MODES, ids=lambda mode: mode.name)


def _seeds(random: np.random.Generator, count: int) -> Any:
    """Nothing, one number, or a list in which some are to be drawn."""
    several = [None if random.random() < 0.5 else int(n) for n in random.integers(0, 99, count)]
    return [None, int(random.integers(2**40)), several][random.integers(3)]


def _reset_some(twins: Twins, random: np.random.Generator, ended: Any) -> None:
    """Begin anew what has ended and, now and then, something that has not."""
    options: dict[str, Any] = {"reset_mask": ended | (random.random(twins.count) < 0.1)}
    if random.random() < 0.3:
        options["salt"] = int(random.integers(2**63))
    twins.reset(_seeds(random, twins.count), **options)


def _play(twins: Twins, steps: int, seed: int = 1) -> None:
    random = np.random.default_rng(seed)
    twins.reset(20_000)
    for _ in range(steps):
        ended = twins.step(any_actions(random, twins.masks()))[2]
        if twins.mode is AutoresetMode.DISABLED and ended.any():
            _reset_some(twins, random, ended)


@each_mode
@pytest.mark.parametrize(
    ("world", "days", "observation"),
    [
        ("tiny", 1, "desk"),
        ("tiny", 3, "planned"),
        ("quiet", 1, "desk"),
        ("quiet", 4, "planned"),
        ("shipped", 2, "desk"),
        ("shipped", 1, "planned"),
    ],
)
def test_batch_and_single_environments_show_the_same(
    mode: AutoresetMode, world: str, days: int, observation: str
) -> None:
    twins = Twins(7, world, mode, days=days, observation=observation)
    _play(twins, 110)
    assert twins.steps == 770
    assert twins.ends >= 7
    assert world == "quiet" or twins.refusals >= 40


@pytest.mark.slow
@each_mode
@pytest.mark.parametrize("days", [14, 31])
@pytest.mark.parametrize("observation", ["desk", "planned"])
def test_batch_and_single_environments_show_the_same_for_whole_runs(
    mode: AutoresetMode, days: int, observation: str
) -> None:
    twins = Twins(130, "shipped", mode, threads=2, days=days, observation=observation)
    _play(twins, 600)
    assert twins.ends >= 130


@each_mode
@pytest.mark.parametrize("kind", ["legal", "random", "rejecting"])
def test_learners_of_one_kind_see_the_same_in_both(mode: AutoresetMode, kind: str) -> None:
    twins, random = Twins(5, "tiny", mode, days=2), np.random.default_rng(2)
    twins.reset(7)
    for _ in range(60):
        actions = {
            "legal": lambda: legal_offers(random, twins.masks()),
            "random": lambda: random_actions(random, 5),
            "rejecting": lambda: reject_all(5),
        }[kind]()
        ended = twins.step(actions)[2]
        if mode is AutoresetMode.DISABLED and ended.any():
            twins.reset(reset_mask=ended)
    assert twins.ends >= 5
    assert (twins.refusals > 0) == (kind == "random")


@each_mode
@pytest.mark.parametrize("count", [1, 2])
def test_runs_that_all_end_in_one_step_show_the_same_in_both(
    mode: AutoresetMode, count: int
) -> None:
    """Copies of one run end at once, and draw the same next run from the same generator."""
    twins, ends = Twins(count, "shipped", mode, days=1), 0
    twins.reset([3] * count)
    for _ in range(50):
        ended = twins.step(reject_all(count))[2]
        assert ended.all() == ended.any()
        ends += bool(ended.all())
        if mode is AutoresetMode.DISABLED and ended.any():
            twins.reset([4 + ends] * count)
    assert ends >= 2


@each_mode
def test_a_run_that_ends_before_its_first_call_is_still_a_step(mode: AutoresetMode) -> None:
    """Nobody calls in one run of two: its reset plays to its end, and a step then ends it."""
    twins, silent = Twins(6, "quiet", mode, days=1), 0
    random = np.random.default_rng(4)
    observation, _ = twins.reset(0)
    for _ in range(25):
        silent += int((observation["call"][:, 0] == 0).sum())
        observation, _, ended, *_ = twins.step(any_actions(random, twins.masks()))
        if mode is AutoresetMode.DISABLED:
            observation, _ = twins.reset(reset_mask=ended)
    assert silent >= 20
    assert twins.ends >= 50


def test_days_that_pass_inside_a_reset_are_in_the_reward_of_the_next_step() -> None:
    """A day on which nobody calls costs 2,916 on a Thursday, with the pay of four people."""
    twins = Twins(8, "quiet", AutoresetMode.NEXT_STEP, days=1)
    observation, _ = twins.reset(0)
    silent = observation["call"][:, 0] == 0
    assert 0 < silent.sum() < 8
    _, rewards, ended, *_ = twins.step(reject_all(8))
    assert (rewards[silent] == -2_916).all()
    assert ended.all()
    assert (twins.step(reject_all(8))[1] == 0).all()


@each_mode
def test_unseeded_resets_after_a_seeded_one_draw_the_same_runs(mode: AutoresetMode) -> None:
    twins = Twins(4, "tiny", mode, days=1)
    for seed in (11, [5, 6, 7, 8], 2**63, [9, 2**64 - 1, 0, 3]):
        if isinstance(seed, int) and seed < 2**63:
            twins.reset(seed)
        drawn = {int(number) for _ in range(3) for number in twins.reset()[1]["run_seed"]}
        assert len(drawn) == 12
        assert min(drawn) >= 10_000


def test_environments_that_nobody_seeded_play_different_runs() -> None:
    batch = Twins(50, days=1).batch
    numbers = batch.reset()[1]["run_seed"].tolist() + batch.reset()[1]["run_seed"].tolist()
    assert len(set(numbers)) == 100
    assert min(numbers) >= 10_000


def test_a_list_of_seeds_names_some_and_leaves_others_to_be_drawn() -> None:
    twins = Twins(4, days=1)
    twins.reset(3)
    for seeds in ([None, 8, None, 9], [1, None, None, None], (4, 3, 2, None), [None] * 4):
        _, info = twins.reset(seeds)
        for number, found in zip(seeds, info["run_seed"].tolist(), strict=True):
            assert found == number or (number is None and found >= 10_000)


@each_mode
def test_a_reset_of_some_leaves_the_others_where_they_are(mode: AutoresetMode) -> None:
    twins, random = Twins(5, "tiny", mode, days=1), np.random.default_rng(3)
    twins.reset(1)
    for _ in range(100):
        before, _, ended, *_ = twins.step(any_actions(random, twins.masks()))
        mask = random.random(5) < 0.06
        if mode is AutoresetMode.DISABLED:
            mask |= ended
        if mask.any():
            after, info = twins.reset(_seeds(random, 5), reset_mask=mask)
            assert (info["_run_seed"] == mask).all()
            for name in before:
                assert (before[name][~mask] == after[name][~mask]).all()
    assert twins.ends >= 10


def test_a_salt_seals_the_runs_of_one_reset_and_no_later_one() -> None:
    twins = Twins(3, "tiny", AutoresetMode.DISABLED, days=2)
    open_runs, _ = twins.reset(5)
    sealed, _ = twins.reset(5, salt=17)
    assert (sealed["high"] != open_runs["high"]).any(1).all()
    for _ in range(15):
        twins.step(reject_all(3))
    partly, _ = twins.reset(5, salt=17, reset_mask=np.array([True, False, True]))
    assert (partly["high"][[0, 2]] == sealed["high"][[0, 2]]).all()
    again, _ = twins.reset(5)
    assert all((again[name] == open_runs[name]).all() for name in again)


@each_mode
def test_a_reset_in_the_middle_of_everything_forgets_what_was_before(mode: AutoresetMode) -> None:
    twins, random = Twins(4, "tiny", mode, days=1), np.random.default_rng(5)
    first, _ = twins.reset(2)
    for length in (1, 9, 17, 30):
        for _ in range(length):
            ended = twins.step(any_actions(random, twins.masks()))[2]
            if mode is AutoresetMode.DISABLED and ended.any():
                break
        again, _ = twins.reset(2)
        assert all((again[name] == first[name]).all() for name in first)


def test_whole_numbers_of_any_kind_and_layout_are_actions() -> None:
    twins = Twins(3, days=1)
    twins.reset(2)
    plain = np.array([[1, 0, 1, 2], [0, 0, 0, 0], [1, 3, 2, 1]])
    spread = np.zeros((6, 8), np.int64)
    spread[::2, ::2] = plain
    fixed = plain.copy()
    fixed.flags.writeable = False
    kinds: tuple[Any, ...] = (
        plain.astype(np.int8),
        plain.astype(np.uint64),
        plain.astype(">i8"),
        np.asfortranarray(plain),
        np.asfortranarray(plain, np.int32),
        spread[::2, ::2],
        fixed,
        np.broadcast_to(plain[0], (3, 4)),
        np.frombuffer(b"x" + plain.tobytes(), np.int64, 12, 1).reshape(3, 4),
    )
    for given in kinds:
        twins.step(given)
        assert_same(twins.batch.step(given.tolist()), twins.likeness.step(given))
