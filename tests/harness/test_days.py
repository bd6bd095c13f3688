"""A run is played from stop to stop, and the company's books say whether a call was answered."""

from __future__ import annotations

import json
import re
import sys
import time
from pathlib import Path
from typing import Any

import pytest

from tests.api.remote import play_in_process
from tests.harness.doubles import failed_preflight, open_room, parts
from tests.harness.runs import SALT, begin, codes, outcomes, play, records, table
from tradesbench_gym.company.business import open_business
from tradesbench_gym.core.codes import CallState
from tradesbench_gym.harness.agents.agent import AgentFailedError
from tradesbench_gym.harness.cell import Cell, Probe
from tradesbench_gym.harness.days import RunStoppedError
from tradesbench_gym.harness.folder import RunFolder
from tradesbench_gym.harness.manifest import (
    AgentName,
    AgentPart,
    HarnessError,
    Manifest,
    Status,
    salt_digest,
)
from tradesbench_gym.policies.load import load_policy
from tradesbench_gym.world import audit

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="the harness needs Unix sockets")
UNANSWERED = int(CallState.UNANSWERED)


@pytest.fixture(scope="module")
def oracle_run(tmp_path_factory: pytest.TempPathFactory, map_file: Path) -> RunFolder:
    """Three days with the oracle, on the tiny map."""
    agent = AgentPart(name=AgentName.ORACLE)
    folder = begin(tmp_path_factory.mktemp("run") / "run", map_file, days=3, agent=agent)
    play(folder)
    return folder


def test_the_oracle_as_an_agent_plays_the_oracle_s_run(
    oracle_run: RunFolder, map_file: Path
) -> None:
    business = open_business(map=str(map_file), days=3)
    expected = play_in_process(business, 5, load_policy("oracle"), salt=SALT)
    manifest = oracle_run.read()
    assert manifest.status == Status.ENDED
    assert manifest.results is not None
    assert manifest.results["profit_cents"] == expected.profit_cents
    assert not manifest.faults
    assert not audit(oracle_run.world, map=map_file).findings


def test_every_occasion_is_told_once_and_in_order(oracle_run: RunFolder) -> None:
    told = [(one.said["about"], one.said["number"]) for one in records(oracle_run, "prompt")]
    assert len(told) == len(set(told))
    days = [about for about, _ in told if about in {"opening", "closing"}]
    assert days == ["opening", "closing"] * 3
    assert [number for about, number in told if about == "call"] == list(
        range(1, 1 + sum(about == "call" for about, _ in told))
    )


def test_a_prompt_is_on_disk_before_its_turn_and_an_outcome_after_it(oracle_run: RunFolder) -> None:
    kinds = [one.kind for one in records(oracle_run)]
    for number, kind in enumerate(kinds):
        if kind == "turn":
            assert kinds[number - 1] == "prompt"
        if kind == "outcome" and kinds[number - 1] != "memory":
            assert kinds[number - 1] == "turn"


def test_a_new_job_s_prompt_says_all_that_the_report_lists(oracle_run: RunFolder) -> None:
    first = next(one for one in records(oracle_run, "prompt") if one.said["about"] == "call")
    lines = dict(re.findall(r"^([a-z ]+): (.+)$", first.said["text"], re.MULTILINE))
    wanted = {"name", "phone", "address", "customer type", "requested service", "urgent"}
    assert set(lines) == wanted
    assert lines["urgent"] in {"yes", "no"}
    assert re.fullmatch(r"\(\d{3}\) 555-\d{4}", lines["phone"])


def test_the_first_prompt_of_a_day_comes_at_a_quarter_to_seven(oracle_run: RunFolder) -> None:
    opened = [one.said for one in records(oracle_run, "prompt") if one.said["about"] == "opening"]
    assert [said["now"][11:] for said in opened] == ["06:45:00"] * 3
    assert all("06:45" in said["text"] and "07:00" in said["text"] for said in opened)


def test_no_prompt_name_or_file_of_the_agent_s_holds_seed_or_salt(oracle_run: RunFolder) -> None:
    secrets = {str(SALT), hex(SALT), salt_digest(SALT), "seed", "salt"}
    said = [one.said["text"] for one in records(oracle_run, "prompt")]
    files = [one for one in oracle_run.workspace.rglob("*.md") if one.is_file()]
    assert len(files) > 10
    said += [one.read_text(encoding="utf-8") for one in files]
    assert not [secret for secret in secrets for text in said if secret in text.lower()]


def test_the_salt_is_told_when_the_run_has_ended(oracle_run: RunFolder) -> None:
    run = oracle_run.read().run
    assert run.salt == str(SALT)
    assert run.salt_digest == salt_digest(SALT)
    assert not oracle_run.private.exists()


def test_nobody_else_can_enter_the_folder(oracle_run: RunFolder) -> None:
    assert oracle_run.path.stat().st_mode & 0o777 == 0o700
    for one in (oracle_run.manifest_file, oracle_run.transcript, oracle_run.world):
        assert one.stat().st_mode & 0o777 == 0o600, one


