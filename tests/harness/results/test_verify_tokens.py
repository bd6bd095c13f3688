"""Tokens and cost are proven by the record of requests, and the record by what came back."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.harness.results.folders import (
    Plain,
    Tamper,
    assert_found,
    change_lines,
    change_manifest,
    copied,
    failing,
    first,
    model_run,
    value,
)
from tests.harness.stub_provider import Reply
from tradesbench_gym.harness.folder import RunFolder
from tradesbench_gym.harness.gateway import RECORD
from tradesbench_gym.harness.results import prove

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="the harness needs Unix sockets")


@pytest.fixture(scope="module")
def asked(tmp_path_factory: pytest.TempPathFactory, map_file: Path) -> RunFolder:
    """A day with a model behind the gateway."""
    return model_run(tmp_path_factory.mktemp("asked") / "run", map_file)


def record(change: Callable[[list[Plain]], None]) -> Tamper:
    return lambda folder: change_lines(folder.path / RECORD, change)


def test_a_record_as_it_was_written_is_proven(asked: RunFolder) -> None:
    assert not failing(asked)
    assert "3 requests" in {line.name: line.found for line in prove(asked.path)}["tokens"]


def more_tokens(lines: list[Plain]) -> None:
    first(lines, "done")["usage"]["output"] += 1


def both_more_tokens(folder: RunFolder) -> None:
    """In the record and the manifest alike: what came back still tells."""
    change_lines(folder.path / RECORD, more_tokens)
    change_manifest(folder, lambda said: said["usage"].update(
        output_tokens=said["usage"]["output_tokens"] + 1))  # fmt: skip


def another_answer(lines: list[Plain]) -> None:
    answer = first(lines, "raw", what="response")
    told = json.loads(answer["text"])
    told["usage"]["prompt_tokens"] += 10
    answer["text"] = json.dumps(told)


TOKENS = [
    *[value(f"usage.{name}", 7) for name in ("requests", "retries", "input_tokens")],
    *[value(f"usage.{name}", 7) for name in ("cached_tokens", "output_tokens", "unreported")],
    value("usage.cost", "0.5"),
    value("usage.cost", None),
    value("usage", None),
    value("model.input_price", "2"),
    value("model.name", "a-better-model"),
    value("model.base_url", "https://api.example.com/v1"),
    record(more_tokens),
    both_more_tokens,
    record(another_answer),
    record(lambda lines: lines.remove(first(lines, "done"))),
    record(lambda lines: lines.remove(first(lines, "request"))),
    record(lambda lines: lines.remove(first(lines, "raw", what="response"))),
    record(lambda lines: first(lines, "done").update(cost="9")),
    lambda folder: (folder.path / RECORD).unlink(),
]


@pytest.mark.parametrize("tamper", TOKENS)
def test_tokens_that_were_changed_are_found(
    tmp_path: Path, asked: RunFolder, tamper: Tamper
) -> None:
    folder = copied(asked, tmp_path / "run")
    tamper(folder)
    assert_found(folder, "tokens")


def test_requests_that_no_total_knows_are_found(tmp_path: Path, asked: RunFolder) -> None:
    def ask_more(lines: list[Plain]) -> None:
        more = dict(first(lines, "request"), request=4)
        lines.append(more)

    folder = copied(asked, tmp_path / "run")
    change_lines(folder.path / RECORD, ask_more)
    assert_found(folder, "tokens", "leave out")


def test_an_answer_without_a_count_is_proven_as_such(tmp_path: Path, map_file: Path) -> None:
    folder = model_run(tmp_path / "run", map_file, Reply("Yes."), Reply("No.", usage=None))
    said = {line.name: line for line in prove(folder.path)}["tokens"]
    assert said.holds, said
    assert "2 without a count, cost unknown" in said.found
