"""Parts of the picture by themselves: marks moved apart, labels placed, axes, letters."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tradesbench_gym.envs.picture.cash import _short, _ticks
from tradesbench_gym.envs.picture.layout import Ground, spread
from tradesbench_gym.envs.picture.people import initials

SIZE = (400, 300)
PLACES = st.lists(st.tuples(st.floats(0, 400), st.floats(0, 300)), min_size=1, max_size=20)


@given(PLACES)
def test_marks_moved_apart_stay_on_the_panel_and_leave_each_other_alone(
    places: list[tuple[float, float]],
) -> None:
    """Twenty discs of 9 pixels cover a twentieth of the panel: there is room for all."""
    radius = 9.0
    at = spread(places, [radius] * len(places), SIZE)
    assert (at >= radius - 1e-6).all()
    assert (at <= np.array(SIZE) - radius + 1e-6).all()
    away = np.hypot(*(at[:, None] - at[None]).transpose(2, 0, 1))
    away[np.diag_indices(len(at))] = np.inf
    assert away.min() > 2 * radius - 2


def test_marks_with_room_are_left_where_they_are() -> None:
    at = spread([(100, 100), (200, 100)], [9, 9], SIZE)
    assert np.abs(at - [(100, 100), (200, 100)]).max() < 0.1


def test_a_label_stands_in_its_zone_clear_of_marks_and_near_the_centre() -> None:
    zones = np.zeros((300, 400), np.uint8)
    zones[:, 200:] = 1
    ground = Ground(zones)
    left, top, right, bottom = ground.label(1, (300, 150), (60, 20), [])
    assert abs((left + right) / 2 - 300) <= 4
    assert abs((top + bottom) / 2 - 150) <= 4
    mark = (280, 140, 320, 160)
    left, top, right, bottom = ground.label(1, (300, 150), (60, 20), [(mark, 60.0)])
    assert left >= 200
    assert right <= mark[0] or left >= mark[2] or bottom <= mark[1] or top >= mark[3]


@given(st.floats(-1e7, 1e7), st.floats(0, 1e7))
def test_the_axis_holds_every_value_in_a_few_even_steps(low: float, span: float) -> None:
    high = low + span
    ticks = _ticks(low, high)
    assert ticks[0] <= low
    assert ticks[-1] >= high
    assert 2 <= len(ticks) <= 7
    steps = np.diff(ticks)
    assert np.allclose(steps, steps[0])


@pytest.mark.parametrize(
    ("dollars", "said"), [(0, "$0"), (500, "$500"), (12_500, "$12.5k"), (-5_000, "-$5k")]
)
def test_dollars_on_the_axis_are_short(dollars: float, said: str) -> None:
    assert _short(dollars) == said


@given(st.lists(st.text(st.characters(categories=["L"]), min_size=1), min_size=1, max_size=8))
def test_no_two_technicians_have_the_same_letters(names: list[str]) -> None:
    found = initials(names)
    assert len(set(found)) == len(names)
    assert all(found)
