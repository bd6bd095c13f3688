"""Many at once: one answer to a call wins, and who reads keeps nobody waiting who writes."""

from __future__ import annotations

import threading
import time
from collections import Counter
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from statistics import median
from typing import Any

import httpx
import pytest

from tests.api.companies import AGENT as TOKEN
from tests.api.companies import Company, Party, Served, opened, served
from tests.api.crowds import reading
from tests.world.runs import rows
from tradesbench_gym.core.codes import CallState
from tradesbench_gym.world import Command

ROUNDS = 40
# Questions that SQLite works on: some tenths of a second, and until it is stopped after two.
SLOW = (
    "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n LIMIT 700000) "
    "SELECT count(*) FROM n"
)
ENDLESS = "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT count(*) FROM n"


def at_once(*asked: Callable[[], httpx.Response]) -> list[httpx.Response]:
    """The answers to requests from connections of their own, sent in the same moment."""
    barrier = threading.Barrier(len(asked))

    def ask(one: Callable[[], httpx.Response]) -> httpx.Response:
        barrier.wait(10)
        return one()

    with ThreadPoolExecutor(len(asked)) as pool:
        return list(pool.map(ask, asked))


def _connections(running: Served, count: int) -> list[Party]:
    return [
        Party(httpx.Client(base_url=running.addresses[0], timeout=60), TOKEN) for _ in range(count)
    ]


def test_of_two_answers_to_one_call_exactly_one_wins(running: Served) -> None:
    first, second = _connections(running, 2)
    won: Counter[str] = Counter()
    for _ in range(ROUNDS):
        caller = running.next_call()
        running.register(caller)
        offer, number = running.offer(caller, service_date="2026-10-05"), caller["call_id"]
        answers = at_once(
            lambda offer=offer: first.ask("jobs.book", **offer),  # type: ignore[misc]
            lambda number=number: second.ask("calls.reject", call_id=number),  # type: ignore[misc]
        )
        assert sorted(answer.status_code for answer in answers) == [200, 409]
        (lost,) = [answer for answer in answers if answer.status_code == 409]
        assert lost.json()["error"]["code"] == "call_answered"
        state = CallState(int(running.world.desk["calls"][number - 1]["state"]))
        rejected = answers[1].status_code == 200
        assert (state == CallState.REJECTED) == rejected
        won["rejected" if rejected else "booked"] += 1
    for party in (first, second):
        party.client.close()
    answered = rows(
        running.world.path,
        "SELECT count(*) FROM journal WHERE command IN ({}, {})",
        int(Command.OFFER),
        int(Command.REJECT),
    )
    assert answered == [(ROUNDS,)]
    assert won.total() == ROUNDS


def test_of_many_offers_to_one_caller_exactly_one_is_made(running: Served) -> None:
    parties = _connections(running, 8)
    for _ in range(5):
        caller = running.next_call()
        running.register(caller)
        offer = running.offer(caller, service_date="2026-10-05")
        answers = at_once(
            *(lambda one=one: one.ask("jobs.book", **offer) for one in parties)  # noqa: B023 - asked before the next round
        )
        assert Counter(answer.status_code for answer in answers) == {200: 1, 409: 7}
    for party in parties:
        party.client.close()


def test_the_driver_cannot_let_time_pass_over_a_call_that_is_being_answered(
    running: Served,
) -> None:
    for _ in range(10):
        number = running.next_call()["call_id"]
        answers = at_once(
            lambda: running.driver.ask("advance"),
            lambda number=number: running.agent.ask("calls.reject", call_id=number),  # type: ignore[misc]
        )
        assert answers[1].status_code == 200
        assert answers[0].status_code in {200, 409}
        if answers[0].status_code == 200 and answers[0].json()["stop"] == "new_call":
            running.agent("calls.reject", call_id=answers[0].json()["call_id"])


def _booked(running: Served, count: int) -> list[float]:
    """Seconds that each of so many bookings took."""
    took = []
    for _ in range(count):
        caller = running.next_call()
        running.register(caller)
        offer = running.offer(caller, service_date="2026-10-05")
        begun = time.perf_counter()
        running.agent("jobs.book", **offer)
        took.append(time.perf_counter() - begun)
    return took


@pytest.mark.parametrize(
    ("operation", "arguments"),
    [
        ("query", {"sql": SLOW}),
        pytest.param("query", {"sql": ENDLESS}, marks=pytest.mark.slow),
        ("query", {"sql": "SELECT * FROM calls"}),
        ("schedule.day", {"date": "2026-10-05"}),
    ],
    ids=["slow queries", "endless queries", "queries", "questions"],
)
def test_fifty_readers_do_not_keep_the_writer_waiting(
    running: Served, operation: str, arguments: dict[str, Any]
) -> None:
    port = running.listeners[0].socket.getsockname()[1]
    with reading(port, TOKEN.secret.decode(), operation, arguments) as counts:
        took = _booked(running, 10)
    assert sum(counts) > 1
    # Whoever writes waits for a round of short answers, and never for a statement. Measured on a
    # quiet machine: 5 ms beside queries of either kind, 25 ms beside questions.
    assert median(took) < 1


def test_readers_see_one_moment_while_commands_are_done(tmp_path: Any) -> None:
    """No answer mixes two moments: what was counted is what was listed."""
    with opened(tmp_path / "run.sqlite") as company, served(company) as running:
        stop = threading.Event()

        def look() -> int:
            looked = 0
            with httpx.Client(base_url=running.addresses[0], timeout=60) as client:
                party = Party(client, TOKEN)
                while not stop.is_set():
                    total = party("company.status")["total"]
                    assert total["booked"] + total["declined"] + total["rejected"] in {
                        total["calls"],
                        total["calls"] - 1,
                    }
                    looked += 1
            return looked

        with ThreadPoolExecutor(4) as pool:
            looking = [pool.submit(look) for _ in range(4)]
            _booked(running, 15)
            stop.set()
            assert all(one.result(30) > 0 for one in looking)


def test_a_picture_once_taken_never_changes(company: Company) -> None:
    caller = company.next_call()
    picture = company.office.picture
    before = picture.desk.array.tobytes()
    company.register(caller)
    company.agent("jobs.book", **company.offer(caller))
    company.driver("advance")
    assert picture.desk.array.tobytes() == before
    assert company.office.picture is not picture
