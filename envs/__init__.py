"""The Gymnasium environments."""

from tradesbench_gym.envs.trades_env import TradesEnv
from tradesbench_gym.envs.trades_vector_env import TradesVectorEnv

__all__ = ["TradesEnv", "TradesVectorEnv"]
