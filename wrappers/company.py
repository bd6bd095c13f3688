"""What wrappers ask the environment below them: its company, and who can do the work asked for."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
from gymnasium.vector import SyncVectorEnv

from tradesbench_gym.company.business import Business
from tradesbench_gym.core.layout import MAX_SERVICES
from tradesbench_gym.envs import TradesEnv, TradesVectorEnv

Flags = npt.NDArray[np.bool_]


def business_of(env: Any) -> Business:
    """The business of an environment, single or vector, under any wrappers.

    Raises:
        TypeError: another environment than TradesBench-v0, or one in other processes.

    """
    inner = env.unwrapped
    if isinstance(inner, SyncVectorEnv):
        inner = inner.envs[0].unwrapped
    if isinstance(inner, TradesEnv | TradesVectorEnv):
        return inner.business
    raise TypeError(f"this wrapper is for TradesBench-v0, not {inner}")


class Abilities:
    """Who can do the work that the callers of an environment ask for.

    Raises:
        TypeError: another environment than TradesBench-v0.

    """

    def __init__(self, env: Any) -> None:
        book = business_of(env).handbook
        skills = book["skills"][: int(book["technicians"])]
        services = np.arange(MAX_SERVICES + 1)
        self._able = (skills >> services[:, None] & 1).astype(np.bool_)
        self._able[int(book["services"]) :] = False  # other work, which nobody can do

    def now(self, env: Any) -> Flags:
        """Shape (technicians,), or (num_envs, technicians) of a vector environment."""
        inner: Any = env.unwrapped
        if isinstance(inner, SyncVectorEnv):
            return np.stack([self._able[_asked(one.unwrapped)] for one in inner.envs])
        found: Flags = self._able[_asked(inner)]
        return found


def _asked(env: Any) -> Any:
    """The service or services asked for; all other work, and no call, as one number."""
    services = np.asarray(env.services)
    return np.where(services < 0, MAX_SERVICES, np.minimum(services, MAX_SERVICES))
