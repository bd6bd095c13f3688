"""The price of each answer of a run: what it lost against the best answer to the same call.

Every distinct answer to a call is played on to the end by one policy, on the same draws; the regret
of the answer that was given is what the best of them earns more. Threads play compiled branches,
other processes those of a policy in Python; prices do not depend on who plays, nor in which order.
"""

from __future__ import annotations

import random
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field

from tradesbench_gym.core.branching import REJECT
from tradesbench_gym.errors import TradesBenchError
from tradesbench_gym.report.regret.crew import work_through
from tradesbench_gym.report.regret.kinds import Kind, Part
from tradesbench_gym.report.regret.outcomes import distinct
from tradesbench_gym.report.regret.playing import compiled_plan
from tradesbench_gym.report.regret.pricing import Price, Task
from tradesbench_gym.report.regret.proof import prove
from tradesbench_gym.report.regret.recorded import Recorded
from tradesbench_gym.report.runs import usable_cores


@dataclass(frozen=True)
class Sample:
    """Which part of the branches is played.

    Attributes:
        calls: how many calls, drawn without replacement; None: all.
        answers: how many answers to each beside the chosen one, likewise; None: all.
        seed: of these draws.

    """

    calls: int | None = None
    answers: int | None = None
    seed: int = 0


@dataclass
class Ask:
    """What is to be priced, and how.

    Attributes:
        policy: who plays on.
        sample: which part.
        all_technicians: see `outcomes.distinct`.
        workers: threads or processes; None: one for each usable core.
        begun: told how many branches there are, once that is known.
        done: told of branches played.

    """

    policy: str = "oracle"
    sample: Sample = field(default_factory=Sample)
    all_technicians: bool = False
    workers: int | None = None
    begun: Callable[[int], None] = lambda _count: None
    done: Callable[[int], None] = lambda _count: None


@dataclass(frozen=True)
class Prices:
    """The prices of a run.

    Attributes:
        recorded: the run.
        ask: what was to be priced, and how.
        of: the prices, by call.
        calls: how many calls were to be priced.
        seconds: how long that took, and how much processor time of this process.
        workers: how many threads or processes played.
        compiled: whether compiled code played, by threads.

    """

    recorded: Recorded
    ask: Ask
    of: list[Price]
    calls: int
    seconds: tuple[float, float]
    workers: int
    compiled: bool

    @property
    def branches(self) -> int:
        """How many branches were played."""
        return sum(price.tried for price in self.of)

    @property
    def complete(self) -> bool:
        """Whether every call was priced by every distinct answer."""
        whole = self.ask.sample == Sample(seed=self.ask.sample.seed)
        return whole and len(self.of) == len(self.recorded.answers)

    @property
    def regret(self) -> int:
        """Sum of the regrets, in cents; see docs/regret.md for what it is not."""
        return sum(price.regret for price in self.of)

    @property
    def policy_profit(self) -> int | None:
        """Profit of the policy's own run from the first call on, in cents; None if that call was
        not priced.
        """
        return self.of[0].following if self.of and self.of[0].call == 0 else None

    def by_kind(self) -> dict[Kind, list[Price]]:
        """The prices of each kind there is, the most expensive kind first; those that lost nothing
        are left out.
        """
        found: dict[Kind, list[Price]] = {}
        for price in self.of:
            if price.kind != Kind.NONE:
                found.setdefault(price.kind, []).append(price)
        return dict(sorted(found.items(), key=lambda pair: -sum(p.regret for p in pair[1])))

    def by_part(self) -> dict[Part, int]:
        """Where the sum of the regrets lies, in cents."""
        return {part: sum(price.comparison.parts[part] for price in self.of) for part in Part}

    def worst(self, count: int) -> list[Price]:
        """The answers that lost most, first the earlier of equal ones."""
        lost = [price for price in self.of if price.regret > 0]
        return sorted(lost, key=lambda price: (-price.regret, price.call))[:count]


class Interrupted(TradesBenchError):  # noqa: N818 - what happened, and no fault
    """Somebody stopped the pricing; `prices` holds what was priced until then."""

    def __init__(self, prices: Prices) -> None:
        super().__init__("interrupted", code="interrupted")
        self.prices = prices


def price(recorded: Recorded, ask: Ask | None = None) -> Prices:
    """Price the answers of a run.

    Raises:
        PolicyError: no such policy, or one that failed in a branch.
        StateError: the branches of the run do not lead where the run went.
        Interrupted: Ctrl-C; with what was priced until then.

    """
    wanted = ask or Ask()
    business, states = recorded.business, recorded.states
    plan = compiled_plan(business, wanted.policy)
    prove(recorded)
    tasks = list(tasks_of(recorded, wanted))
    wanted.begun(sum(len(task.answers) for task in tasks))
    begun = time.perf_counter(), time.process_time()
    workers = max(1, min(wanted.workers or usable_cores(), len(tasks)))
    found: list[Price] = []
    stopped = False
    try:
        for priced in work_through(business, states, wanted.policy, plan, tasks, workers):
            found.append(priced)
            wanted.done(priced.tried)
    except KeyboardInterrupt:
        stopped = True
    spent = time.perf_counter() - begun[0], time.process_time() - begun[1]
    found.sort(key=lambda one: one.call)
    prices = Prices(recorded, wanted, found, len(tasks), spent, workers, plan is not None)
    if stopped:
        raise Interrupted(prices)
    return prices


def tasks_of(recorded: Recorded, ask: Ask) -> Iterator[Task]:
    """The calls to be priced, and the answers to be tried on each."""
    draws, sample = random.Random(ask.sample.seed), ask.sample  # noqa: S311 - a sample, no secret
    calls = range(len(recorded.answers))
    drawn: Sequence[int] = calls
    if sample.calls is not None and sample.calls < len(calls):
        drawn = sorted(draws.sample(calls, sample.calls))
    for call in drawn:
        choice = distinct(recorded, call, all_technicians=ask.all_technicians)
        answers = choice.answers
        others = [answer for answer in answers if answer not in (choice.chosen, REJECT)]
        if sample.answers is not None and sample.answers < len(others):
            tried = {choice.chosen, int(REJECT), *draws.sample(others, sample.answers)}
            answers = tuple(answer for answer in answers if answer in tried)
        yield Task(choice, answers)
