"""sb3-contrib's MaskablePPO: it never makes an offer that is not let out or must fail.

    python examples/sb3_contrib_maskable_ppo.py --steps 200000

`python -m tradesbench_gym.training.train` trains the model that ships: with features of its own, a
warm start and checkpoints.
"""

import argparse

import gymnasium as gym
from sb3_contrib import MaskablePPO

import tradesbench_gym  # noqa: F401 - registers TradesBench-v0
from tradesbench_gym.training.sb3 import BatchVecEnv
from tradesbench_gym.wrappers.vector import FlattenAction, QualifiedMask, ScaleObservation

parser = argparse.ArgumentParser()
parser.add_argument("--steps", type=int, default=200_000)
parser.add_argument("--envs", type=int, default=64)
arguments = parser.parse_args()

batch = gym.make_vec(
    "TradesBench-v0", num_envs=arguments.envs, observation="planned", autoreset_mode="SameStep"
)
# One number for the whole offer, so that a mask can say "this technician only on that day".
envs = BatchVecEnv(ScaleObservation(FlattenAction(QualifiedMask(batch))))

model = MaskablePPO("MultiInputPolicy", envs, n_steps=64, batch_size=1024, gamma=1.0, seed=0)
model.learn(arguments.steps)

profits = [episode["r"] for episode in model.ep_info_buffer or []]
if profits:
    print(f"profit of the last {len(profits)} runs: {sum(profits) / len(profits):,.2f} dollars")
print(f"{model.num_timesteps} steps")
