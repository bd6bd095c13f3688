"""The native batch as the shipped learner sees it: features of candidates instead of arrays, the
number of a candidate instead of an offer, thousands of dollars instead of dollars.

The features themselves stand in `policies/features.py`, where the shipped policy finds them too.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import gymnasium as gym
import numpy as np
import numpy.typing as npt
from gymnasium import spaces
from gymnasium.vector import AutoresetMode, VectorEnv, VectorWrapper
from gymnasium.vector.utils import batch_space

from tradesbench_gym.policies.features import CANDIDATES, OFFER_FEATURES, Candidates, Features
from tradesbench_gym.wrappers.company import business_of
from tradesbench_gym.wrappers.vector import offers

Learned = dict[str, npt.NDArray[np.float32]]
if TYPE_CHECKING:
    _Wrapper = VectorWrapper[Any, Any, Any, Any, Any]
else:  # generic from Gymnasium 1.3 on only
    _Wrapper = VectorWrapper

_THOUSAND = 1_000.0


class CandidateBatch(_Wrapper):
    """Observation `{"offers": (49, features), "whole": (features,)}`, action `Discrete(49)`.

    Entry 0 rejects; the others are the offers worth considering, the earliest first, which
    `action_masks()` tells from empty entries. Wraps `TradesBench-v0` with `observation="planned"`.
    Rewards are in thousands of dollars.

    Attributes:
        shape: technicians, days, windows.
        seen: the arrays that the features were last computed from.

    """

    def __init__(self, env: VectorEnv[Any, Any, Any]) -> None:
        super().__init__(env)
        seen: Any = env.single_observation_space
        actions: Any = env.single_action_space
        if "slot_slack" not in getattr(seen, "spaces", ()):
            raise TypeError('candidates need make_vec(..., observation="planned")')
        business = business_of(env)
        self._features = Features(business.handbook, int(business.plan["margin"]))
        self.shape = tuple(int(size) for size in actions.nvec[1:])
        self._now: Candidates | None = None
        self.seen: dict[str, npt.NDArray[Any]] = {}
        limit = np.float32(np.inf)
        self.single_observation_space = spaces.Dict(
            {
                "offers": spaces.Box(-limit, limit, (1 + CANDIDATES, OFFER_FEATURES)),
                "whole": spaces.Box(-limit, limit, (self._features.whole_size,)),
            }
        )
        self.single_action_space = spaces.Discrete(1 + CANDIDATES)
        self.observation_space = batch_space(self.single_observation_space, self.num_envs)
        self.action_space = batch_space(self.single_action_space, self.num_envs)

    @property
    def now(self) -> Candidates:
        """The candidates of each run."""
        if self._now is None:
            raise gym.error.ResetNeeded("call reset() first")
        return self._now

    def reset(
        self, *, seed: Any = None, options: dict[str, Any] | None = None
    ) -> tuple[Learned, dict[str, Any]]:
        """Begin runs; see `TradesVectorEnv.reset`."""
        seen, infos = self.env.reset(seed=seed, options=options)
        return self._look(seen, infos), infos

    def step(self, actions: Any) -> tuple[Learned, Any, Any, Any, dict[str, Any]]:
        """Make the chosen offers and play on."""
        flat = self.now.flat[np.arange(self.num_envs), np.asarray(actions)]
        seen, rewards, ended, cut, infos = self.env.step(offers(flat, self.shape))
        learned = self._look(seen, infos)
        if self.env.metadata["autoreset_mode"] is AutoresetMode.SAME_STEP and ended.any():
            self._convert_last(infos)
        return learned, np.asarray(rewards) / _THOUSAND, ended, cut, infos

    def action_masks(self) -> npt.NDArray[np.bool_]:
        """Which entries there are: bool, shape (num_envs, 1 + 48)."""
        return self.now.legal

    def _look(self, seen: dict[str, Any], infos: dict[str, Any]) -> Learned:
        self.seen, self._now = seen, self._features(seen, infos["action_mask"])
        return {"offers": self._now.offers, "whole": self._now.whole}

    def _convert_last(self, infos: dict[str, Any]) -> None:
        """Put features in place of the arrays that ended runs showed at last."""
        ended = np.flatnonzero(infos["_final_obs"])
        last = infos["final_obs"]
        seen = {name: np.stack([last[i][name] for i in ended]) for name in last[ended[0]]}
        made = self._features(seen, np.zeros((len(ended), *self.shape), np.int8))
        for row, i in enumerate(ended):
            last[i] = {"offers": made.offers[row], "whole": made.whole[row]}
