"""The sentence for each statement that gets no answer: a stable code, and what would be right.

Made from the facts that `guard.py` tells and the words of SQLite, which know nothing but the public
views and the statement itself.
"""

from __future__ import annotations

import re
import sqlite3
from collections.abc import Callable
from difflib import get_close_matches
from typing import Any

from tradesbench_gym.api import guard
from tradesbench_gym.api.views import BY_NAME
from tradesbench_gym.errors import TradesBenchError, shown

_WORD = re.compile(r"[A-Za-z_][A-Za-z_0-9]*")
_LONGEST_QUOTE = 60
_VIEWS = ", ".join(BY_NAME)
_MIB = 1024 * 1024


class QueryError(TradesBenchError):
    """A statement that is not answered; the database is as it was."""

    def __init__(self, message: str, *, code: str = "sql", field: str | None = "sql") -> None:
        super().__init__(message, code=code, field=field)


def check_text(sql: Any) -> None:
    """Raise QueryError unless a statement is text that SQLite can be handed."""
    if not isinstance(sql, str):
        raise QueryError(f"sql is one statement as text, not {shown(sql)}", code="sql_text")
    try:
        size = len(sql.encode())
    except UnicodeEncodeError:
        raise QueryError("the statement holds half a character", code="sql_text") from None
    if "\0" in sql:
        raise QueryError("the statement holds a NUL character", code="sql_text")
    if size > guard.MOST_SQL_BYTES:
        raise QueryError(
            f"the statement is {size:,} bytes long: at most {guard.MOST_SQL_BYTES:,} are read",
            code="sql_too_long",
        )


def refusal(facts: list[str], sql: str) -> QueryError:
    """The error for what a reader said of a statement."""
    kind, *what = facts
    return _KINDS[kind](what, sql)


def _verb(what: list[str], sql: str) -> QueryError:
    word = what[0].upper()
    if not word:
        return QueryError("there is no statement: begin with SELECT or WITH", code="sql_empty")
    said = f"a query only reads: it begins with SELECT, WITH or VALUES, not {_quoted(word)}"
    return QueryError(f"{said}; {_known(sql)}", code="sql_read_only")


def _denied(what: list[str], sql: str) -> QueryError:
    action, first, second = int(what[0]), what[1], what[2]
    if action == sqlite3.SQLITE_FUNCTION:
        return QueryError(
            f"the function {_quoted(second)} is not open to queries", code="sql_function"
        )
    if action == sqlite3.SQLITE_READ:
        return QueryError(f"{_quoted(first)} is no public view; {_known(sql)}", code="sql_view")
    if (action, first) == (sqlite3.SQLITE_UPDATE, "sqlite_master"):  # a table that makes itself
        return QueryError(
            f"a query reads nothing but the public views; {_known(sql)}", code="sql_view"
        )
    return QueryError(f"a query only reads; {_known(sql)}", code="sql_read_only")


def _fixed(code: str, sentence: str) -> Callable[[list[str], str], QueryError]:
    return lambda _what, _sql: QueryError(sentence, code=code)


def _sqlite(what: list[str], sql: str) -> QueryError:
    said = " ".join(what[0].split())
    for pattern, sentence in _SAID:
        found = pattern.search(said)
        if found:
            return sentence(found.groupdict().get("what") or "", sql)
    return QueryError(f"SQLite says: {_quoted(said, 200)}", code="sql_failed")


def _no_table(name: str, sql: str) -> QueryError:
    close = get_close_matches(name.lower(), BY_NAME, 1)
    hint = f" (do you mean {close[0]}?)" if close else ""
    return QueryError(f"there is no view {_quoted(name)}{hint}; {_known(sql)}", code="sql_view")


def _no_column(name: str, sql: str) -> QueryError:
    views = _mentioned(sql)
    columns = [column for view in views for column in BY_NAME[view].names]
    close = get_close_matches(name.rpartition(".")[2].lower(), columns, 1)
    hint = f" (do you mean {close[0]}?)" if close else ""
    return QueryError(f"there is no column {_quoted(name)}{hint}; {_known(sql)}", code="sql_column")


def _ambiguous(name: str, sql: str) -> QueryError:
    views = [view for view in _mentioned(sql) if name in BY_NAME[view].names]
    example = f"{views[0]}.{name}" if views else f"view.{name}"
    return QueryError(
        f"more than one view of the statement has a column {_quoted(name)}: "
        f"write for example {_quoted(example)}",
        code="sql_column",
    )


