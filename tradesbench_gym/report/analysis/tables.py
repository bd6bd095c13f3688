"""The tables of an analysis, each within 80 columns: the gap, who accepted, the risk taken, the
misses. Layout only.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from rich import box
from rich.table import Table

from tradesbench_gym.company.business import Business
from tradesbench_gym.company.refusals import window_text
from tradesbench_gym.report import writing
from tradesbench_gym.report.analysis.acceptance import Bucket
from tradesbench_gym.report.analysis.bookings import Booking, Miss, SlackBucket
from tradesbench_gym.report.analysis.gap import PARTS, Gap, Row
from tradesbench_gym.report.statistics import Unit

_MINUTE = 60
_CENTS = 100
_LONG_NAME = 8

SLACK_NOTE = (
    "slack: least time to spare of the technician's day by the oracle's plan when the job was "
    "booked; chance of a miss: as a dispatcher could tell then, from handbook, map and what had "
    "happened so far; missed: of the jobs done or missed."
)
ACCEPTANCE_NOTE = (
    "rule: mean chance of these very offers by the scenario's own rule, which nobody who plays can "
    "see; 95 %: Wilson's interval of the rate."
)


def gap_table(gaps: Sequence[Gap], name: str, other: str) -> Table:
    """Where the difference lies; the mean where there are several gaps."""
    they = other if len(other) <= _LONG_NAME else "other"
    heads = ("calls", "done", f"{they}'s", f"{name}, $", f"{they}, $", "more, $")
    table = _grid("Where the difference comes from", *heads, gap=0)  # room for six figures
    for part, (label, _) in PARTS.items():
        row = _sum(gap.rows[part] for gap in gaps)
        if row != Row():
            table.add_row(label, *_figures(row, len(gaps)))
    table.add_section()
    table.add_row("profit", *_figures(_sum(gap.total for gap in gaps), len(gaps)), style="bold")
    return table


def _sum(rows: Iterator[Row]) -> Row:
    found = Row()
    for row in rows:
        found = found.plus(row)
    return found


def _figures(row: Row, runs: int) -> Iterator[str]:
    for count in (row.calls, row.done, row.done_there):
        yield writing.exact(count, Unit.COUNT) if runs == 1 else f"{count / runs:,.1f}"
    for cents in (row.cents, row.cents_there, row.difference):
        yield (
            dollars_and_cents(cents)
            if runs == 1
            else writing.rounded(cents / runs, Unit.CENTS).replace("$", "")
        )


def dollars_and_cents(cents: int) -> str:
    """Always with cents, so that a column adds up by eye.

    >>> dollars_and_cents(-2_679_000)
    '−26,790.00'
    """
    return writing.signed(f"{abs(cents) / _CENTS:,.2f}", cents)


def gap_note() -> str:
    """The rule of each part, in the order in which they are tried."""
    order = "each call is in the first part that fits"
    rules = "; ".join(f"{label}: {rule}" for label, rule in PARTS.values())
    return f"{order}. {rules}."


def acceptance_table(buckets: Sequence[Bucket]) -> Table:
    """Who accepted what, by how far ahead."""
    table = _grid(
        "Who accepted, by how far ahead", "", "offers", "accepted", "rate", "95 %", "rule"
    )
    asked = None
    for bucket in buckets:
        low, high = bucket.interval
        table.add_row(
            bucket.asked.value if bucket.asked != asked else "",
            bucket.lead,
            str(bucket.offers),
            str(bucket.accepted),
            _percent(bucket.rate),
            f"{100 * low:.0f}–{100 * high:.0f} %",
            _percent(bucket.expected),
        )
        asked = bucket.asked
    return table


def slack_table(buckets: Sequence[SlackBucket]) -> Table:
    """The risk taken at the bookings, and what came of them."""
    heads = ("bookings", "done", "missed", "other", "missed, share", "chance then")
    table = _grid("The risk taken at each booking, by slack", *heads)
    for bucket in buckets:
        table.add_row(
            bucket.slack,
            str(bucket.bookings),
            str(bucket.kept),
            str(bucket.missed),
            str(bucket.bookings - bucket.kept - bucket.missed),
            _percent(bucket.share),
            _percent(bucket.risk),
        )
    return table


def misses_table(business: Business, missed: Sequence[Miss]) -> Table:
    """The missed jobs, each with the tightest booking made onto its day afterwards."""
    heads = ("day", "technician", "window", "slack", "chance", "tightest later")
    table = _grid("The missed jobs", *heads)
    for miss in missed:
        booking, later = miss.booking, miss.tightest
        table.add_row(
            f"call {booking.offer.call}",
            str(booking.day + 1),
            business.scenario.technicians[booking.offer.technician].name,
            window_text(business, booking.offer.window),
            _minutes(booking),
            _percent(booking.offer.weight.miss),
            writing.NONE if later is None else f"call {later.offer.call}, {_minutes(later)}",
        )
    return table


def _minutes(booking: Booking) -> str:
    slack = booking.offer.weight.slack
    if slack is None:
        return writing.NONE
    return f"{writing.signed(str(abs(slack) // _MINUTE), slack)} min"


def _percent(share: float | None) -> str:
    return writing.NONE if share is None else f"{100 * share:.0f} %"


def _grid(title: str, *heads: str, gap: int = 1) -> Table:
    table = Table(
        title=title,
        box=box.SIMPLE_HEAD,
        padding=(0, gap, 0, 0),
        show_edge=False,
        pad_edge=False,
        title_justify="left",
        title_style="bold",
    )
    table.add_column("", no_wrap=True)
    for head in heads:
        table.add_column(head, justify="right" if head else "left", no_wrap=True)
    return table
