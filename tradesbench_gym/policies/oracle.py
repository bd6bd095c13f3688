"""The oracle: a script that follows ordinary dispatching practice, with a dispatcher's knowledge
(A.8 of the report).
"""

from __future__ import annotations

from decimal import Decimal, InvalidOperation
from typing import Any

import numpy as np
import numpy.typing as npt

from tradesbench_gym.core import plan as planning
from tradesbench_gym.core.settings import planned_length
from tradesbench_gym.core.view import Desk
from tradesbench_gym.errors import PolicyError
from tradesbench_gym.policies.registry import Decision, Policy, register_factory

_MINUTE = 60
_BOUNDS = {
    "quantile": ("0", "1"),
    "margin": ("0", "600"),
    "circuity": ("0.1", "10"),
    "speed": ("1", "200"),
}


@register_factory("oracle")
def oracle(
    quantile: Any = None, margin: Any = None, circuity: Any = None, speed: Any = None
) -> Policy:
    """The oracle with its published settings, or with others.

    Args:
        quantile: of each job's range the plan reckons with, 0 to 1 (published: 0.65).
        margin: minutes to spare before each window closes, at first (40).
        circuity: road metres for a straight metre (1.3).
        speed: km/h of every drive (40).

    Settings left out are those of the scenario's `[estimate]`, which DESK carries.

    Raises:
        PolicyError: a setting out of range.

    """
    given = {"quantile": quantile, "margin": margin, "circuity": circuity, "speed": speed}
    return Oracle({key: _number(key, value) for key, value in given.items() if value is not None})


class Oracle:
    """The oracle with settings of its own, a policy like any other.

    Args:
        wanted: the settings that are not the scenario's, by name.

    """

    def __init__(self, wanted: dict[str, Decimal]) -> None:
        self._wanted = wanted
        # By the scenario's own settings: one, as a rule.
        self._made: dict[bytes, npt.NDArray[np.void]] = {}

    def plan(self, desk: Desk) -> npt.NDArray[np.void]:
        """The settings it goes by, one record of dtype PLAN: with them compiled code can answer as
        it does.
        """
        own = desk["plan"].tobytes()
        if own not in self._made:
            self._made[own] = _plan(desk, self._wanted)
        return self._made[own]

    def __call__(self, desk: Desk) -> Decision | None:
        """The earliest offer that its plan says can be kept."""
        technician, ahead, window = planning.earliest_fit(desk.array, 0, self.plan(desk))
        return None if technician < 0 else Decision(int(technician), int(ahead), int(window))


def _number(key: str, value: Any) -> Decimal:
    low, high = (Decimal(bound) for bound in _BOUNDS[key])
    try:
        number = Decimal(str(value))
    except InvalidOperation:
        number = Decimal("NaN")
    if number.is_nan() or not low <= number <= high:
        raise PolicyError(
            f"oracle: {key} must be a number from {low} to {high}, not {value!r}", field=key
        )
    return number


def _plan(desk: Desk, wanted: dict[str, Decimal]) -> npt.NDArray[np.void]:
    plan: npt.NDArray[np.void] = np.array([desk["plan"]])
    if "quantile" in wanted:
        book = desk["handbook"]
        for k in range(int(book["services"])):
            shortest, typical, longest = (
                int(book[name][k]) for name in ("shortest", "typical", "longest")
            )
            plan[0]["lengths"][k] = planned_length(shortest, typical, longest, wanted["quantile"])
    for key, unit in (("margin", _MINUTE), ("circuity", 1000), ("speed", 1000)):
        if key in wanted:
            plan[key] = int(wanted[key] * unit)
    return plan
