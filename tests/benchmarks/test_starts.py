"""How long a process takes from its start: the import, the first run on a machine, later runs."""

import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

RUN = """
from tradesbench_gym.company.play import play
from tradesbench_gym.company.simulation import Simulation
from tradesbench_gym.policies import make_policy
play(Simulation(5), make_policy("oracle"))
"""
MAKE = """
import gymnasium, tradesbench_gym
env = gymnasium.make("TradesBench-v0")
env.reset(seed=5)
env.step(env.action_space.sample())
"""


def start(code: str, cache: Path | None = None) -> None:
    environment = dict(os.environ)
    if cache is not None:
        environment["TRADESBENCH_CACHE"] = str(cache)
    subprocess.run([sys.executable, "-c", code], check=True, env=environment, capture_output=True)


@pytest.mark.benchmark(group="a fresh process")
@pytest.mark.parametrize(
    "code", ["pass", "import gymnasium", "import tradesbench_gym"], ids=lambda code: code
)
def test_importing(benchmark: Any, code: str) -> None:
    benchmark.pedantic(start, (code,), rounds=5, warmup_rounds=1)


@pytest.mark.benchmark(group="the first run after an installation")
@pytest.mark.parametrize("code", [RUN, MAKE], ids=["oracle run", "gym.make and a step"])
def test_starting_with_a_cold_cache(benchmark: Any, code: str, tmp_path: Path) -> None:
    benchmark.pedantic(start, (code, tmp_path / "cache"), rounds=1)


@pytest.mark.benchmark(group="a fresh process")
@pytest.mark.parametrize("code", [RUN, MAKE], ids=["oracle run", "gym.make and a step"])
def test_starting_with_a_warm_cache(benchmark: Any, code: str) -> None:
    benchmark.pedantic(start, (code,), rounds=5, warmup_rounds=1)
