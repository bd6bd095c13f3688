"""The gateway's application: three addresses behind the gateway's own token, and a sentence for
every other.

This module knows addresses, and nothing of what passes through them.
"""

from __future__ import annotations

import hmac
import json
from collections.abc import Callable

from starlette.types import Message, Receive, Scope, Send

from tradesbench_gym.errors import TradesBenchError, shown
from tradesbench_gym.harness.gateway.answers import send_error, send_whole
from tradesbench_gym.harness.gateway.asking import CHAT, RESPONSES
from tradesbench_gym.harness.gateway.client import Client
from tradesbench_gym.harness.gateway.relay import Relay
from tradesbench_gym.harness.gateway.settings import GatewayError

MODELS = "/v1/models"
_SCHEME = b"bearer "
_ADDRESSES = f"POST {CHAT}, POST {RESPONSES} and GET {MODELS}"


class Door:
    """The application.

    Args:
        relay: answers what is let in.
        token: what every request must carry.
        model: the one model there is.
        broken: called when the record of requests cannot be written: nothing may be let out then.

    """

    def __init__(self, relay: Relay, token: str, model: str, broken: Callable[[], None]) -> None:
        self._relay = relay
        self._token = token.encode()
        self._broken = broken
        offered = {"id": model, "object": "model", "created": 0, "owned_by": "the run"}
        self._models = json.dumps({"object": "list", "data": [offered]}).encode()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer one request."""
        if scope["type"] != "http":
            await send({"type": "websocket.close", "code": 1008})
            return
        begun = False

        async def sending(message: Message) -> None:
            nonlocal begun
            begun = True
            await send(message)

        try:
            await self._answer(scope, receive, sending)
        except GatewayError as error:
            self._broken()
            if not begun:
                await send_error(send, 503, error.code, "the gateway cannot record requests")

    async def _answer(self, scope: Scope, receive: Receive, send: Send) -> None:
        method, path = scope["method"], scope["path"]
        if not self._known(scope):
            error = TradesBenchError(
                "send the gateway's token in one header, `Authorization: Bearer <token>`",
                code="token",
            )
            await self._relay.refuse(send, path, 401, error)
        elif method == "POST" and path in (CHAT, RESPONSES):
            await self._relay.answer(path, Client(receive, send))
        elif method == "GET" and path == MODELS:
            await send_whole(send, 200, self._models, b"application/json")
        else:
            asked = shown(f"{method} {path}")
            error = TradesBenchError(
                f"there is no {asked} here: the gateway answers {_ADDRESSES}",
                code="no_such_address",
            )
            await self._relay.refuse(send, path, 404, error)

    def _known(self, scope: Scope) -> bool:
        given = [value for name, value in scope["headers"] if name.lower() == b"authorization"]
        if len(given) != 1 or given[0][: len(_SCHEME)].lower() != _SCHEME:
            return False
        return hmac.compare_digest(given[0][len(_SCHEME) :].strip(), self._token)
