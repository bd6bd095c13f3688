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
from tradesbench_gym.core.step import NO_ANSWER, REFUSALS, refusal_number
from tradesbench_gym.envs.asking import unknown_answer
from tradesbench_gym.errors import ActionError, TradesBenchError

ANSWERS = ("none", "rejected", "declined", "accepted")
"""By what `core.step` answers; what was not let out counts as rejected."""
_FIRST_ROOM = 1024

_TOLD = ("code", "message", "field")

Whole = npt.NDArray[np.int64]


class Refused:
    """Errors for answers that were not let out.

    Sentences already put together are kept: a random learner asks for the same things again and
    again.
    """

    def __init__(self, business: Business) -> None:
        self._business = business
        book = business.handbook
        technicians, days, windows = (
            int(book[name]) for name in ("technicians", "booking_days", "windows")
        )
        self._sizes = technicians, days, windows
        # What is asked for within these has a number, found for a whole batch at once.
        numbers = REFUSALS * business.days * math.prod(self._sizes)
        self.known = np.zeros(numbers, np.int32)
        # Row 0 tells nothing: of what was let out, and of what nobody has asked for yet.
        self._kept = np.full((len(_TOLD), _FIRST_ROOM), None, object)
        self._count = 1

    def told(self, answer: int, action: Sequence[int]) -> dict[str, str | None]:
        """Code, sentence and field for an answer below zero to four numbers; the caller's own."""
        number = refusal_number(self._sizes, answer, action)
        if number < 0:
            return dict(zip(_TOLD, self._put(answer, action), strict=True))
        row = self._row(int(number), answer, action)
        return dict(zip(_TOLD, self._kept[:, row], strict=True))

    def told_many(
        self, rows: Whole, numbers: Whole, answers: Whole, actions: Whole
    ) -> dict[str, npt.NDArray[Any]]:
        """`told` for a batch with what is `known` of each, -1 where nothing is and 0 where it was
        let out, and its `refusal_number`: arrays with an entry for each run, None for those let
        out.
        """
        outside = []
        if rows.min() < 0:
            rows = rows.copy()
            for i in np.flatnonzero(rows < 0).tolist():
                if numbers[i] > 0:
                    rows[i] = self._row(int(numbers[i]), int(answers[i]), actions[i].tolist())
                else:
                    rows[i] = 0
                    outside.append(i)
        found = self._kept.take(rows, axis=1)
        for i in outside:
            found[:, i] = self._put(int(answers[i]), actions[i])
        return dict(zip(_TOLD, found, strict=True))

    def _row(self, number: int, answer: int, action: Sequence[int]) -> int:
        """Where what is told of an answer with a number stands."""
        row = int(self.known[number])
        if row == 0:
            told, row = self._put(answer, action), self._count
            if row == self._kept.shape[1]:
                self._kept = np.hstack([self._kept, np.full_like(self._kept, None)])
            self._kept[:, row] = told
            self._count += 1
            self.known[number] = row  # last: until then nothing is known
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
