"""Folders that only we can enter, for what goes with the process: sockets, tokens, the public
database.

A process that is killed leaves its folders behind; the next one to make a folder removes them. A
folder's owner holds a lock in it, which the system takes from a process when it ends. This module
knows nothing of what lies in a folder.
"""

from __future__ import annotations

import os
import shutil
import tempfile
import time
import weakref
from contextlib import suppress
from pathlib import Path

from tradesbench_gym.errors import TradesBenchError
from tradesbench_gym.world.lock import FileLock

_PREFIX = "tradesbench-"
_HELD = "held"
_LOCK = f"{_HELD}.lock"
_NEW_SECONDS = 60.0
"""For so long a folder's lock may be there and not taken yet."""


class PrivateFolder:
    """A new folder of mode 0700 in the system's place for such, until `remove` or the end of the
    process.

    Attributes:
        path: the folder.

    """

    def __init__(self, what: str) -> None:
        sweep()
        self.path = Path(tempfile.mkdtemp(prefix=f"{_PREFIX}{what}-"))
        self._lock = FileLock(self.path / _HELD)
        # Also for who forgets to remove it.
        self._removed = weakref.finalize(self, _remove, self.path, self._lock)

    @property
    def is_there(self) -> bool:
        """Whether it has not been removed yet."""
        return self._removed.alive

    def remove(self) -> None:
        """Remove the folder with all that is in it; a second time does nothing."""
        self._removed()


def sweep() -> None:
    """Remove our folders whose processes have ended without doing so."""
    for lock in Path(tempfile.gettempdir()).glob(f"{_PREFIX}*/{_LOCK}"):
        with suppress(OSError, TradesBenchError):  # somebody is in it, or it is not ours
            if _is_old(lock) and _is_old(lock.parent):
                _remove(lock.parent, FileLock(lock.parent / _HELD))


def _is_old(path: Path) -> bool:
    """Whether something is ours, no link, and has been as it is for a while."""
    status = path.lstat()
    ours = not hasattr(os, "getuid") or status.st_uid == os.getuid()
    return ours and not path.is_symlink() and time.time() - status.st_mtime > _NEW_SECONDS


def _remove(folder: Path, lock: FileLock) -> None:
    shutil.rmtree(folder, ignore_errors=True)
    lock.release()
