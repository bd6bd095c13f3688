"""What became of a learner's answer, in the words of `info`."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from tradesbench_gym.company.business import Business
from tradesbench_gym.company.play import Results
from tradesbench_gym.company.refusals import booking_error
from tradesbench_gym.core.codes import Refusal
from tradesbench_gym.core.step import NO_ANSWER, REFUSALS
from tradesbench_gym.envs.asking import unknown_answer
from tradesbench_gym.errors import ActionError, TradesBenchError

ANSWERS = ("none", "rejected", "declined", "accepted")
"""By what `core.step` answers; what was not let out counts as rejected."""
_KEPT = 50_000

_TOLD = ("code", "message", "field")


class Refused:
    """Errors for answers that were not let out.

    Sentences already put together are kept: a random learner asks for the same things again and
    again.
    """

    def __init__(self, business: Business) -> None:
        self._business = business
        self._kept: dict[tuple[int, ...], tuple[str | None, ...]] = {}

    def told(self, answer: int, action: tuple[int, ...]) -> dict[str, str | None]:
        """Code, sentence and field for an answer below zero to four numbers; the caller's own."""
        asked = (answer, *action)
        return dict(zip(_TOLD, self._kept.get(asked) or self._put(asked), strict=True))

    def told_many(
        self, which: npt.NDArray[np.bool_], answers: npt.NDArray[Any], actions: npt.NDArray[Any]
    ) -> dict[str, npt.NDArray[Any]]:
        """`told` for a batch, as arrays with an entry for each run; None where it was let out."""
        places = np.flatnonzero(which)
        asked = map(tuple, np.column_stack((answers[places], actions[places])).tolist())
        told = [self._kept.get(one) or self._put(one) for one in asked]
        found: dict[str, npt.NDArray[Any]] = {}
        for name, column in zip(_TOLD, zip(*told, strict=True), strict=True):
            found[name] = np.full(len(which), None, object)
            found[name][places] = column
            found[f"_{name}"] = which.copy()
        return found

    def error(self, answer: int, action: tuple[int, ...], whose: str = "") -> ActionError:
        """The same to be raised, with a word before it that says whose action it was."""
        wrong = self._wrong(answer, *action)
        return ActionError(whose + wrong.message, code=wrong.code, field=wrong.field)

    def _put(self, asked: tuple[int, ...]) -> tuple[str | None, ...]:
        if len(self._kept) >= _KEPT:
            self._kept.clear()
        wrong = self._wrong(*asked)
        self._kept[asked] = wrong.code, wrong.message, wrong.field
        return self._kept[asked]

    def _wrong(
        self, answer: int, accept: int, technician: int, ahead: int, window: int
    ) -> TradesBenchError:
        day, why = divmod(-answer, REFUSALS)
        if why == NO_ANSWER:
            return unknown_answer(accept)
        return booking_error(self._business, day, Refusal(why), technician, ahead, window)


def figures(came_to: Results) -> dict[str, int]:
    """Results as whole numbers only: a vector environment keeps an array of each, without None."""
    found = came_to.as_dict()
    del found["seed"]  # `run_seed` alone tells it
    return {name: value for name, value in found.items() if value is not None}
