"""Runs of pi with a model of the tests' own."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from decimal import Decimal
from pathlib import Path
from typing import Any

from tests.harness.doubles import parts
from tests.harness.oracle_model import model_of, oracle_offers, text_of
from tests.harness.runs import SALT, begin, play
from tests.harness.stub_provider import Asked, Reply, Stub, providing
from tradesbench_gym.company.business import open_business
from tradesbench_gym.company.simulation import Simulation
from tradesbench_gym.harness.agents.pi import PiProgram
from tradesbench_gym.harness.days import Watch
from tradesbench_gym.harness.folder import RunFolder
from tradesbench_gym.harness.manifest import AgentName, AgentPart, Manifest, ModelPart
from tradesbench_gym.harness.parts import gateway

KEY = "sk-a-key-of-the-tests"
Answerer = Callable[[Asked], Reply]


@dataclass
class PiRun:
    """A run that pi is to play, with a model that decides as the oracle does.

    Attributes:
        expected: the oracle's own run.
        odd: what the model answers instead, if it answers anything.

    """

    folder: RunFolder
    stub: Stub
    expected: Simulation
    pi: PiProgram
    odd: Callable[[Asked], Reply | None] = lambda _asked: None

    def play(self, watch: Watch | None = None) -> Manifest:
        """Play it in one sitting."""
        made = parts(model=lambda *wanted: gateway(*wanted, key=KEY), pi=self.pi)
        return play(self.folder, made, watch)


@contextmanager
def pi_run(
    path: Path, pi: PiProgram, map_name: Path | str, days: int = 1, **limits: Any
) -> Iterator[PiRun]:
    """A new run of pi's, and the provider of its model."""
    offers, expected = oracle_offers(open_business(map=map_name, days=days), 5, SALT)
    oracle = model_of(offers)
    made: list[PiRun] = []
    with providing(lambda asked: made[0].odd(asked) or oracle(asked)) as stub:
        model = ModelPart(
            name="stub-1",
            base_url=stub.base_url,
            input_price=Decimal(1),
            cached_price=Decimal("0.1"),
            output_price=Decimal(3),
        )
        agent = AgentPart(name=AgentName.PI, thinking="high")
        quick = {"request_seconds": 2.0, "request_retries": 1, **limits}
        folder = begin(path, Path(map_name), days=days, model=model, agent=agent, **quick)
        made.append(PiRun(folder, stub, expected, pi))
        yield made[0]


def asks_about(asked: Asked, words: str) -> bool:
    """Whether the last thing that was said to the model holds some words."""
    last = asked.body["messages"][-1]
    return last["role"] == "user" and words in text_of(last)
