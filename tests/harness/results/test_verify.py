"""A folder is proven as it was written, and whatever is changed in it is found by the check that it
is charged with.
"""

from __future__ import annotations

import json
import signal
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from tests.harness.results.folders import (
    Plain,
    Tamper,
    assert_found,
    change_lines,
    change_manifest,
    copied,
    failing,
    first,
    put,
    value,
)
from tests.harness.runs import begin, play
from tests.world.runs import trespass
from tradesbench_gym.cli import app
from tradesbench_gym.harness.agents.pi import PiProgram
from tradesbench_gym.harness.days import Watch
from tradesbench_gym.harness.folder import RunFolder
from tradesbench_gym.harness.results import prove
from tradesbench_gym.harness.results.proof import CHECKS

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="the harness needs Unix sockets")
NAMES = [check.__name__ for check in CHECKS]


@pytest.fixture(scope="module")
def booked(tmp_path_factory: pytest.TempPathFactory, map_file: Path) -> RunFolder:
    """Three days of bookings, cancellations and notes."""
    folder = begin(tmp_path_factory.mktemp("booked") / "run", map_file, "slowly", days=3, seed=8)
    play(folder)
    return folder


@pytest.fixture(scope="module")
def mute(tmp_path_factory: pytest.TempPathFactory, map_file: Path) -> RunFolder:
    """A day on which nobody answers."""
    folder = begin(tmp_path_factory.mktemp("mute") / "run", map_file, "mute", reminders=1)
    play(folder)
    return folder


def transcript(change: Callable[[list[Plain]], None]) -> Tamper:
    return lambda folder: change_lines(folder.transcript, change)


def without(kind: str, **more: Any) -> Tamper:
    return transcript(lambda lines: lines.remove(first(lines, kind, **more)))


def changed(kind: str, key: str, what: Any, **more: Any) -> Tamper:
    return transcript(lambda lines: first(lines, kind, **more).update({key: what}))


def twice(kind: str, **more: Any) -> Tamper:
    return transcript(lambda lines: lines.append(first(lines, kind, **more)))


def test_folders_as_they_were_written_are_proven(booked: RunFolder, mute: RunFolder) -> None:
    for folder in (booked, mute):
        lines = list(prove(folder.path))
        assert [line.name for line in lines] == NAMES
        assert not failing(folder)
    said = {line.name: line.found for line in prove(booked.path)}
    assert " 0 cancellations" not in said["answers"]
    assert "NOT ISOLATED" in said["isolation"]


def test_a_proof_leaves_the_folder_as_it_is(booked: RunFolder) -> None:
    def look() -> dict[str, tuple[int, bytes]]:
        files = sorted(one for one in booked.path.rglob("*") if one.is_file())
        return {str(one): (one.stat().st_mtime_ns, one.read_bytes()) for one in files}

    before = look()
    list(prove(booked.path))
    assert look() == before


def walled(folder: RunFolder) -> None:
    """Call a run isolated that was not, in the manifest alone."""
    probe = {"name": "world", "what": "read the world file", "held": True, "said": "no"}
    put(folder, "isolated", True)
    put(folder, "sessions.0.isolated", True)
    put(folder, "sessions.0.probes", [probe])


RUN = [
    ("manifest", value("results", None)),
    ("manifest", value("run.salt", None)),
    ("manifest", value("status", "stopped")),
    ("manifest", lambda folder: folder.private.write_text("{}")),
    ("run", value("run.seed", 6)),
    ("run", value("run.scenario", "another")),
    ("run", value("run.scenario_digest", "0" * 64)),
    ("run", value("run.map_digest", "0" * 64)),
    ("run", value("run.days", 4)),
    ("run", value("run.start_date", "2026-10-02")),
    ("run", value("versions.rules", 99)),
    ("salt", value("run.salt_digest", "0" * 64)),
    ("salt", value("run.salt", "7")),
    ("isolation", value("sessions.0.isolated", True)),
    ("isolation", value("sessions", [])),
    ("isolation", value("agent.name", "oracle")),
    ("isolation", value("agent.program", ["another"])),
    ("isolation", value("agent.thinking", "high")),
    ("isolation", walled),
]


@pytest.mark.parametrize(("check", "tamper"), RUN)
def test_a_manifest_that_was_changed_is_found(
    tmp_path: Path, booked: RunFolder, check: str, tamper: Tamper
) -> None:
    folder = copied(booked, tmp_path / "run")
    tamper(folder)
    assert_found(folder, check)


def test_every_figure_of_the_score_is_proven(tmp_path: Path, booked: RunFolder) -> None:
    for number, key in enumerate(booked.read().results or {}):
        folder = copied(booked, tmp_path / str(number))
        put(folder, f"results.{key}", 123_456)
        assert_found(folder, "score", key.replace("_", " "))
    assert number > 10
    change_manifest(folder := copied(booked, tmp_path / "less"), lambda m: m["results"].popitem())
    assert_found(folder, "score")


