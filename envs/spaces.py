"""Spaces of the environment: derived from the table in `core/parts.py` and the scenario's sizes and
limits, so that a bound or a name stands once.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from gymnasium import spaces

from tradesbench_gym.company.business import Business
from tradesbench_gym.core.codes import Activity, Condition
from tradesbench_gym.core.parts import (
    BEST_SLACK,
    MOST_IN_A_SLOT,
    OBSERVATION,
    OPEN_JOBS,
    PLANNED,
    SKY_DAYS,
    WORST_SLACK,
    Part,
)

_DOLLAR = 100.0
_KM = np.float32(0.001)
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

    def entries(self, part: Part) -> int:
        """Entries of one array of the observation."""
        each = {
            "once": 1,
            "technician": self.technicians,
            "slot": self.slots,
            "sky": SKY_DAYS * self.zones,
        }
        return part.size * each[part.each]


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


def observation_space(business: Business, *, planned: bool) -> spaces.Dict:
    """Bounded arrays in natural units, one for each row of the table in `core/parts.py`."""
    shape = shape_of(business)
    limits = _limits(business, shape)
    made: dict[str, spaces.Space[Any]] = {}
    for part in OBSERVATION + (PLANNED if planned else ()):
        size = shape.entries(part)
        if part.unit == "category" and part.name != "weather":
            counts = limits[part.name][1]
            made[part.name] = spaces.MultiDiscrete(np.broadcast_to(counts, (size,)), dtype=np.int32)
        else:
            dtype: Any = np.dtype(part.dtype)
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
    # Whole kilometres around places as they are shown, rounded to a float32.
    shown_low, shown_high = ((np.array(at) * _KM).astype(np.float32) for at in (low, high))
    corner_low, corner_high = np.floor(shown_low), np.ceil(shown_high)
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
        shape.zones - 1,
    ]
    return {
        "call": (0, [2, works, len(scenario.customers), 2, shape.zones]),
        "last_answer": (0, 4),
        "activity": (0, len(Activity)),
        "slot_jobs": (0, MOST_IN_A_SLOT),
        "weather": (0, len(Condition) - 1),
        "open_jobs": (0, np.tile(jobs_high, OPEN_JOBS)),
        "job_places": (np.tile(corner_low, OPEN_JOBS), np.tile(corner_high, OPEN_JOBS)),
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
