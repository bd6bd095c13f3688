"""Bodies that are no request: huge, empty, broken; each is one sentence, and nothing happens."""

from __future__ import annotations

import json
import socket
from collections.abc import Iterator

import pytest

from tests.api.companies import AGENT, Company, Served, problem
from tradesbench_gym.api.operations import AGENT_OPERATIONS, BODY_LIMIT, DRIVER_OPERATIONS

KIB = 1024
HEAD = (
    "POST /v1/company.status HTTP/1.1\r\nHost: company\r\n"
    f"Authorization: Bearer {AGENT.secret.decode()}\r\n"
)
BROKEN = {
    "nothing": b"",
    "blank": b"   ",
    "words": b"hello",
    "half an object": b'{"call_id": ',
    "two objects": b"{} {}",
    "no UTF-8": b'{"call_id": "\xff\xfe"}',
    "UTF-16": '{"sql": "SELECT 1"}'.encode("utf-16"),
    "UTF-16 without a mark": '{"call_id": 1}'.encode("utf-16-le"),
    "half a character": b'{"call_id": "\\ud800"}',
    "half a character as name": b'{"\\ud800": 1}',
    "a list": b"[]",
    "null": b"null",
    "a number": b"1",
    "text": b'"text"',
    "a form": b"call_id=1&sql=SELECT",
    "deep lists": b"[" * 30_000 + b"]" * 30_000,
    "deep objects": b'{"a":' * 10_000 + b"1" + b"}" * 10_000,
    "endless digits": b'{"call_id": ' + b"9" * 5_000 + b"}",
}
ODD = {
    "a huge number": b'{"call_id": 1' + b"0" * 30 + b"}",
    "a negative number": b'{"call_id": -1}',
    "NaN": b'{"call_id": NaN}',
    "Infinity": b'{"call_id": -Infinity}',
    "an exponent": b'{"call_id": 1e999}',
    "NUL": b'{"call_id": "\\u0000"}',
    "a long name": b'{"' + b"x" * 60_000 + b'": 1}',
    "another name": b'{"call_id": 1, "call": 1}',
    "null": b'{"call_id": null}',
    "a list": b'{"call_id": [1]}',
}  # fmt: skip


@pytest.mark.parametrize("body", BROKEN.values(), ids=BROKEN)
def test_a_body_that_is_no_object_is_malformed(company: Company, body: bytes) -> None:
    for party, operations in (
        (company.agent, AGENT_OPERATIONS),
        (company.driver, DRIVER_OPERATIONS),
    ):
        for one in operations:
            assert problem(party.client.post(one.path, content=body)) == (400, "malformed_body")
    assert company.world.commands == 0


@pytest.mark.parametrize("body", ODD.values(), ids=ODD)
def test_an_argument_that_cannot_be_is_named(company: Company, body: bytes) -> None:
    for one in AGENT_OPERATIONS:
        answer = company.agent.client.post(one.path, content=body)
        assert problem(answer) == (422, "invalid_argument")
        assert 0 < len(answer.json()["error"]["field"]) <= 60
        assert len(answer.content) < 600


@pytest.mark.parametrize(
    "text", ["\0", "a\0b", "\x7f\x1b[2J", "﷽" * 190, "1" * 200, "9" * 40 + " A St"]
)
def test_strange_text_is_an_answer_and_no_failure(company: Company, text: str) -> None:
    caller = company.next_call()["call_id"]
    for operation, arguments in (
        ("customers.register", {"call_id": caller, "name": text, "phone": text[:40]}),
        ("locations.register", {"call_id": caller, "address": text}),
        ("query", {"sql": text}),
        ("schedule.day", {"date": text}),
        ("schedule.day", {"date": "\uff12\uff10\uff12\uff16-10-01"}),
        ("schedule.day", {"date": "2026-10-01\n"}),
    ):
        assert company.agent.refused(operation, **arguments)[0] in {404, 422}
    for operation, field in (("customers.find", "name"), ("locations.find", "address")):
        assert list(company.agent(operation, **{field: text}).values()) == [[]]


def test_whatever_the_body_is_called_it_is_read_as_json(company: Company) -> None:
    for kind in ("application/x-www-form-urlencoded", "text/plain", "multipart/form-data"):
        answer = company.agent.client.post(
            "/v1/company.status", content=b"{}", headers={"Content-Type": kind}
        )
        assert answer.status_code == 200


def test_64_kib_are_read_and_one_byte_more_is_not(company: Company) -> None:
    assert BODY_LIMIT == 64 * KIB
    for size, expected in ((64 * KIB, (200, "")), (64 * KIB + 1, (413, "body_too_large"))):
        answer = company.agent.client.post("/v1/company.status", content=b"{}".ljust(size))
        assert (problem(answer) if expected[1] else (answer.status_code, "")) == expected


def test_a_huge_body_is_refused_however_it_is_sent(running: Served) -> None:
    def pieces() -> Iterator[bytes]:
        for _ in range(160):
            yield b" " * 64 * KIB

    for content in (b" " * (10 * KIB * KIB), pieces()):
        answer = running.agent.client.post("/v1/company.status", content=content)
        assert problem(answer) == (413, "body_too_large")
    running.agent("company.status")


def _raw(running: Served, sent: bytes) -> bytes:
    port = running.listeners[0].socket.getsockname()[1]
    with socket.create_connection(("127.0.0.1", port), 10) as connection:
        connection.sendall(sent)
        return connection.recv(64 * KIB)


def test_a_body_is_refused_by_its_announced_size_before_it_comes(running: Served) -> None:
    answer = _raw(running, f"{HEAD}Content-Length: 1000000000000\r\n\r\n".encode())
    assert answer.startswith(b"HTTP/1.1 413 ")
    assert b"body_too_large" in answer


def test_a_body_without_an_end_is_refused_at_the_limit(running: Served) -> None:
    chunk = b"10000\r\n" + b" " * 0x10000 + b"\r\n"
    answer = _raw(running, f"{HEAD}Transfer-Encoding: chunked\r\n\r\n".encode() + chunk * 2)
    assert answer.startswith(b"HTTP/1.1 413 ")


def test_what_is_no_http_disturbs_nobody(running: Served) -> None:
    for noise in (
        b"\0" * 100 + b"\r\n\r\n",
        b"GET\r\n\r\n",
        HEAD.encode() + b"X: " + b"y" * 200_000,
    ):
        assert not _raw(running, noise).startswith(b"HTTP/1.1 5")
    running.agent("company.status")


@pytest.mark.parametrize("method", ["GET", "PUT", "PATCH", "DELETE", "OPTIONS"])
def test_operations_are_asked_for_with_post(company: Company, method: str) -> None:
    answer = company.agent.client.request(method, "/v1/company.status")
    assert problem(answer) == (405, "method_not_allowed")
    assert answer.headers["Allow"] == "POST"


@pytest.mark.parametrize(
    "path", ["/", "/v1/", "/v1/nothing", "/v1/query/", "/v1/QUERY", "/v2/query", "/%00", "/docs"]
)
def test_an_operation_that_does_not_exist_is_named_unknown(company: Company, path: str) -> None:
    answer = company.agent.client.post(path, json={})
    assert problem(answer) == (404, "unknown_operation")
    assert "/v1/jobs.book" in answer.json()["error"]["message"]
    assert "advance" not in json.dumps(answer.json())
