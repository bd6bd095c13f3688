"""One guarded statement at a time, in a process of its own: what SQLite itself lets through.

This file is run as a script by `query.py` and imports nothing but the standard library, so that a
reader starts in 30 ms and has nothing in its memory worth reading. Requests and answers are lines
of JSON. Everything a statement could do to the process ends with the process: its time, its memory,
and, where the system knows such limits, its files. The sentences for refusals are the parent's
matter; here stand the facts.
"""

from __future__ import annotations

import contextlib
import json
import math
import os
import re
import sqlite3
import sys
import time
from collections.abc import Callable
from typing import Any

SECONDS = 2.0
MOST_ROWS = 10_000
MOST_ANSWER_BYTES = 8 * 1024 * 1024
MOST_CELL_BYTES = 1024 * 1024
MOST_SQL_BYTES = 60_000
SQLITE_HEAP_BYTES = 64 * 1024 * 1024
PROCESS_BYTES = 512 * 1024 * 1024
SAFE_INTEGER = 2**53 - 1
_OPERATIONS_BETWEEN_LOOKS = 1_000
_BUSY_SECONDS = 1.0
_NICE = 5

CLOCK_FUNCTIONS = ("date", "time", "datetime", "julianday", "unixepoch", "strftime")
"""Their 'now' is the company's clock."""
PRESENT = {"current_date": "date", "current_time": "time", "current_timestamp": "datetime"}
_NAMES = """
    -> ->> abs acos asin atan atan2 avg ceil ceiling char coalesce concat concat_ws cos count
    cume_dist degrees dense_rank exp first_value floor format glob group_concat hex ifnull iif
    instr json json_array json_array_length json_extract json_group_array json_group_object
    json_object json_quote json_type json_valid lag last_value lead length like ln log log10 log2
    lower ltrim max median min mod nth_value ntile nullif octet_length percent_rank percentile
    percentile_cont percentile_disc pi pow power printf quote radians rank replace round
    row_number rtrim sign sin sqrt string_agg substr substring sum tan total trim trunc typeof
    unicode upper
"""
FUNCTIONS = frozenset(_NAMES.split()).union(CLOCK_FUNCTIONS, PRESENT)
"""The functions a statement may call: none that tells of the machine, the connection or chance."""

LIMITS = {
    sqlite3.SQLITE_LIMIT_LENGTH: MOST_CELL_BYTES,
    sqlite3.SQLITE_LIMIT_SQL_LENGTH: MOST_SQL_BYTES,
    sqlite3.SQLITE_LIMIT_COLUMN: 100,
    sqlite3.SQLITE_LIMIT_EXPR_DEPTH: 200,
    sqlite3.SQLITE_LIMIT_COMPOUND_SELECT: 50,
    sqlite3.SQLITE_LIMIT_VDBE_OP: 50_000,
    sqlite3.SQLITE_LIMIT_FUNCTION_ARG: 64,
    sqlite3.SQLITE_LIMIT_ATTACHED: 0,
    sqlite3.SQLITE_LIMIT_LIKE_PATTERN_LENGTH: 200,
    sqlite3.SQLITE_LIMIT_VARIABLE_NUMBER: 0,
    sqlite3.SQLITE_LIMIT_TRIGGER_DEPTH: 0,
    sqlite3.SQLITE_LIMIT_WORKER_THREADS: 0,
}
_OPENING = re.compile(r"(?:\s|--[^\n]*(?:\n|\Z)|/\*.*?(?:\*/|\Z))*+([A-Za-z_]+|.?)", re.DOTALL)
_READS = frozenset(("select", "with", "values"))


class Refused(Exception):  # noqa: N818 - a fact, told to the parent
    """Why there is no answer: a kind, and what the parent needs for its sentence."""

    def __init__(self, kind: str, *what: str) -> None:
        super().__init__(kind)
        self.facts = [kind, *what]


