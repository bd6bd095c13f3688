"""One step of a learner's environment in one compiled call: answer, play on, look."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from tradesbench_gym.core.codes import Stop, code
from tradesbench_gym.core.desk import fill_desk
from tradesbench_gym.core.engine import (
    ACCEPTED,
    Metres,
    Runs,
    acknowledge_in_run,
    advance_run,
    offer_to_run,
    turn_away_in_run,
)
from tradesbench_gym.core.jit import inlined, kernel
from tradesbench_gym.core.layout import NONE, Int, Record
from tradesbench_gym.core.machine import borrowed
from tradesbench_gym.core.observe import Masks, write_out
from tradesbench_gym.core.parts import Where, Words
from tradesbench_gym.core.rules.calls import Pool, look_up

_NEW_CALL, _ENDED, _EVENTS_FULL = code(Stop.NEW_CALL), code(Stop.ENDED), code(Stop.EVENTS_FULL)
_CANCELLATION = code(Stop.CANCELLATION)
REFUSED = 0
REJECTED = 1
WAS_DECLINED = 2
WAS_ACCEPTED = 3
NO_ANSWER = np.int64(15)
"""In place of a `Refusal`: the answer was neither accept (1) nor reject (0)."""
REFUSALS = 16
"""What was not let out is told as -(refusal + REFUSALS * day of the call), one number."""


@kernel
def step(
    runs: Runs,
    i: Int,
    params: Runs,
    pool: Pool,
    metres: Metres,
    logs: Runs,
    desks: Runs,
    action: npt.NDArray[np.int64],
    last: Int,
    where: Where,
    masks: Masks,
    words: Words,
) -> tuple[np.int64, np.int64, np.int64]:
    """Answer the call on the line, play on to the next one, and write observation and mask into
    row i of a block for all the runs.

    Returns what became of the answer (below zero where the offer was not let out and the
    call counts as rejected), the stop (a new call, the end, or a full log: take the events and call
    again with an empty action and the answer as `last`), and the change of cash in cents.
    """
    runs, params, pool, metres = borrowed(runs), borrowed(params), borrowed(pool), borrowed(metres)
    logs, desks, where, words = borrowed(logs), borrowed(desks), borrowed(where), borrowed(words)
    masks = borrowed(masks)
    run = runs[i]
    before = np.int64(run["cash"])
    answered = last
    if action.shape[0] > 0 and run["line"] >= 0:
        answered = answer_call(run, params[0], metres, logs[i], action)
    stop = play_on(run, params[0], pool, metres, logs[i])
    if stop != _EVENTS_FULL:
        fill_desk(run, desks[i])
        last = max(np.int64(answered), np.int64(REFUSED))
        write_out(desks[i], last, where, masks, np.int64(runs.shape[0]), i, words)
    return np.int64(answered), stop, np.int64(run["cash"]) - before


@inlined
def play_on(run: Record, p: Record, pool: Pool, metres: Metres, log: Record) -> np.int64:
    """Acknowledge cancellations until a new call, the end, or a full log."""
    stop = play_unseen(run, p, metres, log)
    look_up(run, pool)
    return stop


@inlined
def play_unseen(run: Record, p: Record, metres: Metres, log: Record) -> np.int64:
    """`play_on` for a batch, which looks up the caller itself."""
    while True:
        stop = advance_run(run, p, metres, log)
        if stop in (_NEW_CALL, _ENDED, _EVENTS_FULL):
            return np.int64(stop)
        if stop == _CANCELLATION:
            acknowledge_in_run(run, log)


@inlined
def not_let_out(why: Int, day: Int) -> np.int64:
    """The answer that says why an offer was not let out on a day."""
    return -np.int64(why) - REFUSALS * np.int64(day)


@inlined
def refusal_number(
    sizes: tuple[Int, Int, Int], answer: Int, action: Sequence[int] | npt.NDArray[np.int64]
) -> Int:
    """A number, 1 or more, for each answer below zero and what was asked for, of so many
    technicians, days and windows; -1 where the offer named one that there is not.
    """
    if action[0] != 1:
        return NONE
    number = -answer
    for place in range(3):
        asked, size = action[place + 1], sizes[place]
        if not 0 <= asked < size:
            return NONE
        number = number * size + asked
    return number


@inlined
def answer_call(
    run: Record, p: Record, metres: Metres, log: Record, action: npt.NDArray[np.int64]
) -> np.int64:
    """What became of a learner's answer to the call on the line, as `step` tells it."""
    if action[0] != 1:
        turn_away_in_run(run, log, np.int64(1))
        return np.int64(REJECTED) if action[0] == 0 else not_let_out(NO_ANSWER, run["day"])
    answer = offer_to_run(run, p, metres, log, action[1], action[2], action[3])
    if answer < 0:
        turn_away_in_run(run, log, np.int64(1))
        return not_let_out(-answer, run["day"])
    return np.int64(WAS_ACCEPTED) if answer == ACCEPTED else np.int64(WAS_DECLINED)
