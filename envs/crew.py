"""Threads that play parts of a batch beside the thread that owns it. They know nothing of runs.

A pool of futures would do, but takes a twentieth of a step to hand work out and to hear of its end.
"""

from __future__ import annotations

import sys
import time
import weakref
from collections.abc import Callable, Iterable
from functools import partial
from queue import Empty, SimpleQueue
from threading import Thread, current_thread

_NAP_SECONDS = 20e-6

Piece = Callable[[], object]
Inbox = SimpleQueue[Piece | None]


class _Helper:
    """A thread, its inbox, and what its pieces raised."""

    def __init__(self) -> None:
        self.inbox: Inbox = SimpleQueue()
        self.failed: list[BaseException] = []
        self.has_left = False
        self.thread = Thread(target=self._work, daemon=True)

    def _work(self) -> None:
        try:
            while (piece := self.inbox.get()) is not None:
                self._do(piece)
                del piece  # and with it the arrays that it was to fill
        finally:
            self.has_left = True

    def _do(self, piece: Piece) -> None:
        try:
            piece()
        except BaseException as error:  # noqa: BLE001 - it is the owner's to raise
            self.failed.append(error)

    def _is_no_more(self) -> bool:
        """Not as `is_alive` tells: Ctrl-C within that makes Python take a thread at work for one
        that has ended. While Python ends, threads are stopped wherever they are.
        """
        return self.has_left or sys.is_finalizing()

    def do_what_is_left(self) -> bool:
        """For the owner, when the thread is no more; whether it is, and nothing is left."""
        while self._is_no_more():
            try:
                piece = self.inbox.get_nowait()
            except Empty:
                return True
            if piece is not None:
                self._do(piece)
        return False


class Crew:
    """So many threads, each with a piece of work at a time; they end with the crew.

    Args:
        count: of threads.

    """

    def __init__(self, count: int) -> None:
        self._helpers = [_Helper() for _ in range(count)]
        self._dismiss = weakref.finalize(self, _dismiss, [one.inbox for one in self._helpers])
        self._dismiss.atexit = False  # whoever plays while Python ends may need them
        for helper in self._helpers:
            helper.thread.start()

    def hand_out(self, pieces: Iterable[Piece]) -> None:
        """Give each thread a piece of work; at most as many as there are threads."""
        for helper, piece in zip(self._helpers, pieces, strict=False):
            helper.inbox.put(piece)

    def wait_until(self, done: Callable[[], bool]) -> None:
        """Wait until all that was handed out is done, as its owner tells.

        Ctrl-C is raised when it is, and what a piece raised when all have ended. What a thread has
        left undone that is no more, the owner does.
        """
        try:
            self._wait(lambda: done() or self._any_failed())
        finally:
            if self._any_failed():
                self.settle()

    def settle(self) -> None:
        """Wait until everything that was handed out has ended; raises what a piece raised."""
        reached: set[int] = set()
        waiting = list(enumerate(self._helpers))

        def all_have_ended() -> bool:
            while waiting:
                number, helper = waiting[-1]
                helper.inbox.put(partial(reached.add, number))
                waiting.pop()
            return len(reached) == len(self._helpers)

        self._wait(all_have_ended)
        failed = [error for helper in self._helpers for error in helper.failed]
        for helper in self._helpers:
            helper.failed.clear()
        if failed:
            raise failed[0]

    def _any_failed(self) -> bool:
        return any(helper.failed for helper in self._helpers)

    def _wait(self, done: Callable[[], bool]) -> None:
        stopped: KeyboardInterrupt | None = None
        while True:
            try:
                if done():
                    break
                idle = [helper.do_what_is_left() for helper in self._helpers]
                if all(idle) and not done():
                    break  # what Ctrl-C took out of an inbox is lost, and never done
                time.sleep(_NAP_SECONDS)
            except KeyboardInterrupt as error:
                stopped = error
        if stopped is not None:
            raise stopped

    def close(self) -> None:
        """Let the threads go, and wait until they have gone."""
        self._dismiss()
        for helper in self._helpers:
            if helper.thread is not current_thread():  # the collector may run in any
                helper.thread.join()


def _dismiss(inboxes: list[Inbox]) -> None:
    for inbox in inboxes:
        inbox.put(None)
