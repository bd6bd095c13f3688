"""The best run that hindsight finds: local search over the sequence of answers, on the same draws.

No dispatcher could play it, for every step looks at how the whole run ends; it says how much there
was to earn, the headroom. One answer after the other is changed for whatever earns more, with the
run's own later answers kept or left to the oracle; when no single change helps, a few answers are
thrown over at random and the search climbs again from there. It can be stopped at any moment and
begun again from what it found. It knows branches, and neither file nor screen.
"""

from __future__ import annotations

import random
import time
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from itertools import pairwise

import numpy as np

from tradesbench_gym.core import annealing, branching
from tradesbench_gym.core.branching import ACCEPTED, CODES, LET_OUT, ORACLE, QUALIFIED
from tradesbench_gym.core.layout import LOG
from tradesbench_gym.report.regret.outcomes import choice_of, distinct
from tradesbench_gym.report.regret.playing import (
    CompiledPlayer,
    Trace,
    Whole,
    blank_script,
    oracle_plan,
)
from tradesbench_gym.report.regret.proof import own_script, prove
from tradesbench_gym.report.regret.recorded import Recorded
from tradesbench_gym.report.runs import usable_cores

_ORACLE = int(ORACLE)
_CHAINS = 2
"""Walks side by side, whatever the number of threads, so that this does not change the result."""
_SEGMENT = 1_000
"""Steps of a walk at a time: a fifth of a second after which the search can be stopped."""
_CYCLE = 40
"""Segments of a walk."""
_WARM, _COLD = 100_00.0, 10_00.0
"""What a change loses, in cents, that is kept every third time or so, at the start of a walk and at
its end: less than a job pays, more than a drive costs.
"""
_LEAST_PART = 8
"""Branches worth a thread of their own."""


@dataclass(frozen=True)
class Budget:
    """How long to search; whichever comes first.

    Attributes:
        seconds: of time, looked at every fraction of a second; None: as long as it takes.
        branches: branches to play; None: as many as it takes. With it alone the result depends
            neither on the machine nor on the number of threads.
        seed: of the search's own draws.

    """

    seconds: float | None = 60.0
    branches: int | None = None
    seed: int = 0


@dataclass(frozen=True, eq=False)
class Found:
    """The best run found.

    Attributes:
        answers: to its calls, by their code in `core.branching`, shape (calls,).
        profit: at its end, in cents.
        recorded, oracle: profits of the recorded run, played on by the oracle if it is unfinished,
            and of the oracle's own.
        branches: how many were played.
        seconds: how long it took, and how much processor time of this process.
        gains: when the best rose: branches played until then, and the profit.
        settled: how often the search came to where no single change helps.
        interrupted: whether Ctrl-C ended it.
        workers: threads.

    """

    answers: Whole
    profit: int
    recorded: int
    oracle: int
    branches: int
    seconds: tuple[float, float]
    gains: list[tuple[int, int]]
    settled: int
    interrupted: bool
    workers: int

    @property
    def headroom(self) -> int:
        """How much more it earns than the recorded run, in cents."""
        return self.profit - self.recorded


def search(
    recorded: Recorded,
    budget: Budget | None = None,
    *,
    workers: int | None = None,
    all_technicians: bool = False,
    told: Callable[[int, int], None] = lambda _branches, _profit: None,
) -> Found:
    """Search for a better run, from the recorded one or the oracle's, whichever earns more.

    Args:
        recorded: the run.
        budget: when to stop.
        workers: threads; None: one for each usable core.
        all_technicians: try those who cannot do the work as well.
        told: called now and then with the branches played and the best profit, in cents.

    Raises:
        StateError: the branches of the run do not lead where the run went.

    """
    count = workers or usable_cores()
    prove(recorded)
    distinct(recorded, 0)  # with this all that may compile has done so: no time of the search
    begun = time.perf_counter(), time.process_time()
    with ThreadPoolExecutor(count) as pool:
        climber = _Climber(recorded, budget or Budget(), pool, count, all_technicians, told)
        climber.start(own_script(recorded))
        interrupted = False
        try:
            climber.climb_on()
        except _SpentError:
            pass
        except KeyboardInterrupt:
            interrupted = True
    spent = time.perf_counter() - begun[0], time.process_time() - begun[1]
    cash = int(recorded.business.handbook["starting_cash"])
    return Found(
        answers=climber.best.answers,
        profit=climber.best.cash - cash,
        recorded=climber.recorded - cash,
        oracle=climber.oracle - cash,
        branches=climber.branches,
        seconds=spent,
        gains=[(branches, profit - cash) for branches, profit in climber.gains],
        settled=climber.settled,
        interrupted=interrupted,
        workers=count,
    )


