"""Nothing of a cell is left on the host: after close, after SIGKILL of the engine or the keeper."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.harness.cell.cells import NEEDS_ROOT, PATH, Site, open_descriptors, said
from tradesbench_gym.harness.cell import CellError, IsolatedCell, open_cell
from tradesbench_gym.harness.cell.users import processes_of

pytestmark = NEEDS_ROOT

ENGINE = """
import json, subprocess, sys, time
from pathlib import Path
from tradesbench_gym.harness.cell import Doors, open_cell
cell = open_cell(Path(sys.argv[1]), Doors(int(sys.argv[2])))
stubborn = "trap '' HUP TERM; (setsid nohup sleep 622 &) ; echo up; sleep 622"
process = cell.popen(["sh", "-c", stubborn], {"PATH": "/usr/bin:/bin"}, stdout=subprocess.PIPE)
process.stdout.readline()
print(json.dumps([cell.uid, cell.keeper_pid, process.pid]), flush=True)
time.sleep(600)
"""


def traces() -> dict[str, object]:
    """What a cell could leave behind on the host."""
    network = Path("/proc/net/dev").read_text(encoding="utf-8")
    return {
        "mounts": Path("/proc/self/mountinfo").read_text(encoding="utf-8"),
        "interfaces": [line.split(":")[0] for line in network.splitlines() if ":" in line],
        "namespaces": sorted(map(str, Path("/run/netns").glob("*"))),
    }


def wait_until(true: Callable[[], bool], what: str) -> None:
    deadline = time.monotonic() + 20
    while not true():
        assert time.monotonic() < deadline, what
        time.sleep(0.02)


def is_gone(pid: int) -> bool:
    """Whether a process has ended, waited for or not."""
    try:
        state = Path(f"/proc/{pid}/stat").read_text(encoding="utf-8").rsplit(")", 1)[1].split()[0]
    except OSError:
        return True
    return state in {"Z", "X"}


def test_close_leaves_nothing(place: Site) -> None:
    before, descriptors = traces(), open_descriptors()
    with open_cell(place.workspace, place.doors) as cell:
        sleeping = cell.popen(["sleep", "622"], PATH)
        assert list(processes_of(cell.uid))
        keeper = cell.keeper_pid
    assert traces() == before
    assert open_descriptors() == descriptors
    assert not list(processes_of(cell.uid))
    assert is_gone(keeper)
    assert sleeping.wait(10) == -9
    cell.close()  # once more does nothing
    with pytest.raises(CellError, match="closed"):
        cell.popen(["true"], PATH)


@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGTERM])
def test_an_engine_that_is_killed_leaves_nothing(place: Site, number: signal.Signals) -> None:
    before = traces()
    engine = subprocess.Popen(
        [sys.executable, "-c", ENGINE, str(place.workspace), str(place.port)],
        stdout=subprocess.PIPE,
    )
    assert engine.stdout is not None
    uid, keeper, entered = json.loads(engine.stdout.readline())
    assert len(list(processes_of(uid))) >= 2
    engine.send_signal(number)
    engine.wait(10)
    engine.stdout.close()
    wait_until(lambda: not list(processes_of(uid)), "a process of the agent's outlived the engine")
    wait_until(lambda: is_gone(keeper) and is_gone(entered), "a helper outlived the engine")
    assert traces() == before
    # The next engine goes on in the same workspace.
    with open_cell(place.workspace, place.doors) as cell:
        assert said(cell, "echo on > MEMORY.md; cat MEMORY.md") == "on\n"


def test_a_keeper_that_is_killed_takes_the_room_with_it(cell: IsolatedCell) -> None:
    process = cell.popen(["sleep", "622"], PATH)
    os.kill(cell.keeper_pid, signal.SIGKILL)
    assert process.wait(10) == -9
    wait_until(lambda: not list(processes_of(cell.uid)), "the room outlived its keeper")
    with pytest.raises(CellError, match="ended from outside"):
        cell.popen(["true"], PATH)
    # A new day builds a new one.
    cell.reap()
    assert said(cell, "echo up") == "up\n"


def test_an_agent_cannot_end_the_room_or_the_keeper(cell: IsolatedCell) -> None:
    said(cell, f"kill -9 1; kill -9 {cell.keeper_pid} {os.getpid()}; kill -9 -1")
    assert said(cell, "echo up") == "up\n"
