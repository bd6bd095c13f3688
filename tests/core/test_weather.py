"""The weather of ten zones and what is forecast of it (A.5)."""

from __future__ import annotations

from datetime import date
from itertools import pairwise
from typing import Any

import numpy as np
import pytest

from tests.worlds import tiny_business, tiny_map
from tradesbench_gym.company.business import open_business
from tradesbench_gym.company.scenario import load_scenario
from tradesbench_gym.company.simulation import Simulation
from tradesbench_gym.core.codes import Condition, Stop
from tradesbench_gym.core.layout import FORECAST_DAYS

DAYS = 14
EVENTS = (Condition.WIND, Condition.RAIN, Condition.STORM)


def sky(start: str, seed: int) -> Any:
    """True weather of two weeks in two zones."""
    business = open_business(load_scenario("sunridge"), tiny_map(), DAYS, date.fromisoformat(start))
    return Simulation(seed, business=business).record["sky"][:DAYS, :2]


def year() -> list[str]:
    return [f"2026-{month:02}-01" for month in range(1, 13)]


def test_highs_average_87_over_the_year_and_peak_in_summer() -> None:
    means = [np.mean([sky(start, seed)["high"].mean() for seed in range(6)]) for start in year()]
    # A month's mean of six runs has a standard error of about 1.4 °F, the year's of 0.4.
    assert abs(np.mean(means) - 87) < 2
    assert int(np.argmax(means)) in {5, 6, 7}
    assert int(np.argmin(means)) in {0, 11}


def test_storms_are_rare_outside_the_summer_monsoon() -> None:
    def storms(start: str) -> float:
        skies = [sky(start, seed)["condition"] for seed in range(12)]
        return float(np.mean([condition == Condition.STORM for condition in skies]))

    monsoon, autumn = storms("2026-07-15"), storms("2026-11-01")
    assert monsoon > 0.1
    assert autumn < 0.06
    assert monsoon > 3 * autumn


def test_the_highs_of_a_day_are_near_those_of_the_day_before() -> None:
    """What differs from the season tends back to it: about 0.7 of it is left the next day."""
    pairs = []
    for seed in range(25):
        high = sky("2026-01-01", seed)["high"][:, 0].astype(float) - 68
        pairs += list(pairwise(high))
    before, after = np.array(pairs).T
    kept = np.corrcoef(before, after)[0, 1]
    assert 0.55 < kept < 0.85


def test_neighbouring_zones_have_much_the_same_weather() -> None:
    both = np.concatenate([sky("2026-10-01", seed)["high"] for seed in range(12)]).astype(float)
    assert np.corrcoef(both[:, 0], both[:, 1])[0, 1] > 0.8
    assert (both[:, 0] != both[:, 1]).any()


def test_conditions_follow_the_thresholds_of_the_scenario() -> None:
    weather = load_scenario("sunridge").weather
    seen = np.concatenate([sky(start, seed) for start in year() for seed in range(3)]).ravel()
    for high, condition in zip(seen["high"].tolist(), seen["condition"].tolist(), strict=True):
        if condition in EVENTS:
            continue
        expected = (
            Condition.EXTREME_HEAT
            if high >= weather.extreme_from
            else Condition.HOT
            if high >= weather.hot_from
            else Condition.COOL
            if high < weather.cool_below
            else Condition.CLEAR
        )
        assert condition == expected
    assert set(seen["condition"].tolist()) == set(Condition)


def test_a_month_without_storms_has_none_and_one_full_of_them_has_many() -> None:
    never = tiny_business({f"weather.{sign}_days": [0] * 12 for sign in ("storm", "rain", "wind")})
    often = tiny_business(
        {
            "weather.storm_days": [28] * 12,
            "weather.zone_hit.storm": 1,
        }
    )
    run = Simulation(1, business=never).record
    assert not np.isin(run["sky"]["condition"][:14, :2], EVENTS).any()
    stormy = Simulation(1, business=often).record["sky"]["condition"][:14, :2] == Condition.STORM
    assert stormy.sum() > 14  # 28 of 31 October days
    assert (stormy[:, 0] == stormy[:, 1]).all()  # each zone is hit


def mornings(simulation: Simulation) -> list[Any]:
    """What is forecast each morning."""
    seen = []
    while (stop := simulation.advance()) != Stop.ENDED:
        if stop == Stop.DAY_OPENED:
            seen.append(simulation.record["forecast"].copy())
        elif stop == Stop.NEW_CALL:
            simulation.reject()
    return seen


def test_today_is_known_and_seven_days_are_forecast_less_and_less_well() -> None:
    errors: list[list[float]] = [[] for _ in range(FORECAST_DAYS + 1)]
    for seed in range(5):
        simulation = Simulation(seed, business=tiny_business({"pay.starting_cash": 10**6}))
        truth = simulation.record["sky"].copy()
        for day, said in enumerate(mornings(simulation)):
            assert said["high"].shape[0] == 8
            for ahead in range(8):
                off = said["high"][ahead, :2].astype(int) - truth["high"][day + ahead, :2]
                errors[ahead] += off.tolist()
            assert (said["condition"][0, :2] == truth["condition"][day, :2]).all()
    spread = [float(np.std(values)) for values in errors]
    assert spread[0] == 0
    assert 0 < spread[1] < spread[3] < spread[7]
    # Independent errors of equal size add up as the square root of the lead.
    assert spread[4] / spread[1] == pytest.approx(2, rel=0.35)


def test_a_longer_leads_error_contains_the_shorter_ones() -> None:
    """Each day of lead adds one error of its own: what is forecast of a day changes by it from
    morning to morning, so that no average of forecasts comes nearer to the truth than the last.
    """
    steps: list[list[int]] = []
    for seed in range(6):
        simulation = Simulation(seed, business=tiny_business({"pay.starting_cash": 10**6}))
        said = mornings(simulation)
        for target in range(7, 14):
            row = [int(said[target - ahead]["high"][ahead, 0]) for ahead in range(7, -1, -1)]
            steps.append(np.diff(row).tolist())
    moves = np.array(steps, float)
    correlated = np.corrcoef(moves.T)[np.triu_indices(7, 1)]
    # Independent steps: the correlation of 42 pairs has a standard error of 0.15.
    assert abs(correlated.mean()) < 0.15
    assert np.abs(moves).mean() > 0.3


def test_the_weather_of_a_run_is_the_same_whatever_the_company_does() -> None:
    one, two = (Simulation(8, business=tiny_business({"pay.starting_cash": 10**6})) for _ in "12")
    before = one.record["sky"].copy()
    mornings(one)
    while two.next_call() == Stop.NEW_CALL:
        two.leave_unanswered()
    assert (one.record["sky"] == before).all()
    assert (two.record["sky"] == before).all()


def test_the_weather_of_a_date_does_not_depend_on_how_long_the_run_is() -> None:
    short = Simulation(8, business=tiny_business(days=3)).record["sky"][:17]
    long = Simulation(8, business=tiny_business(days=14)).record["sky"][:17]
    assert (short == long).all()
