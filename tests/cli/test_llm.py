"""`tradesbench llm` against an endpoint of the tests' own: runs, transcripts, results."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest
from typer.testing import CliRunner

from tests.cli.llm_calls import REJECT, Called, in_turn
from tests.cli.stub_endpoint import (
    Dispatcher,
    said,
    serving,
)
from tradesbench_gym.cli import app
from tradesbench_gym.company.business import open_business
from tradesbench_gym.company.play import play
from tradesbench_gym.company.simulation import Simulation
from tradesbench_gym.policies import make_policy

pytest.importorskip("openai")


def oracle_profit(seed: int, days: int = 14) -> int:
    simulation = Simulation(seed, business=open_business(days=days))
    return play(simulation, make_policy("oracle")).profit


@pytest.mark.parametrize("tools", [True, False])
def test_the_oracle_s_decisions_by_way_of_replies_earn_the_oracle_s_profit(
    llm: Callable[..., Called], tools: bool
) -> None:
    stub_policy = Dispatcher("oracle", [5])
    with serving(stub_policy.as_tool if tools else stub_policy.as_text) as stub:
        called = llm(stub.url, "--seeds", "5", "--tools" if tools else "--no-tools")
    assert called.status == 0
    (run,) = called.results["runs"]
    assert run["finished"]
    assert run["results"]["profit"] == oracle_profit(5)
    assert called.results["oracle"][0]["profit"] == run["results"]["profit"]
    assert called.results["profit_less_oracle"]["mean"] == 0
    assert run["reminders"] == run["unanswered"] == 0
    assert len(stub.seen) == run["calls_answered"] == run["results"]["calls"]
    assert all(("tools" in seen.body) == tools for seen in stub.seen)
    profit = f"${run['results']['profit'] / 100:,.2f}"
    assert called.out.count(profit) >= 2
    assert "Profit less the oracle's on the same seed: $0" in called.out


def test_every_reply_is_a_line_of_the_transcript(llm: Callable[..., Called]) -> None:
    replies = in_turn(said("Hm."), said("book diana 2026-10-02 09:00"))
    with serving(replies) as stub:
        called = llm(stub.url, "--seeds", "7", "--days", "1", "--no-tools")
    first, *rows, last = called.rows(7)
    assert (first["kind"], last["kind"]) == ("run", "end")
    assert first["settings"]["model"] == "stub"
    assert "HOW YOU ANSWER" in first["system"]
    assert [row["kind"] for row in rows] == ["reply"] * len(stub.seen)
    assert [row["call"] for row in rows[:3]] == [1, 1, 2]
    assert rows[0]["reply"]["content"] == "Hm."
    assert rows[0]["error"]["code"] == "no_answer"
    assert rows[0]["reminder"] == 1
    assert "still on the line" in rows[1]["prompt"]
    assert rows[1]["action"] == [1, 1, 1, 1]
    assert rows[1]["answer"] in {"accepted", "declined"}
    assert rows[1]["usage"] == {"prompt": 700, "completion": 20, "cached": 500}
    assert sum(row["reward"] for row in rows) == pytest.approx(last["results"]["profit"] / 100)
    assert last["finished"] is True


def test_json_is_all_that_a_machine_gets(llm: Callable[..., Called]) -> None:
    with serving(in_turn()) as stub:
        called = llm(stub.url, "--seeds", "2:4", "--days", "1", "--json")
    assert json.loads(called.out) == called.results
    assert [run["seed"] for run in called.results["runs"]] == [2, 3]
    assert called.results["tokens"]["prompt"] == 700 * len(stub.seen)
    assert called.results["tokens"]["cached"] == 500 * len(stub.seen)
    assert str(called.folder) in called.err


def test_tokens_that_are_not_reported_are_unknown_and_not_none(llm: Callable[..., Called]) -> None:
    with serving(lambda _request: said(REJECT, usage=None)) as stub:
        called = llm(stub.url, "--seeds", "2", "--days", "1")
    assert called.results["tokens"]["prompt"] is None
    assert called.results["tokens"]["replies_with_usage"] == 0
    assert "reported none" in called.out


def test_tokens_of_some_replies_are_said_to_be_of_some(llm: Callable[..., Called]) -> None:
    with serving(in_turn(said(REJECT, None), said(REJECT, {"prompt_tokens": "many"}))) as stub:
        called = llm(stub.url, "--seeds", "2", "--days", "1")
    replies = len(stub.seen)
    assert called.results["tokens"]["replies_with_usage"] == replies - 2
    assert f"reported for {replies - 2} of {replies} replies" in called.out


def test_a_model_that_only_talks_is_reminded_and_then_unanswered(
    llm: Callable[..., Called],
) -> None:
    with serving(lambda _request: said("I would be glad to help you with that!")) as stub:
        called = llm(stub.url, "--seeds", "4")
    (run,) = called.results["runs"]
    assert called.status == 0
    assert run["results"]["profit"] == -2_679_000  # nobody answered: A.9's fixed costs
    assert run["unanswered"] == run["results"]["calls"] == run["calls_answered"]
    assert run["reminders"] == 2 * run["unanswered"]
    assert len(stub.seen) == 3 * run["unanswered"]


def test_a_run_may_be_left_after_some_calls(llm: Callable[..., Called]) -> None:
    with serving(in_turn()) as stub:
        called = llm(stub.url, "--seeds", "4:6", "--max-calls", "5")
    assert called.status == 0
    assert [run["calls_answered"] for run in called.results["runs"]] == [5, 5]
    assert not any(run["finished"] for run in called.results["runs"])
    assert len(stub.seen) == 10
    assert "stopped after 5 calls, as asked" in called.out


def test_memory_is_of_the_last_days(llm: Callable[..., Called]) -> None:
    with serving(in_turn()) as stub:
        called = llm(stub.url, "--seeds", "4", "--days", "3", "--memory-days", "2", "--no-tools")
    rows = [row for row in called.rows(4) if row["kind"] == "reply"]
    days = [row["at"][:10] for row in rows]
    for place, seen in enumerate(stub.seen):
        first = next(k for k, day in enumerate(days) if int(days[place][-2:]) - int(day[-2:]) < 2)
        asked = [m for m in seen.body["messages"] if m["role"] == "user"]
        assert len(asked) == place - first + 1
        assert seen.body["messages"][0]["role"] == "system"


def test_the_oracle_plays_the_same_seeds(llm: Callable[..., Called]) -> None:
    with serving(in_turn()) as stub:
        called = llm(stub.url, "--seeds", "3,9", "--days", "2")
    own = [run["results"]["profit"] for run in called.results["runs"]]
    theirs = [oracle_profit(3, 2), oracle_profit(9, 2)]
    assert [run["profit"] for run in called.results["oracle"]] == theirs
    less = called.results["profit_less_oracle"]
    assert less["mean"] == pytest.approx(sum(own) / 2 - sum(theirs) / 2)
    assert less["count"] == 2


def test_a_folder_with_something_in_it_is_left_alone(llm: Callable[..., Called]) -> None:
    with serving(in_turn()) as stub:
        assert llm(stub.url, "--seeds", "1", "--max-calls", "1").status == 0
        before = len(stub.seen)
        called = llm(stub.url, "--seeds", "1", "--max-calls", "1")
    assert called.status == 2
    assert "is not empty" in called.err
    assert len(stub.seen) == before


def test_a_folder_is_named_after_the_model_if_none_is_given(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    with serving(in_turn()) as stub:
        command = ["llm", "--model", "../a/b:[8b]", "--base-url", stub.url, "--max-calls", "1"]
        result = CliRunner(env={"TRADESBENCH_QUIET": "1"}).invoke(app, [*command, "--seeds", "1"])
    assert result.exit_code == 0
    (folder,) = tmp_path.iterdir()
    assert folder.name.startswith("llm-a-b-8b-")
    assert stub.seen[0].body["model"] == "../a/b:[8b]"
