"""TradesBench Gym: a small service company as a reinforcement-learning environment.

Importing it registers `TradesBench-v0` with Gymnasium; everything heavy is imported when the first
environment is made.
"""

from gymnasium.envs.registration import register

__version__ = "0.1.0"

register(id="TradesBench-v0", entry_point="tradesbench_gym.envs:TradesEnv")
