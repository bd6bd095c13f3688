"""One process holds a file, for as long as it lives, and whoever asks is told which."""

from __future__ import annotations

import os
import signal
import time
from collections.abc import Iterator
from functools import partial
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
    refused,
    resume,
    undisturbed,
    untouched,
)
from tradesbench_gym.world import World, audit, replay


@pytest.fixture
def held(tmp_path: Path) -> Iterator[tuple[Path, int]]:
    """A run that another process holds, a few commands into it, and that process's id."""
    path = tmp_path / "run.sqlite"

    def hold() -> None:
        world = create(path)
        play_steps(world, 20)
        (tmp_path.parent / "ready").touch()
        time.sleep(600)

    (tmp_path.parent / "ready").unlink(missing_ok=True)
    child = forked(hold)
    while not (tmp_path.parent / "ready").exists():
        time.sleep(0.01)
    yield path, child
    kill(child)
    finished(child)


@NO_FORK
def test_the_second_process_is_told_who_holds_the_file_and_touches_nothing(
    held: tuple[Path, int],
) -> None:
    path, child = held
    with untouched(path):
        said = refused(lambda: resume(path), "held")
        refused(lambda: create(path), "held")
    assert f"process {child} on {os.uname().nodename} since 20" in said


@NO_FORK
def test_a_run_is_audited_and_replayed_while_another_process_plays_it(
    held: tuple[Path, int],
) -> None:
    path, _ = held
    report = audit(path, map=MAP)
    assert report.ok
    assert report.commands >= 20
    assert len(list(replay(path, map=MAP))) == report.commands + 1


@NO_FORK
def test_a_file_whose_holder_was_killed_is_free_and_says_whose_it_was(tmp_path: Path) -> None:
    path = tmp_path / "run.sqlite"

    def hold_and_die() -> None:
        world = create(path)
        play_steps(world, 20)
        os.kill(os.getpid(), signal.SIGKILL)

    child = forked(hold_and_die)
    assert finished(child) == -signal.SIGKILL
    assert path.with_name("run.sqlite.lock").exists()
    with resume(path) as world:
        assert world.left_by is not None
        assert world.left_by.pid == child
        assert play_to_the_end(world) == undisturbed()


@NO_FORK
def test_a_killed_run_that_cannot_be_resumed_keeps_every_file(tmp_path: Path) -> None:
    path = tmp_path / "run.sqlite"

    def die() -> None:
        play_steps(create(path), 20)
        os.kill(os.getpid(), signal.SIGKILL)

    assert finished(forked(die)) == -signal.SIGKILL
    path.with_name("run.sqlite.lock").unlink()

    def kept() -> dict[str, bytes]:
        # The -shm is SQLite's index of the -wal, made again by whoever reads.
        return {p.name: p.read_bytes() for p in tmp_path.iterdir() if not p.name.endswith("-shm")}

    before = kept()
    refused(lambda: World.open(path), "map")
    assert kept() == before


@NO_FORK
def test_a_forked_copy_of_a_world_neither_plays_nor_holds_it(tmp_path: Path) -> None:
    world = create(tmp_path / "run.sqlite")

    def intrude() -> None:
        refused(world.advance, "held")
        world.close()

    try:
        assert finished(forked(intrude)) == 0
        assert play_to_the_end(world) == undisturbed()
    finally:
        world.close()


@NO_FORK
def test_a_child_that_outlives_its_killed_parent_does_not_keep_the_file(tmp_path: Path) -> None:
    path = tmp_path / "run.sqlite"

    def leave_a_child() -> None:
        create(path)
        child = forked(lambda: time.sleep(20))
        (tmp_path.parent / "child").write_text(str(child))
        os.kill(os.getpid(), signal.SIGKILL)

    assert finished(forked(leave_a_child)) == -signal.SIGKILL
    try:
        resume(path).close()
    finally:
        kill(int((tmp_path.parent / "child").read_text()))


def test_one_process_opens_a_file_once(tmp_path: Path) -> None:
    path = tmp_path / "run.sqlite"
    with create(path):
        assert f"process {os.getpid()}" in refused(lambda: resume(path), "held")
    resume(path).close()


def test_another_name_of_a_file_is_no_way_past_who_holds_it(tmp_path: Path) -> None:
    path, link, other = (tmp_path / name for name in ("run.sqlite", "link.sqlite", "other.sqlite"))
    create(path).close()
    link.symlink_to(path)
    with resume(path):
        refused(lambda: resume(link), "held")
    with resume(link):
        refused(lambda: resume(path), "held")
    other.hardlink_to(path)
    for name in (path, other):
        assert "hard link" in refused(partial(resume, name), "linked")
    other.unlink()
    resume(path).close()


@pytest.mark.skipif(os.name == "nt", reason="no modes there")
def test_nobody_else_reads_a_world_for_its_seed_is_in_it(tmp_path: Path) -> None:
    path = tmp_path / "run.sqlite"
    with create(path) as world:
        play_steps(world, 5)
        for file in tmp_path.iterdir():
            assert file.stat().st_mode & 0o077 == 0, file


def test_a_folder_is_no_place_for_a_world(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    for name in (".", "..", str(tmp_path)):
        assert "is a folder" in refused(partial(create, Path(name)), "not_a_database")
    assert not list(tmp_path.iterdir())
