"""The clients ask for what their methods say, and raise what the server said."""

from __future__ import annotations

import json
import socket
from collections.abc import Callable
from http.client import HTTPConnection
from pathlib import Path
from types import SimpleNamespace
from typing import Any, NamedTuple

import pytest

from tests.api.remote import AGENT, DRIVER, Company, open_company
from tests.worlds import tiny_business
from tradesbench_gym.api import models
from tradesbench_gym.api.client import Agent, ApiError, Client, Driver, UnreachableError
from tradesbench_gym.api.examples import example_of
from tradesbench_gym.api.operations import AGENT_OPERATIONS, DRIVER_OPERATIONS, Operation
from tradesbench_gym.errors import TradesBenchError

ASKED: dict[str, Callable[[Any], Any]] = {
    "calls.current": lambda agent: agent.current_call(),
    "calls.reject": lambda agent: agent.reject(12),
    "calls.acknowledge": lambda agent: agent.acknowledge(12),
    "customers.register": lambda agent: agent.register_customer(
        12, "Maria Lopez", "(602) 555-0142"
    ),
    "customers.find": lambda agent: agent.find_customers(name="lopez"),
    "locations.register": lambda agent: agent.register_location(12, "1 E Main St"),
    "locations.find": lambda agent: agent.find_locations(),
    "jobs.book": lambda agent: agent.book(12, "plumbing", "2026-10-02", "09:00", "roberto"),
    "jobs.get": lambda agent: agent.job(12),
    "schedule.day": lambda agent: agent.schedule("2026-10-02"),
    "weather.today": lambda agent: agent.weather(),
    "weather.forecast": lambda agent: agent.forecast(),
    "company.status": lambda agent: agent.status(),
    "query": lambda agent: agent.query("SELECT 1"),
    "advance": lambda driver: driver.advance(),
    "leave_unanswered": lambda driver: driver.leave_unanswered(12),
    "status": lambda driver: driver.status(),
}


class Asked(NamedTuple):
    """What a client sent."""

    method: str
    path: str
    body: bytes
    headers: dict[str, str]


class Pretended(HTTPConnection):
    """A connection to a server that is one function: from what is asked to status and body."""

    def __init__(self, answer: Callable[[Asked], tuple[int, bytes]]) -> None:
        super().__init__("company")
        self._answer = answer

    def request(
        self, method: str, url: str, body: Any = None, headers: Any = None, **_: Any
    ) -> None:
        self._said = self._answer(Asked(method, url, body, headers))

    def getresponse(self) -> Any:
        status, body = self._said
        return SimpleNamespace(status=status, read=lambda: body)


def to(kind: type[Client], answer: Callable[[Asked], tuple[int, bytes]]) -> Any:
    """A client to a server that is one function."""
    return kind("secret-token", connection=Pretended(answer))


def test_each_operation_has_a_method() -> None:
    assert list(ASKED) == [one.name for one in (*AGENT_OPERATIONS, *DRIVER_OPERATIONS)]


@pytest.mark.parametrize("operation", [*AGENT_OPERATIONS, *DRIVER_OPERATIONS], ids=lambda o: o.name)
def test_a_method_asks_for_its_operation_and_gives_its_answer(operation: Operation) -> None:
    example = example_of(operation.answer)
    asked: list[Asked] = []

    def answer(request: Asked) -> tuple[int, bytes]:
        asked.append(request)
        operation.request.model_validate_json(request.body)
        return 200, json.dumps(example).encode()

    kind = Agent if operation in AGENT_OPERATIONS else Driver
    given = ASKED[operation.name](to(kind, answer))
    assert isinstance(given, operation.answer)
    assert given.model_dump() == example
    (request,) = asked
    assert (request.method, request.path) == ("POST", operation.path)
    assert request.headers["Authorization"] == "Bearer secret-token"
    assert request.headers["Content-Type"] == "application/json"


def test_what_is_left_out_is_not_sent() -> None:
    bodies: list[Any] = []

    def answer(request: Asked) -> tuple[int, bytes]:
        bodies.append(json.loads(request.body))
        return 200, b'{"customers": []}'

    to(Agent, answer).find_customers(phone="555")
    assert bodies == [{"phone": "555"}]


@pytest.fixture
def company(tmp_path: Path) -> Any:
    with open_company(tmp_path, tiny_business(days=1)) as opened:
        yield opened


def test_a_call_is_taken_over_a_port_and_a_socket(company: Company) -> None:
    agent, driver = company.agent, company.driver
    assert agent.current_call().kind == "none"
    while (stop := driver.advance()).stop != "new_call":
        assert stop.stop == "day_opened"
    call = agent.current_call().new_job
    assert call is not None
    assert call.call_id == stop.call_id == 1
    customer = agent.register_customer(1, call.name, call.phone)
    location = agent.register_location(1, call.address)
    assert agent.find_customers(customer_id=customer.customer_id).customers == [customer]
    assert agent.find_locations(location_id=location.location_id).locations == [location]
    date, window = agent.status().date, "15:00"
    booking = agent.book(1, call.job_type, date, window, "roberto")
    if booking.job is not None:
        assert agent.job(1) == booking.job
    assert driver.status().call_id is None


