"""What happened since the last call, in sentences, read off two looks at the dispatcher's desk.

Everything is compared with what was last shown and nothing with the clock, so that nothing is told
twice and nothing is lost, whatever falls into one second. It asks for no events: those belong to
whoever takes them.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from tradesbench_gym.company.refusals import window_text
from tradesbench_gym.core.codes import CallState
from tradesbench_gym.core.layout import DAY_SECONDS, NONE
from tradesbench_gym.envs.wording import Office, clock, dollars

_MINUTE = 60


@dataclass(frozen=True)
class Shown:
    """What the last prompt showed of the run.

    Attributes:
        states: of each call then.
        line: index of the call that was on the line; -1 if none was.
        day: service day.

    """

    states: npt.NDArray[Any]
    line: int
    day: int


def shown_of(office: Office) -> Shown:
    """What is to be remembered of a prompt."""
    return Shown(office.calls["state"].copy(), int(office.desk["line"]), office.today)


def answer_line(office: Office, call: int) -> str:
    """What became of the answer to a call, by its index."""
    row = office.calls[call]
    state = CallState(int(row["state"]))
    name = f"call {call + 1}"
    if state == CallState.REJECTED:
        return f"{name}: you rejected it"
    if state == CallState.UNANSWERED:
        return f"{name}: unanswered, which counts as rejected"
    said = "declined it; the call is over" if state == CallState.DECLINED else "accepted"
    more = "" if state == CallState.DECLINED else f", and it is job {call + 1}"
    return f"{name}: you offered {slot(office, row)}; the customer {said}{more}"


def news(office: Office, before: Shown) -> list[str]:
    """One sentence for each thing that happened since the last prompt, the oldest first."""
    told = [(int(at), order, text) for order, (at, text) in enumerate(_happened(office, before))]
    lines = [] if before.line < 0 else [answer_line(office, before.line)]
    return [*lines, *(text for _, _, text in sorted(told))]


def slot(office: Office, row: Any) -> str:
    """Technician, day and window of a call that has them: `marcus, Thu 10-01 09:00-11:00`."""
    day = office.business.date_of(int(row["day"]))
    key = office.business.scenario.technicians[int(row["technician"])].key
    return f"{key}, {day:%a %m-%d} {window_text(office.business, int(row['window']))}"


def _happened(office: Office, before: Shown) -> Iterator[tuple[int, str]]:
    states = office.calls["state"]
    then = np.full(len(states), int(CallState.RINGING), states.dtype)
    then[: len(before.states)] = before.states
    over = np.isin(states, _ENDS) & (states != then)
    for job in np.flatnonzero(over).tolist():
        row = office.calls[job]
        at = int(row["ended"])
        when = clock(at)
        if at // DAY_SECONDS != office.clock // DAY_SECONDS:
            when = f"{office.business.date_of(at // DAY_SECONDS):%a} {when}"
        yield at, f"{when} job {job + 1} {_TOLD[CallState(int(row['state']))](office, row)}"
    for day in range(before.day, office.today + 1):
        closed = int(office.desk["days"][day]["closed_at"])
        if closed != NONE:
            yield closed, _day_line(office, day)


def _done(office: Office, row: Any) -> str:
    drove = (int(row["arrived"]) - int(row["departed"])) // _MINUTE
    worked = (int(row["ended"]) - int(row["started"])) // _MINUTE
    return (
        f"done by {_who(office, row)}: {office.service(int(row['service']))}, "
        f"invoice {dollars(int(row['invoice']))}, material {dollars(int(row['material']))}; "
        f"drove {drove} min, worked {worked} min"
    )


def _missed(office: Office, row: Any) -> str:
    window = window_text(office.business, int(row["window"]))
    return f"missed: {_who(office, row)} had not begun when the window {window} closed"


def _failed(office: Office, row: Any) -> str:
    service = office.service(int(row["service"]))
    return f"failed: {_who(office, row)} came for {service} and could not do it"


def _cancelled(office: Office, row: Any) -> str:
    return f"cancelled by its customer ({slot(office, row)})"


_TOLD = {
    CallState.DONE: _done,
    CallState.MISSED: _missed,
    CallState.FAILED: _failed,
    CallState.CANCELLED: _cancelled,
}
_ENDS = [int(state) for state in _TOLD]


def _who(office: Office, row: Any) -> str:
    return office.business.scenario.technicians[int(row["technician"])].key


def _day_line(office: Office, day: int) -> str:
    row = office.desk["days"][day]
    counts = ", ".join(f"{int(row[name])} {name}" for name in ("done", "missed", "failed"))
    return (
        f"{office.business.date_of(day):%a %m-%d} closed at {clock(int(row['closed_at']))}: "
        f"{int(row['calls'])} calls, {int(row['booked'])} booked; jobs: {counts}; "
        f"{int(row['cancelled'])} cancellations; cash {dollars(int(row['cash']))}"
    )
