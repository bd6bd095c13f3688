"""PPO of RLlib's new API stack on TradesBench-v0, with action masks: an example to start from.

    python -m tradesbench_gym.training.rllib --iterations 10

Needs the extras [ray] and [train]. Every env runner steps a native batch (`make_vec`), so one core
plays many runs; more runners on a cluster play more. The mask travels inside the observation, where
RLlib hands it to the module: `MaskedModule` gives offers that are not let out, or must fail, a
logit that is never drawn. Training plays runs from 10,000 up, whatever seed it is given.
"""

from __future__ import annotations

import logging
import os
import time
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import gymnasium as gym
import numpy as np
import numpy.typing as npt
import typer
from gymnasium import spaces
from gymnasium.vector import AutoresetMode, VectorEnv, VectorWrapper
from gymnasium.vector.utils import batch_space

from tradesbench_gym.errors import needs

try:
    import ray
    import torch
    from ray.rllib.algorithms.ppo import PPOConfig
    from ray.rllib.core.columns import Columns
    from ray.rllib.core.rl_module.apis.value_function_api import ValueFunctionAPI
    from ray.rllib.core.rl_module.rl_module import RLModuleSpec
    from ray.rllib.core.rl_module.torch import TorchRLModule
    from ray.tune.registry import register_env
    from torch import nn
except ModuleNotFoundError as missing:
    if __name__ != "__main__":
        raise
    typer.echo(f"Error: {needs('training.rllib', missing.name, 'ray,train')}", err=True)
    raise SystemExit(2) from None

import tradesbench_gym  # noqa: F401 - registers the environment
from tradesbench_gym.report.statistics import Unit
from tradesbench_gym.report.writing import rounded
from tradesbench_gym.training.seeds import VectorTrainingRuns
from tradesbench_gym.wrappers.vector import (
    FlattenAction,
    QualifiedMask,
    ScaleObservation,
    masks_below,
)

NAME = "tradesbench-masked"
MASK, SEEN = "action_mask", "observation"
NEVER = -1e9
"""The logit of an offer that is not legal: finite, so that no gradient becomes NaN."""
LEFT_OUT = ("open_jobs", "job_places")
"""By far the longest arrays; `slot_jobs` and `slot_minutes` say most of it."""
_THOUSAND, _CENTS = 1_000.0, 100


if TYPE_CHECKING:
    _Wrapper = VectorWrapper[Any, Any, Any, Any, Any]
else:  # takes no types in the release of Gymnasium that RLlib asks for
    _Wrapper = VectorWrapper


class MaskedObservation(_Wrapper):
    """Observation `{"action_mask": (actions,), "observation": (entries,)}`, as RLlib needs it.

    Wraps a vector environment with a flat action and an observation of arrays. Of the infos only
    "run_seed" is kept, for RLlib stores them all; rewards are in thousands of dollars.
    """

    def __init__(self, env: VectorEnv[Any, Any, Any]) -> None:
        super().__init__(env)
        inner = env.single_observation_space
        if not isinstance(inner, spaces.Dict) or not isinstance(
            env.single_action_space, spaces.Discrete
        ):
            raise TypeError("MaskedObservation wraps FlattenAction and an observation of arrays")
        self._names = [name for name in inner.spaces if name not in LEFT_OUT]
        entries = sum(int(np.prod(inner[name].shape or ())) for name in self._names)
        self.single_observation_space = spaces.Dict(
            {
                MASK: spaces.Box(0.0, 1.0, (int(env.single_action_space.n),)),
                SEEN: spaces.Box(0.0, 1.0, (entries,)),
            }
        )
        self.observation_space = batch_space(self.single_observation_space, self.num_envs)

    def reset(
        self, *, seed: Any = None, options: dict[str, Any] | None = None
    ) -> tuple[dict[str, npt.NDArray[np.float32]], dict[str, Any]]:
        """Begin runs."""
        seen, infos = self.env.reset(seed=seed, options=options)
        return self._look(seen), _kept(infos)

    def step(self, actions: Any) -> tuple[Any, Any, Any, Any, dict[str, Any]]:
        """Make the offers and play on."""
        seen, rewards, ended, cut, infos = self.env.step(np.asarray(actions))
        return self._look(seen), rewards / _THOUSAND, ended, cut, _kept(infos)

    def _look(self, seen: dict[str, Any]) -> dict[str, npt.NDArray[np.float32]]:
        arrays = [seen[name].reshape(self.num_envs, -1) for name in self._names]
        legal = masks_below(self.env)
        return {MASK: legal.astype(np.float32), SEEN: np.concatenate(arrays, 1, dtype=np.float32)}


def _kept(infos: dict[str, Any]) -> dict[str, Any]:
    return {name: infos[name] for name in ("run_seed", "_run_seed")}


def make_batch(settings: dict[str, Any]) -> MaskedObservation:
    """The environment of an env runner: a native batch of training runs, scaled, flat, masked.

    Args:
        settings: "num_envs", which RLlib gives, and arguments of `TradesVectorEnv`.

    """
    batch = gym.make_vec("TradesBench-v0", **{"threads": 1, **settings})
    if batch.metadata["autoreset_mode"] is not AutoresetMode.NEXT_STEP:
        raise ValueError("RLlib begins the next run in the step after the one that ended it")
    runs = QualifiedMask(VectorTrainingRuns(batch))
    return MaskedObservation(FlattenAction(ScaleObservation(runs)))


