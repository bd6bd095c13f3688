"""What an agent's program finds in its cell, and how it is started, heard and ended."""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import tempfile
import threading
import time
from pathlib import Path

import pytest

from tests.harness.cell.cells import NEEDS_ROOT, PATH, Site, said
from tradesbench_gym.harness.cell import Cell, CellError, Doors, IsolatedCell, Limits, open_cell

pytestmark = NEEDS_ROOT


def test_a_program_runs_as_a_user_of_its_own_in_the_workspace(cell: IsolatedCell) -> None:
    seam: Cell = cell
    uid, groups, folder = said(cell, "id -u; id -G; pwd").split()
    assert seam.isolated
    assert int(uid) == cell.uid != os.getuid()
    assert groups == str(cell.uid)
    assert Path(folder) == cell.workspace


def test_the_environment_is_what_was_given_and_nothing_else(
    cell: IsolatedCell, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PROVIDER_KEY", "k-1")
    lines = said(cell, "tr '\\0' '\\n' < /proc/self/environ", {**PATH, "SUNRIDGE_API_PORT": "1"})
    assert sorted(lines.split()) == [f"PATH={PATH['PATH']}", "SUNRIDGE_API_PORT=1"]


def test_what_it_writes_in_the_workspace_stays_and_is_ours_afterwards(place: Site) -> None:
    (place.workspace / "MEMORY.md").write_text("", encoding="utf-8")
    with open_cell(place.workspace, place.doors) as cell:
        assert not said(cell, "echo note >> MEMORY.md; mkdir -p a/b; echo deep > a/b/c")
        assert (place.workspace / "MEMORY.md").stat().st_uid == cell.uid
    assert (place.workspace / "MEMORY.md").read_text(encoding="utf-8") == "note\n"
    for path in (place.workspace, *place.workspace.rglob("*")):
        assert path.stat().st_uid == os.geteuid(), path


def test_a_link_in_the_workspace_does_not_give_away_what_it_points_to(place: Site) -> None:
    secret = place.private()
    with open_cell(place.workspace, place.doors) as cell:
        said(cell, f"ln -s {secret} link; ln -s {place.folder} folder")
        cell.reap()
        assert secret.stat().st_uid == os.geteuid()
        assert place.folder.stat().st_uid == os.geteuid()


def test_it_reaches_both_doors_and_bytes_go_through_as_they_are(place: Site) -> None:
    """A megabyte goes out and comes back, and the end of each side is told to the other."""
    sent = os.urandom(1 << 20)
    with socket.create_server(("127.0.0.1", 0)) as echoing:

        def echo() -> None:
            one, _ = echoing.accept()
            with one:
                heard = b""
                while chunk := one.recv(1 << 16):
                    heard += chunk
                one.sendall(heard)

        thread = threading.Thread(target=echo, daemon=True)
        thread.start()
        gateway = echoing.getsockname()[1]
        (place.workspace / "sent").write_bytes(sent)
        program = (
            "import socket,sys\n"
            f"s=socket.create_connection(('127.0.0.1',{gateway}))\n"
            "s.sendall(open('sent','rb').read()); s.shutdown(1)\n"
            "got=b''\n"
            "while c:=s.recv(65536): got+=c\n"
            "open('got','wb').write(got)\n"
            f"socket.create_connection(('127.0.0.1',{place.port})).close()\n"
            "print('both')"
        )
        with open_cell(place.workspace, Doors(place.port, gateway)) as cell:
            if "python3" not in said(cell, "command -v python3"):
                pytest.skip("the system has no python3 of its own")
            assert cell.ports == Doors(place.port, gateway)
            (place.workspace / "program.py").write_text(program, encoding="utf-8")
            assert said(cell, "python3 program.py") == "both\n"
            thread.join(10)
        assert (place.workspace / "got").read_bytes() == sent


def test_a_door_whose_server_is_gone_is_shut_and_open_again_when_it_is_back(place: Site) -> None:
    script = "bash -c 'exec 3<>/dev/tcp/127.0.0.1/{}; echo x >&3; head -c 12 <&3'"
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = int(taken.getsockname()[1])
    with open_cell(place.workspace, Doors(port)) as cell:
        assert "HTTP" not in said(cell, script.format(port))
        with socket.create_server(("127.0.0.1", port)) as server:

            def answer() -> None:
                with server.accept()[0] as one:
                    one.sendall(b"HTTP/1.1 200")

            answering = threading.Thread(target=answer)
            answering.start()
            assert said(cell, script.format(port)) == "HTTP/1.1 200"
            answering.join(10)


def test_lines_go_in_and_out_through_pipes_while_it_runs(cell: IsolatedCell) -> None:
    process = cell.popen(["cat"], PATH, stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    assert process.stdin is not None
    assert process.stdout is not None
    for number in range(3):
        process.stdin.write(b"%d\n" % number)
        process.stdin.flush()
        assert process.stdout.readline() == b"%d\n" % number
    process.stdin.close()
    assert process.stdout.read() == b""
    assert process.wait(10) == 0
    process.stdout.close()


def test_it_ends_as_the_program_ended(cell: IsolatedCell) -> None:
    for script, status in (("exit 0", 0), ("exit 7", 7), ("kill -9 $$", -9), ("kill -15 $$", -15)):
        with cell.popen(["sh", "-c", script], PATH) as process:
            assert process.wait(10) == status, script


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT, signal.SIGKILL])
def test_a_signal_to_the_process_reaches_the_program(
    cell: IsolatedCell, number: signal.Signals
) -> None:
    with cell.popen(["sleep", "600"], PATH) as process:
        process.send_signal(number)
        assert process.wait(10) == -number
    deadline = time.monotonic() + 10
    while list(cell.left()):
        assert time.monotonic() < deadline, "the program outlived its killed process"
        time.sleep(0.02)


