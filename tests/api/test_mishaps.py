"""What goes wrong around a command is not the run's end."""

from __future__ import annotations

import socket
from typing import Any
from urllib.parse import urlsplit

import pytest

from tests.api.companies import Company, Served, served
from tradesbench_gym.api import serving
from tradesbench_gym.api.pictures import Watcher


def test_a_picture_that_could_not_be_taken_is_taken_by_whoever_comes_next(
    company: Company, monkeypatch: pytest.MonkeyPatch
) -> None:
    caller = company.next_call()
    looked = Watcher.look
    failures = [MemoryError("no memory just then")]

    def look(*given: Any) -> Any:
        if failures:
            raise failures.pop()
        return looked(*given)

    monkeypatch.setattr(Watcher, "look", look)
    with pytest.raises(MemoryError):
        company.agent("calls.reject", call_id=caller["call_id"])
    # It is in the file, and so the call is no more to be answered; and the run goes on.
    status, _ = company.agent.refused("calls.reject", call_id=caller["call_id"])
    assert status == 409
    assert company.next_call()["call_id"] == caller["call_id"] + 1
    told = company.agent("query", sql="SELECT call_id, outcome FROM calls ORDER BY call_id")
    assert told["rows"][0] == [caller["call_id"], "rejected"]


def test_who_connects_and_asks_nothing_is_not_waited_for(
    company: Company, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(serving, "_PATIENCE_SECONDS", 0.2)
    with served(company) as running:
        place = urlsplit(_base(running))
        with socket.create_connection((place.hostname, place.port), timeout=10) as idle:
            assert idle.recv(1) == b""
        assert running.agent("company.status")["cash_cents"] > 0


def _base(running: Served) -> str:
    address = running.addresses[0]
    return address if "://" in address else f"http://{address}"
