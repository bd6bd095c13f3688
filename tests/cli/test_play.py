"""`tradesbench play`: a person at the phone, in a real pseudo-terminal and over a pipe."""

from __future__ import annotations

import json
import os
import re
import sys
from pathlib import Path

import pytest
from typer.testing import CliRunner

from tradesbench_gym.cli import app
from tradesbench_gym.commands.play_words import NO_UNDO, WHAT_TO_TYPE, typed
from tradesbench_gym.company.play import play, results
from tradesbench_gym.company.simulation import Simulation
from tradesbench_gym.envs import TradesEnv
from tradesbench_gym.envs.wording import dollars
from tradesbench_gym.policies import make_policy
from tradesbench_gym.world import World
from tradesbench_gym.wrappers import TextWrapper

CONTROL = re.compile(r"\x1b\[[0-9;?]*[A-Za-z]|\r")
PROGRAM = [sys.executable, "-m", "tradesbench_gym", "play"]
ANSWERS = ("book marcus 2026-10-02 09:00", "reject")
"""Two lines that are understood at any call of the first morning."""


def called(*words: str, lines: tuple[str, ...] = ()) -> tuple[int, str, str]:
    """Exit status, standard output and standard error, with lines typed into it."""
    runner = CliRunner(env={"COLUMNS": "80", "TRADESBENCH_QUIET": "1"})
    result = runner.invoke(app, ["play", *words], input="".join(f"{line}\n" for line in lines))
    if result.exception is not None and not isinstance(result.exception, SystemExit):
        raise result.exception
    return result.exit_code, result.stdout, result.stderr


def answers_of_the_oracle(seed: int, days: int) -> list[str]:
    """What the oracle would type."""
    simulation, decide = Simulation(seed, days=days), make_policy("oracle")
    keys = [person.key for person in simulation.business.scenario.technicians]
    opens = [window.opens for window in simulation.business.scenario.windows]
    lines = []
    while simulation.next_call().name == "NEW_CALL":
        offer = decide(simulation.desk)
        if offer is None:
            simulation.reject()
            lines.append("reject")
            continue
        date = simulation.business.date_of(simulation.day + offer.ahead)
        lines.append(f"book {keys[offer.technician]} {date} {opens[offer.window] // 3600:02}:00")
        simulation.offer(*offer)
    return lines


# -- the same text interface --


def test_prompts_and_errors_are_those_of_the_text_wrapper() -> None:
    replies = ["book nobody today 9", "nonsense", "reject", *ANSWERS, "book diana 2026-10-02"]
    status, out, _ = called("--seed", "5", "--days", "2", lines=(*replies, "quit"))
    assert status == 0
    env = TextWrapper(TradesEnv(days=2), reminders=9)
    prompt, _ = env.reset(seed=5)
    assert prompt in out
    errors = 0
    for reply in replies:
        prompt, _, _, _, info = env.step(reply)
        if "error" in info:
            # The form asked for is a line here, and an object there.
            said = re.split(r": answer ", info["error"]["message"].rstrip("."))[0]
            assert said[1:] in out
            errors += 1
        else:
            assert prompt in out
    assert errors == 3


def test_a_run_typed_as_the_oracle_plays_it_earns_what_the_oracle_does() -> None:
    lines = tuple(answers_of_the_oracle(5, 2))
    status, out, _ = called("--seed", "5", "--days", "2", lines=lines)
    assert status == 0
    assert "You earned what the oracle did, to the cent." in out
    profit = dollars(play(Simulation(5, days=2), make_policy("oracle")).profit)
    assert re.search(rf"profit +{re.escape(profit)} +{re.escape(profit)}\n", out)


def test_at_the_end_the_score_stands_beside_the_oracles_on_the_same_run() -> None:
    status, out, _ = called("--seed", "8", "--days", "1", lines=("reject",) * 60)
    assert status == 0
    oracle = play(Simulation(8, days=1), make_policy("oracle"))
    yours = play(Simulation(8, days=1), make_policy("do-nothing"))
    table = out.partition("oracle\n")[2]
    assert f"{dollars(yours.profit)}" in table
    assert f"{dollars(oracle.profit)}" in table
    assert re.search(rf"calls rejected +{yours.rejected} +{oracle.rejected}\n", table)
    difference = yours.profit - oracle.profit
    word = "more" if difference > 0 else "less"
    assert f"You earned {dollars(abs(difference))} {word} than the oracle" in table


# -- what is no answer --


@pytest.mark.parametrize("line", ["undo", " UNDO ", "take back"])
def test_undo_is_refused_in_one_sentence_and_the_clock_stands(line: str) -> None:
    assert NO_UNDO.count(".") == 1
    status, out, _ = called("--days", "1", lines=("reject", line, "quit"))
    assert status == 0
    assert NO_UNDO in out
    assert "with call 2 on the line" in out


def test_help_rules_board_and_again_answer_and_leave_the_call_where_it_is() -> None:
    status, out, _ = called("--days", "1", lines=("help", "rules", "board", "again", "", "quit"))
    assert status == 0
    assert out.count(WHAT_TO_TYPE) == 3  # the greeting, help, an empty line
    assert "TECHNICIANS: the work each can do, wages" in out
    assert "HOW YOU ANSWER" not in out
    assert "☎ call 1 " in out
    assert out.count("What do you answer to call 1?") == 2
    assert "with call 1 on the line" in out


