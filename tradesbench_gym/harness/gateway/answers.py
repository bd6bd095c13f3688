"""What the agent is told when it gets no answer of the model's: an error as OpenAI's clients expect
it, and one that they do not ask again about.

This module knows the format and nothing of why.
"""

from __future__ import annotations

import json

from starlette.types import Send

_HEADERS = [
    (b"content-type", b"application/json"),
    # The gateway has tried as often as may be: a client that tries again would only multiply that.
    (b"x-should-retry", b"false"),
]


def error_body(code: str, sentence: str) -> bytes:
    """An error of ours."""
    told = {"message": sentence, "type": "gateway_error", "code": code, "param": None}
    return json.dumps({"error": told}).encode()


async def send_whole(send: Send, status: int, body: bytes, kind: bytes = b"") -> None:
    """Send an answer in one piece."""
    headers = [*_HEADERS] if not kind else [(b"content-type", kind)]
    headers.append((b"content-length", b"%d" % len(body)))
    await send({"type": "http.response.start", "status": status, "headers": headers})
    await send({"type": "http.response.body", "body": body})


async def send_error(send: Send, status: int, code: str, sentence: str) -> None:
    """Send an error of ours."""
    await send_whole(send, status, error_body(code, sentence))


async def send_head(send: Send, kind: bytes) -> None:
    """Begin an answer in events."""
    headers = [(b"content-type", kind), (b"cache-control", b"no-cache")]
    await send({"type": "http.response.start", "status": 200, "headers": headers})


async def send_piece(send: Send, piece: bytes) -> None:
    """Send what is there of an answer in events."""
    if piece:
        await send({"type": "http.response.body", "body": piece, "more_body": True})


async def send_end(send: Send) -> None:
    """Say that an answer in events is whole."""
    await send({"type": "http.response.body", "body": b""})


async def send_cut(send: Send, code: str, sentence: str) -> None:
    """Say that an answer in events was cut off; the connection must be broken off afterwards.

    The empty line first: an event of which half was sent must not become a whole one.
    """
    event = b'event: error\ndata: {"type":"error",' + error_body(code, sentence)[1:] + b"\n\n"
    await send_piece(send, b"\n\n" + event)
