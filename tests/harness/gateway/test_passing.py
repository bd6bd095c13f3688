"""What passes through the gateway, and what is counted of it."""

from __future__ import annotations

import json
import socket
from concurrent.futures import ThreadPoolExecutor
from decimal import Decimal
from pathlib import Path
from typing import Any

import httpx
import openai
import pytest

from tests.harness.gateway.gateways import (
    BASH,
    CHAT,
    KEY,
    MODEL,
    RESPONSES,
    before,
    chat,
    ends,
    error_of,
    headers,
    post,
    response,
    rows,
    settings,
    streamed,
)
from tests.harness.stub_provider import Asked, Call, Reply, Stub, Tokens, in_turn, providing
from tradesbench_gym.harness.gateway import Gateway, GatewayError, Prices

CALLING = Reply("Let me look.", (Call("bash", {"command": "ls docs", "what": "größe ✓"}),))


@pytest.mark.parametrize("stream", [False, True])
@pytest.mark.parametrize("path", [CHAT, RESPONSES])
def test_an_answer_passes_byte_for_byte(tmp_path: Path, path: str, stream: bool) -> None:
    body = streamed(tools=[BASH]) if path == CHAT else response(stream=True)
    if not stream:
        body = {name: value for name, value in body.items() if not name.startswith("stream")}
    with providing(in_turn(CALLING)) as stub, before(stub, tmp_path) as gateway:
        through = post(gateway, body, path)
        sent = dict(stub.asked[0].body)
        direct = httpx.post(stub.base_url.removesuffix("/v1") + path, json=sent, trust_env=False)
    assert through.status_code == 200
    # The second asking finds the first one cached; nothing else differs.
    parts = [one.split(b"cached_tokens")[0] for one in (through.content, direct.content)]
    assert parts[0] == parts[1]
    assert through.headers["content-type"].startswith(
        "text/event-stream" if stream else "application/json"
    )
    assert sent == body


@pytest.mark.parametrize("path", [CHAT, RESPONSES])
def test_totals_are_the_provider_s_own_count(tmp_path: Path, path: str) -> None:
    make = chat if path == CHAT else response
    with (
        providing(in_turn(CALLING, Reply("Done."), CALLING)) as stub,
        before(stub, tmp_path) as gateway,
    ):
        for number in range(6):
            extra = {"stream": True} if number % 2 else {}
            assert post(gateway, make(f"Call {number // 2}", **extra), path).status_code == 200
        usage = gateway.usage()
        assert Tokens(usage.input_tokens, usage.cached_tokens, usage.output_tokens) == stub.total
    assert (usage.requests, usage.retries, usage.unreported) == (6, 0, 0)
    fresh, cached = stub.total.input - stub.total.cached, stub.total.cached
    assert cached > 0
    assert usage.cost == (3 * fresh + Decimal("0.3") * cached + 15 * stub.total.output) / 10**6
    assert usage == gateway.usage(), "and stay so once the gateway has stopped"


def test_usage_is_asked_for_on_behalf_of_who_does_not_ask(tmp_path: Path) -> None:
    with providing() as stub, before(stub, tmp_path) as gateway:
        answer = post(gateway, chat(stream=True))
        assert gateway.usage().output_tokens == stub.total.output > 0
    assert stub.asked[0].body["stream_options"] == {"include_usage": True}
    assert b'"usage"' in answer.content


def test_the_openai_client_understands_it_all(tmp_path: Path) -> None:
    with (
        providing(in_turn(CALLING)) as stub,
        before(stub, tmp_path) as gateway,
        openai.OpenAI(base_url=gateway.base_url, api_key=gateway.token) as client,
    ):
        assert [one.id for one in client.models.list()] == [MODEL]
        made = client.chat.completions.create(**chat())
        call = made.choices[0].message.tool_calls[0].function
        assert json.loads(call.arguments) == CALLING.calls[0].arguments
        pieces = [
            one.choices[0].delta.tool_calls[0].function.arguments
            for one in client.chat.completions.create(**chat(stream=True))
            if one.choices and one.choices[0].delta.tool_calls
        ]
        assert json.loads("".join(pieces)) == CALLING.calls[0].arguments
        last = list(client.responses.create(**response(stream=True)))[-1]
        assert last.type == "response.completed"
        assert last.response.output_text.strip() == "Let me look."
    assert len(stub.asked) == 3, "the list of models is the gateway's own"


