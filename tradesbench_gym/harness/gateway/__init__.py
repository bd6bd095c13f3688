"""The model gateway: a loopback proxy in front of the provider that alone holds the key.

It lets out what a run may ask, tries again what failed in passing, counts tokens from the wire,
keeps the run's limits, and writes every request down. The driver of a run uses `Gateway`; an agent
speaks to its port as to any OpenAI-style endpoint, with `Gateway.token` as its key. Nothing here
knows the company, its calls or its days.
"""

from tradesbench_gym.harness.gateway.journal import NAME as RECORD
from tradesbench_gym.harness.gateway.keeper import Gateway, read_record
from tradesbench_gym.harness.gateway.settings import GatewayError, GatewaySettings, Prices
from tradesbench_gym.harness.gateway.usage import Usage

__all__ = [
    "RECORD",
    "Gateway",
    "GatewayError",
    "GatewaySettings",
    "Prices",
    "Usage",
    "read_record",
]
