"""A tiny world in which every rule is visible in a few lines, and a way to script a run in it.

Twelve anchors in a grid of four columns and three rows, 3,000 m apart, driving west 600 m longer;
two hundred addresses, of which the first twelve stand on the anchors. Weekday drives at 36 km/h, so
that a block takes 300 s; weather, variation, lengths and prices stand still unless a test lets them
move.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache
from typing import Any

import numpy as np

from tradesbench_gym.company.business import Business, open_business
from tradesbench_gym.company.events import Event
from tradesbench_gym.company.scenario import load_scenario
from tradesbench_gym.company.simulation import Simulation
from tradesbench_gym.core.codes import Entry, Kind, Stop, Stream
from tradesbench_gym.core.layout import DAY_SECONDS
from tradesbench_gym.roads import RoadMap, Zone

COLUMNS, ROWS, ADDRESSES = 4, 3, 200
ANCHORS = COLUMNS * ROWS
BLOCK = 3_000
WESTWARD = 600
MARCUS, DIANA, ROBERTO, KATHERINE = range(4)
HVAC, INSTALLATION, PLUMBING, ELECTRICAL, OTHER_WORK = range(5)
W07, W09, W11, W13, W15, W17 = range(6)
HOMES = {"marcus": 0, "diana": 3, "roberto": 8, "katherine": 11}
CONDITIONS = ("clear", "cool", "hot", "extreme_heat", "wind", "rain", "storm")

_LAT, _LON = 33_440_000, -112_073_700  # the plane's origin: anchor 0
_LAT_METRES, _LON_METRES = 110_913, 92_923  # metres a degree on the plane


def _lat_e6(metres: int) -> int:
    return _LAT + round(metres * 1_000_000 / _LAT_METRES)


def _lon_e6(metres: int) -> int:
    return _LON + round(metres * 1_000_000 / _LON_METRES)


def column(anchor: int) -> int:
    return anchor % COLUMNS


def row(anchor: int) -> int:
    return anchor // COLUMNS


def road(start: int, end: int) -> int:
    """Road metres between two anchors: along the grid, a detour for who drives west."""
    west = WESTWARD if column(end) < column(start) else 0
    across, up = abs(column(end) - column(start)), abs(row(end) - row(start))
    return BLOCK * (across + up) + west


@lru_cache
def tiny_map() -> RoadMap:
    """Address a belongs to anchor a % 12 and lies 10 · (a // 12) metres east of it."""
    anchor = [a % ANCHORS for a in range(ADDRESSES)]
    leg = [10 * (a // ANCHORS) for a in range(ADDRESSES)]
    return RoadMap.from_arrays(
        "tiny",
        (Zone("West", 33.467, -112.058, 50.0), Zone("East", 33.467, -111.993, 50.0)),
        {
            "lat_e6": [_lat_e6(BLOCK * row(k)) for k in anchor],
            "lon_e6": [
                _lon_e6(BLOCK * column(k) + far) for k, far in zip(anchor, leg, strict=True)
            ],
            "anchor": anchor,
            "leg": leg,
            "zone": [column(k) // 2 for k in anchor],
            "kind": [a // ANCHORS % 3 for a in range(ADDRESSES)],
        },
        {
            "lat_e6": [_lat_e6(BLOCK * row(k)) for k in range(ANCHORS)],
            "lon_e6": [_lon_e6(BLOCK * column(k)) for k in range(ANCHORS)],
            "zone": [column(k) // 2 for k in range(ANCHORS)],
        },
        [[road(start, end) for end in range(ANCHORS)] for start in range(ANCHORS)],
    )


def homes() -> dict[str, str]:
    """Changes to a scenario that put the four technicians on the grid's corners."""
    changed = {}
    for name, anchor in HOMES.items():
        lat, lon = _lat_e6(BLOCK * row(anchor)), _lon_e6(BLOCK * column(anchor))
        changed[f"technicians.{name}.home_lat"] = f"{lat / 1e6:.6f}"
        changed[f"technicians.{name}.home_lon"] = f"{lon / 1e6:.6f}"
    return changed


STILL_WEATHER: dict[str, Any] = {
    "weather.storm_days": [0] * 12,
    "weather.rain_days": [0] * 12,
    "weather.wind_days": [0] * 12,
    "weather.cool_below": -100,
    "weather.hot_from": 200,
    "weather.extreme_from": 200,
}
STILL_ROADS: dict[str, Any] = {
    "driving.speed_kmh_weekday": [36] * 24,
    "driving.speed_kmh_weekend": [45] * 24,
    "driving.speed_factor": 1,
    "driving.variation_low": 1,
    "driving.variation_high": 1,
}
WILLING: dict[str, Any] = {
    "acceptance.urgent_next_day": 1,
    "acceptance.urgent_later": 1,
    "acceptance.routine_start": 1,
    "acceptance.routine_decay_per_day": 0,
    "acceptance.routine_floor": 1,
    "acceptance.late_installation_factor": 1,
    "customers.residential.cancel_base": 0,
    "customers.apartment.cancel_base": 0,
    "customers.commercial.cancel_base": 0,
    "cancellation.slope_per_day": 0,
}
# One call a day, at 07:00, that a script rejects to get hold of the day; no other but the script's.
ONE_CALL: dict[str, Any] = {
    "demand.start": 1,
    "demand.gain": 0,
    "demand.loss": 0,
    "demand.book_share": 0,
    "demand.other_min": 0,
    "demand.other_max": 0,
    "demand.installations": {"0": 1},
    "demand.call_time": ["07:00", "07:00", "07:00"],
}


def _lengths_and_prices() -> dict[str, Any]:
    changed: dict[str, Any] = {}
    for service, minutes, dollars, material in (
        ("hvac_service", 60, 300, "0.2"),
        ("hvac_installation", 300, 6_500, "0.6"),
        ("plumbing", 60, 300, "0.2"),
        ("electrical", 90, 320, "0.25"),
    ):
        key = f"services.{service}"
        changed |= {f"{key}.{name}": minutes for name in ("shortest", "typical", "longest")}
        changed |= {f"{key}.material_low": material, f"{key}.material_high": material}
        for customer in ("residential", "apartment", "commercial"):
            changed[f"{key}.prices.{customer}"] = [dollars] * 3
    return changed


STILL = {**STILL_WEATHER, **STILL_ROADS, **WILLING, **ONE_CALL, **_lengths_and_prices()}


@lru_cache(maxsize=64)
def _business(days: int, changes: tuple[tuple[str, Any], ...]) -> Business:
    scenario = load_scenario("sunridge").replace({**homes(), **_thaw(changes)})
    return open_business(scenario, tiny_map(), days)


def _freeze(value: Any) -> Any:
    if isinstance(value, Mapping):
        return ("table", tuple((key, _freeze(inner)) for key, inner in value.items()))
    return ("list", tuple(value)) if isinstance(value, list) else value


def _thaw(changes: tuple[tuple[str, Any], ...]) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for key, value in changes:
        kind = value[0] if isinstance(value, tuple) else ""
        inner = dict(value[1]) if kind == "table" else list(value[1]) if kind == "list" else value
        found[key] = inner
    return found


def tiny_business(changes: Mapping[str, Any] | None = None, days: int = 14) -> Business:
    """Sunridge Services on the tiny map, with changes named by the keys of the scenario's file."""
    return _business(days, tuple((key, _freeze(value)) for key, value in (changes or {}).items()))


def clock(text: str, day: int = 0) -> int:
    """`"09:30"` or `"09:30:15"` of a day as seconds since the start of the run."""
    hours, minutes, *seconds = (int(part) for part in text.split(":"))
    return day * DAY_SECONDS + hours * 3600 + minutes * 60 + (seconds[0] if seconds else 0)


class Script:
    """A run in which the test decides who calls, when and for what; all else is the rules'."""

    def __init__(
        self, changes: Mapping[str, Any] | None = None, *, seed: int = 1, days: int = 14
    ) -> None:
        self.simulation = Simulation(
            seed, business=tiny_business({**STILL, **(changes or {})}, days)
        )
        self.events: list[Event] = []
        self.open_day()

    @property
    def run(self) -> np.void:
        return self.simulation.record

    @property
    def day(self) -> int:
        return self.simulation.day

    def job(self, number: int) -> Any:
        """The record of a call or job."""
        return self.run["calls"][number]

    def man(self, technician: int) -> Any:
        return self.run["technicians"][technician]

    def open_day(self) -> None:
        """Play to 07:00 of the next day, clear the line, and keep all but the script's callers
        away.
        """
        assert self.simulation.next_call() == Stop.NEW_CALL
        self.simulation.reject()
        self.run["due_count"] = self.run["due_next"]

    def next_stop(self) -> Stop:
        """The next stop; a cancellation is acknowledged."""
        stop = self.simulation.advance()
        self.events += self.simulation.take_events()
        if stop == Stop.CANCELLATION:
            self.simulation.acknowledge()
        return stop

    def call(
        self, at: str, service: int, address: int, *, customer: int = 0, urgent: int = 0
    ) -> int:
        """Let a customer ring at a time of today; the number of the call, now on the line."""
        due = self.run["due"][self.run["due_next"]]
        due["at"], due["stream"] = clock(at, self.day), int(Stream.SERVICE)
        due["index"] = self.run["due_next"]
        self.run["due_count"] = self.run["due_next"] + 1
        while (stop := self.next_stop()) != Stop.NEW_CALL:
            assert stop == Stop.CANCELLATION, stop
        number = int(self.run["line"])
        call, place = self.job(number), self.simulation.business.places[address]
        for name in ("anchor", "leg", "x", "y", "zone"):
            call[name] = place[name]
        call["address"], call["service"] = address, service
        call["customer"], call["urgent"] = customer, urgent
        return number

    def book(
        self,
        at: str,
        service: int,
        address: int,
        technician: int,
        window: int,
        *,
        ahead: int = 0,
        customer: int = 0,
        urgent: int = 0,
    ) -> int:
        """Let a customer ring and accept an offer; the number of the job."""
        number = self.call(at, service, address, customer=customer, urgent=urgent)
        assert self.simulation.offer(technician, ahead, window)
        return number

    def look(self, at: str) -> None:
        """Let time go on to a moment of today, by way of a caller who is turned away."""
        self.call(at, ELECTRICAL, 0)
        self.simulation.reject()

    def cancel(self, number: int, at: str) -> None:
        """Settle when the customer of a job will phone to cancel it."""
        self.job(number)["cancel_at"] = clock(at, self.day)
        self.run["next_cancel"] = min(int(self.run["next_cancel"]), clock(at, self.day))

    def close_day(self) -> Stop:
        """Play to the close of the day; DAY_CLOSED or ENDED."""
        while (stop := self.next_stop()) not in (Stop.DAY_CLOSED, Stop.ENDED):
            assert stop == Stop.CANCELLATION, stop
        self.events += self.simulation.take_events()
        return stop

    def paid(self, number: int) -> dict[Entry, int]:
        """The ledger rows of a job so far, in cents by kind."""
        self.events += self.simulation.take_events()
        rows: dict[Entry, int] = {}
        for event in self.events:
            if event.kind == Kind.LEDGER and event.call == number + 1:
                assert event.entry is not None
                assert event.cents is not None
                assert event.entry not in rows, "posted twice"
                rows[event.entry] = event.cents
        return rows

    def happened(self, kind: Kind, number: int) -> list[int]:
        """When something happened to a job, in seconds."""
        self.events += self.simulation.take_events()
        return [e.at for e in self.events if e.kind == kind and e.call == number + 1]
