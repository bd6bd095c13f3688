"""What happened: the engine's events as typed values with the names of the trade."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from tradesbench_gym.core.codes import Entry, Kind
from tradesbench_gym.core.layout import DAY_SECONDS


@dataclass(frozen=True, slots=True)
class Event:
    """One thing that happened.

    Attributes:
        at: seconds since the start of the run.
        kind: what.
        call: number of the call or job, from 1; None where none is meant.
        technician: index; None where none is meant.
        day, window: booked (or declined) service day and window of the call, from 0.
        entry: kind of ledger row, for `Kind.LEDGER`.
        cents: amount of a ledger row, negative for a cost.

    """

    at: int
    kind: Kind
    call: int | None = None
    technician: int | None = None
    day: int | None = None
    window: int | None = None
    entry: Entry | None = None
    cents: int | None = None

    def as_dict(self) -> dict[str, Any]:
        """Plain values for JSON: enums by name in lower case, absent fields left out."""
        plain = {key: value for key, value in asdict(self).items() if value is not None}
        for key in ("kind", "entry"):
            if key in plain:
                plain[key] = getattr(self, key).name.lower()
        return plain

    def __str__(self) -> str:
        day, second = divmod(self.at, DAY_SECONDS)
        time = f"{second // 3600:02}:{second // 60 % 60:02}:{second % 60:02}"
        said = f"day {day + 1} {time} {self.kind.name.lower()}"
        more = {k: v for k, v in self.as_dict().items() if k not in ("at", "kind")}
        return said + "".join(f" {key}={value}" for key, value in more.items())


def read_events(rows: npt.NDArray[np.void]) -> Iterator[Event]:
    """The events of rows of dtype EVENT, in the order in which they happened."""
    for row in rows.tolist():
        amount, at, call, kind, technician, entry, day, window = row
        ledger = kind == Kind.LEDGER
        yield Event(
            at=at,
            kind=Kind(kind),
            call=None if call < 0 else call + 1,
            technician=None if technician < 0 else technician,
            day=None if day < 0 else day,
            window=None if window < 0 else window,
            entry=Entry(entry) if ledger else None,
            cents=amount if ledger else None,
        )
