"""Gateways in front of the stub provider, and what the tests ask them."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from decimal import Decimal
from pathlib import Path
from typing import Any

import httpx

from tests.harness.stub_provider import Asked, Reply, Stub, in_turn
from tradesbench_gym.harness.faults import Fault
from tradesbench_gym.harness.gateway import RECORD, Gateway, GatewaySettings, Prices

KEY = "sk-very/secret-0123456789"
MODEL = "the-model"
PRICES = Prices(Decimal(3), Decimal("0.30"), Decimal(15))
CHAT, RESPONSES = "/v1/chat/completions", "/v1/responses"
BASH: dict[str, Any] = {
    "type": "function",
    "function": {"name": "bash", "description": "run", "parameters": {"type": "object"}},
}


def settings(base_url: str, **other: Any) -> GatewaySettings:
    """Settings whose waits are short."""
    told = {
        "base_url": base_url,
        "key": KEY,
        "model": MODEL,
        "prices": PRICES,
        "request_seconds": 20.0,
        "retries": 2,
        "first_wait_seconds": 0.02,
    }
    return GatewaySettings(**{**told, **other})


@contextmanager
def before(stub: Stub, folder: Path, **other: Any) -> Iterator[Gateway]:
    """A gateway in front of a stub."""
    with Gateway(settings(stub.base_url, **other), folder) as gateway:
        yield gateway


def chat(text: str = "Book the job.", **other: Any) -> dict[str, Any]:
    """A request of chat completions."""
    return {"model": MODEL, "messages": [{"role": "user", "content": text}], **other}


def streamed(text: str = "Book the job.", **other: Any) -> dict[str, Any]:
    """The same, to be answered in events."""
    return chat(text, stream=True, stream_options={"include_usage": True}, **other)


def response(text: Any = "Book the job.", **other: Any) -> dict[str, Any]:
    """A request of responses."""
    return {"model": MODEL, "input": text, "store": False, **other}


def headers(gateway: Gateway) -> dict[str, str]:
    """What the agent sends along."""
    return {"Authorization": f"Bearer {gateway.token}"}


def post(
    gateway: Gateway, body: Any, path: str = CHAT, seconds: float = 30.0, **other: Any
) -> httpx.Response:
    """Ask the gateway."""
    raw = body if isinstance(body, bytes) else json.dumps(body).encode()
    url = f"http://127.0.0.1:{gateway.port}{path}"
    told = {"headers": headers(gateway), **other}
    with httpx.Client(timeout=seconds, trust_env=False) as client:
        return client.post(url, content=raw, **told)


@dataclass(frozen=True)
class Told:
    """What became of one request: the answer, what the provider was asked, how often it was tried
    again, how many tries were unreported, and the faults.
    """

    answer: httpx.Response
    asked: list[Asked]
    retries: int
    unreported: int
    faults: list[Fault]

    @property
    def ends(self) -> list[tuple[str, str]]:
        return ends(self.faults)


@dataclass(frozen=True)
class Pair:
    """A gateway in front of a stub, used by several tests one after the other."""

    stub: Stub
    gateway: Gateway

    def ask(self, body: Any, *replies: Reply, path: str = CHAT) -> Told:
        """Ask once, while the provider replies in turn."""
        self.stub.reply = in_turn(*replies)
        earlier, asked, faults = self.gateway.usage(), len(self.stub.asked), self._faults()
        answer = post(self.gateway, body, path)
        now = self.gateway.usage()
        return Told(
            answer,
            self.stub.asked[asked:],
            now.retries - earlier.retries,
            now.unreported - earlier.unreported,
            self.gateway.faults(faults),
        )

    def _faults(self) -> int:
        return len(self.gateway.faults())


def rows(folder: Path, *kinds: str) -> list[dict[str, Any]]:
    """The record, or its rows of some kinds."""
    lines = (folder / RECORD).read_text("utf-8").splitlines()
    found: list[dict[str, Any]] = [json.loads(line) for line in lines]
    return [row for row in found if not kinds or row["kind"] in kinds]


def error_of(answer: httpx.Response) -> Mapping[str, Any]:
    """The error in an answer."""
    error: Mapping[str, Any] = answer.json()["error"]
    return error


def ends(faults: list[Fault]) -> list[tuple[str, str]]:
    """Kind and code of the faults that a request ended with."""
    return [(one.kind.value, one.code) for one in faults if one.detail["final"]]
