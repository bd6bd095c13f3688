"""The road map as everybody else uses it: records, pools, distances, addresses by text."""

from __future__ import annotations

import pickle

import numpy as np
import pytest

from tests.roads.towns import ADDRESSES, make_town, town_table
from tradesbench_gym.roads import ANCHOR, PLACE, AddressTable, Kind, MapError, Plane, RoadMap, Zone


def test_place_and_anchor_have_no_padding() -> None:
    assert PLACE.itemsize == 26
    assert PLACE.names == ("lat_e6", "lon_e6", "x", "y", "anchor", "leg", "zone", "kind")
    assert ANCHOR.names == ("lat_e6", "lon_e6", "x", "y", "zone")
    for dtype in (PLACE, ANCHOR):
        assert dtype.itemsize == sum(dtype[name].itemsize for name in dtype.names or ())


def test_the_plane_rounds_half_up_in_whole_numbers() -> None:
    plane = Plane(0, 0, 500_000, 1_500_000)  # half a metre and one and a half per microdegree
    assert plane.north([1, 2, 3, -1, -2, -3]).tolist() == [1, 1, 2, 0, -1, -1]
    assert plane.east([1, 3, -1, -3]).tolist() == [2, 5, -1, -4]


def test_the_plane_does_not_overflow_far_away() -> None:
    plane = Plane(33_440_000, -112_073_700, 110_913, 92_923)
    # 80.56 degrees north of the origin at 110,913 m, and 252.0737 east at 92,923 m
    assert plane.north(114_000_000).item() == 8_935_151
    assert plane.east(140_000_000).item() == 23_423_444


def test_a_pool_holds_every_address_once_by_zone_and_kind(town: RoadMap) -> None:
    assert sorted(town.pool["address"].tolist()) == list(range(ADDRESSES))
    assert len(town.pool_start) == 2 * 3 + 1
    for zone in range(2):
        for kind in Kind:
            group = zone * 3 + kind
            spots = town.pool[town.pool_start[group] : town.pool_start[group + 1]]
            ids = spots["address"]
            for name in ("x", "y", "anchor", "leg"):
                assert (spots[name] == town.places[name][ids]).all()
            assert (town.places["zone"][ids] == zone).all()
            assert (town.places["kind"][ids] == kind).all()
            assert (np.diff(ids) > 0).all()


def test_a_drive_is_leg_anchors_leg(town: RoadMap) -> None:
    # address 0: anchor 0, leg 60; address 7: anchor 7 (column 3, row 1), leg 67
    assert town.distance(0, 7) == 60 + (3000 + 1000 + 30) + 67
    assert town.distance(7, 0) == 67 + (3000 + 1000) + 60


def test_a_drive_to_the_same_address_is_nothing_and_at_one_anchor_both_legs(town: RoadMap) -> None:
    assert town.distance(5, 5) == 0
    assert town.distance(5, 17) == 65 + 77


def test_the_nearest_anchor_of_an_anchor_is_itself(town: RoadMap) -> None:
    for k in range(len(town.anchors)):
        lat, lon = town.anchors["lat_e6"][k] / 1e6, town.anchors["lon_e6"][k] / 1e6
        assert town.nearest_anchor(lat, lon) == k


def test_every_address_is_found_by_its_own_text(town: RoadMap) -> None:
    for i in range(ADDRESSES):
        address = town.address(i)
        assert address.id == i
        assert town.find(address.text) == i
        assert town.book.text(i) == address.text


def test_house_numbers_keep_their_suffixes(town: RoadMap) -> None:
    texts = [town.address(i).text for i in range(4)]
    assert texts == [
        "100 W Camelback Rd, Phoenix, AZ 85015",
        "100A N 7th Ave, Phoenix, AZ 85015",
        "100-34 W Camelback Rd, Glendale, AZ 85301",
        "100 1/2 N 7th Ave, Glendale, AZ 85301",
    ]


@pytest.mark.parametrize(
    "text",
    [
        "100-34 W Camelback Rd, Glendale, AZ 85301",
        "100-34 w camelback rd glendale az 85301",
        "  100-34   West Camelback Road,Glendale,Arizona",
        "100-34 W. CAMELBACK RD., GLENDALE",
        "100-34 W Camelback Rd 85301",
        "100-34 W Camelback Rd, AZ 85301-1234",
        "100-34 West Camelback Road",
    ],
)
def test_case_commas_and_abbreviations_do_not_matter(town: RoadMap, text: str) -> None:
    assert town.find(text) == 2


@pytest.mark.parametrize("text", ["100 1/2 North Seventh Avenue", "100 1/2 N 7TH AVE, Glendale"])
def test_numbers_in_words_and_fractions_are_read(town: RoadMap, text: str) -> None:
    assert town.find(text) == 3


def test_an_unknown_house_names_its_neighbours(town: RoadMap) -> None:
    with pytest.raises(MapError, match="near it '100") as caught:
        town.find("99 W Camelback Rd, Phoenix, AZ 85015")
    assert caught.value.code == "address_unknown"


def test_the_right_house_in_the_wrong_city_is_not_taken_for_it(town: RoadMap) -> None:
    with pytest.raises(MapError, match=r"near it '100-34 W Camelback Rd, Glendale, AZ 85301'"):
        town.find("100-34 W Camelback Rd, Phoenix, AZ 85015")


