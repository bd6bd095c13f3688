"""`tradesbench llm` when the endpoint, the model or the user does not do as it should."""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.cli.llm_calls import REJECT, Called, in_turn
from tests.cli.pseudo_terminal import run_in_terminal
from tests.cli.stub_endpoint import (
    Reply,
    Request,
    Stub,
    completion,
    said,
    serving,
    tool_call,
)

pytest.importorskip("openai")

KEY = "sk-very-secret-0123456789"


def test_what_passes_is_waited_out(llm: Callable[..., Called], quick: list[float]) -> None:
    faults = [
        Reply({"error": {"message": "slow down"}}, 429, {"Retry-After": "17"}),
        Reply(b"<html>Bad gateway</html>", 502),
        Reply({"error": {"message": "oops"}}, 500),
        Reply(drop=True),
        Reply(b"not JSON"),
        said("reject"),
        Reply({"choices": []}),
        Reply({"error": "in a 200"}),
        Reply({"choices": [{"message": None}]}),
    ]
    with serving(in_turn(*faults)) as stub:
        called = llm(stub.url, "--seeds", "7", "--days", "1", "--no-tools", "--tries", "6")
    assert called.status == 0
    assert called.results["runs"][0]["retries"] == len(faults) - 1 == len(quick)
    assert quick[0] == 17
    assert quick[1] < quick[2] < quick[3], "each wait is longer than the one before"
    replies = [row for row in called.rows(7) if row["kind"] == "reply"]
    assert replies[0]["retries"][:2] == ["HTTP 429", "HTTP 502"]
    assert len(replies) == len(stub.seen) - len(faults) + 1
    assert called.results["runs"][0]["results"]["rejected"] == len(replies)


def test_silence_is_waited_out(llm: Callable[..., Called]) -> None:
    silent = [True]

    def reply(_request: Request) -> Reply:
        if silent:
            silent.clear()
            time.sleep(1.5)
        return said(REJECT)

    with serving(reply) as stub:
        called = llm(stub.url, "--seeds", "7", "--days", "1", "--timeout", "0.5")
    assert called.status == 0
    first = next(row for row in called.rows(7) if row["kind"] == "reply")
    assert first["retries"] == ["no answer in time"]


@pytest.mark.parametrize("kind", ["errors", "gone", "rubbish"])
def test_a_dead_endpoint_leaves_the_run_unfinished(
    llm: Callable[..., Called], kind: str, quick: list[float]
) -> None:
    dead = {"errors": Reply({}, 503), "gone": Reply(drop=True), "rubbish": Reply(b"[1, 2")}[kind]
    answered = iter(range(3))

    def reply(_request: Request) -> Reply:
        return dead if next(answered, None) is None else said(REJECT)

    with serving(reply) as stub:
        called = llm(stub.url, "--seeds", "5:8", "--tries", "3")
    assert called.status == 2
    assert len(stub.seen) == 3 + 3
    assert len(quick) == 2
    assert "gave no answer in 3 tries" in called.err
    (run,) = called.results["runs"]
    assert run["finished"] is False
    assert run["unfinished"].startswith("endpoint: ")
    assert (run["calls_answered"], run["unanswered"]) == (3, 0)
    assert run["results"]["rejected"] == 3, "no call is rejected for the model"
    assert called.rows(5)[-1]["kind"] == "end"
    assert called.results["oracle"] == []
    assert called.results["profit_less_oracle"]["count"] == 0
    assert "unfinished" in called.out
    assert "No run was finished" in called.out


def test_an_address_where_nobody_listens_is_told(llm: Callable[..., Called]) -> None:
    with serving(in_turn()) as stub:
        url = stub.url
    called = llm(url, "--seeds", "1", "--tries", "2")
    assert called.status == 2
    assert "gave no answer in 2 tries" in called.err
    assert called.results["runs"][0]["calls_answered"] == 0


@pytest.mark.parametrize("status", [400, 404, 422])
def test_a_refused_request_ends_at_once_with_the_endpoint_s_reason(
    llm: Callable[..., Called], status: int
) -> None:
    reason = {"error": {"message": f"tools are not known here, {KEY}"}}
    with serving(lambda _request: Reply(reason, status)) as stub:
        called = llm(stub.url, "--seeds", "1", "--api-key-env", "MINE", MINE=KEY)
    assert called.status == 2
    assert len(stub.seen) == 1
    assert f"HTTP {status}" in called.err
    assert "tools are not known here" in called.err
    assert "try --no-tools" in called.err
    assert_secret(called)


@pytest.mark.parametrize("status", [401, 403])
def test_a_refused_key_is_told_without_the_endpoint_s_words(
    llm: Callable[..., Called], status: int
) -> None:
    half = {"error": {"message": f"Incorrect key: {KEY[:12]}***{KEY[-4:]}"}}
    with serving(lambda _request: Reply(half, status)) as stub:
        called = llm(stub.url, "--seeds", "1", "--api-key-env", "MINE", MINE=KEY)
    assert called.status == 2
    assert "refuses the key" in called.err
    assert KEY[:12] not in called.err
    assert_secret(called)


def assert_secret(called: Called) -> None:
    assert KEY not in called.out + called.err
    for file in called.folder.iterdir():
        assert KEY not in file.read_text("utf-8")


