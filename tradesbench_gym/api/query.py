"""Asking the public database: statements go to a few reading processes, and come back answered.

A reader runs `guard.py` and is held to its time from here as well: a statement that SQLite cannot
interrupt ends with its process. This module knows processes, and no view or row.
"""

from __future__ import annotations

import json
import logging
import os
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import IO, Any, cast

from tradesbench_gym.api import guard
from tradesbench_gym.api.faults import closed
from tradesbench_gym.api.query_errors import QueryError, check_text, refusal

_LOG = logging.getLogger(__name__)
READERS = 4
_PATIENCE_SECONDS = 10.0
_GOES = 3
_GRACE_SECONDS = 1.0
_LONGEST_LINE = guard.MOST_ANSWER_BYTES + 1024
_PASSED_ON = ("LD_LIBRARY_PATH", "DYLD_LIBRARY_PATH", "SYSTEMROOT")
_SPENT = ("time", "memory", "cell", "answer")
_FAILED = b'{"failed":'


class Readers:
    """At most `most` processes that read, started when first needed and shared by all threads.

    Args:
        views: the names that may be read.
        place: tells which database is to be read, when it is a statement's turn.
        most: how many statements are answered at once.
        seconds: the longest that one is worked at.

    """

    def __init__(
        self,
        views: list[str],
        place: Callable[[], Path],
        most: int = READERS,
        seconds: float = guard.SECONDS,
    ) -> None:
        self._views = views
        self._place = place
        self._seconds = seconds
        self._places = threading.BoundedSemaphore(most)
        self._turn = threading.Lock()
        self._idle: list[_Reader] = []
        self._closed = False

    def ask(self, sql: Any) -> bytes:
        """The answer to one statement about the database, as JSON.

        Raises:
            QueryError: it is refused, failed, took too long, or has too many before it.

        """
        check_text(sql)
        with self._reader() as reader:
            for _ in range(_GOES):
                place = self._place()
                answer = reader.ask(place, sql)
                # A reader that waited for its turn of the processor may find its database gone.
                if reader.spent or isinstance(answer, bytes) or place.exists():
                    break
        if isinstance(answer, list):
            raise refusal(answer, sql)
        return answer

    @contextmanager
    def _reader(self) -> Iterator[_Reader]:
        if not self._places.acquire(timeout=_PATIENCE_SECONDS):
            raise QueryError(
                "too many statements are being answered: ask again in a moment", code="query_busy"
            )
        try:
            reader = self._take()
            try:
                yield reader
            finally:
                self._give_back(reader)
        finally:
            self._places.release()

    def _take(self) -> _Reader:
        with self._turn:
            if self._closed:
                raise closed()
            while self._idle:
                reader = self._idle.pop()
                if reader.alive:
                    return reader
                reader.stop()
        return _Reader(self._views, self._seconds)

    def _give_back(self, reader: _Reader) -> None:
        with self._turn:
            if not reader.spent and not self._closed:
                self._idle.append(reader)
                return
        reader.stop()

    def close(self) -> None:
        """Stop every reader; those that are answering stop when they are done."""
        with self._turn:
            self._closed = True
            idle, self._idle = self._idle, []
        for reader in idle:
            reader.stop()


class _Reader:
    """One process that reads. `spent` says that its memory or its time is not to be trusted."""

    def __init__(self, views: list[str], seconds: float) -> None:
        self.spent = False
        self._seconds = seconds
        self._process = subprocess.Popen(  # noqa: S603 - this Python, and a file of ours
            # By its file, without site-packages: it needs nothing of the package.
            [sys.executable, "-I", "-S", guard.__file__],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            env=_environment(),
        )
        self._requests = cast("IO[bytes]", self._process.stdin)
        self._answers = cast("IO[bytes]", self._process.stdout)
        self._send([views, seconds])

    @property
    def alive(self) -> bool:
        """Whether the process is there to be asked."""
        return self._process.poll() is None

    def ask(self, path: Path, sql: str) -> bytes | list[str]:
        """What the process says: an answer as JSON, or the facts of why there is none."""
        self.spent = True
        late = threading.Timer(self._seconds + _GRACE_SECONDS, self._process.kill)
        late.daemon = True
        late.start()
        begun = time.monotonic()
        try:
            self._send([path.as_uri(), sql])
            line = self._answers.readline(_LONGEST_LINE)
        finally:
            late.cancel()
        if not line.endswith(b"\n"):
            return self._lost(time.monotonic() - begun)
        if not line.startswith(_FAILED):
            self.spent = False
            return line[:-1]
        facts: list[str] = json.loads(line)["failed"]
        self.spent = facts[0] in _SPENT
        return facts

    def _lost(self, waited: float) -> list[str]:
        """Why the process said nothing."""
        if waited > self._seconds:
            return ["time"]
        self._process.kill()
        _LOG.warning("a reading process ended by itself, with status %s", self._process.wait())
        return ["died"]

    def _send(self, message: Any) -> None:
        with suppress(BrokenPipeError):  # then it says nothing either
            self._requests.write(json.dumps(message).encode() + b"\n")
            self._requests.flush()

    def stop(self) -> None:
        """End the process."""
        self._process.kill()
        with suppress(BrokenPipeError):
            self._process.communicate()


def _environment() -> dict[str, str]:
    """Nothing of ours but what finds Python's libraries: no token, no folder, no time zone."""
    kept = {name: os.environ[name] for name in _PASSED_ON if name in os.environ}
    return {**kept, "TZ": "UTC0"}
