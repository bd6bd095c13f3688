"""The commands as a person types them: what they print, and their exit status."""

from __future__ import annotations

import importlib
import inspect
import json
import re
import subprocess
import sys
from pathlib import Path

import pytest
import typer
from typer.testing import CliRunner

from tradesbench_gym import __version__
from tradesbench_gym.cli import COMMANDS, app

OWN_POLICIES = """
def reject(desk):
    return None

def rubbish(desk):
    return "rubbish"

def fail(desk):
    return 1 // 0

def nobody(desk):
    return 9, 0, 0
"""


def called(*words: str) -> tuple[int, str]:
    """Exit status, and everything printed."""
    result = CliRunner(env={"COLUMNS": "200", "TRADESBENCH_QUIET": "1"}).invoke(app, list(words))
    if result.exception is not None and not isinstance(result.exception, SystemExit):
        raise result.exception
    return result.exit_code, result.output


@pytest.fixture
def own_policies(tmp_path: Path) -> Path:
    path = tmp_path / "own_policies.py"
    path.write_text(OWN_POLICIES, encoding="utf-8")
    return path


def test_help_lists_every_command_by_the_first_line_of_its_own_help() -> None:
    status, said = called("--help")
    assert status == 0
    for name, place in COMMANDS.items():
        assert name in said
        assert place.line in said
        found = getattr(importlib.import_module(place.module), place.name)
        own = found.info.help if isinstance(found, typer.Typer) else inspect.getdoc(found)
        assert str(own).splitlines()[0] == place.line


@pytest.mark.parametrize("command", COMMANDS)
def test_every_command_has_help_and_all_but_the_group_show_an_example(command: str) -> None:
    status, said = called(command, "--help")
    assert status == 0
    assert "Example: " in said or command == "map"


def test_the_version_is_the_package_s() -> None:
    assert called("--version") == (0, f"tradesbench {__version__}\n")


def test_help_and_version_load_no_rules() -> None:
    code = (
        "import sys; from tradesbench_gym.cli import app\n"
        "try: app(['--help'])\n"
        "except SystemExit: pass\n"
        "assert 'numba' not in sys.modules"
    )
    subprocess.run([sys.executable, "-c", code], check=True, stdout=subprocess.DEVNULL)


def test_the_package_runs_as_a_module() -> None:
    command = [sys.executable, "-m", "tradesbench_gym", "--version"]
    assert subprocess.run(command, check=True, capture_output=True, text=True).stdout == (
        f"tradesbench {__version__}\n"
    )


def test_an_unknown_command_is_refused() -> None:
    status, said = called("dance")
    assert status == 2
    assert "dance" in said


def test_a_run_tells_each_day_and_then_its_results() -> None:
    status, said = called("run", "--policy", "oracle", "--seed", "5", "--days", "2")
    assert status == 0
    assert "1 Thu 2026-10-01" in said
    assert "2 Fri 2026-10-02" in said
    assert "3 Sat 2026-10-03" not in said
    assert "Run 5 with oracle: Sunridge Services, 2 days from 2026-10-01" in said
    for name in ("profit", "cash", "lowest", "completed", "missed", "failed", "cancelled"):
        assert name in said
    for name in ("declined", "rejected", "installations", "weekend jobs", "calls", "overhead"):
        assert name in said


def test_a_bankrupt_run_says_so_and_tells_its_last_day() -> None:
    status, said = called("run", "--policy", "do-nothing")
    assert status == 0
    assert "Bankrupt on day 10" in said
    assert "-$26,790.00" in said  # of A.9: fixed costs alone
    assert "10 Sat 2026-10-10" in said
    assert "11 Sun 2026-10-11" not in said


def test_json_is_all_that_a_machine_gets() -> None:
    status, said = called(
        "run", "--days", "3", "--seed", "8", "--start-date", "2026-11-02", "--json"
    )
    assert status == 0
    found = json.loads(said)
    assert (found["seed"], found["start_date"], found["interrupted"]) == (8, "2026-11-02", False)
    assert [day["date"] for day in found["days"]] == ["2026-11-02", "2026-11-03", "2026-11-04"]
    assert sum(found["ledger"].values()) == found["results"]["profit"]
    assert sum(day["change"] for day in found["days"]) == found["results"]["profit"]
    assert sum(day["calls"] for day in found["days"]) == found["results"]["calls"]


def test_a_salt_makes_another_run_and_is_not_told() -> None:
    salted = called("run", "--days", "2", "--salt", "0xFEDCBA98", "--json")[1]
    assert json.loads(salted)["sealed"] is True
    assert str(0xFEDCBA98) not in salted
    assert (
        json.loads(salted)["digest"]
        != json.loads(called("run", "--days", "2", "--json")[1])["digest"]
    )


def test_a_function_of_one_s_own_plays(own_policies: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    status, said = called("run", "--policy", f"{own_policies}:reject", "--days", "1")
    assert status == 0
    assert re.search(r"completed +0\b", said)
    monkeypatch.chdir(own_policies.parent)
    assert called("run", "--policy", "own_policies:reject", "--days", "1")[0] == 0


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (["run", "--policy", "nope"], "there are accept-all, do-nothing, oracle, planner, ppo, "),
        (["run", "--policy", "nowhere:decide"], "no module 'nowhere'"),
        (["run", "--policy", "nowhere.py:decide"], "there is no file nowhere.py"),
        (["run", "--policy", "some.py"], "some.py:decide"),
        (["run", "--policy", "oracle:colour=3"], "its settings: quantile"),
        (["run", "--seed", "-1"], "seed must be"),
        (["run", "--days", "32"], "days must be a whole number from 1 to 31"),
        (["run", "--start-date", "soon"], "start_date must be a date"),
        (["run", "--salt", "pepper"], "salt must be a whole number"),
        (["run", "--speed", "fast"], "speed must be"),
        (["run", "--speed", "nan"], "speed must be"),
        (["run", "--map", "atlantis"], "atlantis"),
        (["run", "--scenario", "atlantis"], "atlantis"),
        (["run", "--events", "/no/such/folder/events"], "cannot write"),
        (["diff", "oracle", "oracle@5"], "'oracle' is neither"),
        (["explain", "answer", "999"], "there is no call 999"),
    ],
)
def test_what_cannot_be_is_refused_in_one_sentence(words: list[str], told: str) -> None:
    status, said = called(*words)
    assert status == 2
    assert said.startswith("error: ")
    assert said.count("\n") == 1
    assert told in said


