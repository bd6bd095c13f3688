"""What one call's chances came from: identity, words, threshold and outcome of each of its events.

For auditors. It reads a run that has been played, draws the words anew and works the outcome out
in plain whole numbers, by the letter of A.1-A.3, A.6 and A.9 of the report and apart from the
compiled rules, so that a test can hold the two against each other. It changes nothing.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from tradesbench_gym.company.simulation import Simulation
from tradesbench_gym.core import draws
from tradesbench_gym.core.codes import CallState, Condition
from tradesbench_gym.core.draws import Event, Explanation, Word, below, div_round
from tradesbench_gym.core.layout import DAY_SECONDS, NONE
from tradesbench_gym.core.rules import calendar
from tradesbench_gym.errors import StateError

_MINUTE = 60
_HOUR = 3_600
_UNIT = 10_000
_THOUSANDTHS = 1_000
_LATER = 2


@dataclass(frozen=True)
class CallEvent:
    """One event of one call.

    Attributes:
        drawn: identity, words and, where a chance was asked, threshold and answer.
        asked: what the words were asked, in a sentence.
        outcome: what came of it, by name: whole numbers (s, cents, thousandths) and yes or no.

    """

    drawn: Explanation
    asked: str
    outcome: dict[str, int | bool]

    def as_dict(self) -> dict[str, Any]:
        """Plain values for JSON; words and thresholds as text, too large for many readers."""
        drawn = self.drawn
        return {
            "event": drawn.event.name.lower(),
            "identity": drawn.identity,
            "words": {name: str(word) for name, word in drawn.words.items()},
            "threshold": None if drawn.threshold is None else str(drawn.threshold),
            "probability": drawn.probability,
            "happened": drawn.happened,
            "asked": self.asked,
            "outcome": self.outcome,
        }


def explain_call(simulation: Simulation, number: int) -> list[CallEvent]:
    """Every event of a call that the run has asked for so far, in the order in which it does.

    The answer if an offer was made, then of a job the cancellation, the drive once he has set off,
    and the visit once work has begun.

    Raises:
        StateError: no call of this number has rung.

    """
    rung = int(simulation.record["n_calls"])
    if not 1 <= number <= rung:
        raise StateError(
            f"there is no call {number}: the run has had calls 1 to {rung}",
            code="unknown_call",
            field="call",
        )
    case = _Case(simulation, number - 1)
    call = case.call
    if call["technician"] == NONE:
        return []
    told = [_answer(case)]
    if call["state"] != CallState.DECLINED:
        told.append(_cancellation(case))
        if call["departed"] != NONE:
            told.append(_drive(case))
        if call["started"] != NONE:
            told.append(_visit(case))
    return told


class _Case:
    """A call with the run and the numbers that its events are held against."""

    def __init__(self, simulation: Simulation, index: int) -> None:
        self.run = simulation.record
        self.params = simulation.business.params[0]
        self.book = self.params["handbook"]
        self.call = self.run["calls"][index]
        self.day, self.window = int(self.call["day"]), int(self.call["window"])
        self.offered_at = int(self.call["rang_at"])  # the clock stands while a call is on the line
        self.opens = self.day * DAY_SECONDS + int(self.book["opens"][self.window])
        self.lead = (self.opens - self.offered_at) // _MINUTE
        self.service = int(self.call["service"])

    def drawn(self, event: Event, threshold: int | None = None) -> Explanation:
        identity = (int(self.call[name]) for name in ("from_day", "stream", "from_index"))
        seed, salt = int(self.run["seed"]), int(self.run["salt"])
        return draws.explain(seed, event, *identity, salt=salt, threshold=threshold)

    def condition(self, day: int) -> int:
        return int(self.run["sky"][day, self.call["zone"]]["condition"])


def _answer(case: _Case) -> CallEvent:
    call, params = case.call, case.params
    if call["urgent"]:
        wait = case.day - case.offered_at // DAY_SECONDS
        threshold = int(params["accept_urgent"][min(wait, _LATER)])
        asked = f"does an urgent caller accept a window {wait} days ahead"
    else:
        installs = calendar.is_installation(case.book, case.service)
        late = installs and int(case.book["opens"][case.window]) >= int(
            params["late_installation_from"]
        )
        threshold = int(params["accept"][int(late), case.lead])
        asked = f"does the caller accept at a lead of {case.lead} minutes"
        asked += ", a late installation" if late else ""
    drawn = case.drawn(Event.ANSWER, threshold)
    return CallEvent(drawn, asked, {"accepted": bool(drawn.happened)})


def _cancellation(case: _Case) -> CallEvent:
    call = case.call
    storm = case.condition(case.day) == Condition.STORM
    kinds = int(call["customer"]), int(call["urgent"]), int(storm)
    threshold = int(case.params["cancel"][(*kinds, case.lead)])
    drawn = case.drawn(Event.CANCELLATION, threshold)
    asked = f"does the customer cancel at a lead of {case.lead} minutes"
    asked += ", a storm on the day" if storm else ""
    outcome: dict[str, int | bool] = {"wants_to_cancel": bool(drawn.happened)}
    at = _phoned_at(case, drawn) if drawn.happened else None
    outcome["phones"] = at is not None
    if at is not None:
        outcome["at_s"] = at
    return CallEvent(drawn, asked, outcome)


def _phoned_at(case: _Case, drawn: Explanation) -> int | None:
    """One second of the calling hours from after the booking to the notice before the window."""
    notice = int(case.params["cancel_notice"])
    first = calendar.calling_seconds(case.book, case.offered_at + 1)
    last = calendar.calling_seconds(case.book, case.opens - notice + 1)
    if last <= first:
        return None
    return int(calendar.calling_moment(case.book, first + below(_word(drawn, 1), last - first)))


def _drive(case: _Case) -> CallEvent:
    drawn = case.drawn(Event.DRIVE)
    call, params = case.call, case.params
    low, high = (int(bound) for bound in params["variation"])
    variation = int(low + below(_word(drawn, 0), high - low + 1))
    day, second = divmod(int(call["departed"]), DAY_SECONDS)
    weekend = calendar.is_weekend(case.book, day)
    speed = int(params["speed"][int(weekend), second // _HOUR])
    weather = int(params["drive_weather"][case.condition(day)])
    metres = int(call["metres"])
    seconds = div_round(metres * _HOUR * weather * variation, speed * _THOUSANDTHS * _THOUSANDTHS)
    asked = f"how long are {metres} m at {speed} m/h, weather {weather}/1000"
    return CallEvent(drawn, asked, {"variation_thousandths": variation, "drive_s": int(seconds)})


def _visit(case: _Case) -> CallEvent:
    drawn = case.drawn(Event.VISIT)
    if not calendar.qualified(case.book, case.call["technician"], case.service):
        return CallEvent(
            drawn, "nothing: the visit fails", {"on_site_s": int(case.book["failed_visit"])}
        )
    ranges = [int(case.book[name][case.service]) for name in ("shortest", "typical", "longest")]
    prices = [int(cents) for cents in case.params["price"][case.service, case.call["customer"]]]
    invoice = int(draws.triangle(_word(drawn, 1), *prices))
    low, high = (int(bound) for bound in case.params["material"][case.service])
    share = int(low + below(_word(drawn, 2), high - low + 1))
    outcome: dict[str, int | bool] = {
        "on_site_s": int(draws.triangle(_word(drawn, 0), *ranges)),
        "invoice_cents": invoice,
        "material_cents": int(div_round(invoice * share, _UNIT)),
    }
    return CallEvent(drawn, "how long the work takes, what is billed, what does it cost", outcome)


def _word(drawn: Explanation, place: int) -> Word:
    return np.uint64(list(drawn.words.values())[place])
