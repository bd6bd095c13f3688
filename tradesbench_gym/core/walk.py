"""Through the routes of coming days, as they stand in a run or in DESK, past those without jobs.

To go from bit to bit takes half as long as to look at each route: which of them are empty, no
processor guesses well. This module knows the routes it is given and nothing else of either record.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from tradesbench_gym.core.jit import inlined
from tradesbench_gym.core.layout import MAX_TECHNICIANS, Int
from tradesbench_gym.core.machine import bits_of_row, lowest_bit

Routes = npt.NDArray[np.int16]
"""The first job of each route or NONE, shape (days, MAX_TECHNICIANS)."""
DAYS_A_WORD = 64 // MAX_TECHNICIANS
_ONE = np.uint64(1)


@inlined
def routes_in_use(routes: Routes, first: Int, days: Int) -> np.uint64:
    """Which routes have jobs, of so many days from one on but at most DAYS_A_WORD: a bit for each,
    day by day, technician by technician.
    """
    found = np.uint64(0)
    for ahead in range(min(days, np.int64(DAYS_A_WORD))):
        found |= bits_of_row(routes, first + ahead) << np.uint64(ahead * MAX_TECHNICIANS)
    return found


@inlined
def next_route(
    routes: Routes, first: Int, left: np.uint64
) -> tuple[np.int64, np.int64, np.int64, np.uint64]:
    """The next of `routes_in_use`: days after the first, technician, first job; and what is then
    left of them.
    """
    bit = lowest_bit(left)
    ahead, technician = bit // MAX_TECHNICIANS, bit % MAX_TECHNICIANS
    return ahead, technician, np.int64(routes[first + ahead, technician]), left & (left - _ONE)
