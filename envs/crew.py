"""Threads that play parts of a batch beside the thread that owns it. They know nothing of runs.

A pool of futures would do, but takes a twentieth of a step to hand work out and to hear of its end.
"""

from __future__ import annotations

import time
import weakref
from collections.abc import Callable, Iterable
from queue import SimpleQueue
from threading import Thread

_NAP_SECONDS = 20e-6

Piece = Callable[[], None]
Inbox = SimpleQueue[Piece | None]


class Crew:
    """So many threads, each with a piece of work at a time; they end with the crew.

    Args:
        count: of threads.

    """

    def __init__(self, count: int) -> None:
        self._inboxes: list[Inbox] = [SimpleQueue() for _ in range(count)]
        self._failed: list[BaseException] = []
        self._threads = [
            Thread(target=_work, args=(inbox, self._failed), daemon=True) for inbox in self._inboxes
        ]
        for thread in self._threads:
            thread.start()
        self._dismiss = weakref.finalize(self, _dismiss, self._inboxes)

    def hand_out(self, pieces: Iterable[Piece]) -> None:
        """Give each thread a piece of work; at most as many as there are threads."""
        for inbox, piece in zip(self._inboxes, pieces, strict=False):
            inbox.put(piece)

    def wait_until(self, done: Callable[[], bool]) -> None:
        """Wait until all that was handed out is done, as its owner tells; raises what a piece
        raised.
        """
        while not done():
            if self._failed:
                raise self._failed.pop()
            time.sleep(_NAP_SECONDS)

    def close(self) -> None:
        """Let the threads go, and wait until they have gone."""
        self._dismiss()
        for thread in self._threads:
            thread.join()


def _work(inbox: Inbox, failed: list[BaseException]) -> None:
    while True:
        piece = inbox.get()
        if piece is None:
            return
        try:
            piece()
        except BaseException as error:  # noqa: BLE001 - it is the owner's to raise
            failed.append(error)
        del piece  # and with it the arrays that it was to fill


def _dismiss(inboxes: list[Inbox]) -> None:
    for inbox in inboxes:
        inbox.put(None)
