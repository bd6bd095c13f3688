"""A walk over the answers of a run: what it tells is what the answers come to."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from tests.core.test_branching import BUSINESS, SEED, branch, script
from tradesbench_gym.company.simulation import Simulation
from tradesbench_gym.core.annealing import BEST, KEPT, NOW, anneal
from tradesbench_gym.core.branching import ACCEPTED, LET_OUT, ORACLE, QUALIFIED
from tradesbench_gym.core.layout import LOG

STEPS = 30
WANTED = LET_OUT | ACCEPTED | QUALIFIED


def walk(
    chance: int, losses: Any, steps: int = STEPS, business: Any = BUSINESS
) -> tuple[Any, Any, Any]:
    """The present script, the best one, and what was told."""
    draws = np.random.default_rng(chance)
    present, best = script(), script()
    told = np.zeros(3, np.int64)
    runs = np.zeros(1, business.run_dtype), np.zeros(1, business.run_dtype)
    days = business.run_dtype["days"].shape[0]
    start = np.array([Simulation(SEED, business=business).record])
    before = start.tobytes()
    anneal(
        start,
        present,
        best,
        draws.integers(0, 2**62, (steps, 2), np.int64),
        np.full(steps, losses, np.int64),
        WANTED,
        business.params,
        business.pool,
        business.metres,
        *runs,
        np.zeros(1, LOG),
        business.new_desks(),
        np.array([business.plan]),
        np.zeros((days, business.run_dtype.itemsize), np.uint8),
        told,
    )
    assert start.tobytes() == before
    assert runs[0][0]["cash"] == told[NOW]
    return present, best, told


def cash_of(given: Any) -> int:
    run, _ = branch(Simulation(SEED, business=BUSINESS), int(ORACLE), given)
    return int(run["cash"])


@pytest.mark.parametrize("losses", [0, 5_000, 10**9])
def test_what_is_told_of_a_walk_is_what_its_answers_come_to(losses: int) -> None:
    present, best, told = walk(1, losses)
    assert cash_of(present) == told[NOW]
    assert cash_of(best) == told[BEST]
    assert told[BEST] >= told[NOW]
    assert told[BEST] >= cash_of(script())


def test_a_walk_that_may_lose_nothing_never_does() -> None:
    cash = [int(walk(2, 0, steps)[2][NOW]) for steps in (0, 10, 20, STEPS)]
    assert cash[0] == cash_of(script())
    assert cash == sorted(cash)
    assert cash[-1] > cash[0]


def test_what_may_be_lost_decides_what_is_kept() -> None:
    kept = [int(walk(3, losses)[2][KEPT]) for losses in (-(10**9), 0, 10**9)]
    assert kept[0] == 0
    assert kept[0] < kept[1] < kept[2] <= STEPS


def test_the_same_picks_give_the_same_walk() -> None:
    one, other = walk(4, 2_000), walk(4, 2_000)
    for mine, theirs in zip(one, other, strict=True):
        assert mine.tobytes() == theirs.tobytes()
