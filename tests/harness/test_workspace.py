"""Whatever an agent puts into its workspace, nothing outside of it is read or written for it."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import pytest

from tradesbench_gym.harness.workspace import files_in, make_folder, read_file, remove

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
