"""The network that learns: one small scorer for every candidate, and a judge of the whole.

A flat network over 337 actions would have to learn anew for each slot what makes an offer good.
Here one network with shared weights looks at each candidate's features beside those of the company
and gives it a score; the policy is the softmax of the scores. A second network, which shares
nothing with the first, values the state. `weights_of` is what ships: `policies/network.py` plays it
without torch.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import torch
from gymnasium import spaces
from sb3_contrib.common.maskable.policies import MaskableActorCriticPolicy
from stable_baselines3.common.torch_layers import BaseFeaturesExtractor
from torch import nn

from tradesbench_gym.policies.features import FIRST_FIT, OFFER_FEATURES, SLACK

_NEVER = -1e8
_AT_FIRST = {FIRST_FIT: 3.0, OFFER_FEATURES - 1: -2.0, 0: -14.0, SLACK: 2.0}
"""Weights of an untrained scorer: the offer of the earliest-fit rule first, then early ones with
time to spare, so that what it tries beside the rule is within reason.
"""


class AsTheyAre(BaseFeaturesExtractor):  # type: ignore[misc]
    """Hands the features of offers and company on as they are."""

    def __init__(self, observation_space: spaces.Dict) -> None:
        super().__init__(observation_space, features_dim=1)

    def forward(self, seen: dict[str, torch.Tensor]) -> tuple[torch.Tensor, torch.Tensor]:
        """Offers and whole."""
        return seen["offers"], seen["whole"]


class SlotNetwork(nn.Module):  # type: ignore[misc]
    """Scores of the candidates, and what the value head takes.

    Args:
        features: of an offer.
        whole: features of the company.
        width: units of the scorer's layers.
        value_width: units of the judge's layers.

    """

    def __init__(self, features: int, whole: int, width: int, value_width: int) -> None:
        super().__init__()
        self.offer = nn.Linear(features, width)
        self.company = nn.Linear(whole, width, bias=False)
        self.hidden = nn.Linear(width, width)
        self.score = nn.Linear(width, 1, bias=False)
        self.direct = nn.Linear(features, 1, bias=False)
        self.judge = nn.Sequential(
            nn.Linear(whole, value_width),
            nn.ReLU(),
            nn.Linear(value_width, value_width),
            nn.ReLU(),
        )
        self.latent_dim_pi, self.latent_dim_vf = 1, value_width

    def begin(self) -> None:
        """Begin as a soft form of the earliest-fit rule."""
        with torch.no_grad():
            self.score.weight.mul_(0.1)
            self.direct.weight.zero_()
            for feature, weight in _AT_FIRST.items():
                self.direct.weight[0, feature] = weight

    def forward(
        self, features: tuple[torch.Tensor, torch.Tensor]
    ) -> tuple[torch.Tensor, torch.Tensor]:
        """Scores, shape (runs, 1 + candidates), and the judge's last layer."""
        return self.forward_actor(features), self.forward_critic(features)

    def forward_actor(self, features: tuple[torch.Tensor, torch.Tensor]) -> torch.Tensor:
        """Scores; rows of zeros, which stand for no offer, get one that is never chosen."""
        offers, whole = features
        runs, entries, width = offers.shape
        rows = offers.reshape(-1, width)
        # exp(-lead) is above zero in every offer, the last feature in the entry that rejects.
        there = torch.nonzero((rows[:, 1] > 0) | (rows[:, -1] > 0)).squeeze(1)
        run = torch.div(there, entries, rounding_mode="floor")
        rows = rows.index_select(0, there)
        first = torch.relu(self.offer(rows) + self.company(whole).index_select(0, run))
        second = torch.relu(self.hidden(first))
        scores = (self.score(second) + self.direct(rows)).squeeze(1)
        empty = torch.full((runs * entries,), _NEVER, dtype=scores.dtype)
        return empty.index_copy(0, there, scores).reshape(runs, entries)

    def forward_critic(self, features: tuple[torch.Tensor, torch.Tensor]) -> torch.Tensor:
        """The judge's last layer."""
        latent: torch.Tensor = self.judge(features[1])
        return latent


class SlotPolicy(MaskableActorCriticPolicy):  # type: ignore[misc]
    """The policy for `MaskablePPO` on a `CandidateBatch`.

    Args:
        width: units of the scorer's layers.
        value_width: units of the judge's layers.

    """

    def __init__(
        self, *args: Any, width: int = 64, value_width: int = 128, **arguments: Any
    ) -> None:
        self._widths = width, value_width
        arguments["features_extractor_class"] = AsTheyAre
        super().__init__(*args, **arguments)

    def _get_constructor_parameters(self) -> dict[str, Any]:
        data: dict[str, Any] = super()._get_constructor_parameters()
        data["width"], data["value_width"] = self._widths
        return data

    def _build(self, lr_schedule: Any) -> None:
        space = self.observation_space
        features, whole = space["offers"].shape[1], space["whole"].shape[0]
        self.mlp_extractor = SlotNetwork(features, whole, *self._widths)
        self.mlp_extractor.begin()
        self.action_net = nn.Identity()
        self.value_net = nn.Linear(self.mlp_extractor.latent_dim_vf, 1)
        self.optimizer = self.optimizer_class(
            self.parameters(), lr=lr_schedule(1), **self.optimizer_kwargs
        )


def weights_of(policy: SlotPolicy) -> dict[str, npt.NDArray[np.float32]]:
    """The arrays of the scorer, as `policies/network.py` takes them."""
    network = policy.mlp_extractor
    arrays = {
        "offer": network.offer.weight.T,
        "offer_bias": network.offer.bias,
        "company": network.company.weight.T,
        "hidden": network.hidden.weight.T,
        "hidden_bias": network.hidden.bias,
        "score": network.score.weight[0],
        "direct": network.direct.weight[0],
    }
    return {
        name: np.ascontiguousarray(array.detach().cpu().numpy(), np.float32)
        for name, array in arrays.items()
    }


def save_weights(path: Path, weights: dict[str, npt.NDArray[np.float32]]) -> None:
    """Write arrays that load without pickle."""
    arrays: dict[str, Any] = dict(weights)
    np.savez_compressed(path, allow_pickle=False, **arrays)
