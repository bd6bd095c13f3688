"""pi plays whole runs through the gateway, and whatever goes wrong ends as a fault of the right
kind and never as a silent rejection.
"""

from __future__ import annotations

import json
import os
import signal
import statistics
import sys
import threading
import time
from collections.abc import Callable
from datetime import datetime
from pathlib import Path
from typing import Any

import pytest

from tests.harness.oracle_model import text_of
from tests.harness.pi_runs import KEY, PiRun, asks_about, pi_run
from tests.harness.runs import codes, outcomes, records, table
from tests.harness.stub_provider import Asked, Call, Reply
from tests.harness.test_kills import children, harness, wait_for
from tradesbench_gym.api.driver_models import RunStatus
from tradesbench_gym.core.codes import CallState
from tradesbench_gym.harness.agents.pi import PiProgram
from tradesbench_gym.harness.days import RunStoppedError, Watch
from tradesbench_gym.harness.folder import RunFolder
from tradesbench_gym.harness.manifest import Manifest, Status
from tradesbench_gym.world import audit

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(sys.platform != "linux", reason="processes are looked up in /proc"),
]
THIRD = "Call 3 "
CUT = Reply(text="", calls=(Call("bash", {"command": "echo one two three"}),), cut=3)


def check_exact(run: PiRun, manifest: Manifest) -> None:
    assert manifest.status == Status.ENDED
    assert manifest.results is not None
    assert manifest.results["profit_cents"] == run.expected.profit_cents
    check_tokens(run, manifest)


def check_tokens(run: PiRun, manifest: Manifest) -> None:
    """The gateway's totals are the stub's own count."""
    assert manifest.usage is not None
    told = manifest.usage
    ours = run.stub.total
    assert (told.input_tokens, told.cached_tokens, told.output_tokens) == (
        ours.input,
        ours.cached,
        ours.output,
    )


def once(words: str, reply: Reply, times: int = 1) -> Callable[[Asked], Reply | None]:
    """What to answer the first times that some words are said to the model."""
    left = [times]

    def odd(asked: Asked) -> Reply | None:
        if not asks_about(asked, words) or left[0] == 0:
            return None
        left[0] -= 1
        return reply

    return odd


def always(words: str, reply: Reply) -> Callable[[Asked], Reply | None]:
    """What to answer whenever some words are said."""
    return lambda asked: reply if asks_about(asked, words) else None


def bash(command: str) -> Reply:
    return Reply(text="", calls=(Call("bash", {"command": command}),))


# -- whole runs --


def test_fourteen_days_of_pi_end_with_the_oracle_s_exact_profit(
    tmp_path: Path, pi: PiProgram
) -> None:
    with pi_run(tmp_path / "run", pi, "phoenix", days=14) as run:
        manifest = run.play()
        check_exact(run, manifest)
        assert not manifest.faults
        assert not audit(run.folder.world).findings
        assert manifest.usage is not None
        assert manifest.usage.cost is not None
        check_conversations(run)
    waits = own_time(run)
    assert statistics.median(waits) <= 0.150
    assert statistics.fmean(waits) <= 0.150


def check_conversations(run: PiRun) -> None:
    """One fresh conversation a day, all with the same system prompt and four tools."""
    firsts, tools = {}, set()
    for asked in run.stub.asked:
        messages = asked.body["messages"]
        said = [text_of(one) for one in messages if one["role"] == "user"]
        firsts[said[0]] = text_of(messages[0])
        tools.add(tuple(sorted(tool["function"]["name"] for tool in asked.body["tools"])))
        assert len([one for one in said if one.startswith("Good morning")]) == 1
    assert len(firsts) == 14
    assert len(set(firsts.values())) == 1
    assert tools == {("bash", "edit", "read", "write")}
    assert len(list(run.folder.sessions.glob("day-*.jsonl"))) == 14
    assert run.folder.day_file(14).read_text().count("another day is over") == 14


def own_time(run: PiRun) -> list[float]:
    """Seconds from the end of a turn to the next prompt: everything that is the harness's own."""
    waits, ended = [], None
    for one in records(run.folder):
        at = datetime.fromisoformat(one.at)
        if one.kind == "prompt" and one.said["about"] == "call" and ended is not None:
            waits.append((at - ended).total_seconds())
        ended = at if one.kind == "turn" else ended
    assert len(waits) > 100
    return waits


def test_the_key_is_in_nothing_that_the_agent_can_see_and_in_nothing_that_is_kept(
    tmp_path: Path, pi: PiProgram, map_file: Path
) -> None:
    with pi_run(tmp_path / "run", pi, map_file) as run:
        run.odd = once(THIRD, bash("env; cat .agent/models.json; ps eww"))
        manifest = run.play()
        assert manifest.status == Status.ENDED
        assert {asked.headers["authorization"] for asked in run.stub.asked} == {f"Bearer {KEY}"}
        kept = [one for one in run.folder.path.rglob("*") if one.is_file()]
        assert not [one for one in kept if KEY.encode() in one.read_bytes()]
        said = run.folder.transcript.read_text()
        assert "SUNRIDGE_API_TOKEN=[secret]" in said


