"""The native batch as Stable-Baselines3's `VecEnv`, which Gymnasium's vector environments are not.

Thin: it lays out what the batch gives in SB3's way and keeps training on training runs. Masks come
from compiled code, for all runs at once.
"""

from __future__ import annotations

import time
from collections.abc import Iterable, Sequence
from typing import Any

import gymnasium as gym
import numpy as np
from gymnasium.vector import AutoresetMode, VectorEnv
from stable_baselines3.common.monitor import Monitor
from stable_baselines3.common.vec_env import VecEnv

from tradesbench_gym.training.seeds import check_training, training_runs

Indices = None | int | Iterable[int]


class BatchVecEnv(VecEnv):  # type: ignore[misc]
    """A Gymnasium vector environment of TradesBench-v0, wrapped or not, for SB3 and sb3-contrib.

    Every run it plays is numbered 10,000 or above: `seed(n)`, which SB3 calls with 0, 1, 2 …, picks
    such runs, the same for the same n. Infos hold what SB3 reads ("terminal_observation",
    "TimeLimit.truncated", "episode" as its Monitor gives it) and "run_seed", "answer" and, of ended
    runs, "results".

    Args:
        env: with `autoreset_mode` SAME_STEP, which is what SB3 expects.

    Example:
        >>> import gymnasium as gym
        >>> import tradesbench_gym
        >>> batch = gym.make_vec("TradesBench-v0", num_envs=2, autoreset_mode="SameStep", days=1)
        >>> envs = BatchVecEnv(batch)
        >>> envs.seed(0)[0] >= 10_000
        True
        >>> envs.reset()["call"].shape
        (2, 5)

    """

    def __init__(self, env: VectorEnv[Any, Any, Any]) -> None:
        if env.metadata.get("autoreset_mode") is not AutoresetMode.SAME_STEP:
            raise ValueError(
                'SB3 wants the next run in the step that ends one: make_vec(..., autoreset_mode="'
                f'{AutoresetMode.SAME_STEP.value}")'
            )
        self.env = env
        super().__init__(env.num_envs, env.single_observation_space, env.single_action_space)
        self._actions: Any = None
        self._returns = np.zeros(env.num_envs)
        self._lengths = np.zeros(env.num_envs, np.int64)
        self._begun = time.perf_counter()

    # -- playing --

    def seed(self, seed: int | None = None) -> Sequence[int]:
        """The runs that the next reset begins, picked from 10,000 up by a trainer's seed."""
        self._seeds = list(training_runs(seed, self.num_envs))
        return self._seeds

    def forget_seeds(self) -> None:
        """Let the next reset draw its runs, whatever `seed` said."""
        self._reset_seeds()

    def reset(self) -> Any:
        """Begin runs: those of `seed`, or runs drawn from 10,000 up."""
        seeds: Any = None
        if self._seeds[0] is not None:
            check_training(self._seeds)
            seeds = self._seeds
        seen, infos = self.env.reset(seed=seeds, options=self._shared_options())
        check_training(infos["run_seed"])
        self.reset_infos = [{"run_seed": int(run)} for run in infos["run_seed"]]
        self._reset_seeds()
        self._reset_options()
        self._returns[:] = 0
        self._lengths[:] = 0
        return seen

    def step_async(self, actions: Any) -> None:
        """Take the actions for `step_wait`."""
        self._actions = np.asarray(actions)

    def step_wait(self) -> tuple[Any, Any, Any, list[dict[str, Any]]]:
        """Play the actions taken."""
        seen, rewards, ended, cut, infos = self.env.step(self._actions)
        runs = infos["run_seed"]
        check_training(runs)
        self._returns += rewards
        self._lengths += 1
        answers = infos.get("answer", np.full(self.num_envs, None, object))
        told: list[dict[str, Any]] = [
            {"TimeLimit.truncated": False, "run_seed": run, "answer": answer}
            for run, answer in zip(runs.tolist(), answers.tolist(), strict=True)
        ]
        over = ended | cut
        for i in np.flatnonzero(over).tolist():
            self._tell_end(told[i], i, infos, cut=bool(cut[i] and not ended[i]))
        return seen, np.asarray(rewards, np.float32), over, told

    def close(self) -> None:
        """Let the batch go."""
        self.env.close()

    def _tell_end(self, told: dict[str, Any], i: int, infos: dict[str, Any], *, cut: bool) -> None:
        final = infos["final_info"]
        told["TimeLimit.truncated"] = cut
        told["terminal_observation"] = infos["final_obs"][i]
        told["run_seed"] = int(final["run_seed"][i])
        told["answer"] = final["answer"][i]
        told["episode"] = {
            "r": round(float(self._returns[i]), 6),
            "l": int(self._lengths[i]),
            "t": round(time.perf_counter() - self._begun, 6),
        }
        results = final.get("results", {})
        told["results"] = {
            name: values[i].item()
            for name, values in results.items()
            if not name.startswith("_") and results[f"_{name}"][i]
        }
        self._returns[i] = self._lengths[i] = 0

    def _shared_options(self) -> dict[str, Any] | None:
        first = self._options[0]
        if any(options != first for options in self._options):
            raise ValueError("the native batch begins all its runs with the same options")
        return dict(first) or None

    # -- what SB3 asks of single environments --

    def env_method(
        self, method_name: str, *args: Any, indices: Indices = None, **arguments: Any
    ) -> list[Any]:
        """Call a method of the batch; one entry of what it gives for each environment asked."""
        given = getattr(self._owner(method_name), method_name)(*args, **arguments)
        if not (isinstance(given, np.ndarray | list | tuple) and len(given) == self.num_envs):
            given = [given] * self.num_envs
        return [given[i] for i in self._get_indices(indices)]

    def get_attr(self, attr_name: str, indices: Indices = None) -> list[Any]:
        """An attribute of the batch, once for each environment asked."""
        value = getattr(self._owner(attr_name), attr_name)
        return [value for _ in self._get_indices(indices)]

    def set_attr(self, attr_name: str, value: Any, indices: Indices = None) -> None:
        """Set an attribute of the batch, for all environments at once."""
        if indices is not None and set(self._get_indices(indices)) != set(range(self.num_envs)):
            raise ValueError("the native batch has no attributes for some of its environments")
        setattr(self._owner(attr_name), attr_name, value)

    def env_is_wrapped(
        self, wrapper_class: type[gym.Wrapper[Any, Any, Any, Any]], indices: Indices = None
    ) -> list[bool]:
        """True for SB3's Monitor, as whose infos ours tell episodes; no other wrapper is there."""
        found = wrapper_class is Monitor
        return [found for _ in self._get_indices(indices)]

    def _owner(self, name: str) -> Any:
        """The batch, or the outermost wrapper around it, that has an attribute."""
        layer: Any = self.env
        while not hasattr(layer, name) and hasattr(layer, "env"):
            layer = layer.env
        return layer
