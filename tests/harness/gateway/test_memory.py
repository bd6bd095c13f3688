"""A gigabyte from a provider does not stay in the gateway."""

from __future__ import annotations

import contextlib
from pathlib import Path

import httpx
import pytest

from tests.harness.gateway.gateways import before, chat, ends, headers, post, streamed
from tests.harness.stub_provider import Reply, in_turn, providing
from tradesbench_gym.harness.gateway import RECORD

GIGABYTE = 10**9


def peak_bytes(pid: int | None) -> int:
    status = Path(f"/proc/{pid}/status")
    if not status.exists():
        pytest.skip("this system does not tell how much memory a process has had")
    (line,) = [one for one in status.read_text().splitlines() if one.startswith("VmHWM")]
    return int(line.split()[1]) * 1024


def take(url: str, told: dict[str, str]) -> int:
    came = 0
    with (
        contextlib.suppress(httpx.RemoteProtocolError),
        httpx.stream("POST", url, json=streamed(), headers=told, timeout=120) as answer,
    ):
        for piece in answer.iter_raw():
            came += len(piece)
    return came


@pytest.mark.parametrize("whole", [False, True])
def test_an_answer_of_a_gigabyte_is_cut_short(tmp_path: Path, whole: bool) -> None:
    # In one endless event of the wire, or in no event at all: neither is kept for long.
    huge = {"Content-Type": "application/json"} if whole else {}
    with (
        providing(in_turn(Reply(endless=GIGABYTE, headers=huge))) as stub,
        before(stub, tmp_path, request_seconds=120) as gateway,
    ):
        post(gateway, chat(messages=[]))  # whatever is imported at the first request
        begun = peak_bytes(gateway.pid)
        take(f"{gateway.base_url}/chat/completions", headers(gateway))
        grown = peak_bytes(gateway.pid) - begun
        assert ends(gateway.faults())[-1] == ("model", "endless_output")
    assert grown < (80 if whole else 30) * 10**6
    assert (tmp_path / RECORD).stat().st_size < 100 * 10**6


@pytest.mark.slow
def test_a_gigabyte_that_is_let_through_is_not_kept_either(tmp_path: Path) -> None:
    with (
        providing(in_turn(Reply(endless=GIGABYTE))) as stub,
        before(stub, tmp_path, request_seconds=300, most_bytes=2 * GIGABYTE) as gateway,
    ):
        post(gateway, chat(messages=[]))
        begun = peak_bytes(gateway.pid)
        came = take(f"{gateway.base_url}/chat/completions", headers(gateway))
        grown = peak_bytes(gateway.pid) - begun
    assert came >= GIGABYTE
    assert grown < 30 * 10**6