def test_an_unknown_street_names_streets_like_it(town: RoadMap) -> None:
    with pytest.raises(MapError, match="streets like it: W Camelback Rd"):
        town.find("100 W Camelbak Rd, Phoenix")


@pytest.mark.parametrize("text", ["", "   ", "Camelback", ",", "99999999999 W Camelback Rd"])
def test_text_that_is_no_address_is_one_sentence(town: RoadMap, text: str) -> None:
    with pytest.raises(MapError, match="does not begin with a house number") as caught:
        town.find(text)
    assert caught.value.code == "address_unreadable"


def test_an_ambiguous_address_asks_for_the_city() -> None:
    table = town_table()
    table.suffix[:] = 0
    table.number[:] = 100 + np.arange(ADDRESSES) // 4
    table.street[:] = np.arange(ADDRESSES) % 2
    town = RoadMap.from_arrays(
        "twins",
        make_town().zones,
        {name: make_town().places[name] for name in PLACE.names or () if name not in "xy"},
        {name: make_town().anchors[name] for name in ("lat_e6", "lon_e6", "zone")},
        make_town().metres,
        table=table,
    )
    with pytest.raises(
        MapError, match=r"Phoenix, AZ 85015' or .*Glendale, AZ 85301': add the city"
    ):
        town.find("100 W Camelback Rd")
    assert town.address(town.find("100 W Camelback Rd, Glendale")).city == "Glendale"


@pytest.mark.parametrize("number", [-1, ADDRESSES, 10**9])
def test_an_address_number_out_of_range_names_the_range(town: RoadMap, number: int) -> None:
    with pytest.raises(MapError, match="the map has 0 to 199"):
        town.address(number)


def test_a_plain_map_needs_no_address_table() -> None:
    town = RoadMap.from_arrays(
        "plain",
        [Zone("All", 33.45, -112.07, 100)],
        {"lat_e6": [1, 2], "lon_e6": [1, 2], "anchor": [0, 0], "leg": [5, 6], "zone": [0, 0],
         "kind": [0, 2]},
        {"lat_e6": [1], "lon_e6": [1], "zone": [0]},
        [[0]],
    )  # fmt: skip
    assert town.address(1).text == "2 E Main St, Phoenix, AZ 85004"
    assert town.distance(0, 1) == 11


@pytest.mark.parametrize(
    ("column", "value", "sentence"),
    [
        ("anchor", 12, "Column 'anchor' points outside its table of 12"),
        ("zone", 2, "Column 'zone' points outside"),
        ("kind", 3, "Column 'kind' points outside"),
        ("leg", -1, "cannot be negative"),
    ],
)
def test_parts_that_do_not_fit_are_refused(column: str, value: int, sentence: str) -> None:
    town = make_town()
    places = {name: town.places[name].copy() for name in PLACE.names or () if name not in "xy"}
    places[column][7] = value
    with pytest.raises(MapError, match=sentence):
        RoadMap.from_arrays(
            "bad",
            town.zones,
            places,
            {name: town.anchors[name] for name in ("lat_e6", "lon_e6", "zone")},
            town.metres,
        )


def test_two_addresses_of_one_text_are_refused() -> None:
    table = town_table()
    table.suffix[4] = 1
    table.number[4], table.street[4] = 100, 1
    table.locality[4] = 0
    town = make_town()
    with pytest.raises(MapError, match="Addresses 1 and 4 have the same text"):
        RoadMap.from_arrays(
            "bad",
            town.zones,
            {name: town.places[name] for name in PLACE.names or () if name not in "xy"},
            {name: town.anchors[name] for name in ("lat_e6", "lon_e6", "zone")},
            town.metres,
            table=table,
        )


def test_the_graph_has_both_ways_of_a_street_and_one_of_a_one_way(town: RoadMap) -> None:
    graph = town.graph()
    assert sorted(graph.edges) == [(0, 1), (1, 0), (1, 2)]
    assert graph.nodes[0] == {"lat": 33.44, "lon": -112.0737}
    assert graph.edges[0, 1] == {
        "name": "W Camelback Rd",
        "road": "local",
        "speed": 40,
        "metres": 1000,
    }
    assert graph.edges[1, 2]["name"] == ""


def test_a_map_from_memory_is_as_read_only_after_a_journey(town: RoadMap) -> None:
    there = pickle.loads(pickle.dumps(town))  # noqa: S301 - bytes of our own
    assert not there.pool.flags.writeable
    assert not there.places.flags.writeable
    assert not there.metres.flags.writeable
    assert there.digest == town.digest


def test_a_street_that_is_called_like_another_and_its_city_hides_neither() -> None:
    town = make_town()
    table = town_table()
    streets = ("W Camelback Rd", "W Camelback Rd Glendale")
    named = AddressTable(
        table.number, table.suffix, table.street, table.locality, table.suffixes, streets,
        table.localities,
    )  # fmt: skip
    twins = RoadMap.from_arrays(
        "twins",
        town.zones,
        {name: town.places[name] for name in PLACE.names or () if name not in "xy"},
        {name: town.anchors[name] for name in ("lat_e6", "lon_e6", "zone")},
        town.metres,
        table=named,
    )
    for i in range(ADDRESSES):
        assert twins.find(twins.book.text(i)) == i
