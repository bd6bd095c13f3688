"""What can be answered to a call so that something else comes of it.

An offer that the caller declines leaves the same world whatever was offered: of a call for which
nobody comes, the rules read no slot. So of all declined offers one is tried. The caller's patience
is the call's own, so who declines and who accepts is known before anything is played.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from tradesbench_gym.core import branching
from tradesbench_gym.core.branching import ACCEPTED, CODES, LET_OUT, QUALIFIED, REJECT, slot_of
from tradesbench_gym.core.codes import CallState
from tradesbench_gym.report.regret.recorded import Recorded

_REJECTED = int(REJECT)


@dataclass(frozen=True)
class Choice:
    """The distinct answers to one call.

    Attributes:
        call: its index in the recording.
        chosen: the answer it was given.
        answers: one of each outcome, the chosen one among them; those that turn the caller away
            first, then by day, window and technician.
        bits: what comes of each offer, by code; see `core.branching.outcomes`.

    """

    call: int
    chosen: int
    answers: tuple[int, ...]
    bits: npt.NDArray[np.int64]

    def outcome(self, answer: int) -> CallState:
        """What an answer comes to at once: rejected, declined or booked."""
        if answer == _REJECTED:
            return CallState.REJECTED
        return CallState.BOOKED if self.bits[answer] & ACCEPTED else CallState.DECLINED

    def represented(self, answer: int) -> int:
        """The one of the distinct answers that leaves the same world; the answer itself, if there
        is none.
        """
        if answer == _REJECTED or self.bits[answer] & ACCEPTED:
            return answer
        declined = (one for one in self.answers if self.outcome(one) == CallState.DECLINED)
        return next(declined, answer)


def distinct(recorded: Recorded, call: int, *, all_technicians: bool = False) -> Choice:
    """The distinct answers to a call, by index: rejecting, one declined offer if any would be, and
    every offer that is accepted.

    Args:
        recorded: the run.
        call: index of the call.
        all_technicians: with those who cannot do the work, whose visits fail; without, only the
            chosen answer may be one of them.

    """
    bits = np.zeros(CODES, np.int64)
    branching.outcomes(recorded.states, call, recorded.business.params, bits)
    return choice_of(call, int(recorded.answers[call]), bits, all_technicians=all_technicians)


def choice_of(
    call: int, chosen: int, bits: npt.NDArray[np.int64], *, all_technicians: bool
) -> Choice:
    """The distinct answers, from what comes of each offer."""
    wanted = LET_OUT | ACCEPTED | (0 if all_technicians else QUALIFIED)
    accepted = {int(code) for code in np.flatnonzero(bits & wanted == wanted)}
    declined = [int(code) for code in np.flatnonzero(bits & (LET_OUT | ACCEPTED) == LET_OUT)]
    if chosen != _REJECTED and bits[chosen] & ACCEPTED:
        accepted.add(chosen)
    elif chosen != _REJECTED:
        declined = [chosen]
    answers = (_REJECTED, *declined[:1], *sorted(accepted, key=_soonest))
    return Choice(call, chosen, answers, bits)


def _soonest(answer: int) -> tuple[int, int, int]:
    technician, ahead, window = slot_of(answer)
    return int(ahead), int(window), int(technician)
