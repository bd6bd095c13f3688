"""Branches of a run: what else could have been answered to a call, and how the run goes on then.

A branch is a copy of the run as it stood at a call, one answer, and the oracle's answers to all
later calls, or those of a script; since every draw is named by what it is for, the same draws wait
in each. An answer is one number, `REJECT` or an offer's `code_of`. Who asks for which branches, and
what is made of them, is not known here.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from tradesbench_gym.core.codes import Kind, Stop, code
from tradesbench_gym.core.desk import fill_ahead
from tradesbench_gym.core.engine import Metres, Runs, offer_to_run, turn_away_in_run
from tradesbench_gym.core.jit import kernel, rule
from tradesbench_gym.core.layout import (
    BOOKING_DAYS,
    MAX_CALLS_A_DAY,
    MAX_TECHNICIANS,
    MAX_WINDOWS,
    Int,
    Record,
)
from tradesbench_gym.core.machine import borrowed
from tradesbench_gym.core.plan import earliest_fit_of
from tradesbench_gym.core.rules.calendar import is_installation, qualified, slot_refusal
from tradesbench_gym.core.rules.calendar import is_weekend as falls_on_weekend
from tradesbench_gym.core.rules.calls import Pool
from tradesbench_gym.core.rules.customers import accepts
from tradesbench_gym.core.step import play_on

Whole = npt.NDArray[np.int64]
Bytes = npt.NDArray[np.uint8]

ORACLE = np.int64(-1)
"""As an answer, or in a script: let the oracle say."""
REJECT = np.int64(0)
CODES = 1 + MAX_TECHNICIANS * BOOKING_DAYS * MAX_WINDOWS
"""Answers there are: `REJECT`, and an offer of every slot."""
STREAMS = 3
SCRIPT_OF_A_DAY = (STREAMS, MAX_CALLS_A_DAY)
"""A script holds an answer for each call there can be, by day, stream and index in the stream: by
these a call is the same in every branch, whatever its number."""

LET_OUT = 1
ACCEPTED = 2
QUALIFIED = 4
"""Bits of what `outcomes` says of an offer."""

_ENDED, _LEDGER = code(Stop.ENDED), code(Kind.LEDGER)
_WINDOWS, _DAYS = np.int64(MAX_WINDOWS), np.int64(BOOKING_DAYS)


@rule
def code_of(technician: Int, ahead: Int, window: Int) -> np.int64:
    """The answer that offers a slot, from 1.

    >>> int(code_of(0, 0, 0)), *map(int, slot_of(code_of(3, 13, 5)))
    (1, 3, 13, 5)
    """
    return np.int64((technician * _DAYS + ahead) * _WINDOWS + window + 1)


@rule
def slot_of(answer: Int) -> tuple[np.int64, np.int64, np.int64]:
    """Technician, days ahead and window of an answer that is an offer."""
    slot = np.int64(answer) - 1
    return slot // (_WINDOWS * _DAYS), slot // _WINDOWS % _DAYS, slot % _WINDOWS


@kernel
def outcomes(runs: Runs, i: Int, params: Runs, found: Whole) -> None:
    """Write what would become of each offer to the call on the line of runs[i], by its code: bits
    `LET_OUT`, `ACCEPTED` and `QUALIFIED`, 0 if it is not let out. Changes nothing.
    """
    run = runs[i]
    find_outcomes(run, params[0], np.int64(run["line"]), found)


@rule
def find_outcomes(run: Record, p: Record, number: Int, found: Whole) -> None:
    """`outcomes` of the offers to a call when it rang, which may be long ago."""
    book, call = p["handbook"], run["calls"][number]
    found[:] = 0
    service, clock = np.int64(call["service"]), np.int64(call["rang_at"])
    now = np.int64(run["clock"])
    run["clock"] = clock  # the rule reads it there
    installs = is_installation(book, service)
    for ahead in range(np.int64(book["booking_days"])):
        day = np.int64(call["from_day"]) + ahead
        weekend = falls_on_weekend(book, day)
        for window in range(np.int64(book["windows"])):
            said = np.int64(-1)
            for technician in range(np.int64(book["technicians"])):
                on_call = np.int64(book["on_call"][technician])
                if slot_refusal(book, clock, day, weekend, window, on_call, installs) != 0:
                    continue
                if said < 0:  # who would come is nothing to the caller
                    said = np.int64(accepts(run, p, call, day, np.int64(window)))
                able = np.int64(qualified(book, technician, service))
                bits = LET_OUT + ACCEPTED * said + QUALIFIED * able
                found[code_of(technician, ahead, window)] = bits
    run["clock"] = now


@kernel
def branches(
    bases: Runs,
    which: Whole,
    answers: Whole,
    first: Int,
    until: Int,
    script: Whole,
    params: Runs,
    pool: Pool,
    metres: Metres,
    scratch: Runs,
    log: Runs,
    desk: Runs,
    plan: Runs,
    cash: Whole,
    accounts: Whole,
    kept: Bytes,
    said: Whole,
) -> None:
    """Play branches `first` to `until` to their ends: branch j begins at bases[which[j]], answers
    the call on the line with answers[j], and goes on as the script says.

    Args:
        bases: runs, untouched; at a call, or at their start.
        which: of the bases, shape (branches,).
        answers: codes or `ORACLE`, shape (branches,); what is refused is left to the oracle.
        first: of a slice, so that threads can share the branches.
        until: its end.
        script: codes or `ORACLE`, shape (days, *SCRIPT_OF_A_DAY).
        params: of the business.
        pool: of its map.
        metres: of its map.
        scratch: a run of this thread alone; afterwards as it ends in the last branch.
        log: another such buffer.
        desk: another.
        plan: the oracle's settings.
        cash: gets the cash at each end, shape (branches,).
        accounts: gets the sum of each job's ledger rows by number of the call, shape
            (branches, calls); shape (0, 0) to leave it.
        kept: gets the bytes of the run at each call of the last branch, by number, shape
            (calls, bytes of a run); shape (0, 0) to leave it.
        said: gets the answer to each of these calls, shape (calls,); shape (0,) to leave it.

    """
    bases, script, scratch, plan = (
        borrowed(bases),
        borrowed(script),
        borrowed(scratch),
        borrowed(plan),
    )
    params, pool, metres = borrowed(params), borrowed(pool), borrowed(metres)
    log, desk, accounts = borrowed(log), borrowed(desk), borrowed(accounts)
    kept, said = borrowed(kept), borrowed(said)
    size = np.int64(bases.itemsize)
    origin, copy = bases.view(np.uint8), scratch.view(np.uint8)
    for j in range(first, until):
        copy[:] = origin[which[j] * size : (which[j] + 1) * size]
        log[0]["count"] = 0
        _play_out(
            scratch[0],
            params[0],
            pool,
            metres,
            log[0],
            desk[0],
            plan[0],
            np.int64(answers[j]),
            script,
            accounts[j : j + 1],
            copy,
            kept,
            said,
        )
        cash[j] = scratch[0]["cash"]


@rule
def _play_out(
    run: Record,
    p: Record,
    pool: Pool,
    metres: Metres,
    log: Record,
    desk: Record,
    plan: Record,
    answer: Int,
    script: Whole,
    account: Whole,
    content: Bytes,
    kept: Bytes,
    said: Whole,
) -> None:
    """Play one branch to its end."""
    given = np.int64(answer)
    for row in range(account.shape[0]):
        account[row] = 0
    while True:
        number = np.int64(run["line"])
        if number >= 0:
            if kept.shape[0] > 0:
                kept[number] = content
            if given == ORACLE:
                given = scripted(run, script, number)
            given = give_answer(run, p, metres, log, desk, plan, given)
            if said.shape[0] > 0:
                said[number] = given
            given = ORACLE
        stop = play_on(run, p, pool, metres, log)
        for row in range(account.shape[0]):
            _post(log, account[row])
        log["count"] = 0
        if stop == _ENDED:
            return


@rule
def scripted(run: Record, script: Whole, number: Int) -> np.int64:
    """What a script answers to a call."""
    call = run["calls"][number]
    return np.int64(script[call["from_day"], call["stream"], call["from_index"]])


@rule
def give_answer(
    run: Record, p: Record, metres: Metres, log: Record, desk: Record, plan: Record, answer: Int
) -> np.int64:
    """Answer the call on the line; the answer that was given in the end."""
    given = np.int64(answer)
    if given > REJECT:
        technician, ahead, window = slot_of(given)
        if offer_to_run(run, p, metres, log, technician, ahead, window) >= 0:
            return given
        given = np.int64(ORACLE)  # another caller than when the script was written
    if given == ORACLE:
        fill_ahead(run, desk)
        technician, ahead, window = earliest_fit_of(desk, plan)
        if technician >= 0:
            offer_to_run(run, p, metres, log, technician, ahead, window)
            return code_of(technician, ahead, window)
    turn_away_in_run(run, log, np.int64(1))
    return np.int64(REJECT)


@rule
def _post(log: Record, account: Whole) -> None:
    """Add the ledger rows in the log to the accounts of their jobs."""
    for place in range(np.int64(log["count"])):
        event = log["events"][place]
        if event["kind"] == _LEDGER and event["call"] >= 0:
            account[event["call"]] += event["amount"]
