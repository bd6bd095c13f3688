"""The tables people read: policies beside the report's figures, and bands with their verdicts.

Layout only. A table fits the console it is made for: what is shown of a figure grows with the room
there is, and policies that do not fit side by side go into tables of their own.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from rich import box
from rich.console import Console
from rich.measure import Measurement
from rich.table import Table
from rich.text import Text

from tradesbench_gym.report import writing
from tradesbench_gym.report.published import PUBLISHED, SEED_FIVE, Band, Judged, Published
from tradesbench_gym.report.statistics import METRICS, Metric, Spread, Unit, Verdict

CALIBRATION_NOTE: Final = (
    "The mean must lie in the band, or every run where it says all. "
    "s.e.: standard error of the mean. "
    "A loss of accept-all and reject-heavy is inferred: we have no published figure of theirs."
)
_VERDICTS: Final = {True: Text("pass", "green"), False: Text("FAIL", "bold red"), None: Text("")}
_WIDE_GAP, _NARROW_GAP = 1, 0
_SECTIONS: Final = (
    ("", ("calls",)),
    (
        "what became of them",
        ("completed", "missed", "failed", "cancelled", "declined", "rejected"),
    ),
    ("of the completed", ("installations", "weekend_jobs")),
)


def calibration_table(title: str, verdicts: Sequence[Verdict], console: Console) -> Table:
    """Bands by policy: the report's figure, ours, its standard error, the band and the verdict."""
    tables = (_calibration(title, verdicts, gap) for gap in (_WIDE_GAP, _NARROW_GAP))
    return _first_that_fits(tables, console)


def _calibration(title: str, verdicts: Iterable[Verdict], gap: int) -> Table:
    table = _grid(title, gap)
    table.add_column("", no_wrap=True)
    for heading in ("report", "mean", "s.e.", "min…max", "band"):
        table.add_column(heading, justify="right", no_wrap=True)
    table.add_column("", no_wrap=True)
    policy = ""
    for verdict in verdicts:
        if verdict.band.policy != policy:
            policy = verdict.band.policy
            table.add_row(Text(policy, "bold"))
        table.add_row(*_judged(verdict))
    return table


def _judged(verdict: Verdict) -> Sequence[str | Text]:
    band, spread = verdict.band, verdict.spread
    metric = METRICS[band.metric]
    if band.metric == "bankrupt":
        mean, error, low_high = _share(spread), "", ""
    elif spread.low == spread.high:
        mean, error = writing.exact(spread.low, metric.unit), ""
        low_high = writing.ends(spread.low, spread.high, metric.unit)
    else:
        mean = writing.rounded(spread.mean, metric.unit)
        error = writing.rounded(spread.error, metric.unit)
        low_high = writing.ends(spread.low, spread.high, metric.unit)
    wanted, verdict_text = _wanted(band, metric.unit), _VERDICTS[verdict.holds]
    return f"  {metric.label}", band.report, mean, error, low_high, wanted, verdict_text


def _share(spread: Spread) -> str:
    return f"{round((spread.mean or 0) * spread.count)} of {spread.count}"


def _wanted(band: Band, unit: Unit) -> str:
    if band.judged is Judged.NOT:
        return ""
    if band.metric == "bankrupt":
        return "none"
    text = writing.ends(band.low, band.high, unit)
    return f"{text}, all" if band.judged is Judged.EVERY else text


@dataclass(frozen=True, slots=True)
class _Detail:
    """What a cell shows of a figure, and the space between columns."""

    deviation: bool
    range: bool
    gap: int


_DETAILS: Final = (
    _Detail(deviation=True, range=True, gap=_WIDE_GAP),
    _Detail(deviation=True, range=False, gap=_WIDE_GAP),
    _Detail(deviation=False, range=False, gap=_WIDE_GAP),
    _Detail(deviation=False, range=False, gap=_NARROW_GAP),
)


def results_tables(
    spreads: Mapping[str, Mapping[str, Spread]], console: Console, *, published: bool
) -> Iterator[Table]:
    """Figures by policy, beside the report's when they are about the same number of days."""
    policies = list(spreads)
    while policies:
        for count in range(len(policies), 0, -1):
            part = {policy: spreads[policy] for policy in policies[:count]}
            table = _first_that_fits(
                (_results(part, detail, published=published) for detail in _DETAILS), console
            )
            if count == 1 or _fits(table, console):
                break
        yield table
        del policies[:count]


