"""PPO in one file of PyTorch, after CleanRL: no trainer, only the native batch and its masks.

python examples/pytorch_ppo.py --steps 200000
"""

import argparse

import gymnasium as gym
import numpy as np
import torch
from torch import nn
from torch.distributions import Categorical

import tradesbench_gym  # noqa: F401 - registers TradesBench-v0
from tradesbench_gym.training.seeds import VectorTrainingRuns
from tradesbench_gym.wrappers.vector import FlattenAction, QualifiedMask, ScaleObservation

parser = argparse.ArgumentParser()
parser.add_argument("--steps", type=int, default=200_000)
parser.add_argument("--envs", type=int, default=64)
parser.add_argument("--horizon", type=int, default=64)
parser.add_argument("--seed", type=int, default=0)
args = parser.parse_args()

EPOCHS, MINIBATCHES, CLIP, GAE_LAMBDA, THOUSAND = 3, 4, 0.2, 0.95, 1_000.0
# What a dispatcher looks at first; open_jobs, by far the longest array, is left out.
KEYS = ("call", "time", "counts", "today", "free_in", "slot_minutes", "slot_slack", "slot_added")


def flat(seen):
    """The chosen arrays side by side, shape (envs, features)."""
    return torch.as_tensor(np.concatenate([seen[key] for key in KEYS], 1))


class Agent(nn.Module):
    """Two towers: scores of the 337 answers, and a value."""

    def __init__(self, features, actions):
        super().__init__()
        self.actor = nn.Sequential(nn.Linear(features, 128), nn.Tanh(), nn.Linear(128, actions))
        self.critic = nn.Sequential(nn.Linear(features, 128), nn.Tanh(), nn.Linear(128, 1))

    def forward(self, seen, masks):
        """Distribution over the answers that are let out, and values."""
        scores = torch.where(masks, self.actor(seen), torch.tensor(-1e8))
        return Categorical(logits=scores), self.critic(seen).squeeze(1)


torch.manual_seed(args.seed)
batch = gym.make_vec(
    "TradesBench-v0", num_envs=args.envs, observation="planned", autoreset_mode="SameStep"
)
# Whatever the seed, only runs from 10,000 up are played.
flattened = FlattenAction(QualifiedMask(VectorTrainingRuns(batch)))
envs = ScaleObservation(flattened)
observation, _ = envs.reset(seed=args.seed)
seen, masks = flat(observation), torch.as_tensor(envs.action_masks())
agent = Agent(seen.shape[1], masks.shape[1])
optimizer = torch.optim.Adam(agent.parameters(), lr=3e-4, eps=1e-5)
profits = []

for update in range(1, max(1, args.steps // (args.envs * args.horizon)) + 1):
    kept = []
    for _ in range(args.horizon):
        with torch.no_grad():
            distribution, value = agent(seen, masks)
            action = distribution.sample()
        observation, reward, ended, _, info = envs.step(action.numpy())
        gain = torch.as_tensor(reward / THOUSAND, dtype=torch.float32)
        last = torch.as_tensor(ended, dtype=torch.float32)
        kept.append((seen, masks, action, distribution.log_prob(action), value, gain, last))
        seen, masks = flat(observation), torch.as_tensor(envs.action_masks())
        if ended.any():
            profits += (info["final_info"]["results"]["profit"][ended] / 100).tolist()

    # Generalised advantages; the profit is not discounted.
    with torch.no_grad():
        ahead = agent(seen, masks)[1]
    advantage, advantages = torch.zeros(args.envs), []
    for *_, value, gain, last in reversed(kept):
        error = gain + ahead * (1 - last) - value
        advantage = error + GAE_LAMBDA * (1 - last) * advantage
        advantages.insert(0, advantage)
        ahead = value
    columns = [torch.cat(column) for column in zip(*kept, strict=True)]
    all_seen, all_masks, all_actions, old_log_probs, values = columns[:5]
    all_advantages = torch.cat(advantages)
    returns = all_advantages + values

    for _ in range(EPOCHS):
        for rows in torch.randperm(len(returns)).chunk(MINIBATCHES):
            distribution, value = agent(all_seen[rows], all_masks[rows])
            ratio = (distribution.log_prob(all_actions[rows]) - old_log_probs[rows]).exp()
            better = all_advantages[rows]
            better = (better - better.mean()) / (better.std() + 1e-8)
            gain = torch.min(better * ratio, better * ratio.clamp(1 - CLIP, 1 + CLIP)).mean()
            loss = -gain + 0.5 * (value - returns[rows]).pow(2).mean()
            loss -= 0.01 * distribution.entropy().mean()
            optimizer.zero_grad()
            loss.backward()
            nn.utils.clip_grad_norm_(agent.parameters(), 0.5)
            optimizer.step()
    recent = f"{np.mean(profits[-100:]):,.0f}" if profits else "–"
    print(f"{update * args.envs * args.horizon:>9,} steps, profit of the last runs {recent}")
envs.close()
