"""The pre-flight with everything in place: a served company, a world file, a driver, a cell."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from tests.api.companies import AGENT, opened, served
from tests.harness.cell.cells import NEEDS_ROOT, PATH, nest
from tradesbench_gym.harness.cell import CellError, Doors, Private, open_cell
from tradesbench_gym.harness.cell.room import probing
from tradesbench_gym.harness.cell.room.attempt import Attempt, Held
from tradesbench_gym.harness.workspace import remove

KEY, DRIVER_TOKEN = b"sk-provider-0123456789", b"driver-token-0123456789"
NAMED_IN_THE_ISSUE = {
    "read a private file", "read the source", "import the package", "read other workspaces",
    "look into the engine's process", "reach the driver", "advance time", "forge a token",
    "keep a daemon alive", "write outside", "find a key or token",
}  # fmt: skip


@NEEDS_ROOT
def test_every_attempt_against_a_served_company_is_held_and_told(tmp_path: Path) -> None:
    folder = tmp_path / "run"
    folder.mkdir(mode=0o700)
    workspace, other = folder / "workspace", folder / "other"
    for one in (workspace, other):
        one.mkdir()
    nest(workspace, 1200)  # as an agent may have left it in an earlier sitting
    with opened(folder / "run.sqlite") as company, served(company) as running:
        port = int(running.addresses[0].rsplit(":", 1)[1])
        with open_cell(workspace, Doors(port)) as cell:
            private = Private(
                paths=(folder / "run.sqlite", folder / "manifest.json", other),
                sockets=(folder / "driver.sock",),
                pids=(os.getppid(),),
                values=(KEY, DRIVER_TOKEN),
                token=AGENT.secret.decode(),
            )
            probes = cell.preflight(private, env=PATH)
    remove(workspace)  # pytest could not
    assert all(one.held and one.said for one in probes)
    assert {one.name for one in probes} >= NAMED_IN_THE_ISSUE
    attempts = {(one.name, one.what) for one in probes}
    assert len(attempts) == len(probes) >= 40
    # The company refuses by status, not by silence.
    forged = [one.said for one in probes if one.name == "forge a token"]
    assert forged
    assert all(said.startswith("401") for said in forged)
    advanced = [one for one in probes if one.name == "advance time"]
    assert {said.said[:3] for said in advanced} <= {"401", "404"}


def attempted(make: object) -> tuple[bool, str]:
    assert callable(make)
    return probing._made(Attempt("try", "something", make))


def test_an_attempt_that_breaks_or_hangs_is_not_taken_for_held(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def breaks() -> str:
        raise KeyError("inode")

    def dies() -> str:
        os._exit(3)

    def hangs() -> str:
        import time

        time.sleep(60)
        return ""

    def refused() -> str:
        raise PermissionError(13, "Permission denied")

    def kept() -> str:
        raise Held("covered")

    assert attempted(refused) == (True, "Permission denied")
    assert attempted(kept) == (True, "covered")
    assert attempted(lambda: "reads 60 bytes") == (False, "reads 60 bytes")
    assert attempted(breaks) == (False, "the attempt itself failed: KeyError: 'inode'")
    assert attempted(dies) == (False, "the attempt ended without a word")
    monkeypatch.setattr(probing, "_SECONDS", 0.2)
    assert attempted(hangs) == (False, "no answer within 0 seconds")


@NEEDS_ROOT
def test_attempts_that_cannot_be_made_stop_the_run(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from tradesbench_gym.harness.cell import preflight

    folder = tmp_path / "run"
    folder.mkdir(mode=0o700)
    (folder / "workspace").mkdir()
    whole = preflight._targets
    monkeypatch.setattr(preflight, "_targets", lambda *told: {**whole(*told), "files": None})
    with (
        open_cell(folder / "workspace", Doors(9)) as cell,
        pytest.raises(CellError, match="make every attempt") as caught,
    ):
        cell.preflight(Private())
    assert caught.value.code == "not_isolated"
