"""Steps a second of MaskablePPO end to end: on the company, and on one that costs nothing.

The free environment has the same spaces and hands out one recorded step for ever, so that what is
left is the learner's own work. Both learn in turns within one process: a machine that is slower for
a minute is slower for both.
"""

from __future__ import annotations

import importlib
import time
from typing import Any

import gymnasium as gym
import numpy as np
import pytest

import tradesbench_gym  # noqa: F401  # registers the environment

RUNS, ROLLOUT, TURNS = 64, 64, 5
STEPS = 2 * RUNS * ROLLOUT


def needed(package: str) -> Any:
    """A package of the comparison; the row is left out without it."""
    try:
        return importlib.import_module(package)
    except ImportError:
        pytest.skip(f"{package} is not installed")


def company() -> Any:
    """What examples/sb3_contrib_maskable_ppo.py learns on, with the default observation."""
    sb3 = importlib.import_module("tradesbench_gym.training.sb3")
    vector = importlib.import_module("tradesbench_gym.wrappers.vector")
    batch = gym.make_vec("TradesBench-v0", num_envs=RUNS, autoreset_mode="SameStep")
    return sb3.BatchVecEnv(vector.ScaleObservation(vector.FlattenAction(batch)))


def free(like: Any) -> Any:
    """An environment of the same spaces whose steps are all the same."""
    base: Any = importlib.import_module("stable_baselines3.common.vec_env").VecEnv
    seen, masks = like.reset(), like.env_method("action_masks")

    class Free(base):  # type: ignore[misc]
        def reset(self) -> Any:
            return seen

        def step_async(self, actions: Any) -> None:
            del actions

        def step_wait(self) -> Any:
            told: list[dict[str, Any]] = [{} for _ in range(RUNS)]
            return seen, np.zeros(RUNS, np.float32), np.zeros(RUNS, np.bool_), told

        def env_method(self, name: str, *_: Any, **__: Any) -> Any:
            assert name == "action_masks"
            return masks

        def has_attr(self, name: str) -> bool:
            return name == "action_masks"

        def get_attr(self, name: str, indices: Any = None) -> Any:
            return [getattr(self, name, None)] * RUNS if indices is None else []

        def set_attr(self, *_: Any, **__: Any) -> None:
            raise NotImplementedError

        def env_is_wrapped(self, *_: Any, **__: Any) -> list[bool]:
            return [False] * RUNS

        def close(self) -> None:
            pass

    return Free(RUNS, like.observation_space, like.action_space)


@pytest.mark.benchmark(group="MaskablePPO end to end")
def test_learning_on_tradesbench(benchmark: Any, capsys: pytest.CaptureFixture[str]) -> None:
    """Prints both and their ratio; the row is the company's."""
    needed("torch").set_num_threads(1)
    contrib = needed("sb3_contrib")
    envs = company()
    both = {"company": envs, "free": free(envs)}
    models = {
        name: contrib.MaskablePPO(
            "MultiInputPolicy", env, n_steps=ROLLOUT, batch_size=1024, gamma=1.0, seed=0
        )
        for name, env in both.items()
    }
    seconds: dict[str, list[float]] = {name: [] for name in models}
    waited: list[float] = []

    def learn(name: str) -> None:
        begun, started = time.process_time(), time.perf_counter()
        models[name].learn(STEPS, reset_num_timesteps=False)
        seconds[name].append(time.process_time() - begun)
        if name == "free":
            waited.append(time.perf_counter() - started)

    for name in models:
        learn(name)
        seconds[name].clear()
    waited.clear()
    benchmark.extra_info["steps"] = STEPS
    benchmark.pedantic(lambda: learn("company"), setup=lambda: learn("free"), rounds=TURNS)
    steps = {name: STEPS / float(np.median(spent)) for name, spent in seconds.items()}
    with capsys.disabled():
        ratio = steps["company"] / steps["free"]
        print(  # noqa: T201 - as asked
            f"\nMaskablePPO: {steps['company']:,.0f} steps a second of processor on the company, "
            f"{steps['free']:,.0f} on a free environment: {ratio:.0%}"
        )
    benchmark.extra_info["beside"] = {
        "an environment that costs nothing": [min(waited), float(np.median(waited))]
    }
    envs.close()