def test_the_key_is_sent_and_written_nowhere(llm: Callable[..., Called]) -> None:
    """Not even by an endpoint that repeats it in everything it says."""
    call = tool_call("reject_call", json.dumps({"why": KEY}))
    replies = in_turn(
        said(f"my key is {KEY}"),
        completion({"content": KEY, "reasoning": [KEY], "tool_calls": [call]}),
        Reply({"error": {"message": KEY}}, 500),
    )
    with serving(replies) as stub:
        called = llm(stub.url, "--seeds", "3", "--days", "1", "--api-key-env", "MINE", MINE=KEY)
    assert called.status == 0
    assert {seen.headers["authorization"] for seen in stub.seen} == {f"Bearer {KEY}"}
    assert "[key]" in (called.folder / "seed-3.jsonl").read_text("utf-8")
    assert_secret(called)


def test_no_key_is_sent_that_was_not_named(llm: Callable[..., Called]) -> None:
    with serving(in_turn()) as stub:
        llm(stub.url, "--seeds", "3", "--days", "1", OPENAI_API_KEY=KEY)
    assert all(KEY not in str(seen.headers) for seen in stub.seen)


@pytest.mark.parametrize(
    "message",
    [
        {},
        {"content": None},
        {"content": 7, "tool_calls": "x"},
        {"content": "\ud800\0"},
        {"content": "x" * 1_000_000},
        {"tool_calls": [{"id": None, "function": {"name": "book_job", "arguments": "{"}}]},
        {"tool_calls": [tool_call("reject_call", "{}"), tool_call("reject_call", "{}")]},
        {"tool_calls": [None, 1]},
        {"content": [{"a": {"b": [[[[[[[[[[[[[[["deep"]]]]]]]]]]]]]]]}}]},
    ],
)
def test_no_message_of_a_model_stops_the_run(llm: Callable[..., Called], message: Any) -> None:
    with serving(in_turn(*[completion(message)] * 3)) as stub:
        called = llm(stub.url, "--seeds", "4", "--days", "1", "--max-calls", "4")
    assert called.status == 0
    assert called.results["runs"][0]["unanswered"] == 1
    assert len(stub.seen) == 3 + 3
    assert max(len(json.dumps(seen.body)) for seen in stub.seen) < 50_000


def test_a_chat_that_is_too_long_is_shortened(llm: Callable[..., Called]) -> None:
    most = 8

    def reply(request: Request) -> Reply:
        if len(request["messages"]) > most:
            error = {"message": "This model's maximum context length is 8 messages."}
            return Reply({"error": error}, 400)
        return said(REJECT)

    with serving(reply) as stub:
        called = llm(stub.url, "--seeds", "4", "--days", "2", "--memory-days", "9", "--no-tools")
    assert called.status == 0
    assert called.results["runs"][0]["finished"]
    kinds = [row["kind"] for row in called.rows(4)]
    assert kinds.count("context_full") == len(stub.seen) - kinds.count("reply") > 0


def test_a_chat_that_is_too_long_at_its_shortest_is_the_end(llm: Callable[..., Called]) -> None:
    error = {"error": {"message": "context length exceeded"}}
    with serving(lambda _request: Reply(error, 400)) as stub:
        called = llm(stub.url, "--seeds", "4")
    assert called.status == 2
    assert len(stub.seen) == 1
    assert "context length exceeded" in called.err
    assert called.results["runs"][0]["finished"] is False


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (["--base-url", "localhost:8000"], "--base-url is an address"),
        (["--base-url", "ftp://localhost/v1"], "--base-url is an address"),
        (["--base-url", "http://me:word@localhost/v1"], "would be written down"),
        (["--base-url", "http://localhost/v1?key=word"], "would be written down"),
        (["--api-key-env", "NOT_SET_ANYWHERE"], "is not set"),
        (["--api-key-env", "SHORT"], "fewer than 4 characters"),
        (["--api-key-env", "ODD"], "no header holds"),
        (["--seeds", "3:1"], "a range ends before"),
        (["--days", "99"], "days must be"),
        (["--scenario", "no-such"], "no-such"),
    ],
)
def test_wrong_options_are_told_in_a_sentence(
    llm: Callable[..., Called], words: list[str], sentence: str
) -> None:
    called = llm("http://127.0.0.1:1/v1", *words, SHORT="abc", ODD="key with ü")
    assert called.status == 2
    assert sentence in called.err
    assert "Traceback" not in called.err
    assert "word@" not in called.err
    assert not called.folder.exists()


def test_without_the_client_a_sentence_says_how_to_install_it(
    llm: Callable[..., Called], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "openai", None)
    called = llm("http://127.0.0.1:1/v1")
    assert called.status == 2
    assert "pip install 'tradesbench-gym[llm]'" in called.err
    assert not called.folder.exists()


def test_ctrl_c_ends_cleanly_and_says_where_the_transcript_is(tmp_path: Path) -> None:
    def slow(_request: Request) -> Reply:
        time.sleep(0.05)
        return said(REJECT)

    folder = tmp_path / "out"
    with serving(slow) as stub:
        seen = interrupted(stub, folder)
    assert seen.status == 130
    assert "Traceback" not in seen.text
    assert folder.name in seen.text
    lines = [json.loads(line) for line in (folder / "seed-5.jsonl").read_text().splitlines()]
    assert lines[-1]["kind"] == "end"
    assert lines[-1]["unfinished"] == "interrupted"
    replies = [line for line in lines if line["kind"] == "reply"]
    assert lines[-1]["calls_answered"] == len(replies)
    assert len(stub.seen) - len(replies) in {0, 1}
    assert json.loads((folder / "results.json").read_text())["runs"][0]["finished"] is False


def interrupted(stub: Stub, folder: Path) -> Any:
    command = [sys.executable, "-m", "tradesbench_gym", "llm", "--model", "stub"]
    command += ["--base-url", stub.url, "--seeds", "5:7", "--out", str(folder)]
    return run_in_terminal(command, interrupt_after="day 2/14")
