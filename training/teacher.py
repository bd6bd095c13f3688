"""A rule to learn from: the oracle's earliest fit with a handful of numbers of its own.

A warm start that needs no planner. Where the oracle (A.8) takes the earliest window that keeps 40
minutes, this one asks for more time while a missed customer still costs many days of calls, and for
less towards the end; it would rather drive less than come early, keeps installations out of the
late window and their technician free for them. Its numbers come from training runs. It is a rule
like the oracle and sees what the oracle sees.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from tradesbench_gym.core.codes import Condition
from tradesbench_gym.core.parts import SKY_DAYS
from tradesbench_gym.policies.features import Candidates, Seen

Numbers = dict[str, npt.NDArray[np.float64]]
_INSTALLATION = 1
_SERVICE, _URGENT, _ZONE = 1, 3, 4
_WEEK, _SATURDAY = 7, 5
_LATE_WINDOW, _EVENING_WINDOW, _INSTALLER = 4, 5, 1
_NO_FIT, _NEVER = 1_000.0, 1e7
_MOST_KM, _TIE = 60.0, 1e-3


@dataclass(frozen=True)
class Rule:
    """The numbers of the rule; costs are in windows of delay.

    Attributes:
        margin: minutes to spare at the middle of the run.
        slope: by which the margin grows with each week left.
        installation_margin: minutes to spare for installations.
        end: days left from which `end_margin` is enough.
        km: windows of delay that 100 km of added driving are worth.
        late: cost of an installation in the late window.
        installer: cost of other work for the technician who installs.
        urgent: minutes less to spare for urgent calls.
        hold: cost of today for calls that are not urgent.
        each_job: minutes more to spare for each job the technician has that day.
        storm: minutes more to spare where a storm is forecast.
        evening: cost of the evening window.
        weekend: cost of a weekend day.
        furthest: days ahead up to which offers are made.

    """

    margin: float = 40.0
    slope: float = 0.0
    installation_margin: float = 40.0
    end: float = 0.0
    end_margin: float = 40.0
    km: float = 0.0
    late: float = 0.0
    installer: float = 0.0
    urgent: float = 0.0
    hold: float = 0.0
    each_job: float = 0.0
    storm: float = 0.0
    evening: float = 0.0
    weekend: float = 0.0
    furthest: float = 14.0


def choose(
    rules: Sequence[Rule], seen: Seen, candidates: Candidates, shape: tuple[int, ...]
) -> npt.NDArray[np.int64]:
    """The entry that each run's own rule offers, 0 to reject.

    Args:
        rules: one a run.
        seen: arrays of the "planned" observation.
        candidates: of the same runs.
        shape: technicians, days, windows.

    """
    own = {name: np.array([[getattr(r, name)] for r in rules]) for name in Rule.__annotations__}
    flat = np.maximum(candidates.flat - 1, 0)
    day, window = flat // shape[2] % shape[1], flat % shape[2]
    slack = np.take_along_axis(seen["slot_slack"], flat, 1)
    installs = seen["call"][:, _SERVICE, None] == _INSTALLATION
    margin = _margins(own, seen, flat, installs, shape)
    cost = _costs(own, seen, flat, installs, shape)
    cost = cost + np.where(slack >= margin, 0, _NO_FIT + (margin - slack) / 5)
    cost = cost + np.where((slack >= 0) & (day <= own["furthest"]), 0, _NEVER)
    cost = cost + day * shape[2] + window
    cost[:, 0] = _NEVER / 2
    chosen: npt.NDArray[np.int64] = np.where(candidates.legal, cost, np.inf).argmin(1)
    return chosen


def _margins(own: Numbers, seen: Seen, flat: Any, installs: Any, shape: tuple[int, ...]) -> Any:
    """Minutes to spare that each run's rule asks of each entry."""
    runs, (technicians, days, windows) = len(flat), shape
    day, left = flat // windows % days, seen["time"][:, 3:4]
    urgent = seen["call"][:, _URGENT, None] > 0
    jobs = seen["slot_jobs"].reshape(runs, technicians * days, windows).sum(2)
    sky = seen["weather"].reshape(runs, SKY_DAYS, -1)
    zone = seen["call"][:, _ZONE, None]
    storm = sky[np.arange(runs)[:, None], np.minimum(day, SKY_DAYS - 1), zone] == Condition.STORM
    margin = own["margin"] + own["slope"] * (left - 7) / 7 - own["urgent"] * urgent
    margin = np.where(installs, own["installation_margin"], margin)
    margin = margin + own["each_job"] * np.take_along_axis(jobs, flat // windows, 1)
    margin = margin + own["storm"] * (storm & (day < SKY_DAYS))
    margin = np.where(left <= own["end"], np.minimum(margin, own["end_margin"]), margin)
    return np.maximum(margin, 0)


def _costs(own: Numbers, seen: Seen, flat: Any, installs: Any, shape: tuple[int, ...]) -> Any:
    """What each run's rule holds against each entry beside its delay, in windows."""
    technician, day, window = np.unravel_index(flat, shape)
    added = np.take_along_axis(seen["slot_added"], flat, 1)
    urgent = seen["call"][:, _URGENT, None] > 0
    weekend = (seen["time"][:, 2:3] + day) % _WEEK >= _SATURDAY
    cost = (own["km"] + _TIE) * np.clip(added, -_MOST_KM, _MOST_KM) / 100
    cost = cost + own["late"] * (installs & (window == _LATE_WINDOW))
    cost = cost + own["installer"] * (~installs & (technician == _INSTALLER))
    cost = cost + own["hold"] * (~installs & ~urgent & (day == 0))
    cost = cost + own["evening"] * ((window == _EVENING_WINDOW) & ~weekend)
    return cost + own["weekend"] * weekend
