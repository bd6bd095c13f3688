"""The errors of the company, under the name most callers look for; they live in
`tradesbench_gym.errors` so that the roads may raise them too without knowing the company."""

from tradesbench_gym.errors import (
    ActionError,
    BookingError,
    MapError,
    PolicyError,
    ScenarioError,
    StateError,
    TradesBenchError,
)

__all__ = [
    "ActionError",
    "BookingError",
    "MapError",
    "PolicyError",
    "ScenarioError",
    "StateError",
    "TradesBenchError",
]
