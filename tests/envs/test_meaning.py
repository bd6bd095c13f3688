"""What the entries of an observation mean: held against the desk, one booking at a time."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from tests.envs.playing import REJECT, episode, legal_offer, offer, wait_for
from tradesbench_gym.core.codes import CallState, Entry
from tradesbench_gym.envs import TradesEnv

SLOTS = (4, 14, 6)
HVAC, INSTALLATION, PLUMBING, ELECTRICAL = range(4)
MINUTES = {HVAC: 110, INSTALLATION: 330, PLUMBING: 110, ELECTRICAL: 127}
"""The report's 0.65 quantile of each job's length."""


def book(env: TradesEnv, service: int, technician: int, ahead: int, window: int) -> dict[str, Any]:
    """Offer the same slot to callers for a service until one accepts; the observation after."""
    for seed in range(50):
        wait_for(env, seed, lambda seen: bool(seen["call"][1] == service))
        observation, *_, info = env.step(offer(technician, ahead, window))
        if info["answer"] == "accepted":
            return observation
    raise AssertionError("nobody accepts")


@pytest.mark.parametrize(
    ("service", "technician", "ahead", "window"),
    [(HVAC, 0, 1, 2), (INSTALLATION, 1, 4, 0), (PLUMBING, 2, 1, 5), (ELECTRICAL, 3, 5, 4)],
)
def test_a_booking_shows_in_its_own_slot_and_row(
    service: int, technician: int, ahead: int, window: int
) -> None:
    env = TradesEnv()
    seen = book(env, service, technician, ahead, window)
    jobs, minutes = (seen[name].reshape(SLOTS) for name in ("slot_jobs", "slot_minutes"))
    assert np.argwhere(jobs).tolist() == [[technician, ahead, window]]
    assert jobs[technician, ahead, window] == 1
    assert np.argwhere(minutes).tolist() == [[technician, ahead, window]]
    assert minutes[technician, ahead, window] == MINUTES[service]
    calls = env.desk["calls"]
    (job,) = calls[: int(env.desk["n_calls"])][calls["state"][: int(env.desk["n_calls"])] >= 4]
    rows = seen["open_jobs"].reshape(128, 8)
    assert rows[0].tolist() == [
        CallState.BOOKED,
        technician,
        ahead,
        window,
        service,
        job["customer"],
        job["urgent"],
        job["zone"],
    ]
    assert not rows[1:].any()
    places = seen["job_places"].reshape(128, 2)
    np.testing.assert_allclose(places[0], [job["x"] / 1000, job["y"] / 1000], atol=1e-5)
    assert not places[1:].any()
    assert seen["last_answer"].tolist() == [3]


def test_the_caller_is_shown_as_he_is_on_the_desk() -> None:
    env = TradesEnv()
    for moment in episode(env, 21):
        if moment.terminated:
            break
        call = env.desk.call
        assert call is not None
        wanted = [1, call["service"], call["customer"], call["urgent"], call["zone"]]
        assert moment.observation["call"].tolist() == wanted
        np.testing.assert_allclose(
            moment.observation["call_place"], [call["x"] / 1000, call["y"] / 1000], atol=1e-5
        )


def test_time_weather_and_money_are_those_of_the_desk() -> None:
    env = TradesEnv()
    for moment in episode(env, 22):
        seen, desk = moment.observation, env.desk
        day, hour, weekday, left = seen["time"].tolist()
        assert day == desk["day"]
        assert round(hour * 3600) == int(desk["clock"]) - 86_400 * int(desk["day"])
        assert weekday == env.simulation.business.date_of(int(day)).weekday()
        assert left == 14 - day
        np.testing.assert_array_equal(
            seen["weather"].reshape(8, 10), desk["forecast"]["condition"][:, :10]
        )
        np.testing.assert_array_equal(seen["high"].reshape(8, 10), desk["forecast"]["high"][:, :10])
        np.testing.assert_allclose(seen["cash"], [env.simulation.cash_cents / 100], rtol=1e-6)
        np.testing.assert_allclose(seen["ledger"], desk["ledger"] / 100, rtol=1e-6)
    assert seen["ledger"][Entry.INVOICE] > 0 > seen["ledger"][Entry.BASE_PAY]


def test_counts_are_sums_of_what_became_of_the_calls() -> None:
    env = TradesEnv()
    for moment in episode(env, 23):
        calls = env.desk["calls"][: int(env.desk["n_calls"])]
        state = calls["state"]
        booked = int((state >= CallState.BOOKED).sum())
        ended = [
            int((state == s).sum())
            for s in (CallState.DONE, CallState.MISSED, CallState.FAILED, CallState.CANCELLED)
        ]
        declined = int((state == CallState.DECLINED).sum())
        rejected = int((state == CallState.REJECTED).sum())
        assert moment.observation["counts"].tolist() == [
            len(calls),
            booked,
            declined,
            rejected,
            *ended,
        ]
        of_today = int((calls["rang_at"] // 86_400 == env.simulation.day).sum())
        assert moment.observation["today"][0] == of_today
    assert moment.info["results"]["completed"] == ended[0] > 0


def test_the_last_answer_is_the_one_that_info_names() -> None:
    words = ["none", "rejected", "declined", "accepted"]
    env, seen = TradesEnv(), set()
    for moment in episode(env, 24, legal_offer):
        answer = words[int(moment.observation["last_answer"][0])]
        assert moment.info.get("answer", "none") == answer
        seen.add(answer)
    assert seen == set(words)


def test_technicians_stand_and_work_where_the_desk_says() -> None:
    env, activities = TradesEnv(), set()
    for moment in episode(env, 25):
        people = env.desk["technicians"][:4]
        assert moment.observation["activity"].tolist() == people["activity"].tolist()
        place = moment.observation["place"].reshape(4, 2)
        np.testing.assert_allclose(place[:, 0], people["x"] / 1000, atol=1e-4)
        np.testing.assert_allclose(place[:, 1], people["y"] / 1000, atol=1e-4)
        free = moment.observation["free_in"]
        assert not free[people["activity"] != 3].any()
        activities |= set(people["activity"].tolist())
    assert activities == {0, 1, 2, 3}


def test_the_plan_shows_the_worst_slack_exactly_where_an_offer_is_not_legal() -> None:
    env = TradesEnv(observation="planned")
    for moment in episode(env, 26):
        illegal = moment.info["action_mask"].ravel() == 0
        slack, added = moment.observation["slot_slack"], moment.observation["slot_added"]
        assert (slack[illegal] == -1440).all()
        assert not added[illegal].any()
        if not moment.terminated:
            assert (slack[~illegal] > -1440).any()


def test_after_the_end_there_is_no_call_and_no_legal_offer() -> None:
    env = TradesEnv(days=1)
    env.reset(seed=1)
    ended = False
    while not ended:
        observation, _, ended, _, info = env.step(REJECT)
    assert observation["call"].tolist() == [0, 0, 0, 0, 0]
    assert not info["action_mask"].any()
    assert observation["time"][0] == 0
    assert observation["time"][3] == 1
