"""Stable-Baselines3's PPO on many runs at once.

    python examples/sb3_ppo.py --steps 200000

PPO knows no masks: offers that the company does not let out count as rejected calls, and much of
what it learns is which those are. `examples/sb3_contrib_maskable_ppo.py` spares it that.
"""

import argparse

import gymnasium as gym
from stable_baselines3 import PPO

import tradesbench_gym  # noqa: F401 - registers TradesBench-v0
from tradesbench_gym.training.sb3 import BatchVecEnv
from tradesbench_gym.wrappers.vector import ScaleObservation

parser = argparse.ArgumentParser()
parser.add_argument("--steps", type=int, default=200_000)
parser.add_argument("--envs", type=int, default=64)
arguments = parser.parse_args()

# The native batch in compiled code, laid out as SB3's VecEnv; it plays runs from 10,000 up.
batch = gym.make_vec("TradesBench-v0", num_envs=arguments.envs, autoreset_mode="SameStep")
envs = BatchVecEnv(ScaleObservation(batch))

model = PPO("MultiInputPolicy", envs, n_steps=64, batch_size=1024, gamma=1.0, seed=0)
model.learn(arguments.steps)

profits = [episode["r"] for episode in model.ep_info_buffer or []]
if profits:
    print(f"profit of the last {len(profits)} runs: {sum(profits) / len(profits):,.2f} dollars")
print(f"{model.num_timesteps} steps")
