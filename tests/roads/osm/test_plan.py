"""A map built from a street plan that is small enough to work out by hand."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

pytest.importorskip("osmium", reason="needs the [map] extra")

from tests.roads.osm.plans import (
    HOUSES,
    STREET,
    WAYS,
    restriction,
    write_area,
    write_plan,
)
from tradesbench_gym.roads import Kind, RoadMap, open_map
from tradesbench_gym.roads.osm.area import load_area
from tradesbench_gym.roads.osm.build import Built, Order, build_map

# WGS 84 at 33.401 degrees: metres in a thousandth of a degree.
NORTH, EAST = 110.92, 93.04
ALL_NODES = 9


def built(tmp_path: Path, plan: Path, area: Path, anchors: int = ALL_NODES) -> Built:
    return build_map(Order(plan, load_area(area), tmp_path / "out.tbmap", anchors))


def anchor_at(road_map: RoadMap, row: int, column: int) -> int:
    lat, lon = 33_400_000 + 1_000 * row, -112_000_000 + 1_000 * column
    at = road_map.anchors
    (found,) = np.flatnonzero((at["lat_e6"] == lat) & (at["lon_e6"] == lon))
    return int(found)


def test_the_file_holds_what_was_built(tmp_path: Path, plan: Path, area: Path) -> None:
    result = built(tmp_path, plan, area)
    opened = open_map(tmp_path / "out.tbmap")
    assert opened.digest == result.digest == result.road_map.digest
    assert [path.name for path in tmp_path.iterdir() if path.name.startswith(".out")] == []


def test_the_same_order_gives_the_same_map(tmp_path: Path, plan: Path, area: Path) -> None:
    first = built(tmp_path, plan, area)
    assert built(tmp_path, plan, area).digest == first.digest


def test_a_drive_is_as_long_as_its_streets(tmp_path: Path, plan: Path, area: Path) -> None:
    road_map = built(tmp_path, plan, area).road_map
    corner, across = anchor_at(road_map, 0, 0), anchor_at(road_map, 2, 2)
    assert road_map.metres[corner, across] == pytest.approx(2 * NORTH + 2 * EAST, abs=2)


def test_a_one_way_street_is_driven_one_way(tmp_path: Path, plan: Path, area: Path) -> None:
    # 11 -> 12 is open; from 12 back to 11 the way round is two blocks up or down and one across.
    # Nodes of one-way streets are anchors only where all nodes are asked for.
    road_map = built(tmp_path, plan, area, anchors=9).road_map
    middle, east = anchor_at(road_map, 1, 1), anchor_at(road_map, 1, 2)
    assert road_map.metres[middle, east] == pytest.approx(EAST, abs=1)
    assert road_map.metres[east, middle] == pytest.approx(2 * NORTH + EAST, abs=2)


def test_anchors_avoid_nodes_whose_way_out_is_one_way(
    tmp_path: Path, plan: Path, area: Path
) -> None:
    road_map = built(tmp_path, plan, area, anchors=7).road_map
    places = road_map.anchors[["lat_e6", "lon_e6"]].tolist()
    assert len(set(places)) == 7
    assert (33_401_000, -111_999_000) not in places
    assert (33_401_000, -111_998_000) not in places


def test_a_turn_that_a_sign_forbids_is_not_made(tmp_path: Path, area: Path) -> None:
    # From West Avenue (0 to 10) no right turn into Second Street at 10.
    plan = write_plan(tmp_path / "plan.osm", relations=[restriction("no_right_turn", 130, 10, 110)])
    road_map = built(tmp_path, plan, area, anchors=9).road_map
    start, end = anchor_at(road_map, 0, 0), anchor_at(road_map, 1, 1)
    free = built(tmp_path, write_plan(tmp_path / "plan.osm"), area, anchors=9).road_map
    assert road_map.metres[start, end] == pytest.approx(free.metres[start, end], abs=2)
    # ... but who comes from 0 by West Avenue and has no other way must go round by Third Street.
    ways = [way for way in WAYS if way[0] not in {100, 131}] + [(150, [21, 11], STREET)]
    for relations, metres in (
        ([], NORTH + EAST),
        ([restriction("no_right_turn", 130, 10, 110)], 3 * NORTH + EAST),
    ):
        plan = write_plan(tmp_path / "plan.osm", ways=ways, relations=relations)
        road_map = built(tmp_path, plan, area, anchors=8).road_map
        start, end = anchor_at(road_map, 0, 0), anchor_at(road_map, 1, 1)
        assert road_map.metres[start, end] == pytest.approx(metres, abs=2)


def test_a_bollard_parts_a_street(tmp_path: Path, area: Path) -> None:
    plan = write_plan(tmp_path / "plan.osm", nodes={10: {"barrier": "bollard"}})
    road_map = built(tmp_path, plan, area, anchors=6).road_map
    start, end = anchor_at(road_map, 0, 0), anchor_at(road_map, 2, 0)
    assert road_map.metres[start, end] == pytest.approx(2 * NORTH + 2 * EAST, abs=2)


def test_every_house_number_is_found_by_its_text(tmp_path: Path, plan: Path, area: Path) -> None:
    road_map = built(tmp_path, plan, area).road_map
    for text in (
        "12 First Street",
        "14A First St",
        "21 Second Street",
        "23 Second Street",
        "32 Third Street",
        "34 Third Street",
        "7 Middle Avenue, Testville, AZ 85001",
    ):
        assert road_map.address(road_map.find(text)).text.startswith(text.split()[0])
    assert len(road_map) == 7


def test_a_street_without_a_name_takes_its_roads_and_gaps_take_the_neighbours(
    tmp_path: Path, plan: Path, area: Path
) -> None:
    result = built(tmp_path, plan, area)
    house = result.road_map.address(result.road_map.find("7 Middle Avenue"))
    assert (house.street, house.city, house.zip) == ("Middle Avenue", "Testville", "85001")
    other = result.road_map.address(result.road_map.find("12 First Street"))
    assert (other.city, other.zip) == ("Testville", "85001")
    assert result.counts["street of the nearest road"] == 1
    assert result.counts["house numbers that are none"] == 1  # SN
    assert result.counts["merged, same text"] == 1


def test_one_spelling_a_street_and_the_kind_that_says_most(
    tmp_path: Path, plan: Path, area: Path
) -> None:
    road_map = built(tmp_path, plan, area).road_map
    assert "Third St" not in road_map.content.table.streets
    assert road_map.address(road_map.find("34 Third Street")).kind == Kind.COMMERCIAL
    assert road_map.address(road_map.find("12 First Street")).kind == Kind.RESIDENTIAL


def test_the_leg_is_the_road_to_the_anchor_and_the_way_to_the_house(
    tmp_path: Path, plan: Path, area: Path
) -> None:
    road_map = built(tmp_path, plan, area).road_map
    house = road_map.address(road_map.find("12 First Street"))
    # Half-way between nodes 0 and 1, a tenth of a block off the street.
    assert house.metres == pytest.approx(EAST / 2 + 0.1 * NORTH, abs=2)
    assert house.anchor in {anchor_at(road_map, 0, 0), anchor_at(road_map, 0, 1)}


def test_interpolated_houses_stand_between_their_neighbours(tmp_path: Path, area: Path) -> None:
    ends = [
        (300, 0.1, 0.0, {"addr:housenumber": "2", "addr:street": "First Street"}),
        (301, 0.1, 1.0, {"addr:housenumber": "8", "addr:street": "First Street"}),
    ]
    ways = [*WAYS, (400, [300, 301], {"addr:interpolation": "even"})]
    plan = write_plan(tmp_path / "plan.osm", ways=ways, houses=ends)
    road_map = built(tmp_path, plan, area).road_map
    assert [road_map.address(i).number for i in range(len(road_map))] == ["2", "4", "6", "8"]
    assert road_map.address(1).lon == pytest.approx(-112.0 + 0.001 / 3, abs=2e-6)


def test_a_building_stands_at_its_middle(tmp_path: Path, area: Path) -> None:
    tags = {"building": "apartments", "addr:housenumber": "5", "addr:street": "First Street"}
    ways = [*WAYS, (500, [0, 1, 11, 10, 0], tags)]
    plan = write_plan(tmp_path / "plan.osm", ways=ways, houses=[])
    house = built(tmp_path, plan, area).road_map.address(0)
    assert (house.lat, house.lon, house.kind) == (33.4005, -111.9995, Kind.APARTMENT)


def test_source_date_and_licence_are_in_the_file(tmp_path: Path, plan: Path, area: Path) -> None:
    import hashlib

    about = built(tmp_path, plan, area).road_map.about
    assert about.extract["name"] == "plan.osm"
    assert about.extract["sha256"] == hashlib.sha256(plan.read_bytes()).hexdigest()
    assert about.extract["date"] == "2024-05-06T07:08:09Z"  # the youngest object's
    assert "© OpenStreetMap contributors" in about.attribution
    assert about.licence.startswith("ODbL 1.0")
    assert about.routing["engine"] == "scipy"


def test_zones_by_zip_code_and_by_outline(tmp_path: Path, plan: Path) -> None:
    zones = (
        '[[zone]]\nname = "Coded"\nzips = ["85001"]\n'
        '[[zone]]\nname = "North"\n'
        "polygon = [[33.4018, -112.01], [33.4018, -111.99], [33.41, -111.99], [33.41, -112.01]]\n"
    )
    bounds = "bounds = [33.39, -112.01, 33.41, -111.99]\nelsewhere = 'leave out'\n"
    area = write_area(tmp_path / "area.toml", bounds, zones)
    road_map = built(tmp_path, plan, area).road_map
    zone = {road_map.address(i).number: road_map.address(i).zone for i in range(len(road_map))}
    assert zone == {"7": 0, "32": 1, "34": 1}


def test_houses_of_no_zone_may_go_to_the_nearest(tmp_path: Path, plan: Path) -> None:
    zones = (
        '[[zone]]\nname = "North"\n'
        "polygon = [[33.4018, -112.01], [33.4018, -111.99], [33.41, -111.99], [33.41, -112.01]]\n"
    )
    bounds = "bounds = [33.39, -112.01, 33.41, -111.99]\nelsewhere = 'nearest'\n"
    result = built(tmp_path, plan, write_area(tmp_path / "area.toml", bounds, zones))
    assert len(result.road_map) == 7
    assert result.counts["in no zone"] == len(HOUSES) - 3  # one of them is two, one is none


def test_no_road_leads_over_a_node_that_the_extract_lacks(tmp_path: Path, area: Path) -> None:
    cut = [(150, [20, 21, 999, 12, 2], STREET | {"name": "Cut Street"})]
    road_map = built(tmp_path, write_plan(tmp_path / "plan.osm", ways=WAYS + cut), area).road_map
    start, end = anchor_at(road_map, 2, 1), anchor_at(road_map, 1, 2)
    assert road_map.metres[start, end] == pytest.approx(NORTH + EAST, abs=2)
