"""The commands that open a world file: what they print, and their exit status."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from pathlib import Path

import pytest
import typer
from typer.testing import CliRunner

from tests.world.runs import (
    business,
    create,
    play_steps,
    refused,
    rows,
    trespass,
    undisturbed,
    untouched,
)
from tests.worlds import tiny_map
from tradesbench_gym.commands.audit import audit
from tradesbench_gym.commands.replay import replay
from tradesbench_gym.commands.resume import resume
from tradesbench_gym.core.codes import Stop
from tradesbench_gym.roads import write_map
from tradesbench_gym.world import World


def called(command: Callable[..., None], *words: object, typed: str = "") -> tuple[int, str]:
    """Exit status, and everything printed."""
    app = typer.Typer()
    app.command()(command)
    runner = CliRunner(env={"COLUMNS": "200", "TRADESBENCH_QUIET": "1"})
    result = runner.invoke(app, [str(word) for word in words], input=typed)
    if result.exception is not None and not isinstance(result.exception, SystemExit):
        raise result.exception
    return result.exit_code, result.output


@pytest.fixture(scope="session")
def map_file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("map") / "tiny.tbmap"
    write_map(path, tiny_map())
    return path


@pytest.fixture
def begun(tmp_path: Path) -> Path:
    path = tmp_path / "run.sqlite"
    with create(path) as world:
        play_steps(world, 20)
    return path


def test_audit_proves_a_file_and_exits_0(finished_run: Path, map_file: Path) -> None:
    with untouched(finished_run):
        status, said = called(audit, finished_run, "--map", map_file)
    assert status == 0
    assert f"{finished_run} is proven: " in said
    assert undisturbed() in said


def test_audit_names_what_was_changed_and_exits_1(
    copy_of_run: Callable[[], Path], map_file: Path
) -> None:
    path = copy_of_run()
    (cents,) = rows(path, "SELECT cents FROM ledger WHERE number = 3")[0]
    trespass(path, "UPDATE ledger SET cents = 2 * cents WHERE number = 3")
    status, said = called(audit, path, "--map", map_file)
    assert status == 1
    assert f"ledger, row 3, cents: is {cents * 2}, should be {cents}" in said
    status, said = called(audit, path, "--map", map_file, "--json")
    assert status == 1
    assert json.loads(said)["findings"] == [
        {"table": "ledger", "row": "3", "column": "cents", "found": cents * 2, "expected": cents}
    ]


def test_audit_compares_the_digest_that_was_published(finished_run: Path, map_file: Path) -> None:
    words = (finished_run, "--map", map_file, "--digest")
    assert called(audit, *words, undisturbed())[0] == 0
    status, said = called(audit, *words, "f" * 64)
    assert status == 1
    assert "head, row 1, digest" in said


def test_resume_plays_on_to_the_end_of_the_run(begun: Path, map_file: Path) -> None:
    status, said = called(resume, begun, "--map", map_file)
    assert status == 0
    assert "Resumed at 2026-10-01" in said
    assert "after 2" in said
    with World.open(begun, map=map_file) as world:
        assert world.ended
        assert world.digest() == undisturbed()
    status, said = called(resume, begun, "--map", map_file)
    assert status == 0
    assert "nothing to play" in said


def test_resume_answers_in_whole_cents_for_machines(begun: Path, map_file: Path) -> None:
    status, said = called(resume, begun, "--map", map_file, "--json")
    assert status == 0
    assert json.loads(said)["digest"] == undisturbed()


def test_resume_stopped_by_ctrl_c_leaves_a_run_that_can_be_resumed(
    begun: Path, map_file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    advance, left = World.advance, [5]

    def stop_at_last(world: World) -> Stop:
        left[0] -= 1
        if left[0] == 0:
            raise KeyboardInterrupt
        return advance(world)

    monkeypatch.setattr(World, "advance", stop_at_last)
    status, said = called(resume, begun, "--map", map_file)
    assert status == 130
    assert "to play on" in said
    monkeypatch.undo()
    status, said = called(resume, begun, "--map", map_file, "--json")
    assert json.loads(said)["digest"] == undisturbed()


def test_replay_shows_every_command_and_event(finished_run: Path, map_file: Path) -> None:
    status, said = called(replay, finished_run, "--map", map_file, "--json")
    assert status == 0
    steps = [json.loads(line) for line in said.splitlines()]
    counts = (len(steps) - 1, sum(len(step["events"]) for step in steps), steps[-1]["digest"])
    assert rows(finished_run, "SELECT journal, events, digest FROM head") == [counts]


def test_replay_tells_answers_and_events_with_names_and_dates(
    finished_run: Path, map_file: Path
) -> None:
    status, said = called(replay, finished_run, "--map", map_file)
    assert status == 0
    names = "|".join(man.key for man in business().scenario.technicians)
    slot = r"\d\d:00-\d\d:00"
    assert re.search(rf"^ +\d+ offer ({names}), today, {slot}: accepted$", said, re.MULTILINE)
    booked = rf"^ +2026-\d\d-\d\d \d\d:\d\d booked call 1, ({names}), 2026-\d\d-\d\d {slot}$"
    assert re.search(booked, said, re.MULTILINE)
    assert re.search(r" overhead -\$[\d,]+\.\d\d$", said, re.MULTILINE)
    assert "=" not in said


def test_replay_never_shows_the_salt(tmp_path: Path, map_file: Path) -> None:
    path = tmp_path / "run.sqlite"
    World.create(path, 1, salt=987654321, business=business()).close()
    for words in ((), ("--json",), ("--no-live",)):
        assert "987654321" not in called(replay, path, "--map", map_file, *words)[1]


def test_replay_shows_the_steps_asked_for(finished_run: Path, map_file: Path) -> None:
    status, said = called(replay, finished_run, "--map", map_file, "--from", "2", "--to", "3")
    assert status == 0
    numbers = [line.split()[0] for line in said.splitlines() if not line.startswith("      ")]
    assert numbers == ["2", "3"]


@pytest.mark.parametrize("command", [audit, replay, resume])
def test_a_file_that_is_no_world_is_one_sentence(
    command: Callable[..., None], tmp_path: Path
) -> None:
    path = tmp_path / "notes.txt"
    path.write_text("hello " * 200, encoding="utf-8")
    assert "no world file" in refused(lambda: called(command, path), "not_a_database")
