"""Observations between 0 and 1."""

from __future__ import annotations

from typing import Any

import gymnasium as gym
import numpy as np
import numpy.typing as npt
from gymnasium import spaces
from gymnasium.utils import RecordConstructorArgs

Bounds = dict[str, Any] | tuple[npt.NDArray[np.float32], npt.NDArray[np.float32]]


class ScaleObservation(gym.ObservationWrapper[Any, Any, Any], RecordConstructorArgs):
    """Every entry of the observation as float32 from 0 to 1, by its declared bounds.

    The bounds say what can be, not what usually is: cash may come to millions before an entry of
    `cash` reaches 1, and a slot can hold every job of the run. Seen values of money, counts and
    minutes therefore lie close together (a few thousandths apart); they suit a network behind a
    normalising layer or a running mean (`gymnasium.wrappers.NormalizeObservation`), and for
    categories one-hot columns (`FlattenObservation`) say more than their number divided by the
    highest. Takes `Dict`, `Box` and `MultiDiscrete` observations.

    For vector environments: `tradesbench_gym.wrappers.vector.ScaleObservation`.
    """

    def __init__(self, env: gym.Env[Any, Any]) -> None:
        RecordConstructorArgs.__init__(self)
        gym.ObservationWrapper.__init__(self, env)
        self._bounds = bounds_of(env.observation_space)
        self.observation_space = scaled_space(env.observation_space)

    def observation(self, observation: Any) -> Any:
        """The observation, scaled."""
        return scaled(observation, self._bounds)


def bounds_of(space: spaces.Space[Any]) -> Bounds:
    """Lowest entries and widths of a space, as `scaled` takes them.

    Raises:
        TypeError: a space without bounds.

    """
    if isinstance(space, spaces.Dict):
        return {name: bounds_of(inner) for name, inner in space.spaces.items()}
    if isinstance(space, spaces.MultiDiscrete):
        low, high = space.start, space.start + space.nvec - 1
    elif isinstance(space, spaces.Box) and space.is_bounded():
        low, high = space.low, space.high
    else:
        raise TypeError(f"ScaleObservation needs a Dict, Box or MultiDiscrete with bounds: {space}")
    lowest = low.astype(np.float32)
    # Differences of the same rounding as those of values, so that no quotient exceeds 1.
    width = high.astype(np.float32) - lowest
    width[width == 0] = 1
    return lowest, width


def scaled_space(space: spaces.Space[Any]) -> spaces.Space[Any]:
    """The space of scaled observations."""
    if isinstance(space, spaces.Dict):
        return spaces.Dict({name: scaled_space(inner) for name, inner in space.spaces.items()})
    return spaces.Box(0.0, 1.0, space.shape, np.float32)


def scaled(observation: Any, bounds: Bounds) -> Any:
    """An observation, or a batch of them, between 0 and 1."""
    if isinstance(bounds, dict):
        return {name: scaled(observation[name], inner) for name, inner in bounds.items()}
    lowest, width = bounds
    return (observation - lowest).astype(np.float32) / width
