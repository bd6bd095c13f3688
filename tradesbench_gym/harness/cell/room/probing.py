"""Attempts to break out, run one by one as the agent's user, each in a process of its own.

They run in the interpreter that entered the room with every module already read: nothing of it
lies in the room, and what it may do is what any program started there may do, which one of the
attempts compares. An attempt that raises OSError or Held was kept in; one that returns got
something, and says what; one that hangs or breaks counts as not held, since nobody knows.
"""

from __future__ import annotations

import contextlib
import json
import os
import select
import signal
import sys
import time
from collections.abc import Callable, Iterable
from typing import Any

from . import kernel
from .attempt import Attempt, Held, Targets
from .try_calls import calls
from .try_files import files, files_outside
from .try_network import network
from .try_privileges import privileges
from .try_processes import processes
from .try_traces import traces

_SECONDS = 15.0
_SAID = 300
_SUITES: dict[str, tuple[Callable[[Targets], Iterable[Attempt]], ...]] = {
    "inside": (files, traces, processes, network, privileges, calls),
    "outside": (files_outside,),
}


def run(told: dict[str, Any], env: dict[str, str]) -> int:
    """Make every attempt of a suite, and print one line of JSON for each; the exit status."""
    kernel.prctl(kernel.DUMPABLE, 1)  # as after starting a program: its own /proc is its own
    try:
        _run(Targets(env=env, **told["targets"]), told["suite"])
    except Exception as error:  # noqa: BLE001 - said, so that the engine stops the run
        sys.stderr.write(f"{type(error).__name__}: {error}\n")
        sys.stderr.flush()
        return 1
    return 0


def _run(targets: Targets, suite_name: str) -> None:
    for suite in _SUITES[suite_name]:
        for attempt in suite(targets):
            held, said = _made(attempt)
            line = {"name": attempt.name, "what": attempt.what, "held": held, "said": said[:_SAID]}
            sys.stdout.write(json.dumps(line) + "\n")
            sys.stdout.flush()


def _made(attempt: Attempt) -> tuple[bool, str]:
    answer, tell = os.pipe()
    child = os.fork()
    if child == 0:
        os.close(answer)
        _make(attempt, tell)
    os.close(tell)
    try:
        return _answer(answer)
    finally:
        os.close(answer)
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.kill(child, signal.SIGKILL)
        with contextlib.suppress(ChildProcessError):
            os.waitpid(child, 0)


def _answer(fd: int) -> tuple[bool, str]:
    deadline, said = time.monotonic() + _SECONDS, b""
    while True:
        ready, _, _ = select.select([fd], [], [], max(0.0, deadline - time.monotonic()))
        if not ready:
            return False, f"no answer within {_SECONDS:.0f} seconds"
        chunk = os.read(fd, 1 << 16)
        if not chunk:
            break
        said += chunk
    if not said:
        return False, "the attempt ended without a word"
    held, words = json.loads(said)
    return bool(held), str(words)


def _make(attempt: Attempt, tell: int) -> None:
    held, said = False, ""
    try:
        said = attempt.make()
    except Held as kept:
        held, said = True, str(kept)
    except OSError as error:
        held, said = True, error.strerror or str(error)
    except BaseException as error:  # noqa: BLE001 - an attempt that broke has shown nothing
        said = f"the attempt itself failed: {type(error).__name__}: {error}"
    with contextlib.suppress(OSError):
        os.write(tell, json.dumps([held, said]).encode())
    os._exit(0)
