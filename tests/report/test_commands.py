"""`bench` and `calibrate` as people call them."""

import csv
import json
from pathlib import Path
from typing import Any

import pytest
import typer
from typer.testing import CliRunner, Result

from tradesbench_gym.commands.bench import bench
from tradesbench_gym.commands.calibrate import calibrate, parse_changes
from tradesbench_gym.errors import ScenarioError, TradesBenchError
from tradesbench_gym.report.published import BANDS


def call(command: Any, *arguments: str) -> Result:
    app = typer.Typer(pretty_exceptions_enable=False)
    app.command()(command)
    return CliRunner().invoke(app, arguments, env={"COLUMNS": "80"})


def test_bench_prints_a_table_beside_the_report() -> None:
    result = call(bench, "--policies", "oracle,do-nothing", "--seeds", "0:3")
    assert result.exit_code == 0
    assert "$30,289.56" in result.stdout
    assert "3 of 3" in result.stdout
    assert "6 runs in" in result.stderr


def test_bench_for_another_number_of_days_leaves_the_report_out() -> None:
    result = call(bench, "--policies", "oracle", "--seeds", "0", "--days", "7")
    assert "$30,289.56" not in result.stdout
    assert "are for 14 days and left out" in result.stdout


def test_json_is_the_only_thing_on_stdout_and_says_its_units() -> None:
    result = call(bench, "--policies", "do-nothing", "--seeds", "3,1", "--json")
    found = json.loads(result.stdout)
    assert found["seeds"] == [3, 1]
    assert found["policies"][0]["profit_cents"]["mean"] == -2_679_000
    assert [run["seed"] for run in found["runs"]] == [3, 1]
    assert found["runs"][0]["profit_cents"] == -2_679_000


def test_policies_are_compared_with_the_first_seed_by_seed() -> None:
    words = ("--policies", "do-nothing,oracle", "--seeds", "0:3")
    found = json.loads(call(bench, *words, "--json").stdout)
    profits = {(run["policy"], run["seed"]): run["profit_cents"] for run in found["runs"]}
    gaps = [profits["oracle", seed] - profits["do-nothing", seed] for seed in range(3)]
    less = found["profit_cents_less_first"]
    assert list(less) == ["oracle"]
    assert less["oracle"]["mean"] == pytest.approx(sum(gaps) / 3)
    assert min(gaps) <= less["oracle"]["low"] < less["oracle"]["high"] <= max(gaps)
    mean = f"${round(sum(gaps) / 300):,}"
    said = call(bench, *words).stdout
    assert "Profit less do-nothing's, paired by seed" in said
    assert f"  oracle: {mean}, $" in said


def test_csv_has_a_line_for_each_run(tmp_path: Path) -> None:
    file = tmp_path / "runs.csv"
    call(bench, "--policies", "do-nothing,oracle", "--seeds", "0:2", "--csv", str(file))
    with file.open(newline="") as text:
        rows = list(csv.DictReader(text))
    assert [(row["policy"], row["seed"]) for row in rows] == [
        ("do-nothing", "0"),
        ("do-nothing", "1"),
        ("oracle", "0"),
        ("oracle", "1"),
    ]
    assert rows[0]["profit_cents"] == "-2679000"


def test_a_file_that_cannot_be_written_is_refused_before_anything_is_played(tmp_path: Path) -> None:
    for path in (tmp_path, tmp_path / "no" / "runs.csv"):
        result = call(bench, "--policies", "oracle", "--seeds", "0:100000", "--csv", str(path))
        assert isinstance(result.exception, TradesBenchError)
        assert result.exception.code == "unwritable_file"


def test_calibrate_exits_0_exactly_when_every_band_holds() -> None:
    result = call(calibrate, "--policies", "do-nothing", "--seeds", "0:3", "--fresh", "23:25")
    assert result.exit_code == 0
    assert "4 of 4 bands hold." in result.stdout
    # With an overhead of one dollar, doing nothing survives day 10.
    changed = call(
        calibrate, "--policies", "do-nothing", "--seeds", "0:3", "--set", "pay.overhead=1"
    )
    assert changed.exit_code == 1
    assert "FAIL" in changed.stdout


def test_calibrate_judges_every_band_of_the_policies_it_plays() -> None:
    found = json.loads(call(calibrate, "--seeds", "0:2", "--json").stdout)
    assert [set_["name"] for set_ in found["sets"]] == ["tuned"]
    rows = found["sets"][0]["bands"]
    assert [(row["policy"], row["metric"]) for row in rows] == [(b.policy, b.metric) for b in BANDS]


def test_a_changed_number_reaches_the_rules() -> None:
    found = json.loads(
        call(
            calibrate,
            "--policies",
            "oracle",
            "--seeds",
            "0",
            "--set",
            "pay.overhead=1350",
            "--json",
        ).stdout
    )
    rows = {row["metric"]: row for row in found["sets"][0]["bands"]}
    assert rows["fixed_costs"]["mean"] == 3_766_400 + 14 * 100_00


@pytest.mark.parametrize("text", ["demand.gain", "=3", ""])
def test_a_change_without_a_key_and_a_value_is_refused(text: str) -> None:
    with pytest.raises(TradesBenchError, match=r"looks like demand\.gain=0\.1"):
        parse_changes([text])


def test_a_change_of_an_unknown_number_is_refused_with_its_key() -> None:
    result = call(calibrate, "--set", "demand.gian=0.1")
    assert isinstance(result.exception, ScenarioError)
    assert "demand.gian" in result.exception.message
