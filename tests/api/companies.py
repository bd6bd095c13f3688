"""A company behind its two applications, and a way to ask both as an agent and a driver would."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import httpx
from starlette.types import ASGIApp

from tests.world.runs import DAYS, SEED
from tests.worlds import tiny_business
from tradesbench_gym.api.app import agent_app, driver_app
from tradesbench_gym.api.listening import Listener, listen_on_port
from tradesbench_gym.api.office import Office
from tradesbench_gym.api.serving import serve
from tradesbench_gym.api.tokens import Token
from tradesbench_gym.world import World

AGENT = Token(b"the-token-of-the-agent")
DRIVER = Token(b"the-token-of-the-driver")
PATIENCE_SECONDS = 60.0
STATUSES = {400, 401, 404, 405, 409, 413, 422, 503}


def bearer(token: Token) -> dict[str, str]:
    return {"Authorization": f"Bearer {token.secret.decode()}"}


class InProcess(httpx.BaseTransport):
    """An application asked without a socket; what it does not catch is raised here."""

    def __init__(self, app: ASGIApp, *, raises: bool = True) -> None:
        self._app = httpx.ASGITransport(app, raise_app_exceptions=raises)
        self._runner = asyncio.Runner()

    def handle_request(self, request: httpx.Request) -> httpx.Response:
        body = request.read()

        async def ask() -> httpx.Response:
            sent = httpx.Request(request.method, request.url, headers=request.headers, content=body)
            found = await self._app.handle_async_request(sent)
            stream = httpx.ByteStream(await found.aread())
            return httpx.Response(found.status_code, headers=found.headers, stream=stream)

        return self._runner.run(ask())

    def close(self) -> None:
        self._runner.close()


def in_process(app: ASGIApp, *, raises: bool = True) -> httpx.Client:
    return httpx.Client(transport=InProcess(app, raises=raises), base_url="http://company")


class Party:
    """One of the two, with its token: `agent("jobs.get", job_id=1)`."""

    def __init__(self, client: httpx.Client, token: Token) -> None:
        self.client = client
        self.client.headers.update(bearer(token))

    def ask(self, operation: str, **arguments: Any) -> httpx.Response:
        return self.client.post(f"/v1/{operation}", json=arguments)

    def __call__(self, operation: str, **arguments: Any) -> Any:
        answer = self.ask(operation, **arguments)
        assert answer.status_code == 200, answer.text
        return answer.json()

    def refused(self, operation: str, **arguments: Any) -> tuple[int, str]:
        """Status and code of an error, whose shape is looked at."""
        return problem(self.ask(operation, **arguments))


def problem(answer: httpx.Response) -> tuple[int, str]:
    """Status and code of an answer that must be an error of the one shape."""
    said = answer.json()["error"]
    assert set(said) == {"code", "message", "field"}
    assert answer.status_code in STATUSES, answer.text
    assert said["message"]
    assert "\n" not in said["message"]
    return answer.status_code, said["code"]


@dataclass
class Company:
    """A world, its office, and both parties."""

    world: World
    office: Office
    agent: Party
    driver: Party

    def next_call(self) -> dict[str, Any]:
        """Let time pass until somebody asks for new work; the caller."""
        while (stop := self.driver("advance")["stop"]) != "new_call":
            assert stop != "ended"
        caller: dict[str, Any] = self.agent("calls.current")["new_job"]
        return caller

    def register(self, caller: Mapping[str, Any]) -> None:
        wanted = {key: caller[key] for key in ("call_id", "name", "phone")}
        self.agent("customers.register", **wanted)
        self.agent("locations.register", call_id=caller["call_id"], address=caller["address"])

    def offer(self, caller: Mapping[str, Any], **other: Any) -> dict[str, Any]:
        """A booking that the company lets out: tomorrow at 11 with who can do the work."""
        schedule = self.agent("schedule.day", date="2026-10-02")
        able = [
            man["technician"]
            for man in schedule["technicians"]
            if caller["job_type"] in man["job_types"]
        ]
        return {
            "call_id": caller["call_id"],
            "job_type": caller["job_type"],
            "service_date": "2026-10-02",
            "window_start": "11:00",
            "technician": [*able, "marcus"][0],
            **other,
        }


@contextmanager
def opened(
    path: Path, changes: Mapping[str, Any] | None = None, days: int = DAYS, seed: int = SEED
) -> Iterator[Company]:
    """A tiny company asked in process; its file and its database are closed afterwards."""
    world = World.create(path, seed, business=tiny_business(changes, days))
    office = Office(world)
    clients = in_process(agent_app(office, AGENT)), in_process(driver_app(office, DRIVER))
    try:
        with clients[0], clients[1]:
            parties = Party(clients[0], AGENT), Party(clients[1], DRIVER)
            yield Company(world, office, *parties)
    finally:
        office.close()


@dataclass
class Served(Company):
    """A company on two ports."""

    listeners: tuple[Listener, Listener]

    @property
    def addresses(self) -> tuple[str, str]:
        return self.listeners[0].address, self.listeners[1].address


@contextmanager
def answering(office: Office, *served: tuple[ASGIApp, Listener]) -> Iterator[None]:
    """Serve applications from a thread of this process."""
    ready, stopped = threading.Event(), threading.Event()
    thread = threading.Thread(target=serve, args=(served, ready.set, office.stop, stopped))
    thread.start()
    try:
        assert ready.wait(PATIENCE_SECONDS)
        yield
    finally:
        stopped.set()
        thread.join(PATIENCE_SECONDS)
        for _, listener in served:
            listener.close()


@contextmanager
def served(company: Company) -> Iterator[Served]:
    """Serve a company on two ports."""
    office, listeners = company.office, (listen_on_port(0), listen_on_port(0))
    apps = agent_app(office, AGENT), driver_app(office, DRIVER)
    with (
        answering(office, *zip(apps, listeners, strict=True)),
        httpx.Client(base_url=listeners[0].address, timeout=PATIENCE_SECONDS) as agent,
        httpx.Client(base_url=listeners[1].address, timeout=PATIENCE_SECONDS) as driver,
    ):
        parties = Party(agent, AGENT), Party(driver, DRIVER)
        yield Served(company.world, office, *parties, listeners)
