"""What the tests of the public database share: runs that are followed, and what lies in a file."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any

from tests.world.runs import create
from tradesbench_gym.api.public import PublicDatabase
from tradesbench_gym.api.views import BY_NAME
from tradesbench_gym.world import World, play_on


@contextmanager
def followed(
    folder: Path, *, days: int = 3, seed: int = 7
) -> Iterator[tuple[World, PublicDatabase]]:
    """A new run on the tiny map, and its public database."""
    with (
        create(folder / "run.sqlite", days=days, seed=seed) as world,
        PublicDatabase(world) as public,
    ):
        yield world, public


def play(
    world: World, public: PublicDatabase, decide: Callable[..., Any], stops: int = 10_000
) -> None:
    """Play a run on, following each step."""
    for number, _ in enumerate(play_on(world, decide)):
        public.follow()
        if number >= stops:
            return


def dump(path: Path) -> list[tuple[Any, ...]]:
    """Every row that lies in a public database, in the order in which it lies there, with the
    tables' SQL."""
    with closing(sqlite3.connect(f"{path.as_uri()}?mode=ro", uri=True)) as connection:
        found = connection.execute("SELECT type, name, tbl_name, sql FROM sqlite_schema").fetchall()
        for name in BY_NAME:
            found += [(name, *row) for row in connection.execute(f"SELECT * FROM {name}")]  # noqa: S608 - a name of ours
    return found


def image(path: Path) -> list[Any]:
    """All of a public database that SQLite could tell of: rows, row numbers, pages, bytes."""
    with closing(sqlite3.connect(f"{path.as_uri()}?mode=ro", uri=True)) as connection:
        found: list[Any] = [connection.serialize()]
        found += connection.execute("SELECT * FROM sqlite_schema").fetchall()
        for pragma in ("page_count", "freelist_count", "schema_version", "user_version"):
            found += connection.execute(f"PRAGMA {pragma}").fetchall()
    return found


def ask(public: PublicDatabase, sql: str) -> list[list[Any]]:
    """The rows that a statement finds."""
    return public.query(sql).rows
