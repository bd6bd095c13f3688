"""Steps a second with random actions, ours beside environments people know, in one run.

A row's time is that of one step, resets included; the column OPS is steps a second. Gymnasium's own
checker is on, as `gym.make` gives it.
"""

import importlib
from collections.abc import Callable
from itertools import cycle
from typing import Any

import gymnasium as gym
import pytest

GROUP = "a random step of gym.make"
ROUNDS = 10
OTHERS = {
    "CartPole-v1": ("gymnasium", 5_000),
    "MiniGrid-Empty-8x8-v0": ("minigrid", 2_000),
    "highway-fast-v0": ("highway_env", 20),
}
"""Peers: the package that registers them, and how many steps a round has."""


def stepping(env: gym.Env[Any, Any]) -> Callable[[], None]:
    """One step with the next of many random actions drawn beforehand; a reset where it ends."""
    env.action_space.seed(0)
    actions = cycle([env.action_space.sample() for _ in range(5_000)])
    env.reset(seed=0)

    def step() -> None:
        _, _, terminated, truncated, _ = env.step(next(actions))
        if terminated or truncated:
            env.reset()

    return step


def measure(benchmark: Any, env: gym.Env[Any, Any], steps: int) -> None:
    benchmark.extra_info["steps"] = 1
    benchmark.pedantic(stepping(env), rounds=ROUNDS, iterations=steps, warmup_rounds=1)
    env.close()


@pytest.mark.benchmark(group=GROUP)
@pytest.mark.parametrize("observation", ["desk", "planned"])
def test_steps_of_tradesbench(benchmark: Any, observation: str) -> None:
    import tradesbench_gym  # noqa: F401  # registers the environment

    measure(benchmark, gym.make("TradesBench-v0", observation=observation), 5_000)


@pytest.mark.filterwarnings("default")  # what they warn of is not ours to judge
@pytest.mark.benchmark(group=GROUP)
@pytest.mark.parametrize("name", OTHERS)
def test_steps_of_other_environments(benchmark: Any, name: str) -> None:
    package, steps = OTHERS[name]
    try:
        importlib.import_module(package)
    except ImportError:
        pytest.skip(f"{package} is not installed")
    measure(benchmark, gym.make(name), steps)
