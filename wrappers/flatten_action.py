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

    Whether an offer is legal depends on technician, day and window together: Diana works on Monday
    at nine and not on Saturday at nine, Marcus does both. A mask of the MultiDiscrete action has
    2 + 4 + 14 + 6 entries, one for each number by itself, and libraries draw the four numbers
    independently; it cannot say "this technician only on that day". One of this action has an entry
    for each whole offer and can. `action_masks()` gives that joint mask in the form that
    sb3-contrib's MaskablePPO asks for.

    For vector environments: `tradesbench_gym.wrappers.vector.FlattenAction`.
    """

    def __init__(self, env: gym.Env[_Observation, npt.NDArray[np.int64]]) -> None:
        RecordConstructorArgs.__init__(self)
        gym.ActionWrapper.__init__(self, env)
        self._slots = slots_of(env.action_space)
        self.action_space = gym.spaces.Discrete(1 + int(np.prod(self._slots)))

    def action(self, action: np.int64) -> npt.NDArray[np.int64]:
        """The four numbers (accept, technician, days ahead, window) of a flat one."""
        if action == 0:
            return np.zeros(4, np.int64)
        return np.array([1, *np.unravel_index(int(action) - 1, self._slots)], np.int64)

    def action_masks(self) -> npt.NDArray[np.bool_]:
        """Legal actions: bool, shape (1 + technicians x 14 x 6,)."""
        masks: npt.NDArray[np.bool_] = self.env.get_wrapper_attr("action_masks")()
        return masks


def slots_of(space: Any) -> tuple[int, ...]:
    """Technicians, days and windows of an action space; TypeError if it is another's."""
    if not isinstance(space, gym.spaces.MultiDiscrete) or space.nvec.shape != (4,):
        raise TypeError(f"FlattenAction wraps the action of TradesBench-v0, not {space}")
    return tuple(int(size) for size in space.nvec[1:])
