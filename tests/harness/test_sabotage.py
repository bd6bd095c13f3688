"""What an agent does to its own program and folder harms nobody but itself."""

from __future__ import annotations

import sys
import time
from pathlib import Path

import pytest

from tradesbench_gym.harness.agents.agent import Place, TurnEnd
from tradesbench_gym.harness.agents.pi import Pi, PiProgram
from tradesbench_gym.harness.agents.scripted import Scripted
from tradesbench_gym.harness.cell import Doors, open_bare
from tradesbench_gym.harness.faults import Fault
from tradesbench_gym.harness.manifest import LimitsPart, ModelPart

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="pipes and links are others there")
MODEL = ModelPart(name="stub-1", base_url="http://127.0.0.1:1/v1")


class Office:
    """A workspace without walls, and what was told of whoever works there."""

    def __init__(self, folder: Path) -> None:
        self.workspace, self.sessions = folder / "workspace", folder / "sessions"
        for one in (self.workspace, self.sessions):
            one.mkdir()
        self.faults: list[Fault] = []
        room = open_bare(self.workspace, Doors(1, 2))
        self.place = Place(
            room, "token", "gateway", self.sessions, lambda _: None, self.faults.append
        )

    def pi(self) -> Pi:
        program = PiProgram(Path("/"), Path("/bin/false"), Path("/"))
        return Pi(self.place, program, MODEL, None, LimitsPart(), "")


@pytest.fixture
def office(tmp_path: Path) -> Office:
    return Office(tmp_path)


def test_a_program_that_reads_nothing_is_cut_when_its_pipe_is_full(office: Office) -> None:
    agent = Scripted(office.place, ["/bin/sleep", "600"], LimitsPart(turn_seconds=0.5))
    begun = time.monotonic()
    turn = agent.prompt(1, "call", "x" * 200_000)
    assert turn.end == TurnEnd.CUT
    assert time.monotonic() - begun < 10
    assert [fault.code for fault in office.faults] == ["deaf"]
    agent.close()


def test_a_program_hears_a_prompt_that_is_longer_than_its_pipe(office: Office) -> None:
    settles = (
        "import json, sys; said = json.loads(sys.stdin.readline())\n"
        "if len(said['text']) == 3_000_000: print(json.dumps({'type': 'settled', 'id': 1}))\n"
        "sys.stdout.flush(); sys.stdin.read()"
    )
    agent = Scripted(office.place, [sys.executable, "-I", "-c", settles], LimitsPart())
    assert agent.prompt(1, "call", "x" * 3_000_000).end == TurnEnd.SETTLED
    agent.close()
    assert not office.faults


def test_a_conversation_s_folder_that_is_a_link_leads_nowhere(
    office: Office, tmp_path: Path
) -> None:
    kept = office.sessions / "day-01.jsonl"
    kept.write_text("the first day")
    other = tmp_path / "other" / "sessions"
    other.mkdir(parents=True)
    (other / "secret").write_text("secret")
    for target in ("..", str(other.parent)):  # the run's own folder, and anybody's
        (office.workspace / ".agent").symlink_to(target)
        office.pi().put_away(2)
        assert not (office.workspace / ".agent").is_symlink()
    assert kept.read_text() == "the first day"
    assert (other / "secret").read_text() == "secret"
    assert list(office.sessions.iterdir()) == [kept]


def test_a_conversation_is_kept_where_it_is_a_folder(office: Office) -> None:
    sessions = office.workspace / ".agent" / "sessions"
    sessions.mkdir(parents=True)
    (sessions / "1.jsonl").write_text("said\n")
    office.pi().put_away(2)
    assert (office.sessions / "day-02.jsonl").read_text() == "said\n"
    assert not sessions.parent.exists()
