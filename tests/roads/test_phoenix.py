"""The Phoenix that ships, against the bars it was built for and the facts it was built from."""

from __future__ import annotations

import csv
import time
from pathlib import Path

import numpy as np
import numpy.typing as npt
import pytest

from tradesbench_gym.roads import Kind, MapError, RoadMap, open_map
from tradesbench_gym.roads.layout import Road
from tradesbench_gym.roads.phoenix.spec import load_spec
from tradesbench_gym.roads.shapes import inside, within
from tradesbench_gym.roads.shipped import SHIPPED, Shipped

FILE = SHIPPED["phoenix"].path
SHARES = [7, 15, 11, 8, 6, 9, 7, 6, 12, 19]
METRES_LAT, METRES_LON = 110_913, 92_923


def test_it_has_exactly_the_addresses_anchors_and_zones_of_the_report(phoenix: RoadMap) -> None:
    assert len(phoenix) == 1_136_222
    assert len(phoenix.anchors) == 2_116
    assert phoenix.metres.shape == (2_116, 2_116)
    assert phoenix.metres.dtype == np.int32
    assert len(phoenix.zones) == 10


def test_its_digest_is_pinned_and_its_file_small(phoenix: RoadMap) -> None:
    assert phoenix.digest == SHIPPED["phoenix"].digest
    assert FILE.stat().st_size <= 25_000_000


def test_it_thanks_openstreetmap(phoenix: RoadMap) -> None:
    assert "OpenStreetMap contributors" in phoenix.attribution
    assert "ODbL" in phoenix.licence


def test_another_file_under_its_name_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(SHIPPED, "phoenix", Shipped(FILE, "0" * 64))
    with pytest.raises(MapError, match="not the map this version ships"):
        open_map("phoenix")


def test_every_zone_has_its_share_of_addresses(phoenix: RoadMap) -> None:
    counts = np.bincount(phoenix.places["zone"], minlength=10)
    for count, share in zip(counts, SHARES, strict=True):
        assert abs(int(count) - 1_136_222 * share / 100) <= 1


def test_every_zone_has_homes_flats_and_shops(phoenix: RoadMap) -> None:
    assert np.diff(phoenix.pool_start).min() > 1_000
    mix = np.bincount(phoenix.places["kind"]) / len(phoenix)
    assert mix[Kind.RESIDENTIAL] == pytest.approx(0.72, abs=0.03)
    assert mix[Kind.APARTMENT] == pytest.approx(0.16, abs=0.03)
    assert mix[Kind.COMMERCIAL] == pytest.approx(0.12, abs=0.03)


def test_no_address_stands_in_a_mountain_a_river_or_outside_its_zone(phoenix: RoadMap) -> None:
    spec = load_spec()
    lat = phoenix.places["lat_e6"].astype(np.int64)
    lon = phoenix.places["lon_e6"].astype(np.int64)
    for hole in spec.holes:
        assert not inside(hole.outline, lat, lon).any(), hole.name
    river = spec.river
    assert not within(river.points, river.half_width, spec.plane, lat, lon).any()


def test_only_bridges_and_freeways_cross_the_river(phoenix: RoadMap) -> None:
    spec, network = load_spec(), phoenix.network
    nodes, edges = network.nodes, network.edges
    start, end = nodes[edges["tail"]], nodes[edges["head"]]
    wet = np.zeros(len(edges), dtype=bool)
    for eighth in range(9):
        lat, lon = (
            start[name].astype(np.int64) + (end[name].astype(np.int64) - start[name]) * eighth // 8
            for name in ("lat_e6", "lon_e6")
        )
        wet |= within(spec.river.points, 120, spec.plane, lat, lon)
    wet &= (edges["road"] != Road.FREEWAY) & (edges["road"] != Road.RAMP)
    crossing = {network.names[name].partition(" ")[2] for name in edges["name"][wet] if name >= 0}
    assert crossing <= spec.river.bridges | {"Hwy"}
    # Rural Rd is Scottsdale Rd north of the river; the spec's river begins just west of Gilbert Rd.
    assert spec.river.bridges - {"Scottsdale Rd", "Gilbert Rd"} <= crossing


def test_the_anchors_speak_for_similar_numbers_of_addresses(phoenix: RoadMap) -> None:
    counts = np.bincount(phoenix.places["anchor"], minlength=2_116)
    assert counts.min() > 0
    assert np.median(counts) == pytest.approx(1_136_222 / 2_116, rel=0.1)


def _straight(phoenix: RoadMap) -> npt.NDArray[np.float64]:
    """Great-circle metres between all anchors."""
    lat = np.radians(phoenix.anchors["lat_e6"] / 1e6)
    lon = np.radians(phoenix.anchors["lon_e6"] / 1e6)
    away = np.sin((lat[:, None] - lat) / 2) ** 2
    away += np.cos(lat[:, None]) * np.cos(lat) * np.sin((lon[:, None] - lon) / 2) ** 2
    result: npt.NDArray[np.float64] = 2 * 6_371_008.8 * np.arcsin(np.sqrt(away))
    return result


def test_no_road_is_shorter_than_the_straight_line(phoenix: RoadMap) -> None:
    straight = _straight(phoenix)
    apart = ~np.eye(len(straight), dtype=bool)
    assert (phoenix.metres[apart] >= straight[apart]).all()
    x, y = phoenix.anchors["x"].astype(float), phoenix.anchors["y"].astype(float)
    plane = np.hypot(x[:, None] - x, y[:, None] - y)
    assert (phoenix.metres[apart] >= plane[apart]).all()


