"""TradesBench Gym: a small service company as a reinforcement-learning environment.

Importing it registers `TradesBench-v0` with Gymnasium; everything heavy is imported when the first
environment is made, or a package below is named.
"""

from importlib import import_module
from types import ModuleType

from gymnasium.envs.registration import register

__version__ = "0.1.0"

register(
    id="TradesBench-v0",
    entry_point="tradesbench_gym.envs:TradesEnv",
    vector_entry_point="tradesbench_gym.envs:TradesVectorEnv",
)


def __getattr__(name: str) -> ModuleType:
    if name in ("company", "envs", "policies", "roads", "wrappers"):
        return import_module(f"tradesbench_gym.{name}")
    raise AttributeError(f"module 'tradesbench_gym' has no attribute {name!r}")
