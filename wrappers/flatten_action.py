"""One number for the whole answer, so that a mask can say exactly which offers are legal."""

from __future__ import annotations

from typing import Any

import gymnasium as gym
import numpy as np
import numpy.typing as npt
from gymnasium.utils import RecordConstructorArgs

_Observation = dict[str, Any]


class FlattenAction(
    gym.ActionWrapper[_Observation, np.int64, npt.NDArray[np.int64]], RecordConstructorArgs
):
    """`Discrete(1 + technicians x 14 x 6)`: 0 rejects, then each offer, the window fastest.

    A mask of the MultiDiscrete action cannot say "this technician only on that day"; one of this
    action can. `action_masks()` gives it in the form that sb3-contrib's MaskablePPO asks for.
    """

    def __init__(self, env: gym.Env[_Observation, npt.NDArray[np.int64]]) -> None:
        RecordConstructorArgs.__init__(self)
        gym.ActionWrapper.__init__(self, env)
        space = env.action_space
        if not isinstance(space, gym.spaces.MultiDiscrete) or space.nvec.shape != (4,):
            raise TypeError(f"FlattenAction wraps the action of TradesBench-v0, not {space}")
        self._slots = tuple(int(size) for size in space.nvec[1:])
        self.action_space = gym.spaces.Discrete(1 + int(np.prod(self._slots)))

    def action(self, action: np.int64) -> npt.NDArray[np.int64]:
        """The four numbers (accept, technician, days ahead, window) of a flat one."""
        if action == 0:
            return np.zeros(4, np.int64)
        return np.array([1, *np.unravel_index(int(action) - 1, self._slots)], np.int64)

    def action_masks(self) -> npt.NDArray[np.bool_]:
        """Legal actions: bool, shape (1 + technicians x 14 x 6,)."""
        masks: npt.NDArray[np.bool_] = self.get_wrapper_attr("env").unwrapped.action_masks()
        return masks
