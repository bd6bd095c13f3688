"""DESK as Python sees it: the record a dispatcher decides from, with the array that compiled plans
take.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from tradesbench_gym.core import observe

_NO_SKILL = 30
"""A bit that no technician's skills have: other work."""


class Desk:
    """What a dispatcher may know at one moment; fields by name, as listed in `core.layout`.

    `desk["clock"]` is seconds since the start of the run, `desk["calls"]` the calls so far,
    `desk.call` the one on the line. The arrays are views of the simulation's own desk, which the
    next stop overwrites: `copy()` to keep one.

    Attributes:
        array: shape (1,), dtype DESK, as the functions of `core.plan` take it.

    """

    __slots__ = ("array",)

    def __init__(self, array: npt.NDArray[np.void]) -> None:
        # A view that nobody can write to or resize; and kernels are compiled for one kind of desk.
        self.array = array.view()
        self.array.flags.writeable = False

    def __getitem__(self, name: str) -> Any:
        return self.array[0][name]

    @property
    def call(self) -> np.void | None:
        """The call on the line; None if there is none."""
        number = int(self["line"])
        return None if number < 0 else self["calls"][number]

    @property
    def technicians(self) -> int:
        """How many technicians the company has."""
        return int(self["handbook"]["technicians"])

    def legal(self, *, qualified: bool = True) -> npt.NDArray[np.int8]:
        """Offers the company lets out to the call on the line.

        Args:
            qualified: only those of technicians who can do the work; others are let out, and fail.

        Returns:
            int8, shape (technicians, days ahead, windows), 1 where an offer may be made; all 0
            without a call on the line.

        """
        book = self["handbook"]
        shape = self.technicians, int(book["booking_days"]), int(book["windows"])
        mask = np.zeros(shape, np.int8)
        call = self.call
        if call is None:
            return mask
        observe.mask(self.array, 0, mask.reshape(-1))
        if qualified:
            able = book["skills"][: self.technicians] >> min(int(call["service"]), _NO_SKILL) & 1
            mask *= able[:, None, None].astype(np.int8)
        return mask

    def copy(self) -> Desk:
        """A desk that stays as it is."""
        return Desk(self.array.copy())
