"""The tables of a world file: the SQL that makes them, their columns in order, and the two numbers
in the file's header by which a world and its version are known.

It knows how a file is told to be a world, and nothing of what its rows mean.
"""

from __future__ import annotations

import sqlite3
from functools import cache
from importlib import resources
from pathlib import Path
from typing import Any

from tradesbench_gym.world.errors import WorldError

APPLICATION_ID = 0x54424757  # "TBGW"
WORLD_VERSION = 2
"""Raised with every change of the tables, or of what the rows of the journal say; a file of another
version is refused by name.
"""

COLUMNS: dict[str, tuple[str, ...]] = {
    "run": (
        "id",
        "seed",
        "salt",
        "days",
        "start_date",
        "starting_cash",
        "rules",
        "layout",
        "map",
        "map_digest",
        "scenario",
        "scenario_digest",
        "scenario_text",
    ),
    "names": ("kind", "code", "name"),
    "journal": ("number", "command", "arguments", "outcome", "at", "digest"),
    "events": ("number", "journal", "at", "kind", "call", "technician", "day", "window"),
    "ledger": ("number", "event", "entry", "cents"),
    "calls": ("number", "event", "service", "customer", "urgent", "zone", "address"),
    "head": ("id", "journal", "events", "ledger", "calls", "digest"),
}
"""The columns of each table, in order: the first is its key, of `names` the first two."""

Row = tuple[Any, ...]


@cache
def schema_text() -> str:
    """The SQL that makes a world's tables, triggers and views."""
    return resources.files(__package__).joinpath("schema.sql").read_text(encoding="utf-8")


@cache
def views_text() -> str:
    """The SQL that makes the views for people, which a file may lack."""
    return resources.files(__package__).joinpath("views.sql").read_text(encoding="utf-8")


@cache
def schema_objects() -> dict[tuple[str, str], str | None]:
    """Every table, trigger, view and index a world has, by type and name, with its SQL."""
    return _made_by(schema_text())


@cache
def view_objects() -> dict[tuple[str, str], str | None]:
    """The views for people, which a file has as they are here or not at all, as above."""
    known = schema_objects()
    every = _made_by(schema_text() + views_text())
    return {key: sql for key, sql in every.items() if key not in known}


def _made_by(text: str) -> dict[tuple[str, str], str | None]:
    blank = sqlite3.connect(":memory:")
    try:
        blank.executescript(text)
        return read_objects(blank)
    finally:
        blank.close()


def read_objects(connection: sqlite3.Connection) -> dict[tuple[str, str], str | None]:
    """What there is in a file, by type and name, with its SQL."""
    rows = connection.execute("SELECT type, name, sql FROM sqlite_schema")
    return {(kind, name): sql for kind, name, sql in rows}


@cache
def insert(table: str) -> str:
    """The statement that adds a row to a table."""
    names, places = ", ".join(COLUMNS[table]), ", ".join("?" * len(COLUMNS[table]))
    # Table and columns are this module's own words.
    return f"INSERT INTO {table} ({names}) VALUES ({places})"  # noqa: S608


@cache
def select(table: str) -> str:
    """The statement that reads a table in order."""
    key = "kind, code" if table == "names" else COLUMNS[table][0]
    return f"SELECT {', '.join(COLUMNS[table])} FROM {table} ORDER BY {key}"  # noqa: S608 - as above


def check_header(connection: sqlite3.Connection, path: Path) -> None:
    """Raise WorldError unless the file's header says a world of this version."""
    (application,) = connection.execute("PRAGMA application_id").fetchone()
    (version,) = connection.execute("PRAGMA user_version").fetchone()
    (pages,) = connection.execute("PRAGMA page_count").fetchone()
    if pages == 0:  # SQLite takes less than one page for a database with nothing in it
        raise WorldError(
            f"{path} is no world file, or cut short at its beginning",
            code="not_a_database",
            field="path",
        )
    if application != APPLICATION_ID:
        raise WorldError(
            f"{path} is a SQLite file of something else, not a world file",
            code="foreign",
            field="path",
        )
    if version != WORLD_VERSION:
        age = "a newer" if version > WORLD_VERSION else "an older"
        raise WorldError(
            f"{path} was written by {age} version of the package: it is a world file of version "
            f"{version}, and this package reads version {WORLD_VERSION}",
            code="version",
            field="path",
        )
