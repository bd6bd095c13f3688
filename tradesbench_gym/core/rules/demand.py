"""How many people call: the hidden demand level and the number of calls it brings (A.4 of the
report).
"""

from __future__ import annotations

import numpy as np

from tradesbench_gym.core import draws
from tradesbench_gym.core.codes import code
from tradesbench_gym.core.draws import DAY_OFFSET, div_round
from tradesbench_gym.core.jit import rule
from tradesbench_gym.core.layout import Int, Record
from tradesbench_gym.core.rules.calendar import is_weekend

_QUOTAS = code(draws.Event.QUOTAS)
_UNIT = np.int64(10_000)


@rule
def calls_wanted(p: Record, level: Int, day: Int) -> np.int64:
    """Calls the level brings on a day: all of it on weekdays, its share but at least ten (while it
    is ten) at weekends.
    """
    if not is_weekend(p["handbook"], day):
        return div_round(np.int64(level), _UNIT)
    wanted = div_round(np.int64(level) * np.int64(p["weekend_share"]), _UNIT * _UNIT)
    floor = np.int64(p["weekend_floor"])
    if level >= floor * _UNIT:
        return max(wanted, floor)
    return wanted


@rule
def quotas(run: Record, p: Record, day: Int) -> tuple[np.int64, np.int64]:
    """Calls for other work and for installations on a day: by seed and date alone."""
    w0, w1, _, _ = draws.block(
        run["seed"], run["salt"], _QUOTAS, day + DAY_OFFSET, draws.ZERO, draws.ZERO
    )
    span = np.int64(p["other_max"]) - np.int64(p["other_min"]) + 1
    other = np.int64(p["other_min"]) + draws.below(w0, span)
    return other, draws.pick(w1, p["installations_cut"][:])


@rule
def update_level(run: Record, p: Record) -> None:
    """At the close of a service day: each job done on time adds a little, each missed or failed
    visit cuts sharply.
    """
    today = run["days"][run["day"]]
    lost = np.int64(today["missed"]) + np.int64(today["failed"])
    level = np.int64(run["level"])
    level += np.int64(p["level_gain"]) * np.int64(today["done"]) - np.int64(p["level_loss"]) * lost
    run["level"] = min(max(level, np.int64(0)), np.int64(p["level_cap"]))
