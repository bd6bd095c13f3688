"""What can go wrong with the file of a run, as one sentence each: the error itself, and what
SQLite's own errors mean for a person.

It knows no table and no rule.
"""

from __future__ import annotations

import sqlite3
from pathlib import Path

from tradesbench_gym.errors import TradesBenchError

_PRIMARY = 0xFF
_SENTENCES = {
    sqlite3.SQLITE_FULL: ("disk_full", "the disk is full: {path} is as it was before this command"),
    sqlite3.SQLITE_IOERR: (
        "disk_failed",
        "the disk failed or is full ({said}): {path} is as it was before this command",
    ),
    sqlite3.SQLITE_READONLY: ("read_only", "{path} or its folder cannot be written"),
    sqlite3.SQLITE_PERM: ("read_only", "{path} or its folder may not be written by you"),
    sqlite3.SQLITE_CANTOPEN: ("cannot_open", "{path} cannot be opened: {said}"),
    sqlite3.SQLITE_NOTADB: (
        "not_a_database",
        "{path} is no world file: it is not a SQLite database, or its beginning is damaged",
    ),
    sqlite3.SQLITE_CORRUPT: ("damaged", "{path} is damaged or cut short: {said}"),
    sqlite3.SQLITE_BUSY: ("busy", "another program keeps {path} busy: try again when it is done"),
    sqlite3.SQLITE_LOCKED: ("busy", "another program keeps {path} busy: try again when it is done"),
}


class WorldError(TradesBenchError):
    """The file of a run cannot be made, opened, believed or written; it is as it was."""


def world_error(error: sqlite3.Error, path: Path) -> WorldError:
    """The sentence for an error of SQLite's about a file."""
    number = getattr(error, "sqlite_errorcode", -1) & _PRIMARY
    code, sentence = _SENTENCES.get(number, ("database", "{path} cannot be used: {said}"))
    return WorldError(sentence.format(path=path, said=error), code=code, field="path")


def system_error(error: OSError, path: Path, doing: str) -> WorldError:
    """The sentence for an error of the operating system's about a file."""
    reason = (error.strerror or "unknown reason").lower()
    return WorldError(f"cannot {doing} {path}: {reason}", code="system", field="path")
