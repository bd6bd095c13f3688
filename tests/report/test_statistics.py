"""Spreads and verdicts, on numbers small enough to work out by hand."""

import pytest

from tradesbench_gym.company.play import Results
from tradesbench_gym.report.published import Band, Judged
from tradesbench_gym.report.runs import Played
from tradesbench_gym.report.statistics import judge, spread


def played(profit: int, bankrupt_on: int | None = None) -> Played:
    counts = dict.fromkeys(
        ("calls", "completed", "missed", "failed", "cancelled", "declined", "rejected"), 0
    )
    results = Results(
        seed=0,
        profit=profit,
        cash=2_500_000 + profit,
        lowest_cash=2_500_000,
        bankrupt_on=bankrupt_on,
        open=0,
        installations=0,
        weekend_jobs=0,
        **counts,
    )
    return Played("oracle", results, 3_766_400)


def band(judged: Judged, low: float | None, high: float | None, metric: str = "profit") -> Band:
    return Band("oracle", metric, "", "", judged, low, high)


def test_the_deviation_is_that_of_a_sample() -> None:
    # 2, 4, 6: mean 4, squared distances 4 + 0 + 4 over two degrees of freedom: 2
    figure = spread([2, 4, 6])
    assert (figure.mean, figure.deviation, figure.low, figure.high) == (4, 2, 2, 6)
    assert figure.error == pytest.approx(2 / 3**0.5)


def test_one_run_has_a_mean_and_no_deviation() -> None:
    figure = spread([7])
    assert (figure.mean, figure.deviation, figure.error) == (7, None, None)


def test_runs_without_a_figure_are_not_counted() -> None:
    assert spread([None, None]).mean is None
    assert spread([None, 3, None, 5]).count == 2


@pytest.mark.parametrize(("low", "high", "holds"), [(0, 2, True), (2, 2, True), (3, None, False)])
def test_a_band_for_the_mean_says_nothing_of_single_runs(
    low: float, high: float | None, holds: bool
) -> None:
    runs = [played(-10), played(14)]  # mean 2
    assert judge(band(Judged.MEAN, low, high), runs).holds is holds


def test_a_band_for_every_run_breaks_with_one_run_outside() -> None:
    loss = band(Judged.EVERY, None, -1)
    assert judge(loss, [played(-1), played(-500)]).holds is True
    assert judge(loss, [played(-1), played(0)]).holds is False


def test_a_day_of_bankruptcy_on_every_run_breaks_when_one_run_survives() -> None:
    tenth = band(Judged.EVERY, 10, 10, "bankrupt_on")
    assert judge(tenth, [played(0, 10), played(0, 10)]).holds is True
    assert judge(tenth, [played(0, 10), played(0)]).holds is False


def test_no_runs_hold_no_band_and_a_shown_figure_is_not_judged() -> None:
    assert judge(band(Judged.MEAN, None, None), []).holds is False
    assert judge(band(Judged.NOT, None, None), [played(0)]).holds is None
