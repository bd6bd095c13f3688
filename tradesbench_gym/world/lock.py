"""Who holds a file: one process at a time, by a lock of the operating system that dies with it.

The lock is taken on a file beside the world, `<file>.lock`, because SQLite has locks of its own on
the world itself. The text in it only says whom to ask; a text without a lock is what a killed
process leaves behind. This module knows nothing of what is in a world.
"""

from __future__ import annotations

import errno
import json
import os
import platform
import sys
import weakref
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import IO

from tradesbench_gym.world.errors import WorldError, system_error

_SUFFIX = ".lock"
_TRIES = 100

if sys.platform == "win32":
    import msvcrt

    _FAR = 1 << 30  # a locked byte cannot be read by others there, so not one of the text

    def _lock(file: IO[str]) -> None:
        file.seek(_FAR)
        msvcrt.locking(file.fileno(), msvcrt.LK_NBLCK, 1)
        file.seek(0)
else:
    import fcntl

    def _lock(file: IO[str]) -> None:
        # Not lockf(): that lock is lost when any other part of this process closes the file.
        fcntl.flock(file.fileno(), fcntl.LOCK_EX | fcntl.LOCK_NB)


@dataclass(frozen=True, slots=True)
class Holder:
    """The process that holds a world file, or held it when it was killed."""

    pid: int
    host: str
    since: str

    def __str__(self) -> str:
        return f"process {self.pid} on {self.host} since {self.since}"


class FileLock:
    """The hold on one world file, from its making until `release` or the end of the process.

    Attributes:
        left_by: who held the file last, if it was killed while doing so.

    Raises:
        WorldError: somebody else holds it (the sentence says who), or the folder cannot be written.

    """

    def __init__(self, path: Path) -> None:
        if path.is_dir():
            raise WorldError(
                f"{path} is a folder, not a world file", code="not_a_database", field="path"
            )
        # Beside the file itself: two names of one file are two holders otherwise.
        there = path.resolve()
        self.path = there.with_name(there.name + _SUFFIX)
        for _ in range(_TRIES):
            file = self._take(path)
            # Its last holder may have removed the file between our opening and our locking it.
            if _is_still(self.path, file):
                break
            file.close()
        else:
            raise WorldError(
                f"cannot get hold of {path}: it changes hands all the time", code="held"
            )
        self._file = file
        try:
            self.left_by = _read_holder(file)
            self._sign()
        except BaseException:  # stopped meanwhile
            _discard(self.path, file)
            raise
        _HELD.add(self)

    def _take(self, path: Path) -> IO[str]:
        try:
            file = os.fdopen(os.open(self.path, os.O_RDWR | os.O_CREAT, 0o600), "r+")
        except OSError as error:
            raise _unwritable(error, path) from None
        try:
            _lock(file)
        except OSError:
            holder = _read_holder(file)
            file.close()
            raise WorldError(
                f"{path} is held by {holder or 'another process'}: only one may play a run",
                code="held",
                field="path",
            ) from None
        except BaseException:  # stopped meanwhile
            _discard(self.path, file)
            raise
        return file

    def _sign(self) -> None:
        me = Holder(os.getpid(), platform.node(), datetime.now(UTC).isoformat(timespec="seconds"))
        try:
            self._file.seek(0)
            self._file.truncate()
            self._file.write(json.dumps(asdict(me)))
            self._file.flush()
        except OSError:
            return  # on a full disk the hold is as good without a name on it

    def release(self) -> None:
        """Let go, and remove the file that says who held it."""
        _HELD.discard(self)
        if self._file.closed:
            return
        try:
            if _is_still(self.path, self._file):
                self.path.unlink()
        except OSError:
            pass  # a system that keeps open files: the text stays, and says nothing without a lock
        _close(self._file)

    def forget(self) -> None:
        """In a forked child: the hold is the parent's alone, and must not outlive it here."""
        _close(self._file)


def _discard(path: Path, file: IO[str]) -> None:
    """Remove a lock's file, if the lock is ours or nobody's, and let go of it."""
    try:
        _lock(file)
        if _is_still(path, file):
            path.unlink()
    except OSError:
        pass  # somebody else's
    _close(file)


def _close(file: IO[str]) -> None:
    try:
        file.close()
    except OSError:
        return  # a text that no longer fits on the disk


def _is_still(path: Path, file: IO[str]) -> bool:
    try:
        return os.path.samestat(path.stat(), os.fstat(file.fileno()))
    except OSError:
        return False


def _read_holder(file: IO[str]) -> Holder | None:
    try:
        file.seek(0)
        said = json.loads(file.read(4096))
        return Holder(int(said["pid"]), str(said["host"]), str(said["since"]))
    except (OSError, ValueError, KeyError, TypeError):
        return None


def _unwritable(error: OSError, path: Path) -> WorldError:
    if isinstance(error, FileNotFoundError):
        sentence = f"there is no folder {path.parent} to keep a run in"
        return WorldError(sentence, code="no_folder", field="path")
    if isinstance(error, PermissionError) or error.errno == errno.EROFS:
        sentence = f"{path.parent} cannot be written, so that no run can be played in {path}"
        return WorldError(sentence, code="read_only", field="path")
    return system_error(error, path, "get hold of")


_HELD: weakref.WeakSet[FileLock] = weakref.WeakSet()


def _forget_all() -> None:
    for lock in list(_HELD):
        lock.forget()
    _HELD.clear()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_forget_all)
