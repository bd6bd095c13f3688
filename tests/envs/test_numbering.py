"""Runs that nobody named: a batch numbers them as single environments do."""

from __future__ import annotations

import numpy as np
from gymnasium.utils import seeding

from tradesbench_gym.envs.numbering import FIRST_OPEN_RUN, LAST_OPEN_RUN, Numbering


def one_by_one(seed: int, count: int) -> list[int]:
    random, _ = seeding.np_random(seed)
    return [int(random.integers(FIRST_OPEN_RUN, LAST_OPEN_RUN)) for _ in range(count)]


def test_numbers_drawn_ahead_are_those_drawn_one_by_one() -> None:
    numbering = Numbering(3)
    for place in range(3):
        numbering.begin(place, 70 + place)
    drawn = [numbering.draw(np.arange(3)).tolist() for _ in range(40)]
    for place in range(3):
        assert [row[place] for row in drawn] == one_by_one(70 + place, 40)


def test_each_environment_draws_by_itself() -> None:
    numbering, found = Numbering(2), []
    numbering.begin(0, 1)
    numbering.begin(1, 2)
    for turn in range(20):
        if turn % 3 == 0:
            numbering.draw(np.array([1]))
        found += numbering.draw(np.array([0])).tolist()
    assert found == one_by_one(1, 20)


def test_a_new_seed_forgets_what_was_drawn_ahead() -> None:
    numbering = Numbering(1)
    numbering.begin(0, 5)
    numbering.draw(np.array([0]))
    numbering.begin(0, 6)
    assert [int(numbering.draw(np.array([0]))[0]) for _ in range(18)] == one_by_one(6, 18)
