"""The planner: a dispatcher who learns from what happens and weighs each offer against the risk it
brings and the later calls it displaces.

It begins with what anybody in the trade might expect (`FIRST_BELIEFS`), and knows nothing of this
company's callers but what its own run shows: the learning is `core/beliefs.py`, the weighing
`core/outlook.py`. Two desks that say the same get the same decision.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import numpy.typing as npt

from tradesbench_gym.core import beliefs as learning
from tradesbench_gym.core import outlook, risk
from tradesbench_gym.core.board import CALLER
from tradesbench_gym.core.view import Desk
from tradesbench_gym.errors import PolicyError
from tradesbench_gym.policies.registry import Decision, Policy, register_factory

_JOBS, _SAMPLES = 512, 64
_MOST_FUTURES = 1_000
_NUMBERS = 400
"""Uniform numbers of one imagined future: two for each call of three days, and some to spare."""

FIRST_BELIEFS: dict[str, Any] = {
    # Four in five take an offer for right away, and each day of waiting loses a tenth of them.
    "routine": 0.8,
    "patience": 0.9,
    # Who calls it urgent wants somebody today.
    "urgent": (0.9, 0.6, 0.4),
    # A day's work that would begin in the afternoon and run into the night is less welcome.
    "late": 0.75,
    "answers": 5,
    # One booking in ten falls through, a little more often after a long wait.
    "cancels": 0.1,
    "cancels_day": 0.1,
    "bookings": 10,
    # A service call leaves some $200 after material, a new air conditioner some $2,000.
    "job": 200_00,
    "installation": 2_000_00,
    "jobs": 2,
    "types": 3,
    # Drives take a tenth longer than the plan says, give or take a fifth; more in bad weather.
    "pace": 1.1,
    "spread": 0.2,
    "drives": 6,
    "weather": (1, 1, 1, 1, 1, 1.1, 1.25),  # by `Condition`: only rain and storm are felt
    # Fifteen calls a day, fewer at weekends.
    "calls": 15,
    "quiet": 0.8,
    # Word of mouth: twenty good jobs bring a call a day, a broken promise costs two.
    "gain": 0.05,
    "gain_sd": 0.1,
    "loss": 2,
    "loss_sd": 1,
    "noise": 1,
    # A call is worth half a service job: some are for other work, some say no.
    "caller": 100_00,
    "callers": 20,
}
"""What a dispatcher may expect before the first call (`core.beliefs.PRIOR`): round numbers of the
trade at large, none of them taken from the scenario or fitted to it.
"""

TEMPER: dict[str, float] = {
    # Shares of the calls a customer let down is believed to cost, and a job done to bring.
    "letting_down": 0.4,
    "growth": 1.2,
    # $25 an hour on the road, $12 an hour that a day ends later, $3 to make an offer at all.
    "road": 25_00,
    "time": 12_00,
    "least": 3_00,
    "kept": 0.3,
    # Shares of what later callers would lose: they are imagined without risk, and served by a
    # plainer rule than this one.
    "installation": 0.6,
    "service": 0.25,
    # How later jobs are planned: mean lengths, 25 minutes to spare, whoever can do more comes last.
    "spare": 25 * 60,
    "length": 1.0,
    "versatile": 60 * 60,
}
"""How much each consideration weighs (`core.outlook.TEMPER`): tried on seeds from 10,000 up, on
which profit hardly changes when any of them is halved or doubled; `letting_down` must not be 0.
"""


@register_factory("planner")
def planner(futures: Any = 48, seed: int = 0) -> Policy:
    """A dispatcher who learns, and weighs chance, value, risk and the later calls together.

    Args:
        futures: imagined futures a decision is weighed in; 0 to think of no later call.
        seed: of what the planner imagines.

    Raises:
        PolicyError: `futures` out of range.

    """
    try:
        many = int(str(futures))
    except ValueError:
        many = -1
    if not 0 <= many <= _MOST_FUTURES:
        raise PolicyError(
            f"planner: futures must be a whole number from 0 to {_MOST_FUTURES}, not {futures!r}",
            field="futures",
        )
    return make(seed, many)


def make(
    seed: int,
    futures: int,
    prior: Mapping[str, Any] | None = None,
    temper: Mapping[str, float] | None = None,
) -> Policy:
    """A planner with other expectations or another temper: for whoever tries what they do."""
    priors = record(learning.PRIOR, {**FIRST_BELIEFS, **(prior or {})})
    tempers = record(outlook.TEMPER, {**TEMPER, **(temper or {})})
    beliefs = np.zeros(1, learning.BELIEF)
    lots, luck = np.empty((_JOBS, risk.LOTS, _SAMPLES)), np.empty((futures, _NUMBERS))
    risk.deal(np.uint64(seed), lots, luck)
    imagined: dict[bytes, npt.NDArray[np.void]] = {}  # by the company's handbook: one, as a rule

    def decide(desk: Desk) -> Decision | None:
        company = desk["handbook"].tobytes()
        if company not in imagined:
            imagined[company] = _first_callers(desk)
        learning.believe(desk.array, 0, priors, beliefs)
        technician, ahead, window = outlook.best_offer(
            desk.array, 0, beliefs, tempers, lots, luck, imagined[company]
        )
        return None if technician < 0 else Decision(int(technician), int(ahead), int(window))

    return decide


def record(dtype: np.dtype[np.void], values: Mapping[str, Any]) -> npt.NDArray[np.void]:
    """Values by name as the array of one record that the compiled parts take."""
    made: npt.NDArray[np.void] = np.zeros(1, dtype)
    for name, value in values.items():
        made[0][name] = value
    return made


def _first_callers(desk: Desk) -> npt.NDArray[np.void]:
    """A dozen callers as anybody might imagine them: each service alike, an installation, two for
    other work, one in four urgent, spread over the day and around the technicians' homes.
    """
    book = desk["handbook"]
    services = range(int(book["services"]))
    wanted = [s for s in services if not book["installation"][s]] * 3
    wanted += [s for s in services if book["installation"][s]] + [len(services)] * 2
    callers: npt.NDArray[np.void] = np.zeros(len(wanted), CALLER)
    first, last = int(book["calls_from"]), int(book["calls_until"])
    for i, service in enumerate(wanted):
        home = i % desk.technicians
        ours = service in services and not book["installation"][service]
        callers[i]["time"] = first + (last - first) * (2 * (i * 7 % 12) + 1) // 24
        callers[i]["x"], callers[i]["y"] = book["home_x"][home], book["home_y"][home]
        callers[i]["service"], callers[i]["urgent"] = service, int(ours and i % 4 == 3)
    return callers
