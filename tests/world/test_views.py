"""The views for people: what they say agrees with the run, and a file does without them."""

# ruff: noqa: S608 - the SQL is put together from the package's own words

from __future__ import annotations

import re
import sqlite3
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.world.runs import MAP, create, play_steps, resume, rows, trespass
from tradesbench_gym.company.play import results
from tradesbench_gym.core.codes import CallState
from tradesbench_gym.world import audit, replay
from tradesbench_gym.world.schema import COLUMNS, view_objects

VIEWS = sorted(name for _, name in view_objects())
PAGE = Path(__file__).parents[2] / "docs" / "world.md"
DROPPED = [f"DROP VIEW {name}" for name in VIEWS]


def test_every_view_for_people_shows_something(finished_run: Path) -> None:
    assert VIEWS == ["about", "daily_ledger", "earnings", "offers", "visits"]
    for view in VIEWS:
        assert rows(finished_run, "SELECT * FROM {}", view), view


def test_the_views_add_up_to_the_figures_of_the_run(finished_run: Path) -> None:
    for step in replay(finished_run, map=MAP):
        simulation = step.simulation
    came_to, profit = results(simulation), simulation.profit_cents / 100
    assert rows(finished_run, "SELECT profit, state FROM about") == [(profit, "ended")]
    assert rows(finished_run, "SELECT round(sum(total), 2) FROM daily_ledger") == [(profit,)]
    (earned,) = rows(finished_run, "SELECT round(sum(total), 2) FROM earnings")[0]
    fixed = "SELECT sum(cents) / 100.0 FROM ledger WHERE entry >= 5"
    assert earned == pytest.approx(profit - rows(finished_run, fixed)[0][0])
    counts = dict(rows(finished_run, "SELECT answer, count(*) FROM offers GROUP BY answer"))
    assert counts.get("declined", 0) == came_to.declined
    asked = "SELECT count(*) FROM visits WHERE result = 'done'"
    assert rows(finished_run, asked) == [(came_to.completed,)]


def test_a_visit_that_was_done_began_inside_its_window(finished_run: Path) -> None:
    found = rows(
        finished_run,
        "SELECT spare_minutes, started, service_day, arrival_window FROM visits "
        "WHERE result = 'done'",
    )
    assert found
    for spare, started, day, window in found:
        opens, closes = window.split("-")
        assert f"{day} {opens}:00" <= started <= f"{day} {closes}:00"
        assert 0 <= spare <= 120


def test_an_offer_s_lead_is_that_of_the_run(finished_run: Path) -> None:
    for step in replay(finished_run, map=MAP):
        simulation = step.simulation
    opens = simulation.business.handbook["opens"]
    for call, hours, answer in rows(finished_run, "SELECT call, lead_hours, answer FROM offers"):
        row = simulation.record["calls"][call - 1]
        lead = int(row["day"]) * 86_400 + int(opens[row["window"]]) - int(row["rang_at"])
        assert hours == pytest.approx(lead / 3600, abs=0.006)
        assert (answer == "declined") == (row["state"] == CallState.DECLINED)


def test_a_file_that_lacks_the_views_is_proven_and_played_on(tmp_path: Path) -> None:
    path = tmp_path / "run.sqlite"
    with create(path) as world:
        play_steps(world, 20)
    trespass(path, *DROPPED)
    assert audit(path, map=MAP).ok
    with resume(path) as world:
        play_steps(world, 40)
    assert audit(path, map=MAP).ok
    assert sum(1 for _ in replay(path, map=MAP)) > 40


def test_a_view_that_says_something_else_is_named_by_an_audit(
    copy_of_run: Callable[[], Path],
) -> None:
    path = copy_of_run()
    trespass(path, "DROP VIEW about", "CREATE VIEW about AS SELECT 1000000 AS profit")
    report = audit(path, map=MAP)
    assert [(one.table, one.row) for one in report.findings] == [("sqlite_schema", "view about")]


@pytest.mark.parametrize("view", VIEWS)
def test_nothing_can_be_written_through_a_view(view: str, finished_run: Path) -> None:
    connection = sqlite3.connect(finished_run)
    try:
        column = connection.execute(f"SELECT * FROM {view}").description[0][0]
        with pytest.raises(sqlite3.OperationalError, match="cannot modify"):
            connection.execute(f"UPDATE {view} SET {column} = 0")
    finally:
        connection.close()


@pytest.mark.skipif(not PAGE.exists(), reason="the documentation is not beside the tests")
def test_the_page_explains_every_column_of_every_table_and_view(finished_run: Path) -> None:
    told: dict[str, list[str]] = {}
    for line in PAGE.read_text(encoding="utf-8").splitlines():
        if found := re.match(r"### `(\w+)`", line):
            name = found[1]
            told[name] = []
        elif found := re.match(r"\| `(\w+)` \| (\S.*) \|$", line):
            told[name].append(found[1])
    asked = "SELECT name FROM sqlite_schema WHERE type IN ('table', 'view')"
    there = {
        name: [row[1] for row in rows(finished_run, "PRAGMA table_info({})", name)]
        for (name,) in rows(finished_run, asked)
    }
    assert told == there
    assert set(COLUMNS) < set(told)


@pytest.mark.skipif(not PAGE.exists(), reason="the documentation is not beside the tests")
def test_every_question_on_the_page_has_an_answer(finished_run: Path) -> None:
    questions = re.findall(r"```sql\n(.*?);\n```", PAGE.read_text(encoding="utf-8"), re.DOTALL)
    assert len(questions) == 3
    for question in questions:
        assert rows(finished_run, "{}", question), question
