"""The pinned pi, where it is installed, runs in a cell, answers there and cannot be changed."""

from __future__ import annotations

import json
import subprocess

import pytest

from tests.harness.cell.cells import NEEDS_ROOT, PATH, Site, said
from tradesbench_gym.harness.cell import Private, open_cell
from tradesbench_gym.harness.pi_install import PI_VERSION, PiInstall, SetupError, check

FLAGS = (
    "--mode rpc --system-prompt S --tools read,bash,edit,write -ne -ns -np -nc -na --no-mcp "
    "--no-themes --offline"
)


@pytest.fixture
def pi() -> PiInstall:
    try:
        return check()
    except SetupError as error:
        pytest.skip(f"{error}: `tradesbench harness setup` installs it")


@NEEDS_ROOT
def test_pi_answers_in_a_cell_and_nothing_of_it_can_be_written(place: Site, pi: PiInstall) -> None:
    with open_cell(place.workspace, place.doors, readable=(pi.folder,)) as cell:
        env = {**PATH, "HOME": cell.home, "PI_CODING_AGENT_DIR": f"{cell.home}/pi"}
        assert said(cell, " ".join([*pi.command, "--version"]), env) == f"{PI_VERSION}\n"
        process = cell.popen(
            [*pi.command, *FLAGS.split(), "--session-dir", f"{cell.home}/sessions"],
            {**env, "PI_OFFLINE": "1", "PI_TELEMETRY": "0"},
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
        )
        out, _ = process.communicate(b'{"type":"get_session_stats","id":"1"}\n', timeout=60)
        answer = json.loads(out.splitlines()[0])
        assert answer["success"], answer
        assert "Read-only" in said(cell, f"echo no > {pi.node}")
        assert all(one.held for one in cell.preflight(Private(), env))
