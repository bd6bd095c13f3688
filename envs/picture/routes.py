"""Where technicians have been today, where they are, and where they still have to go.

All of it by what a dispatcher can work out from DESK: straight lines between addresses, and for one
who is on his way the place where the company's own estimate has him.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

from tradesbench_gym.core.codes import Activity, CallState
from tradesbench_gym.envs.wording import Office

Place = tuple[int, int]
"""Metres east and north."""


@dataclass(frozen=True)
class Route:
    """One technician's day.

    Attributes:
        driven: from home through every address reached, in order, to where he is now.
        here: where he is now.
        planned: from here through the addresses that are still to come.

    """

    driven: list[Place]
    here: Place
    planned: list[Place]


def route_of(office: Office, technician: int) -> Route:
    """A technician's route of the present day."""
    man = office.desk["technicians"][technician]
    jobs = office.visits(office.today, technician)
    reached = [job for job in jobs if int(office.calls[job]["arrived"]) >= 0]
    reached.sort(key=lambda job: int(office.calls[job]["arrived"]))
    driven = [_home(office, technician), *(_place(office, job) for job in reached)]
    here, ahead = driven[-1], []
    if int(man["activity"]) == Activity.DRIVING:
        goal = _place(office, int(man["job"]))
        here = _on_the_way(office, (int(man["x"]), int(man["y"])), goal, int(man["since"]))
        driven.append(here)
        ahead.append(goal)
    last = ahead[-1] if ahead else here
    waiting = [job for job in jobs if int(office.calls[job]["state"]) == CallState.BOOKED]
    return Route(driven, here, [here, *ahead, *_in_order(office, waiting, last)])


def _in_order(office: Office, jobs: list[int], last: Place) -> list[Place]:
    """As technicians go: the earliest window first, within it the nearest."""
    left, found = list(jobs), []
    while left:
        after = last
        chosen = min(left, key=lambda job: _rank(office, job, after))
        left.remove(chosen)
        last = _place(office, chosen)
        found.append(last)
    return found


def _rank(office: Office, job: int, after: Place) -> tuple[int, float, int]:
    return int(office.calls[job]["window"]), math.dist(after, _place(office, job)), job


def _on_the_way(office: Office, start: Place, goal: Place, since: int) -> Place:
    plan = office.desk["plan"]
    metres = math.dist(start, goal) * int(plan["circuity"]) / 1000
    gone = (office.clock - since) * int(plan["speed"]) / 3600
    share = min(1.0, gone / metres) if metres else 1.0
    return (
        round(start[0] + share * (goal[0] - start[0])),
        round(start[1] + share * (goal[1] - start[1])),
    )


def _home(office: Office, technician: int) -> Place:
    return int(office.book["home_x"][technician]), int(office.book["home_y"][technician])


def _place(office: Office, job: int) -> Place:
    return int(office.calls[job]["x"]), int(office.calls[job]["y"])
