"""Playing whole runs with a policy, and counting what came of them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import asdict, dataclass
from typing import Any, Protocol

import numpy as np

from tradesbench_gym.company.simulation import Simulation
from tradesbench_gym.core.codes import CallState, Stop
from tradesbench_gym.core.rules.calendar import is_weekend
from tradesbench_gym.core.view import Desk
from tradesbench_gym.errors import BookingError, PolicyError


@dataclass(frozen=True)
class Results:
    """What a run came to: the columns of the results table. Money in whole cents."""

    seed: int
    profit: int
    cash: int
    lowest_cash: int
    bankrupt_on: int | None
    calls: int
    completed: int
    missed: int
    failed: int
    cancelled: int
    declined: int
    rejected: int
    open: int
    installations: int
    weekend_jobs: int

    def as_dict(self) -> dict[str, Any]:
        """Plain values for JSON."""
        return asdict(self)


def play(simulation: Simulation, decide: Callable[[Desk], Any]) -> Results:
    """Play a run to its end with a policy (`DESK -> decision`, None to reject), acknowledging
    cancellations.

    Raises:
        PolicyError: the policy made an offer that the company does not let out.

    """
    while simulation.next_call() == Stop.NEW_CALL:
        answer(simulation, decide)
    return results(simulation)


class Answerable(Protocol):
    """A run whose calls are answered: a `Simulation`, or a world file."""

    @property
    def line(self) -> int | None:
        """Number of the call on the line; None if there is none."""

    @property
    def desk(self) -> Desk:
        """What a dispatcher may know now."""

    def reject(self) -> None:
        """Turn the caller away."""

    def offer(self, technician: int, ahead: int, window: int) -> bool:
        """Make the one offer; whether the caller accepts."""


def answer(run: Answerable, decide: Callable[[Desk], Any]) -> None:
    """Answer the call on the line with a policy.

    Raises:
        PolicyError: an offer that the company does not let out; it names the call.

    """
    call, decision = run.line, decide(run.desk)
    if decision is None:
        run.reject()
        return
    try:
        run.offer(*decision)
    except BookingError as error:
        raise PolicyError(
            f"the policy offered call {call} what the company does not: {error.message}",
            code=error.code,
            field=error.field,
        ) from error


def results(simulation: Simulation) -> Results:
    """Count a run as it stands."""
    run = simulation.record
    calls = run["calls"][: int(run["n_calls"])]
    state = calls["state"]
    done = calls[state == CallState.DONE]
    book = simulation.business.handbook
    count: Callable[[Any], int] = np.count_nonzero
    return Results(
        seed=int(run["seed"]),
        profit=simulation.profit_cents,
        cash=simulation.cash_cents,
        lowest_cash=int(run["lowest"]),
        bankrupt_on=int(run["day"]) + 1 if run["bankrupt"] else None,
        calls=len(calls),
        completed=len(done),
        missed=int(count(state == CallState.MISSED)),
        failed=int(count(state == CallState.FAILED)),
        cancelled=int(count(state == CallState.CANCELLED)),
        declined=int(count(state == CallState.DECLINED)),
        rejected=int(count((state == CallState.REJECTED) | (state == CallState.UNANSWERED))),
        open=int(count((state >= CallState.BOOKED) & (state <= CallState.WORKING))),
        installations=int(book["installation"][done["service"]].sum()),
        weekend_jobs=sum(is_weekend(book, day) for day in done["day"].tolist()),
    )
