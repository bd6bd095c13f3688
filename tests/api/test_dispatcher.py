"""Over HTTP a policy knows the same desk, books the same jobs, and plays the same run."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest

from tests.api.remote import open_company, play_in_process
from tradesbench_gym.api.client import ApiError
from tradesbench_gym.api.dispatcher import Dispatcher, play
from tradesbench_gym.company.business import Business, open_business
from tradesbench_gym.company.scenario import load_scenario
from tradesbench_gym.core.codes import CallState
from tradesbench_gym.core.layout import MAX_SERVICES
from tradesbench_gym.core.view import Desk
from tradesbench_gym.policies import Decision, make_policy
from tradesbench_gym.policies.load import load_policy

JOB = ("state", "technician", "day", "window", "service", "departed", "arrived", "started", "ended")


@pytest.fixture(scope="module")
def business() -> Business:
    return open_business(days=2)


def jobs_of(record: np.void) -> npt.NDArray[np.void]:
    """Every call of a run, with what was offered and what became of it."""
    calls: npt.NDArray[np.void] = record["calls"][: int(record["n_calls"])]
    return calls[list(JOB)]


def seen(desk: Desk) -> dict[str, Any]:
    """A desk by field, as far as the company reaches; other work under one number."""
    book = desk["handbook"]
    people, zones = int(book["technicians"]), int(book["zones"])
    calls = desk["calls"][: int(desk["n_calls"])].copy()
    calls["service"] = np.minimum(calls["service"], MAX_SERVICES)
    whole = {name: desk[name].copy() for name in desk.array.dtype.names or ()}
    return whole | {
        "calls": calls,
        "days": desk["days"][: int(desk["day"]) + 1],
        "technicians": desk["technicians"][:people],
        "route": desk["route"][int(desk["day"]) :, :people],
        "forecast": [desk["forecast"][name][:, :zones] for name in ("high", "condition")],
    }


@pytest.mark.parametrize("policy", ["oracle", "reject-heavy", "accept-all"])
def test_a_policy_plays_the_same_run_over_http(
    tmp_path: Path, business: Business, policy: str
) -> None:
    alone = play_in_process(business, 5, load_policy(policy, seed=5))
    with open_company(tmp_path, business) as company:
        dispatcher = Dispatcher(company.agent, company.handbook, load_policy(policy, seed=5))
        ended = play(company.driver, dispatcher)
        assert np.array_equal(jobs_of(company.world.record), jobs_of(alone.record))
    assert ended.digest == alone.digest()
    assert ended.results is not None
    assert ended.results.profit_cents == alone.profit_cents


def test_the_desk_over_http_is_the_desk_in_process(tmp_path: Path) -> None:
    business = open_business(days=4, start_date="2026-10-01")
    desks: list[Desk] = []
    play_in_process(business, 8, load_policy("accept-all"), desks)
    told = iter(desks)

    def compare(desk: Desk) -> Decision | None:
        ours, theirs = seen(next(told)), seen(desk)
        for name, value in ours.items():
            assert np.array_equal(theirs[name], value), (name, value, theirs[name])
        return make_policy("accept-all")(desk)

    with open_company(tmp_path, business, 8) as company:
        play(company.driver, Dispatcher(company.agent, company.handbook, compare))
    assert next(told, None) is None


def test_a_dispatcher_who_takes_over_in_the_middle_plays_on_the_same(
    tmp_path: Path, business: Business
) -> None:
    alone = play_in_process(business, 5, load_policy("oracle"))
    with open_company(tmp_path, business) as company:
        first = Dispatcher(company.agent, company.handbook, load_policy("oracle"))
        for _ in range(30):
            stop = company.driver.advance()
            if stop.call_id == 25:
                break
            if stop.stop in ("new_call", "cancellation"):
                first.answer()
        second = Dispatcher(company.agent, company.handbook, load_policy("oracle"))
        assert play(company.driver, second).digest == alone.digest()


def test_dispatchers_who_take_turns_know_what_the_other_has_done(tmp_path: Path) -> None:
    """Nobody tells them of cancellations either: they see it."""
    business = open_business(days=4)
    alone = play_in_process(business, 8, load_policy("oracle"))
    with open_company(tmp_path, business, 8) as company:
        pair = [
            Dispatcher(company.agent, company.handbook, load_policy("oracle")) for _ in range(2)
        ]
        while (stop := company.driver.advance()).stop != "ended":
            if stop.stop == "new_call":
                pair[(stop.call_id or 0) // 3 % 2].answer()
        calls = jobs_of(company.world.record)
    assert np.count_nonzero(calls["state"] == CallState.CANCELLED)
    assert np.array_equal(calls, jobs_of(alone.record))


def test_a_changed_handbook_changes_what_the_oracle_plans_over_http(tmp_path: Path) -> None:
    scenario = load_scenario().replace(
        {"services.plumbing.longest": 240, "technicians.diana.skills": ["hvac_installation"]}
    )
    business = open_business(scenario, days=1)
    alone = play_in_process(business, 3, load_policy("oracle"))
    with open_company(tmp_path, business, 3) as company:
        dispatcher = Dispatcher(company.agent, company.handbook, load_policy("oracle"))
        assert play(company.driver, dispatcher).digest == alone.digest()


def test_an_offer_the_company_does_not_let_out_is_raised(
    tmp_path: Path, business: Business
) -> None:
    with open_company(tmp_path, business) as company:
        wrong = Dispatcher(company.agent, company.handbook, lambda _: Decision(1, 2, 0))
        with pytest.raises(ApiError) as caught:
            play(company.driver, wrong)
        assert (caught.value.code, caught.value.status) == ("off_shift", 422)
        assert "Diana Chen" in str(caught.value)


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(5))
def test_the_oracle_books_the_same_jobs_over_http(tmp_path: Path, seed: int) -> None:
    business = open_business()
    alone = play_in_process(business, seed, load_policy("oracle"))
    with open_company(tmp_path, business, seed) as company:
        dispatcher = Dispatcher(company.agent, company.handbook, load_policy("oracle"))
        ended = play(company.driver, dispatcher)
        assert np.array_equal(jobs_of(company.world.record), jobs_of(alone.record))
        assert np.array_equal(company.world.record, alone.record)
    assert ended.digest == alone.digest()


def test_a_dispatcher_who_is_new_at_every_call_plays_the_same_run(tmp_path: Path) -> None:
    """Also where the first thing that he hears is a cancellation."""
    business = open_business(days=3)
    alone = play_in_process(business, 5, load_policy("oracle"))
    policy, heard = load_policy("oracle"), []
    with open_company(tmp_path, business) as company:
        while (stop := company.driver.advance().stop) != "ended":
            if stop in {"new_call", "cancellation"}:
                Dispatcher(company.agent, company.handbook, policy).answer()
                heard.append(stop)
        digest = company.world.digest()
    assert "cancellation" in heard
    assert digest == alone.digest()
