"""The tables of `tradesbench regret`: the sum by kind, where the money lies, the worst answers.

Layout only, legible at 80 columns; every figure comes ready.
"""

from __future__ import annotations

from collections.abc import Iterator
from math import sqrt
from statistics import stdev

from rich.console import RenderableType
from rich.table import Table
from rich.text import Text

from tradesbench_gym.report.regret.kinds import KINDS, PARTS
from tradesbench_gym.report.regret.prices import Prices
from tradesbench_gym.report.regret.pricing import Price
from tradesbench_gym.report.regret.recorded import Recorded
from tradesbench_gym.report.regret.search import Found
from tradesbench_gym.report.regret.words import Wording
from tradesbench_gym.report.statistics import Unit
from tradesbench_gym.report.writing import exact, rounded

_NOTE = (
    "Against the best answer in hindsight, which knows the draws: a regret is bad luck as much as "
    "a bad answer, and regrets of a run do not add up to what it could have earned (--best)."
)


def prices_page(prices: Prices, worst: int) -> Iterator[RenderableType]:
    """Everything that is shown of the prices of a run."""
    yield _headline(prices)
    yield _summary(prices)
    if prices.by_kind():
        yield _kinds(prices)
        yield _parts(prices)
    if worst and (those := prices.worst(worst)):
        yield _worst(prices, those)
    yield Text(_NOTE, style="dim")


def _headline(prices: Prices) -> Text:
    recorded, ask = prices.recorded, prices.ask
    calls = len(recorded.answers)
    state = "" if recorded.finished else " so far"
    priced = "each" if len(prices.of) == calls else f"{len(prices.of)} of them"
    sample = ask.sample
    answers = "its distinct answers"
    if sample.answers is not None:
        answers = f"up to {sample.answers + 2} of its distinct answers"
    drawn = sample.calls is not None or sample.answers is not None
    by = f" Drawn with seed {sample.seed}." if drawn else ""
    return Text(
        f"Run {recorded.seed}: {calls} calls answered{state}; {priced} priced against the best of "
        f"{answers}, {ask.policy} playing on.{by}"
    )


def _summary(prices: Prices) -> Table:
    recorded, policy = prices.recorded, prices.ask.policy
    table = Table(box=None, show_header=False, pad_edge=False)
    table.add_column()
    table.add_column(justify="right")
    own = "profit of the run" if recorded.finished else "profit of the run so far"
    table.add_row(own, exact(recorded.profit, Unit.CENTS))
    if prices.policy_profit is not None:
        table.add_row(f"profit of {policy} from the first call on", _cents(prices.policy_profit))
    lost = [price.regret for price in prices.of]
    table.add_row("answers that another would have bettered", _share(prices))
    if lost:
        table.add_row("regret of an answer, mean", rounded(sum(lost) / len(lost), Unit.CENTS))
    if lost and len(lost) < len(recorded.answers):
        table.add_row("    standard error of the sample", _standard_error(prices, lost))
    if prices.ask.sample.answers is not None:
        table.add_row("    a lower bound: not every answer was tried", "")
    table.add_row("branches played", f"{prices.branches:,}")
    return table


def _share(prices: Prices) -> str:
    return f"{sum(price.regret > 0 for price in prices.of)} of {len(prices.of)}"


def _standard_error(prices: Prices, lost: list[int]) -> str:
    if len(lost) < 2:
        return "–"
    left_out = 1 - len(lost) / len(prices.recorded.answers)
    return rounded(stdev(lost) / sqrt(len(lost)) * sqrt(left_out), Unit.CENTS)


def _cents(value: float) -> str:
    return exact(value, Unit.CENTS)


def _kinds(prices: Prices) -> Table:
    table = _grid("What was lost, by kind of answer")
    for heading in ("calls", "lost", "mean", "most"):
        table.add_column(heading, justify="right")
    for kind, those in prices.by_kind().items():
        lost = [price.regret for price in those]
        figures = (sum(lost), sum(lost) / len(lost), max(lost))
        table.add_row(KINDS[kind], str(len(lost)), *(rounded(f, Unit.CENTS) for f in figures))
    table.add_section()
    bettered = [price for price in prices.of if price.regret > 0]
    table.add_row("sum", str(len(bettered)), rounded(prices.regret, Unit.CENTS))
    return table


def _parts(prices: Prices) -> Table:
    table = _grid("Where that money lies")
    table.add_column("lost", justify="right")
    for part, cents in prices.by_part().items():
        if cents:
            table.add_row(PARTS[part], rounded(cents, Unit.CENTS))
    table.add_section()
    table.add_row("sum", rounded(prices.regret, Unit.CENTS))
    return table


def _grid(title: str) -> Table:
    table = Table(title=title, title_justify="left", title_style="bold", box=None, pad_edge=False)
    table.add_column("")
    return table


def _worst(prices: Prices, those: list[Price]) -> Table:
    say = Wording(prices.recorded)
    table = Table(
        title="The answers that lost most",
        title_justify="left",
        title_style="bold",
        box=None,
        pad_edge=False,
        padding=(0, 1, 0, 0),
        collapse_padding=True,
    )
    table.add_column("call", justify="right", no_wrap=True)
    table.add_column("at", no_wrap=True)
    table.add_column("asked for\n  why it lost", no_wrap=True)
    table.add_column("answer\n  best", no_wrap=True)
    table.add_column("lost", justify="right", no_wrap=True)
    for price in those:
        became = price.comparison.became
        table.add_row(
            str(price.call + 1),
            say.when(price.call),
            f"{say.wanted(price.call)}\n  {KINDS[price.kind]}",
            f"{say.answer(price.call, price.answer, became[0])}\n"
            f"  {say.answer(price.call, price.best, became[1])}",
            rounded(price.regret, Unit.CENTS),
        )
    return table


def best_page(recorded: Recorded, found: Found) -> Iterator[RenderableType]:
    """Everything that is shown of the best run found."""
    yield Text(
        f"Run {recorded.seed}: the best that {found.branches:,} branches of search found, needing "
        "hindsight: no dispatcher knows the draws it was chosen by."
    )
    table = Table(box=None, show_header=False, pad_edge=False)
    table.add_column()
    table.add_column(justify="right")
    table.add_row("profit of the recorded run", _cents(found.recorded))
    table.add_row("profit of the oracle", _cents(found.oracle))
    table.add_row("best profit found, in hindsight", _cents(found.profit), style="bold")
    table.add_row("headroom of the recorded run", _cents(found.headroom))
    table.add_row("times no single change helped", str(found.settled))
    yield table
    yield Text(
        "A lower bound of what the draws allow: more time may find more. It is no mark that a "
        "policy could reach.",
        style="dim",
    )
