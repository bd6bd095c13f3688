"""Reading and writing in a folder that belongs to somebody else, who may have put anything there.

The agent's user owns the workspace, and ours may read everything: a link out of it, followed, would
bring what is secret into what is published, or let a file of ours be overwritten. So no link is
followed, nothing but plain files is opened, and nothing is read without end. This module knows no
agent.
"""

from __future__ import annotations

import os
import shutil
import stat
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path

MEMORY = "MEMORY.md"
_LOOK = os.O_RDONLY | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0)
_MAKE = os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_NOFOLLOW", 0)


@contextmanager
def _inside(folder: Path) -> Iterator[int]:
    handle = os.open(folder, _LOOK | getattr(os, "O_DIRECTORY", 0))
    try:
        yield handle
    finally:
        os.close(handle)


def read_file(folder: Path, name: str, most: int) -> bytes | None:
    """The first bytes of a plain file in a folder; None if there is no such file."""
    try:
        with _inside(folder) as inside:
            handle = os.open(name, _LOOK, dir_fd=inside)
    except OSError:
        return None
    if not stat.S_ISREG(os.fstat(handle).st_mode):
        os.close(handle)
        return None
    with os.fdopen(handle, "rb") as file:
        return file.read(most)


def files_in(folder: Path) -> list[str]:
    """The names in a folder, sorted; none if it is no folder."""
    try:
        with _inside(folder) as inside:
            return sorted(os.listdir(inside))  # noqa: PTH208 - by a handle, past any link
    except OSError:
        return []


def make_folder(parent: Path, name: str, files: Mapping[str, tuple[bytes, int]], uid: int) -> Path:
    """A new folder with files in it, in the place of whatever has the name.

    Args:
        parent: the folder it is made in; nobody else may change it meanwhile.
        name: of the folder.
        files: contents and mode of each.
        uid: whose all of it is to be.

    """
    place = parent / name
    remove(place)
    place.mkdir(0o700)
    with _inside(place) as inside:
        for file, (content, mode) in files.items():
            handle = os.open(file, _MAKE, mode, dir_fd=inside)
            with os.fdopen(handle, "wb") as written:
                written.write(content)
                os.fchmod(written.fileno(), mode)
                _give(written.fileno(), uid)
        _give(inside, uid)
    return place


def remove(place: Path) -> None:
    """Remove whatever is there, links themselves and not what they lead to."""
    if place.is_dir() and not place.is_symlink():
        shutil.rmtree(place, ignore_errors=True)
    with suppress(FileNotFoundError, IsADirectoryError, PermissionError):
        place.unlink()


def _give(handle: int, uid: int) -> None:
    if hasattr(os, "geteuid") and os.geteuid() == 0 and os.fstat(handle).st_uid != uid:
        os.fchown(handle, uid, uid)
