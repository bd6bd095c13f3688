"""Policies: the oracle and the baselines of the report, and the registry for your own."""

from tradesbench_gym.policies import baselines, network, oracle, planner
from tradesbench_gym.policies.registry import (
    Decision,
    Policy,
    make_policy,
    policy_names,
    register,
    register_factory,
)

__all__ = [
    "Decision",
    "Policy",
    "baselines",
    "make_policy",
    "network",
    "oracle",
    "planner",
    "policy_names",
    "register",
    "register_factory",
]
