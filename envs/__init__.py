"""The Gymnasium environments."""

from tradesbench_gym.envs.trades_env import TradesEnv

__all__ = ["TradesEnv"]
