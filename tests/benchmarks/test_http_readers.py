"""What a booking over HTTP costs while fifty others ask questions, from processes of their own."""

from __future__ import annotations

import time
from contextlib import ExitStack
from pathlib import Path
from statistics import median
from typing import Any

import pytest

from tests.api.crowds import reading
from tests.benchmarks.test_http_oracle import AGENT, DRIVER, served
from tradesbench_gym.api.client import Agent, Driver

BOOKINGS = 20
ENDLESS = "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT count(*) FROM n"


@pytest.mark.benchmark(group="a booking beside fifty readers")
@pytest.mark.parametrize(
    ("operation", "arguments"),
    [
        ("schedule.day", {"date": "2026-10-07"}),
        ("query", {"sql": "SELECT * FROM calls"}),
        ("query", {"sql": ENDLESS}),
    ],
    ids=["schedules", "queries", "endless queries"],
)
def test_a_booking_beside_fifty_readers(
    benchmark: Any, tmp_path: Path, operation: str, arguments: dict[str, Any]
) -> None:
    booked: list[float] = []
    with ExitStack() as held:
        said = held.enter_context(served(tmp_path / "run.sqlite"))
        port = int(said["agent"]["address"].rpartition(":")[2])
        agent = held.enter_context(Agent(AGENT, port=port))
        back = said["driver"]["address"].removeprefix("unix:")
        driver = held.enter_context(Driver(DRIVER, socket=back))
        held.enter_context(reading(port, AGENT, operation, arguments))

        def called() -> tuple[tuple[Any, ...], dict[str, Any]]:
            while driver.advance().stop != "new_call":
                pass
            call = agent.current_call().new_job
            assert call is not None
            agent.register_customer(call.call_id, call.name, call.phone)
            agent.register_location(call.call_id, call.address)
            return (call.call_id, call.job_type), {}

        def book(number: int, job_type: str) -> None:
            begun = time.perf_counter()
            agent.book(number, job_type, "2026-10-07", "11:00", "marcus")
            booked.append(time.perf_counter() - begun)

        benchmark.pedantic(book, setup=called, rounds=BOOKINGS)
    benchmark.extra_info["booking_ms"] = round(1000 * median(booked), 1)
