"""Files that cannot be used: one clear sentence, and the file as it was."""

from __future__ import annotations

import os
import random
import shutil
import signal
import sqlite3
import subprocess
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from functools import partial
from pathlib import Path

import pytest

from tests.world.runs import (
    MAP,
    NO_FORK,
    business,
    create,
    finished,
    forked,
    kill,
    play_steps,
    play_to_the_end,
    refused,
    resume,
    rows,
    trespass,
    undisturbed,
    untouched,
)
from tradesbench_gym.errors import MapError, ScenarioError, StateError
from tradesbench_gym.world import World, audit, replay
from tradesbench_gym.world.schema import WORLD_VERSION

NOBODY = 65534
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


# -- somebody else holds the file ----------------------------------------------------------------


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


# -- the disk does not take it -------------------------------------------------------------------


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
