"""A walk over the answers of a run that looks at how the whole run ends: simulated annealing.

One answer of the present run is changed for another, the run is played to its end on the same
draws, and the change is kept if not too much is lost; how much that may be, and which answers are
tried, comes from outside, so that no draw and no exponential is made here. It belongs to a search
in hindsight and to no policy.
"""

from __future__ import annotations

import numpy as np

from tradesbench_gym.core.branching import (
    CODES,
    REJECT,
    Bytes,
    Whole,
    find_outcomes,
    give_answer,
    scripted,
)
from tradesbench_gym.core.codes import Stop, code
from tradesbench_gym.core.engine import Metres, Runs
from tradesbench_gym.core.jit import kernel, rule
from tradesbench_gym.core.layout import Int, Record
from tradesbench_gym.core.machine import borrowed
from tradesbench_gym.core.rules.calls import Pool
from tradesbench_gym.core.step import play_on

_ENDED = code(Stop.ENDED)
NOW, BEST, KEPT = 0, 1, 2
"""What a walk tells: cash of the present run and of the best, in cents, and changes kept."""


@kernel
def anneal(
    start: Runs,
    script: Whole,
    best: Whole,
    picks: Whole,
    losses: Whole,
    wanted: Int,
    params: Runs,
    pool: Pool,
    metres: Metres,
    present: Runs,
    trial: Runs,
    log: Runs,
    desk: Runs,
    plan: Runs,
    mornings: Bytes,
    told: Whole,
) -> None:
    """Walk from a script, a step for each pick.

    Args:
        start: the run at its start, shape (1,), untouched.
        script: answers, shape (days, *SCRIPT_OF_A_DAY); afterwards those of the present run.
        best: gets the script of the best run met, if it is better than told[BEST].
        picks: which call and which answer to try, whatever whole numbers, shape (steps, 2).
        losses: what a change may lose and still be kept, in cents, shape (steps,).
        wanted: bits of `branching.outcomes` that an offer must have to be tried.
        params: of the business.
        pool: of its map.
        metres: of its map.
        present: a run of this thread alone; afterwards the present run at its end.
        trial: another such buffer.
        log: another.
        desk: another.
        plan: the oracle's settings, for calls that the script does not know.
        mornings: a buffer for the run at the first call of each day, shape (days, bytes of a run).
        told: by `NOW`, `BEST` and `KEPT`; the best so far goes in.

    """
    start, script, present, trial = (
        borrowed(start),
        borrowed(script),
        borrowed(present),
        borrowed(trial),
    )
    params, pool, metres = borrowed(params), borrowed(pool), borrowed(metres)
    log, desk, plan, mornings = borrowed(log), borrowed(desk), borrowed(plan), borrowed(mornings)
    p, here, there = params[0], present.view(np.uint8), trial.view(np.uint8)
    nothing = mornings[:0]
    found = np.zeros(CODES, np.int64)
    here[:] = start.view(np.uint8)
    _follow(present[0], p, pool, metres, log[0], desk[0], plan[0], script, here, mornings)
    _note(present[0], script, best, told)
    for step in range(picks.shape[0]):
        run = present[0]
        if run["n_calls"] == 0:
            return
        number = np.int64(picks[step, 0] % run["n_calls"])
        call = run["calls"][number]
        day, stream, index = call["from_day"], call["stream"], call["from_index"]
        before = np.int64(script[day, stream, index])
        find_outcomes(run, p, number, found)
        script[day, stream, index] = _pick(found, wanted, picks[step, 1])
        if script[day, stream, index] == before:
            continue
        there[:] = mornings[day]
        _follow(trial[0], p, pool, metres, log[0], desk[0], plan[0], script, there, nothing)
        if trial[0]["cash"] < told[NOW] - losses[step]:
            script[day, stream, index] = before
            continue
        here[:] = mornings[day]
        _follow(run, p, pool, metres, log[0], desk[0], plan[0], script, here, mornings)
        told[KEPT] += 1
        _note(run, script, best, told)


@rule
def _pick(found: Whole, wanted: Int, chance: Int) -> np.int64:
    """One of the answers there are: turning the caller away, or an offer with the bits wanted."""
    count = np.int64(1)
    for answer in range(1, CODES):
        if found[answer] & wanted == wanted:
            count += 1
    left = np.int64(chance % count)
    for answer in range(1, CODES):
        if left > 0 and found[answer] & wanted == wanted:
            left -= 1
            if left == 0:
                return np.int64(answer)
    return np.int64(REJECT)


@rule
def _note(run: Record, script: Whole, best: Whole, told: Whole) -> None:
    told[NOW] = run["cash"]
    if told[NOW] > told[BEST]:
        told[BEST] = told[NOW]
        best[:] = script


@rule
def _follow(
    run: Record,
    p: Record,
    pool: Pool,
    metres: Metres,
    log: Record,
    desk: Record,
    plan: Record,
    script: Whole,
    content: Bytes,
    mornings: Bytes,
) -> None:
    """Play a run on to its end as a script says, noting its bytes at the first call of each day."""
    log["count"] = 0
    while True:
        number = np.int64(run["line"])
        if number >= 0:
            if mornings.shape[0] > 0 and run["due_next"] == 1:
                mornings[run["day"]] = content
            answer = scripted(run, script, number)
            give_answer(run, p, metres, log, desk, plan, answer)
        stop = play_on(run, p, pool, metres, log)
        log["count"] = 0
        if stop == _ENDED:
            return
