"""The text of a scenario in a world file is the scenario, and a scenario file of its own."""

from __future__ import annotations

import string
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.world.runs import business, rows
from tradesbench_gym.company.scenario import Scenario, load_scenario
from tradesbench_gym.errors import ScenarioError
from tradesbench_gym.world.scenario_text import read_scenario, scenario_text

NAMES = st.text(string.printable[:95] + 'äé中"\\', min_size=1, max_size=30).filter(
    lambda text: text.strip() == text
)


def assert_same(scenario: Scenario) -> None:
    text = scenario_text(scenario)
    again = read_scenario(text)
    assert again == scenario
    assert again.digest == scenario.digest
    assert scenario_text(again) == text


@pytest.mark.parametrize("scenario", [load_scenario(), business().scenario])
def test_a_scenario_is_read_back_as_it_was(scenario: Scenario) -> None:
    assert_same(scenario)


@given(company=NAMES, name=NAMES, gain=st.decimals("0", "1", places=4), cash=st.integers(0, 10**6))
def test_whatever_stands_in_a_scenario_is_read_back_as_it_was(
    company: str, name: str, gain: object, cash: int
) -> None:
    changes = {
        "company": company,
        "technicians.marcus.name": name,
        "demand.gain": gain,
        "pay.starting_cash": cash,
    }
    try:
        scenario = load_scenario().replace(changes)
    except ScenarioError:
        return
    assert_same(scenario)


def test_the_text_in_a_world_file_is_a_scenario_file(finished_run: Path, tmp_path: Path) -> None:
    (text,) = rows(finished_run, "SELECT scenario_text FROM run")[0]
    path = tmp_path / "mine.toml"
    path.write_text(text, encoding="utf-8")
    assert load_scenario(path) == business().scenario


@pytest.mark.parametrize("text", ["", "nonsense", "name = 1", "a = [", "x = 1e9999999999"])
def test_what_is_no_scenario_is_refused(text: str) -> None:
    with pytest.raises(ScenarioError):
        read_scenario(text)
