"""Moves a company that lives elsewhere to the city of a map, so that any map can be played.

It knows a scenario's homes and a map's addresses; the rest of the business it leaves alone.
"""

from __future__ import annotations

import numpy as np

from tradesbench_gym.company.scenario import Scenario
from tradesbench_gym.roads.anchors import choose_anchors
from tradesbench_gym.roads.layout import MICRODEGREES, Int64Array
from tradesbench_gym.roads.roadmap import RoadMap

OUTSKIRTS_METRES = 30_000


def settle(scenario: Scenario, roadmap: RoadMap) -> Scenario:
    """The scenario itself, or, where nobody of it lives near the map, with homes on the map.

    Homes are then anchors, spread by the number of addresses around them. The changed scenario has
    a digest of its own, and a world file of such a run carries its text.
    """
    people = scenario.technicians
    if any(on_the_map(roadmap, float(p.home_lat), float(p.home_lon)) for p in people):
        return scenario
    homes = _homes(roadmap, len(people))
    changes: dict[str, object] = {}
    for person, anchor in zip(people, homes, strict=True):
        for axis in ("lat", "lon"):
            degrees = int(roadmap.anchors[f"{axis}_e6"][anchor]) / MICRODEGREES
            changes[f"technicians.{person.key}.home_{axis}"] = f"{degrees:.6f}"
    return scenario.replace(changes)


def on_the_map(roadmap: RoadMap, lat: float, lon: float) -> bool:
    """Whether a place is no farther than `OUTSKIRTS_METRES` from the box of a map's addresses."""
    x = int(roadmap.plane.east(round(lon * MICRODEGREES)))
    y = int(roadmap.plane.north(round(lat * MICRODEGREES)))
    return all(
        roadmap.places[axis].min() - OUTSKIRTS_METRES
        <= at
        <= roadmap.places[axis].max() + OUTSKIRTS_METRES
        for axis, at in (("x", x), ("y", y))
    )


def _homes(roadmap: RoadMap, count: int) -> list[int]:
    """An anchor for everyone; several share one where the map has fewer."""
    x: Int64Array = roadmap.anchors["x"].astype(np.int64)
    y: Int64Array = roadmap.anchors["y"].astype(np.int64)
    houses = np.bincount(roadmap.places["anchor"], minlength=len(x)).astype(np.int64)
    chosen = choose_anchors(x, y, houses, min(count, int((houses > 0).sum()))).tolist()
    return [chosen[k % len(chosen)] for k in range(count)]
