"""What became of a learner's answer, in the words of `info`."""

from __future__ import annotations

import math
from collections.abc import Sequence
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
_FIRST_ROOM = 1024

_TOLD = ("code", "message", "field")


class Refused:
    """Errors for answers that were not let out.

    Sentences already put together are kept: a random learner asks for the same things again and
    again.
    """

    def __init__(self, business: Business) -> None:
        self._business = business
        book = business.handbook
        # What can be asked for in the spaces can be numbered, and found for a whole batch at once.
        self._sizes = (
            REFUSALS * business.days,
            *(int(book[name]) for name in ("technicians", "booking_days", "windows")),
        )
        self._row_of = np.zeros(math.prod(self._sizes), np.int32)
        # Row 0 tells nothing: of what was let out, and of what nobody has asked for yet.
        self._kept = [np.full(_FIRST_ROOM, None, object) for _ in _TOLD]
        self._count = 1

    def told(self, answer: int, action: Sequence[int]) -> dict[str, str | None]:
        """Code, sentence and field for an answer below zero to four numbers; the caller's own."""
        key, usual = 0, action[0] == 1
        for number, size in zip((-answer, *action[1:]), self._sizes, strict=True):
            usual = usual and 0 <= number < size
            key = key * size + number
        if not usual:
            return dict(zip(_TOLD, self._put(answer, action), strict=True))
        row = self._row(key, answer, action)
        return {name: column[row] for name, column in zip(_TOLD, self._kept, strict=True)}

    def told_many(
        self, which: npt.NDArray[np.bool_], answers: npt.NDArray[Any], actions: npt.NDArray[Any]
    ) -> dict[str, npt.NDArray[Any]]:
        """`told` for a batch, as arrays with an entry for each run; None where it was let out."""
        places = np.flatnonzero(which)
        asked, usual = actions[places], actions[places, 0] == 1
        keys = np.zeros(len(places), np.int64)
        for numbers, size in zip((-answers[places], *asked.T[1:]), self._sizes, strict=True):
            usual &= numbers.view(np.uint64) < size
            keys = keys * size + numbers
        rows = self._row_of[np.where(usual, keys, 0)]
        for i in np.flatnonzero(usual & (rows == 0)).tolist():
            rows[i] = self._row(int(keys[i]), int(answers[places[i]]), asked[i].tolist())
        index = np.zeros(len(which), np.int32)
        index[places] = np.where(usual, rows, 0)
        found: dict[str, npt.NDArray[Any]] = {}
        for name, column in zip(_TOLD, self._kept, strict=True):
            found[name], found[f"_{name}"] = column[index], which.copy()
        for i in places[~usual].tolist():
            for name, value in zip(_TOLD, self._put(int(answers[i]), actions[i]), strict=True):
                found[name][i] = value
        return found

    def _row(self, key: int, answer: int, action: Sequence[int]) -> int:
        """Where what is told of an answer with a number stands."""
        row = int(self._row_of[key])
        if row == 0:
            row = self._row_of[key] = self._count
            self._count += 1
            if row == len(self._kept[0]):
                room = np.full(row, None, object)
                self._kept = [np.concatenate([column, room]) for column in self._kept]
            for column, value in zip(self._kept, self._put(answer, action), strict=True):
                column[row] = value
        return row

    def _put(self, answer: int, action: Sequence[int]) -> tuple[str | None, ...]:
        wrong = self._wrong(answer, *map(int, action))
        return wrong.code, wrong.message, wrong.field

    def error(self, answer: int, action: tuple[int, ...], whose: str = "") -> ActionError:
        """The same to be raised, with a word before it that says whose action it was."""
        wrong = self._wrong(answer, *action)
        return ActionError(whose + wrong.message, code=wrong.code, field=wrong.field)

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
