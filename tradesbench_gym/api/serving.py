"""Running the servers until somebody asks them to stop: two applications, two sockets, one loop.

A request that is being answered when the signal comes is answered. This module knows no operation
and no run.
"""

from __future__ import annotations

import asyncio
import signal
import socket
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, nullcontext, suppress
from typing import Any, cast

import uvicorn
from starlette.types import ASGIApp
from uvicorn.protocols.http.h11_impl import H11Protocol

from tradesbench_gym.api.listening import Listener

_PATIENCE_SECONDS = 5
_KEEP_ALIVE_SECONDS = 60
_POLL_SECONDS = 0.05
_STOPS = (signal.SIGINT, signal.SIGTERM)


class _Gathering:
    """A transport that sends together what is written in one turn of the loop.

    uvicorn writes the head of an answer and its body apart; sent apart they are two system calls,
    and wake whoever waits for them twice.
    """

    def __init__(self, transport: asyncio.Transport) -> None:
        self._transport = transport
        self._loop = asyncio.get_running_loop()
        self._written: list[bytes] = []

    def write(self, data: bytes) -> None:
        if not self._written:
            self._loop.call_soon(self._send)
        self._written.append(data)

    def close(self) -> None:
        self._send()
        self._transport.close()

    def _send(self) -> None:
        written, self._written = self._written, []
        if written:
            self._transport.write(b"".join(written))

    def __getattr__(self, name: str) -> Any:
        return getattr(self._transport, name)


class _Protocol(H11Protocol):
    """HTTP in pure Python, which reads heads of a bounded size only."""

    def connection_made(self, transport: Any) -> None:
        super().connection_made(cast("asyncio.Transport", _Gathering(transport)))
        # uvicorn's patience begins after the first answer only.
        asyncio.get_running_loop().call_later(_PATIENCE_SECONDS, self._expect_request)

    def _expect_request(self) -> None:
        never_asked = getattr(self, "cycle", None) is None
        if never_asked and not self.transport.is_closing():
            self.transport.close()


class _Server(uvicorn.Server):
    """A server that says when it answers and when it is to stop, and leaves the process's signals
    alone: there are two.
    """

    def __init__(
        self, app: ASGIApp, answers: Callable[[], None], stopping: Callable[[], None]
    ) -> None:
        super().__init__(_settings(app))
        self._answers = answers
        self._stopping = stopping

    def capture_signals(self) -> Any:
        return nullcontext()

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        await super().startup(sockets)
        self._answers()

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        self._stopping()
        await super().shutdown(sockets)


def serve(
    served: Sequence[tuple[ASGIApp, Listener]],
    ready: Callable[[], None],
    stopping: Callable[[], None],
    stopped: threading.Event | None = None,
) -> signal.Signals | None:
    """Serve applications until SIGINT or SIGTERM, or until an event is set; the signal, if any.

    Args:
        served: each application with the socket it is asked on.
        ready: called once all of them answer.
        stopping: called when they are to stop, before what is being answered has been.
        stopped: for who serves in a thread of his own.

    """
    _allow_connections()
    waited_for = len(served)
    caught: list[signal.Signals] = []

    def answers() -> None:
        nonlocal waited_for
        waited_for -= 1
        if waited_for == 0:
            ready()

    servers = [(_Server(app, answers, stopping), listener) for app, listener in served]

    def stop(number: int) -> None:
        caught.append(signal.Signals(number))
        for server, _ in servers:
            server.should_exit = True
            server.force_exit = len(caught) > 1

    with _signals(stop):
        asyncio.run(_serve(servers, stopped))
    return caught[0] if caught else None


def _allow_connections() -> None:
    """As many open files as this process may have: what is idle must not use up the few."""
    try:
        import resource
    except ImportError:  # Windows has no such limit
        return
    _, most = resource.getrlimit(resource.RLIMIT_NOFILE)
    with suppress(OSError, ValueError):
        resource.setrlimit(resource.RLIMIT_NOFILE, (most, most))


def _settings(app: ASGIApp) -> uvicorn.Config:
    return uvicorn.Config(
        app,
        # The same everywhere, whatever else is installed.
        loop="asyncio",
        http=_Protocol,
        ws="none",
        lifespan="off",
        # Its lines would hold what clients write into the path.
        access_log=False,
        log_config=None,
        # Warnings are about what strangers send, a line each; nobody may be reading them.
        log_level="error",
        server_header=False,
        proxy_headers=False,
        timeout_keep_alive=_KEEP_ALIVE_SECONDS,
        timeout_graceful_shutdown=_PATIENCE_SECONDS,
    )


async def _serve(
    servers: Sequence[tuple[_Server, Listener]], stopped: threading.Event | None
) -> None:
    running = [
        asyncio.ensure_future(server.serve(sockets=[listener.socket]))
        for server, listener in servers
    ]
    while not any(one.done() for one in running):
        if stopped is not None and stopped.is_set():
            break
        await asyncio.wait(
            running,
            timeout=None if stopped is None else _POLL_SECONDS,
            return_when=asyncio.FIRST_COMPLETED,
        )
    for server, _ in servers:  # one without the other is of no use
        server.should_exit = True
    await asyncio.gather(*running)


@contextmanager
def _signals(stop: Callable[[int], None]) -> Iterator[None]:
    if threading.current_thread() is not threading.main_thread():
        yield  # signals come to the main thread alone
        return
    before = {one: signal.signal(one, lambda number, _: stop(number)) for one in _STOPS}
    try:
        yield
    finally:
        for one, handler in before.items():
            signal.signal(one, handler)
