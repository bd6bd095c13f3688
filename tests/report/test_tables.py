"""What the tables look like: they fit, nothing is cut, every figure asked for is there."""

import io

import pytest
from rich.console import Console

from tradesbench_gym.company.business import Business, open_business
from tradesbench_gym.report.published import BANDS, POLICIES, PUBLISHED
from tradesbench_gym.report.runs import Played, play_all
from tradesbench_gym.report.statistics import METRICS, Unit, by_policy, judge, spreads
from tradesbench_gym.report.table import calibration_table, published_notes, results_tables
from tradesbench_gym.report.writing import ends, exact, rounded


@pytest.fixture(scope="module")
def business() -> Business:
    return open_business()


@pytest.fixture(scope="module")
def played(business: Business) -> list[Played]:
    return play_all(business, [*POLICIES, "oracle:margin=20,quantile=0.8"], range(3), workers=1)


def console(width: int) -> Console:
    return Console(file=io.StringIO(), width=width, color_system=None)


def printed(on: Console) -> list[str]:
    file = on.file
    assert isinstance(file, io.StringIO)
    return file.getvalue().splitlines()


def results_in(width: int, played: list[Played]) -> list[str]:
    on = console(width)
    found = {policy: spreads(runs) for policy, runs in by_policy(played).items()}
    for table in results_tables(found, on, published=True):
        on.print(table)
    return printed(on)


@pytest.mark.parametrize("width", [60, 80, 100, 120, 160])
def test_tables_fit_and_cut_nothing(width: int, played: list[Played]) -> None:
    lines = results_in(width, played)
    assert max(map(len, lines)) <= width
    # A cut cell ends in an ellipsis; those of ours stand between two numbers.
    assert all(word.strip("…") == word for line in lines for word in line.split())


@pytest.mark.parametrize("width", [80, 120])
def test_the_calibration_table_fits_and_cuts_nothing(width: int, played: list[Played]) -> None:
    on = console(width)
    on.print(calibration_table("tuned seeds", [judge(band, played) for band in BANDS], on))
    lines = printed(on)
    assert max(map(len, lines)) <= width
    assert all(word.strip("…") == word for line in lines for word in line.split())
    assert sum("pass" in line or "FAIL" in line for line in lines) == len(BANDS) - 1


def test_every_policy_and_every_figure_asked_for_is_in_the_table(played: list[Played]) -> None:
    text = "\n".join(results_in(160, played))
    for policy in (*POLICIES, "margin=20", "quantile=0.8"):
        assert policy in text
    for row in (
        "mean",
        "std. deviation",
        "lowest",
        "highest",
        "jobs completed",
        "missed",
        "failed",
        "cancelled",
        "declined",
        "installations",
        "weekend jobs",
        "new-job calls",
        "lowest cash",
        "bankrupt runs",
    ):
        assert row in text
    for figure in PUBLISHED.values():
        assert figure.text in text


def test_the_mean_of_three_runs_is_the_one_in_the_table(played: list[Played]) -> None:
    mean = sum(run.results.profit for run in played[:3]) / 3
    row = next(line for line in results_in(80, played[:3]) if line.startswith("  mean"))
    assert rounded(mean, Unit.CENTS) in row


def test_every_published_figure_names_its_section_in_a_note() -> None:
    notes = "\n".join(published_notes())
    for figure in PUBLISHED.values():
        assert figure.section in notes


def test_every_band_is_about_a_known_policy_and_figure() -> None:
    assert {band.policy for band in BANDS} == set(POLICIES)
    assert {band.metric for band in BANDS} <= set(METRICS)
    assert all(band.low is None or band.high is None or band.low <= band.high for band in BANDS)


@pytest.mark.parametrize(
    ("value", "unit", "text"),
    [
        (-2_679_000, Unit.CENTS, "−$26,790"),
        (3_028_956, Unit.CENTS, "$30,289.56"),
        (-5, Unit.CENTS, "−$0.05"),
        (147, Unit.COUNT, "147"),
        (None, Unit.COUNT, "–"),
    ],
)
def test_an_exact_figure_keeps_its_cents(value: int | None, unit: Unit, text: str) -> None:
    assert exact(value, unit) == text


def test_a_mean_that_rounds_to_zero_has_no_sign() -> None:
    assert rounded(-0.01, Unit.COUNT) == "0.0"
    assert rounded(-49, Unit.CENTS) == "$0"


def test_an_open_band_is_said_in_words() -> None:
    assert ends(None, -1, Unit.CENTS) == "below $0"
    assert ends(None, 500, Unit.CENTS) == "at most 5"
    assert ends(3, None, Unit.COUNT) == "at least 3"
