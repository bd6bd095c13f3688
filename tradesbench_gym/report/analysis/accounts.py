"""A run read whole: how it ended, what each of its calls brought or cost, and how every offer of it
looked to a dispatcher when it was made.

Read from a world file, which proves every step on the way, or noted while a policy plays. It
compares nothing and prints nothing.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from tradesbench_gym.company.business import Business
from tradesbench_gym.company.events import Event
from tradesbench_gym.company.play import Results, answer, results
from tradesbench_gym.company.simulation import Simulation
from tradesbench_gym.core.codes import CallState, Kind, Stop
from tradesbench_gym.core.view import Desk
from tradesbench_gym.errors import StateError
from tradesbench_gym.report.analysis.weighing import Weigher, Weight
from tradesbench_gym.world import Command, replay
from tradesbench_gym.world.identity import MapLike

Decide = Callable[[Desk], Any]
Identity = tuple[int, int, int]
"""What names a call in every run of a world: day, stream and index in the stream."""


@dataclass(frozen=True)
class Offer:
    """One offer that was made.

    Attributes:
        call: its number, from 1.
        technician, ahead, window: what was offered.
        accepted: what the caller said.
        weight: how the offer looked on the dispatcher's desk.

    """

    call: int
    technician: int
    ahead: int
    window: int
    accepted: bool
    weight: Weight


@dataclass(eq=False)
class Account:
    """A run, as far as it was played.

    Attributes:
        simulation: the run where it stands.
        cents: what each call brought less what it cost, by number of the call.
        fixed: pay and overhead, in cents below zero.
        offers: in the order in which they were made.

    """

    simulation: Simulation
    cents: dict[int, int] = field(default_factory=dict)
    fixed: int = 0
    offers: list[Offer] = field(default_factory=list)

    @property
    def business(self) -> Business:
        """What the run is of."""
        return self.simulation.business

    @property
    def results(self) -> Results:
        """What it came to so far."""
        return results(self.simulation)

    @property
    def seed(self) -> int:
        """The run's number."""
        return int(self.simulation.record["seed"])

    @property
    def salt(self) -> int:
        """What seals it; 0 for an open run."""
        return int(self.simulation.record["salt"])

    @property
    def finished(self) -> bool:
        """Whether the recording goes to the end of the run."""
        return self.simulation.ended

    @property
    def calls(self) -> Any:
        """The calls that rang, as records of the run; call n stands at n - 1."""
        record = self.simulation.record
        return record["calls"][: int(record["n_calls"])]

    def state(self, call: int) -> CallState:
        """What became of a call, by its number from 1."""
        return CallState(int(self.calls[call - 1]["state"]))

    def numbers(self) -> dict[Identity, int]:
        """The numbers of the calls by what names them in every run."""
        found = {}
        for number, call in enumerate(self.calls, 1):
            found[int(call["from_day"]), int(call["stream"]), int(call["from_index"])] = number
        return found

    def take(self, events: Iterable[Event]) -> None:
        """Book the money of what has happened."""
        for event in events:
            if event.kind != Kind.LEDGER or event.cents is None:
                continue
            if event.call is None:
                self.fixed += event.cents
            else:
                self.cents[event.call] = self.cents.get(event.call, 0) + event.cents


def read_account(
    path: str | Path,
    *,
    map: MapLike | None = None,  # noqa: A002 - the word of the trade, and of make()
    weigher: Weigher | None = None,
) -> Account:
    """The run of a world file.

    Args:
        path: the file; another process may be playing it on.
        map: the map, where the file's own name for it is not that of a map here.
        weigher: weighs the offers; one of its own if not given.

    Raises:
        WorldError: no world file, one that cannot be played here, or one that was changed.

    """
    scales, account = weigher or Weigher(), None
    waiting: Desk | None = None
    for step in replay(path, map=map):
        account = account or Account(step.simulation)
        account.take(step.events)
        if step.command == Command.OFFER and waiting is not None:
            slot = [int(step.arguments[name]) for name in ("technician", "ahead", "window")]
            account.offers.append(_offer(scales, waiting, slot, accepted=step.outcome == 1))
        waiting = step.simulation.desk.copy() if step.simulation.line is not None else None
    if account is None:
        raise StateError(f"{path} holds no run", code="no_run", field="path")
    return account


def played_account(
    business: Business, seed: int, salt: int, decide: Decide, *, weigher: Weigher | None = None
) -> Account:
    """A run that a policy plays from its start to its end.

    Args:
        business: what the run is of.
        seed: the run's number.
        salt: what seals it; 0 for an open run.
        decide: the policy.
        weigher: weighs the offers; one of its own if not given.

    Raises:
        PolicyError: the policy made an offer that the company does not let out.

    """
    scales = weigher or Weigher()
    account = Account(Simulation(seed, salt=salt, business=business))
    run = account.simulation
    while run.next_call() == Stop.NEW_CALL:
        waiting = run.desk.copy()
        answer(run, decide)
        call = run.record["calls"][int(run.record["n_calls"]) - 1]
        if call["technician"] >= 0:
            ahead = int(call["day"]) - int(waiting["day"])
            slot = [int(call["technician"]), ahead, int(call["window"])]
            accepted = bool(call["state"] != CallState.DECLINED)
            account.offers.append(_offer(scales, waiting, slot, accepted=accepted))
        account.take(run.take_events())
    account.take(run.take_events())
    return account


def _offer(scales: Weigher, waiting: Desk, slot: list[int], *, accepted: bool) -> Offer:
    technician, ahead, window = slot
    weight = scales.weigh(waiting, technician, ahead, window)
    return Offer(int(waiting["line"]) + 1, technician, ahead, window, accepted, weight)
