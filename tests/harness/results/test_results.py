"""Every run is shown, with means of those at their end; what is unknown is never a 0."""

from __future__ import annotations

import json
import statistics
import sys
from collections.abc import Callable
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from tests.harness.results.folders import copied, model_run, put
from tests.harness.runs import SALT, begin, play
from tests.harness.stub_provider import Reply
from tradesbench_gym.cli import app
from tradesbench_gym.company.business import open_business
from tradesbench_gym.company.play import play as play_with
from tradesbench_gym.company.simulation import Simulation
from tradesbench_gym.harness.days import Watch
from tradesbench_gym.harness.folder import RunFolder
from tradesbench_gym.harness.gateway import RECORD
from tradesbench_gym.harness.results import grouped, read_facts
from tradesbench_gym.policies.load import load_policy

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="the harness needs Unix sockets")
Make = Callable[..., RunFolder]


@pytest.fixture(scope="module")
def make(tmp_path_factory: pytest.TempPathFactory, map_file: Path) -> Make:
    """Makes a run of one day by a scripted agent, played to its end or to a call."""
    place = tmp_path_factory.mktemp("runs")

    def made(name: str, *manner: object, seed: int = 5, until: int = 0, **limits: Any) -> RunFolder:
        folder = begin(place / name, map_file, *manner, seed=seed, **limits)

        def moved(status: Any, _what: str) -> None:
            if until and status.call_id == until:
                raise KeyboardInterrupt

        if until:
            with pytest.raises(KeyboardInterrupt):
                play(folder, watch=Watch(moved=moved))
        else:
            play(folder)
        return folder

    return made


@pytest.fixture(scope="module")
def three(make: Make) -> list[RunFolder]:
    """Two runs that end, and one that is left at its third call."""
    return [
        make("one", "books", seed=5),
        make("two", "books", seed=6),
        make("left", "books", seed=7, until=3),
    ]


@pytest.fixture(scope="module")
def asked(tmp_path_factory: pytest.TempPathFactory, map_file: Path) -> RunFolder:
    """A day with a model behind the gateway."""
    return model_run(tmp_path_factory.mktemp("asked") / "run", map_file)


def called(*words: object, command: str = "results") -> tuple[int, str]:
    environment = {"COLUMNS": "80"}
    result = CliRunner(env=environment).invoke(app, [command, *map(str, words)])
    if result.exception is not None and not isinstance(result.exception, SystemExit):
        raise result.exception
    return result.exit_code, result.output


def as_json(*folders: RunFolder) -> Any:
    status, said = called(*(folder.path for folder in folders), "--json")
    assert status == 0, said
    return json.loads(said)


def row(said: str, table: str, mark: str) -> list[str]:
    """The words of a run's row in a table."""
    lines = said.split(f"\n{table}", 1)[1].splitlines()
    return next(line.split() for line in lines if line.split()[:1] == [mark])


def test_a_run_s_figures_are_those_of_its_world(three: list[RunFolder]) -> None:
    for folder in three[:2]:
        facts, said = read_facts(folder.path), folder.read().results
        assert said is not None
        assert facts.results.profit == said["profit_cents"]
        for key in ("completed", "missed", "failed", "cancelled", "installations", "calls"):
            assert getattr(facts.results, key) == said[key]
        assert facts.turns.turns == folder.read().turns.turns > 0


def test_the_oracle_plays_the_same_seed_and_salt(three: list[RunFolder], map_file: Path) -> None:
    business = open_business(map=str(map_file), days=1)
    for folder, seed in zip(three, (5, 6), strict=False):
        facts = read_facts(folder.path)
        sealed, opened = (
            play_with(Simulation(seed, salt=salt, business=business), load_policy("oracle"))
            for salt in (SALT, 0)
        )
        assert facts.oracle == sealed != opened
        assert facts.difference == facts.results.profit - sealed.profit