def test_roads_are_a_quarter_to_a_third_longer_than_the_straight_line(phoenix: RoadMap) -> None:
    straight = _straight(phoenix)
    chosen = (straight > 5_000) & (straight < 40_000)
    assert 1.20 <= np.median(phoenix.metres[chosen] / straight[chosen]) <= 1.35


def test_between_addresses_too(phoenix: RoadMap) -> None:
    random = np.random.default_rng(5)
    first, last = (phoenix.places[random.integers(0, len(phoenix), 50_000)] for _ in range(2))
    straight = np.hypot(
        (first["x"] - last["x"]).astype(float), (first["y"] - last["y"]).astype(float)
    )
    driven = first["leg"] + phoenix.metres[first["anchor"], last["anchor"]] + last["leg"]
    chosen = (straight > 5_000) & (straight < 40_000)
    assert (driven >= straight).all()
    assert 1.20 <= np.median(driven[chosen] / straight[chosen]) <= 1.35


def test_a_leg_is_no_shorter_than_the_straight_line(phoenix: RoadMap) -> None:
    home = phoenix.anchors[phoenix.places["anchor"]]
    straight = np.hypot(
        (phoenix.places["x"] - home["x"]).astype(float),
        (phoenix.places["y"] - home["y"]).astype(float),
    )
    assert (phoenix.places["leg"] >= straight - 1).all()


def test_one_way_streets_make_the_matrix_unsymmetric(phoenix: RoadMap) -> None:
    assert (phoenix.metres != phoenix.metres.T).any()


def test_addresses_are_found_by_text_and_id_in_well_under_a_millisecond(phoenix: RoadMap) -> None:
    ids = np.random.default_rng(6).integers(0, len(phoenix), 2_000).tolist()
    phoenix.find(phoenix.address(0).text)
    start = time.perf_counter()
    texts = [phoenix.address(i).text for i in ids]
    middle = time.perf_counter()
    found = [phoenix.find(text) for text in texts]
    end = time.perf_counter()
    assert found == ids
    assert (middle - start) / len(ids) < 0.0005
    assert (end - middle) / len(ids) < 0.0005


def test_streets_lie_where_phoenix_has_them(phoenix: RoadMap) -> None:
    # house numbers count from Central Ave, eight hundreds a mile: 1900 W is 19th Ave
    corner = phoenix.address(phoenix._unpacked.street_order[0])
    assert corner.state == "AZ"
    names = set(phoenix.content.table.streets)
    assert {"W Camelback Rd", "E Camelback Rd", "N Central Ave", "S 7th St", "W Bell Rd"} <= names
    camelback = np.flatnonzero(
        phoenix.content.table.street == phoenix.content.table.streets.index("W Camelback Rd")
    )
    assert abs(phoenix.places["lat_e6"][camelback] - 33_509_400).max() < 500
    west = phoenix.places["lon_e6"][camelback]
    numbers = phoenix.content.table.number[camelback]
    at_19th_avenue = west[np.argmin(np.abs(numbers - 1_900))]
    assert abs(int(at_19th_avenue) + 112_099_800) < 500


def test_even_numbers_stand_on_the_north_and_west_sides(phoenix: RoadMap) -> None:
    table = phoenix.content.table
    ids = np.flatnonzero(table.street == table.streets.index("W Camelback Rd"))
    north = phoenix.places["lat_e6"][ids] > 33_509_400
    assert ((table.number[ids] % 2 == 0) == north).all()


def test_at_least_nine_of_ten_real_intersections_are_near_a_junction(
    phoenix: RoadMap, shared_data: Path
) -> None:
    folder = shared_data / "phoenix"
    with (folder / "real_intersections.csv").open(encoding="utf-8") as stream:
        real = np.array(
            [(float(r["y_coord"]), float(r["x_coord"])) for r in csv.DictReader(stream)]
        )
    near = np.zeros(len(real), dtype=bool)
    for line in (folder / "arterials.tsv").read_text(encoding="utf-8").splitlines()[1:]:
        _, axis, degrees, _ = line.split("\t")
        column, metres = (0, METRES_LAT) if axis == "lat" else (1, METRES_LON)
        near |= np.abs(real[:, column] - float(degrees)) * metres <= 60
    from scipy.spatial import cKDTree

    nodes = phoenix.network.nodes
    scale = np.array([METRES_LAT, METRES_LON])
    tree = cKDTree(np.stack([nodes["lat_e6"], nodes["lon_e6"]], axis=1) / 1e6 * scale)
    away, _ = tree.query(real[near] * scale)
    assert near.sum() > 5_000
    assert np.mean(np.asarray(away) <= 150) >= 0.90


@pytest.mark.slow
def test_a_build_from_the_facts_gives_the_shipped_file_bit_for_bit(tmp_path: Path) -> None:
    from tradesbench_gym.roads import write_map
    from tradesbench_gym.roads.phoenix.build import build_phoenix

    stages: list[str] = []
    built = build_phoenix(lambda stage, _done, _total: stages.append(stage))
    assert write_map(tmp_path / "phoenix.tbmap", built) == SHIPPED["phoenix"].digest
    assert (tmp_path / "phoenix.tbmap").read_bytes() == FILE.read_bytes()
    assert set(stages) == {"streets", "houses", "distances", "address book"}


@pytest.mark.slow
def test_the_graph_of_the_whole_city_is_strongly_connected(phoenix: RoadMap) -> None:
    import networkx as nx

    graph = phoenix.graph()
    assert graph.number_of_nodes() == len(phoenix.network.nodes)
    assert nx.is_strongly_connected(graph)
