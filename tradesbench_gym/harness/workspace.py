"""Reading and writing in a folder that belongs to somebody else, who may have put anything there.

The agent's user owns the workspace, and ours may read everything: a link out of it, followed, would
bring what is secret into what is published, or let a file of ours be overwritten. So no link is
followed, nothing but plain files is opened, and nothing is read without end. This module knows no
agent.
"""

from __future__ import annotations

import itertools
import os
import secrets
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


def read_folder(folder: Path, most: int) -> dict[str, bytes]:
    """The plain files of a folder by name, so many bytes in all; none if it is no folder.

    Of the file with which it gets too much the beginning is read, of those after it nothing: a file
    with nothing in it but a size costs who made it nothing, and us the memory.
    """
    found: dict[str, bytes] = {}
    for name in files_in(folder):
        content = read_file(folder, name, most) if most > 0 else None
        if content is not None:
            found[name] = content
            most -= len(content)
    return found


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
    """Remove whatever is there, links themselves and not what they lead to.

    However deep a tree is and whatever its modes are: what lies in a folder is lifted to the top
    before the folder is removed, so that no path gets long and nothing calls itself.
    """
    with suppress(OSError):
        if place.is_dir() and not place.is_symlink():
            place.chmod(0o700)
            with _inside(place) as inside:
                _empty(inside)
            place.rmdir()
    with suppress(FileNotFoundError, IsADirectoryError, PermissionError):
        place.unlink()


def _empty(top: int) -> None:
    own = secrets.token_hex(8)  # no name that is there already
    lifted = itertools.count()
    while names := os.listdir(top):
        for name in names:
            if not _is_folder(name, top):
                os.unlink(name, dir_fd=top)
                continue
            inner = _opened(name, top)
            try:
                for one in os.listdir(inner):  # noqa: PTH208 - likewise
                    if _is_folder(one, inner):
                        os.close(_opened(one, inner))
                    os.rename(one, f"{own}-{next(lifted)}", src_dir_fd=inner, dst_dir_fd=top)
            finally:
                os.close(inner)
            os.rmdir(name, dir_fd=top)


def _is_folder(name: str, inside: int) -> bool:
    return stat.S_ISDIR(os.stat(name, dir_fd=inside, follow_symlinks=False).st_mode)


def _opened(name: str, inside: int) -> int:
    """A folder's handle; what is in it may be moved from then on, and it as well."""
    look = _LOOK | getattr(os, "O_DIRECTORY", 0)
    try:
        handle = os.open(name, look, dir_fd=inside)
    except PermissionError:
        os.chmod(name, 0o700, dir_fd=inside)
        handle = os.open(name, look, dir_fd=inside)
    os.fchmod(handle, 0o700)
    return handle


def _give(handle: int, uid: int) -> None:
    if hasattr(os, "geteuid") and os.geteuid() == 0 and os.fstat(handle).st_uid != uid:
        os.fchown(handle, uid, uid)