def test_an_unfinished_run_is_shown_and_is_in_no_mean(three: list[RunFolder]) -> None:
    found = as_json(*three)
    assert [run["finished"] for run in found["runs"]] == [True, True, False]
    left = found["runs"][2]
    assert left["oracle"] is left["profit_less_oracle"] is None
    assert left["results"]["calls"] == 3
    assert left["state"] == "unfinished, day 1 of 1, stopped"
    (group,) = found["groups"]
    assert (group["runs"], group["finished"]) == ([1, 2, 3], 2)
    profits = [run["results"]["profit"] for run in found["runs"][:2]]
    assert group["means"]["profit"]["mean"] == statistics.fmean(profits)
    assert group["means"]["profit"]["deviation"] == pytest.approx(statistics.stdev(profits))
    less = [run["profit_less_oracle"] for run in found["runs"][:2]]
    assert group["profit_less_oracle"]["mean"] == statistics.fmean(less)
    assert group["profit_less_oracle"]["low"] == min(less)
    assert group["profit_less_oracle"]["high"] == max(less)


def test_the_tables_show_every_run_within_80_columns(
    three: list[RunFolder], asked: RunFolder
) -> None:
    status, said = called(*(folder.path for folder in (*three, asked)))
    assert status == 0
    assert max(map(len, said.splitlines())) <= 80
    for table in ("Money", "Work", "Effort", "What went wrong"):
        for mark in ("1!", "2!", "3*!", "4!"):
            assert len(row(said, table, mark)) > 4, (table, mark)
    assert said.count("mean of 2") == 4
    assert said.count("mean of 1") == 4
    assert "* unfinished: as far as it came, and in no mean" in said
    assert "! not isolated" in said


def test_runs_that_cannot_be_compared_are_not_averaged(
    three: list[RunFolder], asked: RunFolder, make: Make
) -> None:
    other = make("other", "answers")
    patient = make("patient", "books", reminders=4)
    groups = grouped([read_facts(one.path) for one in (three[0], asked, other, patient, three[1])])
    assert [[place for place, _ in group.runs] for group in groups] == [[1, 5], [2], [3], [4]]


def test_isolated_runs_and_others_are_not_averaged(three: list[RunFolder], tmp_path: Path) -> None:
    shut = copied(three[0], tmp_path / "run")
    put(shut, "isolated", True)
    status, said = called(shut.path, three[1].path)
    assert status == 0
    assert said.count("mean of 1") == 8
    assert row(said, "Money", "1")
    assert row(said, "Money", "2!")
    assert "(not isolated)" in said


def test_tokens_are_those_of_the_record_with_the_cached_ones_apart(asked: RunFolder) -> None:
    usage = asked.read().usage
    assert usage is not None
    tokens = as_json(asked)["runs"][0]["tokens"]
    assert tokens["known"] == "all"
    assert tokens["cached_tokens"] == usage.cached_tokens > 0
    assert tokens["input_tokens"] == usage.input_tokens - usage.cached_tokens
    assert tokens["output_tokens"] == usage.output_tokens
    assert Decimal(tokens["cost"]) == usage.cost


def test_a_run_without_a_model_has_no_tokens_and_not_0(three: list[RunFolder]) -> None:
    assert as_json(three[0])["runs"][0]["tokens"] is None
    _, said = called(three[0].path)
    assert row(said, "Effort", "1!")[-4:] == ["–"] * 4


def test_an_unknown_price_makes_the_cost_unknown(tmp_path: Path, map_file: Path) -> None:
    folder = model_run(tmp_path / "run", map_file, output_price=None)
    tokens = as_json(folder)["runs"][0]["tokens"]
    assert tokens["cost"] is tokens["cost_at_least"] is None
    assert tokens["output_tokens"] > 0
    _, said = called(folder.path)
    assert row(said, "Effort", "1!")[-1] == "?"
    assert row(said, "Effort", "mean")[-1] == "?"
    assert "never counted as 0" in said