def test_words_that_are_answers_are_no_commands() -> None:
    assert typed("reject") is None
    assert typed("book diana today 9") is None


def test_no_line_is_wider_than_a_terminal() -> None:
    _, out, _ = called("--days", "1", lines=("reject",) * 60)
    assert max(len(line) for line in out.splitlines()) <= 80


# -- keeping a run --


def test_a_run_that_was_left_is_played_on_as_if_it_never_had_been(tmp_path: Path) -> None:
    lines, file = answers_of_the_oracle(6, 2), str(tmp_path / "mine.sqlite")
    status, out, _ = called("--seed", "6", "--days", "2", "--world", file, lines=(*lines[:7],))
    assert status == 0
    assert f"with call 8 on the line; to play on: tradesbench play {file}" in out
    status, out, _ = called(file, lines=tuple(lines[7:]))
    assert status == 0
    assert "You earned what the oracle did, to the cent." in out
    whole = Simulation(6, days=2)
    play(whole, make_policy("oracle"))
    with World.open(file) as world:
        assert world.ended
        assert world.digest() == whole.digest()
    status, out, _ = called(file)
    assert status == 0
    assert "You earned what the oracle did, to the cent." in out


def test_a_policy_can_play_on_what_a_person_began(tmp_path: Path) -> None:
    file = str(tmp_path / "mine.sqlite")
    called("--days", "1", "--world", file, lines=ANSWERS)
    result = CliRunner(env={"TRADESBENCH_QUIET": "1"}).invoke(app, ["resume", file])
    assert result.exit_code == 0
    assert "Resumed at 2026-10-01" in result.stdout


def test_without_a_file_it_is_said_that_nothing_is_kept(tmp_path: Path) -> None:
    status, out, _ = called("--days", "1", lines=("quit",))
    assert status == 0
    assert "--world FILE" in " ".join(out.split())
    assert "nothing was kept" in out
    assert not [*tmp_path.iterdir()]


def test_json_goes_to_standard_output_and_talk_to_standard_error() -> None:
    status, out, err = called("--days", "1", "--seed", "8", "--json", lines=("reject",) * 60)
    assert status == 0
    found = json.loads(out)
    rejected = Simulation(8, days=1)
    play(rejected, make_policy("do-nothing"))
    assert found["results"] == results(rejected).as_dict()
    oracle = play(Simulation(8, days=1), make_policy("oracle"))
    assert found["oracle"] == oracle.as_dict()
    assert "What do you answer to call 1?" in err
    status, out, _ = called("--days", "1", "--json", lines=("quit",))
    assert json.loads(out)["oracle"] is None
    assert json.loads(out)["interrupted"] is True


@pytest.mark.parametrize(
    ("more", "named"),
    [(("--seed", "7"), "--seed"), (("--days", "3"), "--days"), (("--world", "b"), "--world")],
)
def test_a_file_says_itself_which_run_it_is_of(
    more: tuple[str, str], named: str, tmp_path: Path
) -> None:
    file = str(tmp_path / "mine.sqlite")
    called("--days", "1", "--world", file, lines=("quit",))
    status, _, err = called(file, *more)
    assert status == 2
    assert named in err
    assert err.count("\n") == 1


@pytest.mark.parametrize("words", [("no-such-file.sqlite",), ("--seed", "-1"), ("--salt", "x")])
def test_bad_input_is_one_sentence_and_status_2(words: tuple[str, ...]) -> None:
    status, _, err = called(*words)
    assert status == 2
    assert err.startswith("error: ")
    assert err.count("\n") == 1


# -- in a terminal --

needs_terminal = pytest.mark.skipif(os.name == "nt", reason="pseudo-terminals are POSIX")


@needs_terminal
def test_a_person_in_a_terminal_answers_asks_and_leaves(tmp_path: Path) -> None:
    from tests.cli.pseudo_terminal import run_in_terminal

    file = tmp_path / "mine.sqlite"
    lines = ["undo", "book nobody today 9", *ANSWERS, "quit"]
    command = [*PROGRAM, "--days", "2", "--world", str(file)]
    seen = run_in_terminal(command, columns=80, lines=24, typed=lines)
    text = CONTROL.sub("", seen.text)
    assert seen.status == 0, text
    assert NO_UNDO in text
    assert "There is no technician 'nobody'" in text
    assert "What do you answer to call 3?" in text
    assert "with call 3 on the line; to play on: tradesbench play" in text
    with World.open(file) as world:
        assert world.line == 3


@needs_terminal
def test_ctrl_c_at_the_prompt_leaves_a_run_that_can_be_played_on(tmp_path: Path) -> None:
    from tests.cli.pseudo_terminal import run_in_terminal

    file = tmp_path / "mine.sqlite"
    command = [*PROGRAM, "--days", "2", "--world", str(file)]
    seen = run_in_terminal(command, typed=["reject"], interrupt_after="answer to call 2?")
    assert seen.status == 130
    assert "Traceback" not in seen.text
    assert "with call 2 on the line; to play on" in CONTROL.sub("", seen.text)
    with World.open(file) as world:
        assert world.left_by is None
        assert world.line == 2


@needs_terminal
def test_the_end_of_input_is_a_way_to_quit() -> None:
    from tests.cli.pseudo_terminal import run_in_terminal

    seen = run_in_terminal([*PROGRAM, "--days", "1"], typed=["\x04"])
    assert seen.status == 0
    assert "You stopped at 2026-10-01" in seen.text
