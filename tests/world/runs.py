"""What the tests of a world share: a small run in a file, and children that can be killed."""

from __future__ import annotations

import os
import signal
import sqlite3
import sys
import traceback
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import lru_cache
from pathlib import Path
from typing import Any

import pytest

from tests.worlds import tiny_business, tiny_map
from tradesbench_gym.company.business import Business
from tradesbench_gym.company.simulation import Simulation
from tradesbench_gym.policies.load import load_policy
from tradesbench_gym.policies.registry import Policy
from tradesbench_gym.world import World, WorldError, play_on

SEED = 7
DAYS = 3
MAP = tiny_map()
COMPANIONS = ("-wal", "-shm", "-journal", ".lock")
NO_FORK = pytest.mark.skipif(not hasattr(os, "fork"), reason="needs processes that fork")


def business(days: int = DAYS) -> Business:
    return tiny_business(days=days)


def create(path: Path, *, seed: int = SEED, days: int = DAYS) -> World:
    return World.create(path, seed, business=business(days))


def resume(path: Path) -> World:
    return World.open(path, map=MAP)


def play_to_the_end(world: World) -> str:
    """Play the oracle's run on to its end; the final digest."""
    for _stop in play_on(world, load_policy("oracle")):
        pass
    return world.digest()


def play_steps(world: World, steps: int) -> None:
    """Play the oracle's run on for at least this many commands, or to its end."""
    for _stop in play_on(world, load_policy("oracle")):
        if world.commands >= steps:
            return


def answer(run: Simulation | World, decide: Policy) -> None:
    """Answer the call on the line as a policy says."""
    decision = decide(run.desk)
    if decision is None:
        run.reject()
    else:
        run.offer(*decision)


@lru_cache
def undisturbed(seed: int = SEED, days: int = DAYS) -> str:
    """The final digest of the oracle's run without any file."""
    simulation, decide = Simulation(seed, business=business(days)), load_policy("oracle")
    while not simulation.ended:
        simulation.next_call()
        if simulation.line is not None:
            answer(simulation, decide)
    return simulation.digest()


def trespass(path: Path, *statements: str) -> None:
    """Change a file behind its triggers' back, and put the triggers up again."""
    connection = sqlite3.connect(path, isolation_level=None)
    try:
        connection.execute("PRAGMA ignore_check_constraints = ON")
        connection.execute("PRAGMA synchronous = OFF")
        connection.execute("BEGIN")
        triggers = connection.execute(
            "SELECT name, sql FROM sqlite_schema WHERE type = 'trigger'"
        ).fetchall()
        for name, _ in triggers:
            connection.execute(f"DROP TRIGGER {name}")
        for statement in statements:
            connection.execute(statement)
        for _, sql in triggers:
            connection.execute(sql)
        connection.execute("COMMIT")
    finally:
        connection.close()


def rows(path: Path, template: str, *words: object) -> list[tuple[Any, ...]]:
    """What a file answers to a question; words take the places of {} in it."""
    connection = sqlite3.connect(path)
    try:
        return connection.execute(template.format(*words)).fetchall()
    finally:
        connection.close()


def refused(action: Callable[[], object], code: str) -> str:
    """The sentence of the WorldError that an action must raise."""
    with pytest.raises(WorldError) as caught:
        action()
    said = str(caught.value)
    assert caught.value.code == code, said
    assert said.isprintable()
    assert len(said) < 600
    return said


@contextmanager
def untouched(path: Path) -> Iterator[None]:
    """Whatever happens inside, the folder holds the same files with the same bytes afterwards."""

    def seen() -> dict[str, bytes]:
        return {one.name: one.read_bytes() for one in path.parent.iterdir() if one.is_file()}

    before = seen()
    yield
    assert seen() == before


def forked(work: Callable[[], None]) -> int:
    """A child process that does some work and leaves with status 0, or 1 if it fails; its id."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)
        child = os.fork()
    if child:
        return child
    status = 1
    try:
        work()
        status = 0
    except BaseException:  # noqa: BLE001 - nothing may return into the test from here
        traceback.print_exc()
        sys.stderr.flush()
    finally:
        os._exit(status)


def finished(child: int) -> int:
    """The exit status of a child, negative if a signal ended it."""
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])


def kill(child: int) -> None:
    os.kill(child, signal.SIGKILL)
