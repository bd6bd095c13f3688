"""Whoever plays the branches: threads for compiled ones, other processes for a policy in Python.

A call is priced by whoever is free; the prices are the same. It knows how work is shared out and
nothing of what a price is made of.
"""

from __future__ import annotations

import os
import signal
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import (
    Executor,
    ProcessPoolExecutor,
    ThreadPoolExecutor,
    as_completed,
)
from concurrent.futures.process import BrokenProcessPool
from functools import partial
from multiprocessing import get_context
from multiprocessing.synchronize import Event

from tradesbench_gym.company.business import Business
from tradesbench_gym.core.codecache import QUIET
from tradesbench_gym.errors import TradesBenchError
from tradesbench_gym.report.regret.playing import CompiledPlayer, PolicyPlayer
from tradesbench_gym.report.regret.pricing import Price, Task, price_call
from tradesbench_gym.report.regret.recorded import States
from tradesbench_gym.report.runs import deaf_to_interrupts


def work_through(
    business: Business,
    states: States,
    policy: str,
    plan: States | None,
    tasks: Sequence[Task],
    workers: int,
) -> Iterator[Price]:
    """Price calls, in the order in which they are done.

    Args:
        business: what the run is of.
        states: how it stood at each call.
        policy: who plays on.
        plan: its settings, if compiled code can play as it does.
        tasks: the calls.
        workers: threads or processes.

    Raises:
        PolicyError: the policy failed in a branch.
        TradesBenchError: a worker process died.

    """
    if plan is not None:
        player = CompiledPlayer(business, states, plan)
        work = partial(price_call, player, business.handbook)
        yield from _in_turn(ThreadPoolExecutor(workers), work, tasks)
    elif workers == 1:
        alone = PolicyPlayer(business, states, policy)
        for task in tasks:
            yield price_call(alone, business.handbook, task)
    else:
        yield from _with_processes(business, states, policy, tasks, workers)


def _with_processes(
    business: Business, states: States, policy: str, tasks: Sequence[Task], workers: int
) -> Iterator[Price]:
    context = get_context("spawn")
    stop = context.Event()
    pool = ProcessPoolExecutor(workers, context, _begin, (business, states, policy, stop))
    try:
        yield from _in_turn(pool, _price, tasks, stop.set)
    except BrokenProcessPool:
        raise TradesBenchError(
            "a worker process died before its branches were played; try --workers 1",
            code="worker_died",
            field="workers",
        ) from None


def _in_turn(
    pool: Executor,
    work: Callable[[Task], Price],
    tasks: Sequence[Task],
    leave: Callable[[], None] = lambda: None,
) -> Iterator[Price]:
    try:
        with deaf_to_interrupts():  # what is started here leaves Ctrl-C to this process
            futures = [pool.submit(work, task) for task in tasks]
        for future in as_completed(futures):
            yield future.result()
    finally:
        leave()
        pool.shutdown(wait=True, cancel_futures=True)


_player: PolicyPlayer | None = None
_business: Business | None = None


def _begin(business: Business, states: States, policy: str, stop: Event) -> None:
    """Set up a worker, once for all its calls."""
    global _player, _business
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    os.environ[QUIET] = "1"  # whoever waits is told by the first process
    _player, _business = PolicyPlayer(business, states, policy, stop.is_set), business


def _price(task: Task) -> Price:
    if _player is None or _business is None:
        raise RuntimeError("this worker was never set up")
    return price_call(_player, _business.handbook, task)