@pytest.mark.parametrize(
    ("name", "told"),
    [
        ("rubbish", "returned 'rubbish' at call 1"),
        ("fail", "ZeroDivisionError"),
        ("nobody", "offered call 1 what the company does not: there is no technician 9"),
        ("absent", "has no function 'absent'"),
    ],
)
def test_a_policy_that_goes_wrong_is_named_with_what_it_did(
    own_policies: Path, name: str, told: str
) -> None:
    status, said = called("run", "--policy", f"{own_policies}:{name}")
    assert status == 2
    assert told in said
    assert "Traceback" not in said


def test_diff_finds_a_run_the_same_as_itself_and_as_its_own_events(tmp_path: Path) -> None:
    events = tmp_path / "events.jsonl"
    assert called("run", "--days", "2", "--events", str(events), "--json")[0] == 0
    status, said = called("diff", str(events), "oracle@5", "--days", "2")
    assert status == 0
    assert "The runs are the same" in said


def test_diff_names_the_first_event_in_which_two_runs_part() -> None:
    status, said = called("diff", "accept-all@5", "do-nothing@5", "--days", "1")
    assert status == 1
    assert "The runs part after 2 events" in said  # the day opens, the first call rings
    assert "last common  2026-10-01 " in said
    assert " rang call 1\n" in said
    assert "rejected" in said


def test_diff_shows_where_one_run_goes_on_and_the_other_ends(tmp_path: Path) -> None:
    whole, part = tmp_path / "whole.jsonl", tmp_path / "part.jsonl"
    called("run", "--days", "1", "--events", str(whole), "--json")
    lines = whole.read_text(encoding="utf-8").splitlines(keepends=True)
    part.write_text("".join(lines[:30]), encoding="utf-8")
    status, said = called("diff", str(whole), str(part))
    assert status == 1
    assert "The runs part after 30 events" in said
    assert "no more events" in said
    found = json.loads(called("diff", str(whole), str(part), "--json")[1])
    assert found["difference"]["place"] == 30
    assert found["difference"]["right"] is None


def test_diff_reads_the_events_of_a_world_file_and_shows_them_in_words(tmp_path: Path) -> None:
    world, part = tmp_path / "a.sqlite", tmp_path / "part.jsonl"
    events = tmp_path / "a.jsonl"
    called("run", "--days", "1", "--world", str(world), "--json")
    called("run", "--days", "1", "--events", str(events), "--json")
    status, said = called("diff", str(world), "oracle@5", "--days", "1")
    assert (status, "The runs are the same" in said) == (0, True)
    lines = events.read_text(encoding="utf-8").splitlines()
    place = next(k for k, line in enumerate(lines) if '"booked"' in line)
    booked = json.loads(lines[place]) | {"technician": 3, "window": 5}
    part.write_text("\n".join([*lines[:place], json.dumps(booked)]), encoding="utf-8")
    status, said = called("diff", str(world), str(part))
    assert status == 1
    technician, window = (row for row in said.splitlines() if row.startswith(("techn", "window")))
    assert "katherine" in technician
    assert "17:00-19:00" in window
    assert "≠" in technician
    assert "≠" in window


def test_diff_shows_numbers_that_the_company_does_not_have_as_they_are(tmp_path: Path) -> None:
    foreign = tmp_path / "foreign.jsonl"
    event = {"at": 10**15, "kind": "booked", "call": 1, "technician": 99, "day": 10**9, "window": 9}
    foreign.write_text(json.dumps(event), encoding="utf-8")
    status, said = called("diff", str(foreign), "oracle@5", "--days", "1")
    assert status == 1
    assert "99" in said
    assert "Traceback" not in said
    event |= {"technician": -1}
    foreign.write_text(json.dumps(event), encoding="utf-8")
    assert "katherine" not in called("diff", str(foreign), str(foreign), "--days", "1")[1]


def test_diff_names_the_line_that_is_no_event(own_policies: Path) -> None:
    status, said = called("diff", str(own_policies), str(own_policies))
    assert status == 2
    assert "line 2 is no event" in said


def test_explain_shows_identity_word_threshold_and_outcome() -> None:
    status, said = called("explain", "--policy", "accept-all", "answer", "3", "--days", "1")
    assert status == 0
    for part in ("Call 3 of run 5 with accept-all", "day of the call 0", "patience", "threshold"):
        assert part in said
    assert "accepted: yes" in said or "accepted: no" in said


def test_explain_says_where_a_run_never_asked() -> None:
    status, said = called("explain", "all", "1", "--policy", "do-nothing", "--days", "1")
    assert status == 0
    assert "rejected" in said
    assert "the run never asked" in said


def test_explain_gives_words_to_machines_as_text() -> None:
    told = json.loads(called("explain", "all", "3", "--policy", "accept-all", "--json")[1])
    assert told[0]["event"] == "answer"
    assert all(isinstance(word, str) for word in told[0]["words"].values())
