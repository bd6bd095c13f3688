"""What every request passes before an operation sees it: the token, then the size of its body.

A body is read here, in pieces and never further than the limit, and handed on whole. It knows no
operation and no run.
"""

from __future__ import annotations

from starlette.types import ASGIApp, Message, Receive, Scope, Send

from tradesbench_gym.api.faults import RequestError, malformed, refusal
from tradesbench_gym.api.operations import BODY_LIMIT
from tradesbench_gym.api.tokens import Token


class Gate:
    """An application behind a token and a limit on bodies.

    Args:
        app: the application.
        token: what every request must carry.
        limit: bytes of the largest body.

    """

    def __init__(self, app: ASGIApp, token: Token, limit: int = BODY_LIMIT) -> None:
        self._app = app
        self._token = token
        self._limit = limit

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Let a request in, or tell why not."""
        if scope["type"] == "lifespan":
            await self._app(scope, receive, send)
            return
        if scope["type"] != "http":
            await send({"type": "websocket.close", "code": 1008})
            return
        try:
            self._token.check(scope["headers"])
            body = await self._read(scope, receive)
            _check_text(body or b"")
        except RequestError as error:
            headers = {"WWW-Authenticate": "Bearer"} if error.code.startswith("token") else None
            # What is left of a body the server reads and forgets.
            await refusal(error, headers)(scope, receive, send)
            return
        if body is not None:
            await self._app(scope, _again(body, receive), send)

    async def _read(self, scope: Scope, receive: Receive) -> bytes | None:
        """The body; None if the client has gone."""
        announced = dict(scope["headers"]).get(b"content-length", b"0")
        if announced.isdigit() and int(announced[:20]) > self._limit:
            raise self._too_large()
        body = bytearray()
        while True:
            message = await receive()
            if message["type"] == "http.disconnect":
                return None
            body += message.get("body", b"")
            if len(body) > self._limit:
                raise self._too_large()
            if not message.get("more_body", False):
                return bytes(body)

    def _too_large(self) -> RequestError:
        return RequestError(
            f"a body has at most {self._limit} bytes, and this one has more", code="body_too_large"
        )


def _check_text(body: bytes) -> None:
    """Raise RequestError for a body that is no UTF-8, which Python's JSON would guess at."""
    try:
        known = "\0" not in body.decode()
    except UnicodeDecodeError:
        known = False
    if not known:
        raise malformed("it is no text in UTF-8")


def _again(body: bytes, receive: Receive) -> Receive:
    """The body as the one message that is left to receive."""
    left = [body]

    async def receive_again() -> Message:
        if left:
            return {"type": "http.request", "body": left.pop(), "more_body": False}
        return await receive()

    return receive_again
