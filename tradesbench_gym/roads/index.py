"""What follows from a map's columns and is kept beside them: pools of addresses, order by street.

Plain functions from arrays to arrays; they know neither files nor text.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from tradesbench_gym.roads.content import AddressTable
from tradesbench_gym.roads.layout import SPOT, Int32Array, Kind, Records


def pools(places: Records, zones: int) -> tuple[Records, Int32Array]:
    """Addresses grouped by zone × 3 + kind, ids ascending within a group, and the group offsets.

    Returns arrays of dtype SPOT, shape (addresses,), and int32, shape (zones × 3 + 1,).
    """
    group = places["zone"].astype(np.int16) * len(Kind) + places["kind"]
    # A stable sort of 16-bit keys is a radix sort: linear, and the same everywhere.
    order = np.argsort(group, kind="stable")
    spots = np.empty(len(places), SPOT)
    spots["address"] = order
    for name in ("x", "y", "anchor", "leg"):
        spots[name] = places[name][order]
    sizes = np.bincount(group, minlength=zones * len(Kind))
    starts = np.zeros(zones * len(Kind) + 1, dtype=np.int32)
    np.cumsum(sizes, out=starts[1:])
    return spots, starts


def street_order(table: AddressTable) -> tuple[Int32Array, Int32Array]:
    """Address ids by (street, house number), and where each street starts among them.

    Returns int32 arrays of shapes (addresses,) and (streets + 1,).
    """
    key = table.street.astype(np.int64) << 32 | table.number
    if _ascending(key):
        order = np.arange(len(key), dtype=np.int32)
    else:
        order = np.argsort(key, kind="stable").astype(np.int32)
    starts = np.zeros(len(table.streets) + 1, dtype=np.int32)
    np.cumsum(np.bincount(table.street, minlength=len(table.streets)), out=starts[1:])
    return order, starts


def _ascending(key: npt.NDArray[np.int64]) -> bool:
    return bool((key[1:] >= key[:-1]).all())
