"""Two runs at once share nothing: no user, no files, no network, no names."""

from __future__ import annotations

import subprocess
from pathlib import Path

from tests.harness.cell.cells import NEEDS_ROOT, PATH, Site, said, site
from tradesbench_gym.harness.cell import Doors, Private, open_cell
from tradesbench_gym.harness.cell.users import FIRST_UID, LAST_UID, AgentUser

pytestmark = NEEDS_ROOT


def test_neither_finds_the_other(place: Site, tmp_path: Path) -> None:
    with (
        site(tmp_path / "second") as other,
        open_cell(place.workspace, place.doors) as one,
        open_cell(other.workspace, Doors(other.port)) as two,
    ):
        assert one.uid != two.uid
        listen = [
            "sh",
            "-c",
            "echo secret > MEMORY.md; echo secret > /tmp/notes; echo up; sleep 600",
        ]
        with two.popen(listen, PATH, stdout=subprocess.PIPE) as process:
            assert process.stdout is not None
            assert process.stdout.readline() == b"up\n"
            assert "No such file" in said(one, f"cat {other.workspace}/MEMORY.md")
            assert "No such file" in said(one, "cat /tmp/notes")
            assert f" {two.uid} " not in said(one, "ps -eo uid= 2>/dev/null; ls -ln /proc")
            reach = f"bash -c 'exec 3<>/dev/tcp/127.0.0.1/{other.port}'"
            assert "refused" in said(one, reach)
            assert not [
                probe
                for probe in one.preflight(Private(paths=(other.workspace,), pids=(process.pid,)))
                if not probe.held
            ]
            process.kill()


def test_a_user_is_nobody_elses_until_it_is_given_back() -> None:
    first, second = AgentUser(), AgentUser()
    try:
        assert FIRST_UID <= first.uid < second.uid <= LAST_UID
        number = first.uid
        first.release()
        first = AgentUser()
        assert first.uid == number
    finally:
        first.release()
        second.release()


def test_a_number_under_which_something_runs_is_passed_over() -> None:
    user = AgentUser()
    number = user.uid
    user.release()
    stranger = subprocess.Popen(["/bin/sleep", "600"], user=number, group=number, extra_groups=[])
    try:
        user = AgentUser()
        assert user.uid != number
        user.release()
    finally:
        stranger.kill()
        stranger.wait()