class Guard:
    """Answers statements about one kind of database.

    Args:
        views: the names that may be read.
        seconds: the longest that a statement is worked at.

    """

    def __init__(self, views: list[str], seconds: float = SECONDS) -> None:
        self._seconds = seconds
        self._views = frozenset(views)
        self._own = sqlite3.connect(":memory:", isolation_level=None)
        self._own.execute(f"PRAGMA hard_heap_limit = {SQLITE_HEAP_BYTES}")
        # Tables that exist without being made: a name without columns may be one of them.
        modules = self._own.execute("PRAGMA module_list").fetchall()
        self._modules = frozenset(name.lower() for (name,) in modules)

    def answer(self, uri: str, sql: str) -> str:
        """The answer to a statement as JSON; Refused, or an error of SQLite's."""
        check_verb(sql)
        deadline = time.monotonic() + self._seconds
        denied: list[str] = []
        connection = sqlite3.connect(
            f"{uri}?mode=ro", uri=True, timeout=_BUSY_SECONDS, isolation_level=None
        )
        try:
            self._prepare(connection, denied, deadline)
            return _fetch(connection.execute(sql.rstrip("; \t\r\n")), deadline)
        except (sqlite3.Error, sqlite3.Warning) as error:
            if denied:
                raise Refused("denied", *denied) from error
            raise
        finally:
            connection.close()

    def _prepare(self, connection: sqlite3.Connection, denied: list[str], deadline: float) -> None:
        for pragma in ("query_only = ON", "trusted_schema = OFF", "temp_store = MEMORY"):
            connection.execute(f"PRAGMA {pragma}")
        connection.text_factory = _text
        connection.execute("BEGIN")  # the clock and the rows are those of one moment
        (now,) = connection.execute("SELECT now FROM cash").fetchone()
        for name in CLOCK_FUNCTIONS:
            connection.create_function(name, -1, self._clocked(name, now), deterministic=True)
        for name, builtin in PRESENT.items():
            connection.create_function(name, 0, self._clocked(builtin, now), deterministic=True)
        for limit, most in LIMITS.items():
            connection.setlimit(limit, most)
        harden(connection)

        def allow(action: int, first: str | None, second: str | None, *where: str | None) -> int:
            if not denied and not self._allowed(action, first, second, where[0]):
                denied.extend((str(action), first or "", second or ""))
            return sqlite3.SQLITE_DENY if denied else sqlite3.SQLITE_OK

        connection.set_authorizer(allow)
        connection.set_progress_handler(
            lambda: time.monotonic() > deadline, _OPERATIONS_BETWEEN_LOOKS
        )

    def _allowed(
        self, action: int, first: str | None, second: str | None, database: str | None
    ) -> bool:
        if action in (sqlite3.SQLITE_SELECT, sqlite3.SQLITE_RECURSIVE):
            return True
        if action == sqlite3.SQLITE_FUNCTION:
            return (second or "").lower() in FUNCTIONS
        if action != sqlite3.SQLITE_READ or database not in (None, "main"):
            return False
        table = (first or "").lower()
        if table in self._views:
            return True
        # A statement's own WITH is named to the authorizer only when none of its columns is read.
        foreign = table.startswith(("sqlite_", "pragma_")) or table in self._modules
        return not second and not foreign

    def _clocked(self, name: str, now: str) -> Callable[..., Any]:
        """A function of date and time whose present is the company's."""
        place = 1 if name == "strftime" else 0

        def compute(*given: Any) -> Any:
            words = [_as_text(word) for word in given]
            if len(words) == place:
                words.append(now)
            elif len(words) > place and _is_present(words[place]):
                words[place] = now
            marks = ", ".join("?" * len(words))
            return self._own.execute(f"SELECT {name}({marks})", words).fetchone()[0]

        return compute


def check_verb(sql: str) -> None:
    """Raise Refused unless a statement begins, behind comments, as one that reads.

    EXPLAIN is known to no authorizer, so that it has to be seen here.
    """
    opening = _OPENING.match(sql)
    word = opening.group(1) if opening else ""
    if word.lower() not in _READS:
        raise Refused("verb", "" if word == ";" and not sql.strip("; \t\r\n") else word)