def _results(
    spreads: Mapping[str, Mapping[str, Spread]], detail: _Detail, *, published: bool
) -> Table:
    table = _grid("", detail.gap)
    table.add_column("", no_wrap=True)
    if published:
        table.add_column("report", justify="right", no_wrap=True, style="cyan")
    for policy in spreads:
        table.add_column(_heading(policy), justify="right", no_wrap=True, vertical="bottom")
    for label, key, cells in _rows(spreads, detail):
        figures = [_published(key)] if published else []
        table.add_row(label, *figures, *cells)
    return table


def _rows(
    spreads: Mapping[str, Mapping[str, Spread]], detail: _Detail
) -> Iterator[tuple[str | Text, str, list[str]]]:
    every = spreads.values()
    profit = [of["profit"] for of in every]
    cents = Unit.CENTS
    yield Text("profit", "bold"), "", []
    yield "  mean", "profit", [writing.rounded(s.mean, cents) for s in profit]
    yield "  std. deviation", "", [writing.rounded(s.deviation, cents) for s in profit]
    yield "  lowest", "", [writing.rounded(s.low, cents) for s in profit]
    yield "  highest", "", [writing.rounded(s.high, cents) for s in profit]
    yield (
        "lowest cash",
        "lowest_cash",
        [writing.rounded(of["lowest_cash"].low, cents) for of in every],
    )
    yield "bankrupt runs", "bankrupt", [_share(of["bankrupt"]) for of in every]
    days = [of["bankrupt_on"] for of in every]
    yield "  on day", "", [writing.ends(s.low, s.high, Unit.COUNT) for s in days]
    for title, keys in _SECTIONS:
        if title:
            yield Text(title, "bold"), "", []
        for key in keys:
            metric = METRICS[key]
            label = f"  {metric.label}" if title else metric.label
            yield label, key, [_cell(of[key], metric, detail) for of in every]


def _cell(spread: Spread, metric: Metric, detail: _Detail) -> str:
    text = writing.rounded(spread.mean, metric.unit)
    if spread.low == spread.high:
        return text
    if detail.deviation and spread.deviation is not None:
        text += f" ± {writing.rounded(spread.deviation, metric.unit)}"
    if detail.range:
        text += f"  {writing.ends(spread.low, spread.high, metric.unit):>7}"
    return text


def _heading(policy: str) -> str:
    name, colon, settings = policy.partition(":")
    return "\n".join([name + colon, *settings.split(",")]) if settings else policy


_NOTED: Final = list(dict.fromkeys(figure.about for figure in PUBLISHED.values()))
"""What the figures are about, in the order of their notes."""


def _published(key: str) -> str:
    figure: Published | None = PUBLISHED.get(key)
    return "" if figure is None else f"{figure.text} {_mark(figure)}"


def _mark(figure: Published) -> str:
    return "abcdefgh"[_NOTED.index(figure.about)]


def published_notes() -> list[str]:
    """Notes under the report's column: what each figure is about, and where the report says it."""
    notes = []
    for about in _NOTED:
        figures = [figure for figure in PUBLISHED.values() if figure.about == about]
        sections = ", ".join(dict.fromkeys(figure.section for figure in figures))
        notes.append(f"{_mark(figures[0])}  {about or SEED_FIVE} ({sections})")
    return notes


def _grid(title: str, gap: int) -> Table:
    return Table(
        title=title or None,
        box=box.SIMPLE_HEAD,
        padding=(0, gap, 0, 0),
        show_edge=False,
        pad_edge=False,
        title_justify="left",
        title_style="bold",
    )


def _first_that_fits(tables: Iterable[Table], console: Console) -> Table:
    """The first table that fits, or the last one, which has to be folded."""
    for table in tables:
        if _fits(table, console):
            return table
    return table


def _fits(table: Table, console: Console) -> bool:
    options = console.options.update(max_width=10_000)
    return Measurement.get(console, options, table).maximum <= console.width
