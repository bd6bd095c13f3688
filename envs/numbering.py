"""Which runs environments play that nobody named: each draws their numbers from its own generator,
as a single environment does.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
from gymnasium.utils import seeding

FIRST_OPEN_RUN = 10_000
"""Runs drawn without a seed are numbered from here up, so that none lands on a benchmark seed."""
LAST_OPEN_RUN = 2**31
_AHEAD = 64
"""Numbers drawn at a time: one by one, finding the generator would cost more than drawing."""


class Numbering:
    """Numbers of runs for so many environments."""

    def __init__(self, count: int) -> None:
        self._generators: list[np.random.Generator | int | None] = [None] * count
        self._drawn = np.zeros((count, _AHEAD), np.uint64)
        self._used = np.full(count, _AHEAD, np.int64)

    def begin(self, place: int, seed: int) -> None:
        """Let an environment draw as one that was reset with this seed."""
        self._generators[place] = seed
        self._used[place] = _AHEAD

    def draw(self, places: npt.NDArray[np.int64]) -> npt.NDArray[np.uint64]:
        """The next number of each of some environments, uint64."""
        for place in places[self._used[places] >= _AHEAD].tolist():
            numbers = self._generator(place).integers(FIRST_OPEN_RUN, LAST_OPEN_RUN, size=_AHEAD)
            self._drawn[place], self._used[place] = numbers, 0
        found = self._drawn[places, self._used[places]]
        self._used[places] += 1
        return found

    def _generator(self, place: int) -> np.random.Generator:
        """An environment's own generator, made when it is first needed."""
        made = self._generators[place]
        if not isinstance(made, np.random.Generator):
            made = self._generators[place] = seeding.np_random(made)[0]
        return made
