"""The arguments of make(): what each does, and one sentence for what cannot be."""

from __future__ import annotations

from datetime import date, datetime
from pathlib import Path
from typing import Any

import gymnasium as gym
import numpy as np
import pytest

import tradesbench_gym.company.scenario as scenario_module
from tests.envs.playing import REJECT, assert_one_sentence, episode, offer, reject
from tests.worlds import tiny_map
from tradesbench_gym.core.codes import Condition
from tradesbench_gym.envs import TradesEnv
from tradesbench_gym.errors import ActionError, MapError, ScenarioError, TradesBenchError
from tradesbench_gym.roads import write_map

SHIPPED = Path(scenario_module.__file__).with_name("sunridge.toml").read_text(encoding="utf-8")

BAD: list[tuple[str, Any, type[TradesBenchError], tuple[str, ...]]] = [
    ("observation", "pixels", ActionError, ("'desk'", "'planned'", "'pixels'")),
    ("observation", None, ActionError, ("'desk'", "'planned'")),
    ("observation", "Desk", ActionError, ("'desk'",)),
    ("strict", "yes", ActionError, ("False", "True", "'yes'")),
    ("strict", None, ActionError, ("False", "True")),
    ("strict", 2, ActionError, ("False", "True")),
    ("render_mode", "depth_array", ActionError, ("None", "'ansi'", "'human'", "'rgb_array'")),
    ("render_mode", 1, ActionError, ("'ansi'",)),
    ("days", 0, ScenarioError, ("1 to 31", "0")),
    ("days", -1, ScenarioError, ("1 to 31",)),
    ("days", 32, ScenarioError, ("1 to 31", "32")),
    ("days", 1.5, ScenarioError, ("1 to 31", "1.5")),
    ("days", "14", ScenarioError, ("1 to 31", "'14'")),
    ("days", True, ScenarioError, ("1 to 31",)),
    ("start_date", "July", ScenarioError, ("2026-10-01", "'July'")),
    ("start_date", "2026-02-30", ScenarioError, ("2026-10-01",)),
    ("start_date", "1776-07-04", ScenarioError, ("1900", "2999")),
    ("start_date", 20261001, ScenarioError, ("2026-10-01",)),
    ("scenario", "moonridge", ScenarioError, ("sunridge", "moonridge")),
    ("scenario", "no/such.toml", ScenarioError, ("such.toml",)),
    ("scenario", 7, ScenarioError, ("name", "int")),
    ("map", "atlantis", MapError, ("phoenix", "atlantis")),
    ("map", "no/such.tbmap", MapError, ("such.tbmap",)),
]


@pytest.mark.parametrize(
    ("name", "value", "kind", "words"), BAD, ids=[f"{name}={value!r}" for name, value, *_ in BAD]
)
def test_a_value_that_cannot_be_gets_a_sentence_that_names_what_can(
    name: str, value: Any, kind: type[TradesBenchError], words: tuple[str, ...]
) -> None:
    with pytest.raises(kind) as caught:
        TradesEnv(**{name: value})
    assert_one_sentence(caught.value)
    assert caught.value.field == name
    for word in words:
        assert word in caught.value.message


OF_ANOTHER_TYPE: list[tuple[str, Any, type[TradesBenchError]]] = [
    ("observation", np.array(["desk", "planned"]), ActionError),
    ("map", 7, MapError),
    ("map", None, MapError),
]


@pytest.mark.parametrize(
    ("name", "value", "kind"),
    OF_ANOTHER_TYPE,
    ids=[f"{name}={value!r}" for name, value, _ in OF_ANOTHER_TYPE],
)
def test_a_value_of_another_type_gets_its_sentence_too(
    name: str, value: Any, kind: type[TradesBenchError]
) -> None:
    with pytest.raises(kind) as caught:
        TradesEnv(**{name: value})
    assert_one_sentence(caught.value)


def test_make_hands_the_same_sentence_on() -> None:
    with pytest.raises(ScenarioError, match="1 to 31"):
        gym.make("tradesbench_gym:TradesBench-v0", days=32)
    with pytest.raises(TypeError, match="wheather"):
        gym.make("tradesbench_gym:TradesBench-v0", wheather="fine")


@pytest.mark.parametrize("days", [1, 2, 14, 15, 31])
def test_a_run_ends_with_the_close_of_its_last_day(days: int) -> None:
    """Nobody is bankrupt with ten jobs a day, or before day ten without any."""
    env = TradesEnv(days=days)
    moments = list(episode(env, 6, reject))
    last = moments[-1]
    assert last.info["results"].get("bankrupt_on") == (10 if days >= 10 else None)
    if days < 10:
        assert [m.observation["time"][3] for m in (moments[0], last)] == [days, 1]
        assert {int(m.observation["time"][0]) for m in moments} == set(range(days))


