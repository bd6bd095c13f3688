"""Maps built from real extracts of OpenStreetMap: every house, sane roads, a whole run."""

from __future__ import annotations

import json
import os
import shutil
from pathlib import Path

import gymnasium as gym
import numpy as np
import pytest
from typer.testing import CliRunner

osmium = pytest.importorskip("osmium", reason="needs the [map] extra")

from tests.roads.osm import areas  # noqa: E402 - after the check for the extra
from tests.roads.osm.conftest import extract  # noqa: E402
from tradesbench_gym.cli import app  # noqa: E402
from tradesbench_gym.roads import MapError, RoadMap, open_map  # noqa: E402
from tradesbench_gym.roads.circuity import circuity, pairs_of  # noqa: E402
from tradesbench_gym.roads.compare import compare, differences  # noqa: E402
from tradesbench_gym.roads.osm.area import load_area  # noqa: E402
from tradesbench_gym.roads.osm.build import Built, Order, build_map  # noqa: E402
from tradesbench_gym.roads.osm.houses import numbers  # noqa: E402

RUNNER = CliRunner()


def build(folder: Path, text: str, source: Path, **more: object) -> Built:
    area = load_area(areas.written(folder, text))
    order = Order(source, area, folder / "out.tbmap", area.anchors, **more)  # type: ignore[arg-type]  # engine and osrm
    return build_map(order)


@pytest.fixture(scope="module")
def imperial(extracts: Path, tmp_path_factory: pytest.TempPathFactory) -> RoadMap:
    folder = tmp_path_factory.mktemp("imperial")
    return build(folder, areas.IMPERIAL, extract(extracts, "imperial_ca.osm.pbf")).road_map


@pytest.mark.slow
def test_of_queens_village_at_least_99_in_100_house_numbers_are_found_by_their_text(
    extracts: Path, tmp_path: Path
) -> None:
    source = extract(extracts, "queens_village_ny.osm.pbf")
    road_map = build(tmp_path, areas.QUEENS, source).road_map
    objects = osmium.FileProcessor(str(source)).with_filter(
        osmium.filter.KeyFilter("addr:housenumber")
    )
    in_all = found = 0
    for thing in objects:
        in_all += 1
        street = thing.tags.get("addr:street") or thing.tags.get("addr:place", "")
        code = thing.tags.get("addr:postcode", "")
        found += all(
            number is not None
            and _is_found(road_map, f"{number.number}{number.suffix} {street}, {code}")
            for number in numbers(thing.tags["addr:housenumber"])
        )
    assert in_all == 32_326
    assert found >= 0.99 * in_all


def _is_found(road_map: RoadMap, text: str) -> bool:
    try:
        address = road_map.address(road_map.find(text))
    except MapError:
        return False
    return address.text.upper().split()[0] == text.upper().split()[0]


@pytest.mark.slow
def test_every_address_of_queens_village_is_found_by_its_own_text(
    extracts: Path, tmp_path: Path
) -> None:
    road_map = build(
        tmp_path, areas.QUEENS, extract(extracts, "queens_village_ny.osm.pbf")
    ).road_map
    for i in range(len(road_map)):
        assert road_map.find(road_map.book.text(i)) == i
    _assert_no_drive_beats_the_crow(road_map)


def _assert_no_drive_beats_the_crow(road_map: RoadMap) -> None:
    straight, roads = pairs_of(road_map)
    assert (roads >= straight).all()
    places, anchors = road_map.places, road_map.anchors[road_map.places["anchor"]]
    east, north = (places[axis].astype(float) - anchors[axis] for axis in "xy")
    assert (places["leg"] >= np.hypot(east, north)).all()


@pytest.mark.slow
def test_roads_of_imperial_are_no_shorter_than_the_straight_line_nor_the_same_both_ways(
    imperial: RoadMap,
) -> None:
    straight, roads = pairs_of(imperial)
    assert (roads >= straight).all()
    assert (imperial.metres != imperial.metres.T).mean() > 0.5
    middle = {band.label: band.median for band in circuity(imperial)}
    assert all(1.1 < middle[label] < 1.6 for label in ("2-5 km", "5-10 km", "10-20 km"))


@pytest.mark.parametrize(
    ("name", "text"),
    [("tempe_split.osm", areas.TEMPE), ("arizona_highways.osm", areas.SCOTTSDALE)],
)
def test_a_street_corner_of_arizona_is_built_and_drawn(
    extracts: Path, tmp_path: Path, name: str, text: str
) -> None:
    pytest.importorskip("matplotlib")
    built = build(tmp_path, text, extract(extracts, name))
    straight, roads = pairs_of(built.road_map)
    assert (roads >= straight).all()
    assert built.road_map.about.extract["date"].startswith("202")
    picture = tmp_path / "map.png"
    result = RUNNER.invoke(app, ["map", "draw", str(picture), str(tmp_path / "out.tbmap")])
    assert result.exit_code == 0, result.stderr
    assert picture.read_bytes().startswith(b"\x89PNG")


@pytest.mark.slow
def test_an_oracle_run_on_imperial_ends_and_is_audited_and_replayed(
    tmp_path: Path, extracts: Path
) -> None:
    build(tmp_path, areas.VALLEY, extract(extracts, "imperial_ca.osm.pbf"))
    file, world = str(tmp_path / "out.tbmap"), str(tmp_path / "run.sqlite")
    played = RUNNER.invoke(
        app,
        ["run", "--policy", "oracle", "--seed", "10001", "--map", file, "--world", world, "--json"],
    )
    assert played.exit_code == 0, played.output
    assert json.loads(played.stdout)["results"]["completed"] > 50
    audited = RUNNER.invoke(app, ["audit", world])
    assert audited.exit_code == 0, audited.output
    assert "is proven" in audited.stdout
    replayed = RUNNER.invoke(app, ["replay", world])
    assert replayed.exit_code == 0, replayed.output
    env = gym.make("TradesBench-v0", map=file, days=1)
    env.reset(seed=10_000)
    ended = False
    while not ended:
        _, _, ended, _, info = env.step([0, 0, 0, 0])
    assert "results" in info


def _osrm() -> Path | None:
    """What the tests use as OSRM: `$TRADESBENCH_OSRM`, else whatever the builder finds itself."""
    from tradesbench_gym.roads.osm.osrm_tools import find_tools

    chosen = os.environ.get("TRADESBENCH_OSRM")
    if chosen:
        return Path(chosen)
    try:
        find_tools(None, Path())
    except MapError:
        pytest.skip("SKIPPED FOR WANT OF OSRM: set TRADESBENCH_OSRM to the wheel of osrm-bindings")
    return None


@pytest.mark.slow
def test_both_engines_agree_on_imperial(imperial: RoadMap, extracts: Path, tmp_path: Path) -> None:
    source = extract(extracts, "imperial_ca.osm.pbf")
    other = build(tmp_path, areas.IMPERIAL, source, engine="osrm", osrm=_osrm()).road_map
    assert other.about.routing["engine"] == "osrm"
    assert other.about.routing["version"][0].isdigit()
    facts = differences(imperial, other)
    assert facts["pairs"] == 300 * 299
    assert facts["median"] <= 0.03
    assert facts["far_pairs"] > 70_000
    assert facts["far_over_a_quarter"] == 0
    assert [each["unreachable_pairs"] for each in compare(imperial, other)["maps"]] == [0, 0]
    assert not list(tmp_path.glob(".out*"))
    shutil.rmtree(tmp_path / "cache", ignore_errors=True)
    assert open_map(tmp_path / "out.tbmap").digest == other.digest
