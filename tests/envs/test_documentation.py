"""The class docstring is the manual: each number in it is held against the code."""

from __future__ import annotations

import inspect
import re
from typing import Any

import numpy as np
import pytest
from gymnasium import spaces

from tests.envs.playing import REJECT, action_sizes
from tradesbench_gym.company.refusals import window_text
from tradesbench_gym.core import parts as observed
from tradesbench_gym.core.codes import Activity
from tradesbench_gym.core.layout import FIELDS, MAX_CUSTOMER_TYPES, SIZE_CLASSES
from tradesbench_gym.envs import TradesEnv, numbering, trades_env

DOC = inspect.cleandoc(TradesEnv.__doc__ or "")
PROSE = " ".join(DOC.split())
Table = list[dict[str, str]]


def _tables(section: str) -> list[Table]:
    """The tables of a section, each row by the names in the table's head."""
    body = DOC.split(f"## {section}\n")[1].split("\n## ")[0]
    tables: list[Table] = []
    for block in re.findall(r"(?:^\|.*\|$\n?)+", body, re.MULTILINE):
        head, _, *rows = [
            [cell.strip() for cell in line[1:-1].split("|")] for line in block.split("\n") if line
        ]
        tables.append([dict(zip(head, row, strict=True)) for row in rows])
    return tables


@pytest.fixture(scope="module")
def env() -> TradesEnv:
    return TradesEnv(observation="planned")


def test_the_sections_are_those_of_a_gymnasium_page() -> None:
    sections = re.findall(r"^## (.*)$", DOC, re.MULTILINE)
    for wanted in ("Description", "Action space", "Observation space", "Rewards", "Arguments"):
        assert wanted in sections
    assert sections.index("Action space") < sections.index("Observation space")


def test_the_action_space_is_as_documented(env: TradesEnv) -> None:
    (table,) = _tables("Action space")
    said = re.search(r"`MultiDiscrete\(\[(.*?)\]\)`, (\w+)", PROSE)
    assert said is not None
    assert [int(size) for size in said[1].split(",")] == action_sizes(env).tolist()
    assert env.action_space.dtype == np.dtype(said[2])
    assert [row["entry"] for row in table] == ["0", "1", "2", "3"]
    for row, size in zip(table, action_sizes(env).tolist(), strict=True):
        numbers = re.findall(r"(?:^|, |to )(\d+)", re.sub(r"\(.*\)", "", row["values"]))
        assert int(numbers[0]) == 0
        assert int(numbers[-1]) == size - 1, row


def test_technicians_and_windows_are_named_as_in_the_scenario(env: TradesEnv) -> None:
    (table,) = _tables("Action space")
    business = env.simulation.business
    firsts = [person.name.split()[0] for person in business.scenario.technicians]
    assert table[1]["values"] == ", ".join(f"{k} {name}" for k, name in enumerate(firsts))
    windows = [
        window_text(business, k).replace(":00", "") for k in range(len(business.scenario.windows))
    ]
    assert table[3]["values"] == ", ".join(f"{k} {hours}" for k, hours in enumerate(windows))


def _check_rows(table: Table, parts: tuple[observed.Part, ...], env: TradesEnv) -> None:
    assert [row["key"] for row in table] == [part.name for part in parts]
    space = env.observation_space
    assert isinstance(space, spaces.Dict)
    for row, part in zip(table, parts, strict=True):
        assert space[row["key"]].shape == (int(row["size"]),), row
        assert space[row["key"]].dtype == np.dtype(row["dtype"]), row
        assert row["unit"] == part.unit, row
        assert row["meaning"], row


def test_the_observation_space_is_as_documented(env: TradesEnv) -> None:
    desk, planned = _tables("Observation space")
    _check_rows(desk, observed.OBSERVATION, env)
    _check_rows(planned, observed.PLANNED, env)
    space = env.observation_space
    assert isinstance(space, spaces.Dict)
    assert set(space.spaces) == {row["key"] for row in desk + planned}
    plain = TradesEnv().observation_space
    assert isinstance(plain, spaces.Dict)
    assert set(plain.spaces) == {row["key"] for row in desk}


