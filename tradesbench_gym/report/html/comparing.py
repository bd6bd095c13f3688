"""Several runs beside each other: figures by name, and differences seed by seed.

Runs go by the name of who played them; only runs that are over, and only of the same draws (seed,
salt, scenario, map, dates, rules), are paired. It makes rows of text and one figure.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from tradesbench_gym.core.codes import Entry
from tradesbench_gym.report import writing
from tradesbench_gym.report.html.facts import Run
from tradesbench_gym.report.html.palette import NAMES, SHAPES, Figure, lines, said
from tradesbench_gym.report.html.words import money
from tradesbench_gym.report.pairing import Difference, difference
from tradesbench_gym.report.runs import Played
from tradesbench_gym.report.statistics import METRICS, Metric, Unit

COMPARED = (
    "profit", "lowest_cash", "completed", "missed", "failed", "cancelled", "declined", "rejected",
    "installations", "weekend_jobs",
)  # fmt: skip
_FIXED = (Entry.BASE_PAY, Entry.ON_CALL_PAY, Entry.OVERHEAD)
_CENTS = 100
_NONE = "–"


@dataclass(frozen=True, slots=True)
class Paired:
    """One name against the first: the pairs there are, and a cell for each figure compared."""

    name: str
    count: int
    cells: tuple[str, ...]


def played_of(run: Run) -> Played:
    """A run as the tables of results take it."""
    fixed = -sum(payment.cents for payment in run.payments if payment.entry in _FIXED)
    return Played(run.name, run.results, fixed)


def names_of(runs: Iterable[Run]) -> list[str]:
    """The names runs go by, in the order in which they first come."""
    return list(dict.fromkeys(run.name for run in runs))


def pairs_of(runs: Sequence[Run]) -> list[Paired]:
    """Every other name against the first."""
    first, *others = names_of(runs)
    found = []
    for name in others:
        gaps = [_gap(runs, name, first, METRICS[key]) for key in COMPARED]
        count = max((gap.count for gap in gaps if gap is not None), default=0)
        cells = tuple(_cell(gap, METRICS[key]) for key, gap in zip(COMPARED, gaps, strict=True))
        found.append(Paired(name, count, cells))
    return found


def _gap(runs: Sequence[Run], name: str, other: str, metric: Metric) -> Difference | None:
    return difference(_by_draws(runs, name, metric), _by_draws(runs, other, metric))


def _by_draws(runs: Sequence[Run], name: str, metric: Metric) -> dict[Hashable, list[float]]:
    found: dict[Hashable, list[float]] = {}
    for run in runs:
        value = metric.of(played_of(run))
        if run.name == name and run.ended and value is not None:
            found.setdefault(run.pairing, []).append(value)
    return found


def _cell(gap: Difference | None, metric: Metric) -> str:
    if gap is None:
        return _NONE
    text = _signed(gap.mean, metric.unit)
    if gap.low is None or gap.high is None:
        return text
    return f"{text} [{_signed(gap.low, metric.unit)}, {_signed(gap.high, metric.unit)}]"


def _signed(value: float, unit: Unit) -> str:
    text = writing.rounded(value, unit)
    return f"+{text}" if value > 0 and any(c in text for c in "123456789") else text


def profit_figure(runs: Sequence[Run]) -> Figure:
    """Profit of every run that is over, by seed: one symbol and colour a name."""
    over = [run for run in runs if run.ended]
    seeds = sorted({run.seed for run in over})
    place = {seed: index for index, seed in enumerate(seeds)}
    names = names_of(runs)
    data: list[dict[str, Any]] = []
    for index, name in enumerate(names):
        colour, symbol = NAMES[index % len(NAMES)]
        mine = [run for run in over if run.name == name]
        shift = 0.0 if len(names) == 1 else 0.3 * (index / (len(names) - 1) - 0.5)
        edge = {"color": "#ffffff", "width": 0.8}
        data.append(
            {
                "type": "scatter",
                "mode": "markers",
                "name": said(name),
                "x": [place[run.seed] + shift for run in mine],
                "y": [run.results.profit / _CENTS for run in mine],
                "marker": {"color": colour, "symbol": symbol, "size": 11, "line": edge},
                "customdata": [_hover(run) for run in mine],
                "hovertemplate": "%{customdata}<extra></extra>",
            }
        )
    layout = {
        "height": 320,
        "xaxis": {
            "title": {"text": "seed of the run"},
            "tickvals": list(range(len(seeds))),
            "ticktext": [str(seed) for seed in seeds],
            "range": [-0.6, len(seeds) - 0.4],
        },
        "yaxis": {"title": {"text": "profit ($)"}, "tickformat": "$~s", "zeroline": True},
    }  # fmt: skip
    return {"data": data, "layout": layout}


def _hover(run: Run) -> str:
    profit = money(run.results.profit, sign=True)
    return lines(f"<b>{said(run.name)}</b>, seed {run.seed}", f"profit {profit}")


def legend_of_names(runs: Sequence[Run]) -> list[dict[str, str]]:
    """What the page's own legend shows of the names."""
    found = []
    for index, name in enumerate(names_of(runs)):
        colour, symbol = NAMES[index % len(NAMES)]
        found.append({"word": name, "colour": colour, "sign": SHAPES[symbol], "hatch": ""})
    return found
