"""The facts of a page are those of the run: checked against the state and against arithmetic."""

from __future__ import annotations

import shutil
from collections import Counter
from itertools import pairwise
from pathlib import Path

import pytest

from tests.report.html.worlds import KINDS, Runs, make, map_file
from tests.worlds import tiny_map
from tradesbench_gym.core.codes import CallState
from tradesbench_gym.core.layout import DAY_SECONDS
from tradesbench_gym.errors import StateError
from tradesbench_gym.report.html.facts import Doing, Run
from tradesbench_gym.report.html.reading import read_run, read_runs
from tradesbench_gym.report.html.ways import simplified, ways_of
from tradesbench_gym.world import WorldError, replay


@pytest.fixture(params=list(KINDS))
def run(request: pytest.FixtureRequest, run_of: Runs) -> Run:
    return run_of(request.param)


def test_payments_add_up_to_the_profit(run: Run) -> None:
    assert sum(payment.cents for payment in run.payments) == run.results.profit


def test_calls_by_state_are_those_of_the_results(run: Run) -> None:
    states, came_to = Counter(call.state for call in run.calls), run.results
    assert len(run.calls) == came_to.calls
    for state, count in (
        (CallState.DONE, came_to.completed),
        (CallState.MISSED, came_to.missed),
        (CallState.FAILED, came_to.failed),
        (CallState.CANCELLED, came_to.cancelled),
        (CallState.DECLINED, came_to.declined),
    ):
        assert states[state] == count


def test_the_last_change_of_a_job_is_the_state_it_stands_in(run: Run) -> None:
    for call in run.calls:
        if call.job is not None:
            assert call.states[0] == (call.at, CallState.BOOKED)
            # Who has left a site sets off for another job; the one he left is booked again.
            left = call.state == CallState.BOOKED and len(call.states) > 1
            assert left or call.states[-1][1] == call.state


def test_a_technician_does_one_thing_at_a_time(run: Run) -> None:
    for man in range(len(run.business.scenario.technicians)):
        mine = [one for one in run.stretches if one.technician == man]
        for one, following in pairwise(mine):
            assert one.start <= one.end <= following.start


def test_drives_and_work_lie_at_the_times_and_are_as_long_as_the_state_says(run: Run) -> None:
    for step in replay(run.path, map=tiny_map()):
        record = step.simulation.record
    last = {one.job: one for one in run.stretches if one.doing is Doing.DRIVE}
    for job, drive in last.items():
        assert drive.metres == int(record["calls"][job - 1]["metres"])
    for work in (one for one in run.stretches if one.doing is Doing.WORK and one.over):
        row = record["calls"][work.job - 1]
        assert (work.start, work.end) == (int(row["started"]), int(row["ended"]))


def test_work_begins_inside_the_window_that_was_promised(run: Run) -> None:
    jobs = {call.number: call.job for call in run.calls}
    for work in (one for one in run.stretches if one.doing is Doing.WORK):
        job = jobs[work.job]
        assert job is not None
        assert job.opens <= work.start <= job.closes
        assert job.lead == job.opens - run.calls[work.job - 1].at


def test_an_unfinished_run_says_where_it_stands(run_of: Runs) -> None:
    run = run_of("unfinished")
    assert not run.ended
    assert run.waiting == f"call {len(run.calls)} waits for an answer"
    assert run.calls[-1].state == CallState.RINGING
    assert run_of("unbegun").days == ()


def test_a_run_that_nobody_called_costs_its_fixed_costs(run_of: Runs) -> None:
    run = run_of("quiet")
    assert run.calls == () and run.stretches == ()  # noqa: PT018 - both are what quiet means
    # $2,916 a weekday until $25,000 are gone ("Scoring"): bankrupt on day 10.
    assert run.results.bankrupt_on == 10


def test_the_bankrupt_run_ends_on_day_1(run_of: Runs) -> None:
    run = run_of("bankrupt")
    assert run.bankrupt
    assert run.results.bankrupt_on == 1
    assert len(run.days) == 1


def test_a_run_folder_is_as_good_as_its_file(tmp_path: Path) -> None:
    file = make(tmp_path / "opus-7.sqlite", KINDS["quiet"])
    folder = tmp_path / "argon-seed-7"
    folder.mkdir()
    shutil.copyfile(file, folder / "world.sqlite")
    tiny = str(map_file(tmp_path))
    one, other, named = read_runs([str(file), str(folder), f"mine={_copy(file, tmp_path)}"], tiny)
    assert [one.name, other.name, named.name] == ["opus", "argon", "mine"]
    assert one.digest == other.digest
    assert one.pairing == other.pairing


def _copy(file: Path, folder: Path) -> Path:
    return Path(shutil.copyfile(file, folder / "another.sqlite"))


def test_the_same_file_twice_is_refused(tmp_path: Path) -> None:
    file = make(tmp_path / "a.sqlite", KINDS["quiet"])
    with pytest.raises(StateError, match="given twice"):
        read_runs([str(file), f"x={file}"], str(map_file(tmp_path)))


def test_the_map_is_asked_for_where_a_run_s_own_is_not_here(tmp_path: Path) -> None:
    file = make(tmp_path / "a.sqlite", KINDS["quiet"])
    with pytest.raises(WorldError, match="name its file"):
        read_run(file)


def test_ways_begin_at_home_and_end_at_the_job(run_of: Runs) -> None:
    run = run_of("whole")
    drives = [one for one in run.stretches if one.doing is Doing.DRIVE]
    ends = {call.number: call.address for call in run.calls}
    book, calls = run.business.handbook, {call.number: call for call in run.calls}
    lines = ways_of(run.business, drives, ends)
    assert len(lines) == len(drives) > 0
    seen: set[tuple[int, int]] = set()
    for drive, line in zip(drives, lines, strict=True):
        job = calls[drive.job]
        assert line[-1] == (job.x, job.y)
        if (drive.technician, drive.start // DAY_SECONDS) not in seen:
            home = book["home_x"][drive.technician], book["home_y"][drive.technician]
            assert line[0] == tuple(int(metres) for metres in home)
        seen.add((drive.technician, drive.start // DAY_SECONDS))


def test_a_simplified_way_keeps_its_turns() -> None:
    there_and_back = [(0, 0), (1000, 0), (2000, 0), (1000, 0), (0, 0)]
    assert simplified(there_and_back) == [(0, 0), (2000, 0), (0, 0)]
