"""The wrappers for vector environments, by the same names, as `gymnasium.wrappers.vector` has them.

Made for the native batch of `gym.make_vec("TradesBench-v0", num_envs=n)`, in every autoreset mode;
they take Gymnasium's `SyncVectorEnv` of TradesBench-v0 as well. In the mode SAME_STEP,
`infos["final_obs"]` is converted like any other observation.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt
from gymnasium import spaces
from gymnasium.vector import VectorEnv, VectorWrapper
from gymnasium.vector.utils import batch_space

from tradesbench_gym.wrappers.company import Abilities
from tradesbench_gym.wrappers.flatten_action import slots_of
from tradesbench_gym.wrappers.scale_observation import bounds_of, scaled, scaled_space

if TYPE_CHECKING:
    _Wrapper = VectorWrapper[Any, Any, Any, Any, Any]
else:  # generic from Gymnasium 1.3 on only
    _Wrapper = VectorWrapper

__all__ = ["FlattenAction", "QualifiedMask", "ScaleObservation", "offers"]

_Outcome = tuple[Any, Any, Any, Any, dict[str, Any]]
_MASKS = "action_masks"


class _Layer(_Wrapper):
    """What Gymnasium's single environments have and its vector environments lack."""

    def has_wrapper_attr(self, name: str) -> bool:
        """Whether this wrapper or anything below it has an attribute."""
        return _owner(self, name) is not None

    def get_wrapper_attr(self, name: str) -> Any:
        """An attribute of this wrapper or of what lies below it, from the outside in."""
        owner = _owner(self, name)
        if owner is None:
            raise AttributeError(f"wrapper {self} has no attribute {name!r}")
        return getattr(owner, name)

    def action_masks(self) -> npt.NDArray[np.bool_]:
        """Legal actions: bool, shape (num_envs, 1 + technicians x 14 x 6)."""
        return masks_below(self.env)


def _owner(env: Any, name: str) -> Any:
    while not hasattr(env, name):
        if not isinstance(env, VectorWrapper):
            return None
        env = env.env
    return env


def masks_below(env: Any) -> npt.NDArray[np.bool_]:
    """`action_masks()` of the outermost layer that has it, as one array for the batch."""
    owner = _owner(env, _MASKS)
    masks = env.unwrapped.call(_MASKS) if owner is None else getattr(owner, _MASKS)()
    return np.asarray(masks)


class FlattenAction(_Layer):
    """`tradesbench_gym.wrappers.FlattenAction` for a vector environment: one number a run."""

    def __init__(self, env: VectorEnv[Any, Any, Any]) -> None:
        super().__init__(env)
        self._slots = slots_of(env.single_action_space)
        self.single_action_space = spaces.Discrete(1 + int(np.prod(self._slots)))
        self.action_space = batch_space(self.single_action_space, self.num_envs)

    def step(self, actions: Any) -> _Outcome:
        """Step with a flat action for each run, shape (num_envs,)."""
        return self.env.step(self.actions(actions))

    def actions(self, actions: Any) -> npt.NDArray[np.int64]:
        """The four numbers of each flat action, shape (num_envs, 4)."""
        return offers(np.asarray(actions), self._slots)


def offers(flat: npt.NDArray[Any], slots: tuple[int, ...]) -> npt.NDArray[np.int64]:
    """Flat actions as (accept, technician, days ahead, window), shape (runs, 4).

    >>> offers(np.array([0, 1, 336]), (4, 14, 6)).tolist()
    [[0, 0, 0, 0], [1, 0, 0, 0], [1, 3, 13, 5]]
    """
    actions = np.zeros((len(flat), 4), np.int64)
    actions[:, 0] = flat > 0
    actions[:, 1:] = np.stack(np.unravel_index(np.maximum(flat - 1, 0), slots), 1)
    return actions


class QualifiedMask(_Layer):
    """`tradesbench_gym.wrappers.QualifiedMask` for a vector environment."""

    def __init__(self, env: VectorEnv[Any, Any, Any]) -> None:
        super().__init__(env)
        self._abilities = Abilities(env)

    def reset(
        self, *, seed: Any = None, options: dict[str, Any] | None = None
    ) -> tuple[Any, dict[str, Any]]:
        """As the environment's, with the masks narrowed."""
        observations, infos = self.env.reset(seed=seed, options=options)
        return observations, self._narrowed(infos)

    def step(self, actions: Any) -> _Outcome:
        """As the environment's, with the masks narrowed."""
        *outcome, infos = self.env.step(actions)
        first, second, third, fourth = outcome
        return first, second, third, fourth, self._narrowed(infos)

    def action_masks(self) -> npt.NDArray[np.bool_]:
        """Legal actions of those who can do the work: bool, shape (num_envs, 1 + slots)."""
        masks = masks_below(self.env)
        able = self._abilities.now(self.env)
        legal = masks[:, 1:].reshape(*able.shape, -1) & able[:, :, None]
        return np.concatenate((masks[:, :1], legal.reshape(len(masks), -1)), 1)

    def _narrowed(self, infos: dict[str, Any]) -> dict[str, Any]:
        able = self._abilities.now(self.env).astype(np.int8)
        return infos | {"action_mask": infos["action_mask"] * able[:, :, None, None]}


class ScaleObservation(_Layer):
    """`tradesbench_gym.wrappers.ScaleObservation` for a vector environment."""

    def __init__(self, env: VectorEnv[Any, Any, Any]) -> None:
        super().__init__(env)
        self._bounds = bounds_of(env.single_observation_space)
        self.single_observation_space = scaled_space(env.single_observation_space)
        self.observation_space = batch_space(self.single_observation_space, self.num_envs)

    def reset(
        self, *, seed: Any = None, options: dict[str, Any] | None = None
    ) -> tuple[Any, dict[str, Any]]:
        """As the environment's, with observations between 0 and 1."""
        observations, infos = self.env.reset(seed=seed, options=options)
        return scaled(observations, self._bounds), infos

    def step(self, actions: Any) -> _Outcome:
        """As the environment's, with observations between 0 and 1."""
        observations, rewards, terminations, truncations, infos = self.env.step(actions)
        if "final_obs" in infos:
            last = np.full(self.num_envs, None, object)
            for i in np.flatnonzero(infos["_final_obs"]):
                last[i] = scaled(infos["final_obs"][i], self._bounds)
            infos = infos | {"final_obs": last}
        return scaled(observations, self._bounds), rewards, terminations, truncations, infos
