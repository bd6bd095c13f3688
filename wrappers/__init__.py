"""Wrappers around the environments."""

from tradesbench_gym.wrappers.flatten_action import FlattenAction

__all__ = ["FlattenAction"]
