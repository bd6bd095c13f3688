"""Threads that work beside their owner: what they do, what they raise, and when they end."""

from __future__ import annotations

import gc
import signal
import threading
import time
from contextlib import suppress
from types import FrameType

import numpy as np
import pytest

from tradesbench_gym.core.batch import all_played
from tradesbench_gym.core.jit import COMPILED, kernel
from tradesbench_gym.core.machine import add_shared
from tradesbench_gym.envs import crew as waiting
from tradesbench_gym.envs.crew import Crew


@kernel
def add_often(counter: np.ndarray, times: int) -> None:
    for _ in range(times):
        add_shared(counter, np.int64(1))


def ended(threads: set[threading.Thread]) -> bool:
    until = time.monotonic() + 10
    while any(thread.is_alive() for thread in threads) and time.monotonic() < until:
        time.sleep(0.01)
    return not any(thread.is_alive() for thread in threads)


def threads_of(crew: Crew) -> set[threading.Thread]:
    done: list[threading.Thread] = []
    crew.hand_out([lambda: done.append(threading.current_thread())] * 3)
    crew.wait_until(lambda: len(done) == 3)
    return set(done)


def test_each_thread_does_its_piece() -> None:
    crew = Crew(3)
    threads = threads_of(crew)
    assert len(threads) == 3
    assert threading.current_thread() not in threads
    crew.close()
    assert not any(thread.is_alive() for thread in threads)


def test_what_a_piece_raises_is_raised_to_the_owner_and_the_crew_works_on() -> None:
    crew = Crew(3)

    def fail() -> None:
        raise ZeroDivisionError("of a piece")

    crew.hand_out([fail])
    with pytest.raises(ZeroDivisionError, match="of a piece"):
        crew.wait_until(lambda: False)
    assert len(threads_of(crew)) == 3
    crew.close()


def test_one_failure_is_raised_when_all_have_ended_and_none_comes_up_later() -> None:
    crew, failed = Crew(3), []

    def fail_late() -> None:
        time.sleep(0.05)
        failed.append(True)
        raise ZeroDivisionError

    crew.hand_out([fail_late] * 3)
    with pytest.raises(ZeroDivisionError):
        crew.wait_until(lambda: False)
    assert len(failed) == 3
    assert len(threads_of(crew)) == 3
    crew.close()


def test_ctrl_c_is_raised_when_what_was_handed_out_is_done() -> None:
    crew, done, waiting = Crew(1), threading.Event(), threading.Event()

    def interrupt_and_go_on() -> None:
        waiting.wait(10)
        signal.raise_signal(signal.SIGINT)
        time.sleep(0.05)
        done.set()

    def look() -> bool:
        waiting.set()
        return done.is_set()

    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        crew.hand_out([interrupt_and_go_on])
        with pytest.raises(KeyboardInterrupt):
            crew.wait_until(look)
    finally:
        signal.signal(signal.SIGINT, before)
    assert done.is_set()
    crew.close()


@pytest.mark.skipif(not hasattr(signal, "setitimer"), reason="Windows has no such timer")
def test_a_thread_at_work_is_not_taken_for_one_that_has_ended_however_often_ctrl_c_comes() -> None:
    crew, done = Crew(3), threading.Event()
    threads = threads_of(crew)

    def interrupt(_: int, frame: FrameType | None) -> None:
        if frame is not None and frame.f_code.co_filename in (waiting.__file__, threading.__file__):
            raise KeyboardInterrupt

    before = signal.signal(signal.SIGALRM, interrupt)
    until = time.monotonic() + 0.5
    try:
        signal.setitimer(signal.ITIMER_REAL, 0.0005, 0.0005)
        crew.hand_out([lambda: done.wait(10)] * 3)
        while time.monotonic() < until:
            with suppress(KeyboardInterrupt):
                crew.wait_until(lambda: time.monotonic() > until)
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)
    done.set()
    crew.settle()
    assert threads_of(crew) == threads
    crew.close()


def test_the_owner_does_what_is_handed_to_a_dismissed_crew() -> None:
    crew, done = Crew(2), []
    crew.close()
    crew.hand_out([lambda: done.append(threading.current_thread())] * 2)
    crew.wait_until(lambda: len(done) == 2)
    assert set(done) == {threading.current_thread()}


def test_a_crew_that_nobody_closed_ends_with_its_owner() -> None:
    crew = Crew(3)
    threads = threads_of(crew)
    del crew
    gc.collect()
    assert ended(threads)


@pytest.mark.skipif(not COMPILED, reason="the plain function is for one thread")
def test_no_addition_of_any_thread_is_lost() -> None:
    counter, times = np.zeros(1, np.int64), 200_000
    add_often(np.zeros(1, np.int64), 1)
    crew = Crew(3)
    crew.hand_out([lambda: add_often(counter, times)] * 3)
    add_often(counter, times)
    crew.wait_until(lambda: all_played(counter, 4 * times))
    crew.close()
    assert int(counter[0]) == 4 * times


def test_all_is_played_when_the_counter_has_come_to_so_many() -> None:
    assert all_played(np.array([5]), 5)
    assert not all_played(np.array([4]), 5)
