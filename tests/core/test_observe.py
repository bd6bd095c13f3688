"""What is written of DESK lands in the rows of its run, however many zones a company has."""

from __future__ import annotations

import numpy as np
import pytest

from tests.worlds import tiny_business
from tradesbench_gym.core.layout import MAX_ZONES
from tradesbench_gym.core.observe import observe
from tradesbench_gym.core.parts import PARTS, SKY_DAYS, places

RUNS = 3


@pytest.mark.parametrize("zones", [1, 2, 3, 10, 15, MAX_ZONES])
def test_the_forecast_of_every_zone_is_shown_and_none_that_there_is_not(zones: int) -> None:
    business, random = tiny_business(), np.random.default_rng(zones)
    desks = business.new_desks(RUNS)
    desks["handbook"]["zones"], desks["line"], desks["route"] = zones, -1, -1
    shape = desks["forecast"]["high"].shape
    desks["forecast"]["high"] = random.integers(-40, 130, shape)
    desks["forecast"]["condition"] = random.integers(0, 100, shape)
    slots = business.masks.shape[3]
    where = places(int(business.handbook["technicians"]), slots, zones, planned=False)
    words = np.full(RUNS * int(where[-1]), -1, np.int32)
    for run in (2, 0, 1):  # a row that ran over would spoil one already written
        observe(desks, run, 0, where, business.masks, words)
    for name, said in (("weather", "condition"), ("high", "high")):
        index = next(i for i, part in enumerate(PARTS) if part.name == name)
        rows = words[RUNS * where[index] : RUNS * where[index + 1]].view(PARTS[index].dtype)
        shown = rows.reshape(RUNS, SKY_DAYS, zones)
        assert (shown == desks["forecast"][said][:, :, :zones]).all(), name


def test_no_entry_of_a_row_keeps_what_another_moment_left_there() -> None:
    business = tiny_business()
    desks = business.new_desks()
    desks["line"], desks["route"] = -1, -1
    slots, book = business.masks.shape[3], business.handbook
    for planned in (False, True):
        sizes = int(book["technicians"]), slots, int(book["zones"])
        where = places(*sizes, planned=planned)
        fresh, used = np.zeros(int(where[-1]), np.int32), np.full(int(where[-1]), -1, np.int32)
        observe(desks, 0, 0, where, business.masks, fresh)
        observe(desks, 0, 0, where, business.masks, used)
        for index, part in enumerate(PARTS):
            first, after = where[index : index + 2]
            each = {"once": 1, "technician": sizes[0], "slot": slots, "sky": SKY_DAYS * sizes[2]}
            length = part.size * each[part.each]
            one, other = (row[first:after].view(part.dtype) for row in (fresh, used))
            assert one[:length].tolist() == other[:length].tolist(), part.name
