"""Why an answer lost: the two branches, of the chosen and of the best answer, held side by side.

Every cent between them lies in one `Part`, by what became of a call in the two branches, so that
the parts add up to the regret; and every regret is of one `Kind`, by the two answers and, where a
job was booked, by the largest part. Calls are the same by day, stream and index in the stream, not
by number. It reads how two branches ended and plays nothing.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import Final

import numpy as np
import numpy.typing as npt

from tradesbench_gym.core.codes import CallState
from tradesbench_gym.core.layout import MAX_CALLS_A_DAY
from tradesbench_gym.core.rules.calendar import is_installation, is_weekend
from tradesbench_gym.report.regret.playing import Ending, Whole

_STREAMS = 3
_MISSED = (CallState.MISSED, CallState.FAILED)


class Part(StrEnum):
    """Where the money between two branches lies; each call of either is in one part."""

    OWN = "own"
    MISSED = "missed"
    CANCELLED = "cancelled"
    JOBS = "jobs"
    TERMS = "terms"
    CALLERS = "callers"
    FIXED = "fixed"


PARTS: Final = {
    Part.OWN: "the call's own job",
    Part.MISSED: "appointments missed or failed in one of the two only",
    Part.CANCELLED: "jobs cancelled in one of the two only",
    Part.JOBS: "other calls that became a job done in one of the two only",
    Part.TERMS: "jobs done in both: overtime, premium",
    Part.CALLERS: "callers who rang in one of the two only",
    Part.FIXED: "pay and overhead, where one of the two went bankrupt",
}


class Kind(StrEnum):
    """What was wrong with an answer; the first that fits."""

    NONE = "none"
    BANKRUPTCY = "bankruptcy"
    DECLINED_INSTALLATION = "declined-installation"
    DECLINED_OFFER = "declined-offer"
    REJECTED_WEEKEND = "rejected-weekend"
    REJECTED_WORK = "rejected-work"
    NOT_BOOKED = "not-booked"
    MISSED_CHAIN = "missed-chain"
    FAILED_VISIT = "failed-visit"
    CANCELLED = "cancelled"
    NEVER_SERVED = "never-served"
    OWN_TERMS = "own-terms"
    LOST_DEMAND = "lost-demand"
    CROWDED_OUT = "crowded-out"
    KNOCK_ON = "knock-on"


KINDS: Final = {
    Kind.NONE: "nothing lost",
    Kind.BANKRUPTCY: "bankruptcy",
    Kind.DECLINED_INSTALLATION: "declined installation window",
    Kind.DECLINED_OFFER: "declined window of other work",
    Kind.REJECTED_WEEKEND: "rejected weekend work",
    Kind.REJECTED_WORK: "rejected weekday work",
    Kind.NOT_BOOKED: "nothing booked by either",
    Kind.MISSED_CHAIN: "missed chain",
    Kind.FAILED_VISIT: "failed visit",
    Kind.CANCELLED: "cancelled booking",
    Kind.NEVER_SERVED: "never served",
    Kind.OWN_TERMS: "the job's own terms",
    Kind.LOST_DEMAND: "lost demand",
    Kind.CROWDED_OUT: "crowded-out jobs",
    Kind.KNOCK_ON: "knock-on to other jobs",
}


@dataclass(frozen=True)
class Comparison:
    """What the best branch has before the chosen one.

    Attributes:
        kind: the one kind of the difference.
        parts: cents by part; they add up to the difference.
        became: what the call became in the chosen branch, and in the best.

    """

    kind: Kind
    parts: dict[Part, int]
    became: tuple[CallState, CallState]

    @property
    def regret(self) -> int:
        """What the chosen answer lost, in cents."""
        return sum(self.parts.values())


def compare(book: np.void, call: int, chosen: Ending, best: Ending) -> Comparison:
    """Hold two branches of one call side by side.

    Args:
        book: the handbook.
        call: index of the call in which they part.
        chosen: how the branch of the chosen answer ends.
        best: how that of the best answer ends.

    """
    parts = _parts(call, chosen, best)
    states = _state(chosen, call), _state(best, call)
    return Comparison(_kind(book, call, chosen, best, parts), parts, states)


def _state(ending: Ending, call: int) -> CallState:
    return CallState(int(ending.run[0]["calls"][call]["state"]))


def _parts(call: int, chosen: Ending, best: Ending) -> dict[Part, int]:
    one, other = _jobs(chosen), _jobs(best)
    names, mine, theirs = np.intersect1d(one.names, other.names, return_indices=True)
    more = other.cents[theirs] - one.cents[mine]
    states = one.states[mine], other.states[theirs]
    own = names == one.names[call]
    found = {Part.OWN: int(more[own].sum())}
    left = ~own
    for part, those in (
        (Part.MISSED, _in_one_only(states, _MISSED)),
        (Part.CANCELLED, _in_one_only(states, (CallState.CANCELLED,))),
        (Part.JOBS, _in_one_only(states, (CallState.DONE,))),
        (Part.TERMS, np.ones(len(names), np.bool_)),
    ):
        found[part] = int(more[left & those].sum())
        left &= ~those
    found[Part.CALLERS] = (
        int(other.cents.sum()) - int(one.cents.sum()) - int(more.sum())
    )  # what no matched call has
    found[Part.FIXED] = best.cash - chosen.cash - sum(found.values())
    return found


@dataclass(frozen=True, eq=False)
class _Jobs:
    names: Whole
    cents: Whole
    states: npt.NDArray[np.int8]


def _jobs(ending: Ending) -> _Jobs:
    """The calls of a branch by what names them everywhere."""
    calls = ending.run[0]["calls"][: int(ending.run[0]["n_calls"])]
    day, stream = calls["from_day"].astype(np.int64), calls["stream"].astype(np.int64)
    names = (day * _STREAMS + stream) * MAX_CALLS_A_DAY + calls["from_index"]
    return _Jobs(names, ending.account[: len(calls)], calls["state"])


def _in_one_only(
    states: tuple[npt.NDArray[np.int8], npt.NDArray[np.int8]], which: tuple[CallState, ...]
) -> npt.NDArray[np.bool_]:
    one, other = (np.isin(side, which) for side in states)
    differing: npt.NDArray[np.bool_] = one != other
    return differing


def _kind(book: np.void, call: int, chosen: Ending, best: Ending, parts: dict[Part, int]) -> Kind:
    if sum(parts.values()) == 0:
        return Kind.NONE
    if chosen.run[0]["bankrupt"] and not best.run[0]["bankrupt"]:
        return Kind.BANKRUPTCY
    if _state(chosen, call) < CallState.BOOKED:
        return _kind_without_job(book, call, chosen, best)
    return _kind_with_job(_state(chosen, call), parts)


def _kind_without_job(book: np.void, call: int, chosen: Ending, best: Ending) -> Kind:
    """The chosen answer booked nothing."""
    if _state(best, call) < CallState.BOOKED:
        return Kind.NOT_BOOKED
    booked = best.run[0]["calls"][call]
    if _state(chosen, call) == CallState.DECLINED:
        installs = is_installation(book, int(booked["service"]))
        return Kind.DECLINED_INSTALLATION if installs else Kind.DECLINED_OFFER
    weekend = is_weekend(book, int(booked["day"]))
    return Kind.REJECTED_WEEKEND if weekend else Kind.REJECTED_WORK


_OWN_KINDS: Final = {
    CallState.MISSED: Kind.MISSED_CHAIN,
    CallState.FAILED: Kind.FAILED_VISIT,
    CallState.CANCELLED: Kind.CANCELLED,
    CallState.DONE: Kind.OWN_TERMS,
}
_KINDS_OF_OTHERS: Final = {
    Part.MISSED: Kind.MISSED_CHAIN,
    Part.CALLERS: Kind.LOST_DEMAND,
    Part.JOBS: Kind.CROWDED_OUT,
}


def _kind_with_job(became: CallState, parts: dict[Part, int]) -> Kind:
    """The chosen answer booked the job: the largest part says what was wrong with that."""
    largest = max(parts, key=lambda part: parts[part])
    if largest == Part.OWN:
        return _OWN_KINDS.get(became, Kind.NEVER_SERVED)
    return _KINDS_OF_OTHERS.get(largest, Kind.KNOCK_ON)
