"""Playing whole runs with a policy, and counting what came of them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import asdict, dataclass
from typing import Any, Protocol

import numpy as np

from tradesbench_gym.company.simulation import Simulation
from tradesbench_gym.core.codes import Stop
from tradesbench_gym.core.layout import NONE
from tradesbench_gym.core.tally import COLUMNS, tally
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
    counts = np.zeros((1, len(COLUMNS)), np.int64)
    runs = np.array([simulation.record])
    tally(runs, np.ones(1, np.bool_), simulation.business.params, counts)
    found: dict[str, int | None] = dict(zip(COLUMNS, counts[0].tolist(), strict=True))
    if found["bankrupt_on"] == NONE:
        found["bankrupt_on"] = None
    return Results(seed=int(simulation.record["seed"]), **found)  # type: ignore[arg-type]
