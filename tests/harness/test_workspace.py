"""Whatever an agent puts into its workspace, nothing outside of it is read or written for it."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import pytest

from tests.harness.cell.cells import nest
from tradesbench_gym.harness.cell.workspace import give_to
from tradesbench_gym.harness.workspace import (
    files_in,
    make_folder,
    read_file,
    read_folder,
    remove,
)

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="links are other things there")


@pytest.fixture
def secret(tmp_path: Path) -> Path:
    path = tmp_path / "secret"
    path.write_text("secret")
    return path


@pytest.fixture
def workspace(tmp_path: Path) -> Path:
    path = tmp_path / "workspace"
    path.mkdir()
    return path


def test_a_plain_file_is_read_as_far_as_is_asked(workspace: Path) -> None:
    (workspace / "notes").write_text("0123456789")
    assert read_file(workspace, "notes", 4) == b"0123"
    assert read_file(workspace, "missing", 4) is None


def test_a_link_is_not_read(workspace: Path, secret: Path) -> None:
    (workspace / "notes").symlink_to(secret)
    assert read_file(workspace, "notes", 100) is None
    (workspace / "inner").symlink_to(secret.parent)
    assert read_file(workspace / "inner", "secret", 100) is None
    assert files_in(workspace / "inner") == []


def test_a_pipe_is_not_waited_for(workspace: Path) -> None:
    os.mkfifo(workspace / "notes")
    assert read_file(workspace, "notes", 100) is None


def test_a_folder_is_no_file(workspace: Path) -> None:
    (workspace / "notes").mkdir()
    assert read_file(workspace, "notes", 100) is None


def test_a_folder_is_made_in_the_place_of_a_link_and_what_that_led_to_stays(
    workspace: Path, tmp_path: Path
) -> None:
    ours = tmp_path / "ours"
    ours.mkdir()
    (ours / "kept").write_text("kept")
    (workspace / ".agent").symlink_to(ours)
    made = make_folder(workspace, ".agent", {"file": (b"x", 0o600)}, os.getuid())
    assert not made.is_symlink()
    assert files_in(made) == ["file"]
    assert (made / "file").stat().st_mode & 0o777 == 0o600
    assert files_in(ours) == ["kept"]


@pytest.mark.parametrize("kind", ["file", "folder", "link", "pipe", "nothing"])
def test_whatever_is_there_is_removed(workspace: Path, secret: Path, kind: str) -> None:
    place = workspace / "it"
    if kind == "file":
        place.write_text("x")
    elif kind == "folder":
        (place / "inner").mkdir(parents=True)
        (place / "link").symlink_to(secret)
    elif kind == "link":
        place.symlink_to(secret)
    elif kind == "pipe":
        os.mkfifo(place)
    remove(place)
    assert not os.path.lexists(place)
    assert secret.read_text() == "secret"


def test_folders_in_folders_without_end_are_removed(workspace: Path) -> None:
    nest(workspace / "it", 3000)
    remove(workspace / "it")
    assert files_in(workspace) == []


def test_folders_that_nobody_may_enter_or_change_are_replaced(workspace: Path) -> None:
    inner = workspace / "it" / "a" / "b"
    inner.mkdir(parents=True)
    (inner / "file").touch()
    for one in (inner, inner.parent, workspace / "it"):
        one.chmod(0)
    make_folder(workspace, "it", {}, os.getuid())
    assert files_in(workspace / "it") == []


def test_a_folder_is_read_to_an_end_whatever_sizes_its_files_claim(workspace: Path) -> None:
    for name in "abc":
        with (workspace / name).open("wb") as file:
            file.truncate(1 << 20)
    os.mkfifo(workspace / "pipe")
    found = read_folder(workspace, (1 << 20) + 5)
    assert {name: len(content) for name, content in found.items()} == {"a": 1 << 20, "b": 5}


def test_folders_in_folders_without_end_change_hands(workspace: Path, secret: Path) -> None:
    if os.geteuid() != 0:
        pytest.skip("only root gives files away")
    nest(workspace, 3000)
    (workspace / "link").symlink_to(secret)
    give_to(60_599, 60_599, workspace)
    here, deep = os.open(workspace, os.O_RDONLY), 0
    while "inner" in os.listdir(here):  # noqa: PTH208 - by a handle, however deep
        there = os.open("inner", os.O_RDONLY, dir_fd=here)
        os.close(here)
        here, deep = there, deep + 1
        assert os.fstat(here).st_uid == 60_599
    os.close(here)
    assert deep == 3000
    assert (workspace / "link").lstat().st_uid == 60_599
    assert secret.stat().st_uid == 0
    give_to(0, 0, workspace)
    remove(workspace / "inner")
