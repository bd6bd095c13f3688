"""A business: a scenario on a map for a number of days, everything about it that does not change
during a run.

It holds the compiled numbers and the arrays of the map that the rules read. Runs share one
business; it is opened once a process for each choice of scenario, map, days and start date.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from dataclasses import dataclass
from datetime import date
from functools import cached_property, lru_cache
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from tradesbench_gym.company.params import compile_params
from tradesbench_gym.company.scenario import Scenario, load_scenario
from tradesbench_gym.company.settling import settle
from tradesbench_gym.core import jit
from tradesbench_gym.core import step as learning
from tradesbench_gym.core.layout import (
    DAY_SECONDS,
    LOG,
    PARAMS,
    RULES_VERSION,
    SIZE_CLASSES,
    desk_dtype,
    run_dtype,
)
from tradesbench_gym.core.observe import all_masks
from tradesbench_gym.core.settings import plan_settings
from tradesbench_gym.errors import MapError, ScenarioError, shown
from tradesbench_gym.roads import RoadMap, open_map


@dataclass(frozen=True, eq=False)
class Business:
    """Scenario, map, days and start date, and what is compiled from them.

    Attributes:
        params: one record of dtype PARAMS, read-only.
        places, pool, metres: the map's arrays as the rules take them, read-only.

    """

    scenario: Scenario
    roadmap: RoadMap
    days: int
    start_date: date
    params: npt.NDArray[np.void]
    places: npt.NDArray[np.void]
    pool: npt.NDArray[np.void]
    metres: npt.NDArray[np.int32]

    @cached_property
    def run_dtype(self) -> np.dtype[np.void]:
        """RUN of this business's size class."""
        return run_dtype(self.days)

    @cached_property
    def desk_dtype(self) -> np.dtype[np.void]:
        """DESK of this business's size class."""
        return desk_dtype(self.days)

    @cached_property
    def handbook(self) -> np.void:
        """The public numbers: a record of dtype HANDBOOK."""
        book: np.void = self.params[0]["handbook"]
        return book

    @cached_property
    def identity(self) -> dict[str, str | int]:
        """What a saved state must agree with to be understood."""
        layout = hashlib.sha256(repr((self.run_dtype.descr, PARAMS.descr)).encode()).hexdigest()
        return {
            "rules": RULES_VERSION,
            "layout": layout,
            "scenario": self.scenario.digest,
            "map": self.roadmap.digest,
            "days": self.days,
            "start_date": self.start_date.isoformat(),
        }

    @cached_property
    def masks(self) -> npt.NDArray[np.int8]:
        """Every mask there can be, as `core.observe` takes them."""
        book = self.handbook
        slots = int(book["technicians"]) * int(book["booking_days"]) * int(book["windows"])
        masks = np.zeros((2, 7, int(book["windows"]) + 1, slots), np.int8)
        all_masks(self.new_desks(), masks)
        masks.flags.writeable = False
        return masks

    @cached_property
    def play_step(self) -> Callable[..., tuple[np.int64, np.int64, np.int64]]:
        """The compiled step of this business's runs, `core.step.step`, without checks."""
        runs = np.zeros(1, self.run_dtype)
        arrays = (runs, 0, self.params, self.pool, self.metres, np.zeros(1, LOG))
        action = where = np.zeros(0, np.int64)
        words = np.zeros(0, np.int32)
        more = (self.new_desks(), action, 0, where, self.masks, words)
        return jit.settled(learning.step, *arrays, *more)

    def __deepcopy__(self, memo: object) -> Business:
        """Itself: nothing in it changes, and its arrays are shared pages."""
        return self

    def __reduce__(self) -> tuple[Any, ...]:
        """Another process opens the scenario and the map itself; only the recipe travels."""
        return _opened, (self.scenario, self.roadmap, self.days, self.start_date)

    def new_desks(self, count: int = 1) -> npt.NDArray[np.void]:
        """Blank DESKs with handbook and plan in them, shape (count,)."""
        desks = np.zeros(count, self.desk_dtype)
        desks["handbook"] = self.handbook
        desks["plan"] = self.plan
        return desks

    @cached_property
    def blank_desk(self) -> npt.NDArray[np.uint8]:
        """The bytes of one blank DESK."""
        blank = self.new_desks().view(np.uint8)
        blank.flags.writeable = False
        return blank

    @cached_property
    def plan(self) -> np.void:
        """The scenario's settings of the dispatcher's plan: a record of dtype PLAN."""
        estimate = self.scenario.estimate
        ranges = [(s.shortest_s, s.typical_s, s.longest_s) for s in self.scenario.services]
        made = plan_settings(
            ranges, estimate.quantile, estimate.margin_s, estimate.circuity, estimate.speed_kmh
        )
        made.flags.writeable = False
        record: np.void = made[0]
        return record

    def date_of(self, day: int) -> date:
        """The calendar date of a day of the run."""
        return date.fromordinal(self.start_date.toordinal() + int(day))

    def clock_text(self, moment: int) -> str:
        """A moment as people write it: `2026-10-01 09:05`."""
        minute = int(moment) % DAY_SECONDS // 60
        return f"{self.date_of(int(moment) // DAY_SECONDS)} {minute // 60:02}:{minute % 60:02}"


def open_business(
    scenario: str | Path | Scenario = "sunridge",
    map: str | Path | RoadMap = "phoenix",  # noqa: A002 - the word of the trade, and of make()
    days: int | None = None,
    start_date: date | str | None = None,
) -> Business:
    """The business of a scenario on a map; days and start date are the scenario's unless given.

    On a map that none of its technicians lives near the company has moved: see `settle`.

    Raises:
        ScenarioError: an unknown scenario, a wrong number in it, or days or a date that cannot be.
        MapError: a map that cannot be opened.

    """
    loaded = load_scenario(scenario)
    given: Any = map
    if not isinstance(given, str | Path | RoadMap):
        raise MapError(
            f"map must be a name, a path or a RoadMap, not {shown(given)}", code="map", field="map"
        )
    roadmap = map if isinstance(map, RoadMap) else open_map(map)
    settled = settle(loaded, roadmap)
    return _opened(settled, roadmap, _days(settled, days), _date(settled, start_date))


@lru_cache(maxsize=8)
def _opened(scenario: Scenario, roadmap: RoadMap, days: int, start: date) -> Business:
    jit.announce()  # before anything that may compile
    params = compile_params(scenario, roadmap, days, start)
    return Business(
        scenario, roadmap, days, start, params, roadmap.places, roadmap.pool, roadmap.metres
    )


def _days(scenario: Scenario, days: int | None) -> int:
    wanted: Any = scenario.calendar.days if days is None else days
    most = max(SIZE_CLASSES)
    if (
        isinstance(wanted, bool)
        or not isinstance(wanted, int | np.integer)
        or not 1 <= wanted <= most
    ):
        raise ScenarioError(
            f"days must be a whole number from 1 to {most}, not {shown(wanted)}",
            code="days",
            field="days",
        )
    return int(wanted)


def _date(scenario: Scenario, start: date | str | None) -> date:
    if start is None:
        return scenario.calendar.start_date
    given = _as_date(start)
    if given is None or not 1900 <= given.year <= 2999:
        raise ScenarioError(
            f"start_date must be a date from 1900 to 2999 such as 2026-10-01, not {shown(start)}",
            code="start_date",
            field="start_date",
        )
    return given


def _as_date(start: Any) -> date | None:
    try:
        if isinstance(start, str):
            return date.fromisoformat(start)
        return date(start.year, start.month, start.day)
    except (AttributeError, TypeError, ValueError):
        return None
