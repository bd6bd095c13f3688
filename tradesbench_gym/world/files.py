"""Making, reading and writing the SQLite file of a world, and never more of it than is asked for.

A file at rest is one file in rollback mode, so that it can be copied, published and read anywhere.
While a run is played it is in WAL mode: readers never wait for the writer nor he for them, and a
commit is durable with one sync to disk. A file that cannot be used is looked at without leaving a
trace. This module knows connections, not what is in the tables.
"""

from __future__ import annotations

import os
import sqlite3
import sys
from collections.abc import Iterator
from contextlib import closing, contextmanager, suppress
from pathlib import Path

from tradesbench_gym.world.errors import WorldError, system_error, world_error
from tradesbench_gym.world.schema import (
    APPLICATION_ID,
    WORLD_VERSION,
    check_header,
    schema_text,
    views_text,
)

BUSY_SECONDS = 5.0
_PARTING_MS = 200
_UNDO = "-journal"


@contextmanager
def told(path: Path) -> Iterator[None]:
    """SQLite's errors leave as a WorldError about this file."""
    try:
        yield
    except sqlite3.Error as error:
        raise world_error(error, path) from error
    except UnicodeDecodeError as error:  # SQLite's sentence quotes what stands in the file
        raise WorldError(
            f"{path} is damaged: the names in it are no text", code="damaged", field="path"
        ) from error


def check_file(path: Path) -> None:
    """Raise WorldError unless there is a world file of this version, leaving no trace."""
    _check_there(path)
    if _has(path, "-wal"):
        return  # its header is looked at when it is opened
    with told(path), closing(_connect(path, "mode=ro&immutable=1")) as connection:
        check_header(connection, path)
        (pages,) = connection.execute("PRAGMA page_count").fetchone()
        (page,) = connection.execute("PRAGMA page_size").fetchone()
        # SQLite would read what is missing of the last page as zeros.
        if not _has(path, _UNDO) and path.stat().st_size < pages * page:
            raise WorldError(f"{path} is damaged: it was cut short", code="damaged", field="path")


@contextmanager
def reading(path: Path) -> Iterator[sqlite3.Connection]:
    """A connection that only reads, inside one transaction: a run as it is now, played or at rest.

    Raises:
        WorldError: no world file of this version.

    """
    check_file(path)
    _undo_half_a_change(path)
    with told(path), closing(_connect(path, "mode=ro")) as connection:
        connection.execute("PRAGMA query_only = ON")
        connection.text_factory = _text
        check_header(connection, path)
        connection.execute("BEGIN")
        yield connection


def _undo_half_a_change(path: Path) -> None:
    """Take back what a process was killed in the middle of while it changed the file's mode.

    Only a connection that may write can do so; nothing that was committed is in such a change.
    """
    if not _has(path, _UNDO):
        return
    with told(path):
        with suppress(sqlite3.OperationalError), closing(_connect(path, "mode=ro")) as connection:
            connection.execute("SELECT count(*) FROM sqlite_schema").fetchone()
            return  # another process is at it, or there is nothing to take back
        with closing(_connect(path, "mode=rw")) as connection:
            connection.execute("SELECT count(*) FROM sqlite_schema").fetchone()


def open_writing(path: Path) -> sqlite3.Connection:
    """The connection that plays a run; the file is not touched before the first commit."""
    if not os.access(path, os.W_OK):  # SQLite would open it all the same, to be read
        raise WorldError(f"{path} cannot be written", code="read_only", field="path")
    with told(path):
        connection = _connect(path, "mode=rw")
        connection.execute("PRAGMA foreign_keys = ON")
        connection.execute("PRAGMA synchronous = FULL")
        if sys.platform == "darwin":
            connection.execute("PRAGMA fullfsync = ON")
            connection.execute("PRAGMA checkpoint_fullfsync = ON")
        return connection


def begin_playing(connection: sqlite3.Connection, path: Path) -> None:
    """Put the file into the mode in which readers and the writer do not meet."""
    with told(path):
        (mode,) = connection.execute("PRAGMA journal_mode = WAL").fetchone()
    if mode != "wal":
        raise WorldError(
            f"{path} lies on a disk where a file cannot be read while a run is played in it",
            code="no_wal",
            field="path",
        )


