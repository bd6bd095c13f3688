"""Whether the company lets an offer out; if not, its own sentence and what it would let out.

Asks the dispatcher's desk and holds no rule: what may be offered is read off the desk's mask.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import numpy.typing as npt

from tradesbench_gym.company.simulation import Simulation
from tradesbench_gym.errors import BookingError
from tradesbench_gym.policies.registry import Decision
from tradesbench_gym.wrappers.text_terms import Terms

Mask = npt.NDArray[Any]


def refusal(simulation: Simulation, terms: Terms, offer: Decision) -> BookingError | None:
    """The company's error for an offer to the call on the line, its sentence continued by what is
    right; None if the offer may be made. Changes nothing.
    """
    wrong = simulation.refusal(*offer)
    if wrong is None:
        return None
    better = _BETTER.get(wrong.code)
    hint = "" if better is None else better(simulation, terms, offer)
    return BookingError(wrong.message + hint, code=wrong.code, field=wrong.field)


def _still_to_come(simulation: Simulation, terms: Terms, offer: Decision) -> str:
    mask = simulation.desk.legal(qualified=False)
    left = np.flatnonzero(mask[offer.technician, 0]).tolist()
    if not left:
        return f": offer {terms.technicians[offer.technician]} on another day"
    return f": today {_listed(terms.starts[k] for k in left)} can be offered, or another day"


def _who_is_on_shift(simulation: Simulation, terms: Terms, offer: Decision) -> str:
    there = np.flatnonzero(simulation.desk.legal()[:, offer.ahead, offer.window]).tolist()
    if not there:
        return f": choose a window in which {terms.technicians[offer.technician]} works"
    return f": {_listed(terms.technicians[k] for k in there)} could go then"


def _office_hours(simulation: Simulation, terms: Terms, offer: Decision) -> str:
    mask = simulation.desk.legal(qualified=False)[offer.technician].any(0)
    starts = _listed(terms.starts[k] for k in np.flatnonzero(mask).tolist())
    return f": choose a weekday and {starts}" if starts else ": reject the call"


def _days(simulation: Simulation, _terms: Terms, _offer: Decision) -> str:
    business, today = simulation.business, simulation.day
    last = today + business.scenario.calendar.booking_days - 1
    return f": choose a date from {business.date_of(today)} to {business.date_of(last)}"


def _listed(words: Any) -> str:
    *most, last = [*words] or [""]
    return f"{', '.join(most)} or {last}" if most else last


_BETTER: dict[str, Callable[[Simulation, Terms, Decision], str]] = {
    "window_started": _still_to_come,
    "off_shift": _who_is_on_shift,
    "installation_off_hours": _office_hours,
    "beyond_horizon": _days,
}
