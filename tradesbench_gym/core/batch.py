"""Many runs in one call, for a learner's batch: begin them, or answer each one's call and play on.

A call covers a slice of an array of runs, so that one thread a core can take a slice each: the
slices share nothing but what is read only. Events are not kept, and a slice fills one desk for run
after run. The rules are those of a single run; nothing here knows more than `core/step.py`.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from tradesbench_gym.core.codes import Stop, code
from tradesbench_gym.core.desk import fill_ahead
from tradesbench_gym.core.engine import Metres, Runs, start_run
from tradesbench_gym.core.jit import borrowed, fetch, inlined, kernel
from tradesbench_gym.core.layout import NONE, Int, Record
from tradesbench_gym.core.observe import Masks, copy_mask, write_out
from tradesbench_gym.core.parts import Where, Words
from tradesbench_gym.core.rules.calendar import refusal
from tradesbench_gym.core.rules.calls import Pool, fetch_caller, look_up
from tradesbench_gym.core.step import NO_ANSWER, REFUSED, answer_call, not_let_out, play_unseen

Whole = npt.NDArray[np.int64]
Seeds = npt.NDArray[np.uint64]
Flags = npt.NDArray[np.bool_]

_EVENTS_FULL = code(Stop.EVENTS_FULL)
_ONE = np.int64(1)


@kernel
def begin(
    runs: Runs,
    chosen: Flags,
    first: Int,
    until: Int,
    params: Runs,
    pool: Pool,
    metres: Metres,
    log: Runs,
    desk: Runs,
    seeds: Seeds,
    salt: np.uint64,
    where: Where,
    masks: Masks,
    words: Words,
    stops: Whole,
    cents: Whole,
) -> None:
    """Begin the chosen runs of a slice anew, play each on to its first call, and write what it
    shows, its stop and its change of cash until then.
    """
    runs, params, pool, metres = borrowed(runs), borrowed(params), borrowed(pool), borrowed(metres)
    log, desk, where, words = borrowed(log), borrowed(desk), borrowed(where), borrowed(words)
    masks = borrowed(masks)
    for i in range(first, until):
        if chosen[i]:
            _wipe(runs, i)
            run = runs[i]
            start_run(run, params[0], seeds[i], salt)
            before = np.int64(run["cash"])
            stops[i] = _play_on(run, params[0], metres, log[0])
            cents[i] = np.int64(run["cash"]) - before
            _show(runs, i, pool, desk[0], np.int64(REFUSED), where, masks, words)


@inlined
def _wipe(runs: Runs, i: Int) -> None:
    """Make a run blank: calls that never rang, nine tenths of it, are blank already."""
    size, calls = np.int64(runs.itemsize), runs[i]["calls"]
    start = np.int64(i) * size
    unused = (calls.shape[0] - np.int64(runs[i]["n_calls"])) * np.int64(calls.itemsize)
    runs.view(np.uint8)[start : start + size - unused] = 0


@kernel
def step(
    runs: Runs,
    chosen: Flags,
    first: Int,
    until: Int,
    params: Runs,
    pool: Pool,
    metres: Metres,
    log: Runs,
    desk: Runs,
    actions: Whole,
    where: Where,
    masks: Masks,
    words: Words,
    answers: Whole,
    stops: Whole,
    cents: Whole,
) -> None:
    """Answer the call of each chosen run of a slice with its row of `actions`, shape (runs, 4), and
    play on: `core.step.step` for many.
    """
    runs, params, pool, metres = borrowed(runs), borrowed(params), borrowed(pool), borrowed(metres)
    log, desk, where, words = borrowed(log), borrowed(desk), borrowed(where), borrowed(words)
    masks = borrowed(masks)
    actions = borrowed(actions)
    waits = NONE  # whose caller the map's memory is still coming for
    for i in range(first, until):
        _fetch_next(runs, i + 1, until)
        if chosen[i]:
            run = runs[i]
            before = np.int64(run["cash"])
            log[0]["count"] = 0
            answers[i] = REFUSED
            if run["line"] >= 0:  # a run may end before its first call, and has a step even so
                answers[i] = answer_call(run, params[0], metres, log[0], actions[i])
            stops[i] = _play_on(run, params[0], metres, log[0])
            cents[i] = np.int64(run["cash"]) - before
            fetch_caller(run, pool)
            if waits >= 0:
                _show(runs, waits, pool, desk[0], answers[waits], where, masks, words)
            waits = np.int64(i)
    if waits >= 0:
        _show(runs, waits, pool, desk[0], answers[waits], where, masks, words)


@inlined
def _show(
    runs: Runs,
    i: Int,
    pool: Pool,
    desk: Record,
    answer: Int,
    where: Where,
    masks: Masks,
    words: Words,
) -> None:
    """Look up the caller of a run, and write what it shows."""
    run = runs[i]
    look_up(run, pool)
    fill_ahead(run, desk)
    last = max(np.int64(answer), np.int64(REFUSED))
    write_out(desk, last, where, masks, np.int64(runs.shape[0]), i, words)


@inlined
def _fetch_next(runs: Runs, i: Int, until: Int) -> None:
    """Let the memory that a step of run i will need come in while another is played."""
    if i + 1 < until:  # where its own calls stand is read in the next round
        fetch(runs[i + 1]["ledger"], np.int64(0))
    if i < until:
        run = runs[i]
        fetch(run["technicians"], np.int64(0))
        fetch(run["route"], np.int64(0))
        fetch(run["forecast"]["high"], np.int64(0))
        fetch(run["forecast"]["condition"], np.int64(0))
        fetch(run["days"], np.int64(0))
        fetch(run["due"], np.int64(0))
        fetch(run["calls"], np.int64(run["n_calls"]))


@inlined
def _play_on(run: Record, p: Record, metres: Metres, log: Record) -> np.int64:
    """Play one run on to its next call or its end, letting go of its events."""
    stop = np.int64(_EVENTS_FULL)
    while stop == _EVENTS_FULL:
        log["count"] = 0
        stop = play_unseen(run, p, metres, log)
    return stop


@kernel
def show(
    runs: Runs,
    chosen: Flags,
    desk: Runs,
    lasts: Whole,
    where: Where,
    masks: Masks,
    words: Words,
) -> None:
    """Write what the chosen runs show now."""
    runs, desk, where, words = borrowed(runs), borrowed(desk), borrowed(where), borrowed(words)
    for i in range(runs.shape[0]):
        _fetch_next(runs, np.int64(i) + 1, np.int64(runs.shape[0]))
        if chosen[i]:
            fill_ahead(runs[i], desk[0])
            write_out(desk[0], lasts[i], where, masks, np.int64(runs.shape[0]), i, words)


@kernel
def legal(runs: Runs, params: Runs, masks: Masks, found: npt.NDArray[np.int8]) -> None:
    """Write 1 for each offer let out to the call on each line, shape (runs, slots), others 0."""
    runs, params, masks = borrowed(runs), borrowed(params), borrowed(masks)
    book = params[0]["handbook"]
    for i in range(runs.shape[0]):
        found[i] = 0
        run = runs[i]
        if run["line"] >= 0:
            service = np.int64(run["calls"][run["line"]]["service"])
            copy_mask(book, np.int64(run["clock"]), service, masks, found[i])


@kernel
def why_refused(runs: Runs, params: Runs, actions: Whole, why: Whole) -> None:
    """What `step` would answer where an offer is not let out, below zero; 0 where it is. Changes
    nothing.
    """
    for i in range(runs.shape[0]):
        run, action = runs[i], actions[i]
        why[i] = 0
        if run["line"] < 0 or action[0] == 0:
            continue
        found = np.int64(NO_ANSWER)
        if action[0] == _ONE:
            service = np.int64(run["calls"][run["line"]]["service"])
            book = params[0]["handbook"]
            found = refusal(book, run["clock"], service, action[1], action[2], action[3])
        if found != 0:
            why[i] = not_let_out(found, run["day"])