def test_before_the_end_the_manifest_holds_the_digest_alone(tmp_path: Path, map_file: Path) -> None:
    folder = begin(tmp_path / "run", map_file, "answers")
    text = folder.manifest_file.read_text(encoding="utf-8")
    assert str(SALT) not in text
    assert salt_digest(SALT) in text


def test_a_program_of_one_turn_is_an_agent(tmp_path: Path, map_file: Path) -> None:
    folder = begin(tmp_path / "run", map_file, "once")
    manifest = play(folder)
    assert manifest.status == Status.ENDED
    assert set(outcomes(folder)) == {"rejected"}
    assert not manifest.faults


def test_each_day_begins_with_a_new_process_and_its_notes_are_kept(
    tmp_path: Path, map_file: Path
) -> None:
    folder = begin(tmp_path / "run", map_file, "answers", days=2)
    rooms: list[Cell] = []
    started: list[int] = []

    def opened(*wanted: object) -> Cell:
        rooms.append(open_room(*wanted))  # type: ignore[arg-type]
        popen = rooms[-1].popen

        def counted(*words: object, **more: object) -> object:
            process = popen(*words, **more)  # type: ignore[arg-type]
            started.append(process.pid)
            return process

        rooms[-1].popen = counted  # type: ignore[assignment, method-assign]
        return rooms[-1]

    play(folder, parts(room=opened))
    assert len(set(started)) == 2
    assert folder.day_file(1).read_text() == "day 1 is over\n"
    assert folder.day_file(2).read_text() == "day 1 is over\nday 2 is over\n"


def test_a_silent_agent_is_reminded_twice_and_then_the_call_is_unanswered(
    tmp_path: Path, map_file: Path
) -> None:
    folder = begin(tmp_path / "run", map_file, "mute")
    manifest = play(folder)
    states = table(folder, map_file)
    assert states
    assert set(states) == {UNANSWERED}
    told = [one.said for one in records(folder, "prompt") if one.said["about"] == "call"]
    assert [said["attempt"] for said in told] == [0, 1, 2] * len(states)
    assert "reminder 1 of 2" in told[1]["text"]
    assert "last reminder" in told[2]["text"]
    assert codes(manifest) == {("model", "no_answer"): len(states)}
    assert manifest.turns.unanswered == len(states)
    assert manifest.turns.reminders == 2 * len(states)


def test_exit_0_without_an_answer_is_no_answer(tmp_path: Path, map_file: Path) -> None:
    folder = begin(tmp_path / "run", map_file, "leaves", reminders=1)
    manifest = play(folder)
    states = table(folder, map_file)
    assert set(states) == {UNANSWERED}
    assert codes(manifest) == {("model", "no_answer"): len(states)}


def test_an_agent_that_dies_is_started_again_and_its_deaths_are_its_own_fault(
    tmp_path: Path, map_file: Path
) -> None:
    folder = begin(tmp_path / "run", map_file, "dies", 3, reminders=0, repeats=1)
    manifest = play(folder)
    states = table(folder, map_file)
    assert states[0] == CallState.REJECTED
    assert set(states[1:]) == {UNANSWERED}
    found = codes(manifest)
    assert found["agent", "no_answer"] == len(states) - 1
    assert found["agent", "agent_died"] >= 2 * (len(states) - 1)
    assert {kind for kind, _ in found} == {"agent"}
    died = next(fault for fault in manifest.faults if fault.code == "agent_died")
    assert died.detail == {"status": 7, "last_words": "something broke"}


@pytest.mark.parametrize(
    ("manner", "code", "limits"),
    [
        ("hangs", "turn_time", {"turn_seconds": 0.3}),
        ("babbles", "endless_output", {"turn_characters": 20_000}),
        pytest.param("shouts", "turn_time", {"turn_seconds": 1.0}, marks=pytest.mark.slow),
    ],
)
def test_a_turn_without_end_is_cut_and_said_to_be(
    tmp_path: Path, map_file: Path, manner: str, code: str, limits: dict[str, Any]
) -> None:
    folder = begin(tmp_path / "run", map_file, manner, 3, reminders=0, **limits)
    begun = time.monotonic()
    manifest = play(folder)
    assert time.monotonic() - begun < 60
    states = table(folder, map_file)
    assert set(states[1:]) == {UNANSWERED}
    found = codes(manifest)
    assert found["agent", code] >= len(states) - 1
    assert found["agent", "no_answer"] == len(states) - 1


def test_a_cancellation_that_is_not_acknowledged_stands(tmp_path: Path, map_file: Path) -> None:
    folder = begin(tmp_path / "run", map_file, "books", days=7, reminders=0)
    manifest = play(folder)
    said = [one.said for one in records(folder, "outcome")]
    cancelled = [one for one in said if one["about"] == "cancellation"]
    assert cancelled
    assert {one["outcome"] for one in cancelled} == {"unanswered"}
    assert manifest.results is not None
    assert manifest.results["cancelled"] == len(cancelled)


def test_a_link_in_the_place_of_the_notes_is_not_followed(tmp_path: Path, map_file: Path) -> None:
    folder = begin(tmp_path / "run", map_file, "links")
    play(folder)
    assert (folder.workspace / "MEMORY.md").is_symlink()
    assert folder.day_file(1).read_bytes() == b""


