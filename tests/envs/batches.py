"""What the tests of the native batch share: a batch beside as many single environments behind
Gymnasium's own vector environment, actions of every kind, and comparison to the bit.
"""

from __future__ import annotations

import hashlib
from typing import Any, cast

import numpy as np
import numpy.typing as npt
from gymnasium.vector import AutoresetMode, SyncVectorEnv

from tests.envs.playing import Action
from tests.worlds import homes, tiny_map
from tradesbench_gym.company.scenario import load_scenario
from tradesbench_gym.envs import TradesEnv, TradesVectorEnv
from tradesbench_gym.envs.slices import Slices

Flags = npt.NDArray[np.bool_]
MODES = list(AutoresetMode)
NAME = "TradesBench-v0"
WILD = (-(2**63), -(2**40), -1, 0, 1, 2, 3, 4, 5, 6, 13, 14, 99, 2**32, 2**63 - 1)
"""Numbers that an action may hold and no action means, among some that one does."""
# Nobody but an installation customer calls, in one run of two: the others end inside `reset`.
QUIET: dict[str, Any] = {
    "demand.start": 0,
    "demand.other_min": 0,
    "demand.other_max": 0,
    "demand.book_share": 0,
    "demand.installations": {"0": "0.5", "1": "0.5"},
}


def world(name: str) -> dict[str, Any]:
    """Arguments of an environment: the shipped company, or the tiny world, or one nobody calls."""
    if name == "shipped":
        return {}
    changes = QUIET if name == "quiet" else {}
    return {
        "scenario": load_scenario("sunridge").replace({**homes(), **changes}),
        "map": tiny_map(),
    }


def reject_all(count: int) -> Action:
    return np.zeros((count, 4), np.int64)


def legal_offers(random: np.random.Generator, masks: Flags) -> Action:
    """Nine times in ten an offer of the next days that is let out, to each run of a batch."""
    actions = reject_all(len(masks))
    for i, mask in enumerate(masks[:, 1:].reshape(len(masks), 4, 14, 6)):
        legal = np.argwhere(mask[:, :3])
        if len(legal) and random.random() < 0.9:
            actions[i] = 1, *random.choice(legal).tolist()
    return actions


def random_actions(random: np.random.Generator, count: int) -> Action:
    """Uniform over the action space: half rejections, many offers that are not let out."""
    return random.integers(0, (2, 4, 14, 6), (count, 4))


def any_actions(random: np.random.Generator, masks: Flags) -> Action:
    """To each run an action of another kind: let out, random, refused, or without meaning."""
    count = len(masks)
    kinds = np.stack(
        [
            legal_offers(random, masks),
            legal_offers(random, masks),
            random_actions(random, count),
            random.choice(np.array(WILD, np.int64), (count, 4)),
        ]
    )
    return cast("Action", kinds[random.integers(0, len(kinds), count), np.arange(count)])


class Twins:
    """The native batch and its likeness, given the same: whatever they show must be the same."""

    def __init__(
        self,
        count: int,
        world_name: str = "tiny",
        mode: AutoresetMode = AutoresetMode.NEXT_STEP,
        *,
        threads: int = 1,
        **arguments: Any,
    ) -> None:
        arguments = world(world_name) | arguments
        self.batch = TradesVectorEnv(count, autoreset_mode=mode, threads=threads, **arguments)
        self.likeness = SyncVectorEnv([lambda: TradesEnv(**arguments)] * count, autoreset_mode=mode)
        self.count, self.mode = count, mode
        self.steps = self.ends = self.refusals = 0

    def reset(self, seed: Any = None, **options: Any) -> tuple[Any, dict[str, Any]]:
        """Reset both; what the batch showed."""
        given: Any = dict(options) if options else None
        mine = self.batch.reset(seed=seed, options=given)
        assert_same(mine, self.likeness.reset(seed=seed, options=given))
        return mine

    def step(self, actions: Action) -> tuple[Any, ...]:
        """Step both; what the batch showed."""
        mine, theirs = self.batch.step(actions), self.likeness.step(actions)
        assert_same(mine, theirs)
        self.steps += self.count
        self.ends += int(mine[2].sum())
        self.refusals += int(mine[4].get("_error", np.zeros(1)).sum())
        return mine

    def masks(self) -> Flags:
        """Legal actions, which both agree on."""
        masks = self.batch.action_masks()
        assert_same(masks, np.stack(self.likeness.call("action_masks")))
        return masks


def assert_same(mine: Any, theirs: Any, where: str = "it") -> None:
    """Every bit, type, shape and key alike, dictionaries and arrays of objects inside too."""
    assert type(mine) is type(theirs), (where, type(mine), type(theirs))
    if isinstance(mine, dict):
        assert mine.keys() == theirs.keys(), (where, mine.keys() ^ theirs.keys())
        for key in mine:
            assert_same(mine[key], theirs[key], f"{where}[{key!r}]")
    elif isinstance(mine, np.ndarray):
        assert (mine.dtype, mine.shape) == (theirs.dtype, theirs.shape), where
        if mine.dtype == object:
            for i, pair in enumerate(zip(mine.flat, theirs.flat, strict=True)):
                assert_same(*pair, f"{where}[{i}]")
        else:
            assert mine.tobytes() == theirs.tobytes(), (where, np.argwhere(mine != theirs)[:9])
    elif isinstance(mine, tuple | list):
        assert len(mine) == len(theirs), where
        for i, pair in enumerate(zip(mine, theirs, strict=True)):
            assert_same(*pair, f"{where}[{i}]")
    else:
        assert mine == theirs, where


def batch_of(count: int, world_name: str = "tiny", **arguments: Any) -> TradesVectorEnv:
    """A native batch of a world."""
    return TradesVectorEnv(count, **(world(world_name) | arguments))


def whole_state(batch: TradesVectorEnv) -> str:
    """A digest of all that a batch plays on from: its runs, generators, flags and numbers."""
    return hashlib.sha256(repr(_held(batch)).encode()).hexdigest()


def _held(value: Any) -> Any:
    if isinstance(value, np.ndarray):
        return value.dtype.str, value.shape, value.tobytes()
    if isinstance(value, np.random.Generator):
        return value.bit_generator.state
    if isinstance(value, TradesVectorEnv | Slices):
        return _held(value.__getstate__())
    if isinstance(value, dict):
        return {name: _held(inner) for name, inner in value.items()}
    if isinstance(value, list):
        return [_held(inner) for inner in value]
    plain = int | str | bool | None | AutoresetMode
    return value if isinstance(value, plain) else type(value).__name__


def shown_by(batch: TradesVectorEnv, steps: int, seed: int = 1) -> list[Any]:
    """Everything that so many steps of a batch show, with actions of every kind."""
    shown: list[Any] = []
    random = np.random.default_rng(seed)
    for _ in range(steps):
        shown.append(batch.step(any_actions(random, batch.action_masks())))
        if batch.autoreset_mode is AutoresetMode.DISABLED and shown[-1][2].any():
            shown.append(batch.reset(options={"reset_mask": shown[-1][2]}))
    return shown
