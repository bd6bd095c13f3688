"""The agent's side of one request: its body, and whether it is still there.

This module knows nothing of what is asked.
"""

from __future__ import annotations

import asyncio
from dataclasses import dataclass, field

from starlette.types import Receive, Send

from tradesbench_gym.errors import TradesBenchError
from tradesbench_gym.harness.gateway.settings import MEBIBYTE

MOST_ASKED_BYTES = 16 * MEBIBYTE
_BODY_SECONDS = 30.0


@dataclass
class Client:
    """The agent's side of one request.

    Attributes:
        gone: set once it has hung up.

    """

    receive: Receive
    send: Send
    gone: asyncio.Event = field(default_factory=asyncio.Event)

    async def body(self) -> bytes:
        """The request's body; TradesBenchError for one that is too long or does not come."""
        taken = bytearray()
        try:
            async with asyncio.timeout(_BODY_SECONDS):
                while True:
                    message = await self.receive()
                    if message["type"] == "http.disconnect":
                        self.gone.set()
                        return b""
                    taken += message.get("body", b"")
                    if len(taken) > MOST_ASKED_BYTES:
                        raise TradesBenchError(
                            f"a request has at most {MOST_ASKED_BYTES} bytes", code="too_large"
                        )
                    if not message.get("more_body", False):
                        return bytes(taken)
        except TimeoutError:
            raise TradesBenchError(
                "the body of the request did not come", code="malformed"
            ) from None

    async def watch(self) -> None:
        """Wait until it hangs up."""
        while (await self.receive())["type"] != "http.disconnect":
            pass
        self.gone.set()
