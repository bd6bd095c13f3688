"""What the tests of the environment share: ways to play it, and episodes frozen for comparison."""

from __future__ import annotations

import hashlib
import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, NamedTuple, cast

import numpy as np
import numpy.typing as npt
from gymnasium import spaces

from tests.worlds import homes, tiny_map
from tradesbench_gym.company.scenario import load_scenario
from tradesbench_gym.envs import TradesEnv
from tradesbench_gym.errors import TradesBenchError

Action = npt.NDArray[np.int64]
Choose = Callable[[np.random.Generator, TradesEnv, dict[str, Any]], Action]
REJECT = np.array([0, 0, 0, 0], np.int64)
ROOT = Path(__file__).parents[2]


class Moment(NamedTuple):
    """What one step gave back."""

    observation: dict[str, npt.NDArray[Any]]
    reward: float
    terminated: bool
    truncated: bool
    info: dict[str, Any]


def tiny_env(changes: dict[str, Any] | None = None, **arguments: Any) -> TradesEnv:
    """The company on the tiny map, with changes named by the keys of the scenario's file."""
    scenario = load_scenario("sunridge").replace({**homes(), **(changes or {})})
    return TradesEnv(scenario=scenario, map=tiny_map(), **arguments)


def action_sizes(env: TradesEnv) -> npt.NDArray[np.int64]:
    return cast("spaces.MultiDiscrete", env.action_space).nvec.astype(np.int64)


def offer(technician: int, ahead: int, window: int) -> Action:
    return np.array([1, technician, ahead, window], np.int64)


def any_action(random: np.random.Generator, env: TradesEnv, _info: dict[str, Any]) -> Action:
    """Uniform over the action space: half rejections, many offers that are not let out."""
    return random.integers(0, action_sizes(env))


def legal_offer(random: np.random.Generator, _env: TradesEnv, info: dict[str, Any]) -> Action:
    """Nine times in ten a legal offer of the next days, so that much is booked, done and missed."""
    legal = np.argwhere(info["action_mask"][:, :3])
    if not len(legal) or random.random() < 0.1:
        return REJECT
    return offer(*random.choice(legal).tolist())


def reject(_random: np.random.Generator, _env: TradesEnv, _info: dict[str, Any]) -> Action:
    return REJECT


def play_on(
    env: TradesEnv, info: dict[str, Any], choose: Choose, random: np.random.Generator
) -> Iterator[Moment]:
    """Step to the end of the run."""
    ended = False
    while not ended:
        moment = Moment(*env.step(choose(random, env, info)))
        info, ended = moment.info, moment.terminated
        yield moment


def episode(env: TradesEnv, seed: int, choose: Choose = legal_offer) -> Iterator[Moment]:
    """The whole run `seed`, its reset first (with a reward of 0)."""
    observation, info = env.reset(seed=seed)
    yield Moment(observation, 0.0, terminated=False, truncated=False, info=info)
    yield from play_on(env, info, choose, np.random.default_rng(seed))


def frozen(value: Any) -> Any:
    """A copy to compare with `==` that holds every bit, type and shape."""
    if isinstance(value, np.ndarray):
        return value.dtype.str, value.shape, value.tobytes()
    if isinstance(value, dict):
        return {key: frozen(inner) for key, inner in value.items()}
    if isinstance(value, tuple | list):
        return [frozen(inner) for inner in value]
    return type(value).__name__, value


def wait_for(env: TradesEnv, seed: int, wanted: Callable[[dict[str, Any]], bool]) -> dict[str, Any]:
    """Reject callers of run `seed` until one is on the line as wanted; the observation then."""
    for moment in episode(env, seed, reject):
        if not moment.terminated and wanted(moment.observation):
            return moment.observation
    raise AssertionError("no such call in this run")


def assert_one_sentence(error: TradesBenchError) -> None:
    """A stable code, the field at fault and one line for people."""
    assert error.code != "error"
    assert error.code == error.code.lower()
    assert error.field
    assert error.message.isprintable(), error.message
    assert 10 < len(error.message) < 400


def fingerprint(seed: int, **arguments: Any) -> str:
    """SHA-256 of everything that a run shows, with actions of both kinds."""
    env = TradesEnv(**arguments)
    found = hashlib.sha256()
    for choose in (any_action, legal_offer):
        for moment in episode(env, seed, choose):
            found.update(repr(frozen(tuple(moment))).encode())
    return found.hexdigest()


def in_another_process(code: str, *flags: str, **environment: str) -> str:
    """What a fresh Python prints for some code; its failure is the test's."""
    done = subprocess.run(
        [sys.executable, *flags, "-c", code],
        cwd=ROOT,
        env={**os.environ, **environment},
        capture_output=True,
        text=True,
        check=False,
        timeout=300,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout.strip()
