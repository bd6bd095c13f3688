"""Offers by lead stand beside the scenario's own rule, as the report tells it (A.2)."""

from __future__ import annotations

from typing import Any

import pytest

from tests.worlds import ONE_CALL, ROBERTO, STILL_ROADS, STILL_WEATHER, W07, W09, tiny_business
from tradesbench_gym.core.view import Desk
from tradesbench_gym.policies import Decision
from tradesbench_gym.policies.load import load_policy
from tradesbench_gym.report.analysis import Account, Bucket, acceptance, played_account


def offered(ahead: int, window: int, seeds: range, **changes: Any) -> list[Account]:
    """Runs of one day whose one caller, for plumbing at 07:00, gets the same offer."""
    trades = {"demand.trade_mix": {"hvac_service": 0, "plumbing": 1, "electrical": 0}}
    business = tiny_business(
        {**STILL_WEATHER, **STILL_ROADS, **ONE_CALL, **trades, "demand.urgent_share": 0, **changes},
        days=1,
    )

    def decide(_desk: Desk) -> Decision:
        return Decision(ROBERTO, ahead, window)

    return [played_account(business, seed, 0, decide) for seed in seeds]


@pytest.mark.parametrize(("ahead", "chance", "lead"), [(3, 0.57, "3 to 5"), (7, 0.31, "7 to 10")])
def test_a_routine_caller_is_expected_to_accept_as_the_report_says(
    ahead: int, chance: float, lead: str
) -> None:
    (found,) = acceptance(offered(ahead, W07, range(40)))
    assert (found.asked.value, found.lead) == ("routine", f"{lead} days")
    assert found.offers == 40
    assert found.expected == pytest.approx(chance, abs=0.005)
    low, high = found.interval
    assert low < found.rate < high
    assert low < chance < high


@pytest.mark.parametrize(
    ("ahead", "chance", "lead"), [(0, 1.0, "same day"), (1, 0.15, "next day"), (5, 0.05, "later")]
)
def test_an_urgent_caller_counts_calendar_days(ahead: int, chance: float, lead: str) -> None:
    every = acceptance(offered(ahead, W09, range(12), **{"demand.urgent_share": "0.7"}))
    (found,) = [one for one in every if one.asked.value == "urgent"]
    assert found.lead == lead
    assert found.offers > 4
    assert found.expected == pytest.approx(chance)


def test_every_offer_of_a_run_is_in_one_bucket_with_its_answer() -> None:
    account = played_account(tiny_business(days=4), 3, 0, load_policy("oracle"))
    found = acceptance([account])
    came_to = account.results
    assert sum(bucket.offers for bucket in found) == len(account.offers)
    assert sum(bucket.accepted for bucket in found) == len(account.offers) - came_to.declined
    assert came_to.declined > 0
    assert all(0 <= bucket.expected <= 1 for bucket in found)


def test_late_installations_are_kept_apart() -> None:
    account = played_account(tiny_business(days=14), 3, 0, load_policy("accept-all"))
    late = [bucket for bucket in acceptance([account]) if "late" in bucket.asked]
    assert all(bucket.expected <= 0.45 for bucket in late)  # half of at most 90 %
    assert late


def test_of_no_offers_there_is_nothing_to_tell() -> None:
    account = played_account(tiny_business(days=1), 3, 0, load_policy("do-nothing"))
    assert acceptance([account]) == []


def test_few_answers_tell_little() -> None:
    """Three of three, Wilson's interval by hand: 3 / (3 + 1.96²) = 0.4385 is its lower end."""
    bucket = Bucket(next(iter(type(_one().asked))), "x", 3, 3, 0.9)
    low, high = bucket.interval
    assert low == pytest.approx(3 / (3 + 1.959964**2), abs=1e-4)
    assert high == pytest.approx(1.0)


def _one() -> Bucket:
    return acceptance(offered(0, W09, range(1)))[0]
