"""`tradesbench map`: what people see, and what they are told when something is wrong."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import pytest
from typer.testing import CliRunner

from tradesbench_gym.roads import RoadMap, write_map
from tradesbench_gym.roads.cli import map_app

RUNNER = CliRunner()


@pytest.fixture
def file(tmp_path: Path, town: RoadMap, cache: Path) -> Path:  # noqa: ARG001 - sets the cache folder
    path = tmp_path / "town.tbmap"
    write_map(path, town)
    return path


def test_info_shows_zones_counts_and_licence(file: Path) -> None:
    result = RUNNER.invoke(map_app, ["info", str(file)], env={"COLUMNS": "140"})
    assert result.exit_code == 0
    for word in ("200", "West", "East", "licence", "attribution", "made in memory"):
        assert word in result.stdout


def test_info_as_json_is_the_same_in_data(file: Path, town: RoadMap) -> None:
    facts = json.loads(RUNNER.invoke(map_app, ["info", str(file), "--json"]).stdout)
    assert facts["digest"] == town.digest
    assert facts["addresses"] == 200
    assert facts["anchors"] == 12
    assert sum(zone["addresses"] for zone in facts["zones"]) == 200


@pytest.mark.parametrize("command", [["info", "atlantis"], ["draw", "x.png", "atlantis"]])
def test_an_unknown_map_is_one_sentence_and_exit_2(command: list[str]) -> None:
    result = RUNNER.invoke(map_app, command)
    assert result.exit_code == 2
    assert result.stderr == "error: There is no map 'atlantis': name phoenix or a .tbmap file.\n"


def test_an_unknown_builder_is_one_sentence_and_exit_2() -> None:
    result = RUNNER.invoke(map_app, ["build", "atlantis"])
    assert result.exit_code == 2
    assert result.stderr == (
        "error: There is no builder for 'atlantis': build one of phoenix, or give --pbf and --area "
        "to build a map from OpenStreetMap.\n"
    )


def test_a_missing_folder_is_told_before_the_long_build(tmp_path: Path) -> None:
    result = RUNNER.invoke(map_app, ["build", "phoenix", "-o", str(tmp_path / "no" / "p.tbmap")])
    assert result.exit_code == 2
    assert "There is no folder" in result.stderr


def test_drawing_writes_an_image(file: Path, tmp_path: Path) -> None:
    pytest.importorskip("matplotlib")
    picture = tmp_path / "town.png"
    result = RUNNER.invoke(map_app, ["draw", str(picture), str(file), "--anchors"])
    assert result.exit_code == 0, result.stderr
    assert picture.read_bytes().startswith(b"\x89PNG")


def test_drawing_into_an_unknown_format_is_one_sentence(file: Path, tmp_path: Path) -> None:
    pytest.importorskip("matplotlib")
    result = RUNNER.invoke(map_app, ["draw", str(tmp_path / "town.xyz"), str(file)])
    assert result.exit_code == 2
    assert "Cannot draw into" in result.stderr


def test_drawing_without_matplotlib_says_what_to_install(
    file: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in [name for name in sys.modules if name.startswith("matplotlib")]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    result = RUNNER.invoke(map_app, ["draw", str(tmp_path / "town.png"), str(file)])
    assert result.exit_code == 2
    assert result.stderr == ("error: Drawing a map needs matplotlib: pip install matplotlib.\n")


def test_the_road_map_does_not_load_matplotlib_or_the_builder() -> None:
    import subprocess

    program = (
        "import sys, tradesbench_gym.roads, tradesbench_gym.roads.cli; "
        "print([n for n in ('matplotlib', 'scipy', 'networkx') if n in sys.modules])"
    )
    answer = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=True
    )
    assert answer.stdout == "[]\n"
