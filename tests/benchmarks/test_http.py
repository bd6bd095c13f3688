"""What a booking over HTTP costs beside the bare commit that makes it durable."""

from __future__ import annotations

import sqlite3
import time
from collections.abc import Iterator
from pathlib import Path
from statistics import median
from typing import Any

import pytest

from tests.api.companies import Served, opened, served

BOOKINGS = 60


@pytest.fixture
def running(tmp_path: Path) -> Iterator[Served]:
    with opened(tmp_path / "run.sqlite", days=14) as company, served(company) as found:
        yield found


def _bare_commit(connection: sqlite3.Connection, size: int) -> float:
    """Seconds of one durable commit of so many bytes, as a world makes it."""
    begun = time.perf_counter()
    connection.execute("BEGIN IMMEDIATE")
    connection.execute("INSERT INTO bare VALUES (NULL, ?)", (b"x" * size,))
    connection.execute("COMMIT")
    return time.perf_counter() - begun


@pytest.mark.benchmark(group="a booking")
def test_a_booking_beside_a_bare_commit(benchmark: Any, running: Served, tmp_path: Path) -> None:
    bare = sqlite3.connect(tmp_path / "bare.sqlite", isolation_level=None)
    bare.execute("PRAGMA journal_mode = WAL")
    bare.execute("PRAGMA synchronous = FULL")
    bare.execute("CREATE TABLE bare (number INTEGER PRIMARY KEY, bytes BLOB)")
    booked: list[float] = []
    committed: list[float] = []

    def prepared() -> tuple[tuple[Any, ...], dict[str, Any]]:
        caller = running.next_call()
        running.register(caller)
        committed.append(_bare_commit(bare, 300))
        return (running.offer(caller, service_date="2026-10-12"),), {}

    def book(offer: dict[str, Any]) -> None:
        begun = time.perf_counter()
        running.agent("jobs.book", **offer)
        booked.append(time.perf_counter() - begun)

    benchmark.pedantic(book, setup=prepared, rounds=BOOKINGS)
    bare.close()
    benchmark.extra_info["booking_ms"] = round(1000 * median(booked), 2)
    benchmark.extra_info["bare_commit_ms"] = round(1000 * median(committed), 2)
    bar = 3 * median(committed) + 0.003
    benchmark.extra_info["bar_ms"] = round(1000 * bar, 2)
    benchmark.extra_info["of_the_bar"] = round(median(booked) / bar, 2)
    assert len(booked) == BOOKINGS
