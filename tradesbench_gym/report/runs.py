"""Playing policies × seeds, in this process and in others; the results do not depend on how many.

A run depends on its policy and seed alone, so who plays it does not matter: this process plays from
the back of the list while workers, which take a second to start, play from the front. Whoever plays
by the form of `Executor` can take its place; `training.ray_runs` does, on a Ray cluster. It knows
no table and no figure of the report.
"""

from __future__ import annotations

import os
import signal
import threading
import time
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future, ProcessPoolExecutor, as_completed
from concurrent.futures.process import BrokenProcessPool
from contextlib import contextmanager
from dataclasses import dataclass
from multiprocessing import get_context
from multiprocessing.synchronize import Event
from typing import Protocol, Self, TypeAlias

from tradesbench_gym.company.business import Business
from tradesbench_gym.company.play import Results, play
from tradesbench_gym.company.simulation import Simulation
from tradesbench_gym.core.codecache import QUIET
from tradesbench_gym.core.codes import Entry
from tradesbench_gym.errors import PolicyError, TradesBenchError
from tradesbench_gym.policies.load import load_policy
from tradesbench_gym.policies.registry import Policy

Ticket: TypeAlias = tuple[str, int]
"""A policy and the seed of the run it plays."""
_LARGEST_CHUNK = 16
_CHUNKS_A_WORKER = 8
CHUNKS_AHEAD = 3
_START_SECONDS = 2.0
"""About what a worker takes to import, open the business and load the compiled rules."""
_FIXED = (Entry.BASE_PAY, Entry.ON_CALL_PAY, Entry.OVERHEAD)


@dataclass(frozen=True, slots=True)
class Played:
    """One finished run: who played it, what it came to, and its fixed costs.

    `fixed_costs` are base pay, on-call pay and overhead, in cents.
    """

    policy: str
    results: Results
    fixed_costs: int

    @property
    def bankrupt(self) -> bool:
        """Whether the company went bankrupt."""
        return self.results.bankrupt_on is not None


class Executor(Protocol):
    """Whoever plays policies × seeds: `play_all`, or another with the same results."""

    def __call__(
        self,
        business: Business,
        policies: Sequence[str],
        seeds: Sequence[int],
        *,
        workers: int | None = None,
        done: Callable[[int], None] = ...,
    ) -> list[Played]:
        """Play every policy on every seed, in order of policy, then seed; see `play_all`."""


class Loader(Protocol):
    """Makes the policy of a run from its name; see `policies.load.load_policy`."""

    def __call__(self, spec: str, *, seed: int = 0) -> Policy:
        """The policy, fresh for one run."""


def usable_cores() -> int:
    """Cores that this process may use."""
    try:
        return len(os.sched_getaffinity(0))
    except AttributeError:  # not on macOS and Windows
        return os.cpu_count() or 1


def play_all(
    business: Business,
    policies: Sequence[str],
    seeds: Sequence[int],
    *,
    workers: int | None = None,
    done: Callable[[int], None] = lambda _count: None,
) -> list[Played]:
    """Play every policy on every seed, in order of policy, then seed.

    Args:
        business: the company that all runs share.
        policies: names, with settings if any.
        seeds: numbers of runs.
        workers: processes that play, this one included; if not given, one for each usable core as
            soon as the runs left would take longer than starting them.
        done: told how many more runs have been played, in this process.

    Raises:
        PolicyError: an unknown policy or setting, found before anything is played; or a run that
            failed, named by policy and seed.
        TradesBenchError: a worker process died.

    """
    most = usable_cores() if workers is None else workers
    chunks = chunked(policies, seeds, most)
    player = Player(business)
    played = _alone_while_quicker(player, chunks, most, done) if workers is None else []
    rest = chunks[len(played) :]
    if most > 1 and len(rest) > 1:
        played += _play_together(player, business, rest, min(most, len(rest)) - 1, done)
    else:
        played += [player.play(chunk, done) for chunk in rest]
    return [run for chunk in played for run in chunk]


