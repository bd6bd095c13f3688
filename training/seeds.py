"""Which runs are for what: the bench, the held-out test, selection, and training.

    0 to 45       the bench
    100 to 199    the held-out test, looked at once per shipped model; each look is written down
    200 to 299    selection: choosing between models, settings and moments of a training
    10,000 …      training

Trainers seed their environments 0, 1, 2 …, which would be the bench. Whatever they ask for,
training plays runs from 10,000 up: `training_runs` turns a trainer's seed into such, and
`check_training` refuses anything else.
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

import gymnasium as gym
import numpy as np
import numpy.typing as npt
from gymnasium.vector import VectorEnv, VectorWrapper

from tradesbench_gym.errors import TradesBenchError

if TYPE_CHECKING:
    _Wrapper = VectorWrapper[Any, Any, Any, Any, Any]
else:  # generic from Gymnasium 1.3 on only
    _Wrapper = VectorWrapper

BENCH = range(46)
HELD_OUT = range(100, 200)
SELECTION = range(200, 300)
FIRST_TRAINING_RUN = 10_000
LAST_TRAINING_RUN = 2**31
LOOKS = Path("docs") / "looks.md"
"""Where each look at the held-out test is written down, from the folder one works in."""
_LOOKS_HEAD = """# Looks at the held-out test

Runs 100 to 199 are looked at once per shipped model. `tradesbench_gym.training.evaluate` adds a row
before it plays one of them.

| when (UTC) | model | SHA-256 of its file | runs | why |
| --- | --- | --- | --- | --- |
"""


class SeedError(TradesBenchError):
    """Runs that are not for this use."""


def training_runs(seed: int | None, count: int) -> list[int]:
    """Runs to begin training with: `count` different ones from 10,000 up, the same for a seed.

    >>> min(training_runs(0, 1_000)) >= 10_000
    True
    >>> training_runs(7, 2) == training_runs(7, 3)[:2]
    True
    """
    random = np.random.default_rng(seed)
    runs: dict[int, None] = {}
    while len(runs) < count:
        runs[int(random.integers(FIRST_TRAINING_RUN, LAST_TRAINING_RUN))] = None
    return list(runs)


def check_training(runs: Sequence[int] | npt.NDArray[Any]) -> None:
    """Refuse runs below 10,000.

    Raises:
        SeedError: one of them is kept for the bench, the test or selection.

    """
    lowest = int(np.min(runs))
    if lowest < FIRST_TRAINING_RUN:
        raise SeedError(
            f"run {lowest} is not for training: runs below {FIRST_TRAINING_RUN:,} are kept for the "
            "bench, the held-out test and selection",
            code="run_not_for_training",
            field="seed",
        )


def parse_runs(text: str) -> list[int]:
    """Runs as people write them: `200:300` (the end left out), or `200,205`.

    >>> parse_runs("200:203"), parse_runs("7,9")
    ([200, 201, 202], [7, 9])
    """
    try:
        runs: list[int] = []
        for piece in text.split(","):
            first, colon, end = piece.partition(":")
            runs += range(int(first), int(end)) if colon else [int(first)]
    except ValueError:
        runs = []
    if not runs or min(runs) < 0:
        raise SeedError(
            f"runs are written as 200:300 or 200,205, not {text!r}", code="runs", field="seeds"
        )
    return runs


def write_look(
    model: str, digest: str, runs: Sequence[int], why: str, *, path: Path = LOOKS
) -> bool:
    """Write a look down if any of the runs is held out; whether one was.

    Raises:
        SeedError: a look without a reason.

    """
    if not set(runs) & set(HELD_OUT):
        return False
    reason = " ".join(why.split()).replace("|", "/")
    if not reason:
        raise SeedError(
            "runs 100 to 199 are looked at once per shipped model: say why with --look",
            code="look_without_reason",
            field="look",
        )
    path.parent.mkdir(parents=True, exist_ok=True)
    fresh = not path.exists()
    now = datetime.now(UTC).strftime("%Y-%m-%d %H:%M")
    with path.open("a", encoding="utf-8") as log:
        if fresh:
            log.write(_LOOKS_HEAD)
        log.write(f"| {now} | {model} | `{digest}` | {min(runs)} to {max(runs)} | {reason} |\n")
    return True


class TrainingRuns(gym.Wrapper[Any, Any, Any, Any]):
    """Plays training runs only: `reset(seed=n)` of any n begins one from 10,000 up, the same for n.

    For trainers that build environments themselves, such as `make_vec_env` and `SubprocVecEnv`.
    """

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[Any, dict[str, Any]]:
        """Begin a training run."""
        run = None if seed is None else training_runs(seed, 1)[0]
        observation, info = self.env.reset(seed=run, options=options)
        check_training(info["run_seed"])
        return observation, info


class VectorTrainingRuns(_Wrapper):
    """`TrainingRuns` for vector environments; it watches the runs that begin by themselves too."""

    def __init__(self, env: VectorEnv[Any, Any, Any]) -> None:
        super().__init__(env)

    def reset(
        self,
        *,
        seed: int | list[int | None] | None = None,
        options: dict[str, Any] | None = None,
    ) -> tuple[Any, dict[str, Any]]:
        """Begin training runs."""
        runs: Any = None
        if isinstance(seed, list):
            runs = [None if one is None else training_runs(one, 1)[0] for one in seed]
        elif seed is not None:
            runs = training_runs(seed, self.num_envs)
        observations, infos = self.env.reset(seed=runs, options=options)
        check_training(infos["run_seed"][infos["_run_seed"]])
        return observations, infos

    def step(self, actions: Any) -> tuple[Any, Any, Any, Any, dict[str, Any]]:
        """Step, and look at which runs have begun."""
        outcome = self.env.step(actions)
        runs = outcome[4]["run_seed"][outcome[4]["_run_seed"]]
        if len(runs):
            check_training(runs)
        return outcome