def test_a_refusal_carries_code_sentence_field_and_status(company: Company) -> None:
    with pytest.raises(ApiError) as caught:
        company.agent.reject(7)
    error = caught.value
    assert isinstance(error, TradesBenchError)
    assert (error.status, error.code, error.field) == (404, "unknown_call", "call_id")
    assert str(error) == "no call 7 has come in"
    with pytest.raises(ApiError) as caught:
        company.agent.query("DROP TABLE calls")
    assert (caught.value.status, caught.value.code) == (422, "sql_read_only")


def test_the_wrong_token_opens_neither_door(company: Company) -> None:
    with Agent(DRIVER, port=company.agent_port) as agent, pytest.raises(ApiError) as caught:
        agent.status()
    assert (caught.value.status, caught.value.code) == (401, "token_wrong")
    with Driver(AGENT, socket=company.driver_socket) as driver, pytest.raises(ApiError) as caught:
        driver.advance()
    assert (caught.value.status, caught.value.code) == (401, "token_wrong")
    assert AGENT not in str(caught.value)


def test_arguments_that_cannot_be_are_refused_before_they_are_sent() -> None:
    def answer(_: Asked) -> tuple[int, bytes]:
        raise AssertionError("sent")

    agent = to(Agent, answer)
    asked: tuple[tuple[Callable[[], object], str], ...] = (
        (lambda: agent.reject(0), "call_id"),
        (lambda: agent.schedule("tomorrow"), "date"),
        (lambda: agent.find_customers(nickname="Mo"), "nickname"),
    )
    for ask, field in asked:
        with pytest.raises(ApiError) as caught:
            ask()
        assert (caught.value.code, caught.value.field) == ("invalid_argument", field)
        assert caught.value.status == 0


def test_an_operation_that_there_is_not_is_refused_by_name() -> None:
    agent = to(Agent, lambda _: (200, b"{}"))
    with pytest.raises(ApiError, match=r"no operation 'advance': calls\.current, ") as caught:
        agent.ask("advance", models.CurrentCall)
    assert caught.value.code == "unknown_operation"


@pytest.mark.parametrize(
    "response",
    [
        (200, b"<html>hello</html>"),
        (200, b'{"kind": "none"}'),
        (200, b""),
        (404, b"not found"),
        (502, b'{"detail": "bad gateway"}'),
    ],
)
def test_another_server_is_told_from_the_company(response: tuple[int, bytes]) -> None:
    with pytest.raises(UnreachableError) as caught:
        to(Agent, lambda _: response).current_call()
    assert caught.value.code == "foreign_answer"
    assert str(caught.value).isprintable()


def test_a_server_that_went_and_came_back_is_found_again(company: Company) -> None:
    agent = company.agent
    agent.status()
    agent._connection.sock.shutdown(socket.SHUT_RDWR)
    with pytest.raises(UnreachableError):
        agent.status()
    assert agent.status().day == 1
    assert agent._connection.sock is not None
    idle = agent._connection.sock
    agent._used -= 3600  # an hour in which nobody asked
    agent.status()
    assert agent._connection.sock is not idle


def test_nobody_there_is_one_sentence(tmp_path: Path) -> None:
    with socket.socket() as door:
        door.bind(("127.0.0.1", 0))
        with Agent(AGENT, port=door.getsockname()[1]) as agent:
            with pytest.raises(UnreachableError) as caught:
                agent.status()
            assert caught.value.code == "unreachable"
    with pytest.raises(UnreachableError) as caught:
        Driver(DRIVER, socket=tmp_path / "none")
    assert (caught.value.code, caught.value.field) == ("no_server", "socket")


def test_a_client_needs_exactly_one_way_to_its_server() -> None:
    for ways in ({}, {"port": 1, "socket": "x"}):
        with pytest.raises(UnreachableError) as caught:
            Agent(AGENT, **ways)  # type: ignore[arg-type]
        assert caught.value.code == "no_server"


def test_the_environment_of_an_agent_is_enough(
    company: Company, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SUNRIDGE_API_PORT", str(company.agent_port))
    monkeypatch.setenv("SUNRIDGE_API_TOKEN", AGENT)
    with Agent.from_environment() as agent:
        assert agent.status().day == 1
    monkeypatch.delenv("SUNRIDGE_API_TOKEN")
    with pytest.raises(UnreachableError) as caught:
        Agent.from_environment()
    assert "SUNRIDGE_API_TOKEN" in str(caught.value)
