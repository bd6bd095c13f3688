"""Whatever is wrong with what was given is one sentence, and nothing is left behind."""

from __future__ import annotations

from pathlib import Path

import pytest

pytest.importorskip("osmium", reason="needs the [map] extra")

from tests.roads.osm.plans import HOUSES, WAYS, write_area, write_plan
from tradesbench_gym.roads import MapError
from tradesbench_gym.roads.osm.area import find_area, load_area
from tradesbench_gym.roads.osm.build import Order, build_map

SQUARE = "[[33.39, -112.01], [33.39, -111.99], [33.41, -111.99], [33.41, -112.01]]"


def refusal(tmp_path: Path, plan: Path, area: Path, **more: object) -> str:
    order = Order(plan, load_area(area), tmp_path / "out.tbmap", **{"anchors": 4, **more})  # type: ignore[arg-type]  # any of them
    before = {path for path in tmp_path.iterdir() if path.name != "cache"}
    with pytest.raises(MapError) as caught:
        build_map(order)
    assert {path for path in tmp_path.iterdir() if path.name != "cache"} == before
    message = caught.value.message
    assert "\n" not in message
    return message


@pytest.mark.parametrize("content", [b"", b"not a map at all", b"\x00\x01" * 500])
@pytest.mark.parametrize("name", ["a.osm.pbf", "a.osm", "a.txt"])
def test_what_is_no_extract(tmp_path: Path, area: Path, content: bytes, name: str) -> None:
    path = tmp_path / name
    path.write_bytes(content)
    message = refusal(tmp_path, path, area)
    assert "is truncated or is no OpenStreetMap extract" in message or "lies outside" in message


def test_a_truncated_extract(tmp_path: Path, plan: Path, area: Path) -> None:
    plan.write_bytes(plan.read_bytes()[:-400])
    assert "is truncated or is no OpenStreetMap extract" in refusal(tmp_path, plan, area)


def test_a_missing_extract_a_folder_and_a_missing_folder(tmp_path: Path, area: Path) -> None:
    assert "There is no extract" in refusal(tmp_path, tmp_path / "none.pbf", area)
    assert "or it is no file" in refusal(tmp_path, tmp_path, area)


def test_an_area_outside_the_extract(tmp_path: Path, plan: Path) -> None:
    far = SQUARE.replace("33.", "43.")
    area = write_area(tmp_path / "far.toml", "", f'[[zone]]\nname = "Far"\npolygon = {far}\n')
    message = refusal(tmp_path, plan, area)
    assert "lies outside the extract" in message
    assert "covers 33.400, -112.000, 33.402, -111.948" in message


def test_an_area_without_addresses(tmp_path: Path, area: Path) -> None:
    plan = write_plan(tmp_path / "plan.osm", houses=[])
    assert "There are no house numbers" in refusal(tmp_path, plan, area)


def test_an_area_without_roads(tmp_path: Path, area: Path) -> None:
    plan = write_plan(tmp_path / "plan.osm", ways=[(1, [0, 1], {"highway": "footway"})])
    assert "There are no roads for cars" in refusal(tmp_path, plan, area)


def test_more_anchors_than_nodes(tmp_path: Path, plan: Path, area: Path) -> None:
    message = refusal(tmp_path, plan, area, anchors=10)
    assert message.startswith("10 anchors are more than the 9 nodes of the connected roads")


def test_an_address_in_no_zone(tmp_path: Path, plan: Path) -> None:
    zone = '[[zone]]\nname = "All"\nzips = ["85001"]\n'
    area = write_area(tmp_path / "a.toml", "bounds = [33.39, -112.01, 33.41, -111.99]\n", zone)
    message = refusal(tmp_path, plan, area)
    assert message.startswith("7 of 8 addresses lie in no zone, the first '12 First Street' at")
    assert "elsewhere" in message


def test_a_zone_without_addresses(tmp_path: Path, plan: Path) -> None:
    two = (
        f'[[zone]]\nname = "All"\npolygon = {SQUARE}\n'
        '[[zone]]\nname = "Sea"\npolygon = [[33.41, -112], [33.41, -111.99], [33.42, -111.99]]\n'
    )
    area = write_area(tmp_path / "a.toml", "", two)
    assert "Zone 'Sea' has no addresses" in refusal(tmp_path, plan, area)


