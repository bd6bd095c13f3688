"""What tags mean: to a car, to a house number, along an interpolation way."""

from __future__ import annotations

import pytest

from tradesbench_gym.roads import Kind, Road
from tradesbench_gym.roads.book import parse
from tradesbench_gym.roads.osm.houses import kind_of, numbers, parse_number
from tradesbench_gym.roads.osm.interpolation import between
from tradesbench_gym.roads.osm.tags import blocks, drive, look, look_of, parse_limit, wait


@pytest.mark.parametrize(
    "tags",
    [
        {"highway": "footway"},
        {"highway": "residential", "access": "no"},
        {"highway": "residential", "motor_vehicle": "no", "access": "yes"},
        {"highway": "track"},
        {"highway": "service", "service": "emergency_access"},
        {"highway": "construction", "construction": "primary"},
        {"highway": "pedestrian", "area": "yes"},
        {"highway": "primary", "oneway": "reversible"},
    ],
)
def test_no_car_drives_there(tags: dict[str, str]) -> None:
    assert drive(tags) is None


def test_a_track_is_driven_where_a_tag_says_so() -> None:
    use = drive({"highway": "track", "motor_vehicle": "yes"})
    assert use is not None
    assert use.speed == 10


@pytest.mark.parametrize(
    ("tags", "kmh"),
    [
        ({"highway": "motorway"}, 90),
        ({"highway": "residential"}, 25),
        ({"highway": "residential", "maxspeed": "50"}, 40),  # 0.8 of the limit
        ({"highway": "primary", "maxspeed": "40 mph"}, 0.8 * 40 * 1.609),
        ({"highway": "primary", "maxspeed": "signals"}, 65),
        ({"highway": "primary", "surface": "gravel"}, 40),
        ({"highway": "service", "service": "parking_aisle"}, 7.5),
        ({"highway": "tertiary", "lanes": "1"}, 20),
        ({"highway": "tertiary", "lanes": "1", "oneway": "yes"}, 40),
        ({"highway": "primary", "tracktype": "grade4"}, 25),
        ({"highway": "primary", "smoothness": "bad", "surface": "asphalt"}, 40),
        ({"highway": "residential", "lane_markings": "no"}, 0.75 * 25),
        ({"highway": "residential", "width": "3 m", "lane_markings": "no"}, 12.5),
        ({"highway": "residential", "width": "12'6\""}, 0.6 * 25),  # 3.81 m
        ({"highway": "tertiary", "oneway": "alternating"}, 0.4 * 40),
    ],
)
def test_speed_follows_class_limit_and_surface(tags: dict[str, str], kmh: float) -> None:
    use = drive(tags)
    assert use is not None
    assert use.speed == pytest.approx(kmh)


@pytest.mark.parametrize(
    ("tags", "direction"),
    [
        ({}, 0),
        ({"oneway": "yes"}, 1),
        ({"oneway": "-1"}, -1),
        ({"junction": "roundabout"}, 1),
        ({"highway": "motorway"}, 1),
        ({"highway": "motorway", "oneway": "no"}, 0),
    ],
)
def test_one_way_streets_are_known_by_their_tags(tags: dict[str, str], direction: int) -> None:
    use = drive({"highway": "residential"} | tags)
    assert use is not None
    assert use.direction == direction


def test_a_private_road_is_driven_but_marked_and_a_ramp_is_a_ramp() -> None:
    private = drive({"highway": "service", "access": "private"})
    ramp = drive({"highway": "trunk_link"})
    assert private is not None
    assert private.restricted
    assert ramp is not None
    assert (ramp.road, ramp.restricted) == (Road.RAMP, False)


def test_a_bollard_blocks_and_a_gate_costs_a_minute() -> None:
    assert blocks({"barrier": "bollard"})
    assert not blocks({"barrier": "bollard", "access": "yes"})
    assert not blocks({"barrier": "gate"})
    assert wait({"barrier": "gate"}) == (60, 60)
    assert wait({"highway": "traffic_signals", "direction": "forward"}) == (2, 0)
    assert wait({"highway": "crossing"}) == (0, 0)


