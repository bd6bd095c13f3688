"""The folder in which this package keeps what can be made again, and the proof that it is the
user's own. Compiled code in it is a pickle, so whoever can write here can run code as the user:
a folder or file that somebody else owns or may write is refused, never repaired. This module knows
nothing of the package; the rules (compiled code) and the roads (unpacked maps) use it."""

import contextlib
import os
import stat
import tempfile
from collections.abc import Iterator
from pathlib import Path

from tradesbench_gym.errors import TradesBenchError

OVERRIDE = "TRADESBENCH_CACHE"
_APPLICATION = "tradesbench-gym"
_WRITABLE_BY_OTHERS = stat.S_IWGRP | stat.S_IWOTH


class CacheUnavailableError(TradesBenchError):
    """There is no folder that this user may write and nobody else; the message says why."""

    def __init__(self, message: str) -> None:
        super().__init__(message, code="cache_unavailable", field=OVERRIDE)


def cache_root() -> Path:
    """The package's own folder: `$TRADESBENCH_CACHE`, else below the user's cache directory.

    It is only named here; `private_folder` makes and checks it.
    """
    override = os.environ.get(OVERRIDE)
    if override:
        return Path(override).expanduser().absolute()
    # Asked for only here: most starts of the package never look for a cache.
    from platformdirs import user_cache_path

    # A user without HOME and without an entry in the password database has none; platformdirs
    # raises then, an older one answers with a folder named "~" where the process happens to be.
    with contextlib.suppress(RuntimeError):
        root = user_cache_path(_APPLICATION, appauthor=False)
        if root.is_absolute():
            return root
    raise CacheUnavailableError("this user has no home folder")


def private_folder(*below: str) -> Path:
    """The folder `below` the cache root, made with mode 0700 where it is missing.

    Raises `CacheUnavailableError` when it cannot be made, or when the root or a folder on the way
    belongs to somebody else or can be written by others.
    """
    root = cache_root()
    with _unavailable_on_failure(root):
        root.parent.mkdir(parents=True, exist_ok=True)
        folder = root
        for name in ("", *below):
            folder = folder / name
            folder.mkdir(mode=0o700, exist_ok=True)
            _require_own(folder, folder.stat())
    return folder


def read_private(path: Path) -> bytes | None:
    """The bytes of a file that only this user can have written; None when there is none.

    The file is judged by its open descriptor, so that nothing can be put in its place between the
    check and the reading.
    """
    try:
        with path.open("rb") as file:
            _require_own(path, os.fstat(file.fileno()))
            return file.read()
    except OSError:
        return None


def write_private(path: Path, content: bytes) -> None:
    """Write a file with mode 0600 in one step: a reader sees all of it or the one before.

    Raises `OSError` when the folder is full, gone or read-only.
    """
    with tempfile.NamedTemporaryFile(prefix=".", dir=path.parent, delete=False) as file:
        try:
            file.write(content)
            file.close()
            Path(file.name).replace(path)
        except BaseException:
            Path(file.name).unlink(missing_ok=True)
            raise


@contextlib.contextmanager
def _unavailable_on_failure(root: Path) -> Iterator[None]:
    try:
        yield
    except OSError as error:
        raise CacheUnavailableError(f"cannot use {root}: {error.strerror or error}") from error


def _require_own(path: Path, status: os.stat_result) -> None:
    if os.name == "nt":
        # Windows has no such owner and mode; the user's profile is closed to others by its ACL.
        return
    if status.st_uid != os.geteuid():
        raise CacheUnavailableError(f"{path} belongs to another user")
    if status.st_mode & _WRITABLE_BY_OTHERS:
        raise CacheUnavailableError(f"{path} can be written by other users")
