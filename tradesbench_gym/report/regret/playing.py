"""Playing branches to their ends, with the oracle in compiled code or with any policy in Python.

Both answer the same two questions: what is earned when a call is answered so, and what the run
looks like at the end of it. Which branches are worth playing is decided elsewhere.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np
import numpy.typing as npt

from tradesbench_gym.company.business import Business
from tradesbench_gym.company.play import answer as answer_with
from tradesbench_gym.company.simulation import Simulation
from tradesbench_gym.core import branching
from tradesbench_gym.core.branching import ORACLE, REJECT, SCRIPT_OF_A_DAY, code_of
from tradesbench_gym.core.codes import Kind, Stop
from tradesbench_gym.core.layout import LOG
from tradesbench_gym.errors import PolicyError
from tradesbench_gym.policies import make_policy
from tradesbench_gym.policies.load import load_policy
from tradesbench_gym.policies.oracle import Oracle
from tradesbench_gym.policies.registry import policy_names
from tradesbench_gym.report.regret.recorded import States, offer_of

Whole = npt.NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class Ending:
    """The end of one branch.

    Attributes:
        run: the record, shape (1,).
        account: the ledger of each call by number, in cents, shape (calls,).

    """

    run: States
    account: Whole

    @property
    def cash(self) -> int:
        """Cash at the end, in cents."""
        return int(self.run[0]["cash"])


class Player(Protocol):
    """Whoever plays branches of the calls of one run."""

    def own_answer(self, call: int) -> int:
        """What the policy itself answers to the call, by index."""

    def cash(self, call: int, answers: Sequence[int]) -> list[int]:
        """Cash at the end when the call, by index, is answered so, in cents."""

    def ending(self, call: int, answer: int) -> Ending:
        """The end of one branch."""


def blank_script(business: Business) -> Whole:
    """A script that leaves every answer to the oracle."""
    days = business.run_dtype["days"].shape[0]
    return np.full((days, *SCRIPT_OF_A_DAY), ORACLE, np.int64)


@dataclass(frozen=True, eq=False)
class Trace:
    """One branch with everything on its way.

    Attributes:
        cash: at the end, in cents.
        calls: those that rang, as they stand at the end, shape (calls,).

    """

    cash: int
    calls: npt.NDArray[np.void]


class CompiledPlayer:
    """Plays branches with the oracle, and scripts. Threads may share it: each has its own buffers.

    Args:
        business: what the runs are of.
        states: runs at calls or at their start, which branches begin at.
        plan: the oracle's settings, one record of dtype PLAN.

    """

    def __init__(self, business: Business, states: States, plan: States) -> None:
        self.business = business
        self.states = np.ascontiguousarray(states)
        self._plan = plan
        self._blank = blank_script(business)
        self._calls = business.run_dtype["calls"].shape[0]
        self._own = threading.local()

    def own_answer(self, call: int) -> int:
        """What the oracle itself answers to the call, by index."""
        said = np.zeros(self._calls, np.int64)
        kept = np.zeros((0, 0), np.uint8)
        self.trace(call, int(ORACLE), self._blank, kept, said)
        return int(said[int(self.states[call]["line"])])

    def cash(self, call: int, answers: Sequence[int]) -> list[int]:
        """Cash at the end when the call, by index, is answered so, in cents."""
        given = np.array(answers, np.int64)
        found: list[int] = self.play(np.full(len(given), call), given, self._blank).tolist()
        return found

    def ending(self, call: int, answer: int) -> Ending:
        """The end of one branch."""
        account = np.zeros((1, self._calls), np.int64)
        self.play(np.array([call]), np.array([answer]), self._blank, account=account)
        return Ending(self._buffers()[0].copy(), account[0])

    def play(
        self,
        which: Whole,
        answers: Whole,
        script: Whole,
        *,
        account: Whole | None = None,
        part: slice = slice(None),
        cash: Whole | None = None,
    ) -> Whole:
        """Cash at the end of each branch, in cents; see `core.branching.branches`.

        Args:
            which: of the states, shape (branches,).
            answers: to the calls on their lines, shape (branches,).
            script: the later answers.
            account: gets each job's ledger, shape (branches, calls).
            part: play these branches only.
            cash: gets the cash, if an array is there already.

        """
        found = np.zeros(len(which), np.int64) if cash is None else cash
        first, until, _ = part.indices(len(which))
        accounts = np.zeros((0, 0), np.int64) if account is None else account
        nothing = np.zeros((0, 0), np.uint8), np.zeros(0, np.int64)
        self._branches(which, answers, (first, until), script, found, accounts, *nothing)
        return found

    def trace(
        self, state: int, answer: int, script: Whole, kept: npt.NDArray[np.uint8], said: Whole
    ) -> Trace:
        """Play one branch and write the run and the answer at each of its calls, by number."""
        cash, nothing = np.zeros(1, np.int64), np.zeros((0, 0), np.int64)
        which, answers = np.array([state]), np.array([answer])
        self._branches(which, answers, (0, 1), script, cash, nothing, kept, said)
        run = self._buffers()[0][0]
        return Trace(int(cash[0]), run["calls"][: int(run["n_calls"])].copy())

    def _branches(
        self,
        which: Whole,
        answers: Whole,
        part: tuple[int, int],
        script: Whole,
        cash: Whole,
        accounts: Whole,
        kept: npt.NDArray[np.uint8],
        said: Whole,
    ) -> None:
        b = self.business
        run, log, desk = self._buffers()
        branching.branches(
            self.states,
            which.astype(np.int64),
            answers.astype(np.int64),
            *part,
            script,
            b.params,
            b.pool,
            b.metres,
            run,
            log,
            desk,
            self._plan,
            cash,
            accounts,
            kept,
            said,
        )

    def _buffers(self) -> tuple[States, States, States]:
        """Run, log and desk of this thread."""
        if not hasattr(self._own, "buffers"):
            b = self.business
            self._own.buffers = (np.zeros(1, b.run_dtype), np.zeros(1, LOG), b.new_desks())
        made: tuple[States, States, States] = self._own.buffers
        return made


class PolicyPlayer:
    """Plays branches with a policy in Python, fresh in each branch.

    Args:
        business: what the runs are of.
        states: the run at each call.
        spec: the policy's name, with settings if any.
        stopped: whether nobody waits for the branches any more.

    Raises:
        InterruptedError: it was stopped in the middle of a call.

    """

    def __init__(
        self,
        business: Business,
        states: States,
        spec: str,
        stopped: Callable[[], bool] = lambda: False,
    ) -> None:
        self._stopped = stopped
        self._simulation = Simulation(business=business)
        self._states = states
        self._spec = spec
        self._seed = int(states[0]["seed"])
        self._calls = business.run_dtype["calls"].shape[0]

    def own_answer(self, call: int) -> int:
        """What the policy itself answers to the call, by index; PolicyError for what the company
        does not let out.
        """
        simulation, decide = self._simulation, load_policy(self._spec, seed=self._seed)
        simulation.stand_at(self._states[call : call + 1])
        decision = decide(simulation.desk)
        if decision is None:
            return int(REJECT)
        if (refused := simulation.refusal(*decision)) is not None:
            raise PolicyError(
                f"the policy offered call {call + 1} what the company does not: {refused.message}",
                code=refused.code,
                field=refused.field,
            )
        return int(code_of(*decision))

    def cash(self, call: int, answers: Sequence[int]) -> list[int]:
        """Cash at the end when the call, by index, is answered so, in cents."""
        return [self._play(call, answer) for answer in answers]

    def ending(self, call: int, answer: int) -> Ending:
        """The end of one branch."""
        self._play(call, answer)
        account = np.zeros(self._calls, np.int64)
        for event in self._simulation.take_events():
            if event.kind == Kind.LEDGER and event.call is not None:
                account[event.call - 1] += event.cents or 0
        # What was posted before the branch is the same in all of them.
        return Ending(np.array([self._simulation.record]), account)

    def _play(self, call: int, answer: int) -> int:
        if self._stopped():
            raise InterruptedError("nobody waits for this branch")
        simulation, decide = self._simulation, load_policy(self._spec, seed=self._seed)
        simulation.stand_at(self._states[call : call + 1])
        if (offer := offer_of(answer)) is None:
            simulation.reject()
        else:
            simulation.offer(*offer)
        while simulation.next_call() == Stop.NEW_CALL:
            answer_with(simulation, decide)
        return simulation.cash_cents


def oracle_plan(business: Business) -> States:
    """The settings of the oracle as the scenario has them."""
    return np.array([business.plan])


def compiled_plan(business: Business, spec: str) -> States | None:
    """The settings with which compiled code answers as a policy does; None where none can.

    Raises:
        PolicyError: no such policy, or a setting that cannot be.

    """
    load_policy(spec)
    if spec.partition(":")[0] not in policy_names():
        return None
    policy = make_policy(spec)
    return policy.plan(Simulation(business=business).desk) if isinstance(policy, Oracle) else None
