"""How a model compares with another policy: the same runs played by both, and an interval for the
mean difference.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import gymnasium as gym
import numpy as np
import numpy.typing as npt

import tradesbench_gym  # noqa: F401 - registers the environment
from tradesbench_gym.company.business import open_business
from tradesbench_gym.company.play import play
from tradesbench_gym.company.simulation import Simulation
from tradesbench_gym.policies.load import load_policy
from tradesbench_gym.policies.network import Network
from tradesbench_gym.report.pairing import interval
from tradesbench_gym.training.candidates import CandidateBatch

Cents = npt.NDArray[np.int64]


@dataclass(frozen=True)
class Comparison:
    """Two policies on the same runs, in dollars.

    Attributes:
        mean: mean profit of the first.
        other: mean profit of the second.
        difference, low, high: mean of the differences run by run, and its 95 % bootstrap interval.
        better: share of runs on which the first made more.
        bankrupt: runs in which the first went bankrupt.

    """

    runs: int
    mean: float
    other: float
    difference: float
    low: float
    high: float
    better: float
    bankrupt: int

    def __str__(self) -> str:
        return (
            f"{self.difference:+,.0f} [{self.low:+,.0f}, {self.high:+,.0f}] dollars a run "
            f"({self.mean:,.0f} against {self.other:,.0f}, {self.runs} runs, "
            f"more in {self.better:.0%}, bankrupt {self.bankrupt})"
        )


def make_batch(count: int, *, threads: int | None = 1, **arguments: Any) -> CandidateBatch:
    """A native batch as the learner sees it."""
    env = gym.make_vec(
        "TradesBench-v0",
        num_envs=count,
        observation="planned",
        autoreset_mode="SameStep",
        threads=threads,
        **arguments,
    )
    return CandidateBatch(env)


def compare(profits: Cents, others: Cents, bankrupt: int) -> Comparison:
    """Compare profits of the same runs, in cents."""
    differences = (profits - others) / 100.0
    low, high = interval(differences.tolist())
    return Comparison(
        len(profits),
        float(profits.mean()) / 100.0,
        float(others.mean()) / 100.0,
        float(differences.mean()),
        low,
        high,
        float((differences > 0).mean()),
        bankrupt,
    )


def play_network(network: Network, batch: CandidateBatch, runs: Sequence[int]) -> dict[str, Cents]:
    """Play runs with a network, all at once; the columns of `info["results"]`, one entry a run."""
    found: dict[str, Cents] = {}
    for start in range(0, len(runs), batch.num_envs):
        part = list(runs[start : start + batch.num_envs])
        for name, values in _play_part(network, batch, part).items():
            found[name] = np.concatenate((found.get(name, values[:0]), values))
    return found


def _play_part(network: Network, batch: CandidateBatch, runs: list[int]) -> dict[str, Cents]:
    filled = runs + [runs[0]] * (batch.num_envs - len(runs))
    batch.reset(seed=filled)
    playing = np.ones(batch.num_envs, np.bool_)
    found: dict[str, Cents] = {}
    while playing.any():
        *_, ended, _, infos = batch.step(network.scores(batch.now).argmax(1))
        first = ended & playing
        if first.any():
            results = infos["final_info"]["results"]
            for name in results:
                if not name.startswith("_"):
                    column = found.setdefault(name, np.zeros(batch.num_envs, np.int64))
                    column[first] = results[name][first]
            playing &= ~ended
    return {name: column[: len(runs)] for name, column in found.items()}


def play_policy(
    name: str, runs: Sequence[int], done: Callable[[int], None] = lambda _count: None
) -> tuple[Cents, int]:
    """Play runs with a policy by name, one after the other: profits in cents, and bankrupt runs."""
    simulation = Simulation(business=open_business())
    profits, bankrupt = np.zeros(len(runs), np.int64), 0
    for i, run in enumerate(runs):
        simulation.restart(run)
        results = play(simulation, load_policy(name, seed=run))
        profits[i] = results.profit
        bankrupt += results.bankrupt_on is not None
        done(1)
    return profits, bankrupt
