"""Carriageways seen as one road or as two, drawn by hand around a fork at the equator.

Places are (east, north) of the fork in microdegrees, 0.111 m each. A road comes from the south and
parts, 8.6° to either side of north, in one carriageway out and one in.
"""

from __future__ import annotations

import numpy as np
import pytest

from tradesbench_gym.roads.layout import Road
from tradesbench_gym.roads.osm.arcs import arcs_of
from tradesbench_gym.roads.osm.bearings import headings
from tradesbench_gym.roads.osm.extract import Ways
from tradesbench_gym.roads.osm.network import Roads, lay_roads
from tradesbench_gym.roads.osm.tags import look

Place = tuple[int, int]
FORK, SOUTH, OUT, INTO = (0, 0), (0, -2_000), (300, 2_000), (-300, 2_000)
EITHER_SIDE = pytest.approx(8.6, abs=0.1)


class Street:
    """One way of one piece; two-way unless it is named one-way."""

    def __init__(
        self, start: Place, end: Place, name: str = "Main Street", *, oneway: bool = True,
        highway: str = "primary", lanes: str = "",
    ) -> None:  # fmt: skip
        self.start, self.end = start, end
        self.name, self.oneway = name, oneway
        self.tags = {"highway": highway, "lanes": lanes}


TRUNK = Street(SOUTH, FORK, oneway=False)
AWAY = Street(FORK, OUT)
BACK = Street(INTO, FORK)


class Seen:
    """Where streets lead as headings tell it."""

    def __init__(self, *streets: Street) -> None:
        self.places = sorted({place for each in streets for place in (each.start, each.end)})
        self._roads = _laid(streets, self.places)
        self._arcs = arcs_of(self._roads)
        self._leaving, self._arriving, self._legs = headings(self._roads, self._arcs)

    def _arc(self, start: Place, end: Place) -> int:
        tail, head = self.places.index(start), self.places.index(end)
        found = np.flatnonzero((self._arcs.tail == tail) & (self._arcs.head == head))
        assert len(found) == 1
        return int(found[0])

    def leaving(self, start: Place, end: Place) -> float:
        """Degrees from north to the east, -180 to 180, in which one leaves the start."""
        return _signed(self._leaving[self._arc(start, end)])

    def arriving(self, start: Place, end: Place) -> float:
        """Those in which one arrives at the end."""
        return _signed(self._arriving[self._arc(start, end)])

    def legs(self, place: Place) -> int:
        """How many roads are seen to meet there."""
        return int(self._legs[self.places.index(place)])


def _signed(degrees: float) -> float:
    return float((degrees + 180) % 360 - 180)


def _laid(streets: tuple[Street, ...], places: list[Place]) -> Roads:
    names = ("", *sorted({each.name for each in streets if each.name}))
    count, nothing = len(streets), np.zeros(0, dtype=np.int64)
    ends = [place for each in streets for place in (each.start, each.end)]
    none = np.zeros(count, dtype=np.int64)
    return lay_roads(
        Ways(
            id=np.arange(count), road=none + int(Road.ARTERIAL), speed=none + 5_000_000,
            oneway=np.array([int(each.oneway) for each in streets]),
            restricted=none, reversed=none,
            look=np.array([look(each.tags) for each in streets]),
            name=np.array([names.index(each.name) for each in streets]),
            start=np.arange(0, 2 * count + 1, 2),
            ref=np.array([places.index(place) for place in ends]),
            lat_e6=np.array([north for _, north in ends]),
            lon_e6=np.array([east for east, _ in ends]),
            names=names, blocked=nothing, wait_ref=nothing, wait_ahead=nothing,
            wait_against=nothing, ban_from=nothing, ban_via=nothing, ban_to=nothing,
            ban_only=nothing,
        )
    )  # fmt: skip


def test_two_carriageways_of_one_name_lead_along_the_middle_between_them_and_count_as_one() -> None:
    seen = Seen(TRUNK, AWAY, BACK)
    assert seen.leaving(FORK, OUT) == pytest.approx(0, abs=1e-6)
    assert seen.arriving(INTO, FORK) == pytest.approx(-180, abs=1e-6)
    assert seen.legs(FORK) == 2


def test_carriageways_of_one_road_may_differ_in_their_lanes() -> None:
    assert Seen(TRUNK, AWAY, Street(INTO, FORK, lanes="2")).legs(FORK) == 2


def _apart(seen: Seen, out: Place = OUT) -> None:
    assert seen.leaving(FORK, out) == EITHER_SIDE
    assert seen.legs(FORK) == 3


def test_roads_of_two_names_or_of_none_are_two() -> None:
    _apart(Seen(TRUNK, AWAY, Street(INTO, FORK, "Side Street")))
    _apart(Seen(TRUNK, Street(FORK, OUT, ""), Street(INTO, FORK, "")))


