"""The end of a day: every process of the agent's is gone, whatever it did to stay."""

from __future__ import annotations

import time

import pytest

from tests.harness.cell.cells import NEEDS_ROOT, PATH, said
from tradesbench_gym.harness.cell import IsolatedCell
from tradesbench_gym.harness.cell.users import processes_of

pytestmark = NEEDS_ROOT

STUBBORN = {
    "in the background": "sleep 611 & echo",
    "with nohup": "nohup sleep 611 > /dev/null 2>&1 & echo",
    "in a session of its own": "setsid sleep 611 > /dev/null 2>&1 & echo",
    "orphaned twice": "( (setsid sh -c 'sleep 611 & sleep 611' > /dev/null 2>&1 &) & ); echo",
    "deaf to signals": "sh -c 'trap \"\" HUP TERM INT; sleep 611; true' >/dev/null 2>&1 & echo",
    "stopped": "sleep 611 > /dev/null 2>&1 & kill -STOP $!; echo",
    "under another name": "cp /bin/sleep ./quiet; ./quiet 611 > /dev/null 2>&1 & echo",
}


def settled(cell: IsolatedCell) -> int:
    """How many processes the agent has, once there are some."""
    deadline = time.monotonic() + 10
    while not (count := len(list(cell.left()))):
        assert time.monotonic() < deadline, "nothing was started"
        time.sleep(0.01)
    return count


@pytest.mark.parametrize("how", STUBBORN)
def test_a_process_that_wants_to_stay_is_found_and_ended(cell: IsolatedCell, how: str) -> None:
    with cell.popen(["sh", "-c", STUBBORN[how]], PATH) as process:
        assert process.wait(10) == 0
    settled(cell)
    survivors = cell.reap()
    assert any("611" in one.command for one in survivors), survivors
    assert not list(processes_of(cell.uid))
    assert cell.reap() == ()


def test_processes_that_fork_faster_than_they_could_be_killed_are_ended(
    cell: IsolatedCell,
) -> None:
    """Each child forks again and ends, so that no list of processes is ever right."""
    relay = "perl -e 'for (1..8) { fork // last } while (1) { my $p = fork; exit if $p; }'"
    process = cell.popen(["sh", "-c", f"{relay} & sleep 611"], PATH)
    deadline = time.monotonic() + 10
    while settled(cell) < 5:
        assert time.monotonic() < deadline, "the relay did not start"
    begun = time.monotonic()
    cell.reap()
    assert process.wait(10) == -9
    assert not list(processes_of(cell.uid))
    assert time.monotonic() - begun < 20
    assert said(cell, "echo next day") == "next day\n"


def test_the_agent_itself_is_ended_and_its_process_says_so(cell: IsolatedCell) -> None:
    process = cell.popen(["sleep", "611"], PATH)
    (survivor,) = cell.reap()
    assert survivor.command == "sleep 611"
    assert process.wait(10) == -9


def test_a_day_without_leftovers_reports_none_and_the_doors_stay(cell: IsolatedCell) -> None:
    for _ in range(2):
        script = f"exec 3<>/dev/tcp/127.0.0.1/{cell.ports.api}; printf 'x\\n' >&3; head -c 12 <&3"
        with cell.popen(["bash", "-c", script], PATH, stdout=-1) as process:
            assert process.communicate(timeout=20)[0] == b"HTTP/1.1 401"
        assert cell.reap() == ()
