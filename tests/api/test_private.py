"""Folders that only we can enter: gone with their process, or when the next one comes."""

from __future__ import annotations

import gc
import os
import stat
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import pytest

from tradesbench_gym.api.private import PrivateFolder, sweep

KEEPING = "from tradesbench_gym.api.private import PrivateFolder; f = PrivateFolder('test')"
LONG_AGO = time.time() - 3600


@pytest.fixture(autouse=True)
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A place for temporary folders that no other process uses."""
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    return tmp_path


def aged(folder: Path) -> Path:
    for path in (*folder.iterdir(), folder):
        os.utime(path, (LONG_AGO, LONG_AGO))
    return folder


def left_behind(place: Path) -> Path:
    """The folder of a process that was killed an hour ago."""
    code = f"{KEEPING}; import os; os.kill(os.getpid(), 9)"
    subprocess.run([sys.executable, "-c", code], check=False)
    (folder,) = place.glob("tradesbench-test-*")
    (folder / "secret").write_text("token")
    return aged(folder)


@pytest.mark.skipif(os.name != "posix", reason="files have no modes here")
def test_only_its_owner_can_enter_it() -> None:
    folder = PrivateFolder("test")
    assert stat.S_IMODE(folder.path.stat().st_mode) == 0o700
    folder.remove()


def test_it_goes_when_it_is_removed_or_forgotten(place: Path) -> None:
    folder = PrivateFolder("test")
    (folder.path / "file").write_text("something")
    folder.remove()
    folder.remove()
    assert not folder.path.exists()
    forgotten = PrivateFolder("test")
    assert forgotten.path.exists()
    del forgotten
    gc.collect()
    assert not list(place.iterdir())


def test_it_goes_with_its_process(place: Path) -> None:
    subprocess.run([sys.executable, "-c", KEEPING], check=True)
    assert not list(place.iterdir())


def test_the_folder_of_a_killed_process_goes_when_the_next_one_is_made(place: Path) -> None:
    old = left_behind(place)
    folder = PrivateFolder("other")
    assert list(place.iterdir()) == [folder.path]
    assert old != folder.path
    folder.remove()


def test_a_folder_that_is_held_stays(place: Path) -> None:
    folder = PrivateFolder("test")
    aged(folder.path)
    subprocess.run([sys.executable, "-c", KEEPING], check=True)
    assert list(place.iterdir()) == [folder.path]
    folder.remove()


def test_a_folder_that_is_just_being_made_stays(place: Path) -> None:
    old = left_behind(place)
    os.utime(old / "held.lock")
    sweep()
    assert old.exists()


def test_folders_of_others_stay(place: Path) -> None:
    mine = place / "tradesbench-results"
    mine.mkdir()
    (mine / "results.csv").write_text("mine")
    link = place / "tradesbench-link"
    elsewhere = left_behind(place).rename(place / "elsewhere")
    link.symlink_to(elsewhere)
    aged(mine)
    sweep()
    assert {one.name for one in place.iterdir()} == {mine.name, link.name, "elsewhere"}
    assert (elsewhere / "secret").exists()


@pytest.mark.skipif(not hasattr(os, "geteuid") or os.geteuid() != 0, reason="root alone can give")
def test_folders_of_other_users_stay(place: Path) -> None:
    old = left_behind(place)
    os.chown(old / "held.lock", 65534, 65534)
    sweep()
    assert old.exists()
