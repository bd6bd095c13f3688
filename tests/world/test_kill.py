"""A run survives its process: killed at any moment, it goes on as if nothing had happened."""

from __future__ import annotations

import os
import random
import signal
import sqlite3
import time
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import pytest

from tests.world.runs import (
    MAP,
    NO_FORK,
    create,
    finished,
    forked,
    kill,
    play_steps,
    play_to_the_end,
    resume,
    rows,
    undisturbed,
)
from tradesbench_gym.world import audit
from tradesbench_gym.world import rows as row_module
from tradesbench_gym.world.files import open_writing

pytestmark = NO_FORK

DAYS = 1
QUICK, MANY = 10, 200


def play_child(path: Path, days: int = DAYS) -> None:
    """What is killed: begin or resume the run, and play it to its end."""
    with resume(path) if path.exists() else create(path, days=days) as world:
        play_to_the_end(world)


def assert_ends_as_undisturbed(path: Path, days: int = DAYS) -> None:
    play_child(path, days)
    with resume(path) as world:
        assert world.digest() == undisturbed(days=days)
        assert world.left_by is None
    report = audit(path, map=MAP)
    assert report.ok, report.findings[:3]
    assert [one.name for one in path.parent.iterdir()] == [path.name]


def killed_at_random_moments(folder: Path, times: int, seed: int, days: int) -> list[int]:
    """Kill as many runs at a random moment, once or several times each, and play each to its end.

    How many commands stood in the file at each kill, -1 before there was a file.
    """
    dice, path = random.Random(seed), folder / "run.sqlite"
    stood: list[int] = []
    undisturbed(days=days)  # the rules are compiled here, so that children are quick
    begun = time.perf_counter()
    assert finished(forked(lambda: play_child(folder / "time.sqlite", days))) == 0
    length = time.perf_counter() - begun
    (folder / "time.sqlite").unlink()
    while len(stood) < times:
        for _ in range(dice.choice([1, 1, 1, 2, 3])):
            child = forked(lambda: play_child(path, days))
            time.sleep(dice.uniform(0, length))
            kill(child)
            ended = finished(child)
            if ended == 0:
                length *= 0.9  # it was quicker than the moment to kill it
                continue
            assert ended == -signal.SIGKILL
            stood.append(commands_in(path))
        assert_ends_as_undisturbed(path, days)
        path.unlink()
    return stood


def commands_in(path: Path) -> int:
    """How many commands a file holds, looked at in a copy so that nothing is tidied up in it."""
    if not path.exists():
        return -1
    twin = path.parent.parent / "twin.sqlite"
    for end in ("", "-wal", "-shm"):
        part, copied = path.with_name(path.name + end), twin.with_name(twin.name + end)
        copied.unlink(missing_ok=True)
        if part.exists() and end != "-shm":
            copied.write_bytes(part.read_bytes())
    (count,) = rows(twin, "SELECT journal FROM head")[0]
    return int(count)


def test_ten_runs_killed_at_random_moments_end_as_undisturbed(tmp_path: Path) -> None:
    (tmp_path / "runs").mkdir()
    stood = killed_at_random_moments(tmp_path / "runs", QUICK, seed=1, days=DAYS)
    assert len(stood) >= QUICK


@pytest.mark.slow
def test_two_hundred_runs_killed_at_random_moments_end_as_undisturbed(tmp_path: Path) -> None:
    (tmp_path / "runs").mkdir()
    stood = killed_at_random_moments(tmp_path / "runs", MANY, seed=2, days=2)
    assert len(stood) >= MANY
    # All over the run, not only at its ends.
    assert len(set(stood)) > MANY // 5


@pytest.mark.parametrize("row", range(1, 9))
def test_a_commit_killed_between_two_of_its_rows_never_was(row: int, tmp_path: Path) -> None:
    path = tmp_path / "run.sqlite"

    def die_writing() -> None:
        with create(path, days=DAYS) as world:
            play_steps(world, 6)
            connection = world._connection
            assert connection is not None
            left = [row]

            def count(statement: str) -> None:
                if statement.startswith(("INSERT", "UPDATE", "COMMIT", "BEGIN")):
                    left[0] -= 1
                    if left[0] == 0:
                        os.kill(os.getpid(), signal.SIGKILL)

            connection.set_trace_callback(count)
            play_to_the_end(world)

    assert finished(forked(die_writing)) == -signal.SIGKILL
    assert_ends_as_undisturbed(path)


