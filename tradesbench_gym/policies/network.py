"""The trained dispatcher, played with NumPy alone: DESK in, decision out.

The weights are a `.npz` of plain arrays (no pickle), made by `tradesbench_gym.training`. The
network scores each offer worth considering from the features of `policies/features.py` and offers
the best; it knows what a dispatcher knows.
"""

from __future__ import annotations

import zipfile
from functools import lru_cache
from pathlib import Path

import numpy as np
import numpy.typing as npt

from tradesbench_gym.core import observe
from tradesbench_gym.core.parts import MASK, OBSERVATION, PARTS, PLANNED, SKY_DAYS, WORD, places
from tradesbench_gym.core.view import Desk
from tradesbench_gym.errors import PolicyError
from tradesbench_gym.policies.features import OFFER_FEATURES, Candidates, Features, Seen
from tradesbench_gym.policies.registry import Decision, Policy, register_factory

SHIPPED = Path(__file__).parent / "ppo.npz"
ARRAYS = ("offer", "offer_bias", "company", "hidden", "hidden_bias", "score", "direct")
_WEEK = 7
Weights = dict[str, npt.NDArray[np.float32]]


@register_factory("ppo")
def ppo(weights: str | None = None) -> Policy:
    """The trained dispatcher.

    Args:
        weights: another `.npz` than the one that ships.

    Raises:
        PolicyError: no such file, a file of something else, or a company of another size.

    """
    network = load_network(SHIPPED if weights is None else Path(weights))
    views: dict[bytes, DeskView] = {}  # by handbook and plan: one, as a rule

    def decide(desk: Desk) -> Decision | None:
        key = desk["handbook"].tobytes() + desk["plan"].tobytes()
        if key not in views:
            views[key] = DeskView(desk)
            network.check(views[key].features)
        return network.decide(views[key], desk)

    return decide


class DeskView:
    """Turns the desks of one company into the arrays of the "planned" observation."""

    def __init__(self, desk: Desk) -> None:
        book = desk["handbook"]
        self.shape = desk.technicians, int(book["booking_days"]), int(book["windows"])
        slots = int(np.prod(self.shape))
        self._where = places(desk.technicians, slots, int(book["zones"]), planned=True)
        self._words = np.zeros(int(self._where[-1]), np.int32)
        self._desks = desk.array.copy()
        self._masks = np.zeros((2, _WEEK, int(book["windows"]) + 1, slots), np.int8)
        observe.all_masks(self._desks, self._masks)
        self._masks.flags.writeable = False
        each = {
            "once": 1,
            "technician": desk.technicians,
            "slot": slots,
            "sky": SKY_DAYS * int(book["zones"]),
        }
        self._seen: Seen = {}
        for part in (*OBSERVATION, MASK, *PLANNED):
            start = int(self._where[PARTS.index(part)]) * WORD
            size = (1, part.size * each[part.each])
            self._seen[part.name] = np.ndarray(size, np.dtype(part.dtype), self._words, start)
        self.features = Features(book, int(desk["plan"]["margin"]))

    def look(self, desk: Desk) -> Candidates:
        """The candidates for the call on the line, as a batch of one."""
        # A desk is read-only, for which the kernel would be compiled once more.
        self._desks.view(np.uint8)[:] = desk.array.view(np.uint8)
        observe.observe(self._desks, 0, 0, self._where, self._masks, self._words)
        return self.features(self._seen, self._seen[MASK.name].reshape(1, *self.shape))


class Network:
    """A scorer of offers: one hidden vector an offer, beside one for the company."""

    def __init__(self, weights: Weights) -> None:
        self.weights = weights

    def check(self, features: Features) -> None:
        """PolicyError unless the network was made for companies of this size."""
        made_for = self.weights["company"].shape[0]
        if made_for != features.whole_size:
            raise PolicyError(
                f"this network was trained for a company with {made_for} features, and here are "
                f"{features.whole_size}: it plays the scenario it was trained on",
                code="network_foreign",
                field="policy",
            )

    def scores(self, candidates: Candidates) -> npt.NDArray[np.float32]:
        """Score of each entry, shape (runs, 1 + candidates); -inf where there is none."""
        w = self.weights
        run, entry = np.nonzero(candidates.legal)
        rows = candidates.offers[run, entry]
        company = candidates.whole @ w["company"]
        first = np.maximum(rows @ w["offer"] + w["offer_bias"] + company[run], 0)
        second = np.maximum(first @ w["hidden"] + w["hidden_bias"], 0)
        scores = np.full(candidates.legal.shape, -np.inf, np.float32)
        scores[run, entry] = second @ w["score"] + rows @ w["direct"]
        return scores

    def decide(self, view: DeskView, desk: Desk) -> Decision | None:
        """The best offer for the call on the line; None to reject."""
        candidates = view.look(desk)
        flat = int(candidates.flat[0, int(self.scores(candidates)[0].argmax())])
        if flat == 0:
            return None
        return Decision(*(int(number) for number in np.unravel_index(flat - 1, view.shape)))


@lru_cache(maxsize=8)
def load_network(path: Path) -> Network:
    """The network in a `.npz` file, read without pickle.

    Raises:
        PolicyError: no such file, or a file of something else.

    """
    try:
        with np.load(path, allow_pickle=False) as file:
            weights: Weights = {name: file[name].astype(np.float32) for name in ARRAYS}
    except FileNotFoundError:
        raise PolicyError(
            f"there is no network {path}: train one with python -m tradesbench_gym.training.train",
            code="no_network",
            field="weights",
        ) from None
    except (OSError, KeyError, ValueError, EOFError, zipfile.BadZipFile) as error:
        raise PolicyError(
            f"{path} holds no network of this package: {error}", code="no_network", field="weights"
        ) from error
    if weights["offer"].shape[0] != OFFER_FEATURES or weights["direct"].shape != (OFFER_FEATURES,):
        raise PolicyError(
            f"{path} was trained on other features than this release has",
            code="network_foreign",
            field="weights",
        )
    return Network(weights)
