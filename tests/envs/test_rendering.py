"""The board: legible, complete, and blind to what is hidden."""

from __future__ import annotations

import re
from io import StringIO

import numpy as np
import pytest
from rich.console import Console

from tests.envs.pictures import moment
from tradesbench_gym.company.simulation import Simulation
from tradesbench_gym.core.codes import Activity, CallState, Stop
from tradesbench_gym.core.layout import FIELDS
from tradesbench_gym.envs.rendering import board, show
from tradesbench_gym.envs.wording import MARKS
from tradesbench_gym.policies import make_policy

COLOUR = re.compile(r"\x1b\[[0-9;]*m")
SIXTEEN = re.compile(r"\x1b\[(?:0|1|2|3[0-7]|9[0-7]|39)(?:;(?:1|2|3[0-7]|9[0-7]|39))*m")


@pytest.fixture(scope="module")
def midway() -> Simulation:
    """Run 5 of the oracle with its hundredth call on the line."""
    simulation, decide = Simulation(5), make_policy("oracle")
    for _ in range(99):
        assert simulation.next_call() == Stop.NEW_CALL
        decision = decide(simulation.desk)
        if decision is None:
            simulation.reject()
        else:
            simulation.offer(*decision)
    simulation.next_call()
    return simulation


def drawn(simulation: Simulation, width: int = 100, height: int | None = None) -> str:
    page = Console(file=StringIO(), width=width, color_system=None, legacy_windows=False)
    with page.capture() as captured:
        page.print(board(simulation.business, simulation.desk, height))
    return captured.get()


def ansi(simulation: Simulation) -> str:
    text = show(simulation.business, simulation.desk, "ansi")
    assert text is not None
    return text


def test_the_board_says_what_the_office_needs(midway: Simulation) -> None:
    text, desk = drawn(midway), midway.desk
    call = desk.call
    assert call is not None
    assert "☎ call 100 " in text
    assert midway.business.roadmap.address(int(call["address"])).text in text
    assert midway.business.roadmap.zones[int(call["zone"])].name in text
    assert ("URGENT" in text) == bool(call["urgent"])
    for person in midway.business.scenario.technicians:
        assert person.name in text
    for part in ("Sunridge Services", "cash $", "profit", "Weather today", "°F", "100 so far"):
        assert part in text
    assert f"day {midway.day + 1} of 14" in text


def test_every_job_of_today_stands_on_the_board_with_its_sign(midway: Simulation) -> None:
    text, desk = drawn(midway), midway.desk
    calls = desk["calls"][: int(desk["n_calls"])]
    today = np.flatnonzero((calls["day"] == midway.day) & (calls["state"] >= CallState.BOOKED))
    assert len(today)
    for job in today.tolist():
        mark = MARKS[CallState(int(calls[job]["state"]))]
        assert f"{mark.sign}{job + 1}" in text


@pytest.mark.parametrize("width", [80, 100, 140])
def test_no_line_is_wider_than_the_terminal_and_thirty_lines_do(
    midway: Simulation, width: int
) -> None:
    lines = drawn(midway, width).splitlines()
    assert max(map(len, lines)) <= width
    assert len(lines) <= 30


@pytest.mark.parametrize("width", [80, 100])
def test_weather_of_every_kind_takes_no_more_room(width: int) -> None:
    simulation = Simulation(5)
    simulation.advance()
    forecast = simulation.record["forecast"]["condition"]
    forecast[0, :10] = [0, 1, 2, 3, 4, 5, 6, 6, 6, 3]
    text = drawn(simulation, width)
    assert len(text.splitlines()) <= 30
    forecast[0, :10] = [6, 0, 0, 0, 0, 0, 0, 0, 0, 0]
    first = simulation.business.roadmap.zones[0].name
    assert re.search(rf"storm \d+°F {first}", drawn(simulation, width))
    assert re.search(r"clear [\d-]+°F elsewhere", drawn(simulation, width))


@pytest.mark.parametrize("height", [24, 26, 28, 30])
def test_a_low_terminal_is_enough(midway: Simulation, height: int) -> None:
    text = drawn(midway, 80, height)
    assert len(text.splitlines()) <= height
    assert "☎ call 100 " in text
    assert "100 so far" in text


