"""What step and reset give back is of the declared type and in its bounds, and stays so."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from gymnasium import spaces

from tests.envs.playing import (
    Choose,
    any_action,
    episode,
    frozen,
    legal_offer,
    offer,
    tiny_env,
)
from tests.worlds import WILLING
from tradesbench_gym.company.scenario import load_scenario
from tradesbench_gym.envs import TradesEnv

CHOICES = [any_action, legal_offer]


@pytest.fixture(scope="module", params=["desk", "planned"])
def env(request: pytest.FixtureRequest) -> TradesEnv:
    return TradesEnv(observation=request.param)


@pytest.mark.parametrize("choose", CHOICES)
def test_rewards_are_floats_and_flags_are_bools(env: TradesEnv, choose: Choose) -> None:
    moments = list(episode(env, 11, choose))[1:]
    assert {type(moment.reward) for moment in moments} == {float}
    assert {type(flag) for moment in moments for flag in moment[2:4]} == {bool}
    assert [moment.terminated for moment in moments] == [False] * (len(moments) - 1) + [True]
    assert not any(moment.truncated for moment in moments)
    assert np.isfinite([moment.reward for moment in moments]).all()


@pytest.mark.parametrize("choose", CHOICES)
def test_observations_are_whole_arrays_inside_the_declared_bounds_at_every_step(
    env: TradesEnv, choose: Choose
) -> None:
    space = env.observation_space
    assert isinstance(space, spaces.Dict)
    for moment in episode(env, 12, choose):
        assert space.contains(moment.observation)
        assert set(moment.observation) == set(space.spaces)
        for name, array in moment.observation.items():
            flags = array.flags
            assert type(array) is np.ndarray, name
            assert flags.c_contiguous, name
            assert flags.aligned, name
            assert flags.writeable, name
            assert array.dtype == space[name].dtype, name
            assert array.shape == space[name].shape, name
            assert np.isfinite(array).all(), name
        mask = moment.info["action_mask"]
        assert (mask.dtype, mask.shape) == (np.int8, (4, 14, 6))
        assert mask.flags.c_contiguous
        assert set(np.unique(mask)) <= {0, 1}
        assert moment.observation["call"][0] == (not moment.terminated)
        assert mask.any() != moment.terminated


@pytest.mark.parametrize("choose", CHOICES)
def test_nothing_handed_out_is_ever_changed_later(env: TradesEnv, choose: Choose) -> None:
    kept, taken = [], []
    for moment in episode(env, 13, choose):
        flat = env.action_masks()
        kept.append((moment, flat))
        taken.append(frozen((tuple(moment), flat)))
    env.reset(seed=14)
    env.set_state(env.get_state())
    assert [frozen((tuple(moment), flat)) for moment, flat in kept] == taken


def test_what_the_user_does_to_an_observation_changes_no_error_sentence() -> None:
    diana_in_the_evening = offer(1, 0, 5)
    plain, scaling = TradesEnv(), TradesEnv()
    plain.reset(seed=15)
    observation, _ = scaling.reset(seed=15)
    for array in observation.values():
        array[...] = 9
    errors = [env.step(diana_in_the_evening)[4]["error"] for env in (plain, scaling)]
    assert errors[0] == errors[1]


def test_what_the_user_does_to_a_mask_changes_no_other_mask() -> None:
    env = TradesEnv()
    _, info = env.reset(seed=15)
    before = env.action_masks()
    info["action_mask"][:] = 0
    np.testing.assert_array_equal(env.action_masks(), before)


def test_what_the_user_does_to_an_observation_changes_no_later_one() -> None:
    plain, spoilt = TradesEnv(observation="planned"), TradesEnv(observation="planned")
    twins = zip(episode(plain, 16), episode(spoilt, 16), strict=True)
    for kept, changed in twins:
        assert frozen(tuple(kept)) == frozen(tuple(changed))
        for array in changed.observation.values():
            array[...] = 1
        changed.info["action_mask"] = changed.info["action_mask"].copy()


def _out_of_bounds(env: TradesEnv, seed: int) -> dict[str, int]:
    """Parts of the observation that leave their bounds, and at which step first."""
    space = env.observation_space
    assert isinstance(space, spaces.Dict)
    found: dict[str, int] = {}
    for step, moment in enumerate(episode(env, seed)):
        for name, array in moment.observation.items():
            if not space[name].contains(array):
                found.setdefault(name, step)
    return found


def _prices(dollars: int) -> dict[str, Any]:
    return {
        f"services.{service}.prices.{customer}": [dollars] * 3
        for service in ("hvac_service", "hvac_installation", "plumbing", "electrical")
        for customer in ("residential", "apartment", "commercial")
    }


def _material(share: int) -> dict[str, Any]:
    return {
        f"services.{service}.material_{end}": share
        for service in ("hvac_service", "hvac_installation", "plumbing", "electrical")
        for end in ("low", "high")
    }


EDGES: dict[str, dict[str, Any]] = {
    "as shipped": {},
    "forty calls a day": {"demand.start": 40, "demand.cap": 40, "demand.loss": 0},
    "no money at all": {"pay.starting_cash": 0, **_prices(0)},
    "every job dear": _prices(100_000),
    "a short calendar": {"calendar.booking_days": 1},
    "slow drives": {"driving.variation_high": "1.6", "driving.variation_low": "1.6"},
    "the worst plan": {"estimate.circuity": 5, "estimate.speed_kmh": 1, "estimate.margin": 720},
    "a cold place": {"weather.normal_high": [-50] * 12},
    "wild weather": {f"weather.{key}": [28] * 12 for key in ("storm_days", "rain_days")},
    "failed visits that last all night": {"visits.failed": 690},
    "a hot place": {"weather.normal_high": [150] * 12},
    "dear material": {**_prices(100_000), **_material(1), "pay.off_hours_share": 1},
}


@pytest.mark.parametrize("changes", list(EDGES.values()), ids=list(EDGES))
def test_the_bounds_hold_for_whatever_scenario_the_loader_lets_in(changes: dict[str, Any]) -> None:
    scenario = load_scenario().replace({"demand.start": 30, **changes})
    env = TradesEnv(scenario=scenario, observation="planned", days=10)
    for seed in range(8):
        assert _out_of_bounds(env, seed) == {}


def test_a_caller_at_the_very_edge_of_the_map_lies_within_the_bounds() -> None:
    env = TradesEnv()
    env.reset(seed=1)
    space, run = env.observation_space, env.simulation.record
    assert isinstance(space, spaces.Dict)
    places = env.simulation.business.places
    for edge in {int(find(places[axis])) for axis in "xy" for find in (np.argmin, np.argmax)}:
        place = places[edge]
        for who in (run["calls"][int(run["line"])], *run["technicians"]):
            who["x"], who["y"] = place["x"], place["y"]
        observation, _ = env.observe()
        kilometres = [place["x"] / 1000, place["y"] / 1000]
        np.testing.assert_allclose(observation["call_place"], kilometres, rtol=1e-6)
        assert space["call_place"].contains(observation["call_place"])
        assert space["place"].contains(observation["place"])


def test_more_open_jobs_than_rows_leave_the_soonest_ones_in_view() -> None:
    changes = {
        **WILLING,
        "pay.starting_cash": 200_000,
        "demand.start": 40,
        "demand.cap": 40,
    }
    env = tiny_env(changes, days=31)
    _, info = env.reset(seed=2)
    open_jobs = 0
    while open_jobs <= 280:
        windows = np.argwhere(info["action_mask"][:, 11:])
        technician, ahead, window = windows[len(windows) // 2].tolist()
        observation, _, ended, _, info = env.step(offer(technician, ahead + 11, window))
        assert not ended
        open_jobs = int(observation["slot_jobs"].sum())
    rows = observation["open_jobs"].reshape(128, 8)
    assert (rows[:, 0] > 0).all()
    calls = env.desk["calls"][: int(env.desk["n_calls"])]
    days = np.sort(calls["day"][(calls["state"] >= 4) & (calls["state"] <= 7)])
    np.testing.assert_array_equal(rows[:, 2] + env.simulation.day, days[:128])


def test_places_on_a_whole_kilometre_lie_inside_the_bounds() -> None:
    env = tiny_env({}, days=2)  # technicians live on the corners of a grid of 3,000 m
    observation, _ = env.reset(seed=1)
    assert env.observation_space.contains(observation)
