"""A batch of runs in memory, and the threads that play slices of it: the records, and one call of
`core/batch.py` for each slice.
"""

from __future__ import annotations

import itertools
import os
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor, wait
from typing import Any

import numpy as np
import numpy.typing as npt

from tradesbench_gym.company.business import Business
from tradesbench_gym.core import batch
from tradesbench_gym.core import desk as filling
from tradesbench_gym.core.engine import start
from tradesbench_gym.core.layout import LOG
from tradesbench_gym.core.step import REFUSED
from tradesbench_gym.core.tally import COLUMNS, tally

LEAST_SLICE = 64
"""Runs for which another thread is worth waking."""

# As any function: a checker cannot count arguments given as tuples.
_begin: Callable[..., None] = batch.begin
_step: Callable[..., None] = batch.step

Flags = npt.NDArray[np.bool_]
Whole = npt.NDArray[np.int64]


class Slices:
    """The runs of a batch.

    Args:
        business: what the runs are of.
        count: how many.
        threads: how many at most play slices of them at once.

    Attributes:
        runs: the whole states, dtype RUN, shape (count,).
        answers, stops, cents: of the last step of each run, int64, shape (count,).

    """

    def __init__(self, business: Business, count: int, threads: int) -> None:
        self.business = business
        self.runs = np.zeros(count, business.run_dtype)
        # A run that nobody has begun is looked at as one that waits to be opened.
        start(self.runs, 0, business.params, np.uint64(0), np.uint64(0))
        content = self.runs.view(np.uint8).reshape(count, -1)
        content[1:] = content[0]
        self.answers, self.stops, self.cents = (np.zeros(count, np.int64) for _ in range(3))
        self._threads = max(1, min(threads, count // LEAST_SLICE))
        self._open()

    def _open(self) -> None:
        edges = np.linspace(0, len(self.runs), self._threads + 1).astype(int).tolist()
        self._edges = list(itertools.pairwise(edges))
        # Each slice has a log and a desk to itself, which it uses for run after run.
        self._logs = [np.zeros(1, LOG) for _ in self._edges]
        self._desks = [self.business.new_desks() for _ in self._edges]
        self._pool: ThreadPoolExecutor | None = None
        self._process = os.getpid()

    def __getstate__(self) -> dict[str, Any]:
        kept = ("business", "runs", "answers", "stops", "cents", "_threads")
        return {name: getattr(self, name) for name in kept}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state)
        self._open()

    def begin(
        self,
        chosen: Flags,
        seeds: npt.NDArray[np.uint64],
        salt: np.uint64,
        where: Whole,
        words: Any,
    ) -> None:
        """Begin the chosen runs anew; see `core.batch.begin`."""
        run_arrays, outcome = (
            self._arrays(),
            (where, self.business.masks, words, self.stops, self.cents),
        )

        def one(log: Any, desk: Any, first: int, until: int) -> None:
            _begin(self.runs, chosen, first, until, *run_arrays, log, desk, seeds, salt, *outcome)

        self._each(one)
        self.answers[chosen] = REFUSED

    def step(self, chosen: Flags, actions: Whole, where: Whole, words: Any) -> None:
        """Answer and play on in the chosen runs; see `core.batch.step`."""
        run_arrays = self._arrays()
        outcome = (where, self.business.masks, words, self.answers, self.stops, self.cents)

        def one(log: Any, desk: Any, first: int, until: int) -> None:
            _step(self.runs, chosen, first, until, *run_arrays, log, desk, actions, *outcome)

        self._each(one)

    def show(self, chosen: Flags, where: Whole, words: Any) -> None:
        """Write what the chosen runs show now; see `core.batch.show`."""
        lasts = np.maximum(self.answers, REFUSED)
        batch.show(self.runs, chosen, self._desks[0], lasts, where, self.business.masks, words)

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

    def tally(self, chosen: Flags) -> Whole:
        """What the chosen runs came to: shape (runs, columns of `core.tally`)."""
        counts = np.zeros((len(self.runs), len(COLUMNS)), np.int64)
        tally(self.runs, chosen, self.business.params, counts)
        return counts

    def why_refused(self, actions: Whole) -> Whole:
        """What a step would answer to offers that are not let out, below zero; elsewhere 0."""
        why = np.zeros(len(self.runs), np.int64)
        batch.why_refused(self.runs, self.business.params, actions, why)
        return why

    def close(self) -> None:
        """Let the threads go."""
        if self._pool is not None and self._process == os.getpid():
            self._pool.shutdown()
        self._pool = None

    def _arrays(self) -> tuple[Any, ...]:
        b = self.business
        return b.params, b.pool, b.metres

    def _each(self, one: Callable[[Any, Any, int, int], None]) -> None:
        slices = list(zip(self._logs, self._desks, *zip(*self._edges, strict=True), strict=True))
        if len(slices) == 1:
            one(*slices[0])
            return
        if self._pool is None or self._process != os.getpid():  # threads do not live in a fork
            self._pool, self._process = ThreadPoolExecutor(self._threads - 1), os.getpid()
        others = [self._pool.submit(one, *piece) for piece in slices[1:]]
        try:
            one(*slices[0])
        finally:
            wait(others)  # whatever happens, nobody plays on behind the caller's back
        for other in others:
            other.result()
