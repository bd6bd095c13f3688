"""The public database: what a dispatcher may know, as tables that can be asked in SQL.

It follows a world by playing the rows of its journal on a run of its own, and takes nothing from
that run but its desk, its events and the names of callers. So a rebuilt database and one that
followed step by step are made by the same code from the same rows, and say the same. It lies in a
folder that only its owner can enter, is never synced to disk, and is gone when it is closed. What
may be asked of it is the matter of `guard.py`.
"""

from __future__ import annotations

import shutil
import sqlite3
import tempfile
import threading
import weakref
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from types import TracebackType
from typing import Protocol, Self

from tradesbench_gym.api.public_rows import News, PublicRows
from tradesbench_gym.api.query import QueryAnswer, QueryError, Readers
from tradesbench_gym.api.views import BY_NAME, View, schema
from tradesbench_gym.company.business import Business
from tradesbench_gym.company.callers import Caller, caller_of
from tradesbench_gym.company.simulation import Simulation
from tradesbench_gym.world import World, WorldError
from tradesbench_gym.world.command import perform, read_command

_BUSY_SECONDS = 5.0
_CHECKPOINT_PAGES = 256
_FILES = 2
_JOURNAL = "SELECT number, command, arguments, digest FROM journal WHERE number > ? ORDER BY number"


class Feed(Protocol):
    """The steps of a run, each told once."""

    business: Business

    def news(self) -> Iterator[News]:
        """What has happened since the last time."""

    def restart(self) -> None:
        """Tell everything again, from the start of the run."""

    def close(self) -> None:
        """Let go of the run."""


class JournalFeed:
    """The steps of a world, played again from its journal on a run of its own."""

    def __init__(self, world: World) -> None:
        self.business = world.business
        run = world.record
        self._identity = int(run["seed"]), int(run["salt"])
        self._path = world.path
        # Held open, because reading the schema of a world takes a hundred times as long as reading
        # the last row of its journal.
        self._connection = sqlite3.connect(
            f"{world.path.absolute().as_uri()}?mode=ro",
            uri=True,
            timeout=_BUSY_SECONDS,
            isolation_level=None,
            check_same_thread=False,
        )
        self._connection.execute("PRAGMA query_only = ON")
        self.restart()

    def restart(self) -> None:
        """Begin again at row 0."""
        seed, salt = self._identity
        self._simulation = Simulation(seed, salt=salt, business=self.business)
        self._last = -1

    def news(self) -> Iterator[News]:
        """Play the rows that are new.

        Raises:
            WorldError: the journal leads elsewhere than it says.

        """
        simulation = self._simulation
        rows = self._connection.execute(_JOURNAL, (self._last,)).fetchall()
        for number, code, text, digest in rows:
            if number > 0:
                perform(simulation, *read_command(code, text))
            if simulation.digest() != digest:
                raise WorldError(
                    f"row {number} of the journal of {self._path} leads to another state than it "
                    "says",
                    code="journal",
                    field="journal",
                )
            self._last = number
            yield News(simulation.desk, simulation.take_events(), self._caller)

    def _caller(self, number: int) -> Caller:
        return caller_of(self._simulation, number)

    def close(self) -> None:
        """Let go of the world's file."""
        self._connection.close()


