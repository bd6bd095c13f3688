"""A batch of runs in memory, and the threads that play slices of it: the records, and one call of
`core/batch.py` for each slice.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from functools import partial
from time import perf_counter
from typing import Any

import numpy as np
import numpy.typing as npt

from tradesbench_gym.company.business import Business
from tradesbench_gym.core import batch
from tradesbench_gym.core import desk as filling
from tradesbench_gym.core.engine import start
from tradesbench_gym.core.jit import COMPILED
from tradesbench_gym.core.layout import LOG
from tradesbench_gym.core.tally import COLUMNS
from tradesbench_gym.envs.crew import Crew

LEAST_SLICE = 64
"""Runs for which another thread is worth waking."""

_HASTE_SECONDS = 500e-6
"""A loop that only steps has some 200 µs of Python between two of them."""

# As any function: a checker cannot count arguments given as tuples.
_step: Callable[..., bool] = batch.step

Flags = npt.NDArray[np.bool_]
Whole = npt.NDArray[np.int64]
Rows = npt.NDArray[np.int32]


class Slices:
    """The runs of a batch.

    Args:
        business: what the runs are of.
        count: how many.
        threads: how many at most play slices of them at once.

    Attributes:
        runs: the whole states, dtype RUN, shape (count,).
        outcomes: of the last step of each run, see `core.batch`, int64, shape (OUTCOMES, count).
        seeds: of the next run to be begun in each place, uint64, shape (count,).
        torn: whether the last step was broken off, and perhaps not all runs have answered.

    """

    def __init__(self, business: Business, count: int, threads: int) -> None:
        self.business = business
        self.runs = np.zeros(count, business.run_dtype)
        # A run that nobody has begun is looked at as one that waits to be opened.
        start(self.runs, 0, business.params, np.uint64(0), np.uint64(0))
        content = self.runs.view(np.uint8).reshape(count, -1)
        content[1:] = content[0]
        self.outcomes = np.zeros((batch.OUTCOMES, count), np.int64)
        self.seeds = np.zeros(count, np.uint64)
        self.torn = False
        self._threads = max(1, min(threads, count // LEAST_SLICE)) if COMPILED else 1
        self._open()

    def _open(self) -> None:
        # Each thread has its own runs, whose memory then stays in its core's cache.
        self._edges = np.linspace(0, len(self.runs), self._threads + 1).astype(np.int64)
        # Each thread has a log and a desk to itself, which it uses for run after run.
        self._logs = [np.zeros(1, LOG) for _ in range(self._threads)]
        self._desks = [self.business.new_desks() for _ in range(self._threads)]
        self._steps = np.zeros(1, np.int64)  # begun so far, as threads that stay awake see them
        self._last_ended = 0.0
        self._crew: Crew | None = None
        self._closed = False
        self._process = os.getpid()

    def __getstate__(self) -> dict[str, Any]:
        kept = ("business", "runs", "outcomes", "seeds", "torn", "_threads")
        return {name: getattr(self, name) for name in kept}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state)
        self._open()

    def begin(self, chosen: Flags, salt: np.uint64, where: Whole, words: Any) -> None:
        """Begin the chosen runs anew."""
        tasks = np.where(chosen, batch.BEGIN, batch.LEAVE)
        nothing = (np.empty((0, 4), np.int64), np.empty(0, np.int32), np.empty(0))
        no_ends = np.empty(0, np.bool_), np.empty((len(COLUMNS), 0), np.int64)
        self._play(tasks, salt, where, words, *nothing, *no_ends)

    def step(
        self, fresh: Flags, actions: Whole, known: Rows, where: Whole, words: Any
    ) -> tuple[npt.NDArray[np.float64], Flags, Whole]:
        """Begin the fresh runs anew as open ones; answer the call of all others and play on.

        Returns each run's reward in dollars, whether it has ended, and what it then came to, shape
        (columns of `core.tally`, runs); zeroes where it goes on, and of the fresh.
        """
        count = len(fresh)
        tasks = fresh.view(np.int8)  # BEGIN or ANSWER
        rewards, ended = np.zeros(count), np.zeros(count, np.bool_)
        counts = np.zeros((len(COLUMNS), count), np.int64)
        self._play(tasks, np.uint64(0), where, words, actions, known, rewards, ended, counts)
        return rewards, ended, counts

    def _play(
        self, tasks: Any, salt: np.uint64, where: Whole, words: Any, actions: Whole, *results: Any
    ) -> None:
        """Play the slices, see `core.batch.step`."""
        b, slices, steps = self.business, self._threads, self._steps
        taken, played = np.zeros(slices, np.int64), np.zeros(1, np.int64)
        arrays = self._edges, taken, b.params, b.pool, b.metres
        rest = self.seeds, salt, actions, where, b.masks, words, self.outcomes, *results

        def one(own: int, awaited: int) -> bool:
            log, desk = self._logs[own], self._desks[own]
            return _step(self.runs, tasks, own, *arrays, log, desk, *rest, played, steps, awaited)

        crew = self._helpers()
        if self.torn and crew is not None:
            crew.settle()  # a second Ctrl-C may have kept the last step from waiting for helpers
        self.torn = True
        next_step = int(steps[0]) + 2 if self._in_haste() else 0
        try:
            if crew is None:
                for own in range(slices):
                    one(own, 0)
                return
            try:
                crew.hand_out([partial(one, own, next_step) for own in range(1, slices)])
                if not one(0, slices):
                    crew.wait_until(lambda: batch.all_played(played, slices))
            except BaseException:  # whatever happens, nobody plays on behind the caller's back
                crew.settle()
                raise
        finally:
            self.torn, self._last_ended = bool(played[0] != slices), perf_counter()

    def _in_haste(self) -> bool:
        """Whether this step followed the last at once, as the next then may: threads stay awake for
        it. A learner who thinks in between wants the cores himself.
        """
        return perf_counter() - self._last_ended < _HASTE_SECONDS

    def _helpers(self) -> Crew | None:
        if self._threads == 1 or self._closed:
            return None
        if self._crew is None or self._process != os.getpid():  # threads do not live in a fork
            self._crew, self._process = Crew(self._threads - 1), os.getpid()
        return self._crew

    def show(self, chosen: Flags, where: Whole, words: Any) -> None:
        """Write what the chosen runs show now; see `core.batch.show`."""
        lasts = self.outcomes[batch.ANSWERED].copy()
        arrays = self.business.pool, self._desks[0], lasts, where, self.business.masks, words
        batch.show(self.runs, chosen, *arrays)

    def desk(self, i: int) -> npt.NDArray[np.void]:
        """What the dispatcher of run i may know now."""
        desks = self.business.new_desks()
        filling.fill(self.runs, i, desks, 0)
        return desks

    def legal(self, found: npt.NDArray[np.int8]) -> None:
        """Write which offers are let out in each run, shape (runs, slots)."""
        batch.legal(self.runs, self.business.params, self.business.masks, found)

    def services(self) -> Whole:
        """The service asked for on each line; -1 without a call."""
        lines = self.runs["line"]
        asked = self.runs["calls"]["service"][np.arange(len(lines)), np.maximum(lines, 0)]
        return np.where(lines < 0, -1, asked).astype(np.int64)

    def why_refused(self, actions: Whole) -> Whole:
        """What a step would answer to offers that are not let out, below zero; elsewhere 0."""
        why = np.zeros(len(self.runs), np.int64)
        batch.why_refused(self.runs, self.business.params, actions, why)
        return why

    def close(self) -> None:
        """Let the threads go; whoever plays on does it alone."""
        self._closed = True
        crew, self._crew = self._crew, None
        if crew is not None and self._process == os.getpid():
            crew.close()
