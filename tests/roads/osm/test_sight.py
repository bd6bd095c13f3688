"""Where roads are seen to lead at a junction, in microdegrees at the equator (0.111 m each)."""

from __future__ import annotations

import pytest

from tradesbench_gym.roads.osm.sight import Manner, Point, seen

STREET = Manner(minor=False, circular=False, width=6.5)
DRIVEWAY = Manner(minor=True, circular=False, width=6.5)
ROUNDABOUT = Manner(minor=False, circular=True, width=6.5)
# Twelve metres north, then east for good.
HOOK: list[Point] = [(0, 0), (0, 108), (900, 108)]


def test_a_road_of_one_piece_leads_to_its_end() -> None:
    assert seen([(0, 0), (5, 3)], STREET) == (5, 3)


def test_a_long_first_piece_is_what_a_street_leads_along() -> None:
    assert seen([(0, 0), (0, 200), (900, 200)], STREET) == (0, 200)


def test_a_driveway_leads_to_the_point_ten_metres_on_and_a_roundabout_to_that_two_metres_on() -> (
    None
):
    assert seen(HOOK, DRIVEWAY)[1] == pytest.approx(90, abs=1)
    assert seen(HOOK, ROUNDABOUT)[1] == pytest.approx(18, abs=1)


def test_a_street_that_hardly_bends_leads_to_a_point_far_along_it() -> None:
    lon, lat = seen([(0, 0), (2, 60), (0, 300), (0, 2_000)], STREET)
    assert lat > 250
    assert abs(lon) <= 2


def test_a_short_offset_at_a_junction_does_not_turn_the_street_behind_it() -> None:
    # Six metres east to the lane, then north: the street leads north.
    lon, lat = seen([(0, 0), (54, 0), (54, 200), (54, 900)], STREET)
    assert lat > 5 * abs(lon)


def test_a_street_that_bends_away_is_judged_by_its_first_metres() -> None:
    line: list[Point] = [(0, 0), (0, 60), (30, 110), (90, 150), (170, 170), (400, 175)]
    lon, lat = seen(line, STREET)
    assert lat > 3 * abs(lon)


def test_how_far_a_road_strays_is_measured_to_whole_microdegrees() -> None:
    # Its bend lies 1.618 m off the straight, half a lane being 1.625; from the nearest whole
    # microdegree there it is 1.673 m, so the road counts as bent and does not lead to its end.
    line: list[Point] = [(0, 0), (18, 69), (20, 400)]
    assert seen(line, STREET) != line[-1]
    assert seen([(0, 0), (16, 69), (20, 400)], STREET) == line[-1]


def test_a_curve_is_looked_along_to_its_first_segment_of_six_metres() -> None:
    # The second segment is the first so long, 8 m; 6 m of that, as those lie between 3 and 8.
    line: list[Point] = [(0, 0), (0, 30), (40, 92), (110, 140), (200, 160), (330, 160)]
    assert seen(line, STREET) == (22, 64)
