"""What the TradesBench report published, and the bands in which our world must reproduce it.

The single home of both: every figure with the section of the report it stands in, every band with
how it is judged. Money is in whole cents. This module knows the names of the results' columns and
nothing else: it plays nothing and prints nothing.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum
from typing import Final

ORACLE: Final = "oracle"
ACCEPT_ALL: Final = "accept-all"
REJECT_HEAVY: Final = "reject-heavy"
DO_NOTHING: Final = "do-nothing"
POLICIES: Final = (ORACLE, ACCEPT_ALL, REJECT_HEAVY, DO_NOTHING)
"""The four policies of the report's results."""

DAYS: Final = 14
"""Length of the published runs ("Setup")."""
TUNED_SEEDS: Final = range(23)
"""Seeds the calibrated numbers were tuned on; the report ran 23 as well (A.8)."""
FRESH_SEEDS: Final = range(23, 46)
"""Seeds looked at once, after tuning."""


@dataclass(frozen=True, slots=True)
class Published:
    """One figure of the report.

    Attributes:
        text: as a table shows it.
        section: where the report says so.
        about: of which runs, when not of the oracle's on seed 5.

    """

    text: str
    section: str
    about: str = ""


SEED_FIVE: Final = (
    "the oracle on seed 5 of the report's own world, whose map and draws are not ours"
)
PUBLISHED: Final[dict[str, Published]] = {
    "profit": Published("$30,289.56", "A.8"),
    "lowest_cash": Published("$25,000", "A.8", "its cash never fell below that on seed 5"),
    "bankrupt": Published("0 of 23", "A.8", "the oracle on 23 seeds of the report's world"),
    "calls": Published("~250", "Task", "a well-run company"),
    "completed": Published("147", "A.8"),
    "missed": Published("5", "A.8"),
    "failed": Published("0", "A.8"),
    "cancelled": Published("11", "A.8"),
    "installations": Published("9-13", "Installations", "three models on seed 5: 9, 11 and 13"),
    "weekend_jobs": Published("6, 23", "Weekend work", "two models on seed 5"),
}
"""The report's figures by column, in the order of the results table."""


class Judged(Enum):
    """What of a set of runs must lie in a band."""

    MEAN = "mean"
    EVERY = "every run"
    NOT = "only shown"


@dataclass(frozen=True, slots=True)
class Band:
    """Where a figure of ours must lie.

    Attributes:
        policy: whose runs.
        metric: column of the results, or `fixed_costs`, `bankrupt` (1 or 0), `bankrupt_on`.
        report: what the report says, in a word.
        section: where the report says so.
        judged: whether the mean or every single run must lie in the band.
        low, high: the band, both ends included; None where it is open.

    """

    policy: str
    metric: str
    report: str
    section: str
    judged: Judged
    low: float | None = None
    high: float | None = None


_NOTHING_LEFT: Final = -2_679_000
_FIXED_COSTS: Final = 3_766_400
_A_LOSS: Final = -1

BANDS: Final[tuple[Band, ...]] = (
    Band(ORACLE, "profit", "$30,290", "A.8", Judged.MEAN, 2_700_000, 3_350_000),
    Band(ORACLE, "completed", "147", "A.8", Judged.MEAN, 140, 154),
    Band(ORACLE, "missed", "5", "A.8", Judged.MEAN, 3, 6),
    Band(ORACLE, "failed", "0", "A.8", Judged.EVERY, 0, 0),
    Band(ORACLE, "cancelled", "11", "A.8", Judged.MEAN, 8.5, 13),
    Band(ORACLE, "calls", "about 250", "Task", Judged.MEAN, 240, 265),
    Band(ORACLE, "installations", "9 to 13", "Installations", Judged.MEAN, 9, 14),
    Band(ORACLE, "lowest_cash", "$25,000", "A.8", Judged.NOT),
    Band(ORACLE, "bankrupt", "0 of 23", "A.8", Judged.EVERY, 0, 0),
    Band(ORACLE, "fixed_costs", "$37,664", "Scoring", Judged.EVERY, _FIXED_COSTS, _FIXED_COSTS),
    Band(DO_NOTHING, "bankrupt_on", "by day 10", "Scoring", Judged.EVERY, 10, 10),
    Band(DO_NOTHING, "profit", "a loss", "Scoring", Judged.EVERY, _NOTHING_LEFT, _NOTHING_LEFT),
    Band(ACCEPT_ALL, "profit", "–", "Results", Judged.EVERY, None, _A_LOSS),
    Band(REJECT_HEAVY, "profit", "–", "Results", Judged.EVERY, None, _A_LOSS),
)
"""The rows of the calibration table. A loss of accept-all and reject-heavy is inferred: the report
says that every model made a profit and calls these baselines."""
