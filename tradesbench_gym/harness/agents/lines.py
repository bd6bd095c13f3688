"""A process that is spoken to in JSON lines, and can hang, die, babble or say what is no JSON.

Its lines are read in a thread and handed over one by one, with an end to how long one may be and
how many may wait. Of its stderr the last words are kept. This module knows no agent program.
"""

from __future__ import annotations

import json
import os
import queue
import select
import subprocess
import threading
import time
from collections.abc import Mapping
from contextlib import suppress
from typing import IO, Any

LONGEST_LINE = 8 * 1024 * 1024
_WAITING = 32
_LAST_WORDS = 4_000
_CHUNK = 64 * 1024
_LOOK = 0.5
SEND_SECONDS = 60.0
"""How long a process may take to read what it is told."""


class EndedError(Exception):
    """The process has ended, or closed its stdout."""


class Lines:
    """A running process.

    Attributes:
        process: the process.
        last_words: the end of what it wrote on its stderr.

    """

    def __init__(self, process: subprocess.Popen[bytes]) -> None:
        """With a process whose three streams are pipes."""
        self.process = process
        self.last_words = ""
        self._said: queue.Queue[bytes | None] = queue.Queue(_WAITING)
        self._gone = threading.Event()
        if process.stdin is not None and hasattr(select, "poll"):
            os.set_blocking(process.stdin.fileno(), False)
        for read, stream in ((self._read, process.stdout), (self._drain, process.stderr)):
            threading.Thread(target=read, args=(stream,), daemon=True).start()

    @property
    def last_word(self) -> str | None:
        """The last line of its last words."""
        lines = self.last_words.strip().splitlines()
        return lines[-1] if lines else None

    def send(self, said: Mapping[str, Any], seconds: float = SEND_SECONDS) -> None:
        """Say something.

        Raises:
            EndedError: nobody reads it.
            TimeoutError: it lets its pipe run full and reads nothing, for so many seconds.

        """
        left, until = json.dumps(said).encode() + b"\n", time.monotonic() + seconds
        try:
            while left and self.process.stdin is not None:
                left = left[_written(self.process.stdin.fileno(), left) :]
                if time.monotonic() >= until:
                    break
        except (OSError, ValueError):
            raise EndedError from None
        if left and self.process.stdin is not None:
            raise TimeoutError

    def receive(self, seconds: float) -> dict[str, Any] | None:
        """What it says next; None if nothing comes in time, or what comes is no JSON object.

        Raises:
            EndedError: nothing will come any more.

        """
        line = self._next(time.monotonic() + seconds)
        if line == b"":
            return None
        if line is None:
            with suppress(queue.Full):  # for whoever asks again
                self._said.put_nowait(None)
            raise EndedError
        try:
            said = json.loads(line)
        except (ValueError, RecursionError):
            return None
        return said if isinstance(said, dict) else None

    def _next(self, until: float) -> bytes | None:
        """The next line, None after the last; empty if it is late.

        Whoever the process has started may hold its stdout open: when it has ended and no more
        comes, that was the last.
        """
        while True:
            ended = self.process.poll() is not None
            with suppress(queue.Empty):
                return self._said.get(timeout=min(max(until - time.monotonic(), 0.0), _LOOK))
            if ended:
                return None
            if time.monotonic() >= until:
                return b""

    def end(self, patience: float = 0.0) -> int:
        """See to it that it has ended, by the end of its stdin if there is time; its status."""
        if self.process.stdin is not None:
            with suppress(OSError, ValueError):
                self.process.stdin.close()
        until = time.monotonic() + patience
        while self.process.poll() is None and time.monotonic() < until:
            with suppress(EndedError):  # it may wait for us to listen
                self.receive(0.05)
                continue
            time.sleep(0.01)
        if self.process.poll() is None:
            self.process.kill()
        status = self.process.wait()
        self._gone.set()
        return status

    def _read(self, stream: IO[bytes]) -> None:
        whole = True
        with suppress(OSError, ValueError):
            while line := stream.readline(LONGEST_LINE):
                starts, whole = whole, line.endswith(b"\n")
                if starts and whole:  # one that is too long is passed over
                    self._hand_over(line)
        self._hand_over(None)
        stream.close()

    def _hand_over(self, line: bytes | None) -> None:
        while not self._gone.is_set():
            with suppress(queue.Full):
                self._said.put(line, timeout=0.2)
                return

    def _drain(self, stream: IO[bytes]) -> None:
        with suppress(OSError, ValueError):
            while some := stream.read1(_CHUNK):  # type: ignore[attr-defined]
                text = self.last_words + some.decode("utf-8", "replace")
                self.last_words = text[-_LAST_WORDS:]
        stream.close()


def _written(pipe: int, said: bytes) -> int:
    """How many bytes a pipe took, which waits for room in it for a moment only."""
    if hasattr(select, "poll"):  # elsewhere it may wait for as long as nobody reads
        waiting = select.poll()
        waiting.register(pipe, select.POLLOUT)
        waiting.poll(_LOOK * 1000)
    try:
        return os.write(pipe, said)
    except BlockingIOError:
        return 0
