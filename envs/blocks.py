"""Memory for observations: blocks that a compiled step fills, shown as the dictionary that users of
Gymnasium know.

Whoever gets an observation owns it: nothing writes to it later. A block whose arrays nobody holds
any more is filled again, which spares a step the making of some twenty arrays.
"""

from __future__ import annotations

import sys
from typing import Any

import numpy as np
import numpy.typing as npt

from tradesbench_gym.core.parts import MASK, OBSERVATION, PARTS, PLANNED, WORD, Part, Where, places
from tradesbench_gym.envs.spaces import Shape

_KEPT = 3
"""While one is filled, a loop still holds the observation before it, and perhaps another."""
_HUGE_PAGE = 1 << 21
# Counts of references say nothing about other threads where there is no GIL.
_COUNTS_ARE_RIGHT = getattr(sys, "_is_gil_enabled", lambda: True)()


class Block:
    """One filled or to be filled block for a number of runs.

    Attributes:
        words: all of it, int32, as `core.step` takes it.
        mask: legal offers, int8, shape ([runs,] technicians, days ahead, windows).

    """

    __slots__ = ("_arrays", "_idle", "_memory", "_seen", "mask", "words")

    def __init__(self, blocks: Blocks) -> None:
        self._memory, self.words = _zeroes(blocks.runs * int(blocks.where[-1]))
        self._seen = {part.name: blocks.view(self.words, part) for part in blocks.parts}
        self.mask = blocks.view(self.words, MASK)
        self._arrays = (self._memory, self.words, self.mask, *self._seen.values())
        self._idle = sum(map(sys.getrefcount, self._arrays))

    def observation(self) -> dict[str, npt.NDArray[Any]]:
        """The arrays by name."""
        return self._seen.copy()

    def is_free(self) -> bool:
        """Whether nobody holds any of its arrays, or a view of one."""
        return _COUNTS_ARE_RIGHT and sum(map(sys.getrefcount, self._arrays)) == self._idle


def _zeroes(words: int) -> tuple[npt.NDArray[np.uint8], npt.NDArray[np.int32]]:
    """The memory that so many zeroes lie in, which views of them hold, and the zeroes.

    A large block begins where a huge page does: a step writes to some twenty places of it, more
    than a processor has the addresses of small pages at hand for.
    """
    size = WORD * words
    if size < _HUGE_PAGE:
        zeroes = np.zeros(words, np.int32)
        return zeroes.view(np.uint8), zeroes
    memory = np.zeros((-(-size // _HUGE_PAGE) + 1) * _HUGE_PAGE, np.uint8)
    first = -memory.ctypes.data % _HUGE_PAGE
    return memory, memory[first : first + size].view(np.int32)


class Blocks:
    """Blocks for a company of a shape.

    Args:
        shape: of the company.
        planned: whether the observation has the dispatcher's plan.
        runs: how many runs lie in a block; None: one, shown without an axis for it.

    """

    def __init__(self, shape: Shape, *, planned: bool, runs: int | None = None) -> None:
        self.shape = shape
        self.parts: tuple[Part, ...] = OBSERVATION + (PLANNED if planned else ())
        self.runs = 1 if runs is None else runs
        self.where: Where = places(shape.technicians, shape.slots, shape.zones, planned=planned)
        self._one = runs is None
        self._planned = planned
        self._kept = [Block(self) for _ in range(_KEPT)]

    def __reduce__(self) -> tuple[Any, ...]:
        """Copies begin with blocks of their own."""
        return _blocks, (self.shape, self._planned, None if self._one else self.runs)

    def take(self) -> Block:
        """A block that nobody else sees."""
        # The last one is surely held still; of the others the one used last is warm in the cache.
        for block in self._kept[1:]:
            if block.is_free():
                break
        else:
            block = Block(self)  # the oldest is its owner's for good
            self._kept.pop()
            self._kept.append(block)
        self._kept.remove(block)
        self._kept.insert(0, block)
        return block

    def view(self, words: npt.NDArray[np.int32], part: Part) -> npt.NDArray[Any]:
        """One array of a block."""
        ahead: tuple[int, ...] = () if self._one else (self.runs,)
        index, dtype = PARTS.index(part), np.dtype(part.dtype)
        first, after = (WORD * int(word) for word in self.where[index : index + 2])
        room = self.runs, (after - first) // dtype.itemsize
        shape: tuple[int, ...] = (self.shape.entries(part),)
        rows = np.ndarray(room, dtype, words, first * self.runs)[:, : shape[0]]
        if part is MASK:
            shape = (self.shape.technicians, self.shape.days, self.shape.windows)
        return rows.reshape(ahead + shape)


def _blocks(shape: Shape, planned: bool, runs: int | None) -> Blocks:
    return Blocks(shape, planned=planned, runs=runs)
