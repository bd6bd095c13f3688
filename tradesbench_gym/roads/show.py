"""How maps are shown in a terminal: tables that fit 80 columns. It computes nothing."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

from rich.box import SIMPLE_HEAD
from rich.table import Table

from tradesbench_gym.roads.circuity import Band

LONGEST_NAME: Final = 16


def zone_table(zones: Sequence[dict[str, Any]]) -> Table:
    """The service zones; kinds of customer by their initials, so that names stay whole."""
    table = Table(
        title="Service zones",
        caption="res. homes, apt. flats, com. businesses",
        box=SIMPLE_HEAD,
        padding=(0, 1, 0, 0),
        pad_edge=False,
    )
    table.add_column("", justify="right")
    table.add_column("name", overflow="fold")
    table.add_column("centre", no_wrap=True)
    for heading in ("%", "addresses", "res.", "apt.", "com."):
        table.add_column(heading, justify="right", no_wrap=True)
    for zone in zones:
        counts = [f"{zone[k]:,}" for k in ("addresses", "residential", "apartment", "commercial")]
        centre = f"{zone['lat']:.2f}, {zone['lon']:.2f}"
        table.add_row(
            str(zone["zone"]), _breakable(zone["name"]), centre, f"{zone['share']:g}", *counts
        )
    return table


def _breakable(name: str) -> str:
    """A long name on several lines, broken where it lists places."""
    return name if len(name) <= LONGEST_NAME else name.replace("/", "/\n")


def circuity_table(bands: Sequence[Band]) -> Table:
    """Road ÷ straight line by distance."""
    table = Table(title="Road over straight line, anchor to anchor")
    table.add_column("straight line", no_wrap=True)
    for heading in ("pairs", "10 %", "median", "90 %", "shorter"):
        table.add_column(heading, justify="right", no_wrap=True)
    for band in bands:
        ratios = (f"{value:.3f}" for value in (band.p10, band.median, band.p90))
        table.add_row(band.label, f"{band.pairs:,}", *ratios, f"{band.shorter:,}")
    return table


def comparison_table(facts: dict[str, Any]) -> Table:
    """Two profiles of `compare` side by side."""
    first, second = facts["maps"]
    table = Table("", title="Two maps")
    for position, each in (("A", first), ("B", second)):
        table.add_column(f"{position}: {each['name']}", justify="right", overflow="fold")
    rows = [
        ("routing engine", "engine"), ("addresses", "addresses"), ("anchors", "anchors"),
        ("service zones", "zones"), ("junctions and bends", "junctions"), ("road km", "road_km"),
        ("one-way, % of road km", "one_way_per_cent"),
        ("metres to the anchor, median", "leg_metres_median"),
        ("metres to the anchor, 95 %", "leg_metres_95"),
        ("pairs longer one way, %", "asymmetric_per_cent"),
        ("pairs without a way", "unreachable_pairs"),
        ("road ÷ straight line, median", "circuity_median"),
    ]  # fmt: skip
    for label, key in rows:
        table.add_row(label, shown(first[key]), shown(second[key]))
    table.add_section()
    for quantile in first["quantiles_km"]:
        label = f"km by road, {float(quantile):.0%} of pairs below"
        values = [each["quantiles_km"][quantile] for each in (first, second)]
        table.add_row(label.replace("100% of pairs below", "longest"), *map(shown, values))
    table.add_section()
    medians = [{b["band"]: b["median"] for b in each["circuity"]} for each in (first, second)]
    for band in max((first, second), key=lambda each: len(each["circuity"]))["circuity"]:
        ratios = [m.get(band["band"]) for m in medians]
        shown_ratios = ["-" if r is None else f"{r:.3f}" for r in ratios]
        table.add_row(f"road ÷ straight line, {band['band']}", *shown_ratios)
    return table


def differences_text(pairs: dict[str, Any] | None) -> str:
    """One paragraph on two matrices of the same anchors."""
    if pairs is None:
        return "The maps have different anchors: their distances compare only as a whole."
    text = (
        f"Same anchors: of {pairs['pairs']:,} distances half differ by less than "
        f"{pairs['median']:.2%}, all but 1 in 100 by less than {pairs['p99']:.1%}."
    )
    if pairs["far_pairs"]:
        text += (
            f" Of the {pairs['far_pairs']:,} over 2 km apart {pairs['far_over_a_quarter']:,} "
            f"differ by more than 25 %, the largest by {pairs['far_largest']:.0%}."
        )
    return text


def shown(value: Any) -> str:
    """A value as people read it: thousands set apart, nothing as a dash."""
    if value is None:
        return "-"
    return f"{value:,}" if isinstance(value, int) else str(value)
