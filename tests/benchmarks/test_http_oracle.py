"""How long the oracle's whole run takes over HTTP, against a server in a process of its own."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from tempfile import mkdtemp
from typing import Any

import pytest

from tradesbench_gym.api.client import Agent, Driver
from tradesbench_gym.api.dispatcher import Dispatcher, play
from tradesbench_gym.api.docs import FOLDER, HANDBOOK, write_docs
from tradesbench_gym.company.business import open_business
from tradesbench_gym.company.play import play as play_in_process
from tradesbench_gym.company.simulation import Simulation
from tradesbench_gym.policies import make_policy

AGENT, DRIVER = "an-agents-token-of-tests", "a-drivers-token-of-tests"
SEED = 5


@contextmanager
def served(world: Path) -> Iterator[dict[str, Any]]:
    """`tradesbench serve` of a new run; what it says of itself."""
    tokens = {"SUNRIDGE_API_TOKEN": AGENT, "SUNRIDGE_DRIVER_TOKEN": DRIVER}
    command = ["-m", "tradesbench_gym", "serve", "--new", "--port", "0", "--json", "--seed"]
    with subprocess.Popen(
        [sys.executable, *command, str(SEED), str(world)],
        stdout=subprocess.PIPE,
        env={**os.environ, **tokens},
        text=True,
    ) as server:
        assert server.stdout is not None
        try:
            yield json.loads(server.stdout.readline())
        finally:
            server.send_signal(signal.SIGTERM)
            server.wait(30)


@pytest.mark.benchmark(group="a run of 14 days over HTTP")
def test_the_oracle_s_run_over_http(benchmark: Any, tmp_path: Path) -> None:
    write_docs(tmp_path, open_business())
    handbook = (tmp_path / FOLDER / HANDBOOK).read_text(encoding="utf-8")
    alone = Simulation(SEED)
    profit = play_in_process(alone, make_policy("oracle")).profit
    with ExitStack() as held:

        def begin() -> tuple[tuple[Driver, Dispatcher], dict[str, Any]]:
            said = held.enter_context(served(Path(mkdtemp(dir=tmp_path)) / "run.sqlite"))
            port = int(said["agent"]["address"].rpartition(":")[2])
            back = said["driver"]["address"].removeprefix("unix:")
            agent = held.enter_context(Agent(AGENT, port=port))
            driver = held.enter_context(Driver(DRIVER, socket=back))
            return (driver, Dispatcher(agent, handbook, make_policy("oracle"))), {}

        ended = benchmark.pedantic(play, setup=begin, rounds=3)
    assert ended.results.profit_cents == profit
    benchmark.extra_info["commands"] = ended.commands
