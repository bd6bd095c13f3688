"""What the tests of the public database share: runs that are followed, and what lies in a file."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any, Self

from tests.worlds import tiny_business
from tradesbench_gym.api.models import QueryResult
from tradesbench_gym.api.pictures import News, Watcher, story
from tradesbench_gym.api.public import PublicDatabase
from tradesbench_gym.api.views import BY_NAME
from tradesbench_gym.world import World, play_on


class Following(PublicDatabase):
    """The public database of a world that is played past any office."""

    def __init__(self, world: World) -> None:
        self._world, self._watcher = world, Watcher(world.business)
        super().__init__(lambda: story(world))

    def catch_up(self) -> None:
        """Follow what was done to the world since."""
        world, picture = self._world, self._watcher.look(self._world.simulation)
        self.follow([News(world.commands - 1, world.commands, picture, world.take_events())])

    def ask(self, sql: Any) -> QueryResult:
        """The answer to a statement, read."""
        return QueryResult.model_validate_json(self.query(sql))

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


class Followed(World):
    """A world of which a public database is told each command."""

    public: Following | None = None

    def _do(self, *command: Any) -> int | None:
        outcome = super()._do(*command)
        if self.public is not None:
            self.public.catch_up()
        return outcome


@contextmanager
def followed(folder: Path, *, days: int = 3, seed: int = 7) -> Iterator[tuple[Followed, Following]]:
    """A new run on the tiny map, and the public database that follows it."""
    path = folder / "run.sqlite"
    with (
        Followed.create(path, seed, business=tiny_business(days=days)) as made,
        Following(made) as public,
    ):
        assert isinstance(made, Followed)
        made.public = public
        yield made, public


def play(world: World, decide: Callable[..., Any], stops: int = 10_000) -> None:
    """Play a run on, for so many stops."""
    for number, _ in enumerate(play_on(world, decide)):
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
    return QueryResult.model_validate_json(public.query(sql)).rows