def harden(connection: sqlite3.Connection) -> None:
    """Settings that only later releases of Python can make."""
    if sys.version_info >= (3, 12):
        connection.setconfig(sqlite3.SQLITE_DBCONFIG_DEFENSIVE, True)
        connection.setconfig(sqlite3.SQLITE_DBCONFIG_ENABLE_LOAD_EXTENSION, False)


def _as_text(word: Any) -> Any:
    """An argument as SQLite reads it: bytes are text to it, and a text ends at its first NUL."""
    if isinstance(word, bytes):
        word = _text(word)
    return word.partition("\0")[0] if isinstance(word, str) else word


def _is_present(word: Any) -> bool:
    return isinstance(word, str) and word.lower() in ("now", "subsec", "subsecond")


def _text(raw: bytes) -> str:
    return raw.decode("utf-8", "replace")


def _fetch(cursor: sqlite3.Cursor, deadline: float) -> str:
    if cursor.description is None:
        raise Refused("verb", "")
    columns = _json([column[0] for column in cursor.description])
    rows: list[str] = []
    room, truncated = MOST_ANSWER_BYTES - len(columns.encode()), False
    for row in cursor:
        # First as it came: what is too long need not become text to be so.
        if sum(len(cell) for cell in row if isinstance(cell, str | bytes)) > room:
            truncated = True
            break
        line = _json([plain(cell) for cell in row])
        room -= len(line.encode()) + 1
        truncated = len(rows) == MOST_ROWS or room < 0
        if truncated:
            break
        rows.append(line)
        if time.monotonic() > deadline:
            raise Refused("time")
    if truncated and not rows:
        raise Refused("answer")
    flag = "true" if truncated else "false"
    return f'{{"columns":{columns},"rows":[{",".join(rows)}],"truncated":{flag}}}'


def plain(cell: Any) -> Any:
    """A cell as every reader of JSON understands it: what is no such number or text becomes text.

    >>> plain(b"no"), plain(2**60), plain(float("inf")), plain(0.5)
    ("x'6E6F'", '1152921504606846976', 'Infinity', 0.5)
    """
    if isinstance(cell, bytes):
        return f"x'{cell.hex().upper()}'"
    if isinstance(cell, int) and abs(cell) > SAFE_INTEGER:
        return str(cell)
    if isinstance(cell, float) and not math.isfinite(cell):
        return "NaN" if math.isnan(cell) else "Infinity" if cell > 0 else "-Infinity"
    return cell


def _json(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))


def failure(error: BaseException) -> list[str]:
    """What went wrong, as facts for the parent's sentence."""
    if isinstance(error, Refused):
        return error.facts
    if isinstance(error, MemoryError):
        return ["memory"]
    code = getattr(error, "sqlite_errorcode", None)
    if code == sqlite3.SQLITE_INTERRUPT:
        return ["time"]
    if code == sqlite3.SQLITE_TOOBIG:
        return ["cell"]
    if "one statement" in str(error):
        return ["statements"]
    if "binding" in str(error):
        return ["parameters"]
    return ["sqlite", str(error)]


def limit_process() -> None:
    """What the system holds this process to, where it can."""
    with contextlib.suppress(ImportError, OSError, ValueError):
        import resource

        for what, most in (
            (resource.RLIMIT_AS, PROCESS_BYTES),
            (resource.RLIMIT_FSIZE, 0),
            (resource.RLIMIT_CORE, 0),
        ):
            with contextlib.suppress(OSError, ValueError):
                resource.setrlimit(what, (most, most))
    with contextlib.suppress(AttributeError, OSError):
        os.nice(_NICE)  # whoever writes comes first


def serve() -> None:
    """Answer requests from standard input until it ends; the first line says what a Guard takes."""
    limit_process()
    requests, answers = sys.stdin.buffer, sys.stdout.buffer
    guard = Guard(*json.loads(requests.readline()))
    for line in requests:
        try:
            answer = guard.answer(*json.loads(line))
        except Exception as error:  # noqa: BLE001 - whatever it is, the parent says it in a sentence
            answer = _json({"failed": failure(error)})
        answers.write(answer.encode() + b"\n")
        answers.flush()


if __name__ == "__main__":
    serve()