def chunked(policies: Sequence[str], seeds: Sequence[int], workers: int) -> list[list[Ticket]]:
    """All runs in order of policy, then seed, in pieces that keep a number of workers busy.

    Raises:
        PolicyError: an unknown policy or setting.

    """
    for policy in policies:
        load_policy(policy)
    tickets = [(policy, seed) for policy in policies for seed in seeds]
    size = max(1, min(_LARGEST_CHUNK, len(tickets) // (workers * _CHUNKS_A_WORKER)))
    return [tickets[start : start + size] for start in range(0, len(tickets), size)]


class Player:
    """Plays run after run in one simulation."""

    def __init__(
        self,
        business: Business,
        stopped: Callable[[], bool] = lambda: False,
        load: Loader = load_policy,
    ) -> None:
        self._simulation = Simulation(business=business)
        self._stopped = stopped
        self._load = load

    def play(
        self, chunk: Sequence[Ticket], done: Callable[[int], None] = lambda _count: None
    ) -> list[Played]:
        """Play a chunk in order, or the beginning of it when told to stop."""
        finished = []
        for policy, seed in chunk:
            if self._stopped():
                break
            finished.append(self._play_one(policy, seed))
            done(1)
        return finished

    def _play_one(self, policy: str, seed: int) -> Played:
        simulation = self._simulation
        try:
            simulation.restart(seed)
            results = play(simulation, self._load(policy, seed=seed))
        except TradesBenchError as error:
            sentence = f"{policy} on seed {seed}: {error.message}"
            raise PolicyError(sentence, code=error.code, field=error.field) from error
        ledger = simulation.record["ledger"]
        return Played(policy, results, -sum(int(ledger[entry]) for entry in _FIXED))


def _alone_while_quicker(
    player: Player, chunks: Sequence[list[Ticket]], cores: int, done: Callable[[int], None]
) -> list[list[Played]]:
    """Play from the front until other processes would save more time than starting them takes."""
    # The first chunk is not timed: it may compile the rules.
    played = [player.play(chunk, done) for chunk in chunks[:1]]
    begun = time.perf_counter()
    for count in range(1, len(chunks)):
        each = (time.perf_counter() - begun) / max(1, count - 1)
        if each * (len(chunks) - count) * (1 - 1 / cores) > _START_SECONDS:
            break
        played.append(player.play(chunks[count], done))
    return played


def _play_together(
    player: Player,
    business: Business,
    chunks: Sequence[list[Ticket]],
    others: int,
    done: Callable[[int], None],
) -> list[list[Played]]:
    waiting = deque(enumerate(chunks))
    played: dict[int, list[Played]] = {}
    with _Crew(business, others, done) as crew:
        with deaf_to_interrupts():
            crew.feed(waiting)

        def run_over(count: int) -> None:
            done(count)
            crew.feed(waiting)

        while waiting:
            index, chunk = waiting.pop()
            played[index] = player.play(chunk, run_over)
        played |= crew.finish()
    return [played[index] for index in range(len(chunks))]


class _Crew:
    """Other processes that play from the front of a queue, given a few chunks at a time."""

    def __init__(self, business: Business, size: int, done: Callable[[int], None]) -> None:
        context = get_context("spawn")
        self._stop = context.Event()
        self._pool = ProcessPoolExecutor(size, context, _begin, (business, self._stop))
        self._room = size * CHUNKS_AHEAD
        self._done = done
        self._futures: dict[int, Future[list[Played]]] = {}
        self._busy: set[Future[list[Played]]] = set()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: object, trace: object) -> None:
        self._stop.set()
        self._pool.shutdown(wait=True, cancel_futures=True)
        if kind is not None and issubclass(kind, BrokenProcessPool):
            raise TradesBenchError(
                "a worker process died before its runs were played; try --workers 1",
                code="worker_died",
                field="workers",
            )

    def feed(self, waiting: deque[tuple[int, list[Ticket]]]) -> None:
        """Give the processes work up to what they should have ahead; raises what a run raised."""
        for future in [future for future in self._busy if future.done()]:
            self._busy.remove(future)
            self._done(len(future.result()))
        while waiting and len(self._busy) < self._room:
            index, chunk = waiting.popleft()
            self._futures[index] = future = self._pool.submit(_play_chunk, chunk)
            self._busy.add(future)

    def finish(self) -> dict[int, list[Played]]:
        """Wait for what was given out; everything these processes have played, by its index."""
        for future in as_completed(self._busy):
            self._done(len(future.result()))
        return {index: future.result() for index, future in self._futures.items()}


@contextmanager
def deaf_to_interrupts() -> Iterator[None]:
    """Processes started here inherit that Ctrl-C is not for them: this one ends them in order."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    before = signal.signal(signal.SIGINT, signal.SIG_IGN)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)


_player: Player | None = None


def _begin(business: Business, stop: Event) -> None:
    """Set up a worker, once for all its chunks."""
    global _player  # noqa: PLW0603  # a worker's only place to keep something between chunks
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    os.environ[QUIET] = "1"  # whoever waits is told by the first process
    _player = Player(business, stop.is_set)


def _play_chunk(chunk: list[Ticket]) -> list[Played]:
    if _player is None:
        raise RuntimeError("this worker was never set up")
    return _player.play(chunk)