def test_a_zone_on_an_island_is_cut_off(tmp_path: Path) -> None:
    island = (900, 0.0, 51.0, {"addr:housenumber": "1", "addr:street": "Island Road"})
    plan = write_plan(tmp_path / "plan.osm", houses=[*HOUSES, island])
    two = (
        f'[[zone]]\nname = "Land"\npolygon = {SQUARE}\n'
        '[[zone]]\nname = "Island"\n'
        "polygon = [[33.39, -111.96], [33.39, -111.94], [33.41, -111.94], [33.41, -111.96]]\n"
    )
    area = write_area(tmp_path / "a.toml", "", two)
    message = refusal(tmp_path, plan, area)
    assert "Zone 'Island' is cut off: none of its 1 addresses lies within 1 km" in message


def test_a_house_on_an_island_of_a_zone_is_left_out_and_counted(tmp_path: Path) -> None:
    island = (900, 0.0, 51.0, {"addr:housenumber": "1", "addr:street": "Island Road"})
    plan = write_plan(tmp_path / "plan.osm", houses=[*HOUSES, island])
    wide = SQUARE.replace("-111.99", "-111.94")
    area = write_area(tmp_path / "a.toml", "", f'[[zone]]\nname = "All"\npolygon = {wide}\n')
    built = build_map(Order(plan, load_area(area), tmp_path / "out.tbmap", 4))
    assert built.counts["left out, cut off from the roads"] == 1
    assert len(built.road_map) == 7


def test_an_unknown_engine_and_an_osrm_that_is_none(
    tmp_path: Path, plan: Path, area: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert "no routing engine 'valhalla': name scipy or osrm" in refusal(
        tmp_path, plan, area, engine="valhalla"
    )
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.setattr("importlib.util.find_spec", lambda *_: None)
    message = refusal(tmp_path, plan, area, engine="osrm")
    assert "pip download" in message
    assert "scipy, needs neither" in message
    missing = tmp_path / "none.whl"
    assert "There is no OSRM at" in refusal(tmp_path, plan, area, engine="osrm", osrm=missing)
    assert "Cannot unpack the wheel" in refusal(tmp_path, plan, area, engine="osrm", osrm=area)
    assert "has not osrm-extract" in refusal(tmp_path, plan, area, engine="osrm", osrm=tmp_path)


def test_ways_that_repeat_a_node_do_no_harm(tmp_path: Path, area: Path) -> None:
    plan = write_plan(tmp_path / "plan.osm", ways=[*WAYS, (160, [0, 0, 1, 1], WAYS[0][2])])
    built = build_map(Order(plan, load_area(area), tmp_path / "out.tbmap", 4))
    assert len(built.road_map) == 7


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("name = ", "is not TOML"),
        ('name = "a"\nstate = "AZ"\n', "zone: an area has 1 to 16 [[zone]] tables"),
        (f'name = "a"\n[[zone]]\nname = "Z"\npolygon = {SQUARE}', "state: it is a text and must"),
        ('name = "a"\nstate = "AZ"\n[[zone]]\nname = "Z"', "Z: a zone needs a polygon or ZIP"),
        (
            'name = "a"\nstate = "AZ"\n[[zone]]\nname = "Z"\nzips = ["1"]',
            "zones of ZIP codes need bounds",
        ),
        (
            'name = "a"\nstate = "AZ"\n[[zone]]\nname = "Z"\npolygon = [[1, 2], [3, 4]]',
            "at least three",
        ),
        (
            'name = "a"\nstate = "AZ"\n[[zone]]\nname = "Z"\npolygon = [[1,2],[3,4],[-112,33]]',
            "[-112, 33] is not on the map: [latitude, longitude]",
        ),
        (
            f'name = "a"\nstate = "AZ"\ncolour = 1\n[[zone]]\nname = "Z"\npolygon = {SQUARE}',
            "colour: there is no such key",
        ),
        (
            f'name = "a"\nstate = "AZ"\nanchors = 0\n[[zone]]\nname = "Z"\npolygon = {SQUARE}',
            "anchors: it is a number from 1 to 20,000, not 0",
        ),
        (
            f'name = "a"\nstate = "AZ"\nelsewhere = "x"\n[[zone]]\nname = "Z"\npolygon = {SQUARE}',
            "elsewhere: it is one of 'refuse', 'leave out', 'nearest'",
        ),
    ],
)
def test_what_is_wrong_with_an_area_file_is_said_with_its_key(
    tmp_path: Path, text: str, sentence: str
) -> None:
    path = tmp_path / "bad.toml"
    path.write_text(text)
    with pytest.raises(MapError) as caught:
        load_area(path)
    assert sentence in caught.value.message


def test_an_area_that_ships_is_found_by_name_and_an_unknown_one_names_it() -> None:
    assert find_area("phoenix.toml") == find_area("phoenix")
    assert len(load_area(find_area("phoenix")).zones) == 10
    with pytest.raises(MapError, match=r"one that ships \(phoenix\)"):
        find_area("atlantis")