def test_events_pass_as_they_come(tmp_path: Path) -> None:
    def reply(_asked: Asked) -> Reply:
        return Reply("one two three", pause=0.15)

    with providing(reply) as stub, before(stub, tmp_path) as gateway:
        url = f"{gateway.base_url}/chat/completions"
        with httpx.stream("POST", url, json=streamed(), headers=headers(gateway)) as answer:
            lines = (line for line in answer.iter_lines() if "content" in line)
            assert '"content": ""' in next(lines)
            assert "one" in next(lines)
            assert stub.answered == [], "the provider has not said it all yet"
            assert "three" in list(lines)[1]


def test_several_requests_at_once_are_answered_and_counted(tmp_path: Path) -> None:
    def reply(asked: Asked) -> Reply:
        return Reply(f"To {asked.last}: yes", silent=0.3)

    def ask(number: int) -> bool:
        body = streamed(f"Nr. {number}") if number % 2 else chat(f"Nr. {number}")
        return f"{number}: ".encode() in post(gateway, body).content

    with providing(reply) as stub, before(stub, tmp_path) as gateway:
        with ThreadPoolExecutor(16) as pool:
            assert all(pool.map(ask, range(24)))
        usage = gateway.usage()
    assert (usage.requests, usage.unreported) == (24, 0)
    assert Tokens(usage.input_tokens, usage.cached_tokens, usage.output_tokens) == stub.total
    numbers = [row["request"] for row in rows(tmp_path, "done")]
    assert sorted(numbers) == list(range(1, 25))


@pytest.mark.parametrize(
    ("method", "path"),
    [
        ("POST", "/v1/embeddings"),
        ("POST", "/v1/files"),
        ("POST", "/v1/chat/completions/"),
        ("GET", CHAT),
        ("POST", "/v1/models"),
        ("GET", "/v1/responses/r_1"),
        ("DELETE", RESPONSES),
        ("GET", "/"),
        ("POST", "/v1/../v1/assistants"),
    ],
)
def test_any_other_address_is_refused_in_a_sentence(
    shared: tuple[Stub, Gateway], method: str, path: str
) -> None:
    stub, gateway = shared
    url = f"http://127.0.0.1:{gateway.port}{path}"
    answer = httpx.request(method, url, headers=headers(gateway), trust_env=False)
    assert answer.status_code == 404
    assert "the gateway answers POST /v1/chat/completions" in error_of(answer)["message"]
    assert answer.headers["x-should-retry"] == "false"
    assert stub.asked == []
    assert ends(gateway.faults())[-1] == ("agent", "no_such_address")


@pytest.mark.parametrize(
    "given", [{}, {"Authorization": f"Bearer {KEY}"}, {"Authorization": "Basic x"}, {"X": "y"}]
)
def test_without_the_gateway_s_token_nothing_is_let_out(
    shared: tuple[Stub, Gateway], given: dict[str, str]
) -> None:
    stub, gateway = shared
    answer = post(gateway, chat(), headers=given)
    assert (answer.status_code, error_of(answer)["code"]) == (401, "token")
    assert stub.asked == []


@pytest.mark.parametrize(
    "body",
    [b"", b"{", b"[]", b"null", b"\xff", b'{"messages": NaN}', b"[" * 100_000, chat(messages=[]),
     chat(messages="x"), chat(messages=[7]), response(input=None)],
)  # fmt: skip
def test_what_is_no_request_is_refused(shared: tuple[Stub, Gateway], body: Any) -> None:
    stub, gateway = shared
    path = RESPONSES if isinstance(body, dict) and "input" in body else CHAT
    answer = post(gateway, body, path)
    assert (answer.status_code, error_of(answer)["code"]) == (400, "malformed")
    assert stub.asked == []


