"""`tradesbench map build --pbf`: what people see of a build, of a stop and of a refusal."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from typer.testing import CliRunner

pytest.importorskip("osmium", reason="needs the [map] extra")

from tradesbench_gym.roads import open_map
from tradesbench_gym.roads.cli import map_app
from tradesbench_gym.roads.osm import build as building

RUNNER = CliRunner()


def command(plan: Path, area: Path, *more: str) -> list[str]:
    output = str(plan.with_name("out.tbmap"))
    return ["build", "--pbf", str(plan), "--area", str(area), output, "--anchors", "9", *more]


def test_a_build_says_what_became_of_the_house_numbers_and_whom_to_thank(
    plan: Path, area: Path
) -> None:
    result = RUNNER.invoke(map_app, command(plan, area), env={"COLUMNS": "80"})
    assert result.exit_code == 0, result.output
    assert "7 addresses, 9 anchors" in result.stdout
    assert "1  house numbers that are none" in result.stdout
    assert "0-1 km" in result.stdout
    assert "© OpenStreetMap contributors, ODbL 1.0" in result.stdout
    assert max(map(len, result.stdout.splitlines()[1:])) <= 80  # the first names the file
    shown = RUNNER.invoke(map_app, ["info", str(plan.with_name("out.tbmap"))])
    told = "".join(shown.stdout.split())
    assert "©OpenStreetMapcontributors" in told
    assert "plan.osmwithdataof2024-05-06" in told


def test_a_build_as_json_names_source_engine_and_counts(plan: Path, area: Path) -> None:
    result = RUNNER.invoke(map_app, command(plan, area, "--json"))
    facts = json.loads(result.stdout)
    assert facts["digest"] == open_map(facts["file"]).digest
    assert facts["routing"]["engine"] == "scipy"
    assert facts["extract"]["name"] == "plan.osm"
    assert facts["counts"]["merged, same text"] == 1
    assert sum(band["pairs"] for band in facts["circuity"]) == 9 * 8


def test_ctrl_c_says_that_the_same_command_goes_on(
    plan: Path, area: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def interrupted(*_: object) -> None:
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(building, "place", interrupted)
        stopped = RUNNER.invoke(map_app, command(plan, area))
    assert stopped.exit_code == 130
    assert "the same command goes on from there" in stopped.stderr
    assert not plan.with_name("out.tbmap").exists()
    assert RUNNER.invoke(map_app, command(plan, area)).exit_code == 0


def test_a_refusal_is_one_sentence_and_exit_2(plan: Path, area: Path) -> None:
    result = RUNNER.invoke(map_app, command(plan, area, "--anchors", "99"))
    assert result.exit_code == 2
    last = result.stderr.strip().splitlines()[-1]
    assert last.startswith("error: 99 anchors are more than the 9 nodes")


def test_without_osmium_it_says_what_to_install(
    plan: Path, area: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    import sys

    monkeypatch.setitem(sys.modules, "osmium", None)
    result = RUNNER.invoke(map_app, command(plan, area))
    assert result.exit_code == 2
    assert "pip install 'tradesbench-gym[map]'" in result.stderr
    assert list(plan.parent.glob(".out*")) == []
