"""Masks without offers that are let out but must fail."""

from __future__ import annotations

from typing import Any

import gymnasium as gym
import numpy as np
import numpy.typing as npt
from gymnasium.utils import RecordConstructorArgs

from tradesbench_gym.wrappers.company import Abilities


class QualifiedMask(gym.Wrapper[Any, Any, Any, Any], RecordConstructorArgs):
    """Masks only offers of technicians who can do the work; for other work, only "reject".

    The company lets out an offer of a technician who cannot do the work, and work it does not do:
    those visits fail, cost half an hour and the customer. `info["action_mask"]` and
    `action_masks()` leave such offers out here. Masks only: such an action is still let out.

    For vector environments: `tradesbench_gym.wrappers.vector.QualifiedMask`.
    """

    def __init__(self, env: gym.Env[Any, Any]) -> None:
        RecordConstructorArgs.__init__(self)
        gym.Wrapper.__init__(self, env)
        self._abilities = Abilities(env)

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[Any, dict[str, Any]]:
        """As the environment's, with the mask narrowed."""
        observation, info = self.env.reset(seed=seed, options=options)
        return observation, self._narrowed(info)

    def step(self, action: Any) -> tuple[Any, Any, bool, bool, dict[str, Any]]:
        """As the environment's, with the mask narrowed."""
        observation, reward, terminated, truncated, info = self.env.step(action)
        return observation, reward, terminated, truncated, self._narrowed(info)

    def action_masks(self) -> npt.NDArray[np.bool_]:
        """Legal actions of those who can do the work: bool, shape (1 + technicians x 14 x 6,)."""
        masks: npt.NDArray[np.bool_] = self.env.get_wrapper_attr("action_masks")()
        able = self._abilities.now(self.env)
        offers = masks[1:].reshape(len(able), -1) & able[:, None]
        return np.concatenate((masks[:1], offers.ravel()))

    def _narrowed(self, info: dict[str, Any]) -> dict[str, Any]:
        able = self._abilities.now(self.env)
        return info | {"action_mask": info["action_mask"] * able[:, None, None].astype(np.int8)}
