"""The public database: what a dispatcher may know, as tables that can be asked in SQL.

It is told a run's steps, from the start when it is made, then each as it happens, and turns them
into rows; so a rebuilt database and one that followed step by step say the same. It lies in a
folder that only its owner can enter, is never synced to disk, and is gone when it is closed. What
may be asked of it is the matter of `guard.py`; this module knows no run.
"""

from __future__ import annotations

import sqlite3
import threading
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path

from tradesbench_gym.api.faults import closed, unusable
from tradesbench_gym.api.pictures import News
from tradesbench_gym.api.private import PrivateFolder
from tradesbench_gym.api.public_rows import PublicRows
from tradesbench_gym.api.query import Readers
from tradesbench_gym.api.views import BY_NAME, View, schema

_CHECKPOINT_PAGES = 256
_FILES = 2


class PublicDatabase:
    """The public views of a run, to be asked by any number of threads.

    Args:
        story: tells every step of the run from its start, as often as it is asked.

    """

    def __init__(self, story: Callable[[], Iterable[News]]) -> None:
        self._story = story
        self._turn = threading.Lock()
        self._folder = PrivateFolder("public")
        self._readers = Readers(list(BY_NAME), lambda: self.path)
        # The file that is followed, and the one before, for statements still at it.
        self._files: list[tuple[Path, sqlite3.Connection]] = []
        self._made = 0
        self._step: int | None = None
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

    def follow(self, told: Sequence[News]) -> None:
        """Take in what has happened, in one transaction; what was taken in already is no news, and
        after something that was missed everything is told again.

        Raises:
            RequestError: the database has been closed, or its file cannot be written.
            WorldError: the story cannot be told again.

        """
        with self._turn, _told():
            self._check_open()
            step = self._step
            if step is None or told[0].after > step:
                self._rebuild()
            else:
                self._write(self._files[-1][1], [news for news in told if news.step > step])

    def rebuild(self) -> None:
        """Make the database again from the start of the run, in a new file. Statements that are
        being answered end with the old one.
        """
        with self._turn, _told():
            self._check_open()
            self._rebuild()

    def query(self, sql: str) -> bytes:
        """The answer to one statement that reads the public views, as JSON: columns, rows, and
        whether it was truncated.

        Raises:
            QueryError: the statement is refused, or took too long; `code` says why.

        """
        return self._readers.ask(sql)

    def close(self) -> None:
        """Remove the database; a second time does nothing."""
        with self._turn:
            while self._files:
                self._drop_oldest()
            self._readers.close()
            self._folder.remove()

    def _rebuild(self) -> None:
        self._made += 1
        path = self._folder.path / f"public{self._made}.sqlite"
        writer = _make(path)
        self._rows = PublicRows()
        try:
            self._write(writer, self._story())
            writer.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchone()
        except BaseException:
            writer.close()
            raise
        self._files.append((path, writer))
        if len(self._files) > _FILES:
            self._drop_oldest()

    def _write(self, writer: sqlite3.Connection, steps: Iterable[News]) -> None:
        step, self._step = self._step, None  # until it is written
        writer.execute("BEGIN IMMEDIATE")
        try:
            for news in steps:
                for view, key, row in self._rows.changes(news):
                    if row is None:
                        writer.execute(_DELETE[view], key)
                    else:
                        writer.execute(_PUT[view], row)
                step = news.step
        except BaseException:
            writer.execute("ROLLBACK")
            raise
        writer.execute("COMMIT")
        self._step = step

    def _check_open(self) -> None:
        if not self._folder.is_there:
            raise closed()

    def _drop_oldest(self) -> None:
        path, writer = self._files.pop(0)
        writer.close()
        for file in path.parent.glob(f"{path.name}*"):
            with suppress(OSError):
                file.unlink()


@contextmanager
def _told() -> Iterator[None]:
    """What SQLite says of a file that cannot be written is told without the file's place."""
    try:
        yield
    except sqlite3.Error as error:
        raise unusable(error, told=False) from error


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