def close_writing(connection: sqlite3.Connection) -> None:
    """Close the connection, leaving one file at rest if nobody reads it and the disk allows."""
    # Whatever fails here was committed before, and the next opening finds it where it is.
    with suppress(sqlite3.Error):
        connection.execute(f"PRAGMA busy_timeout = {_PARTING_MS}")
        connection.execute("PRAGMA journal_mode = DELETE").fetchone()
    connection.close()


@contextmanager
def making(path: Path) -> Iterator[sqlite3.Connection]:
    """A connection to a new file that appears under its name, whole and on disk, at the end.

    Raises:
        WorldError: the name is taken, or the file cannot be made; no trace is left.

    """
    draft = _draft(path)
    try:
        draft.unlink(missing_ok=True)  # of a making that was killed
        # The seed stands in it: for nobody else to read, and SQLite makes its companions alike.
        with told(path):
            os.close(os.open(draft, os.O_CREAT | os.O_EXCL | os.O_RDWR, 0o600))
        with told(path), closing(_connect(draft, "mode=rwc")) as connection:
            connection.execute("PRAGMA journal_mode = MEMORY")
            connection.execute("PRAGMA synchronous = FULL")
            connection.execute(f"PRAGMA application_id = {APPLICATION_ID}")
            connection.execute(f"PRAGMA user_version = {WORLD_VERSION}")
            connection.executescript(f"BEGIN;{schema_text()}{views_text()}")
            yield connection
            connection.execute("COMMIT")
        _publish(draft, path)
    except OSError as error:
        raise system_error(error, path, "make") from None
    finally:
        with suppress(OSError):
            draft.unlink(missing_ok=True)


def _draft(path: Path) -> Path:
    return path.with_name(f".{path.name}.new")


def sweep(path: Path) -> None:
    """Remove what a making that was killed left beside the file; only for who holds it."""
    with suppress(OSError):
        _draft(path).unlink(missing_ok=True)


def _publish(draft: Path, path: Path) -> None:
    """Give the finished file its name, unless somebody has taken it meanwhile."""
    try:
        path.hardlink_to(draft)
    except FileExistsError:
        raise _taken(path) from None
    except OSError:  # a disk without hard links
        if path.exists():
            raise _taken(path) from None
        draft.rename(path)
    _sync_folder(path.parent)


def check_free(path: Path) -> None:
    """Raise WorldError if the name of a new file is in use."""
    if path.exists() or path.is_symlink():
        raise _taken(path)


def _taken(path: Path) -> WorldError:
    return WorldError(
        f"{path} is there already: resume or serve it as it is, or give the new run another name",
        code="exists",
        field="path",
    )


def _sync_folder(folder: Path) -> None:
    if sys.platform == "win32":
        return  # folders cannot be synced there, and need not be
    handle = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


def _connect(path: Path, how: str) -> sqlite3.Connection:
    connection = sqlite3.connect(
        f"{path.absolute().as_uri()}?{how}",
        uri=True,
        timeout=BUSY_SECONDS,
        isolation_level=None,
        check_same_thread=False,
    )
    # A file from elsewhere cannot make SQLite call functions through its own schema.
    connection.execute("PRAGMA trusted_schema = OFF")
    return connection


def _is_its_draft(path: Path) -> bool:
    """Whether the other name of a file is that of its making, which was killed half-way."""
    draft = _draft(path)
    return draft.exists() and draft.samefile(path) and path.stat().st_nlink == 2


def _check_there(path: Path) -> None:
    sentence, code = "", ""
    try:
        size = path.stat().st_size
    except FileNotFoundError:
        sentence, code = f"there is no file {path}", "missing"
    except OSError as error:
        raise system_error(error, path, "open") from None
    else:
        if path.is_dir():
            sentence, code = f"{path} is a folder, not a world file", "not_a_database"
        elif size == 0:
            sentence, code = f"{path} is empty, and no world file", "not_a_database"
        elif path.stat().st_nlink > 1 and not _is_its_draft(path):
            sentence = f"{path} has another name (a hard link), under which others could play it"
            code = "linked"
    if sentence:
        raise WorldError(sentence, code=code, field="path")


def _has(path: Path, companion: str) -> bool:
    try:
        return path.with_name(path.name + companion).stat().st_size > 0
    except OSError:
        return False


def _text(raw: bytes) -> str:
    # A cell that somebody filled with what is no text must still be readable, to be named.
    return raw.decode("utf-8", "backslashreplace")
