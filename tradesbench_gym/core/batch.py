"""Many runs in one call, for a learner's batch: begin them, or answer each one's call and play on.

A call covers a slice of an array of runs, so that one thread a core can take a slice each: beside
what is read only, slices share nothing but a few counters, by which a thread that is done begins
runs of another's slice. Events are not kept, and a slice fills one desk for run after run. The
rules are those of a single run; nothing here knows more than `core/step.py`.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from tradesbench_gym.core.codes import Stop, code
from tradesbench_gym.core.desk import fill_ahead
from tradesbench_gym.core.engine import Metres, Runs, start_run
from tradesbench_gym.core.jit import inlined, kernel, rule
from tradesbench_gym.core.layout import MAX_ZONES, NONE, Int, Record
from tradesbench_gym.core.machine import add_shared, borrowed, fetch
from tradesbench_gym.core.observe import Masks, copy_mask, write_out
from tradesbench_gym.core.parts import Where, Words
from tradesbench_gym.core.rules.calendar import refusal
from tradesbench_gym.core.rules.calls import Pool, fetch_caller, look_up
from tradesbench_gym.core.step import (
    NO_ANSWER,
    REFUSED,
    REJECTED,
    answer_call,
    not_let_out,
    play_unseen,
    refusal_number,
)
from tradesbench_gym.core.tally import tally_run

Whole = npt.NDArray[np.int64]
Seeds = npt.NDArray[np.uint64]
Flags = npt.NDArray[np.bool_]
Tasks = npt.NDArray[np.int8]

ANSWER, BEGIN, LEAVE = np.int8(0), np.int8(1), np.int8(2)
"""What a step does with a run: answer its call, begin it anew, or nothing."""

OUTCOMES = 5
ANSWERED, TOLD, REFUSED_AS, KNOWN_AS, CARRIED = (np.int64(row) for row in range(OUTCOMES))
"""Rows of what became of the last answer of each run, int64, shape (OUTCOMES, runs): the answer as
`core.step` tells it; the same for people, to whom what was not let out is REJECTED, see NOT_TOLD;
its `refusal_number`, 0 where it was let out; what the caller knows that number by, -1 where not
yet and 0 where it was let out; the cents that the days before the first call cost, for the next
reward.
"""
NOT_TOLD = np.int64(4)
"""Of a run that was begun anew: nothing was answered."""

_EVENTS_FULL, _ENDED = code(Stop.EVENTS_FULL), code(Stop.ENDED)
_ONE = np.int64(1)
_CENTS = 100.0
_LOOKS_A_RUN = np.int64(100)


@kernel
def step(
    runs: Runs,
    tasks: Tasks,
    own: Int,
    edges: Whole,
    taken: Whole,
    params: Runs,
    pool: Pool,
    metres: Metres,
    log: Runs,
    desk: Runs,
    seeds: Seeds,
    salt: np.uint64,
    actions: Whole,
    where: Where,
    masks: Masks,
    words: Words,
    outcomes: Whole,
    known: npt.NDArray[np.int32],
    rewards: npt.NDArray[np.float64],
    ended: Flags,
    counts: Whole,
    played: Whole,
    steps: Whole,
    awaited: Int,
) -> bool:
    """Do with each run of a slice what `tasks` says: begin it anew from its seed, or answer its
    call with its row of `actions`, shape (runs, 4); play it on to its next call or its end, and
    write what it shows and its outcome; of an answered one also its reward in dollars, whether it
    has ended and what it then came to, a column of `counts`. `core.step.step` for many.

    Slice s is the runs from `edges[s]` on, up to `edges[s + 1]`. The thread of slice `own` answers
    its calls. Runs to be begun, which take as long as ten answers and come at random, are shared
    by the threads: of slice s, `taken[s]` are another's already.

    What is `known` of a refusal by its number, 0 where nothing is, goes into its outcome.

    A thread that finds nothing left to do adds one to the slices `played`, shape (1,), and touches
    nothing of the step from then on: a step is over when all have. Before it returns it waits
    awake, but not for longer than a slice takes: in slice 0 until as many slices as `awaited` are
    played, in others until the `steps` begun so far, shape (1,), which slice 0 counts, have come to
    what is `awaited`. Whether it came.
    """
    runs, params, pool, metres = borrowed(runs), borrowed(params), borrowed(pool), borrowed(metres)
    log, desk, where, words = borrowed(log), borrowed(desk), borrowed(where), borrowed(words)
    masks, actions, outcomes = borrowed(masks), borrowed(actions), borrowed(outcomes)
    known, rewards, ended = borrowed(known), borrowed(rewards), borrowed(ended)
    counts, edges, taken = borrowed(counts), borrowed(edges), borrowed(taken)
    first, until = edges[own], edges[own + 1]
    if own == 0:
        add_shared(steps, np.int64(1))
    waits = NONE  # whose caller the map's memory is still coming for
    for i in range(first, until):
        _fetch_next(runs, i + 1, until)
        if tasks[i] != ANSWER:
            continue
        cents, stop = _answer(runs[i], params[0], metres, log[0], actions[i], known, outcomes[:, i])
        rewards[i] = cents / _CENTS
        if stop == _ENDED:
            ended[i] = True
            tally_run(runs[i], params[0]["handbook"], counts[:, i])
        fetch_caller(runs[i], pool)
        if waits >= 0:
            _show(runs, waits, pool, desk[0], outcomes[ANSWERED, waits], where, masks, words)
        waits = np.int64(i)
    if waits >= 0:
        _show(runs, waits, pool, desk[0], outcomes[ANSWERED, waits], where, masks, words)
    slices = np.int64(taken.shape[0])
    for turn in range(slices):
        of = (own + turn) % slices
        next_taken, fresh = add_shared(taken[of:], np.int64(1)), np.int64(0)
        for i in range(edges[of], edges[of + 1]):
            if tasks[i] != BEGIN:
                continue
            if fresh == next_taken:
                _begin(runs, i, params[0], metres, log[0], seeds[i], salt, outcomes[:, i])
                _show(runs, i, pool, desk[0], outcomes[ANSWERED, i], where, masks, words)
                next_taken = add_shared(taken[of:], np.int64(1))
            fresh += 1
    add_shared(played, np.int64(1))
    return _wait_awake(played if own == 0 else steps, np.int64(awaited), until - first)


@inlined
def _wait_awake(counter: Whole, count: Int, runs: Int) -> bool:
    """Whether a counter comes to so many before a thread could have played so many runs: to sleep
    until another thread has ended takes as long as forty.
    """
    for _ in range(_LOOKS_A_RUN * runs):  # noqa: SIM110 - kernels know no generator
        if add_shared(counter, np.int64(0)) >= count:
            return True
    return False


@kernel
def all_played(played: Whole, count: Int) -> bool:
    """Whether so many slices have been played."""
    return bool(add_shared(played, np.int64(0)) >= count)


@rule
def _begin(
    runs: Runs,
    i: Int,
    p: Record,
    metres: Metres,
    log: Record,
    seed: np.uint64,
    salt: np.uint64,
    outcome: Whole,
) -> None:
    """Begin a run anew and play it on to its first call."""
    _wipe(runs, i)
    run = runs[i]
    start_run(run, p, seed, salt)
    before = np.int64(run["cash"])
    _play_on(run, p, metres, log)
    outcome[ANSWERED] = REFUSED
    outcome[TOLD] = NOT_TOLD
    outcome[REFUSED_AS] = 0
    outcome[KNOWN_AS] = 0
    outcome[CARRIED] = np.int64(run["cash"]) - before


@inlined
def _answer(
    run: Record,
    p: Record,
    metres: Metres,
    log: Record,
    action: Whole,
    known: npt.NDArray[np.int32],
    outcome: Whole,
) -> tuple[np.int64, np.int64]:
    """Answer the call of a run and play it on to the next: the change of cash in cents since the
    last answer, and the stop.
    """
    before = np.int64(run["cash"]) - np.int64(outcome[CARRIED])
    log["count"] = 0
    answer = np.int64(REFUSED)
    if run["line"] >= 0:  # a run may end before its first call, and has a step even so
        answer = answer_call(run, p, metres, log, action)
    stop = _play_on(run, p, metres, log)
    outcome[ANSWERED] = answer
    outcome[TOLD] = max(answer, np.int64(REJECTED))
    number = _refusal(p["handbook"], answer, action) if answer < 0 else np.int64(0)
    outcome[REFUSED_AS] = number
    outcome[KNOWN_AS] = number
    if number > 0:
        outcome[KNOWN_AS] = known[number] if known[number] != 0 else NONE
    outcome[CARRIED] = 0
    return np.int64(run["cash"]) - before, stop


@rule
def _refusal(book: Record, answer: Int, action: Whole) -> np.int64:
    technicians, days = np.int64(book["technicians"]), np.int64(book["booking_days"])
    sizes = (technicians, days, np.int64(book["windows"]))
    return np.int64(refusal_number(sizes, answer, action))


@inlined
def _wipe(runs: Runs, i: Int) -> None:
    """Make a run blank: calls that never rang, nine tenths of it, are blank already."""
    size, calls = np.int64(runs.itemsize), runs[i]["calls"]
    start = np.int64(i) * size
    unused = (calls.shape[0] - np.int64(runs[i]["n_calls"])) * np.int64(calls.itemsize)
    runs.view(np.uint8)[start : start + size - unused] = 0


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
        fetch(runs[i + 1]["route"], np.int64(0))
    if i < until:
        run = runs[i]
        fetch(run["technicians"], np.int64(0))
        fetch(run["forecast"]["high"], np.int64(0))
        fetch(run["forecast"]["condition"], np.int64(0))
        fetch(run["days"], np.int64(0))
        fetch(run["due"][np.int64(run["due_next"]) :], np.int64(0))
        fetch(run["calls"], np.int64(run["n_calls"]))
        today = np.int64(run["day"])
        fetch(run["sky"][today], np.int64(0))
        fetch(run["sky"][today], np.int64(MAX_ZONES - 1))


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
    pool: Pool,
    desk: Runs,
    lasts: Whole,
    where: Where,
    masks: Masks,
    words: Words,
) -> None:
    """Write what the chosen runs show now."""
    runs, pool, desk = borrowed(runs), borrowed(pool), borrowed(desk)
    where, words = borrowed(where), borrowed(words)
    for i in range(runs.shape[0]):
        _fetch_next(runs, np.int64(i) + 1, np.int64(runs.shape[0]))
        if chosen[i]:
            _show(runs, i, pool, desk[0], lasts[i], where, masks, words)


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