# -- faults --


def test_a_model_that_only_talks_is_reminded_and_then_the_call_is_unanswered(
    tmp_path: Path, pi: PiProgram, map_file: Path
) -> None:
    with pi_run(tmp_path / "run", pi, map_file) as run:
        run.odd = lambda asked: (
            Reply(text="I shall book it.")
            if asks_about(asked, THIRD) or asks_about(asked, "reminder")
            else None
        )
        manifest = run.play()
        states = table(run.folder, map_file)
        assert states[2] == CallState.UNANSWERED
        assert codes(manifest) == {("model", "no_answer"): 1}
        check_tokens(run, manifest)


def test_a_command_that_hangs_is_ended_and_the_turn_goes_on(
    tmp_path: Path, pi: PiProgram, map_file: Path
) -> None:
    with pi_run(tmp_path / "run", pi, map_file, command_seconds=1.0) as run:
        run.odd = once(THIRD, bash("trap '' TERM; sleep 3600"))
        manifest = run.play()
        assert manifest.status == Status.ENDED
        found = codes(manifest)
        assert found["agent", "command_time"] == 1
        # The stub has nothing more to say about it; the reminder is answered.
        assert outcomes(run.folder)["unanswered"] == 0
        assert manifest.results is not None
        assert manifest.results["profit_cents"] == run.expected.profit_cents


def test_a_tool_that_does_not_come_back_ends_the_turn(
    tmp_path: Path, pi: PiProgram, map_file: Path
) -> None:
    with pi_run(tmp_path / "run", pi, map_file, turn_seconds=3.0) as run:
        run.odd = once(THIRD, bash("mkfifo pipe; cat pipe"))
        manifest = run.play()
        assert codes(manifest) == {("agent", "turn_time"): 1}
        assert manifest.results is not None
        assert manifest.results["profit_cents"] == run.expected.profit_cents


def test_output_without_end_is_the_model_s_fault(
    tmp_path: Path, pi: PiProgram, map_file: Path
) -> None:
    with pi_run(tmp_path / "run", pi, map_file, turn_characters=200_000) as run:
        run.odd = once(THIRD, Reply(endless=40_000_000))
        manifest = run.play()
        found = codes(manifest)
        assert found["model", "endless_output"] == 1
        assert outcomes(run.folder)["unanswered"] == 0
        assert manifest.results is not None
        assert manifest.results["profit_cents"] == run.expected.profit_cents


@pytest.mark.parametrize(
    ("reply", "code"),
    [
        (Reply(status=500, body=b"{}"), "provider_error"),
        (Reply(status=429, body=b"{}"), "rate_limited"),
        (Reply(silent=5.0), "provider_silent"),
        (Reply(drop=True), "provider_dropped"),
    ],
    ids=["500", "429", "silence", "dropped"],
)
def test_a_provider_that_stays_down_stops_the_run_and_costs_no_call(
    tmp_path: Path, pi: PiProgram, map_file: Path, reply: Reply, code: str
) -> None:
    with pi_run(tmp_path / "run", pi, map_file, repeats=1, request_retries=0) as run:
        run.odd = always(THIRD, reply)
        with pytest.raises(RunStoppedError):
            run.play()
        manifest = run.folder.read()
        assert manifest.status == Status.STOPPED
        assert {kind for kind, _ in codes(manifest)} == {"infrastructure"}
        assert codes(manifest)["infrastructure", code] >= 1
        assert table(run.folder, map_file)[2] == CallState.RINGING
        run.odd = lambda _asked: None
        check_exact(run, run.play())


@pytest.mark.parametrize(
    ("reply", "code"),
    [
        (Reply(status=500, body=b"{}"), "provider_error"),
        (Reply(status=429, body=b"{}", headers={"Retry-After": "0"}), "rate_limited"),
        (CUT, "stream_cut"),
    ],
    ids=["500", "429", "cut in a tool call"],
)
def test_a_provider_that_is_down_for_a_moment_is_asked_again(
    tmp_path: Path, pi: PiProgram, map_file: Path, reply: Reply, code: str
) -> None:
    with pi_run(tmp_path / "run", pi, map_file) as run:
        run.odd = once(THIRD, reply)
        manifest = run.play()
        assert manifest.results is not None
        assert manifest.results["profit_cents"] == run.expected.profit_cents
        assert codes(manifest)["infrastructure", code] == 1
        assert {kind for kind, _ in codes(manifest)} == {"infrastructure"}
        check_tokens(run, manifest)


