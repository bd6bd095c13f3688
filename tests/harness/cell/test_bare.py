"""The cell without walls: the same interface, said to be none, with what it can end."""

from __future__ import annotations

import os
import subprocess
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.harness.cell.cells import PATH, said
from tradesbench_gym.harness.cell import BareCell, Cell, CellError, Doors, Private, open_bare

pytestmark = pytest.mark.skipif(os.name != "posix", reason="the programs are a shell's")


@pytest.fixture
def bare(tmp_path: Path) -> Iterator[BareCell]:
    with open_bare(tmp_path, Doors(1, 2)) as opened:
        yield opened


def test_it_says_that_it_keeps_nothing_from_an_agent(bare: BareCell) -> None:
    cell: Cell = bare
    assert not cell.isolated
    assert cell.ports == Doors(1, 2)
    assert cell.preflight(Private()) == ()


def test_a_program_runs_in_the_workspace_with_the_environment_it_was_given(
    bare: BareCell, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PROVIDER_KEY", "k-1")
    lines = said(bare, "pwd; env")
    assert lines.splitlines()[0] == str(bare.workspace)
    assert "PROVIDER_KEY" not in lines
    assert bare.uid == os.getuid()


@pytest.mark.parametrize(
    "how", ["sleep 633 &", "nohup setsid sleep 633 &", "(setsid sleep 633 &) &"]
)
def test_what_is_left_at_the_end_of_a_day_is_found_and_ended(bare: BareCell, how: str) -> None:
    if not Path("/proc/self/environ").exists():
        pytest.skip("without /proc only the programs themselves are found")
    with bare.popen(["sh", "-c", f"{how} echo"], PATH) as process:
        process.wait(10)
    time.sleep(0.2)
    survivors = bare.reap()
    assert [one.command for one in survivors if "633" in one.command]
    assert not Path(f"/proc/{survivors[0].pid}").exists() or bare.reap() == ()


def test_the_agent_itself_is_ended(bare: BareCell) -> None:
    process = bare.popen(["sleep", "633"], PATH, stdout=subprocess.DEVNULL)
    assert len(bare.reap()) == 1
    assert process.wait(10) == -9


def test_a_program_that_is_not_there_is_one_sentence(bare: BareCell) -> None:
    with pytest.raises(CellError, match="'nosuch' cannot be started"):
        bare.popen(["nosuch"], PATH)


def test_a_workspace_that_is_not_there_is_refused(tmp_path: Path) -> None:
    with pytest.raises(CellError, match="is no folder"):
        open_bare(tmp_path / "nosuch", Doors(1))