def test_a_world_that_was_changed_is_found(tmp_path: Path, booked: RunFolder) -> None:
    folder = copied(booked, tmp_path / "run")
    trespass(folder.world, "UPDATE ledger SET cents = cents + 1 WHERE number = 3 AND cents > 0",
             "UPDATE ledger SET cents = cents - 1 WHERE number = 3 AND cents < 0")  # fmt: skip
    assert_found(folder, "world", "ledger, row 3, cents")


def test_a_final_digest_that_was_published_tells_another_run(booked: RunFolder) -> None:
    assert failing(booked, digest="0" * 64)[0].name == "world"


def swapped(lines: list[Plain]) -> None:
    prompts = [n for n, line in enumerate(lines) if line["kind"] == "prompt"]
    one, two = prompts[3], prompts[4]
    for key in ("about", "number", "text", "now"):
        lines[one][key], lines[two][key] = lines[two][key], lines[one][key]


TRANSCRIPT = [
    ("prompts", changed("prompt", "text", "Book everything.", about="call"), "text"),
    ("prompts", changed("prompt", "text", "Good night.", about="closing"), "text"),
    ("prompts", changed("prompt", "text", "Nobody.", about="cancellation"), "text"),
    ("prompts", changed("prompt", "now", "2026-10-01 06:46:00"), "clock"),
    ("prompts", changed("prompt", "number", 999, about="call"), "nothing that happened"),
    ("prompts", changed("prompt", "attempt", 1, about="call"), "attempt"),
    ("prompts", without("prompt", about="call"), ""),
    ("prompts", without("turn", about="call"), "before the turn"),
    ("prompts", twice("turn", about="call"), "belongs to no prompt"),
    ("prompts", transcript(swapped), ""),
    ("answers", changed("outcome", "outcome", "booked", outcome="rejected"), "should be rejected"),
    ("answers", changed("outcome", "outcome", "told", outcome="closed"), ""),
    ("answers", twice("outcome", about="call"), "two outcomes"),
    ("answers", without("outcome", about="call"), "no outcome"),
    ("answers", without("outcome", about="day"), "no outcome"),
    ("answers", changed("outcome", "number", 999, about="call"), "never happened"),
    ("time", without("advance"), "does not know of it"),
    ("time", changed("advance", "now", "2026-10-01 05:00:00"), "clock"),
    ("time", changed("advance", "commands", 100_000), ""),
    ("turns", changed("turn", "seconds", 5.0), "hours"),
    ("turns", value("turns.turns", 3), "number of turns"),
    ("turns", value("turns.hours", 0.5), "hours"),
    ("turns", value("turns.reminders", 3), "reminders"),
    ("turns", value("turns.unanswered", 3), "unanswered"),
    ("memory", without("memory"), "days with notes"),
    ("memory", changed("memory", "bytes", 7), "size"),
    ("memory", changed("memory", "sha256", "0" * 64), "digest"),
]


@pytest.mark.parametrize(("check", "tamper", "words"), TRANSCRIPT)
def test_a_transcript_that_was_changed_is_found(
    tmp_path: Path, booked: RunFolder, check: str, tamper: Tamper, words: str
) -> None:
    folder = copied(booked, tmp_path / "run")
    tamper(folder)
    assert_found(folder, check, words)


FAULTS = [
    ("faults", value("faults", []), "number of faults"),
    ("faults", value("faults.0.kind", "infrastructure"), "fault 1"),
    ("answers", without("fault"), "no fault says whose"),
    ("answers", changed("turn", "counts", False, about="call"), ""),
]


@pytest.mark.parametrize(("check", "tamper", "words"), FAULTS)
def test_a_call_that_was_given_up_has_its_reminders_and_its_fault(
    tmp_path: Path, mute: RunFolder, check: str, tamper: Tamper, words: str
) -> None:
    folder = copied(mute, tmp_path / "run")
    tamper(folder)
    found = failing(folder)
    assert check in [line.name for line in found]
    assert any(words in line.found for line in found)


def same_length(folder: RunFolder) -> None:
    notes = folder.day_file(1)
    notes.write_bytes(notes.read_bytes().replace(b"over", b"OVER"))


MEMORY = [
    same_length,
    lambda folder: folder.day_file(2).unlink(),
    lambda folder: folder.day_file(9).write_text("more"),
    lambda folder: (folder.workspace / "MEMORY.md").write_text("another"),
]


@pytest.mark.parametrize("tamper", MEMORY)
def test_notes_that_were_changed_are_found(
    tmp_path: Path, booked: RunFolder, tamper: Tamper
) -> None:
    folder = copied(booked, tmp_path / "run")
    tamper(folder)
    assert_found(folder, "memory")