@pytest.mark.parametrize("size", [(80, 24), (100, 30), (100, 50)])
def test_eight_technicians_fit_a_terminal_too(size: tuple[int, int]) -> None:
    simulation = moment("eight technicians")
    width, height = size
    text = drawn(simulation, width, height)
    assert len(text.splitlines()) <= height
    assert max(map(len, text.splitlines())) <= width
    assert "☎ call " in text
    assert "so far" in text
    calls = simulation.desk["calls"][: int(simulation.desk["n_calls"])]
    for technician in range(8):
        man = simulation.desk["technicians"][technician]
        assert f"Person {technician}" in text
        if int(man["activity"]) == Activity.DRIVING and height < 50:
            assert f"→{int(man['job']) + 1}" in text
    today = (calls["day"] == simulation.day) & (calls["state"] >= CallState.BOOKED)
    for job in np.flatnonzero(today).tolist():
        assert f"{MARKS[CallState(int(calls[job]['state']))].sign}{job + 1}" in text


def test_ansi_uses_sixteen_colours_only_and_reads_without_them(midway: Simulation) -> None:
    text = ansi(midway)
    codes = COLOUR.findall(text)
    assert codes
    assert all(SIXTEEN.fullmatch(code) for code in codes)
    assert [line.rstrip() for line in COLOUR.sub("", text).splitlines()] == [
        line.rstrip() for line in drawn(midway).splitlines()
    ]


def test_human_prints_and_returns_nothing(
    midway: Simulation, capsys: pytest.CaptureFixture[str]
) -> None:
    assert show(midway.business, midway.desk, "human") is None
    assert "☎ call 100 " in capsys.readouterr().out


def test_two_runs_that_differ_only_in_hidden_state_look_the_same(midway: Simulation) -> None:
    other = midway.copy()
    record = other.record
    for field in FIELDS["run"]:
        if field.seen == "hidden":
            record[field.name] += 1
    for name, places in (("technicians", "technician"), ("due", "due")):
        for field in FIELDS[places]:
            if field.seen == "hidden":
                record[name][field.name] += 1
    unfinished = record["calls"]["state"] != CallState.DONE
    for field in FIELDS["call"]:
        if field.seen == "hidden":
            record["calls"][field.name] += 1
        elif field.seen == "done":
            record["calls"][field.name][unfinished] += 1
    record["days"]["level"] += 1
    record["sky"]["high"] += 9
    record["lost"] ^= 1
    assert other.digest() != midway.digest()
    assert ansi(other) == ansi(midway)


def test_the_whole_of_a_run_can_be_drawn_at_every_stop() -> None:
    simulation, decide = Simulation(6, days=2), make_policy("accept-all")
    while (stop := simulation.advance()) != Stop.ENDED:
        assert "Sunridge Services" in drawn(simulation, 80)
        if stop == Stop.NEW_CALL:
            decision = decide(simulation.desk)
            assert decision is not None
            simulation.offer(*decision)
    assert "run ended" in drawn(simulation, 80)


def test_a_customer_who_phones_to_cancel_is_on_the_line() -> None:
    simulation, decide = Simulation(6), make_policy("accept-all")
    while (stop := simulation.advance()) != Stop.CANCELLATION:
        assert stop != Stop.ENDED
        if stop == Stop.NEW_CALL:
            decision = decide(simulation.desk)
            assert decision is not None
            simulation.offer(*decision)
    assert re.search(r"☎ the customer of job \d+ cancels it", drawn(simulation))


def test_a_bankrupt_company_is_called_so() -> None:
    simulation = Simulation(5)
    while simulation.next_call() == Stop.NEW_CALL:
        simulation.reject()
    assert "BANKRUPT" in drawn(simulation)


def test_in_the_evening_the_board_still_shows_the_day_just_closed() -> None:
    simulation = Simulation(5)
    while (stop := simulation.advance()) != Stop.DAY_CLOSED:
        if stop == Stop.NEW_CALL:
            simulation.reject()
    assert "day 1 of 14" in drawn(simulation)


def test_more_jobs_than_fit_a_window_are_counted() -> None:
    simulation = Simulation(5, days=3)
    while simulation.next_call() == Stop.NEW_CALL:
        try_for = (0, 1, 0) if simulation.day == 0 else None
        if try_for is None or simulation.refusal(*try_for) is not None:
            simulation.reject()
        else:
            simulation.offer(*try_for)
        if simulation.day == 1:
            break
    booked = simulation.desk["calls"]
    jobs = int(np.count_nonzero((booked["day"] == 1) & (booked["state"] >= CallState.BOOKED)))
    text = drawn(simulation, 80)
    shown = len(re.findall(r"[○→…●✓✗!−]\d+", text.split("○ booked")[0]))
    hidden = re.search(r" \+(\d+)", text.split("○ booked")[0].split("Marcus")[1])
    assert hidden is not None
    assert shown + int(hidden.group(1)) == jobs