def test_a_program_that_is_not_there_is_one_sentence(cell: IsolatedCell) -> None:
    with pytest.raises(CellError, match="no program 'nosuch' in the agent's cell") as caught:
        cell.popen(["nosuch"], PATH)
    assert caught.value.code == "not_started"


def test_a_stream_of_ours_that_it_could_write_back_into_is_refused(
    cell: IsolatedCell, tmp_path: Path
) -> None:
    with (tmp_path / "log").open("wb") as log, pytest.raises(CellError, match="stdout of an agent"):
        cell.popen(["true"], PATH, stdout=log)


def test_a_tool_that_was_named_can_be_run_and_not_changed(place: Site, tmp_path: Path) -> None:
    tool = tmp_path / "tools" / "hello"
    tool.parent.mkdir()
    tool.write_text("#!/bin/sh\necho hello\n", encoding="utf-8")
    tool.chmod(0o755)
    with open_cell(place.workspace, place.doors, readable=(tool.parent,)) as cell:
        assert said(cell, f"{tool}") == "hello\n"
        assert "Read-only" in said(cell, f"echo no > {tool.parent}/other")
        assert "Read-only" in said(cell, f"echo no > {tool}")


def test_more_than_its_share_is_refused(place: Site) -> None:
    limits = Limits(processes=20, file_bytes=1 << 20, temporary_bytes=1 << 20, memory_bytes=1 << 28)
    with open_cell(place.workspace, place.doors, limits=limits) as cell:
        assert "rc=153" in said(cell, "head -c 2000000 /dev/zero > big; echo rc=$?")
        assert (place.workspace / "big").stat().st_size == 1 << 20
        assert "No space" in said(cell, "head -c 1000000 /dev/zero > /tmp/a; cp /tmp/a /tmp/b")
        forks = said(cell, "for i in $(seq 40); do sleep 5 & done; kill $(jobs -p)")
        assert "fork" in forks.lower()
        hungry = said(cell, "perl -e 'my $x = \"x\" x 1_000_000_000; print length $x'; true")
        assert "1000000000" not in hungry


def test_temporary_files_and_shared_memory_end_with_the_day(cell: IsolatedCell) -> None:
    said(
        cell,
        "echo a > /tmp/a; echo b > /dev/shm/b; echo c > $HOME/c; echo d > d",
        {**PATH, "HOME": cell.home},
    )
    assert said(cell, f"cat /tmp/a /dev/shm/b {cell.home}/c") == "a\nb\nc\n"
    cell.reap()
    assert "No such file" in said(cell, "cat /tmp/a")
    assert not said(cell, f"ls -A /dev/shm {cell.home} | grep -v :$ | grep .")
    assert said(cell, "cat d") == "d\n"


@pytest.mark.parametrize("mask", [0o022, 0o077])
def test_what_may_be_read_is_reached_wherever_it_lies_and_whatever_our_umask(
    place: Site, mask: int
) -> None:
    """As where root has set pi up in its own home, on a machine that gives nothing away."""
    with tempfile.TemporaryDirectory(dir="/root", prefix=".tradesbench-test-") as home:
        tool = Path(home, "share", "tool")
        tool.mkdir(parents=True)
        (tool / "hello").write_text("#!/bin/sh\necho hello\n", encoding="utf-8")
        for one in (tool.parent, tool, tool / "hello"):
            one.chmod(0o755)
        before = os.umask(mask)
        try:
            with open_cell(place.workspace, place.doors, readable=(tool,)) as cell:
                assert said(cell, f"{tool}/hello; echo mine > mine; cat mine") == "hello\nmine\n"
                assert "denied" in said(cell, "ls /root")
        finally:
            os.umask(before)
