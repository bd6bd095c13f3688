"""However a batch is played, it plays the same: by how many threads, after a fork, from a copy,
beside another one, after its threads were let go.
"""

from __future__ import annotations

import copy
import gc
import pickle
import sys
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np
import pytest
from gymnasium.vector import AutoresetMode

from tests.envs.batches import MODES, assert_same, batch_of, reject_all, shown_by, whole_state
from tests.envs.playing import in_another_process
from tradesbench_gym.core.jit import COMPILED
from tradesbench_gym.envs import TradesVectorEnv, slices
from tradesbench_gym.errors import ActionError

compiled_only = pytest.mark.skipif(not COMPILED, reason="one thread plays without compilation")
each_mode = pytest.mark.parametrize("mode", MODES, ids=lambda mode: mode.name)
RUNS = 200  # enough for three slices of 64
COPIES = {
    "deepcopy": copy.deepcopy,
    "pickle": lambda batch: pickle.loads(pickle.dumps(batch)),  # noqa: S301 - its own bytes
}
each_copy = pytest.mark.parametrize("way", COPIES)


def _begun(**arguments: Any) -> TradesVectorEnv:
    batch = batch_of(RUNS, "shipped", days=1, **arguments)
    batch.reset(seed=10_000)
    return batch


@each_mode
def test_one_two_and_three_threads_play_the_same(mode: AutoresetMode) -> None:
    shown = []
    for threads in (1, 2, 3):
        batch = _begun(threads=threads, autoreset_mode=mode)
        shown.append(shown_by(batch, 20))
        batch.close()
    assert sum(int(moment[2].sum()) for moment in shown[0] if len(moment) == 5) >= RUNS
    assert_same(shown[1], shown[0])
    assert_same(shown[2], shown[0])


def _threads_since(before: set[threading.Thread]) -> int:
    return len(set(threading.enumerate()) - before)


@compiled_only
def test_a_batch_uses_as_many_threads_as_it_was_given_and_lets_them_go() -> None:
    before = set(threading.enumerate())
    for threads, others in ((1, 0), (2, 1), (3, 2), (64, 2)):
        batch = _begun(threads=threads)
        batch.step(reject_all(RUNS))
        assert _threads_since(before) == others
        batch.close()
        assert _threads_since(before) == 0


def test_a_small_batch_wakes_no_other_thread() -> None:
    before = set(threading.enumerate())
    batch = batch_of(127, days=1, threads=8)
    batch.reset(seed=1)
    batch.step(reject_all(127))
    assert _threads_since(before) == 0


@compiled_only
def test_a_batch_that_nobody_closed_lets_its_threads_go() -> None:
    before = set(threading.enumerate())
    batch = _begun(threads=3)
    assert _threads_since(before) > 0
    del batch
    gc.collect()
    until = time.monotonic() + 10
    while _threads_since(before) and time.monotonic() < until:
        time.sleep(0.01)
    assert _threads_since(before) == 0


def test_closing_twice_is_closing_once_and_a_closed_batch_can_still_be_played() -> None:
    closed, open_one = _begun(threads=2), _begun(threads=2)
    for _ in range(2):
        closed.close()
        assert closed.closed
    assert_same(shown_by(closed, 3), shown_by(open_one, 3))
    assert_same(closed.reset(seed=4), open_one.reset(seed=4))
    closed.close()
    open_one.close()


@compiled_only
def test_a_batch_closed_while_it_steps_is_played_to_the_end_of_the_step() -> None:
    batch, other = _begun(threads=3), _begun(threads=1)
    piece = batch._slices._helpers().hand_out  # type: ignore[union-attr]

    def close_first(pieces: Any) -> None:
        batch.close_extras()
        piece(pieces)

    batch._slices._crew.hand_out = close_first  # type: ignore[union-attr, method-assign]
    assert_same(batch.step(reject_all(RUNS)), other.step(reject_all(RUNS)))
    before = set(threading.enumerate())
    assert_same(batch.step(reject_all(RUNS)), other.step(reject_all(RUNS)))
    assert _threads_since(before) == 0


