"""How an offer looks on a dispatcher's desk at the moment it is made: the slack of the day's route
by the plan, and the chance of a miss by a dispatcher who learns from the desk.

Reads DESK only. The plan is the oracle's (`core.plan`, A.8 of the report): slack is the least time
between a planned start and the close of its window, over all jobs of that technician's day. The
chance is the planner's (`core.risk`): what may come of the day, played out over lengths, drives and
cancellations with what the desk has taught since the first call. Neither knows what did come.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from tradesbench_gym.core import beliefs as learning
from tradesbench_gym.core import plan as planning
from tradesbench_gym.core import risk
from tradesbench_gym.core.rules.calendar import qualified
from tradesbench_gym.core.view import Desk
from tradesbench_gym.policies.planner import FIRST_BELIEFS, record

_JOBS, _SAMPLES = 512, 64


@dataclass(frozen=True, slots=True)
class Weight:
    """An offer as the desk shows it.

    Attributes:
        slack: of the day's route with the job in it, in seconds; below 0 the plan itself is late;
            None for a route too long to plan.
        miss: the chance that the job is missed; None where the visit can only fail.
        others: how many appointments more are missed on that day, other than the job itself.

    """

    slack: int | None
    miss: float | None
    others: float | None


class Weigher:
    """Weighs offers; the same offer on the same desk weighs the same, whoever weighs it."""

    def __init__(self) -> None:
        self._priors = record(learning.PRIOR, FIRST_BELIEFS)
        self._beliefs = np.zeros(1, learning.BELIEF)
        self._lots = np.empty((_JOBS, risk.LOTS, _SAMPLES))
        risk.deal(np.uint64(0), self._lots, np.empty((0, 0)))

    def weigh(self, desk: Desk, technician: int, ahead: int, window: int) -> Weight:
        """The call on the line in a slot that the company lets out."""
        slot = technician, ahead, window
        plans = np.array([desk["plan"]])
        slack = int(planning.slot(desk.array, 0, plans, *slot)[0])
        kept = slack if slack > planning.NO_SLACK else None
        call = desk.call
        if call is None or not qualified(desk["handbook"], technician, int(call["service"])):
            return Weight(kept, None, None)
        learning.believe(desk.array, 0, self._priors, self._beliefs)
        done, more, _ = risk.slot_risk(desk.array, 0, self._beliefs, self._lots, *slot)
        miss = 1.0 - done
        return Weight(kept, miss, more - miss)
