"""The gap between two runs of one world is split to the cent, each call in one part."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from typing import Any

import pytest

from tests.worlds import (
    DIANA,
    INSTALLATION,
    MARCUS,
    PLUMBING,
    ROBERTO,
    STILL,
    W09,
    W11,
    W13,
    tiny_business,
)
from tradesbench_gym.company.business import Business
from tradesbench_gym.company.simulation import Simulation
from tradesbench_gym.core.view import Desk
from tradesbench_gym.errors import StateError
from tradesbench_gym.policies import Decision
from tradesbench_gym.policies.load import load_policy
from tradesbench_gym.report.analysis import Account, Part, gap, played_account

JOB, INSTALLED = 24_000, 260_000
"""$300 less 20 % material, and $6,500 less 60 %."""
FIXED = -291_600
"""A weekday's pay and overhead ("Scoring")."""
Offers = Mapping[tuple[int, int, int], tuple[int, int, int]]
NOBODY: Offers = {}


def world(days: int = 1, **changes: Any) -> Business:
    """A day of three callers for plumbing at 07:00, all of whom accept and none of whom cancels."""
    demand = {
        "demand.start": 3,
        "demand.urgent_share": 0,
        "demand.trade_mix": {"hvac_service": 0, "plumbing": 1, "electrical": 0},
    }
    return tiny_business({**STILL, **demand, **changes}, days)


def played(business: Business, offers: Offers) -> Account:
    """A run in which the nth caller of a day for a service gets an offer, or is turned away."""
    seen: Counter[tuple[int, int]] = Counter()

    def decide(desk: Desk) -> Decision | None:
        assert desk.call is not None
        about = int(desk["day"]), int(desk.call["service"])
        seen[about] += 1
        offer = offers.get((*about, seen[about]))
        return None if offer is None else Decision(*offer)

    return played_account(business, 1, 0, decide)


def differences(mine: Account, other: Account) -> dict[Part, int]:
    """The parts in which two runs differ."""
    found = {part: row.difference for part, row in gap(mine, other).rows.items()}
    assert sum(found.values()) == mine.results.profit - other.results.profit
    return {part: cents for part, cents in found.items() if cents}


ALL_DONE: Offers = {
    (0, PLUMBING, 1): (ROBERTO, 0, W09),
    (0, PLUMBING, 2): (ROBERTO, 0, W11),
    (0, PLUMBING, 3): (ROBERTO, 0, W13),
}


def test_a_caller_who_was_turned_away_costs_his_job() -> None:
    business = world()
    mine = played(business, {key: ALL_DONE[key] for key in list(ALL_DONE)[1:]})
    other = played(business, ALL_DONE)
    assert differences(mine, other) == {Part.TURNED_AWAY: -JOB}
    row = gap(mine, other).rows[Part.TERMS]
    assert (row.calls, row.done, row.cents, row.cents_there) == (2, 2, 2 * JOB, 2 * JOB)
    assert gap(mine, other).rows[Part.FIXED].cents == FIXED


def test_a_failed_visit_is_a_miss_whatever_else_the_call_is() -> None:
    business = world()
    mine = played(business, {**ALL_DONE, (0, PLUMBING, 2): (MARCUS, 0, W11)})
    assert differences(mine, played(business, ALL_DONE)) == {Part.MISSES: -JOB}


def test_callers_who_stay_away_the_next_day_are_lost_demand() -> None:
    """A failed visit lowers the level from three calls to two: one job less on the second day."""
    business = world(2, **{"demand.loss": 1})
    tomorrow = {(1, *key[1:]): offer for key, offer in ALL_DONE.items()}
    mine = played(business, {**ALL_DONE, **tomorrow, (0, PLUMBING, 2): (MARCUS, 0, W11)})
    other = played(business, {**ALL_DONE, **tomorrow})
    assert (mine.results.calls, other.results.calls) == (5, 6)
    assert differences(mine, other) == {Part.MISSES: -JOB, Part.DEMAND: -JOB}


def test_an_installation_is_counted_as_such() -> None:
    business = world(1, **{"demand.start": 4, "demand.installations": {"0": 0, "1": 1}})
    mine = played(business, {(0, INSTALLATION, 1): (DIANA, 0, W09)})
    assert differences(mine, played(business, NOBODY)) == {Part.INSTALLATIONS: INSTALLED}


def test_a_job_of_a_saturday_is_weekend_work() -> None:
    """Day 0 is a Thursday; the premium goes to the technician, so the job brings as much."""
    business = world(3)
    mine = played(business, {(0, PLUMBING, 1): (ROBERTO, 2, W09)})
    assert differences(mine, played(business, NOBODY)) == {Part.WEEKENDS: JOB}


def test_a_job_that_is_still_booked_at_the_end_is_not_served() -> None:
    business = world()
    mine = played(business, {**ALL_DONE, (0, PLUMBING, 2): (ROBERTO, 4, W11)})
    assert differences(mine, played(business, ALL_DONE)) == {Part.UNSERVED: -JOB}


def test_after_a_bankruptcy_pay_and_overhead_differ() -> None:
    """$5,200 pay for a Thursday and a part of a Friday; with six jobs for both, and a part of a
    Saturday, which costs $2,126: so much less is paid where nobody worked.
    """
    business = world(4, **{"pay.starting_cash": 5_200})
    tomorrow = {(1, *key[1:]): offer for key, offer in ALL_DONE.items()}
    mine, other = played(business, NOBODY), played(business, {**ALL_DONE, **tomorrow})
    assert (mine.results.bankrupt_on, other.results.bankrupt_on) == (2, 3)
    assert differences(mine, other) == {Part.TURNED_AWAY: -6 * JOB, Part.FIXED: 212_600}


@pytest.mark.parametrize("name", ["accept-all", "reject-heavy", "do-nothing", "planner:futures=0"])
@pytest.mark.parametrize("seed", range(3))
def test_the_parts_of_any_two_runs_add_up_and_turn_about_with_them(name: str, seed: int) -> None:
    business = tiny_business(days=5)
    mine = played_account(business, seed, 9, load_policy(name, seed=seed))
    other = played_account(business, seed, 9, load_policy("oracle"))
    there, back = gap(mine, other), gap(other, mine)
    cents = sum(row.difference for row in there.rows.values())
    assert cents == mine.results.profit - other.results.profit
    assert all(there.rows[part].difference == -back.rows[part].difference for part in Part)
    both = set(mine.numbers()) | set(other.numbers())
    assert sum(row.calls for row in there.rows.values()) == len(both)
    assert there.total.done == mine.results.completed
    assert there.total.done_there == other.results.completed


def test_a_run_has_no_gap_to_itself() -> None:
    one = played_account(tiny_business(days=3), 4, 0, load_policy("oracle"))
    found = gap(one, one)
    assert {row.difference for row in found.rows.values()} == {0}
    assert found.rows[Part.DEMAND].calls == found.rows[Part.TURNED_AWAY].calls == 0


def test_runs_of_two_worlds_or_without_an_end_are_not_compared() -> None:
    business = tiny_business(days=2)
    one = played_account(business, 4, 0, load_policy("oracle"))
    for other in (
        played_account(business, 5, 0, load_policy("oracle")),
        played_account(business, 4, 7, load_policy("oracle")),
        played_account(tiny_business(days=3), 4, 0, load_policy("oracle")),
    ):
        with pytest.raises(StateError, match="on one world"):
            gap(one, other)
    with pytest.raises(StateError, match="not at its end"):
        gap(one, Account(Simulation(4, business=business)))
