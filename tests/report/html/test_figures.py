"""Every figure is one that Plotly takes, says its units, and shows the numbers of the run."""

from __future__ import annotations

import json
from collections.abc import Iterator

import pytest

from tests.report.html.worlds import KINDS, Runs
from tradesbench_gym.core.codes import CallState, Entry
from tradesbench_gym.report.html import comparing, demand, money, replaying
from tradesbench_gym.report.html.calendar import day_figure
from tradesbench_gym.report.html.facts import Run
from tradesbench_gym.report.html.palette import ENTRIES, FATES, STATES, TEMPLATES, Figure
from tradesbench_gym.report.pairing import difference, interval

graph_objects = pytest.importorskip("plotly.graph_objects", reason="needs plotly")


def figures_of(run: Run) -> Iterator[Figure]:
    yield money.cash_figure(run)
    yield money.ledger_figure(run)
    yield demand.demand_figure(run)
    yield demand.routine_figure(run)
    yield demand.urgent_figure(run)
    for day in run.days:
        yield day_figure(run, day.number)


@pytest.fixture(params=list(KINDS))
def run(request: pytest.FixtureRequest, run_of: Runs) -> Run:
    return run_of(request.param)


def test_every_figure_is_plotly_s_and_names_its_axes(run: Run) -> None:
    figures = [*figures_of(run), comparing.profit_figure([run])]
    for figure in figures:
        for template in TEMPLATES.values():
            layout = {**figure["layout"], "template": template}
            graph_objects.Figure({"data": figure["data"], "layout": layout})  # or ValueError
        json.dumps(figure, allow_nan=False)
        for axis in ("xaxis", "yaxis"):
            assert figure["layout"][axis]["title"]["text"]


def test_the_cash_curve_begins_with_the_starting_cash_and_ends_with_the_cash(run: Run) -> None:
    course = money.cash_figure(run)["data"][0]["y"]
    assert course[0] * 100 == run.starting_cash
    assert round(course[-1] * 100) == run.results.cash
    assert round(min(course) * 100) >= run.results.lowest_cash


def test_the_ledger_s_bars_add_up_to_the_profit(run: Run) -> None:
    data = money.ledger_figure(run)["data"]
    bars = sum(value for trace in data[:-1] for value in trace["y"])
    assert round(bars * 100) == round(sum(data[-1]["y"]) * 100) == run.results.profit


def test_every_call_stands_in_one_bar_of_the_demand(run: Run) -> None:
    bars = demand.demand_figure(run)["data"][:-1]
    assert sum(count for bar in bars for count in bar["y"]) == len(run.calls)


def test_every_offer_but_late_installations_stands_in_one_share(run: Run) -> None:
    routine, urgent = demand.routine_figure(run), demand.urgent_figure(run)
    counted = [
        [int(part) for part in text.split("/")]
        for figure in (routine, urgent)
        for text in figure["data"][2]["text"]
    ]
    offers = [call.offer for call in run.calls if call.offer is not None]
    late = [call for call in run.calls if call.offer is not None and call.offer.late_installation]
    left_out = [call for call in late if not call.urgent]
    assert sum(of for _, of in counted) == len(offers) - len(left_out)
    accepted = sum(offer.accepted for offer in offers)
    taken = sum(call.job is not None for call in left_out)
    assert sum(number for number, _ in counted) == accepted - taken


def test_the_rule_s_curve_is_called_the_scenario_s_truth(run_of: Runs) -> None:
    for figure in (demand.routine_figure(run_of("whole")), demand.urgent_figure(run_of("whole"))):
        assert "scenario's truth" in figure["data"][0]["hovertemplate"]
    # A.2: a routine caller offered the start of his own call accepts with 90 %; three days: 57 %.
    curve = demand.routine_figure(run_of("whole"))["data"][0]
    assert curve["y"][0] == pytest.approx(0.9, abs=0.01)


def test_each_job_of_a_day_can_be_pointed_at_on_the_calendar(run_of: Runs) -> None:
    run = run_of("missing")
    for day in run.days:
        said = json.dumps(day_figure(run, day.number)["data"])
        for call in run.jobs_on(day.number):
            assert f"<b>job {call.number}</b>" in said


def test_work_on_the_calendar_is_as_long_as_it_took(run_of: Runs) -> None:
    run = run_of("whole")
    work = [one for one in run.stretches_on(0) if one.doing.value == "work"]
    shown = {
        int(job): minutes
        for trace in day_figure(run, 0)["data"]
        if trace["type"] == "bar" and "text" in trace
        for job, minutes in zip(trace["text"], trace["x"], strict=True)
    }
    assert set(shown) == {one.job for one in work}
    for one in work:
        assert shown[one.job] == pytest.approx((one.end - one.start) / 60, abs=0.06)


def test_the_replay_has_every_job_drive_and_state(run: Run) -> None:
    made = replaying.replay_of(run)
    assert [day["day"] for day in made["days"]] == [day.number for day in run.days]
    for day in made["days"]:
        assert {job["number"] for job in day["jobs"]} == {
            call.number for call in run.jobs_on(day["day"])
        }
        for stretch in day["stretches"]:
            assert ("way" in stretch) == (stretch["doing"] == "drive")
            assert day["from"] <= stretch["from"] <= stretch["until"]


def test_every_kind_of_entry_and_fate_has_a_look_of_its_own() -> None:
    assert set(ENTRIES) == set(Entry)
    assert {*STATES} == {state for state in CallState if state >= CallState.BOOKED}
    for looks in (ENTRIES, FATES):
        seen = {(look.colour, look.hatch) for look in looks.values()}
        assert len(seen) == len(looks)


def test_wilson_s_interval_is_that_of_the_textbook() -> None:
    # 1 of 18: centre (1/18 + z²/36) / (1 + z²/18), worked out with z = 1.96.
    low, high = demand.wilson(1, 18)
    assert low == pytest.approx(0.0099, abs=2e-4)
    assert high == pytest.approx(0.2576, abs=2e-4)
    assert demand.wilson(4, 4)[1] == pytest.approx(1.0)


def test_runs_of_the_same_draws_are_paired_and_no_others() -> None:
    ours = {5: [10.0], 6: [20.0], 7: [33.0], 9: [1000.0]}
    theirs = {5: [8.0], 6: [18.0], 7: [29.0, 31.0], 8: [-1000.0]}
    found = difference(ours, theirs)
    assert found is not None
    assert found.count == 3
    assert found.mean == pytest.approx((2 + 2 + 3) / 3)
    assert found.low is not None
    assert found.high is not None
    assert 2.0 <= found.low <= found.mean <= found.high <= 3.0
    assert difference({1: [1.0]}, {2: [1.0]}) is None


def test_the_bootstrap_s_interval_is_about_that_of_the_normal_law() -> None:
    values = [float(value) for value in range(100)]
    low, high = interval(values)
    # Standard deviation 28.87 (of 0 … 99, by n), so 1.96 standard errors are 5.66.
    assert low == pytest.approx(49.5 - 5.66, abs=0.4)
    assert high == pytest.approx(49.5 + 5.66, abs=0.4)
    assert interval(values) == (low, high)
