"""`tradesbench harness` as people type it: a run, its end, a stop, and what is refused."""

from __future__ import annotations

import json
import os
import re
import shlex
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from typer.testing import CliRunner

from tests.harness.runs import PHONE, begin, digest
from tradesbench_gym.cli import app
from tradesbench_gym.harness.folder import RunFolder
from tradesbench_gym.harness.manifest import ModelPart, Status, salt_digest

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="the harness needs Unix sockets")
ORACLE = ("--agent", "oracle", "--no-isolation")
PROGRAM = f"{sys.executable} -I {PHONE}"


def called(*words: object) -> tuple[int, str]:
    """Exit status, and everything printed."""
    environment = {"COLUMNS": "80", "TRADESBENCH_QUIET": "1", "TRADESBENCH_PI": "/no/pi"}
    result = CliRunner(env=environment).invoke(app, ["harness", *map(str, words)])
    if result.exception is not None and not isinstance(result.exception, SystemExit):
        raise result.exception
    return result.exit_code, result.output


def scripted(out: Path, map_file: Path, manner: str, *more: object) -> list[object]:
    program = ("--agent", "scripted", "--program", f"{PROGRAM} {manner}", "--no-isolation")
    return ["run", *program, "--map", map_file, "--days", 1, "--out", out, *more]


def test_a_run_tells_each_day_its_faults_and_its_results(tmp_path: Path, map_file: Path) -> None:
    status, said = called(*scripted(tmp_path / "run", map_file, "mute", "--reminders", 0))
    assert status == 0, said
    assert "1 Thu 2026-10-01" in said
    assert "model fault: call 1 was not answered" in said
    assert "not isolated" in said
    assert "profit" in said
    assert "model faults" in said
    assert max(map(len, said.splitlines())) <= 100


def test_json_is_the_manifest(tmp_path: Path, map_file: Path) -> None:
    status, said = called(*scripted(tmp_path / "run", map_file, "answers", "--json"))
    assert status == 0, said
    found = json.loads(said)
    assert found["status"] == "ended"
    assert found["isolated"] is False
    assert found["results"]["profit_cents"] < 0
    assert found["folder"] == str((tmp_path / "run").resolve())
    assert salt_digest(int(found["run"]["salt"])) == found["run"]["salt_digest"]


def test_two_runs_are_sealed_with_different_salts(tmp_path: Path, map_file: Path) -> None:
    found = []
    for name in ("one", "two"):
        called(*scripted(tmp_path / name, map_file, "answers", "--max-hours", 0))
        found.append(RunFolder(tmp_path / name).read().run.salt_digest)
    assert found[0] != found[1]
    called(*scripted(tmp_path / "open", map_file, "answers", "--max-hours", 0, "--salt", 0))
    assert RunFolder(tmp_path / "open").read().run.salt_digest == salt_digest(0)


def test_a_limit_stops_a_run_which_a_larger_one_lets_go_on(tmp_path: Path, map_file: Path) -> None:
    status, said = called(*scripted(tmp_path / "run", map_file, "answers", "--max-hours", 0))
    assert status == 3
    assert "has had the 0 hours" in said
    assert f"resume {(tmp_path / 'run').resolve()}" in said.replace("\n", "")
    status, said = called("resume", tmp_path / "run", "--max-hours", 1)
    assert status == 0, said
    assert RunFolder(tmp_path / "run").read().status == Status.ENDED


