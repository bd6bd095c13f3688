"""The record of requests: complete, without the key, and enough to rebuild every total from."""

from __future__ import annotations

import json
import os
import signal
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import httpx
import pytest

from tests.harness.gateway.gateways import (
    BASH,
    KEY,
    PRICES,
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
from tests.harness.stub_provider import (
    Asked,
    Call,
    Reply,
    Stub,
    Tokens,
    in_turn,
    providing,
    wait_until,
)
from tradesbench_gym.harness.gateway import RECORD, Gateway, GatewayError, read_record

CALLING = Reply("Let me look.", (Call("bash", {"command": "ls docs"}),))


def killed(gateway: Gateway) -> None:
    """SIGKILL to the gateway's process."""
    assert gateway.pid is not None
    os.kill(gateway.pid, signal.SIGKILL)
    wait_until(lambda: not gateway.alive())


def test_what_was_sent_and_what_came_back_is_in_the_record(tmp_path: Path) -> None:
    with providing(in_turn(CALLING)) as stub, before(stub, tmp_path) as gateway:
        answers = [
            post(gateway, streamed("größe ✓", tools=[BASH])).text,
            post(gateway, chat()).text,
            post(gateway, response(stream=True), RESPONSES).text,
        ]
    raw = rows(tmp_path, "raw")
    assert [one["body"] for one in raw if one["what"] == "request"] == [
        one.body for one in stub.asked
    ]
    came = ["".join(one["text"] for one in raw if one["request"] == number and "text" in one)
            for number in (1, 2, 3)]  # fmt: skip
    assert came == answers
    for done in rows(tmp_path, "done"):
        assert done["outcome"] == "complete"
        assert done["raw_usage"]["total_tokens"] == done["usage"]["input"] + done["usage"]["output"]
        assert 0 < done["seconds"] < 20
    assert [one["finish"] for one in rows(tmp_path, "done")] == [
        "tool_calls",
        "tool_calls",
        "completed",
    ]


@pytest.mark.parametrize("cut", range(1, len(KEY), 5))
def test_the_key_is_nowhere_but_in_the_request(tmp_path: Path, cut: int) -> None:
    """Not even if the provider repeats it, cut up over two events of the wire."""
    inside = KEY.replace("/", "\\/").encode()
    head = b'data: {"choices":[{"index":0,"delta":{"content":"'
    tail = b'"},"finish_reason":"stop"}]}\n\ndata: [DONE]\n\n'
    events = {"Content-Type": "text/event-stream"}
    replies = in_turn(
        Reply(f"my key is {KEY}.", (Call("bash", {"command": KEY}),)),
        Reply(body=head + inside + b" " + KEY.encode() + tail, headers=events),
        Reply(status=500, body=json.dumps({"error": {"message": KEY}}).encode()),
        Reply(status=404, body=json.dumps({"error": {"message": KEY}}).encode()),
        Reply(status=401, body=f"bad key {KEY}".encode()),
    )
    with providing(replies) as stub, before(stub, tmp_path) as gateway:
        assert gateway.pid is not None
        seen = b"".join(
            post(gateway, body).content for body in (chat(), streamed(), chat(), streamed())
        )
        environment = Path(f"/proc/{gateway.pid}/environ").read_bytes()
        arguments = Path(f"/proc/{gateway.pid}/cmdline").read_bytes()
        told = repr(settings(stub.base_url)) + repr(gateway.faults())
    assert {one.headers["authorization"] for one in stub.asked} == {f"Bearer {KEY}"}
    kept = b"".join(file.read_bytes() for file in tmp_path.iterdir())
    for where in (seen, kept, environment, arguments, told.encode()):
        assert KEY.encode() not in where
        assert inside not in where
        assert KEY[: max(cut, 12)].encode() not in where
    assert b"[key]" in seen
    assert b"[key]" in kept
    assert gateway.token.encode() not in kept
    assert b"uthorization" not in kept
    assert (tmp_path / RECORD).stat().st_mode & 0o077 == 0


def test_nothing_of_the_driver_s_environment_comes_along(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", KEY)
    monkeypatch.setenv("SUNRIDGE_DRIVER_TOKEN", "secret")
    with providing() as stub, before(stub, tmp_path) as gateway:
        environment = Path(f"/proc/{gateway.pid}/environ").read_bytes()
        post(gateway, chat())
    assert b"OPENAI" not in environment
    assert b"SUNRIDGE" not in environment


def test_totals_are_exact_over_a_kill_and_a_restart(tmp_path: Path) -> None:
    with providing(in_turn(CALLING)) as stub, before(stub, tmp_path) as gateway:
        port, token = gateway.port, gateway.token
        for number in range(9):
            body = streamed(f"Nr. {number}") if number % 2 else chat(f"Nr. {number}")
            assert post(gateway, body).status_code == 200
            if number % 3 == 2:
                usage = gateway.usage()
                killed(gateway)
                assert gateway.usage() == usage
                gateway.start()
                assert (gateway.port, gateway.token) == (port, token)
                assert gateway.usage() == usage
        usage = gateway.usage()
        assert ends(gateway.faults()) == []
    assert Tokens(usage.input_tokens, usage.cached_tokens, usage.output_tokens) == stub.total
    assert (usage.requests, usage.unreported) == (9, 0)
    assert read_record(tmp_path, PRICES)[0] == usage


@pytest.mark.parametrize("after", [0.02, 0.15, 0.3, 0.45, 0.6, 0.9])
def test_a_kill_in_the_middle_loses_and_invents_nothing(tmp_path: Path, after: float) -> None:
    """Several requests are out at any moment; the kill comes wherever it comes."""

    def reply(asked: Asked) -> Reply:
        return Reply(f"{asked.last} and so on and on", pause=0.01)

    finished: list[str] = []

    def keep_asking(name: str) -> None:
        for number in range(100):
            try:
                answer = post(gateway, streamed(f"{name}-{number}"))
            except httpx.HTTPError:
                return
            assert answer.content.endswith(b"data: [DONE]\n\n")
            finished.append(f"{name}-{number}")

    with providing(reply) as stub, before(stub, tmp_path) as gateway:
        threads = [threading.Thread(target=keep_asking, args=(f"T{n}",)) for n in range(4)]
        for thread in threads:
            thread.start()
        time.sleep(after)
        killed(gateway)
        for thread in threads:
            thread.join()
        dead = gateway.usage()
        gateway.start()
        assert post(gateway, chat("afterwards")).status_code == 200
        usage, faults = gateway.usage(), gateway.faults()
    assert_level(tmp_path, stub, usage)
    lost = [row["request"] for row in rows(tmp_path, "unfinished")]
    assert usage.unreported == dead.unreported == len(lost)
    assert ends(faults) == [("infrastructure", "gateway_stopped")] * len(lost)
    said = sent(tmp_path)
    assert not {said[one] for one in lost} & set(finished), "who saw the end was counted"
    assert (usage.cost is None) == bool(lost)


def sent(folder: Path) -> dict[int, str]:
    """What each request said."""
    return {
        row["request"]: row["body"]["messages"][-1]["content"]
        for row in rows(folder, "raw")
        if row["what"] == "request"
    }


def assert_level(folder: Path, stub: Stub, usage: Any) -> None:
    """The totals are the stub's own count of the requests that came to their end."""
    said = sent(folder)
    done = {said[row["request"]] for row in rows(folder, "done")}
    told = [one.tokens for one in stub.asked if one.last in done and one.tokens]
    assert len(told) == len(done)
    assert usage.input_tokens == sum(one.input for one in told)
    assert usage.cached_tokens == sum(one.cached for one in told)
    assert usage.output_tokens == sum(one.output for one in told)
    assert usage.requests == len(said)


@pytest.mark.parametrize("torn", [b"{", b'{"kind":"done","request":1,"usage":{"inp', b"\xff\x00"])
def test_a_torn_last_line_is_tolerated(tmp_path: Path, torn: bytes) -> None:
    with providing() as stub:
        with before(stub, tmp_path) as gateway:
            post(gateway, chat())
            usage = gateway.usage()
        with (tmp_path / RECORD).open("ab") as file:
            file.write(torn)
        assert read_record(tmp_path, PRICES)[0] == usage
        with before(stub, tmp_path) as gateway:
            assert gateway.usage() == usage
            post(gateway, chat())
            assert gateway.usage().requests == 2
        assert gateway.usage().input_tokens == stub.total.input
        with before(stub, tmp_path) as gateway:
            assert gateway.usage().requests == 2, "and so at every further opening"


def test_damage_in_the_middle_is_told(tmp_path: Path) -> None:
    with providing() as stub, before(stub, tmp_path) as gateway:
        post(gateway, chat())
    record = (tmp_path / RECORD).read_bytes()
    (tmp_path / RECORD).write_bytes(record.replace(b'{"kind":"request"', b'{"kind":"req'))
    with pytest.raises(GatewayError, match=r"line 3 of .* is damaged"):
        read_record(tmp_path, PRICES)
    with pytest.raises(GatewayError, match="is damaged"):
        Gateway(settings(stub.base_url), tmp_path).start()


def test_two_gateways_do_not_write_one_record(tmp_path: Path) -> None:
    with providing() as stub, before(stub, tmp_path):
        other = Gateway(settings(stub.base_url), tmp_path)
        with pytest.raises(GatewayError, match="another gateway"):
            other.start()
        assert not other.alive()
        other.stop()


def test_a_record_that_cannot_be_made_is_told(tmp_path: Path) -> None:
    (tmp_path / RECORD).mkdir()
    with providing() as stub:
        gateway = Gateway(settings(stub.base_url), tmp_path)
        with pytest.raises(GatewayError, match="is a directory"):
            gateway.start()
        gateway.stop()


def test_a_record_is_only_ever_added_to(tmp_path: Path) -> None:
    before_that = b""
    with providing(in_turn(CALLING, Reply(status=500), Reply("Done."))) as stub:
        for _ in range(3):
            with before(stub, tmp_path) as gateway:
                post(gateway, streamed())
                killed(gateway)
            record = (tmp_path / RECORD).read_bytes()
            assert record.startswith(before_that)
            before_that = record


def test_the_gateway_ends_with_whoever_started_it(tmp_path: Path) -> None:
    with providing() as stub:
        gateway = Gateway(settings(stub.base_url), tmp_path)
        gateway.start()
        process = gateway._process
        assert process is not None
        assert process.stdin is not None
        process.stdin.close()  # as the system does when a process is killed
        assert process.wait(10) == 0
        gateway.stop()


def test_a_request_that_is_out_when_the_gateway_stops_is_recorded(tmp_path: Path) -> None:
    asking = threading.Thread(target=lambda: _quietly(lambda: post(gateway, streamed())))
    with providing(in_turn(Reply("a b c", pause=2.0))) as stub, before(stub, tmp_path) as gateway:
        asking.start()
        wait_until(lambda: bool(rows(tmp_path, "request")))
        gateway.stop()
        usage = gateway.usage()
        assert ends(gateway.faults()) == [("infrastructure", "gateway_stopped")]
    asking.join()
    assert (usage.requests, usage.unreported, usage.cost) == (1, 1, None)
    assert [row["request"] for row in rows(tmp_path, "unfinished")] == [1]


def _quietly(ask: Callable[[], object]) -> None:
    with pytest.raises(httpx.HTTPError):
        ask()


def test_a_refusal_for_ever_does_not_fill_the_disk(shared: tuple[Stub, Gateway]) -> None:
    _, gateway = shared
    url = f"{gateway.base_url}/nothing"
    with httpx.Client(headers=headers(gateway), trust_env=False) as client:
        for _ in range(1100):
            client.get(url)
    assert gateway.usage().refused == 1000


def test_what_cannot_be_recorded_is_not_let_out(tmp_path: Path) -> None:
    """A full disk, as a limit on the size of files: the gateway stops, and the driver sees it."""
    resource = pytest.importorskip("resource")
    with providing() as stub, before(stub, tmp_path) as gateway:
        assert post(gateway, chat()).status_code == 200
        usage = gateway.usage()
        full = (tmp_path / RECORD).stat().st_size + 10
        resource.prlimit(gateway.pid, resource.RLIMIT_FSIZE, (full, full))
        answer = post(gateway, chat())
        assert (answer.status_code, error_of(answer)["code"]) == (503, "journal")
        wait_until(lambda: not gateway.alive())
        assert len(stub.asked) == 1
        gateway.start()
        assert gateway.usage() == usage
        assert post(gateway, chat()).status_code == 200
    assert gateway.usage().input_tokens == stub.total.input


def test_an_answer_s_end_is_told_only_once_it_is_written_down(tmp_path: Path) -> None:
    # A provider that keeps the connection open leaves time to look between the two.
    with providing(in_turn(Reply(hang=True))) as stub, before(stub, tmp_path) as gateway:
        url = f"{gateway.base_url}/chat/completions"
        with httpx.stream("POST", url, json=streamed(), headers=headers(gateway)) as answer:
            seen = {b"[DONE]" in piece: rows(tmp_path, "done") for piece in answer.iter_raw()}
    assert seen[False] == []
    assert len(seen[True]) == 1
