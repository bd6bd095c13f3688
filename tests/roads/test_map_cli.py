"""`tradesbench map`: what people see, and what they are told when something is wrong."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import pytest
from typer.testing import CliRunner

from tests.roads.towns import make_town
from tradesbench_gym.roads import PLACE, RoadMap, write_map
from tradesbench_gym.roads.circuity import circuity
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
    assert result.stderr == (
        "error: Drawing a map needs matplotlib: pip install 'tradesbench-gym[plot]'.\n"
    )


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


def test_info_fits_80_columns_and_cuts_no_word(file: Path) -> None:
    result = RUNNER.invoke(map_app, ["info", "phoenix"], env={"COLUMNS": "80"})
    assert result.exit_code == 0
    lines = result.stdout.splitlines()
    assert max(map(len, lines)) <= 80
    assert "…" not in result.stdout
    for word in ("Scottsdale/", "Paradise Valley", "153,960", "33.38, -111.76"):
        assert any(word in line for line in lines), word
    shown = RUNNER.invoke(map_app, ["info", str(file), "--circuity"], env={"COLUMNS": "80"})
    assert "1-2 km" in shown.stdout


def test_two_maps_are_compared_and_drawn_side_by_side(file: Path, tmp_path: Path) -> None:
    pytest.importorskip("matplotlib")
    picture = tmp_path / "both.png"
    command = ["compare", str(file), str(file), "--draw", str(picture)]
    result = RUNNER.invoke(map_app, command, env={"COLUMNS": "80"})
    assert result.exit_code == 0, result.stderr
    assert "Same anchors: of 132 distances half differ by less than 0.00%" in " ".join(
        result.stdout.split()
    )
    assert picture.read_bytes().startswith(b"\x89PNG")


def test_a_comparison_as_json_counts_distances_and_pairs_without_a_way(
    file: Path, tmp_path: Path
) -> None:
    other = make_town()
    metres = other.metres.copy()
    metres[0, 11] *= 2  # 5,030 m by road, 3,606 m as the crow flies
    doubled = RoadMap.from_arrays(
        "doubled",
        other.zones,
        {name: other.places[name] for name in PLACE.names or () if name not in "xy"},
        {name: other.anchors[name] for name in ("lat_e6", "lon_e6", "zone")},
        metres,
    )
    write_map(tmp_path / "doubled.tbmap", doubled)
    command = ["compare", str(file), str(tmp_path / "doubled.tbmap"), "--json"]
    facts = json.loads(RUNNER.invoke(map_app, command).stdout)
    assert facts["pairs"]["pairs"] == 12 * 11
    assert facts["pairs"]["median"] == 0
    assert facts["pairs"]["far_largest"] == pytest.approx(1.0)
    assert facts["pairs"]["far_over_a_quarter"] == 1
    # The town's three junctions in a row: the second stretch is one-way, and there is no way back.
    assert facts["maps"][0]["unreachable_pairs"] == 12**2 - _reachable(make_town())
    assert facts["maps"][1]["unreachable_pairs"] is None


def _reachable(town: RoadMap) -> int:
    """Pairs both of whose anchors are nearest to junctions 0 and 1, or both to junction 2."""
    nodes = town.network.nodes["lon_e6"]
    last = [
        abs(int(lon) - int(nodes[2])) < abs(int(lon) - int(nodes[1]))
        for lon in town.anchors["lon_e6"]
    ]
    return last.count(True) ** 2 + last.count(False) ** 2


@pytest.mark.parametrize(
    "command",
    [
        ["build", "out.tbmap", "--pbf", "x.osm.pbf"],
        ["build", "out.tbmap", "--area", "phoenix"],
        ["build", "out.tbmap", "--anchors", "5"],
    ],
)
def test_an_extract_needs_an_area_and_an_area_an_extract(command: list[str]) -> None:
    result = RUNNER.invoke(map_app, command)
    assert result.exit_code == 2
    assert result.stderr == "error: A map from OpenStreetMap needs both --pbf and --area.\n"


def test_the_circuity_of_a_grid_is_what_its_streets_make_it(town: RoadMap) -> None:
    bands = {band.label: band for band in circuity(town)}
    # Neighbours a kilometre apart: straight on, 1.00 west and 1.01 east; 17 neighbours each way.
    assert bands["1-2 km"].pairs > 0
    assert 1.0 <= bands["1-2 km"].p10 <= bands["1-2 km"].median <= 1.42
    assert sum(band.pairs for band in bands.values()) == 12 * 11
    assert sum(band.shorter for band in bands.values()) == 0