def test_a_program_that_cannot_be_started_stops_the_run_where_it_stands(
    tmp_path: Path, map_file: Path
) -> None:
    agent = AgentPart(name=AgentName.SCRIPTED, program=("/no/such/program",))
    folder = begin(tmp_path / "run", map_file, agent=agent)
    with pytest.raises(AgentFailedError, match="cannot be started"):
        play(folder)
    manifest = folder.read()
    assert manifest.status == Status.STOPPED
    assert "No such" in (manifest.sessions[-1].ended_by or "")
    assert table(folder, map_file) == []


def test_the_hours_that_a_run_may_take_stop_it(tmp_path: Path, map_file: Path) -> None:
    folder = begin(tmp_path / "run", map_file, "answers", max_hours=0.0)
    with pytest.raises(RunStoppedError, match="0 hours"):
        play(folder)
    assert folder.read().status == Status.STOPPED


def test_one_harness_at_a_time_holds_a_run(tmp_path: Path, map_file: Path) -> None:
    folder = begin(tmp_path / "run", map_file, "answers")
    seen: list[str] = []

    def second(manifest: Manifest) -> None:
        del manifest
        with pytest.raises(HarnessError) as refused:
            play(folder)
        seen.append(refused.value.code)

    def opened(*wanted: object) -> Cell:
        second(folder.read())
        return open_room(*wanted)  # type: ignore[arg-type]

    play(folder, parts(room=opened))
    assert seen == ["held"]


def test_a_run_that_has_ended_is_not_played_again(tmp_path: Path, map_file: Path) -> None:
    folder = begin(tmp_path / "run", map_file, "answers")
    first = play(folder)
    before = folder.transcript.read_bytes()
    assert play(folder) == first
    assert folder.transcript.read_bytes() == before


def test_a_wall_that_gives_way_stops_the_run_before_it_begins(
    tmp_path: Path, map_file: Path
) -> None:
    folder = begin(tmp_path / "run", map_file, "answers")
    probes = [Probe("world", "read the world file", held=False, said="SQLite format 3")]
    with pytest.raises(HarnessError, match="gave way"):
        play(folder, parts(preflight=failed_preflight(probes)))
    manifest = folder.read()
    assert manifest.status == Status.STOPPED
    assert [one.held for one in manifest.sessions[-1].probes] == [False]
    assert not records(folder, "prompt")


def test_the_pre_flight_is_told_everything_that_must_be_out_of_reach(
    tmp_path: Path, map_file: Path
) -> None:
    folder = begin(tmp_path / "run", map_file, "answers")
    told: list[object] = []

    def preflight(_room: object, secrets: object, env: dict[str, str]) -> tuple[()]:
        told.extend([secrets, env])
        return ()

    play(folder, parts(preflight=preflight))
    secrets, env = told
    assert folder.world in secrets.paths  # type: ignore[attr-defined]
    assert secrets.sockets[0].name == "driver.sock"  # type: ignore[attr-defined]
    assert len(secrets.pids) == 1  # type: ignore[attr-defined]
    assert set(env) == {  # type: ignore[call-overload]
        *("PATH", "HOME", "TMPDIR", "LANG", "SUNRIDGE_API_PORT", "SUNRIDGE_API_TOKEN")
    }
    text = folder.transcript.read_text(encoding="utf-8")
    assert env["SUNRIDGE_API_TOKEN"] not in text  # type: ignore[index]


def test_what_an_agent_says_is_in_the_transcript_without_its_token(
    tmp_path: Path, map_file: Path
) -> None:
    script = (
        "import json, os, sys\n"
        "for line in sys.stdin:\n"
        "    print(json.dumps({'type': 'said', 'env': dict(os.environ)}), flush=True)\n"
        "    print(json.dumps({'type': 'settled', 'id': json.loads(line)['id']}), flush=True)\n"
    )
    agent = AgentPart(name=AgentName.SCRIPTED, program=(sys.executable, "-c", script))
    folder = begin(tmp_path / "run", map_file, agent=agent, reminders=0)
    play(folder)
    said = records(folder, "agent")[0].said["said"]
    assert said["env"]["SUNRIDGE_API_TOKEN"] == "[secret]"  # noqa: S105 - that it is none
    assert json.loads(said["env"]["SUNRIDGE_API_PORT"]) > 0


@pytest.mark.slow
def test_a_bankrupt_company_s_last_day_ends_without_a_closing_prompt(
    tmp_path: Path, map_file: Path
) -> None:
    folder = begin(tmp_path / "run", map_file, "answers", days=14)
    manifest = play(folder)
    assert manifest.status == Status.ENDED
    assert manifest.results is not None
    last = manifest.results["bankrupt_on"]
    assert last is not None
    assert 7 <= last <= 12
    told = [(one.said["about"], one.said["number"]) for one in records(folder, "prompt")]
    assert ("closing", last - 1) in told
    assert ("closing", last) not in told
    assert len(list(folder.memory.iterdir())) == last
