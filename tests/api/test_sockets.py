"""The two sockets: only on this computer, each with its own operations, and nobody's file lost."""

from __future__ import annotations

import os
import socket
import tempfile
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import httpx
import pytest
from fastapi.routing import APIRoute

from tests.api.companies import Company, Served
from tradesbench_gym.api.app import agent_routes, driver_routes
from tradesbench_gym.api.listening import (
    EVERYBODY,
    ONLY_US,
    ListenError,
    listen_on_file,
    listen_on_port,
)
from tradesbench_gym.api.operations import AGENT_OPERATIONS, DRIVER_OPERATIONS

UNIX = pytest.mark.skipif(not hasattr(socket, "AF_UNIX"), reason="sockets have no files here")


@pytest.fixture
def folder() -> Iterator[Path]:
    """A folder whose name is short enough for the file of a socket."""
    with tempfile.TemporaryDirectory(prefix="tb-") as found:
        yield Path(found)


def test_each_application_has_the_routes_of_its_list_and_no_other(company: Company) -> None:
    for app, operations in (
        (agent_routes(company.office), AGENT_OPERATIONS),
        (driver_routes(company.office), DRIVER_OPERATIONS),
    ):
        made = {route.path: route.methods for route in app.routes if isinstance(route, APIRoute)}
        assert made == {one.path: {"POST"} for one in operations}
        assert {str(getattr(route, "path", "")) for route in app.routes} == {
            *made,
            "/openapi.json",
        }


def test_the_agent_s_server_has_no_operation_of_the_driver(running: Served) -> None:
    for one in DRIVER_OPERATIONS:
        assert running.agent.refused(one.name) == (404, "unknown_operation")
    for one in AGENT_OPERATIONS:
        assert running.driver.refused(one.name) == (404, "unknown_operation")
    said = running.agent.client.get("/openapi.json").json()
    assert set(said["paths"]) == {one.path for one in AGENT_OPERATIONS}


def test_a_port_is_one_of_this_computer_alone() -> None:
    listener = listen_on_port(0)
    with closing(listener):
        assert listener.socket.getsockname()[0] == "127.0.0.1"
        port = listener.socket.getsockname()[1]
        assert listener.address == f"http://127.0.0.1:{port}"
        with pytest.raises(ListenError, match=rf"port {port}: somebody else listens there"):
            listen_on_port(port)
    listen_on_port(port).close()


def test_answers_are_sent_at_once(running: Served) -> None:
    # asyncio switches Nagle off where the socket says that it is TCP; else an answer waits 40 ms.
    assert running.listeners[0].socket.proto == socket.IPPROTO_TCP


def test_a_port_that_is_none_is_refused() -> None:
    with pytest.raises(ListenError, match="cannot listen on port 70000"):
        listen_on_port(70_000)


@UNIX
@pytest.mark.parametrize("mode", [EVERYBODY, ONLY_US])
def test_a_socket_s_file_has_its_mode_and_goes_with_it(folder: Path, mode: int) -> None:
    path = folder / "a.sock"
    listener = listen_on_file(path, mode)
    assert path.stat().st_mode & 0o777 == mode
    assert listener.address == f"unix:{path}"
    listener.close()
    assert not path.exists()


@UNIX
def test_a_socket_that_was_left_behind_is_replaced(folder: Path) -> None:
    path = folder / "a.sock"
    listen_on_file(path, ONLY_US).socket.close()  # as if killed: the file stays
    assert path.exists()
    listen_on_file(path, ONLY_US).close()
    assert not path.exists()


@UNIX
def test_a_socket_that_somebody_listens_on_is_left_alone(folder: Path) -> None:
    path = folder / "a.sock"
    with closing(listen_on_file(path, ONLY_US)):
        with pytest.raises(ListenError, match="another server listens"):
            listen_on_file(path, ONLY_US)
        with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as asked:
            asked.connect(str(path))


@UNIX
def test_a_socket_that_was_replaced_meanwhile_is_not_removed(folder: Path) -> None:
    path = folder / "a.sock"
    first = listen_on_file(path, ONLY_US)
    path.unlink()
    path.write_text("mine", encoding="utf-8")
    first.close()
    assert path.read_text(encoding="utf-8") == "mine"


@UNIX
@pytest.mark.parametrize(
    ("name", "told"),
    [
        ("notes.txt", "no socket"),
        ("nowhere/a.sock", "cannot listen"),
        ("x" * 120, "too long"),
    ],
)
def test_a_file_that_cannot_be_a_socket_is_refused_and_kept(
    folder: Path, name: str, told: str
) -> None:
    (folder / "notes.txt").write_text("mine", encoding="utf-8")
    with pytest.raises(ListenError, match=told):
        listen_on_file(folder / name, ONLY_US)
    assert os.listdir(folder) == ["notes.txt"]  # noqa: PTH208 - names are all that is wanted
    assert (folder / "notes.txt").read_text(encoding="utf-8") == "mine"


def test_one_connection_serves_many_requests(running: Served) -> None:
    with httpx.Client(base_url=running.addresses[0], headers=running.agent.client.headers) as one:
        for _ in range(20):
            answer = one.post("/v1/company.status", json={})
            assert answer.status_code == 200
            assert "server" not in answer.headers


def test_an_answer_comes_in_one_piece_and_so_do_the_next_ones(running: Served) -> None:
    token = running.agent.client.headers["Authorization"]
    head = f"POST /v1/weather.forecast HTTP/1.1\r\nHost: company\r\nAuthorization: {token}\r\n"
    running.driver("advance")
    port = running.listeners[0].socket.getsockname()[1]
    with socket.create_connection(("127.0.0.1", port), 10) as connection:
        for _ in range(20):
            connection.sendall(f"{head}Content-Length: 2\r\n\r\n{{}}".encode())
            answer = connection.recv(1 << 20)
            assert answer.startswith(b"HTTP/1.1 200 OK")
            told, _, body = answer.partition(b"\r\n\r\n")
            assert f"content-length: {len(body)}".encode() in told.lower()
