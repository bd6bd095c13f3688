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
_NO_ROW = -1
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
        self._row_of = np.full(math.prod(self._sizes), _NO_ROW, np.int32)
        self._kept = np.empty((_FIRST_ROOM, len(_TOLD)), object)
        self._count = 0

    def told(self, answer: int, action: Sequence[int]) -> dict[str, str | None]:
        """Code, sentence and field for an answer below zero to four numbers; the caller's own."""
        key, usual = 0, action[0] == 1
        for number, size in zip((-answer, *action[1:]), self._sizes, strict=True):
            usual = usual and 0 <= number < size
            key = key * size + number
        row = self._row(key, answer, action) if usual else self._put(answer, action)
        return dict(zip(_TOLD, row, strict=True))

    def told_many(
        self, which: npt.NDArray[np.bool_], answers: npt.NDArray[Any], actions: npt.NDArray[Any]
    ) -> dict[str, npt.NDArray[Any]]:
        """`told` for a batch, as arrays with an entry for each run; None where it was let out."""
        places = np.flatnonzero(which)
        rows = self._rows(answers[places], actions[places])
        found: dict[str, npt.NDArray[Any]] = {}
        for name, column in zip(_TOLD, rows.T, strict=True):
            found[name] = np.full(len(which), None, object)
            found[name][places] = column
            found[f"_{name}"] = which.copy()
        return found

    def _rows(self, answers: npt.NDArray[Any], actions: npt.NDArray[Any]) -> npt.NDArray[Any]:
        """What is told of each, shape (answers, 3)."""
        asked = (-answers, *actions.T[1:])
        usual = actions[:, 0] == 1
        for numbers, size in zip(asked, self._sizes, strict=True):
            usual &= (numbers >= 0) & (numbers < size)
        keys = np.ravel_multi_index(tuple(numbers[usual] for numbers in asked), self._sizes)
        places = np.flatnonzero(usual)
        for i in np.flatnonzero(self._row_of[keys] == _NO_ROW).tolist():
            self._row(int(keys[i]), int(answers[places[i]]), actions[places[i]].tolist())
        rows = np.empty((len(answers), len(_TOLD)), object)
        rows[usual] = self._kept[self._row_of[keys]]
        for i in np.flatnonzero(~usual).tolist():
            rows[i] = self._put(int(answers[i]), actions[i].tolist())
        return rows

    def _row(self, key: int, answer: int, action: Sequence[int]) -> Any:
        """What is told of an answer with a number."""
        row = int(self._row_of[key])
        if row == _NO_ROW:
            row = self._count
            if row == len(self._kept):
                self._kept = np.concatenate([self._kept, np.empty_like(self._kept)])
            self._kept[row] = self._put(answer, action)
            self._row_of[key] = row
            self._count += 1
        return self._kept[row]

    def _put(self, answer: int, action: Sequence[int]) -> tuple[str | None, ...]:
        wrong = self._wrong(answer, *action)
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