def test_a_conversation_that_is_too_long_begins_anew_and_is_the_model_s_fault(
    tmp_path: Path, pi: PiProgram, map_file: Path
) -> None:
    too_long = {
        "error": {
            "message": "This model's maximum context length is 8192 tokens.",
            "type": "invalid_request_error",
            "code": "context_length_exceeded",
        }
    }
    full = Reply(status=400, body=json.dumps(too_long).encode())
    with pi_run(tmp_path / "run", pi, map_file) as run:

        def odd(asked: Asked) -> Reply | None:
            # As a model whose memory ends after two calls would, until the talk begins anew.
            said = [text_of(one) for one in asked.body["messages"]]
            return (
                full
                if any("Good morning" in one for one in said) and any(THIRD in one for one in said)
                else None
            )

        run.odd = odd
        manifest = run.play()
        found = codes(manifest)
        assert found["model", "context_full"] == 1
        assert {kind for kind, _ in found} == {"model"}
        assert manifest.results is not None
        assert manifest.results["profit_cents"] == run.expected.profit_cents


def test_a_limit_on_tokens_stops_the_run_where_it_stands(
    tmp_path: Path, pi: PiProgram, map_file: Path
) -> None:
    with pi_run(tmp_path / "run", pi, map_file, max_tokens=30_000) as run:
        with pytest.raises(RunStoppedError, match="tokens"):
            run.play()
        manifest = run.folder.read()
        assert manifest.status == Status.STOPPED
        assert outcomes(run.folder)["unanswered"] == 0
        check_tokens(run, manifest)
        run.folder.write(
            manifest.changed(limits=manifest.limits.model_copy(update={"max_tokens": None}))
        )
        check_exact(run, run.play())


# -- kills --


@pytest.mark.parametrize("who", ["pi", "harness.gateway", "company_server"])
def test_whoever_is_killed_in_the_middle_of_pi_s_turn_costs_no_call(
    tmp_path: Path, pi: PiProgram, map_file: Path, who: str
) -> None:
    killed: list[int] = []

    def kill() -> None:
        for pid in children(os.getpid(), who):
            os.kill(pid, signal.SIGKILL)

    def moved(status: RunStatus, _what: str) -> None:
        if status.call_id in {4, 9, 14} and status.call_id not in killed:
            killed.append(status.call_id)
            threading.Timer(0.05 * len(killed), kill).start()

    with pi_run(tmp_path / "run", pi, map_file, turn_seconds=60.0) as run:
        manifest = run.play(Watch(moved=moved))
        assert len(killed) == 3
        assert manifest.status == Status.ENDED
        assert manifest.results is not None
        assert manifest.results["profit_cents"] == run.expected.profit_cents
        assert outcomes(run.folder)["unanswered"] == 0
        expected: dict[str, Any] = {
            "pi": "agent_died",
            "harness.gateway": "gateway_died",
            "company_server": "company_died",
        }
        assert expected[who] in {code for _, code in codes(manifest)}


def test_a_sitting_that_was_broken_off_is_taken_up_in_the_same_conversation(
    tmp_path: Path, pi: PiProgram, map_file: Path
) -> None:
    class StopError(Exception):
        pass

    def moved(status: RunStatus, _what: str) -> None:
        if status.call_id == 7:
            raise StopError

    with pi_run(tmp_path / "run", pi, map_file) as run:
        with pytest.raises(StopError):
            run.play(Watch(moved=moved))
        before = len(run.stub.asked)
        manifest = run.play()
        check_exact(run, manifest)
        said = [text_of(one) for one in run.stub.asked[before].body["messages"]]
        assert any(one.startswith("Good morning") for one in said)
        assert any("Call 6 " in one for one in said)
        assert any("Call 7 " in one for one in said)


def test_a_harness_that_is_killed_with_pi_in_mid_turn_is_taken_up_at_the_same_call(
    tmp_path: Path, pi: PiProgram, map_file: Path
) -> None:
    with pi_run(tmp_path / "run", pi, map_file) as run:
        for calls in (2, 7, 13):
            with harness(run.folder) as process:
                wait_for(lambda: _answered(run.folder) >= calls, process)  # noqa: B023
                time.sleep(0.25)
                process.send_signal(signal.SIGKILL)
                process.wait()
        with harness(run.folder) as process:
            out, _ = process.communicate(timeout=300)
            assert process.returncode == 0, out
        manifest = run.folder.read()
        assert manifest.results is not None
        assert manifest.results["profit_cents"] == run.expected.profit_cents
        assert outcomes(run.folder)["unanswered"] == 0
        over = [(one.said["about"], one.said["number"]) for one in records(run.folder, "outcome")]
        assert len(over) == len(set(over))
        assert not audit(run.folder.world, map=map_file).findings
        assert [one.ended_by for one in manifest.sessions] == [None] * 3 + ["the run ended"]
        assert [one.name for one in run.folder.sessions.iterdir()] == ["day-01.jsonl"]


def _answered(folder: RunFolder) -> int:
    return sum(outcomes(folder).values()) if folder.transcript.exists() else 0