def test_requests_without_a_count_make_tokens_a_lower_bound(tmp_path: Path, map_file: Path) -> None:
    folder = model_run(tmp_path / "run", map_file, Reply("Yes."), Reply("No.", usage=None))
    tokens = as_json(folder)["runs"][0]["tokens"]
    assert (tokens["known"], tokens["requests_without_a_count"]) == ("part", 2)
    assert tokens["cost"] is None
    assert Decimal(tokens["cost_at_least"]) > 0
    _, said = called(folder.path)
    shown = row(said, "Effort", "1!")[-4:]
    assert all(word.startswith("≥") for word in shown), shown
    assert "≥ some requests came back without a count" in said


def test_no_count_at_all_is_unknown(tmp_path: Path, map_file: Path) -> None:
    folder = model_run(tmp_path / "run", map_file, Reply("Yes.", usage=None))
    tokens = as_json(folder)["runs"][0]["tokens"]
    assert tokens["known"] == "none"
    assert tokens["input_tokens"] is tokens["output_tokens"] is tokens["cost"] is None
    _, said = called(folder.path)
    assert row(said, "Effort", "1!")[-4:] == ["?"] * 4


def test_a_record_that_is_gone_is_unknown(tmp_path: Path, asked: RunFolder) -> None:
    folder = copied(asked, tmp_path / "run")
    (folder.path / RECORD).unlink()
    assert as_json(folder)["runs"][0]["tokens"]["known"] == "none"


def test_a_mean_with_an_unknown_run_is_unknown(
    tmp_path: Path, asked: RunFolder, map_file: Path
) -> None:
    unknown = model_run(tmp_path / "run", map_file, Reply("Yes.", usage=None), seed=6)
    # One model at one address, as far as the manifest goes.
    was = asked.read().model
    assert was is not None
    put(unknown, "model.base_url", was.base_url)
    (group,) = as_json(asked, unknown)["groups"]
    assert group["finished"] == 2
    assert group["means"]["cost"]["mean"] is None
    assert group["means"]["input_tokens"]["mean"] is None
    assert group["means"]["profit"]["mean"] is not None


def test_faults_are_shown_by_whose_they_were(make: Make, asked: RunFolder) -> None:
    folder = make("mute", "mute", reminders=0)
    found = as_json(folder)["runs"][0]
    calls = found["results"]["calls"]
    assert found["fault_counts"] == {"infrastructure": 0, "agent": 0, "model": calls}
    assert found["calls_unanswered"] == calls > 0
    _, said = called(folder.path, asked.path)
    assert f"1!: model no_answer ×{calls}" in said
    assert "infrastructure rate_limited" in said
    assert row(said, "What went wrong", "1!") == ["1!", "0", str(calls), "0", "0", str(calls)]


def test_one_run_has_no_interval(three: list[RunFolder]) -> None:
    _, said = called(three[0].path)
    assert "there is no interval" in " ".join(said.split())
    _, said = called(three[2].path)
    assert "nothing to compare with the oracle" in " ".join(said.split())


def test_a_run_counts_once(three: list[RunFolder], tmp_path: Path) -> None:
    status, said = called(three[0].path, three[1].path, three[0].path)
    assert status == 2
    assert "is given twice" in said
    status, said = called(tmp_path)
    assert status == 2
    assert "is no folder of a run" in said


def test_analyse_takes_folders_and_world_files_alike(
    three: list[RunFolder], map_file: Path
) -> None:
    status, said = called(three[0].path, "--json", command="analyse")
    assert status == 0, said
    folder = json.loads(said)["runs"][0]
    world = (three[0].world, "--map", map_file, "--json")
    status, said = called(*world, command="analyse")
    assert status == 0, said
    file = json.loads(said)["runs"][0]
    assert {**folder, "path": ""} == {**file, "path": ""}
    less = read_facts(three[0].path).difference
    assert folder["gap"]["total"]["difference_cents"] == less
