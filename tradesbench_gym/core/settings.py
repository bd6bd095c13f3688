"""How a dispatcher reckons: the settings of the plan, worked out from the ranges of the handbook
(A.8 of the report).
"""

from __future__ import annotations

from collections.abc import Sequence
from decimal import ROUND_CEILING, Decimal, localcontext

import numpy as np
import numpy.typing as npt

from tradesbench_gym.core.layout import PLAN

_MINUTE = 60
_PRECISION = 40


def planned_length(shortest: int, typical: int, longest: int, quantile: Decimal) -> int:
    """The quantile of a triangle of seconds, rounded up to whole minutes, in seconds.

    >>> planned_length(45 * 60, 75 * 60, 180 * 60, Decimal("0.65")) // 60
    110
    """
    low, mode, high = Decimal(shortest), Decimal(typical), Decimal(longest)
    if high <= low:
        exact = low
    else:
        with localcontext(prec=_PRECISION):
            if quantile * (high - low) < mode - low:
                exact = low + (quantile * (high - low) * (mode - low)).sqrt()
            else:
                exact = high - ((1 - quantile) * (high - low) * (high - mode)).sqrt()
    return int((exact / _MINUTE).to_integral_value(ROUND_CEILING)) * _MINUTE


def plan_settings(
    ranges: Sequence[tuple[int, int, int]],
    quantile: Decimal,
    margin_s: int,
    circuity: Decimal,
    speed_kmh: Decimal,
) -> npt.NDArray[np.void]:
    """A PLAN record, as an array of one.

    Args:
        ranges: shortest, typical and longest seconds on site of each service.
        quantile: of the triangle over each range, 0 to 1.
        margin_s: seconds to spare before a window closes.
        circuity: road metres for a straight metre.
        speed_kmh: of every drive.

    """
    plan = np.zeros(1, PLAN)
    for k, (shortest, typical, longest) in enumerate(ranges):
        plan[0]["lengths"][k] = planned_length(shortest, typical, longest, quantile)
    plan[0]["margin"] = margin_s
    plan[0]["circuity"] = int(circuity * 1000)
    plan[0]["speed"] = int(speed_kmh * 1000)
    return plan