class _SpentError(Exception):
    """The budget is spent."""


@dataclass(frozen=True, eq=False)
class _Run:
    """A sequence of answers and what it earns, in cents."""

    answers: Whole
    script: Whole
    cash: int


@dataclass
class _Climber:
    """The search: a present run with its state at every call, and the best run so far."""

    of: Recorded
    budget: Budget
    pool: ThreadPoolExecutor
    workers: int
    all_technicians: bool
    told: Callable[[int, int], None]
    branches: int = 0
    settled: int = 0
    gains: list[tuple[int, int]] = field(default_factory=list)

    def __post_init__(self) -> None:
        business = self.of.business
        self._blank = blank_script(business)
        self._draws = random.Random(self.budget.seed)  # noqa: S311 - a search, no secret
        self._deadline = time.perf_counter() + (self.budget.seconds or float("inf"))
        known = business.run_dtype["calls"].shape[0]
        # Row n holds the present run at its call n, the bytes that `_player` branches from.
        self._kept = np.zeros((known, business.run_dtype.itemsize), np.uint8)
        self._said = np.zeros(known, np.int64)
        states = self._kept.reshape(-1).view(business.run_dtype)
        self._player = CompiledPlayer(business, states, oracle_plan(business))
        self._starter = CompiledPlayer(business, self.of.start, oracle_plan(business))

    def start(self, script: Whole) -> None:
        """Stand at the better of the recorded run and the oracle's."""
        own, oracle = (self._from_start(given) for given in (script, self._blank))
        self.recorded, self.oracle = own.cash, oracle.cash
        self.best = own if own.cash >= oracle.cash else oracle
        self._present = self._stand_at(self.best)
        self.gains.append((self.branches, self.best.cash))

    def climb_on(self) -> None:
        """Climb, anneal, and climb again, until the budget is spent."""
        self._climb(range(len(self._present.answers)), leave_rest=True)
        while True:
            self._climb_until_settled()
            self.settled += 1
            self._anneal()

    # -- climbing --

    def _climb_until_settled(self) -> None:
        """Change one answer after the other, in an order of chance, until no change helps."""
        gained = True
        while gained:
            order = list(range(len(self._present.answers)))
            self._draws.shuffle(order)
            gained = self._climb(order, leave_rest=False)

    def _climb(self, order: Sequence[int], *, leave_rest: bool) -> bool:
        """Give each of these calls the answer that earns most; whether anything was gained.

        The later answers are the run's own or, with `leave_rest`, the oracle's where that is more.
        """
        gained = False
        for call in order:
            self._check_budget()
            if call < len(self._present.answers):
                gained |= self._improve(call, leave_rest=leave_rest)
        return gained

    def _improve(self, call: int, *, leave_rest: bool) -> bool:
        present = self._present
        answers = self._others(call)
        scripts = (present.script, self._blank) if leave_rest else (present.script,)
        ends = [self._cash(call, answers, script) for script in scripts]
        script, cash = max(zip(scripts, ends, strict=True), key=lambda pair: pair[1].max())
        if cash.max() <= present.cash:
            return False
        self._present = self._follow(call, int(answers[cash.argmax()]), script)
        self._note()
        return True

    def _others(self, call: int) -> Whole:
        """The distinct answers to a call of the present run, its own among them."""
        bits = np.zeros(CODES, np.int64)
        branching.outcomes(self._player.states, call, self.of.business.params, bits)
        own = int(self._present.answers[call])
        choice = choice_of(call, own, bits, all_technicians=self.all_technicians)
        return np.array(choice.answers, np.int64)

    def _note(self) -> None:
        if self._present.cash > self.best.cash:
            self.best = self._present
            self.gains.append((self.branches, self.best.cash))

    def _check_budget(self) -> None:
        self.told(self.branches, self.best.cash - int(self.of.business.handbook["starting_cash"]))
        most = self.budget.branches
        if time.perf_counter() >= self._deadline or (most is not None and self.branches >= most):
            raise _SpentError

    # -- annealing --

    def _anneal(self) -> None:
        """Walk from the best run, in several chains, and stand at the best run after it."""
        chains = [
            _Chain(self.of, self.best, self._draws.randrange(2**63), self.all_technicians)
            for _ in range(_CHAINS)
        ]
        try:
            for segment in range(_CYCLE):
                self._check_budget()
                jobs = [self.pool.submit(chain.walk, segment) for chain in chains]
                for job in jobs:
                    self.branches += job.result()
                top = max(chains, key=lambda chain: chain.cash)
                if top.cash > self.best.cash:
                    self._present = self._from_start(top.script)
                    self._note()
        finally:
            self._present = self._stand_at(self.best)

    # -- branches --

    def _cash(self, call: int, answers: Whole, script: Whole) -> Whole:
        """Cash at the end for each answer to a call of the present run."""
        count = len(answers)
        which, found = np.full(count, call), np.zeros(count, np.int64)
        parts = max(1, min(self.workers, count // _LEAST_PART))
        edges = [count * part // parts for part in range(parts + 1)]
        jobs = [
            self.pool.submit(
                self._player.play, which, answers, script, part=slice(low, high), cash=found
            )
            for low, high in pairwise(edges)
        ]
        for job in jobs:
            job.result()
        self.branches += count
        return found

    def _follow(self, call: int, answer: int, script: Whole) -> _Run:
        """Make a branch the present run."""
        trace = self._player.trace(call, answer, script, self._kept, self._said)
        return self._run(trace)

    def _from_start(self, script: Whole) -> _Run:
        trace = self._starter.trace(0, _ORACLE, script, self._kept, self._said)
        return self._run(trace)

    def _stand_at(self, run: _Run) -> _Run:
        return self._from_start(run.script)

    def _run(self, trace: Trace) -> _Run:
        self.branches += 1
        script, calls = self._blank.copy(), trace.calls
        answers = self._said[: len(calls)].copy()
        script[calls["from_day"], calls["stream"], calls["from_index"]] = answers
        return _Run(answers, script, trace.cash)


class _Chain:
    """One walk, with buffers of its own."""

    def __init__(self, of: Recorded, begin: _Run, seed: int, all_technicians: bool) -> None:
        b = of.business
        self._of, self._draws = of, np.random.default_rng(seed)
        self._wanted = LET_OUT | ACCEPTED | (0 if all_technicians else QUALIFIED)
        self._present, self.script = begin.script.copy(), begin.script.copy()
        self._told = np.array([0, begin.cash, 0], np.int64)
        self._runs = np.zeros(1, b.run_dtype), np.zeros(1, b.run_dtype)
        self._log, self._desk = np.zeros(1, LOG), b.new_desks()
        self._plan = oracle_plan(b)
        days = b.run_dtype["days"].shape[0]
        self._mornings = np.zeros((days, b.run_dtype.itemsize), np.uint8)

    @property
    def cash(self) -> int:
        """Of the best run met, whose answers are `script`, in cents."""
        return int(self._told[annealing.BEST])

    def walk(self, segment: int) -> int:
        """Walk one segment; how many branches were played."""
        at = (segment + np.arange(_SEGMENT) / _SEGMENT) / _CYCLE
        warmth = _WARM * (_COLD / _WARM) ** at
        b = self._of.business
        annealing.anneal(
            self._of.start,
            self._present,
            self.script,
            self._draws.integers(0, 2**62, (_SEGMENT, 2), np.int64),
            (warmth * self._draws.exponential(size=_SEGMENT)).astype(np.int64),
            self._wanted,
            b.params,
            b.pool,
            b.metres,
            *self._runs,
            self._log,
            self._desk,
            self._plan,
            self._mornings,
            self._told,
        )
        return _SEGMENT