def test_the_provider_sees_only_the_gateway_s_headers(tmp_path: Path) -> None:
    with providing() as stub, before(stub, tmp_path) as gateway:
        extra = {**headers(gateway), "OpenAI-Organization": "mine", "Cookie": "c", "X-Seed": "7"}
        post(gateway, chat(), headers=extra)
    seen = stub.asked[0].headers
    assert seen["authorization"] == f"Bearer {KEY}"
    assert set(seen) == {
        "accept", "accept-encoding", "authorization", "connection", "content-length",
        "content-type", "host", "user-agent",
    }  # fmt: skip
    assert "python" not in seen["user-agent"]


def test_without_a_key_no_authorization_is_sent(tmp_path: Path) -> None:
    with providing() as stub, before(stub, tmp_path, key=None) as gateway:
        assert post(gateway, chat()).status_code == 200
    assert "authorization" not in stub.asked[0].headers


@pytest.mark.parametrize("usage", [None, {}, {"prompt_tokens": 3}, {"prompt_tokens": "3"}])
def test_tokens_that_are_not_told_are_unreported_and_never_nought(
    tmp_path: Path, usage: Any
) -> None:
    with (
        providing(in_turn(Reply(), Reply(usage=usage))) as stub,
        before(stub, tmp_path) as gateway,
    ):
        post(gateway, chat())
        known = gateway.usage()
        post(gateway, chat())
        post(gateway, streamed())
        after = gateway.usage()
        codes = [one.code for one in gateway.faults()]
    assert known.cost is not None
    assert (after.requests, after.unreported, after.cost) == (3, 2, None)
    assert after.input_tokens == known.input_tokens
    assert after.cost_reported == known.cost
    assert codes == ["usage_unreported"]


@pytest.mark.parametrize("missing", ["input", "cached_input", "output"])
def test_an_unknown_price_makes_the_cost_unknown(tmp_path: Path, missing: str) -> None:
    prices = Prices(
        **{"input": Decimal(1), "cached_input": Decimal(1), "output": Decimal(1), missing: None}
    )
    with providing() as stub, before(stub, tmp_path, prices=prices) as gateway:
        post(gateway, chat())
        post(gateway, chat())  # of which most is cached
        usage = gateway.usage()
    assert usage.unreported == 0
    assert usage.cost is None
    assert usage.cost_reported is None


@pytest.mark.parametrize(
    ("wrong", "sentence"),
    [
        ({"base_url": "localhost:8000"}, "a provider's address"),
        ({"base_url": "https://me:word@host/v1"}, "would be written down"),
        ({"key": "short"}, "fewer than"),
        ({"key": "with a space"}, "no header holds"),
        ({"model": "big:online"}, "searches the web"),
        ({"model": ""}, "as its provider names it"),
        ({"max_tokens": 0}, "more than 0"),
        ({"retries": -1}, "0 or more"),
        ({"request_seconds": float("nan")}, "more than 0"),
        ({"max_cost": Decimal(5), "prices": Prices()}, "while a price is unknown"),
    ],
)
def test_settings_that_cannot_be_are_told_in_a_sentence(wrong: Any, sentence: str) -> None:
    with pytest.raises(GatewayError, match=sentence):
        settings(**{"base_url": "http://127.0.0.1:1/v1", **wrong})


def test_a_body_that_never_comes_holds_nobody_up(shared: tuple[Stub, Gateway]) -> None:
    _, gateway = shared
    with socket.create_connection(("127.0.0.1", gateway.port)) as idle:
        head = f"POST {CHAT} HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer {gateway.token}\r\n"
        idle.sendall(f"{head}Content-Length: 99\r\n\r\n{{".encode())
        answer = httpx.get(f"{gateway.base_url}/models", headers=headers(gateway))
    assert answer.status_code == 200
