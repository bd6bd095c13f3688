"""`tradesbench regret` as people call it: what it prints, writes and refuses, and exits with."""

from __future__ import annotations

import csv
import json
import os
import sys
from importlib.resources import files
from pathlib import Path
from typing import Any

import pytest
import typer
from typer.testing import CliRunner, Result

from tests.worlds import tiny_business, tiny_map
from tradesbench_gym.commands.regret import regret
from tradesbench_gym.company.business import open_business
from tradesbench_gym.errors import PolicyError, TradesBenchError
from tradesbench_gym.policies.load import load_policy
from tradesbench_gym.report.regret import Kind, Prices, price, read_recorded
from tradesbench_gym.report.regret import prices as pricing_of_runs
from tradesbench_gym.report.regret.crew import work_through
from tradesbench_gym.roads import write_map
from tradesbench_gym.world import World, audit, play_on

SEED = 7


@pytest.fixture(scope="module")
def map_file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("map") / "tiny.tbmap"
    write_map(path, tiny_map())
    return path


@pytest.fixture(scope="module")
def run_file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Two days played by accept-all, who answers otherwise than the oracle."""
    path = tmp_path_factory.mktemp("run") / "run.sqlite"
    with World.create(path, SEED, business=tiny_business(days=2)) as world:
        for _stop in play_on(world, load_policy("accept-all")):
            pass
    return path


@pytest.fixture
def call(run_file: Path, map_file: Path) -> object:
    def called(*words: object, width: int = 80) -> Result:
        app = typer.Typer(pretty_exceptions_enable=False)
        app.command()(regret)
        environment = {"COLUMNS": str(width), "TRADESBENCH_QUIET": "1"}
        given = [str(word) for word in (run_file, "--map", map_file, *words)]
        result = CliRunner().invoke(app, given, env=environment)
        if result.exception is not None and not isinstance(result.exception, SystemExit):
            raise result.exception
        return result

    return called


def _priced(run_file: Path) -> Prices:
    return price(read_recorded(run_file, map=tiny_map()))


def test_the_page_names_the_run_the_sums_and_the_worst_calls_in_80_columns(
    call: Any, run_file: Path
) -> None:
    result, prices = call("--worst", 5), _priced(run_file)
    assert result.exit_code == 0
    lines = result.stdout.splitlines()
    assert max(len(line) for line in lines) <= 80
    assert not [line for line in lines if "…" in line]
    assert f"Run {SEED}: {len(prices.of)} calls answered; each priced" in " ".join(lines)
    sums = [line.split() for line in lines if line.startswith("sum")]
    lost = f"${round(prices.regret / 100):,}"
    assert [words[-1] for words in sums] == [lost, lost]
    rows = [line for line in lines if line[:4].strip().isdecimal()]
    assert [int(line[:4]) for line in rows] == [one.call + 1 for one in prices.worst(5)]
    assert "--best" in result.stdout
    assert f"{prices.branches:,} branches in " in result.stderr


def test_json_is_the_only_thing_on_stdout_and_adds_up(call: Any, run_file: Path) -> None:
    found = json.loads(call("--json").stdout)
    prices = _priced(run_file)
    assert found["run_seed"] == SEED
    assert found["complete"] is True
    assert found["regret_cents"] == sum(one["regret_cents"] for one in found["calls"])
    assert found["regret_cents"] == sum(found["parts_cents"].values())
    assert found["regret_cents"] == sum(kind["regret_cents"] for kind in found["kinds"].values())
    departed = sum(one["against_policy_cents"] for one in found["calls"])
    assert found["policy_profit_cents"] + departed == found["profit_cents"]
    assert {one["own_continuation_cents"] for one in found["calls"]} == {found["profit_cents"]}
    assert [one["call"] for one in found["calls"]] == [one.call + 1 for one in prices.of]


def test_a_csv_has_a_line_for_each_call_and_the_parts_of_its_regret(
    call: Any, tmp_path: Path, run_file: Path
) -> None:
    path = tmp_path / "prices.csv"
    assert call("--output", path).exit_code == 0
    with path.open(newline="") as file:
        rows = list(csv.DictReader(file))
    prices = _priced(run_file)
    assert [int(row["regret_cents"]) for row in rows] == [one.regret for one in prices.of]
    parts = ("own", "missed", "cancelled", "jobs", "terms", "callers", "fixed")
    for row in rows:
        assert sum(int(row[f"{part}_cents"]) for part in parts) == int(row["regret_cents"])
        assert row["kind"] in {kind.value for kind in Kind}
        assert (row["answer_technician"] == "") == (row["outcome"] == "rejected")


def test_a_json_file_holds_what_json_prints(call: Any, tmp_path: Path) -> None:
    path = tmp_path / "prices.json"
    printed = json.loads(call("--json", "--output", path).stdout)
    assert json.loads(path.read_text()) == printed


def test_a_sample_says_that_it_is_one_and_of_which_seed(call: Any) -> None:
    said = " ".join(call("--calls", 5, "--answers", 3, "--seed", 9).stdout.split())
    assert "5 of them priced" in said
    assert "Drawn with seed 9." in said
    assert "standard error" in said
    assert "a lower bound" in said


def test_best_prints_the_headroom_as_hindsight_and_saves_a_run_that_passes_the_audit(
    call: Any, tmp_path: Path
) -> None:
    path, told = tmp_path / "best.sqlite", tmp_path / "best.json"
    result = call("--best", "--branches", 3_000, "--save", path, "--output", told)
    assert result.exit_code == 0
    said = " ".join(result.stdout.split())
    assert "needing hindsight" in said
    assert "headroom of the recorded run" in said
    found = json.loads(told.read_text())
    assert found["needs_hindsight"] is True
    assert found["headroom_cents"] == found["best_profit_cents"] - found["recorded_profit_cents"]
    assert audit(path, map=tiny_map()).ok
    assert read_recorded(path, map=tiny_map()).profit == found["best_profit_cents"]


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("--best", "--policy", "planner"), "leave out --policy"),
        (("--best", "--calls", "3"), "leave out --policy, --calls"),
        (("--seconds", "3"), "belong to --best"),
        (("--save", "x.sqlite"), "belong to --best"),
        (("--output", "prices.xls"), "must end in .csv or .json"),
        (("--best", "--output", "prices.csv"), "must end in .json"),
        (("--output", "no/such/folder/prices.csv"), "there is no folder"),
    ],
)
def test_what_cannot_be_is_refused_before_anything_is_played(
    call: Any, words: tuple[str, ...], said: str
) -> None:
    with pytest.raises(TradesBenchError, match=said):
        call(*words)


def test_a_file_is_never_written_over(call: Any, tmp_path: Path) -> None:
    path = tmp_path / "best.sqlite"
    path.write_text("mine")
    with pytest.raises(TradesBenchError, match="a file of that name already"):
        call("--best", "--save", path)
    assert path.read_text() == "mine"


def test_an_unknown_policy_is_named(call: Any) -> None:
    with pytest.raises(PolicyError, match="did you mean 'oracle'"):
        call("--policy", "oracl")


def test_ctrl_c_prints_what_was_priced_until_then(
    call: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    whole = work_through

    def broken_off(*given: Any) -> Any:
        for count, one in enumerate(whole(*given)):
            if count == 4:
                raise KeyboardInterrupt
            yield one

    monkeypatch.setattr(pricing_of_runs, "work_through", broken_off)
    result = call("--json")
    found = json.loads(result.stdout)
    assert result.exit_code == 130
    assert found["priced"] == 4
    assert found["complete"] is False


@pytest.mark.slow  # a process starts
@pytest.mark.skipif(os.name == "nt", reason="needs a pseudo-terminal")
def test_ctrl_c_ends_a_search_with_its_best_run_saved(
    run_file: Path, map_file: Path, tmp_path: Path
) -> None:
    from tests.cli.pseudo_terminal import run_in_terminal  # not where there are none

    path, told = tmp_path / "best.sqlite", tmp_path / "best.json"
    command = [sys.executable, "-m", "tradesbench_gym", "regret", run_file, "--map", map_file]
    search = ["--best", "--seconds", 600, "--save", path, "--output", told]
    words = [str(word) for word in (*command, *search)]
    seen = run_in_terminal(words, interrupt_after="branches")  # as the bar counts them
    assert seen.status == 130, seen.text
    assert "interrupted" in seen.text
    found = json.loads(told.read_text())
    assert found["interrupted"] is True
    assert audit(path, map=tiny_map()).ok
    assert read_recorded(path, map=tiny_map()).profit == found["best_profit_cents"]


def test_names_that_look_like_a_style_are_shown_as_they_are(
    tmp_path: Path, map_file: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    told = (files("tradesbench_gym") / "company" / "sunridge.toml").read_text(encoding="utf-8")
    scenario = tmp_path / "odd.toml"
    odd = told.replace('"HVAC service"', '"[/x] [bold]"').replace('"Plumbing"', '"[red]pipes"')
    scenario.write_text(odd, encoding="utf-8")
    path = tmp_path / "odd.sqlite"
    business = open_business(str(scenario), str(map_file), days=2)
    with World.create(path, SEED, business=business) as world:
        for _stop in play_on(world, load_policy("accept-all")):
            pass
    regret(path, map_name=str(map_file), calls=6, answers=2)
    assert "[/x] [bold]" in capsys.readouterr().out
