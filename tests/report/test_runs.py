"""Playing policies × seeds: order, workers, failures."""

from collections.abc import Iterator

import pytest

from tradesbench_gym.company.business import Business, open_business
from tradesbench_gym.core.view import Desk
from tradesbench_gym.errors import PolicyError
from tradesbench_gym.policies import Decision, register
from tradesbench_gym.policies.registry import _FACTORIES
from tradesbench_gym.report.published import POLICIES
from tradesbench_gym.report.runs import play_all


@pytest.fixture(scope="module")
def business() -> Business:
    return open_business()


@pytest.fixture
def clumsy() -> Iterator[str]:
    @register("clumsy")
    def clumsy(desk: Desk) -> Decision | None:
        return Decision(0, int(desk["day"]) // 0, 0)

    yield "clumsy"
    del _FACTORIES["clumsy"]


def test_results_come_in_order_of_policy_then_seed(business: Business) -> None:
    found = play_all(business, ["do-nothing", "oracle"], [4, 1], workers=1)
    order = [(run.policy, run.results.seed) for run in found]
    assert order == [("do-nothing", 4), ("do-nothing", 1), ("oracle", 4), ("oracle", 1)]


def test_results_are_the_same_whatever_the_number_of_workers(business: Business) -> None:
    alone = play_all(business, POLICIES, range(6), workers=1)
    assert play_all(business, POLICIES, range(6), workers=2) == alone
    assert play_all(business, POLICIES, range(6)) == alone


def test_progress_adds_up_to_the_number_of_runs(business: Business) -> None:
    for workers in (1, 2):
        told: list[int] = []
        play_all(business, ["oracle", "do-nothing"], range(10), workers=workers, done=told.append)
        assert sum(told) == 20


def test_a_reused_simulation_plays_as_a_fresh_one(business: Business) -> None:
    after_others = play_all(business, ["accept-all", "oracle"], [0, 1, 2], workers=1)[-1]
    assert after_others == play_all(business, ["oracle"], [2], workers=1)[0]


def test_an_exception_names_policy_and_seed(business: Business, clumsy: str) -> None:
    with pytest.raises(PolicyError, match=r"^clumsy on seed 3: .*ZeroDivisionError"):
        play_all(business, ["oracle", clumsy], [3], workers=1)


def test_an_exception_in_a_worker_names_policy_and_seed(business: Business, clumsy: str) -> None:
    # A worker does not know a policy that only this process registered: that is its exception.
    with pytest.raises(PolicyError, match=r"^clumsy on seed \d+"):
        play_all(business, [clumsy], range(40), workers=2)


def test_an_unknown_policy_or_setting_is_refused_before_anything_is_played(
    business: Business,
) -> None:
    told: list[int] = []
    for name in ("orcale", "oracle:speed=fast", "do-nothing:x=1"):
        with pytest.raises(PolicyError):
            play_all(business, ["oracle", name], [0], done=told.append)
    assert not told


def test_fixed_costs_of_a_fortnight_are_those_of_ten_weekdays_and_four_weekend_days(
    business: Business,
) -> None:
    run = play_all(business, ["oracle"], [0], workers=1)[0]
    assert run.fixed_costs == 10 * 291_600 + 4 * 212_600 == 3_766_400


def test_doing_nothing_is_bankrupt_on_day_10_with_26790_dollars_lost_on_every_seed(
    business: Business,
) -> None:
    # Thursday 1 to Saturday 10 October: 7 weekdays and 3 weekend days, 7 x 2,916 + 3 x 2,126.
    for run in play_all(business, ["do-nothing"], range(23), workers=1):
        assert (run.results.bankrupt_on, run.results.profit) == (10, -2_679_000)
