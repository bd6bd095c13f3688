"""The colours of a page and the look of its figures, light and dark.

Data has the same colours in both: Okabe and Ito's, which colour-blind readers tell apart, and never
colour alone. Text, grids and grounds come from a template for each scheme. It knows Plotly's words
for a look, and no figure.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from html import escape
from typing import Any, Final, TypeAlias

from tradesbench_gym.core.codes import CallState, Entry
from tradesbench_gym.report.html.facts import Doing

Figure: TypeAlias = dict[str, Any]
"""A figure as Plotly takes it: `data` and `layout`, plain values."""

BLUE: Final = "#0072b2"
SKY: Final = "#56b4e9"
GREEN: Final = "#009e73"
ORANGE: Final = "#e69f00"
VERMILLION: Final = "#d55e00"
PURPLE: Final = "#cc79a7"
YELLOW: Final = "#f0e442"
GREY: Final = "#8b929b"
EDGE: Final = "#6b727b"
"""Around marks, to be seen on either ground."""


@dataclass(frozen=True, slots=True)
class Look:
    """How one thing is shown: in words, a colour, a sign beside it, a Plotly symbol, a hatching."""

    word: str
    colour: str
    sign: str = ""
    symbol: str = "circle"
    hatch: str = ""


STATES: Final[dict[CallState, Look]] = {
    CallState.BOOKED: Look("booked", GREY, "○", "circle-open"),
    CallState.DRIVING: Look("on the way", ORANGE, "→", "triangle-right"),
    CallState.WAITING: Look("waits on site", YELLOW, "…", "triangle-up"),
    CallState.WORKING: Look("at work", SKY, "●", "circle"),
    CallState.DONE: Look("done", GREEN, "✓", "square"),
    CallState.MISSED: Look("missed", VERMILLION, "✗", "x"),
    CallState.FAILED: Look("failed visit", PURPLE, "!", "diamond", "x"),
    CallState.CANCELLED: Look("cancelled", GREY, "−", "line-ew", "/"),
}
"""A job's state, wherever it is shown."""

DOINGS: Final[dict[Doing, Look]] = {
    Doing.DRIVE: Look("drive", ORANGE),
    Doing.WAIT: Look("waits for the window", YELLOW, hatch="."),
}

FATES: Final[dict[CallState, Look]] = {
    CallState.DONE: Look("done", GREEN),
    CallState.MISSED: Look("missed", VERMILLION),
    CallState.FAILED: Look("failed visit", PURPLE, hatch="x"),
    CallState.CANCELLED: Look("cancelled", GREY, hatch="/"),
    CallState.BOOKED: Look("booked, not yet worked", SKY),
    CallState.DECLINED: Look("offer declined", ORANGE, hatch="\\"),
    CallState.REJECTED: Look("rejected", YELLOW, hatch="."),
    CallState.UNANSWERED: Look("unanswered", "#ffffff", hatch="x"),
}
"""What became of a call, by the state that stands for it."""

ENTRIES: Final[dict[Entry, Look]] = {
    Entry.INVOICE: Look("invoices", GREEN),
    Entry.PREMIUM: Look("off-hours premium", SKY, hatch="/"),
    Entry.MATERIAL: Look("material", VERMILLION),
    Entry.SHARE: Look("technicians' share", PURPLE, hatch="/"),
    Entry.OVERTIME: Look("overtime", YELLOW, hatch="x"),
    Entry.BASE_PAY: Look("base pay", BLUE),
    Entry.ON_CALL_PAY: Look("on-call pay", ORANGE, hatch="\\"),
    Entry.OVERHEAD: Look("overhead", GREY),
}
"""Kinds of ledger rows: money in first, then money out."""

TECHNICIANS: Final = (BLUE, VERMILLION, GREEN, PURPLE, ORANGE, SKY, GREY, YELLOW)
NAMES: Final = (
    (BLUE, "circle"), (VERMILLION, "square"), (GREEN, "diamond"), (PURPLE, "triangle-up"),
    (ORANGE, "cross"), (SKY, "star"), (GREY, "triangle-down"), (YELLOW, "triangle-left"),
)  # fmt: skip
"""Colour and symbol of each name that runs go by."""


SHAPES: Final = {
    "circle": "●", "circle-open": "○", "square": "■", "diamond": "◆", "x": "✖", "line-ew": "−",
    "cross": "✚", "star": "★", "triangle-up": "▲", "triangle-down": "▼", "triangle-left": "◀",
    "triangle-right": "▶",
}  # fmt: skip
"""Plotly's symbols as signs of a text."""


def _template(paper: str, ink: str, faint: str, grid: str, accent: str) -> dict[str, Any]:
    axis = {
        "gridcolor": grid,
        "linecolor": faint,
        "tickcolor": faint,
        "zerolinecolor": faint,
        "zeroline": False,
        "automargin": True,
        "title": {"standoff": 8, "font": {"size": 12}},
    }
    return {
        "layout": {
            "paper_bgcolor": "rgba(0,0,0,0)",
            "plot_bgcolor": "rgba(0,0,0,0)",
            "font": {"color": ink, "size": 12, "family": "system-ui, sans-serif"},
            "xaxis": axis,
            "yaxis": axis,
            "colorway": [accent],
            "hoverlabel": {
                "bgcolor": paper,
                "bordercolor": faint,
                "font": {"color": ink},
                "align": "left",
            },
            "margin": {"l": 8, "r": 8, "t": 12, "b": 8},
            "dragmode": False,
            "showlegend": False,
            "hovermode": "closest",
            "bargap": 0.25,
        }
    }


TEMPLATES: Final = {
    "light": _template("#ffffff", "#1d2329", "#8b929b", "#e3e6ea", BLUE),
    "dark": _template("#1b2026", "#e4e8ec", "#8b929b", "#323941", SKY),
}


def marker(look: Look) -> dict[str, Any]:
    """How bars of a look are filled."""
    made: dict[str, Any] = {"color": look.colour, "line": {"color": EDGE, "width": 0.6}}
    if look.hatch:
        made["pattern"] = {
            "shape": look.hatch,
            "bgcolor": look.colour,
            "fgcolor": "#22282f",
            "size": 6,
            "solidity": 0.2,
        }
    return made


def said(text: str) -> str:
    """Text out of a file, as a figure may show it: Plotly would read tags in it."""
    return escape(" ".join(text.split()), quote=False)


def lines(*parts: str) -> str:
    """The lines of a hover label, without those that are empty."""
    return "<br>".join(part for part in parts if part)


def legend_of(looks: Sequence[Look]) -> list[dict[str, str]]:
    """What the page's own legend shows of some looks."""
    return [
        {"word": look.word, "colour": look.colour, "sign": look.sign, "hatch": look.hatch}
        for look in looks
    ]


def legend_of_symbols(looks: Sequence[Look]) -> list[dict[str, str]]:
    """The same where looks are shown by their symbols, as on the map."""
    return [
        {"word": look.word, "colour": look.colour, "sign": SHAPES[look.symbol], "hatch": ""}
        for look in looks
    ]
