"""Spaces of the environment, and how a compiled observation becomes the dictionary Gymnasium users
know.

Derived from the table in `core/observe.py` and the scenario's sizes and limits, so that a bound or
a name stands once.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
from gymnasium import spaces

from tradesbench_gym.company.business import Business
from tradesbench_gym.core.codes import Activity, Condition
from tradesbench_gym.core.layout import FORECAST_DAYS
from tradesbench_gym.core.observe import (
    BEST_SLACK,
    FLOAT_OFFSETS,
    FLOATS,
    INT_OFFSETS,
    INTS,
    JOB_COLUMNS,
    MASK_WORDS,
    OBSERVATION,
    OPEN_JOBS,
    PLANNED,
    PLANNED_FLOATS,
    WORST_SLACK,
    Part,
)

_DOLLAR = 100.0
_KM = 1_000.0
_ANY_HIGH = 1_000.0


@dataclass(frozen=True)
class Shape:
    """How many of each thing this business has: sizes of the observation's arrays."""

    technicians: int
    days: int
    windows: int
    zones: int

    @property
    def slots(self) -> int:
        """Technician x day ahead x window."""
        return self.technicians * self.days * self.windows

    def sizes(self) -> dict[str, int]:
        """Entries of each array that are in use, at its front; the others are used whole."""
        skies = (FORECAST_DAYS + 1) * self.zones
        slots = dict.fromkeys(("slot_jobs", "slot_minutes", "slot_slack", "slot_added"), self.slots)
        people = {
            "activity": self.technicians,
            "free_in": self.technicians,
            "place": 2 * self.technicians,
        }
        return {**slots, **people, "weather": skies, "high": skies}


def shape_of(business: Business) -> Shape:
    """The sizes of a business."""
    book = business.handbook
    return Shape(
        int(book["technicians"]),
        int(book["booking_days"]),
        int(book["windows"]),
        int(book["zones"]),
    )


def action_space(shape: Shape) -> spaces.MultiDiscrete:
    """Accept (0/1), technician, days ahead, window."""
    return spaces.MultiDiscrete([2, shape.technicians, shape.days, shape.windows])


def observation_space(business: Business, planned: bool) -> spaces.Dict:
    """Bounded arrays in natural units, one for each row of the table in `core/observe.py`."""
    shape = shape_of(business)
    limits = _limits(business, shape)
    made: dict[str, spaces.Space[Any]] = {}
    for part in OBSERVATION + (PLANNED if planned else ()):
        size = shape.sizes().get(part.name, part.size)
        if part.unit == "category" and part.name != "weather":
            counts = limits[part.name][1]
            made[part.name] = spaces.MultiDiscrete(np.broadcast_to(counts, (size,)), dtype=np.int32)
        else:
            dtype: Any = np.float32 if part.floats else np.int32
            low, high = (
                np.broadcast_to(limit, (size,)).astype(dtype) for limit in limits[part.name]
            )
            made[part.name] = spaces.Box(low, high, dtype=dtype)
    return spaces.Dict(made)


def _limits(business: Business, shape: Shape) -> dict[str, tuple[Any, Any]]:
    """Lowest and highest value of each array; for categories their number is the highest."""
    scenario = business.scenario
    calls = business.run_dtype["calls"].shape[0]
    works = len(scenario.services) + len(scenario.other_work)
    most = _most_money(business, calls)
    least = -_worst_day(business)
    low, high = _extent(business)
    # Whole kilometres, so that no rounding of a place at the edge can leave them.
    corner_low, corner_high = np.floor(np.array(low) / _KM), np.ceil(np.array(high) / _KM)
    on_site = [scenario.visits.failed_s, *(service.longest_s for service in scenario.services)]
    longest = max(on_site) / 60.0
    jobs_high = [
        11,
        shape.technicians - 1,
        shape.days - 1,
        shape.windows - 1,
        works - 1,
        2,
        1,
        *high,
    ]
    return {
        "call": (0, [2, works, len(scenario.customers), 2, shape.zones]),
        "last_answer": (0, 4),
        "activity": (0, len(Activity)),
        "slot_jobs": (0, calls),
        "weather": (0, len(Condition) - 1),
        "open_jobs": (
            np.tile([0] * (JOB_COLUMNS - 2) + low, OPEN_JOBS),
            np.tile(jobs_high, OPEN_JOBS),
        ),
        "today": (0, calls),
        "counts": (0, calls),
        "time": (0, [business.days, 48, 6, business.days]),
        "cash": (least, most),
        "ledger": (-most, most),
        "call_place": (corner_low, corner_high),
        "place": (np.tile(corner_low, shape.technicians), np.tile(corner_high, shape.technicians)),
        "free_in": (0, longest),
        "slot_minutes": (0, calls * longest),
        "high": (-_ANY_HIGH, _ANY_HIGH),
        "slot_slack": (WORST_SLACK, BEST_SLACK),
        "slot_added": (-2 * calls, 1_000.0),
    }


