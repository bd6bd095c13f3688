"""A disk that is full or may not be written: one clear sentence, and the file as it was."""

from __future__ import annotations

import os
import shutil
import subprocess
import tempfile
from collections.abc import Callable, Iterator
from contextlib import suppress
from functools import partial
from pathlib import Path

import pytest

from tests.world.runs import (
    MAP,
    NO_FORK,
    create,
    finished,
    forked,
    play_steps,
    play_to_the_end,
    refused,
    resume,
    undisturbed,
    untouched,
)
from tradesbench_gym.world import audit, replay

NOBODY = 65534


def test_a_full_database_undoes_the_command_and_goes_on_when_there_is_room(tmp_path: Path) -> None:
    with create(tmp_path / "run.sqlite") as world:
        play_steps(world, 10)
        connection = world._connection
        assert connection is not None
        (pages,) = connection.execute("PRAGMA page_count").fetchone()
        connection.execute(f"PRAGMA max_page_count = {pages}")
        before = world.commands
        assert "disk is full" in refused(lambda: play_to_the_end(world), "disk_full")
        assert world.commands > before
        assert world.simulation.digest() == world.digest()
        connection.execute("PRAGMA max_page_count = 1000000")
        assert play_to_the_end(world) == undisturbed()
    assert audit(world.path, map=MAP).ok


@NO_FORK
def test_a_disk_that_takes_no_more_loses_nothing(tmp_path: Path) -> None:
    path = tmp_path / "run.sqlite"

    def run_into_the_wall() -> None:
        import resource  # a system without it has no fork either

        with create(path) as world:
            play_steps(world, 10)
            most = path.with_name("run.sqlite-wal").stat().st_size + 50_000
            resource.setrlimit(resource.RLIMIT_FSIZE, (most, most))
            refused(lambda: play_to_the_end(world), "disk_failed")
            refused(lambda: play_to_the_end(world), "disk_failed")
            assert world.simulation.digest() == world.digest()

    assert finished(forked(run_into_the_wall)) == 0
    assert audit(path, map=MAP).ok
    with resume(path) as world:
        assert world.commands > 10
        assert play_to_the_end(world) == undisturbed()


@pytest.fixture
def small_disk() -> Iterator[Path]:
    """A disk of 1 MiB of its own, where this machine lets us have one."""
    mount, unmount = shutil.which("mount"), shutil.which("umount")
    folder = Path(tempfile.mkdtemp())
    made = mount is not None and unmount is not None and os.geteuid() == 0
    if made:
        asked = [str(mount), "-t", "tmpfs", "-o", "size=1m", "tmpfs", str(folder)]
        made = subprocess.run(asked, capture_output=True, check=False).returncode == 0
    if not made:
        folder.rmdir()
        pytest.skip("no small disk to be had here")
    yield folder
    subprocess.run([str(unmount), str(folder)], check=True)
    folder.rmdir()


def fill_up(path: Path) -> None:
    """Write a file until there is no room left."""
    with path.open("wb", buffering=0) as file, suppress(OSError):
        while file.write(b"x" * 1024):
            pass


def test_a_full_disk_is_named_and_a_run_goes_on_when_there_is_room(small_disk: Path) -> None:
    path, ballast = small_disk / "run.sqlite", small_disk / "ballast"
    with create(path) as world:
        play_steps(world, 5)
        fill_up(ballast)
        said = refused(lambda: play_to_the_end(world), "disk_full")
        assert "is as it was" in said
        assert world.simulation.digest() == world.digest()
        refused(lambda: create(small_disk / "other.sqlite"), "disk_full")
        assert sorted(one.name for one in small_disk.iterdir()) == [
            "ballast",
            "run.sqlite",
            "run.sqlite-shm",
            "run.sqlite-wal",
            "run.sqlite.lock",
        ]
        ballast.unlink()
        play_steps(world, world.commands + 10)
        digest = world.digest()
    with resume(path) as world:
        assert world.digest() == digest
    assert audit(path, map=MAP).ok


@pytest.fixture
def sealed_folder(finished_run: Path) -> Iterator[Path]:
    """A finished run in a folder that nobody but its owner may write, readable for all."""
    folder = Path(tempfile.mkdtemp())
    path = folder / "run.sqlite"
    shutil.copyfile(finished_run, path)
    path.chmod(0o444)
    folder.chmod(0o555)
    yield path
    folder.chmod(0o755)
    shutil.rmtree(folder)


def as_nobody(work: Callable[[], object]) -> None:
    """Do some work without the rights of the superuser."""
    with tempfile.TemporaryDirectory() as folder:
        # Whatever is loaded late is loaded now: nobody may not read this Python.
        create(Path(folder) / "run.sqlite").close()
        audit(Path(folder) / "run.sqlite", map=MAP)
        resume(Path(folder) / "run.sqlite").close()

    def drop_and_work() -> None:
        # What this process has compiled is there, and its cache on disk is not nobody's to look at.
        pytest.MonkeyPatch().setattr("tradesbench_gym.core.codecache.is_cold", lambda: False)
        if os.geteuid() == 0:
            os.setgid(NOBODY)
            os.setuid(NOBODY)
        work()

    assert finished(forked(drop_and_work)) == 0


@NO_FORK
def test_in_a_read_only_folder_no_run_is_begun_or_resumed_and_the_sentence_says_why(
    sealed_folder: Path,
) -> None:
    def work() -> None:
        said = refused(lambda: resume(sealed_folder), "read_only")
        assert str(sealed_folder.parent) in said
        refused(lambda: create(sealed_folder.with_name("new.sqlite")), "read_only")

    with untouched(sealed_folder):
        as_nobody(work)


@NO_FORK
def test_in_a_read_only_folder_a_run_is_still_audited_and_replayed(sealed_folder: Path) -> None:
    def work() -> None:
        assert audit(sealed_folder, map=MAP).ok
        assert list(replay(sealed_folder, map=MAP))

    with untouched(sealed_folder):
        as_nobody(work)


@NO_FORK
def test_a_read_only_file_in_a_writable_folder_is_not_resumed(sealed_folder: Path) -> None:
    sealed_folder.parent.chmod(0o777)
    with untouched(sealed_folder):
        as_nobody(partial(refused, partial(resume, sealed_folder), "read_only"))
