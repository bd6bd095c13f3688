"""PPO of RLlib's new API stack, with masks, on as many machines as Ray has.

    python examples/rllib_ppo.py --steps 200000 --runners 2

The environment with the mask in its observation, and the module that reads it there, stand in
`tradesbench_gym/training/rllib.py`; `python -m tradesbench_gym.training.rllib --help` has more.
"""

import argparse

import gymnasium as gym
from ray.rllib.algorithms.ppo import PPOConfig
from ray.rllib.core.rl_module.rl_module import RLModuleSpec
from ray.tune.registry import register_env

from tradesbench_gym.training.rllib import MaskedModule, make_batch

parser = argparse.ArgumentParser()
parser.add_argument("--steps", type=int, default=200_000)
parser.add_argument("--envs", type=int, default=32)
parser.add_argument("--runners", type=int, default=0)
arguments = parser.parse_args()

# A native batch in every runner; it plays runs from 10,000 up.
register_env("tradesbench-masked", make_batch)
algorithm = (
    PPOConfig()
    .environment("tradesbench-masked", env_config={"observation": "planned"})
    .env_runners(
        num_env_runners=arguments.runners,
        num_envs_per_env_runner=arguments.envs,
        gym_env_vectorize_mode=gym.VectorizeMode.VECTOR_ENTRY_POINT,
    )
    .rl_module(
        rl_module_spec=RLModuleSpec(module_class=MaskedModule, model_config={"hidden": [256]})
    )
    .training(train_batch_size_per_learner=min(8_192, arguments.steps), minibatch_size=256)
    .build_algo()
)

steps = 0
while steps < arguments.steps:
    results = algorithm.train()
    steps = int(results["num_env_steps_sampled_lifetime"])
    profit = results["env_runners"].get("episode_return_mean")
    if profit is not None:
        print(f"{steps} steps, mean profit {1_000 * profit:,.2f} dollars")
algorithm.stop()
print(f"{steps} steps")
