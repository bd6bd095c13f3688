"""Wrappers around the environments; `wrappers.vector` has them for vector environments."""

from tradesbench_gym.wrappers import vector
from tradesbench_gym.wrappers.flatten_action import FlattenAction
from tradesbench_gym.wrappers.qualified_mask import QualifiedMask
from tradesbench_gym.wrappers.scale_observation import ScaleObservation
from tradesbench_gym.wrappers.text_wrapper import TextWrapper

__all__ = ["FlattenAction", "QualifiedMask", "ScaleObservation", "TextWrapper", "vector"]