@pytest.mark.parametrize("stage", ["making", "naming", "named"])
def test_a_making_killed_half_way_leaves_a_whole_file_or_none(stage: str, tmp_path: Path) -> None:
    path = tmp_path / "run.sqlite"

    def die_making() -> None:
        def die(*_: object) -> None:
            os.kill(os.getpid(), signal.SIGKILL)

        patch = pytest.MonkeyPatch()
        if stage == "making":
            patch.setattr("tradesbench_gym.world.world.write_rows", die)
        elif stage == "naming":
            patch.setattr("tradesbench_gym.world.files._publish", die)
        else:
            patch.setattr("tradesbench_gym.world.files._sync_folder", die)
        create(path, days=DAYS)

    assert finished(forked(die_making)) == -signal.SIGKILL
    assert path.exists() == (stage == "named")
    assert_ends_as_undisturbed(path)


def test_a_command_that_was_interrupted_is_kept_whole_or_not_at_all(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    # Ctrl-C comes between any two steps of Python: after each row, and right after the commit.
    write: Callable[..., None] = row_module.write_rows

    def before_any_row(*_: object) -> None:
        raise KeyboardInterrupt

    def after_all_rows(*given: object) -> None:
        write(*given)
        raise KeyboardInterrupt

    def after_the_commit(connection: sqlite3.Connection, *given: object) -> None:
        write(connection, *given)
        connection.execute("COMMIT")
        raise KeyboardInterrupt

    with create(tmp_path / "run.sqlite", days=DAYS) as world:
        for way in (before_any_row, after_all_rows, after_the_commit):
            before = world.commands
            monkeypatch.setattr("tradesbench_gym.world.world.write_rows", way)
            command = world.advance if world.line is None else world.leave_unanswered
            with pytest.raises(KeyboardInterrupt):
                command()
            monkeypatch.setattr("tradesbench_gym.world.world.write_rows", write)
            assert world.commands == before + (way is after_the_commit)
            assert world.simulation.digest() == world.digest()
        play_to_the_end(world)
    assert audit(world.path, map=MAP).ok


def test_commits_are_synced_to_disk_one_by_one(tmp_path: Path) -> None:
    path = tmp_path / "run.sqlite"
    create(path, days=DAYS).close()
    connection = open_writing(path)
    try:
        assert connection.execute("PRAGMA synchronous").fetchone() == (2,)  # FULL
    finally:
        connection.close()


@pytest.mark.parametrize("looked_at_first", [False, True])
def test_a_change_of_mode_killed_half_way_is_taken_back(
    looked_at_first: bool, tmp_path: Path
) -> None:
    # The state in which SQLite leaves a file that is killed so: page 1 changed, the old one aside.
    path = tmp_path / "run.sqlite"
    with create(path, days=DAYS) as world:
        play_steps(world, 10)
    before = path.read_bytes()
    rows(path, "PRAGMA journal_mode = WAL")
    (tmp_path / "run.sqlite-journal").write_bytes(hot_journal(before))
    reader = sqlite3.connect(f"{path.as_uri()}?mode=ro", uri=True)
    with closing(reader), pytest.raises(sqlite3.OperationalError, match="readonly"):
        reader.execute("PRAGMA user_version")
    if looked_at_first:
        assert audit(path, map=MAP).ok
    assert_ends_as_undisturbed(path)


def hot_journal(database: bytes) -> bytes:
    """A rollback journal that puts page 1 of a database back (fileformat2, section 3)."""
    page = 4096
    count = len(database) // page
    head = bytes.fromhex("d9d505f920a163d7") + b"".join(
        number.to_bytes(4, "big") for number in (1, 7, count, 512, page)
    )
    first = database[:page]
    sum_of = 7
    for place in range(page - 200, 0, -200):
        sum_of += first[place]
    record = (1).to_bytes(4, "big") + first + (sum_of & 0xFFFFFFFF).to_bytes(4, "big")
    return head.ljust(512, b"\0") + record
