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
MEASURED = 10
"""Bookings whose size is measured: before SQLite begins the log of changes again."""


@pytest.fixture
def running(tmp_path: Path) -> Iterator[Served]:
    with opened(tmp_path / "run.sqlite", days=14) as company, served(company) as found:
        yield found


class Bare:
    """A database that does nothing but commit, in the way in which a world does."""

    def __init__(self, path: Path) -> None:
        self._connection = sqlite3.connect(path, isolation_level=None)
        self._connection.execute("PRAGMA journal_mode = WAL")
        self._connection.execute("PRAGMA synchronous = FULL")
        self._connection.execute("CREATE TABLE bare (number INTEGER PRIMARY KEY, bytes BLOB)")
        self._log = path.with_name(f"{path.name}-wal")

    def commit(self, size: int) -> tuple[float, int]:
        """Make so many bytes durable; the seconds it took, and the bytes written for it."""
        before, begun = self._log.stat().st_size, time.perf_counter()
        self._connection.execute("BEGIN IMMEDIATE")
        self._connection.execute("INSERT INTO bare VALUES (NULL, ?)", (b"x" * size,))
        self._connection.execute("COMMIT")
        took = time.perf_counter() - begun
        return took, self._log.stat().st_size - before

    def of_size(self, written: int) -> int:
        """How many bytes a row must have so that about so much is written for it."""
        size = 1
        while self.commit(size)[1] < written:
            size += 512
        return size

    def close(self) -> None:
        self._connection.close()


def _book(running: Served, offer: dict[str, Any]) -> tuple[float, int]:
    """Seconds of a booking, and the bytes written for it."""
    log = running.world.path.with_name(f"{running.world.path.name}-wal")
    before, begun = log.stat().st_size, time.perf_counter()
    running.agent("jobs.book", **offer)
    took = time.perf_counter() - begun
    return took, log.stat().st_size - before


def _offer(running: Served) -> dict[str, Any]:
    caller = running.next_call()
    running.register(caller)
    return running.offer(caller, service_date="2026-10-12")


@pytest.mark.benchmark(group="a booking")
def test_a_booking_beside_a_bare_commit_of_its_size(
    benchmark: Any, running: Served, tmp_path: Path
) -> None:
    bare = Bare(tmp_path / "bare.sqlite")
    written = int(median(_book(running, _offer(running))[1] for _ in range(MEASURED)))
    size = bare.of_size(written)
    booked: list[float] = []
    committed: list[float] = []

    def prepared() -> tuple[tuple[Any, ...], dict[str, Any]]:
        offer = _offer(running)
        committed.append(bare.commit(size)[0])
        return (offer,), {}

    def book(offer: dict[str, Any]) -> None:
        booked.append(_book(running, offer)[0])

    benchmark.pedantic(book, setup=prepared, rounds=BOOKINGS)
    bare.close()
    bar = 3 * median(committed) + 0.003
    benchmark.extra_info["bytes_written"] = written
    benchmark.extra_info["booking_ms"] = round(1000 * median(booked), 2)
    benchmark.extra_info["bare_commit_ms"] = round(1000 * median(committed), 2)
    benchmark.extra_info["bar_ms"] = round(1000 * bar, 2)
    benchmark.extra_info["of_the_bar"] = round(median(booked) / bar, 2)
    assert len(booked) == BOOKINGS