def _no_function(name: str, _sql: str) -> QueryError:
    close = get_close_matches(name.lower(), sorted(guard.FUNCTIONS), 1)
    hint = f" (do you mean {close[0]}?)" if close else ""
    return QueryError(f"there is no function {_quoted(name)}{hint}", code="sql_function")


def _arguments(name: str, _sql: str) -> QueryError:
    return QueryError(
        f"the function {_quoted(name)} takes another number of arguments", code="sql_function"
    )


def _near(word: str, _sql: str) -> QueryError:
    return QueryError(f"syntax error near {shown(word)}", code="sql_syntax")


def _unfinished(_word: str, _sql: str) -> QueryError:
    return QueryError("the statement ends too early", code="sql_syntax")


def _complex(_word: str, _sql: str) -> QueryError:
    return QueryError(
        "the statement is too deep or has too many parts: ask for less at once",
        code="sql_too_complex",
    )


def _pattern(_word: str, _sql: str) -> QueryError:
    most = guard.LIMITS[sqlite3.SQLITE_LIMIT_LIKE_PATTERN_LENGTH]
    return QueryError(
        f"a pattern of LIKE or GLOB has at most {most} characters", code="sql_too_complex"
    )


def _clocked(_word: str, _sql: str) -> QueryError:
    names = ", ".join(guard.CLOCK_FUNCTIONS)
    return QueryError(f"one of {names} was given what is no text or number", code="sql_failed")


def _locked(_word: str, _sql: str) -> QueryError:
    return QueryError("the views are being written: ask again in a moment", code="query_busy")


def _parameters(_what: object, _sql: object) -> QueryError:
    return QueryError(
        "a statement has no parameters such as ? or :name: write the values into it",
        code="sql_parameters",
    )


def _known(sql: str) -> str:
    """What there is: the columns of the views a statement speaks of, or else the views."""
    views = _mentioned(sql)
    if not views:
        return f"the views are {_VIEWS}"
    return "; ".join(f"{view} has {', '.join(BY_NAME[view].names)}" for view in views[:3])


def _mentioned(sql: str) -> list[str]:
    words = dict.fromkeys(word.lower() for word in _WORD.findall(sql))
    return [word for word in words if word in BY_NAME]


def _quoted(text: str, most: int = _LONGEST_QUOTE) -> str:
    line = "".join(mark if mark.isprintable() else "�" for mark in text)
    return line if len(line) <= most else line[: most - 1] + "…"


_KINDS: dict[str, Callable[[list[str], str], QueryError]] = {
    "verb": _verb,
    "denied": _denied,
    "sqlite": _sqlite,
    "parameters": _parameters,
    "statements": _fixed("sql_statements", "there is more than one statement: ask one at a time"),
    "time": _fixed(
        "sql_time", f"the statement took longer than {guard.SECONDS:g} seconds: ask for less"
    ),
    "memory": _fixed(
        "sql_memory",
        f"the statement needs more than {guard.SQLITE_HEAP_BYTES // _MIB} MiB of memory: "
        "ask for less",
    ),
    "cell": _fixed(
        "sql_too_large", f"a value or row is longer than {guard.MOST_CELL_BYTES // _MIB} MiB"
    ),
    "died": _fixed("sql_failed", "the statement could not be answered"),
    "answer": _fixed(
        "sql_too_large", f"a row is longer than {guard.MOST_ANSWER_BYTES // _MIB} MiB"
    ),
}

_SAID: tuple[tuple[re.Pattern[str], Callable[[str, str], QueryError]], ...] = tuple(
    (re.compile(pattern), sentence)
    for pattern, sentence in (
        (r"^no such table: (?:main\.)?(?P<what>.+)", _no_table),
        (r"^no such column: (?P<what>.+)", _no_column),
        (r"^ambiguous column name: (?P<what>.+)", _ambiguous),
        (r"^no such function: (?P<what>.+)", _no_function),
        (r"^wrong number of arguments to function (?P<what>[^(]+)", _arguments),
        (r'^near "(?P<what>.*)": syntax error', _near),
        (r'^unrecognized token: "(?P<what>.*)"', _near),
        (r"^incomplete input", _unfinished),
        (r"pattern too complex", _pattern),
        (r"^variable number must be|SQL variables", _parameters),
        (r"^user-defined function raised exception", _clocked),
        (r"too many|too large|too complex|stack overflow|Recursion limit|at most \d+", _complex),
        (r"too much memory", _complex),
        (r"is locked", _locked),
    )
)