def test_roads_of_two_classes_are_two() -> None:
    _apart(Seen(TRUNK, AWAY, Street(INTO, FORK, highway="secondary")))


def test_two_roads_out_or_one_that_is_driven_both_ways_are_two() -> None:
    _apart(Seen(TRUNK, AWAY, Street(FORK, INTO)))
    _apart(Seen(TRUNK, AWAY, Street(INTO, FORK, oneway=False)))


def test_roads_more_than_95_degrees_apart_are_two() -> None:
    nameless = Street(SOUTH, FORK, "", oneway=False)
    near, far = (-2_000, 300), (-2_000, 0)
    assert Seen(nameless, AWAY, Street(near, FORK)).legs(FORK) == 2
    _apart(Seen(nameless, AWAY, Street(far, FORK)))


def test_where_a_third_road_of_the_name_stands_beside_them_all_are_apart() -> None:
    beside = Street(FORK, (1_500, 1_500), oneway=False)
    seen = Seen(TRUNK, AWAY, BACK, beside)
    assert seen.leaving(FORK, OUT) == EITHER_SIDE
    assert seen.legs(FORK) == 4


def test_a_carriageway_that_goes_straight_on_is_what_both_lead_along() -> None:
    straight, aside = (0, 2_000), (-600, 2_000)
    seen = Seen(TRUNK, Street(FORK, straight), Street(aside, FORK))
    assert seen.leaving(FORK, straight) == pytest.approx(0, abs=1e-6)
    assert seen.arriving(aside, FORK) == pytest.approx(-180, abs=1e-6)
    assert seen.legs(FORK) == 2


@pytest.mark.parametrize(("metres_on", "degrees"), [(22, 0.0), (44, 8.6)])
def test_a_short_piece_behind_the_fork_arrives_as_the_whole_road_leads(
    metres_on: int, degrees: float
) -> None:
    north = round(metres_on / 0.1113)
    crossing = (round(north * 0.15), north)
    onward, aside = (crossing[0], north + 2_000), (3_000, north)
    seen = Seen(
        TRUNK, BACK, Street(FORK, crossing), Street(crossing, onward),
        Street(crossing, aside, "Side Street", oneway=False),
    )  # fmt: skip
    assert seen.arriving(FORK, crossing) == pytest.approx(degrees, abs=0.15)


@pytest.mark.parametrize(("east", "along"), [(100, True), (120, False)])
def test_a_carriageway_within_three_degrees_of_straight_is_what_both_lead_along(
    east: int, along: bool
) -> None:
    out = (east, 2_000)  # 2.9 or 3.4 degrees
    bearing = Seen(TRUNK, Street(FORK, out), Street((-600, 2_000), FORK)).leaving(FORK, out)
    assert (bearing > 0) == along


def test_a_road_into_a_junction_is_one_with_a_two_way_road_beside_it() -> None:
    assert Seen(TRUNK, Street(FORK, OUT, oneway=False), BACK).legs(FORK) == 2


def test_a_short_piece_behind_the_fork_may_bend() -> None:
    bend, crossing, onward, aside = (15, 100), (30, 200), (30, 2_200), (3_000, 200)
    seen = Seen(
        TRUNK, BACK, Street(FORK, bend), Street(bend, crossing), Street(crossing, onward),
        Street(crossing, aside, "Side Street", oneway=False),
    )  # fmt: skip
    assert seen.arriving(bend, crossing) == pytest.approx(0, abs=0.15)


def test_of_two_roads_between_two_junctions_one_ends_at_its_node_of_the_highest_number() -> None:
    end, lower, higher = (1_000, 0), (30, 20), (40, -20)  # numbered from west to east
    crossing = [TRUNK, Street(FORK, (0, 2_000), oneway=False)]
    crossing += [Street(end, (1_000, north), oneway=False) for north in (-2_000, 2_000)]
    upper, under = (_by(place, end) for place in (lower, higher))
    both = Seen(*crossing, *upper, *under)
    # Service roads lead to the point ten metres on, unless they end at their first node.
    assert both.leaving(FORK, higher) == pytest.approx(116.4, abs=0.1)
    assert Seen(*crossing, *under).leaving(FORK, higher) < 105
    assert both.leaving(FORK, lower) == Seen(*crossing, *upper).leaving(FORK, lower) > 70


def _by(place: Place, end: Place) -> list[Street]:
    return [
        Street(start, stop, oneway=False, highway="service")
        for start, stop in ((FORK, place), (place, end))
    ]


def test_a_road_leads_no_farther_than_its_name_goes() -> None:
    bend, end = (40, -20), (1_000, 0)
    first, second = _by(bend, end)
    crossing = [TRUNK, Street(FORK, (0, 2_000), oneway=False)]
    second.name = "Side Street"
    assert Seen(*crossing, first, second).leaving(FORK, bend) == pytest.approx(116.4, abs=0.1)
