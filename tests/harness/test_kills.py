"""Whoever is killed, whenever: the run goes on at the same call, and nothing is answered twice."""

from __future__ import annotations

import os
import random
import signal
import subprocess
import sys
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import pytest

from tests.harness.runs import begin, codes, digest, play, records
from tradesbench_gym.api.driver_models import RunStatus
from tradesbench_gym.harness.days import Watch
from tradesbench_gym.harness.folder import RunFolder
from tradesbench_gym.harness.left_over import end_left_over
from tradesbench_gym.harness.manifest import Status
from tradesbench_gym.world import audit

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="processes are looked up in /proc")
DAYS = 3
SLOW = pytest.mark.slow


@pytest.fixture(scope="module")
def undisturbed(tmp_path_factory: pytest.TempPathFactory, map_file: Path) -> RunFolder:
    """The run that all others must come to."""
    folder = begin(tmp_path_factory.mktemp("calm") / "run", map_file, "slowly", days=DAYS)
    play(folder)
    return folder


def children(pid: int, words: str) -> list[int]:
    """The processes below one whose command line holds some words, or is one."""
    found = []
    for folder in Path("/proc").glob("[0-9]*"):
        with suppress(OSError):
            parent = int((folder / "stat").read_text().rsplit(")", 1)[1].split()[1])
            command = (folder / "cmdline").read_bytes().replace(b"\0", b" ").decode().strip()
            if parent == pid and (command == words or (len(words) > 2 and words in command)):
                found.append(int(folder.name))
    return found


def said_and_done(folder: RunFolder) -> list[tuple[str, int, str]]:
    """What came of every occasion, in order."""
    found = records(folder, "outcome")
    return [(one.said["about"], one.said["number"], one.said["outcome"]) for one in found]


def check_same(folder: RunFolder, undisturbed: RunFolder, map_file: Path) -> None:
    assert folder.read().status == Status.ENDED
    assert folder.read().results == undisturbed.read().results
    assert digest(folder, map_file) == digest(undisturbed, map_file)
    assert said_and_done(folder) == said_and_done(undisturbed)
    told = Counter((one.said["about"], one.said["number"]) for one in records(folder, "outcome"))
    assert set(told.values()) == {1}
    assert not audit(folder.world, map=map_file).findings


@contextmanager
def harness(folder: RunFolder) -> Iterator[subprocess.Popen[str]]:
    """A harness in a process of its own that takes up a run."""
    command = [sys.executable, "-m", "tradesbench_gym", "harness", "resume", str(folder.path)]
    with subprocess.Popen(
        command,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        env={**os.environ, "TRADESBENCH_QUIET": "1"},
    ) as process:
        try:
            yield process
        finally:
            process.kill()


def wait_for(true: Callable[[], bool], process: subprocess.Popen[str]) -> None:
    until = time.monotonic() + 120
    while not true() and process.poll() is None:
        assert time.monotonic() < until
        time.sleep(0.001)


@SLOW
@pytest.mark.parametrize("seed", range(3))
def test_a_harness_that_is_killed_at_any_moment_is_taken_up_at_the_same_call(
    tmp_path: Path, map_file: Path, undisturbed: RunFolder, seed: int
) -> None:
    chance = random.Random(seed)
    folder = begin(tmp_path / "run", map_file, "slowly", days=DAYS)
    size = folder.transcript.stat().st_size if folder.transcript.exists() else 0
    kills = 0
    while folder.read().status != Status.ENDED and kills < 8:
        with harness(folder) as process:
            more = chance.randrange(500, 7_000)
            wait_for(lambda: _size(folder.transcript) > size + more, process)  # noqa: B023
            time.sleep(chance.random() * 0.08)
            if process.poll() is None:
                process.send_signal(signal.SIGKILL)
                kills += 1
            process.wait()
        size = _size(folder.transcript)
    with harness(folder) as process:
        out, _ = process.communicate(timeout=300)
        assert process.returncode == 0, out
    assert kills >= 3
    check_same(folder, undisturbed, map_file)
    repeated = [one.said for one in records(folder, "prompt")]
    again = Counter((said["about"], said["number"]) for said in repeated)
    assert sum(again.values()) - len(again) <= kills  # at most the one that was being said
    assert not (folder.path / "private.json").exists()


def _size(path: Path) -> int:
    return path.stat().st_size if path.exists() else 0


def test_whoever_an_earlier_sitting_left_behind_is_ended(tmp_path: Path) -> None:
    sleeper = subprocess.Popen(
        ["/bin/sleep", "1000"], env={"SUNRIDGE_API_TOKEN": "a-token-of-this-test"}, cwd=tmp_path
    )
    other = subprocess.Popen(["/bin/sleep", "1000"], cwd=tmp_path)
    try:
        assert end_left_over("a-token-of-this-test") == [sleeper.pid]
        assert sleeper.wait(10) == -signal.SIGKILL
        assert other.poll() is None
    finally:
        other.kill()
        other.wait()


@pytest.mark.parametrize("who", [pytest.param("company_server", marks=SLOW), "phone.py"])
def test_servers_and_agents_that_are_killed_are_started_again(
    tmp_path: Path, map_file: Path, undisturbed: RunFolder, who: str
) -> None:
    folder = begin(tmp_path / "run", map_file, "slowly", days=DAYS)
    killed = []

    def moved(status: RunStatus, _what: str) -> None:
        if status.call_id in {3, 9, 20} and status.call_id not in killed:
            killed.append(status.call_id)
            for pid in children(os.getpid(), who):
                os.kill(pid, signal.SIGKILL)

    manifest = play(folder, watch=Watch(moved=moved))
    assert len(killed) == 3
    check_same(folder, undisturbed, map_file)
    found = codes(manifest)
    if who == "company_server":
        assert found == {("infrastructure", "company_died"): 3}
    else:
        assert not found or set(found) == {("agent", "agent_died")}


@pytest.mark.parametrize("who", [pytest.param("company_server", marks=SLOW), "phone.py"])
def test_killed_in_the_middle_of_a_turn_they_cost_no_call(
    tmp_path: Path, map_file: Path, undisturbed: RunFolder, who: str
) -> None:
    folder = begin(tmp_path / "run", map_file, "slowly", days=DAYS)
    killed = []

    def kill() -> None:
        for pid in children(os.getpid(), who):
            os.kill(pid, signal.SIGKILL)

    def moved(status: RunStatus, _what: str) -> None:
        if status.call_id in {4, 11, 18} and status.call_id not in killed:
            killed.append(status.call_id)
            threading.Timer(0.02 + 0.01 * len(killed), kill).start()

    manifest = play(folder, watch=Watch(moved=moved))
    assert len(killed) == 3
    check_same(folder, undisturbed, map_file)
    # An agent that was being answered when the company died may give up.
    allowed = {"agent_died", "company_died"} if who == "company_server" else {"agent_died"}
    assert set() != {code for _, code in codes(manifest)} <= allowed