class PublicDatabase:
    """The public views of a world, to be asked by any number of threads. Close it before the world.

    Args:
        world: the run in its file.
        feed: where the steps of the run come from; its journal unless given.

    """

    def __init__(self, world: World | None = None, *, feed: Feed | None = None) -> None:
        if feed is None:
            if world is None:
                raise TypeError("a public database needs a world or a feed")
            feed = JournalFeed(world)
        self._feed = feed
        self._turn = threading.Lock()
        self._folder = Path(tempfile.mkdtemp(prefix="tradesbench-public-"))
        self._readers = Readers(list(BY_NAME))
        # Also for who forgets to close, and at the end of the process.
        self._swept = weakref.finalize(self, _sweep, self._folder, self._readers)
        # The file that is followed, and the one before, for statements still at it.
        self._files: list[tuple[Path, sqlite3.Connection]] = []
        self._made = 0
        self._stale = True
        try:
            self.rebuild()
        except BaseException:
            self.close()
            raise

    @property
    def path(self) -> Path:
        """The database's present file, in a folder that only its owner can enter."""
        self._check_open()
        return self._files[-1][0]

    def follow(self) -> None:
        """Bring the views up to date with what has happened since, in one transaction.

        Raises:
            QueryError: the database has been closed.
            WorldError: the journal leads elsewhere than it says.

        """
        with self._turn:
            self._check_open()
            if self._stale:
                self._rebuild()
            else:
                self._write_news(self._files[-1][1])

    def rebuild(self) -> None:
        """Make the database again from the start of the run, in a new file. Statements that are
        being answered end with the old one.
        """
        with self._turn:
            self._check_open()
            self._rebuild()

    def query(self, sql: str) -> QueryAnswer:
        """The answer to one statement that reads the public views.

        Raises:
            QueryError: the statement is refused, or took too long; `code` says why.

        """
        return self._readers.ask(self.path, sql)

    def close(self) -> None:
        """Remove the database; a second time does nothing."""
        with self._turn:
            if self._swept.alive:
                while self._files:
                    self._drop_oldest()
                self._feed.close()
                self._swept()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()

    def _rebuild(self) -> None:
        self._made += 1
        path = self._folder / f"public{self._made}.sqlite"
        writer = _make(path)
        self._rows = PublicRows(self._feed.business)
        self._stale = True
        try:
            self._feed.restart()
            self._write_news(writer)
            writer.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchone()
        except BaseException:
            writer.close()
            raise
        self._files.append((path, writer))
        if len(self._files) > _FILES:
            self._drop_oldest()

    def _write_news(self, writer: sqlite3.Connection) -> None:
        self._stale = True  # what is told and not written can only be had by telling all again
        writer.execute("BEGIN IMMEDIATE")
        try:
            for news in self._feed.news():
                for view, key, row in self._rows.changes(news):
                    if row is None:
                        writer.execute(_DELETE[view], key)
                    else:
                        writer.execute(_PUT[view], row)
        except BaseException:
            writer.execute("ROLLBACK")
            raise
        writer.execute("COMMIT")
        self._stale = False

    def _check_open(self) -> None:
        if not self._swept.alive:
            raise QueryError("the public database has been closed", code="closed", field=None)

    def _drop_oldest(self) -> None:
        path, writer = self._files.pop(0)
        writer.close()
        for file in self._folder.glob(f"{path.name}*"):
            with suppress(OSError):
                file.unlink()


def _sweep(folder: Path, readers: Readers) -> None:
    readers.close()
    shutil.rmtree(folder, ignore_errors=True)


def _make(path: Path) -> sqlite3.Connection:
    connection = sqlite3.connect(path, isolation_level=None, check_same_thread=False)
    # In this mode readers never wait for the writer nor he for them.
    connection.execute("PRAGMA journal_mode = WAL").fetchone()
    connection.execute("PRAGMA synchronous = OFF")
    connection.execute(f"PRAGMA wal_autocheckpoint = {_CHECKPOINT_PAGES}")
    connection.executescript(f"BEGIN; {schema()} COMMIT;")
    return connection


def _put(view: View) -> str:
    # Names of views and columns are the package's own words, here and below.
    places = ", ".join("?" * len(view.columns))
    return f"INSERT OR REPLACE INTO {view.name} VALUES ({places})"  # noqa: S608


def _delete(view: View) -> str:
    return f"DELETE FROM {view.name} WHERE " + " AND ".join(f"{key} = ?" for key in view.key)  # noqa: S608


_PUT = {view.name: _put(view) for view in BY_NAME.values() if not view.select}
_DELETE = {view.name: _delete(view) for view in BY_NAME.values() if not view.select}
