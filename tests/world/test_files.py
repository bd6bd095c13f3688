"""Files that cannot be used: one clear sentence, and the file as it was."""

from __future__ import annotations

import random
import sqlite3
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.world.runs import (
    MAP,
    business,
    create,
    refused,
    resume,
    rows,
    trespass,
    untouched,
)
from tradesbench_gym.errors import MapError, ScenarioError, StateError
from tradesbench_gym.world import World, audit, replay
from tradesbench_gym.world.schema import WORLD_VERSION

Copy = Callable[[], Path]
EVERYBODY: dict[str, Callable[[Path], object]] = {
    "resume": resume,
    "audit": lambda path: audit(path, map=MAP),
    "replay": lambda path: list(replay(path, map=MAP)),
}


@pytest.fixture(params=EVERYBODY)
def whoever(request: pytest.FixtureRequest) -> Callable[[Path], object]:
    return EVERYBODY[request.param]


Whoever = Callable[[Path], object]


def test_a_name_in_use_is_refused(finished_run: Path) -> None:
    with untouched(finished_run):
        assert "there already" in refused(lambda: create(finished_run), "exists")


def test_a_missing_file_is_named(whoever: Whoever, tmp_path: Path) -> None:
    path = tmp_path / "no.sqlite"
    with untouched(path):
        assert f"no file {path}" in refused(lambda: whoever(path), "missing")


def test_a_missing_folder_is_named(tmp_path: Path) -> None:
    said = refused(lambda: create(tmp_path / "no" / "run.sqlite"), "no_folder")
    assert str(tmp_path / "no") in said


def test_a_folder_is_no_world(whoever: Whoever, tmp_path: Path) -> None:
    refused(lambda: whoever(tmp_path), "not_a_database")


@pytest.mark.parametrize("content", [b"", b"x", b"not a database " * 1000])
def test_a_file_that_is_no_database_is_told_apart(
    content: bytes, whoever: Whoever, tmp_path: Path
) -> None:
    path = tmp_path / "run.sqlite"
    path.write_bytes(content)
    with untouched(path):
        refused(lambda: whoever(path), "not_a_database")


@pytest.mark.parametrize("mode", ["delete", "wal"])
def test_a_database_of_something_else_is_told_apart(
    mode: str, whoever: Whoever, tmp_path: Path
) -> None:
    path = tmp_path / "run.sqlite"
    connection = sqlite3.connect(path)
    connection.execute(f"PRAGMA journal_mode = {mode}")
    connection.execute("CREATE TABLE t (a)")
    connection.close()
    with untouched(path):
        assert "something else" in refused(lambda: whoever(path), "foreign")


@pytest.mark.parametrize(("version", "age"), [(WORLD_VERSION + 1, "newer"), (0, "older")])
def test_a_file_of_another_version_is_refused_by_name(
    version: int, age: str, whoever: Whoever, copy_of_run: Copy
) -> None:
    path = copy_of_run()
    rows(path, "PRAGMA user_version = {}", version)
    with untouched(path):
        said = refused(lambda: whoever(path), "version")
    assert f"{age} version" in said
    assert f"version {version}" in said


def test_a_file_whose_journal_was_written_otherwise_is_refused_by_name(
    whoever: Whoever, tmp_path: Path
) -> None:
    """In version 1 whoever was registered was entered in both books; the journal did not say."""
    path = tmp_path / "run.sqlite"
    with create(path) as world:
        world.next_call()
        address = int(world.record["calls"][0]["address"])
        world.register(address)
    told = f'{{"address":{address}}}'
    trespass(path, f"UPDATE journal SET arguments = '{told}' WHERE command = 6")  # noqa: S608 - a test
    rows(path, "PRAGMA user_version = 1")
    with untouched(path):
        said = refused(lambda: whoever(path), "version")
    assert "an older version of the package" in said
    assert f"this package reads version {WORLD_VERSION}" in said


def test_a_file_cut_short_anywhere_is_refused(whoever: Whoever, copy_of_run: Copy) -> None:
    path, dice = copy_of_run(), random.Random(4)
    whole = path.read_bytes()
    for length in [1, 99, 100, 4096, len(whole) - 1, *dice.sample(range(len(whole)), 12)]:
        path.write_bytes(whole[:length])
        with untouched(path), pytest.raises(Exception) as caught:  # noqa: PT011 - looked at below
            whoever(path)
        assert getattr(caught.value, "code", "") in {"damaged", "not_a_database"}, caught.value


@pytest.mark.parametrize(
    ("change", "code"),
    [
        ("UPDATE run SET rules = rules + 1", "rules"),
        ("UPDATE run SET layout = replace(layout, 'a', 'b')", "layout"),
        ("UPDATE run SET map_digest = replace(map_digest, 'a', 'b')", "map"),
        ("UPDATE run SET scenario_digest = replace(scenario_digest, 'a', 'b')", "scenario"),
        ("UPDATE run SET scenario_text = 'nonsense'", "scenario"),
        ("UPDATE run SET seed = '8'", "journal"),
        ("UPDATE journal SET digest = replace(digest, 'a', 'b') WHERE number = 9", "journal"),
        ("UPDATE journal SET command = 3, arguments = '{}' WHERE number = 9", "journal"),
        ("DELETE FROM journal WHERE number = 9", "journal"),
        ("DELETE FROM events WHERE number = 9", "rows"),
        ("UPDATE ledger SET cents = cents + 1 WHERE number = 1", "rows"),
        ("DELETE FROM run", "damaged"),
        ("DELETE FROM head", "damaged"),
        ("UPDATE run SET days = 999", "damaged"),
    ],
)
def test_a_run_that_does_not_agree_with_its_file_is_not_resumed(
    change: str, code: str, copy_of_run: Copy
) -> None:
    path = copy_of_run()
    trespass(path, change)
    with untouched(path):
        refused(lambda: resume(path), code)


def test_a_run_on_another_map_is_refused_and_on_an_unknown_one_asks_for_it(
    finished_run: Path,
) -> None:
    with untouched(finished_run):
        refused(lambda: World.open(finished_run, map="phoenix"), "map")
        assert "name its file with map" in refused(lambda: World.open(finished_run), "map")


def test_a_run_that_cannot_be_leaves_no_file(tmp_path: Path) -> None:
    path = tmp_path / "run.sqlite"
    with pytest.raises(ScenarioError):
        World.create(path, 1, scenario="nowhere")
    with pytest.raises(MapError):
        World.create(path, 1, map="nowhere")
    with pytest.raises(StateError):
        World.create(path, -1, business=business())
    assert list(tmp_path.iterdir()) == []