def test_services_and_customer_types_are_numbered_as_documented(env: TradesEnv) -> None:
    said = re.search(r"Services are (.*?), from (\d+) on other work", PROSE)
    assert said is not None
    services = env.simulation.business.scenario.services
    assert said[1] == ", ".join(
        f"{k} {s.label if s.label[1].isupper() else s.label.lower()}"
        for k, s in enumerate(services)
    )
    assert int(said[2]) == len(services)
    said = re.search(r"customer types (.*?)\.", PROSE)
    assert said is not None
    keys = [who.key for who in env.simulation.business.scenario.customers]
    assert said[1] == ", ".join(f"{k} {key}" for k, key in enumerate(keys))
    assert len(keys) == MAX_CUSTOMER_TYPES


def test_categories_are_numbered_as_documented() -> None:
    rows = {row["key"]: row["meaning"] for row in _tables("Observation space")[0]}
    activities = ", ".join(f"{a.value} {a.name.lower()}" for a in Activity)
    assert rows["activity"].endswith(activities)
    assert rows["last_answer"] == "0 none or refused, 1 rejected, 2 declined, 3 accepted"


def test_the_columns_of_jobs_and_counts_are_as_documented() -> None:
    said = re.search(
        r"Columns of `open_jobs`: (.*?)\. Columns of `counts` and `today`: (.*?)\.", PROSE
    )
    assert said is not None
    columns = re.sub(r"\(.*?\)", "", said[1]).split(", ")
    assert len(columns) == observed.JOB_COLUMNS
    rows = {row["key"]: row for row in _tables("Observation space")[0]}
    assert "the next days first" in rows["open_jobs"]["meaning"]
    assert int(rows["open_jobs"]["size"]) == observed.OPEN_JOBS * observed.JOB_COLUMNS
    counted = [f.name for f in FIELDS["day"] if f.seen == "desk" and f.unit in {"calls", "jobs"}]
    assert said[2].split(", ") == counted


def test_the_arguments_are_as_documented() -> None:
    (table,) = _tables("Arguments")
    parameters = inspect.signature(TradesEnv).parameters
    assert [row["argument"] for row in table] == list(parameters)
    for row in table:
        default = parameters[row["argument"]].default
        shown = f'"{default}"' if isinstance(default, str) else str(default)
        if row["default"].startswith("the scenario's"):
            shown = row["default"]
            assert default is None
        assert row["default"] == shown
    said = {row["argument"]: row["meaning"] for row in table}
    assert said["observation"] == " or ".join(f'"{mode}"' for mode in trades_env.OBSERVATIONS)
    assert re.findall(r'"(\w+)"', said["render_mode"]) == TradesEnv.metadata["render_modes"]
    assert said["days"] == f"1 to {max(SIZE_CLASSES)}"


def test_the_defaults_of_the_scenario_are_as_documented(env: TradesEnv) -> None:
    (table,) = _tables("Arguments")
    calendar = env.simulation.business.scenario.calendar
    defaults = {row["argument"]: row["default"] for row in table}
    assert defaults["days"] == f"the scenario's, {calendar.days}"
    assert defaults["start_date"] == f"the scenario's, {calendar.start_date}"


def test_the_first_open_run_and_the_mask_are_as_documented(env: TradesEnv) -> None:
    assert f"numbered {numbering.FIRST_OPEN_RUN:,} or above" in PROSE
    sizes = ", ".join(map(str, action_sizes(env)[1:].tolist()))
    assert f'`info["action_mask"]` holds the legal offers, int8, shape ({sizes})' in PROSE


def test_info_holds_what_is_documented_and_nothing_else(env: TradesEnv) -> None:
    named = set(re.findall(r'info\["(\w+)"\]', PROSE))
    _, info = env.reset(seed=1)
    found: set[str] = set(info)
    ended, action = False, REJECT
    while not ended:
        _, _, ended, _, info = env.step(action)
        found |= set(info)
        action = np.array([1, 1, 0, 5]) if action is REJECT else REJECT
    assert found == named


def test_the_documented_example_of_a_start_date_works() -> None:
    (table,) = _tables("Arguments")
    (said,) = [row["meaning"] for row in table if row["argument"] == "start_date"]
    date: Any = re.findall(r'"([\d-]+)"', said)[0]
    assert str(TradesEnv(start_date=date).simulation.business.start_date) == date
