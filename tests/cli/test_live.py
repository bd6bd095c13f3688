"""The live view, in a real pseudo-terminal."""

from __future__ import annotations

import os
import re
import sys

import pytest

if os.name == "nt":
    pytest.skip("pseudo-terminals are POSIX", allow_module_level=True)

from tests.cli.pseudo_terminal import run_in_terminal

PROGRAM = [sys.executable, "-m", "tradesbench_gym", "run"]
SCREEN_TAKEN, SCREEN_GIVEN_BACK = "\x1b[?1049h", "\x1b[?1049l"
HOME = "\x1b[H"
SGR = re.compile(r"\x1b\[([0-9;]*)m")
CONTROL = re.compile(r"\x1b\[[0-9;?]*[A-Za-z]")


def test_the_board_takes_the_screen_and_the_results_stay() -> None:
    seen = run_in_terminal([*PROGRAM, "--days", "2", "--speed", "10"])
    assert seen.status == 0
    board, _, after = seen.text.partition(SCREEN_GIVEN_BACK)
    assert SCREEN_TAKEN in board
    assert "Sunridge Services" in board
    assert "☎" in board
    assert "Katherine Osei" in board
    assert "Run 5 with oracle" in after
    assert "2 Fri 2026-10-02" in after


def test_a_run_without_pacing_still_shows_its_last_moment() -> None:
    seen = run_in_terminal([*PROGRAM, "--days", "1", "--speed", "max"])
    assert seen.status == 0
    assert "run ended" in CONTROL.sub("", seen.text.partition(SCREEN_GIVEN_BACK)[0])


@pytest.mark.parametrize("size", [(80, 24), (60, 10)])
def test_a_small_terminal_is_no_error(size: tuple[int, int]) -> None:
    columns, lines = size
    command = [*PROGRAM, "--days", "1", "--speed", "max"]
    seen = run_in_terminal(command, columns=columns, lines=lines)
    assert seen.status == 0
    assert "Run 5 with oracle" in seen.text


def test_ctrl_c_gives_the_screen_back_and_tells_the_run_so_far() -> None:
    seen = run_in_terminal([*PROGRAM, "--speed", "0.5"], interrupt_after=SCREEN_TAKEN)
    assert seen.status == 130
    after = seen.text.partition(SCREEN_GIVEN_BACK)[2]
    assert "interrupted at 2026-10-" in after
    assert "Run 5 with oracle" in after
    assert "Traceback" not in seen.text


@pytest.mark.parametrize("environment", [{"TERM": "dumb"}, {"TERM": "unknown"}])
def test_a_dumb_terminal_gets_a_line_a_day(environment: dict[str, str]) -> None:
    seen = run_in_terminal([*PROGRAM, "--days", "1"], environment=environment)
    assert seen.status == 0
    assert SCREEN_TAKEN not in seen.text
    assert "1 Thu 2026-10-01" in seen.text


def test_without_colour_no_colour_is_sent() -> None:
    command = [*PROGRAM, "--days", "1", "--speed", "max"]
    seen = run_in_terminal(command, environment={"NO_COLOR": "1"})
    assert seen.status == 0
    assert not re.search(r"\x1b\[[0-9;]*3[1-7][;m]", seen.text)


@pytest.mark.parametrize("size", [(100, 30), (80, 24)])
def test_a_terminal_of_sixteen_colours_gets_no_others_and_its_own_size(
    size: tuple[int, int],
) -> None:
    columns, lines = size
    command = [*PROGRAM, "--days", "2", "--speed", "max"]
    environment = {"TERM": "xterm", "COLORTERM": ""}
    seen = run_in_terminal(command, columns=columns, lines=lines, environment=environment)
    assert seen.status == 0
    board = seen.text.partition(SCREEN_GIVEN_BACK)[0].partition(SCREEN_TAKEN)[2]
    colours = {code for found in SGR.findall(board) for code in found.split(";") if code}
    assert colours & {"31", "32", "33", "35", "36"}
    assert all(int(code) < 50 and code not in ("38", "48") for code in colours)
    frames = [frame for frame in board.split(HOME) if "Sunridge Services" in frame]
    assert len(frames) >= 2
    for frame in frames:
        shown = CONTROL.sub("", frame).replace("\r", "").split("\n")
        assert len(shown) <= lines
        assert max(len(line.rstrip()) for line in shown) <= columns
        assert shown[0].startswith("Sunridge Services")
        assert any("so far" in line for line in shown)


def test_a_run_for_a_log_is_plain_lines() -> None:
    environment = {"TERM": "xterm"}
    seen = run_in_terminal([*PROGRAM, "--days", "2", "--no-live"], environment=environment)
    assert seen.status == 0
    days = [line for line in seen.text.splitlines() if re.match(r" \d+ \w{3} 2026-", line)]
    assert len(days) == 2
    assert not CONTROL.search("".join(days))


def test_an_ascii_terminal_gets_question_marks_and_no_error() -> None:
    command = [*PROGRAM, "--days", "1", "--speed", "max"]
    seen = run_in_terminal(command, environment={"PYTHONIOENCODING": "ascii", "PYTHONUTF8": "0"})
    assert seen.status == 0
    assert "Run 5 with oracle" in seen.text


def test_no_live_gives_lines_in_a_terminal_too() -> None:
    seen = run_in_terminal([*PROGRAM, "--days", "1", "--no-live"])
    assert seen.status == 0
    assert SCREEN_TAKEN not in seen.text