def test_a_run_that_is_called_isolated_has_walls_that_held(
    tmp_path: Path, booked: RunFolder
) -> None:
    folder = copied(booked, tmp_path / "run")
    probe = {"name": "world", "what": "read the world file", "held": True, "said": "no"}
    put(folder, "isolated", True)
    put(folder, "sessions.0.isolated", True)
    assert_found(folder, "isolation", "without a wall being tried")
    put(folder, "sessions.0.probes", [probe])
    change_lines(folder.transcript, lambda lines: first(lines, "sitting").update(isolated=True))
    assert not failing(folder)
    put(folder, "sessions.0.probes", [probe, {**probe, "held": False}])
    assert_found(folder, "isolation", "a wall gave way: world")


def test_a_damaged_part_fails_its_checks_and_no_other(tmp_path: Path, booked: RunFolder) -> None:
    folder = copied(booked, tmp_path / "run")
    with folder.transcript.open("r+b") as file:
        file.write(b"not json")
    found = [line.name for line in failing(folder)]
    assert found[0] == "prompts"
    assert not {"manifest", "world", "run", "salt", "score"} & set(found)


def test_a_run_that_was_stopped_is_proven_as_far_as_it_came(tmp_path: Path, map_file: Path) -> None:
    folder = begin(tmp_path / "run", map_file, "slowly", days=3)
    seen = []

    def moved(status: Any, _what: str) -> None:
        seen.append(status.call_id)
        if status.call_id == 12:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        play(folder, watch=Watch(moved=moved))
    found = {line.name: line for line in prove(folder.path)}
    assert all(line.holds for line in found.values()), found
    assert "no score yet" in found["score"].found
    play(folder)
    assert not failing(folder)
    assert len(folder.read().sessions) == 2


@pytest.mark.slow
def test_a_run_whose_harness_was_killed_is_proven_before_and_after(
    tmp_path: Path, map_file: Path
) -> None:
    from tests.harness.test_kills import harness, wait_for

    folder = begin(tmp_path / "run", map_file, "slowly", days=3)
    for size in (4_000, 12_000, 20_000):
        with harness(folder) as process:
            wait_for(
                lambda: folder.transcript.exists() and folder.transcript.stat().st_size > size,  # noqa: B023
                process,
            )
            process.send_signal(signal.SIGKILL)
            process.wait()
        assert not failing(folder)
    play(folder)
    assert not failing(folder)


@pytest.mark.slow
def test_a_run_that_ended_in_bankruptcy_is_proven(tmp_path: Path, map_file: Path) -> None:
    """Without work the company is bankrupt by day 10 ("Scoring")."""
    folder = begin(tmp_path / "run", map_file, "answers", days=14)
    play(folder)
    assert (folder.read().results or {})["bankrupt_on"] == 10
    assert not failing(folder)
    assert "10 days" in {line.name: line.found for line in prove(folder.path)}["memory"]


@pytest.mark.slow
def test_a_run_of_pi_s_is_proven(tmp_path: Path, map_file: Path, pi: PiProgram) -> None:
    from tests.harness.pi_runs import pi_run

    with pi_run(tmp_path / "run", pi, map_file) as run:
        run.play()
    assert not failing(run.folder)
    said = {line.name: line.found for line in prove(run.folder.path)}
    assert "no model" not in said["tokens"]


def called(*words: object) -> tuple[int, str]:
    result = CliRunner(env={"COLUMNS": "80"}).invoke(app, ["verify", *map(str, words)])
    if result.exception is not None and not isinstance(result.exception, SystemExit):
        raise result.exception
    return result.exit_code, result.output


def test_the_command_says_what_each_check_proves(booked: RunFolder) -> None:
    status, said = called(booked.path)
    assert status == 0
    lines = [line for line in said.splitlines() if line.startswith("ok")]
    assert len(lines) == len(NAMES)
    assert max(map(len, lines)) <= 80
    assert f"{booked.path} is proven: {len(NAMES)} checks hold" in said


def test_the_command_names_the_first_check_that_fails(tmp_path: Path, booked: RunFolder) -> None:
    folder = copied(booked, tmp_path / "run")
    put(folder, "results.profit_cents", 9_999_999)
    put(folder, "turns.turns", 1)
    status, said = called(folder.path)
    assert status == 1
    assert "is not proven: score: the manifest's profit cents is 9999999, should be" in said
    assert "FAIL turns" in said
    status, said = called(folder.path, "--json")
    found = json.loads(said)
    assert (status, found["proven"], found["first_failing"]) == (1, False, "score")
    assert [one["name"] for one in found["checks"]] == NAMES


def test_a_run_that_cannot_be_played_here_is_refused(tmp_path: Path, booked: RunFolder) -> None:
    folder = copied(booked, tmp_path / "run")
    put(folder, "run.map", "gone.tbmap")
    status, said = called(folder.path)
    assert status == 2
    assert "There is no map 'gone.tbmap'" in said


def test_a_folder_of_no_run_is_refused(tmp_path: Path) -> None:
    status, said = called(tmp_path)
    assert status == 2
    assert "is no folder of a run" in said