@pytest.mark.slow
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_run_that_is_interrupted_is_left_to_be_taken_up(
    tmp_path: Path, map_file: Path, number: signal.Signals
) -> None:
    folder = begin(tmp_path / "run", map_file, "slowly")
    calm = begin(tmp_path / "calm", map_file, "slowly")
    command = [sys.executable, "-m", "tradesbench_gym", "harness", "resume", str(folder.path)]
    with subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=os.environ
    ) as process:
        until = time.monotonic() + 60
        while not folder.transcript.exists() or '"call"' not in folder.transcript.read_text():
            assert time.monotonic() < until
            assert process.poll() is None
            time.sleep(0.01)
        process.send_signal(number)
        _, err = process.communicate(timeout=60)
    assert process.returncode == 130
    assert "interrupted; `tradesbench harness resume" in err
    assert folder.read().status == Status.STOPPED
    for one in (folder, calm):
        status, said = called("resume", one.path)
        assert status == 0, said
    assert digest(folder, map_file) == digest(calm, map_file)


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (["run"], "pi needs --model and --base-url"),
        (["run", "--agent", "bob"], "there is no agent 'bob': there are pi, scripted, oracle"),
        (["run", "--agent", "scripted"], "--agent scripted and --program go together"),
        (["run", "--agent", "oracle"], "give --no-isolation"),
        (["run", "--agent", "oracle", "--program", "x"], "go together"),
        (["run", "--agent", "scripted", "--program", "'"], "--program cannot be read"),
        (["run", "--model", "m"], "--model and --base-url go together"),
        (["run", "--thinking", "hard"], "--thinking is one of off, minimal"),
        (["run", *ORACLE, "--salt", "x"], "salt must be"),
        (["run", *ORACLE, "--max-cost", "x"], "number of dollars"),
        (["run", *ORACLE, "--scenario", "x"], "x"),
        (["run", "--model", "m", "--base-url", "http://x/v1"], "pi is not installed in /no/pi"),
        (
            ["run", "--model", "m", "--base-url", "http://x/v1", "--max-cost", "1"],
            "--max-cost needs the prices",
        ),
        (
            ["run", "--model", "m", "--base-url", "http://x/v1", "--api-key-env", "NO_SUCH_KEY"],
            "'NO_SUCH_KEY' is not set",
        ),
        (["run", *ORACLE, "--out", "x/Seed_5"], "has the seed in its name"),
        (["run", *ORACLE, "--readable", "/no/folder"], "--readable names a folder"),
        (["resume", "/no/run"], "/no/run is no folder of a run"),
    ],
)
def test_what_cannot_be_is_refused_in_one_sentence_and_makes_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, words: list[str], told: str
) -> None:
    monkeypatch.chdir(tmp_path)
    status, said = called(*words)
    assert status == 2
    assert told in said.replace("\n", " ")
    assert said.startswith("error: ")
    assert not list(tmp_path.iterdir())


def test_a_limit_that_cannot_be_kept_is_refused_and_not_written_down(
    tmp_path: Path, map_file: Path
) -> None:
    model = ModelPart(name="m", base_url="http://127.0.0.1:9/v1")
    folder = begin(tmp_path / "run", map_file, "answers", model=model)
    before = folder.manifest_file.read_bytes()
    status, said = called("resume", folder.path, "--max-cost", 1)
    assert status == 2
    assert "--max-cost needs the prices" in said.replace("\n", " ")
    assert folder.manifest_file.read_bytes() == before


def test_a_folder_with_something_in_it_is_left_alone(tmp_path: Path, map_file: Path) -> None:
    (tmp_path / "mine.txt").write_text("mine")
    status, said = called(*scripted(tmp_path, map_file, "answers"))
    assert status == 2
    assert "is not empty" in said.replace("\n", " ")
    assert [one.name for one in tmp_path.iterdir()] == ["mine.txt"]


def test_the_readme_s_first_run_is_one(
    tmp_path: Path, map_file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    readme = (Path(__file__).parents[2] / "README.md").read_text(encoding="utf-8")
    (line,) = re.findall(r"^tradesbench harness (run --agent oracle .+)$", readme, re.MULTILINE)
    monkeypatch.chdir(tmp_path)
    status, said = called(*shlex.split(line), "--days", 1, "--map", map_file)
    assert status == 0, said
    assert RunFolder(tmp_path / "first-run").read().status == Status.ENDED