def test_a_long_run_is_played_to_its_last_day_in_the_larger_size_class(tmp_path: Path) -> None:
    rich = tmp_path / "rich.toml"
    rich.write_text(
        SHIPPED.replace("starting_cash = 25000", "starting_cash = 250000"), encoding="utf-8"
    )
    env = TradesEnv(scenario=str(rich), days=31)
    moments = list(episode(env, 6))
    assert moments[-1].info["results"].get("bankrupt_on") is None
    assert {int(moment.observation["time"][0]) for moment in moments} == set(range(31))
    assert all(env.observation_space.contains(moment.observation) for moment in moments[::5])


def test_july_brings_heat_and_the_monsoon() -> None:
    env = TradesEnv(start_date="2027-07-01")
    conditions, highs = set(), []
    for seed in range(5):
        for moment in episode(env, seed, reject):
            conditions |= set(moment.observation["weather"][:10].tolist())
            highs.append(moment.observation["high"][:10].mean())
    assert {Condition.STORM, Condition.HOT, Condition.EXTREME_HEAT} <= conditions
    assert 100 < float(np.mean(highs)) < 112
    assert env.observation_space.contains(moment.observation)


@pytest.mark.parametrize("start", ["2026-10-03", date(2026, 10, 3), datetime(2026, 10, 3, 9)])  # noqa: DTZ001 - no zone in Phoenix
def test_a_run_may_begin_on_any_date(start: Any) -> None:
    env = TradesEnv(start_date=start)
    observation, _ = env.reset(seed=1)
    assert observation["time"][2] == 5
    assert env.simulation.business.start_date == date(2026, 10, 3)


def test_an_edited_copy_of_the_scenario_is_played_by_its_path(tmp_path: Path) -> None:
    """Overhead of 900 instead of 1,250: a weekday of doing nothing costs 2,566 instead of 2,916."""
    mine = tmp_path / "my.toml"
    mine.write_text(SHIPPED.replace("overhead = 1250", "overhead = 900"), encoding="utf-8")
    for given in (str(mine), mine):
        env = TradesEnv(scenario=given, days=1)
        assert sum(moment.reward for moment in episode(env, 1, reject)) == -2_566


def test_a_wrong_file_gets_one_sentence_with_key_and_value(tmp_path: Path) -> None:
    mine = tmp_path / "my.toml"
    mine.write_text(SHIPPED.replace("overhead = 1250", "overhead = -5"), encoding="utf-8")
    with pytest.raises(ScenarioError) as caught:
        TradesEnv(scenario=mine)
    assert_one_sentence(caught.value)
    for word in ("my.toml", "pay.overhead", "-5"):
        assert word in caught.value.message


def test_the_scenario_decides_the_sizes_of_the_spaces(tmp_path: Path) -> None:
    mine = tmp_path / "my.toml"
    start = SHIPPED.index("[technicians.katherine]")
    mine.write_text(SHIPPED[:start] + SHIPPED[SHIPPED.index("[pay]") :], encoding="utf-8")
    env = TradesEnv(scenario=mine)
    observation, info = env.reset(seed=1)
    assert info["action_mask"].shape == (3, 14, 6)
    assert {name: len(observation[name]) for name in ("activity", "place", "slot_jobs")} == {
        "activity": 3,
        "place": 6,
        "slot_jobs": 3 * 14 * 6,
    }
    assert env.observation_space.contains(observation)
    error = env.step(offer(3, 1, 1))[4]["error"]
    assert error["code"] == "unknown_technician"


def test_a_map_of_ones_own_is_played_by_its_path(tmp_path: Path) -> None:
    path = tmp_path / "tiny.tbmap"
    write_map(path, tiny_map())
    env = TradesEnv(scenario=_tiny_scenario(tmp_path), map=path, days=1)
    other = TradesEnv(scenario=_tiny_scenario(tmp_path), map=tiny_map(), days=1)
    env.reset(seed=1)
    other.reset(seed=1)
    assert env.get_state() == other.get_state()


def _tiny_scenario(folder: Path) -> Path:
    """Everybody lives at the one corner of the tiny map that the plane begins with."""
    lines = []
    for line in SHIPPED.splitlines():
        key = line.split(" = ")[0]
        homes = {"home_lat": "home_lat = 33.44", "home_lon": "home_lon = -112.0737"}
        lines.append(homes.get(key, line))
    path = folder / "tiny.toml"
    path.write_text("\n".join(lines), encoding="utf-8")
    return path


def test_arguments_are_by_name_only() -> None:
    with pytest.raises(TypeError):
        TradesEnv("sunridge")  # type: ignore[call-arg]


def test_environments_of_one_business_share_it() -> None:
    first, second = TradesEnv(), TradesEnv()
    assert first.simulation.business is second.simulation.business
    first.reset(seed=1)
    second.reset(seed=2)
    before = second.get_state()
    first.step(REJECT)
    assert second.get_state() == before
