"""Branches in compiled code: the copy is exact, the run branched from stays as it was, and what is
said of an offer beforehand is what comes of it.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from tests.worlds import tiny_business
from tradesbench_gym.company.play import answer as answer_with
from tradesbench_gym.company.simulation import Simulation
from tradesbench_gym.core import branching
from tradesbench_gym.core.branching import (
    ACCEPTED,
    CODES,
    LET_OUT,
    ORACLE,
    QUALIFIED,
    REJECT,
    SCRIPT_OF_A_DAY,
    code_of,
    slot_of,
)
from tradesbench_gym.core.codes import Stop
from tradesbench_gym.core.layout import BOOKING_DAYS, LOG, MAX_TECHNICIANS, MAX_WINDOWS
from tradesbench_gym.policies import make_policy

SEED = 3
BUSINESS = tiny_business(days=1)
CALLS = BUSINESS.run_dtype["calls"].shape[0]


def at_call(number: int) -> Simulation:
    """The oracle's run as it stands at a call, from 0."""
    simulation, decide = Simulation(SEED, business=BUSINESS), make_policy("oracle")
    assert simulation.next_call() == Stop.NEW_CALL
    for _ in range(number):
        answer_with(simulation, decide)
        assert simulation.next_call() == Stop.NEW_CALL
    return simulation


def script() -> Any:
    days = BUSINESS.run_dtype["days"].shape[0]
    return np.full((days, *SCRIPT_OF_A_DAY), ORACLE, np.int64)


def branch(base: Simulation, answer: int, given: Any = None) -> tuple[Any, int]:
    """The end of one branch, and the sum of its jobs' ledger."""
    runs, cash = np.array([base.record]), np.zeros(1, np.int64)
    run, account = np.zeros(1, BUSINESS.run_dtype), np.zeros((1, CALLS), np.int64)
    branching.branches(
        runs,
        np.zeros(1, np.int64),
        np.array([answer], np.int64),
        0,
        1,
        script() if given is None else given,
        BUSINESS.params,
        BUSINESS.pool,
        BUSINESS.metres,
        run,
        np.zeros(1, LOG),
        BUSINESS.new_desks(),
        np.array([BUSINESS.plan]),
        cash,
        account,
        np.zeros((0, 0), np.uint8),
        np.zeros(0, np.int64),
    )
    assert runs.tobytes() == np.array([base.record]).tobytes()
    assert cash[0] == run[0]["cash"]
    return run[0], int(account.sum())


def played(simulation: Simulation) -> Simulation:
    """Played on by the oracle."""
    decide = make_policy("oracle")
    while simulation.next_call() == Stop.NEW_CALL:
        answer_with(simulation, decide)
    return simulation


def test_each_slot_has_a_code_of_its_own() -> None:
    codes = set()
    for technician in range(MAX_TECHNICIANS):
        for ahead in range(BOOKING_DAYS):
            for window in range(MAX_WINDOWS):
                code = int(code_of(np.int64(technician), np.int64(ahead), np.int64(window)))
                slot = tuple(int(part) for part in slot_of(np.int64(code)))
                assert slot == (technician, ahead, window)
                codes.add(code)
    assert codes == set(range(1, CODES))
    assert int(REJECT) not in codes


def test_a_branch_ends_byte_for_byte_as_the_simulation_does() -> None:
    base = at_call(4)
    for answer in (REJECT, code_of(np.int64(0), np.int64(0), np.int64(5))):
        run, _ = branch(base, int(answer))
        other = base.copy()
        if answer == REJECT:
            other.reject()
        else:
            other.offer(*(int(part) for part in slot_of(answer)))
        assert run.tobytes() == played(other).record.tobytes()


def test_left_to_the_oracle_a_branch_is_the_oracle_s_run() -> None:
    run, jobs = branch(Simulation(SEED, business=BUSINESS), int(ORACLE))
    other = played(Simulation(SEED, business=BUSINESS))
    assert run.tobytes() == other.record.tobytes()
    ledger = other.record["ledger"]
    fixed = int(ledger[5] + ledger[6] + ledger[7])  # base pay, on-call pay, overhead
    assert jobs == other.profit_cents - fixed


def test_a_script_answers_the_calls_it_knows_and_the_oracle_the_others() -> None:
    given = script()
    given[0, 0, 1] = REJECT  # the second service call of the day
    run, _ = branch(Simulation(SEED, business=BUSINESS), int(ORACLE), given)

    other, decide = Simulation(SEED, business=BUSINESS), make_policy("oracle")
    while other.next_call() == Stop.NEW_CALL:
        call = other.record["calls"][(other.line or 0) - 1]
        if (call["stream"], call["from_index"]) == (0, 1):
            other.reject()
        else:
            answer_with(other, decide)
    assert run.tobytes() == other.record.tobytes()


def test_what_is_said_of_an_offer_beforehand_is_what_comes_of_it() -> None:
    base = at_call(2)
    call = base.record["calls"][2]
    found = np.zeros(CODES, np.int64)
    branching.outcomes(np.array([base.record]), 0, BUSINESS.params, found)
    skills = BUSINESS.handbook["skills"]
    let_out = 0
    for code in range(1, CODES):
        slot = tuple(int(part) for part in slot_of(np.int64(code)))
        refused = base.refusal(*slot) is not None
        assert bool(found[code] & LET_OUT) == (not refused)
        if refused:
            assert found[code] == 0
            continue
        let_out += 1
        assert bool(found[code] & ACCEPTED) == base.copy().offer(*slot)
        able = int(call["service"]) < 4 and skills[slot[0]] >> int(call["service"]) & 1
        assert bool(found[code] & QUALIFIED) == bool(able)
    assert let_out > 100
