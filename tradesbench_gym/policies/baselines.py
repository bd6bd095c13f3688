"""The report's baselines: accept-all, reject-heavy and do-nothing."""

from __future__ import annotations

from decimal import Decimal, InvalidOperation
from typing import Any

import numpy as np

from tradesbench_gym.core import draws
from tradesbench_gym.core import plan as planning
from tradesbench_gym.core.view import Desk
from tradesbench_gym.errors import PolicyError
from tradesbench_gym.policies.registry import Decision, Policy, register, register_factory

_REJECTED_SHARE = "0.8"


@register("do-nothing")
def do_nothing(_desk: Desk) -> Decision | None:
    """Never takes a call."""
    return None


@register("accept-all")
def accept_all(desk: Desk) -> Decision | None:
    """Every call, other work too, into the first open window, with the first qualified technician
    on shift.
    """
    technician, ahead, window = planning.first_open(desk.array, 0)
    return None if technician < 0 else Decision(int(technician), int(ahead), int(window))


@register_factory("reject-heavy")
def reject_heavy(share: Any = _REJECTED_SHARE, seed: int = 0) -> Policy:
    """Rejects a share of all calls by a seeded draw of its own, and takes the rest as accept-all
    does.

    Args:
        share: of calls rejected, 0 to 1 (the report's: 0.8).
        seed: of its own draws; in `bench` the number of the run.

    """
    try:
        exact = Decimal(str(share))
    except InvalidOperation:
        exact = Decimal("NaN")
    if exact.is_nan() or not 0 <= exact <= 1:
        raise PolicyError(
            f"reject-heavy: share must be a number from 0 to 1, not {share!r}", field="share"
        )
    rejects = draws.threshold(*exact.as_integer_ratio())
    key, none = np.uint64(seed), np.uint64(0)

    def decide(desk: Desk) -> Decision | None:
        call = desk["calls"][desk["line"]]
        rang, address = int(call["rang_at"]), int(call["address"])
        word = draws.words(key, none, int(draws.Event.POLICY), rang, address, 0)[0]
        return None if rejects == draws.ALWAYS or word < rejects else accept_all(desk)

    return decide