def test_a_limit_that_is_none_is_nothing() -> None:
    assert [parse_limit(text) for text in ("", "none", "25 mph", "30")] == [0, 0, 25 * 1.609, 30]


@pytest.mark.parametrize(
    ("written", "number", "suffix"),
    [
        ("12", 12, ""),
        ("12A", 12, "A"),
        ("507 A", 507, "A"),
        ("92-B", 92, "B"),
        ("112-34", 112, "-34"),
        ("227-16 1/2", 227, "-16 1/2"),
        ("12 1/2", 12, " 1/2"),
        ("48/5", 48, "/5"),
    ],
)
def test_a_house_number_is_a_number_and_a_suffix_that_a_search_understands(
    written: str, number: int, suffix: str
) -> None:
    found = parse_number(written)
    assert found == (number, suffix)
    query = parse(f"{number}{suffix} Main St")
    assert (query.number, query.suffix, query.words) == (number, suffix, ("MAIN", "ST"))


@pytest.mark.parametrize("written", ["SN", "REAR", "N6W23001", "214-39 REAR", "9999999999"])
def test_what_is_no_house_number_is_said_to_be_none(written: str) -> None:
    assert parse_number(written) is None


def test_a_list_of_house_numbers_is_several_houses() -> None:
    assert list(numbers("84;86, 88")) == [(84, ""), (86, ""), (88, "")]


@pytest.mark.parametrize(
    ("tags", "kind"),
    [
        ({"building": "house"}, Kind.RESIDENTIAL),
        ({}, Kind.RESIDENTIAL),
        ({"building": "apartments", "shop": "bakery"}, Kind.APARTMENT),
        ({"addr:unit": "3"}, Kind.APARTMENT),
        ({"building": "retail"}, Kind.COMMERCIAL),
        ({"amenity": "cafe"}, Kind.COMMERCIAL),
    ],
)
def test_the_kind_of_customer_follows_from_the_building(tags: dict[str, str], kind: Kind) -> None:
    assert kind_of(tags) == kind


def test_interpolated_houses_stand_evenly_between_the_two_that_are_known() -> None:
    line = [(0, 0), (0, 1000)]
    first, last = parse_number("2"), parse_number("10")
    assert first is not None
    assert last is not None
    assert list(between("even", first, last, line)) == [(4, 0, 250), (6, 0, 500), (8, 0, 750)]
    assert [n for n, _, _ in between("all", last, first, line)] == [9, 8, 7, 6, 5, 4, 3]
    assert list(between("alphabetic", first, last, line)) == []


@pytest.mark.parametrize(
    ("tags", "lanes"),
    [
        ({}, 0),
        ({"lanes": "3"}, 3),
        ({"lanes:forward": "2", "lanes:backward": "1"}, 3),
        ({"oneway": "yes", "turn:lanes": "left||"}, 3),
        ({"turn:lanes:forward": "left|through;right"}, 2),
        ({"turn:lanes": "left|right"}, 4),  # of each direction
        ({"lanes": "5", "turn:lanes:forward": "left|through|right"}, 5),
        ({"turn:lanes:forward": "left|sideways"}, 0),
    ],
)
def test_a_road_has_at_least_the_lanes_with_arrows(tags: dict[str, str], lanes: int) -> None:
    assert look_of(look({"highway": "primary"} | tags)).lanes == lanes


def test_a_road_is_split_where_arrows_differ_between_its_directions() -> None:
    one = {"highway": "primary", "turn:lanes:forward": "left|through"}
    assert look_of(look(one)).split
    assert not look_of(look(one | {"turn:lanes:backward": "left|through"})).split
    assert not look_of(look(one | {"oneway": "yes"})).split