@compiled_only
def test_a_thread_that_comes_late_to_a_reset_spoils_no_later_step(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """The owner has begun all runs of its slice by then."""
    batch, other = _begun(threads=2), _begun(threads=1)
    play, owner = slices._step, threading.current_thread()

    def play_late(*arguments: Any) -> bool:
        if threading.current_thread() is not owner:
            time.sleep(0.2)
        return play(*arguments)

    with monkeypatch.context() as patched:
        patched.setattr(slices, "_step", play_late)
        assert_same(batch.reset(seed=5), other.reset(seed=5))
    assert_same(shown_by(batch, 3), shown_by(other, 3))
    time.sleep(0.3)
    assert_same(shown_by(batch, 3), shown_by(other, 3))
    batch.close()


@compiled_only
@pytest.mark.parametrize("seconds", [0.0, 1e9], ids=["idle", "in haste"])
def test_threads_stay_awake_only_for_steps_that_follow_at_once(
    monkeypatch: pytest.MonkeyPatch, seconds: float
) -> None:
    """Whether they do changes nothing of what is played."""
    monkeypatch.setattr(slices, "_HASTE_SECONDS", seconds)
    batch, other = _begun(threads=3), _begun(threads=1)
    play, awaited = slices._step, []

    def watched(*arguments: Any) -> bool:
        awaited.append((arguments[2], arguments[-1]))
        return play(*arguments)

    monkeypatch.setattr(slices, "_step", watched)
    shown = shown_by(batch, 4)
    batch.close()
    monkeypatch.setattr(slices, "_step", play)
    assert_same(shown, shown_by(other, 4))
    # One step was the reset: the first of these is the second, and waits for the third.
    steps = [3, 4, 5, 6] if seconds else [0] * 4
    assert [step for own, step in awaited if own == 1] == steps
    assert [step for own, step in awaited if own == 2] == steps
    assert {slices_of for own, slices_of in awaited if own == 0} == {3}


@compiled_only
def test_a_step_broken_off_between_its_threads_asks_for_a_reset(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    batch, other = _begun(threads=2), _begun(threads=1)
    play, turns = slices._step, iter([0, 1])

    def play_or_fail(*arguments: Any) -> None:
        if next(turns) == 1:
            raise KeyboardInterrupt
        play(*arguments)

    with monkeypatch.context() as patched:
        patched.setattr(slices, "_step", play_or_fail)
        with pytest.raises(KeyboardInterrupt):
            batch.step(reject_all(RUNS))
    for again in (
        lambda: batch.step(reject_all(RUNS)),
        lambda: batch.reset(options={"reset_mask": np.arange(RUNS) < 3}),
    ):
        with pytest.raises(ActionError, match="broken off in the middle: call reset") as caught:
            again()
        assert caught.value.code == "reset_needed"
    assert_same(batch.reset(seed=3), other.reset(seed=3))
    assert_same(batch.step(reject_all(RUNS)), other.step(reject_all(RUNS)))


@compiled_only
def test_what_helpers_still_play_of_a_step_broken_off_twice_is_over_when_the_reset_begins(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    batch, other = _begun(threads=3), _begun(threads=1)
    crew, play = batch._slices._crew, slices._step
    began = threading.Event()

    def play_late(*arguments: Any) -> bool:
        if threading.current_thread() is threading.main_thread():
            raise KeyboardInterrupt
        began.wait(10)
        time.sleep(0.05)
        return play(*arguments)

    def stop() -> None:
        raise KeyboardInterrupt

    with monkeypatch.context() as patched:
        patched.setattr(slices, "_step", play_late)
        patched.setattr(crew, "settle", stop)
        with pytest.raises(KeyboardInterrupt):
            batch.step(reject_all(RUNS))
        began.set()
    assert_same(batch.reset(seed=3), other.reset(seed=3))
    time.sleep(0.1)
    assert batch._slices.runs.tobytes() == other._slices.runs.tobytes()
    assert_same(batch.step(reject_all(RUNS)), other.step(reject_all(RUNS)))
    batch.close()


def test_a_reset_broken_off_leaves_no_run_under_another_s_number(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    batch = _begun(threads=1)

    def fail(*_: Any) -> None:
        raise KeyboardInterrupt

    with monkeypatch.context() as patched:
        patched.setattr(slices, "_step", fail)
        with pytest.raises(KeyboardInterrupt):
            batch.reset(seed=50_000)
    with pytest.raises(ActionError, match="reset"):
        batch.step(reject_all(RUNS))


PLAYED_AT_EXIT = """
import atexit
from tests.envs.batches import batch_of, reject_all

def play_on():
    for _ in range(3):
        batch.step(reject_all(200))
    print("played on")

atexit.register(play_on)
batch = batch_of(200, "shipped", days=1, threads=2)
batch.reset(seed=1)
batch.step(reject_all(200))
"""


def test_a_batch_can_be_played_while_python_ends() -> None:
    assert in_another_process(PLAYED_AT_EXIT) == "played on"


FORKING = """
import os, signal, sys
from tests.envs.batches import batch_of, reject_all, whole_state
signal.alarm(250)

def play(batch):
    for _ in range(15):
        batch.step(reject_all(200))
    return whole_state(batch)

batch = batch_of(200, "shipped", days=1, threads=3)
batch.reset(seed=5)
batch.step(reject_all(200))
reading, writing = os.pipe()
child = os.fork()
if child == 0:
    signal.alarm(250)
    grandchild = os.fork()
    if grandchild == 0:
        signal.alarm(250)
    else:
        assert os.waitstatus_to_exitcode(os.waitpid(grandchild, 0)[1]) == 0
    os.write(writing, play(batch).encode() + b" ")
    batch.close()
    if grandchild == 0:
        sys.exit(0)  # with all that Python does at its end
    os._exit(0)
mine = play(batch)
assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
print(os.read(reading, 1000).decode().split() == [mine, mine])
"""


@pytest.mark.skipif(sys.platform == "win32", reason="Windows has no fork")
def test_a_child_forked_after_threads_were_used_plays_on_like_its_parent() -> None:
    # What Python says of forking beside threads is what this is about.
    assert in_another_process(FORKING, "-W", "ignore::DeprecationWarning") == "True"


@each_copy
@each_mode
@pytest.mark.parametrize("held", [True, False], ids=["copy=True", "copy=False"])
def test_a_copy_made_at_any_step_continues_bit_for_bit(
    way: str, mode: AutoresetMode, held: bool
) -> None:
    """The moments between the end of some runs and their reset are among the steps."""
    batch = batch_of(5, "shipped", days=1, autoreset_mode=mode, copy=held)
    batch.reset(seed=3)
    for step in range(16):
        twin = COPIES[way](batch)
        assert whole_state(twin) == whole_state(batch)
        rest = copy.deepcopy(shown_by(COPIES[way](twin), 4, seed=step))
        shown = shown_by(batch, 1, seed=step)
        assert_same(shown, rest[: len(shown)] if held else shown_by(twin, 1, seed=step))


@each_copy
def test_a_copy_of_many_runs_has_threads_of_its_own(way: str) -> None:
    batch = _begun(threads=2)
    shown_by(batch, 3)
    twin = COPIES[way](batch)
    batch.close()
    other = COPIES[way](batch)
    assert_same(shown_by(twin, 6), shown_by(other, 6))
    twin.close()
    other.close()


@each_copy
def test_a_copy_draws_the_same_next_runs_and_samples_the_same_actions(way: str) -> None:
    batch = batch_of(3, "shipped", days=1)
    batch.reset(seed=8)
    batch.action_space.seed(9)
    batch.reset()
    twin = COPIES[way](batch)
    for _ in range(3):
        assert_same(batch.reset(), twin.reset())
        assert_same(batch.action_space.sample(), twin.action_space.sample())


@each_copy
def test_a_copy_and_the_original_share_nothing_that_changes(way: str) -> None:
    batch = batch_of(3, "shipped", days=1)
    COPIES[way](batch).reset(seed=1)
    batch.reset(seed=8)
    before = whole_state(batch)
    twin = COPIES[way](batch)
    other = twin.step(reject_all(3))[0]
    shown_by(twin, 20)
    twin.reset()
    assert whole_state(batch) == before
    mine = batch.step(reject_all(3))[0]
    assert_same(mine, other)
    assert not any(np.shares_memory(mine[name], other[name]) for name in mine)


@pytest.mark.parametrize("threads", [1, 2])
def test_two_batches_can_be_stepped_from_two_threads_at_once(threads: int) -> None:
    alone = [shown_by(_begun(threads=1), 8, seed) for seed in range(4)]
    batches = [_begun(threads=threads) for _ in range(4)]
    with ThreadPoolExecutor(4) as pool:
        together = list(pool.map(shown_by, batches, [8] * 4, range(4)))
    assert_same(together, alone)
    for batch in batches:
        batch.close()
