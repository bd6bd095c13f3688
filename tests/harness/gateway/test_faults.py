"""What a provider can do wrong, and what is made of it: never an answer that was none."""

from __future__ import annotations

import json
import time
from email.utils import formatdate
from pathlib import Path
from typing import Any

import httpx
import openai
import pytest

from tests.harness.gateway.gateways import (
    BASH,
    CHAT,
    KEY,
    RESPONSES,
    Pair,
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
from tests.harness.stub_provider import Call, Reply, Tokens, in_turn, providing, wait_until
from tradesbench_gym.harness.gateway import Gateway

CALLING = Reply("Let me look.", (Call("bash", {"command": "ls docs && cat docs/HANDBOOK.md"}),))
SLOW_DOWN = json.dumps({"error": {"message": "slow down", "code": "rate_limit_exceeded"}}).encode()
PASSING = [
    Reply(status=429, body=SLOW_DOWN),
    Reply(status=500, body=b'{"error": "oops"}'),
    Reply(status=502, body=b"<html>Bad gateway</html>"),
    Reply(status=503),
    Reply(status=529, body=b"overloaded"),
    Reply(status=408),
    Reply(drop=True),
    Reply(body=b"not JSON"),
    Reply(body=b"[]"),
    Reply(body=b""),
    Reply(body=b'{"choices": []}'),
    Reply(body=b'{"error": {"message": "try later", "code": 503}}'),
    Reply(cut=0),
    Reply(cut=0, politely=True),
    Reply(cut=0, error={"message": "overloaded", "code": 529}),
]


@pytest.mark.parametrize("stream", [False, True])
def test_what_passes_is_tried_again_and_each_try_is_recorded(tmp_path: Path, stream: bool) -> None:
    body = streamed() if stream else chat()
    with (
        providing(in_turn(*PASSING, Reply("At last."))) as stub,
        before(stub, tmp_path, retries=len(PASSING), first_wait_seconds=0.00001) as gateway,
    ):
        answer = post(gateway, body)
        usage, faults = gateway.usage(), gateway.faults()
    assert answer.status_code == 200
    assert b"last" in answer.content
    assert len(stub.asked) == len(PASSING) + 1
    assert (usage.requests, usage.retries) == (1, len(PASSING))
    assert [row["attempt"] for row in rows(tmp_path, "retry")] == [*range(1, len(PASSING) + 1)]
    assert rows(tmp_path, "retry")[0]["body"] == SLOW_DOWN.decode()
    assert ends(faults) == []
    assert faults[0].code == "rate_limited"
    assert usage.output_tokens == stub.total.output


def test_each_wait_is_longer_than_the_one_before(tmp_path: Path) -> None:
    replies = in_turn(*[Reply(status=500)] * 4, Reply())
    with (
        providing(replies) as stub,
        before(stub, tmp_path, retries=9, first_wait_seconds=0.05) as gateway,
    ):
        begun = time.monotonic()
        post(gateway, chat())
        took = time.monotonic() - begun
    waits = [row["wait_seconds"] for row in rows(tmp_path, "retry")]
    for number, wait in enumerate(waits):
        assert 0.75 * 0.05 * 2**number <= wait <= 1.25 * 0.05 * 2**number
    assert took >= sum(waits)


@pytest.mark.parametrize(
    ("said", "least"),
    [
        ({"Retry-After": "1"}, 1.0),
        ({"retry-after-ms": "700"}, 0.7),
        ({"Retry-After": formatdate(time.time() - 99, usegmt=True)}, 0.0),
        ({"Retry-After": "soon"}, 0.0),
        ({"Retry-After": "-5"}, 0.0),
        ({"Retry-After": "nan"}, 0.0),
    ],
)
def test_a_provider_that_says_when_is_waited_for(
    tmp_path: Path, said: dict[str, str], least: float
) -> None:
    with (
        providing(in_turn(Reply(status=429, headers=said), Reply())) as stub,
        before(stub, tmp_path) as gateway,
    ):
        begun = time.monotonic()
        assert post(gateway, chat()).status_code == 200
        assert time.monotonic() - begun >= least
    (retry,) = rows(tmp_path, "retry")
    assert least <= retry["wait_seconds"] <= least + 0.03


def test_who_asks_to_be_left_alone_for_an_hour_is_down(pair: Pair) -> None:
    found = pair.ask(chat(), Reply(status=429, headers={"Retry-After": "3600"}))
    assert found.ends == [("infrastructure", "rate_limited")]
    assert found.answer.status_code == 429
    assert len(found.asked) == 1


@pytest.mark.parametrize(
    ("reply", "status", "code"),
    [
        (Reply(status=500), 502, "provider_error"),
        (Reply(status=429, body=SLOW_DOWN), 429, "rate_limited"),
        (Reply(drop=True), 502, "provider_dropped"),
        (Reply(body=b"[1, 2"), 502, "provider_unreadable"),
        (Reply(body=b'{"error": {"message": "no", "code": 500}}'), 502, "provider_error"),
    ],
)
@pytest.mark.parametrize("stream", [False, True])
def test_a_failure_for_ever_ends_as_the_infrastructure_s_fault(
    pair: Pair, reply: Reply, status: int, code: str, stream: bool
) -> None:
    told = pair.ask(streamed() if stream else chat(), reply)
    assert (told.answer.status_code, error_of(told.answer)["code"]) == (status, code)
    assert told.answer.headers["x-should-retry"] == "false"
    assert len(told.asked) == told.retries + 1 == 3
    assert told.ends == [("infrastructure", code)]
    assert [one.detail["final"] for one in told.faults if one.code == code] == [False, False, True]


def test_a_provider_that_is_not_there_is_told(tmp_path: Path) -> None:
    with providing() as stub:
        gone = stub.base_url
    with Gateway(settings(gone), tmp_path) as gateway:
        answer = post(gateway, chat())
        usage = gateway.usage()
        assert ends(gateway.faults()) == [("infrastructure", "provider_unreachable")]
    assert answer.status_code == 502
    assert (usage.requests, usage.retries, usage.unreported) == (1, 2, 0), "it used nothing"


@pytest.mark.parametrize("begun", [False, True])
def test_a_silent_provider_is_given_up(tmp_path: Path, begun: bool) -> None:
    reply = Reply("a b", pause=30) if begun else Reply(silent=30)
    with (
        providing(in_turn(reply)) as stub,
        before(stub, tmp_path, request_seconds=0.4, retries=1) as gateway,
    ):
        since = time.monotonic()
        if begun:
            with pytest.raises(httpx.RemoteProtocolError):
                post(gateway, streamed())
        else:
            answer = post(gateway, streamed())
            assert (answer.status_code, error_of(answer)["code"]) == (504, "provider_silent")
        assert time.monotonic() - since < 3
        usage = gateway.usage()
        assert ends(gateway.faults()) == [("infrastructure", "provider_silent")]
    assert usage.retries == (0 if begun else 1)
    assert usage.unreported == usage.retries + 1, "it may have worked at each of them"
    assert usage.cost is None


def test_an_answer_that_drips_for_ever_has_an_end(tmp_path: Path) -> None:
    slow = Reply("word " * 200, pause=0.05)
    with (
        providing(in_turn(slow)) as stub,
        before(stub, tmp_path, request_seconds=0.6, silence_seconds=0.3) as gateway,
    ):
        with pytest.raises(httpx.RemoteProtocolError):
            post(gateway, streamed())
        assert ends(gateway.faults()) == [("infrastructure", "provider_silent")]
        assert gateway.usage().retries == 0, "the agent has seen the beginning"


@pytest.mark.parametrize("politely", [False, True])
@pytest.mark.parametrize("path", [CHAT, RESPONSES])
def test_a_stream_cut_in_mid_tool_call_is_never_a_whole_one(
    tmp_path: Path, path: str, politely: bool
) -> None:
    cut = Reply(CALLING.text, CALLING.calls, cut=8, politely=politely)
    body = streamed(tools=[BASH]) if path == CHAT else response(stream=True)
    with providing(in_turn(cut)) as stub, before(stub, tmp_path) as gateway:
        url = f"http://127.0.0.1:{gateway.port}{path}"
        pieces: list[bytes] = []
        with (
            pytest.raises(httpx.RemoteProtocolError),
            httpx.stream("POST", url, json=body, headers=headers(gateway)) as answer,
        ):
            pieces.extend(answer.iter_raw())
        came = b"".join(pieces)
        (fault,) = [one for one in gateway.faults() if one.detail["final"]]
        usage = gateway.usage()
    assert len(stub.asked) == 1, "the agent has seen the beginning: no second try"
    assert (fault.kind.value, fault.code) == ("infrastructure", "stream_cut")
    assert fault.detail["calling"] == "bash"
    assert (usage.unreported, usage.cost) == (1, None)
    assert b"[DONE]" not in came
    assert b"completed" not in came
    assert b'"code": "stream_cut"' in came
    assert rows(tmp_path, "done")[0]["outcome"] == "stream_cut"


def test_the_openai_client_takes_no_cut_stream_for_an_answer(tmp_path: Path) -> None:
    cut = Reply(CALLING.text, CALLING.calls, cut=8)
    with (
        providing(in_turn(cut)) as stub,
        before(stub, tmp_path) as gateway,
        openai.OpenAI(base_url=gateway.base_url, api_key=gateway.token) as client,
    ):
        # Half an event is no JSON; at the latest the error that follows it is raised.
        with pytest.raises((openai.APIError, ValueError)):
            list(client.chat.completions.create(**chat(stream=True)))
        with pytest.raises(openai.BadRequestError):
            client.chat.completions.create(**chat(messages=[]))
    assert len(stub.asked) == 1


def test_done_after_a_cut_does_not_make_it_whole(pair: Pair) -> None:
    """Some relays say [DONE] whatever became of the answer."""
    begun = b'data: {"choices":[{"index":0,"delta":{"content":"I"},"finish_reason":null}]}\n\n'
    events = {"Content-Type": "text/event-stream"}
    found = pair.ask(streamed(), Reply(body=begun + b"data: [DONE]\n\n", headers=events))
    assert (found.answer.status_code, error_of(found.answer)["code"]) == (502, "stream_cut")
    assert found.ends == [("infrastructure", "stream_cut")]


@pytest.mark.parametrize("reply", [Reply(done=False), Reply(hang=True), Reply(comments=3)])
def test_manners_that_differ_are_no_fault(tmp_path: Path, reply: Reply) -> None:
    """No [DONE]; a connection left open after it; comments that keep it alive before it."""
    with (
        providing(in_turn(reply)) as stub,
        before(stub, tmp_path, silence_seconds=8) as gateway,
    ):
        assert post(gateway, streamed()).status_code == 200
        assert gateway.usage().unreported == 0
        assert gateway.usage().output_tokens == 2
        assert gateway.faults() == []
    assert len(stub.asked) == 1


@pytest.mark.parametrize("stream", [False, True])
def test_endless_output_ends_as_the_model_s_fault(tmp_path: Path, stream: bool) -> None:
    most = 300_000
    endless = Reply(endless=10**8) if stream else Reply("word " * 100_000)
    with (
        providing(in_turn(endless)) as stub,
        before(stub, tmp_path, most_bytes=most) as gateway,
    ):
        if stream:
            with pytest.raises(httpx.RemoteProtocolError):
                post(gateway, streamed())
        else:
            answer = post(gateway, chat())
            assert (answer.status_code, error_of(answer)["code"]) == (502, "endless_output")
        assert ends(gateway.faults()) == [("model", "endless_output")]
        assert gateway.usage().unreported == 1
    assert len(stub.asked) == 1
    assert most < rows(tmp_path, "done")[0]["bytes"] + 70_000 < most + 140_000


OVERFLOWS = [
    {"error": {"code": "context_length_exceeded", "message": "too long"}},
    {"error": {"message": "This model's maximum context length is 4096 tokens. However, …"}},
    {"error": {"message": "Your input exceeds the context window of this model."}},
    {"error": {"message": "prompt is too long: 213462 tokens > 200000 maximum"}},
    {"error": {"message": "the request exceeds the available context size, try increasing it"}},
    [{"error": {"code": 400, "message": "The input token count (1196265) exceeds the maximum"}}],
    {"error": "This model's maximum prompt length is 131072 but the request contains 537812"},
    {"message": "Please reduce the length of the messages or completion."},
]


@pytest.mark.parametrize("told", OVERFLOWS)
@pytest.mark.parametrize("status", [400, 413])
def test_a_context_that_overflows_is_the_model_s_fault(pair: Pair, told: Any, status: int) -> None:
    found = pair.ask(streamed(), Reply(status=status, body=json.dumps(told).encode()))
    assert found.ends == [("model", "context_overflow")]
    assert (len(found.asked), found.unreported) == (1, 0)
    assert found.answer.status_code == status
    assert found.answer.json() == told, "in the provider's words, by which agents know it"


def test_a_context_that_overflows_within_a_stream_is_the_model_s_fault(pair: Pair) -> None:
    error = {"code": "context_length_exceeded", "message": "too long"}
    found = pair.ask(streamed(), Reply(cut=0, error=error))
    assert found.answer.status_code == 400
    assert found.ends == [("model", "context_overflow")]
    assert len(found.asked) == 1


@pytest.mark.parametrize("status", [401, 403])
def test_a_refused_key_is_told_without_the_provider_s_words(tmp_path: Path, status: int) -> None:
    half = {"error": {"message": f"Incorrect API key: {KEY[:9]}***{KEY[-4:]}"}}
    reply = Reply(status=status, body=json.dumps(half).encode())
    with providing(in_turn(reply)) as stub, before(stub, tmp_path) as gateway:
        answer = post(gateway, chat())
        assert ends(gateway.faults()) == [("infrastructure", "key_refused")]
    assert "refuses the run's key" in error_of(answer)["message"]
    assert KEY[-4:] not in answer.text
    assert all(KEY[-4:] not in file.read_text() for file in tmp_path.iterdir())
    assert len(stub.asked) == 1


def test_an_empty_account_is_not_asked_again(pair: Pair) -> None:
    told = {"error": {"message": "You exceeded your current quota", "code": "insufficient_quota"}}
    found = pair.ask(chat(), Reply(status=429, body=json.dumps(told).encode()))
    assert found.ends == [("infrastructure", "no_credit")]
    assert len(found.asked) == 1


@pytest.mark.parametrize("status", [302, 400, 404, 422])
def test_a_refused_request_is_passed_on_at_once(pair: Pair, status: int) -> None:
    body = json.dumps({"error": {"message": f"no such thing, {KEY}"}}).encode()
    found = pair.ask(chat(), Reply(status=status, body=body, headers={"Location": "http://other/"}))
    assert found.ends == [("infrastructure", "provider_refused")]
    assert found.answer.status_code == (502 if status == 302 else status)
    assert "no such thing, [key]" in found.answer.text
    assert len(found.asked) == 1


def test_an_endpoint_that_does_not_know_stream_options_is_asked_without(tmp_path: Path) -> None:
    told = {"error": {"message": "Unrecognized request argument: stream_options"}}
    refusal = Reply(status=400, body=json.dumps(told).encode())
    with providing(in_turn(refusal, Reply())) as stub, before(stub, tmp_path) as gateway:
        assert post(gateway, chat(stream=True)).status_code == 200
        assert post(gateway, chat(stream=True)).status_code == 200
        assert gateway.usage().unreported == 2
    assert ["stream_options" in one.body for one in stub.asked] == [True, False, False]


def test_an_agent_that_hangs_up_is_still_counted(tmp_path: Path) -> None:
    with (
        providing(in_turn(Reply("one two three four", pause=0.1))) as stub,
        before(stub, tmp_path) as gateway,
    ):
        url = f"{gateway.base_url}/chat/completions"
        with httpx.stream("POST", url, json=streamed(), headers=headers(gateway)) as answer:
            next(answer.iter_raw())
        wait_until(lambda: bool(rows(tmp_path, "done")))
        usage = gateway.usage()
        assert gateway.faults() == []
    assert rows(tmp_path, "done")[0]["outcome"] == "abandoned"
    assert Tokens(usage.input_tokens, usage.cached_tokens, usage.output_tokens) == stub.total
    assert usage.unreported == 0


def test_nobody_is_asked_again_for_an_agent_that_has_hung_up(tmp_path: Path) -> None:
    with (
        providing(in_turn(Reply(status=500))) as stub,
        before(stub, tmp_path, first_wait_seconds=0.5, retries=9) as gateway,
    ):
        with pytest.raises(httpx.ReadTimeout):
            post(gateway, chat(), seconds=0.2)
        wait_until(lambda: bool(rows(tmp_path, "done")))
        assert len(stub.asked) <= 2
        assert rows(tmp_path, "done")[0]["outcome"] == "abandoned"
