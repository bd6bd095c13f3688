"""Runs with all walls around the agent, as root: what it can do there, and what it leaves."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.harness.cell.cells import NEEDS_ROOT
from tests.harness.oracle_model import text_of
from tests.harness.pi_runs import KEY, asks_about, pi_run
from tests.harness.runs import begin, codes, outcomes, play, records
from tests.harness.stub_provider import Asked, Call, Reply
from tradesbench_gym.harness.agents.pi import PiProgram
from tradesbench_gym.harness.manifest import AgentName, AgentPart, Status
from tradesbench_gym.harness.parts import parts_of

pytestmark = [pytest.mark.slow, NEEDS_ROOT]
PYTHON = Path("/usr/bin/python3")


def test_pi_shut_in_plays_the_oracle_s_run_and_its_daemons_end_with_the_day(
    tmp_path: Path, pi: PiProgram, map_file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("THE_KEY", KEY)
    seen: list[str] = []
    with pi_run(tmp_path / "run", pi, map_file, days=2) as run:

        def odd(asked: Asked) -> Reply | None:
            """Leave a daemon behind each evening, and look for it each morning."""
            last = asked.body["messages"][-1]
            if last["role"] == "tool":
                seen.append(text_of(last))
            if asks_about(asked, "Good morning"):
                return bash("ps ax; ls -d /tmp/*; whoami; cat MEMORY.md; touch /etc/mine 2>&1")
            if asks_about(asked, "last job of the day"):
                return bash(
                    "echo kept > MEMORY.md; echo gone > /tmp/mine; "
                    "setsid nohup sleep 4321 > /dev/null 2>&1 &"
                )
            return None

        run.odd = odd
        manifest = run.folder.read()
        assert manifest.model is not None
        model = manifest.model.model_copy(update={"key_variable": "THE_KEY"})
        manifest = manifest.changed(isolated=True, model=model)
        run.folder.write(manifest)
        manifest = play(run.folder, parts_of(manifest))
        assert manifest.status == Status.ENDED
        assert manifest.results is not None
        assert manifest.results["profit_cents"] == run.expected.profit_cents
        assert not manifest.faults
        probes = manifest.sessions[0].probes
        assert len({(one.name, one.what) for one in probes}) >= 40
        assert all(one.held for one in probes)
        nights = records(run.folder, "night")
        assert all("sleep" in str(one.said["survivors"]) for one in nights)
        mornings = [one for one in seen if "agent" in one.splitlines()]
        assert len(mornings) == 2
        assert not [
            one for one in mornings if "sleep 4321" in one or "mine\n" in one.split("agent")[0]
        ]
        assert "kept" in mornings[1]
        assert all("Read-only file system" in one or "denied" in one for one in mornings)


def bash(command: str) -> Reply:
    return Reply(text="", calls=(Call("bash", {"command": command}),))


@pytest.mark.skipif(not PYTHON.exists(), reason="the cell shows the system's Python alone")
def test_a_scripted_agent_shut_in_runs_from_a_folder_that_it_may_read(
    tmp_path: Path, map_file: Path
) -> None:
    home = tmp_path / "agent"
    home.mkdir()
    phone = Path(__file__).with_name("phone.py")
    (home / "phone.py").write_bytes(phone.read_bytes())
    program = (str(PYTHON), "-I", str(home / "phone.py"), "answers")
    agent = AgentPart(name=AgentName.SCRIPTED, program=program, readable=(str(home),))
    (tmp_path / "runs").mkdir()
    folder = begin(tmp_path / "runs" / "run", map_file, agent=agent)
    manifest = folder.read().changed(isolated=True)
    folder.write(manifest)
    manifest = play(folder, parts_of(manifest))
    assert manifest.status == Status.ENDED
    assert not codes(manifest)
    assert set(outcomes(folder)) == {"rejected"}
    assert folder.day_file(1).read_text() == "day 1 is over\n"