class MaskedModule(TorchRLModule, ValueFunctionAPI):  # type: ignore[misc]
    """A policy network and a value network; the policy's logits are masked.

    `model_config` holds "hidden", the sizes of the layers of both.
    """

    def setup(self) -> None:
        """Make the networks."""
        entries = self.observation_space[SEEN].shape[0]
        actions = int(self.action_space.n)
        hidden = self.model_config["hidden"]
        self.policy = _network(entries, hidden, actions, last=0.01)
        self.value = _network(entries, hidden, 1, last=1.0)

    def _forward(self, batch: dict[str, Any], **_settings: Any) -> dict[str, Any]:
        seen = batch[Columns.OBS]
        logits = self.policy(seen[SEEN])
        return {Columns.ACTION_DIST_INPUTS: torch.where(seen[MASK] > 0, logits, NEVER)}

    def compute_values(self, batch: dict[str, Any], embeddings: Any = None) -> torch.Tensor:
        """What the runs are still worth, shape (runs,)."""
        del embeddings
        values: torch.Tensor = self.value(batch[Columns.OBS][SEEN]).squeeze(-1)
        return values


def _network(entries: int, hidden: list[int], outputs: int, *, last: float) -> nn.Sequential:
    layers: list[nn.Module] = [nn.LayerNorm(entries)]
    for size in hidden:
        layers += [nn.Linear(entries, size), nn.Tanh()]
        entries = size
    head = nn.Linear(entries, outputs)
    nn.init.orthogonal_(head.weight, last)
    return nn.Sequential(*layers, head)


def configuration(
    *, runners: int = 0, runs: int = 32, steps: int = 8_192, seed: int = 0, **env: Any
) -> PPOConfig:
    """PPO for TradesBench-v0.

    Args:
        runners: env runners on other cores or machines; 0: this process plays.
        runs: that each steps at once.
        steps: of all runners together, between two updates.
        seed: of the networks, the actions and the choice of runs.
        env: arguments of `TradesVectorEnv`, such as `observation="planned"`.

    """
    register_env(NAME, make_batch)
    return (
        PPOConfig()
        .api_stack(enable_rl_module_and_learner=True, enable_env_runner_and_connector_v2=True)
        .environment(NAME, env_config=env)
        .env_runners(
            num_env_runners=runners,
            num_envs_per_env_runner=runs,
            gym_env_vectorize_mode=gym.VectorizeMode.VECTOR_ENTRY_POINT,
        )
        .rl_module(
            rl_module_spec=RLModuleSpec(module_class=MaskedModule, model_config={"hidden": [256]})
        )
        .training(
            train_batch_size_per_learner=steps,
            minibatch_size=min(1_024, steps),
            num_epochs=4,
            lr=3e-4,
            gamma=0.999,
            lambda_=0.98,
            entropy_coeff=0.003,
            vf_clip_param=1e6,
            grad_clip=0.5,
        )
        .debugging(seed=seed, log_level="ERROR")
    )


app = typer.Typer(add_completion=False, pretty_exceptions_enable=False)


@app.command()
def train(
    iterations: Annotated[int, typer.Option(min=1, help="Updates to make.")] = 10,
    runners: Annotated[
        int, typer.Option(min=0, help="Env runners on other cores; 0: this process plays.")
    ] = 0,
    runs: Annotated[int, typer.Option(min=1, help="Runs that each steps at once.")] = 32,
    steps: Annotated[int, typer.Option(min=64, help="Steps between two updates.")] = 8_192,
    seed: Annotated[int, typer.Option(help="Of networks, actions and choice of runs.")] = 0,
    observation: Annotated[str, typer.Option(help="desk or planned.")] = "planned",
    address: Annotated[
        str | None,
        typer.Option(help="A Ray cluster's host:port, or auto; this machine if not given."),
    ] = None,
    checkpoint: Annotated[
        Path | None, typer.Option(help="Folder to save the trained algorithm in.")
    ] = None,
) -> None:
    """Train with RLlib's PPO and print a line for each update."""
    os.environ.setdefault("RAY_USAGE_STATS_ENABLED", "0")
    ray.init(address or "local", log_to_driver=False, logging_level=logging.ERROR)
    logging.getLogger("ray.rllib").setLevel(logging.ERROR)
    settings = configuration(
        runners=runners, runs=runs, steps=steps, seed=seed, observation=observation
    )
    algorithm = settings.build_algo()
    try:
        begun = time.perf_counter()
        for number in range(1, iterations + 1):
            typer.echo(line_of(number, algorithm.train(), time.perf_counter() - begun))
        if checkpoint is not None:
            typer.echo(f"saved in {algorithm.save_to_path(checkpoint.resolve())}")
    finally:
        algorithm.stop()
        ray.shutdown()


def line_of(number: int, results: dict[str, Any], seconds: float) -> str:
    """What an update came to."""
    played = results["env_runners"]
    steps = int(results["num_env_steps_sampled_lifetime"])
    mean = played.get("episode_return_mean")
    profit = "no run has ended"
    if mean is not None:
        profit = f"mean profit {rounded(mean * _THOUSAND * _CENTS, Unit.CENTS)}"
    return f"{number:4}  {steps:,} steps  {profit}  {steps / seconds:,.0f} steps/s"


if __name__ == "__main__":
    app()
