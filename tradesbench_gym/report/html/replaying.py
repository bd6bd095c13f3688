"""What the map needs to show a run as it went: grounds once, and of each day jobs, ways and times.

The page moves the technicians; here only plain numbers are made, in metres east and north of the
map's origin and whole seconds of the run.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from tradesbench_gym.company.business import Business
from tradesbench_gym.core.layout import DAY_SECONDS
from tradesbench_gym.report.html.calendar import hours_of, hover_of
from tradesbench_gym.report.html.facts import Call, Doing, Run
from tradesbench_gym.report.html.palette import STATES, TECHNICIANS, said
from tradesbench_gym.report.html.ways import ways_of
from tradesbench_gym.report.html.words import technician_of
from tradesbench_gym.roads.layout import Road

_MOST_ANCHORS = 2_500


def ground_of(business: Business) -> dict[str, Any]:
    """What lies under a replay: anchors by zone, the zones' names, freeways where there are any."""
    roadmap = business.roadmap
    step = -(-len(roadmap.anchors) // _MOST_ANCHORS)
    anchors = roadmap.anchors[::step]
    zones = []
    for index, zone in enumerate(roadmap.zones):
        mine = anchors[anchors["zone"] == index]
        east, north = (
            int(roadmap.plane.east(round(zone.lon * 1e6))),
            int(roadmap.plane.north(round(zone.lat * 1e6))),
        )
        places = [mine["x"].tolist(), mine["y"].tolist()]
        zones.append({"name": said(zone.name), "x": east, "y": north, "anchors": places})
    network = roadmap.network
    edges = network.edges[network.edges["road"] == Road.FREEWAY]
    x, y = (
        roadmap.plane.east(network.nodes["lon_e6"]),
        roadmap.plane.north(network.nodes["lat_e6"]),
    )
    ends = np.stack([edges["tail"], edges["head"]], axis=1)
    return {"zones": zones, "freeways": [x[ends].tolist(), y[ends].tolist()]}


def replay_of(run: Run) -> dict[str, Any]:
    """Homes, names and the days of a run."""
    book, business = run.business.handbook, run.business
    men = len(business.scenario.technicians)
    drives = [one for one in run.stretches if one.doing is Doing.DRIVE]
    ends = {call.number: call.address for call in run.calls}
    ways = dict(zip(drives, ways_of(business, drives, ends), strict=True))
    return {
        "technicians": [
            {
                "name": said(technician_of(run, man)),
                "colour": TECHNICIANS[man % len(TECHNICIANS)],
                "home": [int(book["home_x"][man]), int(book["home_y"][man])],
            }
            for man in range(men)
        ],
        "days": [_day(run, day.number, ways) for day in run.days],
    }


def _day(run: Run, day: int, ways: dict[Any, Any]) -> dict[str, Any]:
    start, end = hours_of(run, day)
    if not run.ended and run.clock // DAY_SECONDS == day:
        end = min(end, max(start, run.clock))
    jobs = [call for call in run.jobs_on(day) if call.states]
    stretches = [
        {
            "man": one.technician,
            "job": one.job,
            "doing": one.doing.value,
            "from": one.start,
            "until": one.end,
            "over": one.over,
            **({"way": _flat(ways[one])} if one in ways else {}),
        }
        for one in run.stretches_on(day)
    ]
    return {
        "day": day,
        "from": start,
        "until": end,
        "jobs": [_job(run, call) for call in jobs],
        "stretches": stretches,
    }


def _flat(way: list[tuple[int, int]]) -> list[int]:
    return [metres for point in way for metres in point]


def _job(run: Run, call: Call) -> dict[str, Any]:
    return {
        "number": call.number,
        "x": call.x,
        "y": call.y,
        "hover": hover_of(run, call),
        "states": [[at, int(state)] for at, state in call.states],
    }


def looks_of_states() -> dict[int, dict[str, str]]:
    """How the page shows the states of jobs, by their numbers."""
    return {
        int(state): {"word": look.word, "colour": look.colour, "symbol": look.symbol}
        for state, look in STATES.items()
    }
