"""What the model gateway adds to one request: the same question to a provider, with and without
the gateway between."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import httpx
import pytest
from pytest_benchmark.fixture import BenchmarkFixture

from tests.harness.gateway.gateways import before, headers, streamed
from tests.harness.stub_provider import Call, Reply, in_turn, providing

REPLY = Reply("Let me look at the schedule.", (Call("bash", {"command": "ls docs"}),))
# As long as an agent's conversation in the afternoon.
BODY = streamed("word " * 20_000)


@pytest.fixture(params=["direct", "gateway"])
def asked(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[tuple[httpx.Client, str]]:
    with providing(in_turn(REPLY)) as stub, before(stub, tmp_path) as gateway:
        through = request.param == "gateway"
        told = headers(gateway) if through else {}
        base = gateway.base_url if through else stub.base_url
        with httpx.Client(headers=told, trust_env=False) as client:
            yield client, f"{base}/chat/completions"


def test_a_request(benchmark: BenchmarkFixture, asked: tuple[httpx.Client, str]) -> None:
    client, url = asked
    answer = benchmark(client.post, url, json=BODY)
    assert answer.status_code == 200