def _dearest(business: Business) -> float:
    services = business.scenario.services
    return max(max(prices) for service in services for prices in service.prices.values()) / _DOLLAR


def _most_money(business: Business, calls: int) -> float:
    """More than any kind of ledger row can sum to, or cash come to."""
    start = business.scenario.pay.starting_cash_cents / _DOLLAR
    return start + 2 * calls * _dearest(business) + business.days * _worst_day(business)


def _worst_day(business: Business) -> float:
    """More than a company can lose between its last cent and the end of the run.

    That is one job that only costs, or a day of everybody's pay with all overtime there can be.
    """
    pay = business.scenario.pay
    wages = sum(person.wage_cents for person in business.scenario.technicians)
    day = (pay.overhead_cents + wages * 48 * (1 + float(pay.overtime_multiple))) / _DOLLAR
    return day + 3 * _dearest(business)


def _extent(business: Business) -> tuple[list[int], list[int]]:
    """South-west and north-east corner of everywhere somebody can be, in metres."""
    book, count = business.handbook, int(business.handbook["technicians"])
    corners = []
    for axis in ("x", "y"):
        homes = book[f"home_{axis}"][:count]
        corners.append(
            (
                min(0, int(business.places[axis].min()), *map(int, homes)),
                max(0, int(business.places[axis].max()), *map(int, homes)),
            )
        )
    return [corners[0][0], corners[1][0]], [corners[0][1], corners[1][1]]


class Buffers:
    """Makes the arrays one step is written to, and shows them as an observation."""

    def __init__(self, business: Business, planned: bool) -> None:
        self.shape = shape_of(business)
        before_mask = INTS + (PLANNED_FLOATS if planned else FLOATS)
        self._row = (1, before_mask + MASK_WORDS)
        self._mask_offset = before_mask * np.dtype(np.int32).itemsize
        sizes = self.shape.sizes()
        pieces = OBSERVATION + (PLANNED if planned else ())
        self._ints = [(p.name, _piece(p, INT_OFFSETS, 0, sizes)) for p in pieces if not p.floats]
        self._floats = [(p.name, _piece(p, FLOAT_OFFSETS, INTS, sizes)) for p in pieces if p.floats]
        self._mask_shape = (self.shape.technicians, self.shape.days, self.shape.windows)

    def fresh(self) -> npt.NDArray[np.int32]:
        """A zeroed row, shape (1, width): a new one each step, so that none changes later."""
        return np.zeros(self._row, np.int32)

    def observation(self, row: npt.NDArray[np.int32]) -> dict[str, npt.NDArray[Any]]:
        """The arrays by name: views of the row."""
        ints = row[0]
        floats = ints.view(np.float32)
        seen: dict[str, npt.NDArray[Any]] = {name: ints[where] for name, where in self._ints}
        for name, where in self._floats:
            seen[name] = floats[where]
        return seen

    def mask(self, row: npt.NDArray[np.int32]) -> npt.NDArray[np.int8]:
        """Legal offers, int8, shape (technicians, days ahead, windows): a view of the row."""
        return np.ndarray(self._mask_shape, np.int8, row.data, self._mask_offset)


def _piece(part: Part, offsets: dict[str, int], shift: int, sizes: dict[str, int]) -> slice:
    start = shift + offsets[part.name]
    return slice(start, start + sizes.get(part.name, part.size))
