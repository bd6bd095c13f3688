"""Passing an answer on while it is read: byte for byte as it came, but for the provider's key.

An answer in events is passed on as it comes, from the first that says anything, and its end only
once it has been written down. One in a single piece is passed on when it is there. This module
knows one try; what becomes of a failed one is not its business.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator
from typing import Protocol

import httpx

from tradesbench_gym.harness.faults import FaultKind
from tradesbench_gym.harness.gateway.answers import send_end, send_head, send_piece, send_whole
from tradesbench_gym.harness.gateway.client import Client
from tradesbench_gym.harness.gateway.provider import Provider, ProviderFault, silent
from tradesbench_gym.harness.gateway.recorder import Pieces
from tradesbench_gym.harness.gateway.secrets import ScrubbedStream
from tradesbench_gym.harness.gateway.settings import MEBIBYTE, GatewaySettings
from tradesbench_gym.harness.gateway.wire import Events, Reading

MOST_WHOLE_BYTES = 16 * MEBIBYTE
"""Of an answer in one piece, or of one event: they are held in memory."""
_AFTER_END_SECONDS = 1.0
_EVENTS = "text/event-stream"


class Passing(Protocol):
    """An answer on its way.

    Attributes:
        reading: what was read of it so far.
        size: bytes so far.
        forwarded: whether the agent has seen the beginning.
        sending: whether it is the agent that is waited for.

    """

    reading: Reading
    size: int
    forwarded: bool
    sending: bool

    async def take(self) -> None:
        """Take the answer in and pass it on, all but its end; ProviderFault if it breaks off."""

    async def finish(self) -> None:
        """Pass on the end."""


def passing(
    settings: GatewaySettings,
    provider: Provider,
    path: str,
    response: httpx.Response,
    client: Client,
    pieces: Pieces,
) -> Passing:
    """The way to pass an answer on: in events if that is how it comes."""
    kind = response.headers.get("content-type", "").lower()
    made = _Streamed if kind.startswith(_EVENTS) else _Whole
    return made(settings, provider, path, response, client, pieces)


class _Either:
    """What both ways have in common."""

    def __init__(
        self,
        settings: GatewaySettings,
        provider: Provider,
        path: str,
        response: httpx.Response,
        client: Client,
        pieces: Pieces,
    ) -> None:
        self._settings = settings
        self._provider = provider
        self._path = path
        self._response = response
        self._client = client
        self._pieces = pieces
        self.reading = Reading()
        self.size = 0
        self.forwarded = False
        self.sending = False

    async def _taken(self, most: int) -> AsyncIterator[bytes]:
        """What comes, until it ends, breaks off, falls silent or will not end."""
        coming = self._response.aiter_raw()
        while True:
            patience = _AFTER_END_SECONDS if self.reading.closed else self._settings.silence
            try:
                async with asyncio.timeout(patience):
                    piece = await anext(coming, None)
            except (TimeoutError, httpx.TransportError) as error:
                if self.reading.closed and self.reading.ended:
                    return
                if isinstance(error, TimeoutError):
                    raise silent() from None
                raise self._provider.lost(error) from None
            if piece is None:
                return
            self.size += len(piece)
            if self.size > most:
                raise ProviderFault(
                    "endless_output",
                    f"the answer did not end within {most} bytes",
                    kind=FaultKind.MODEL,
                    unreported=True,
                )
            yield piece


class _Whole(_Either):
    """An answer in one piece."""

    async def take(self) -> None:
        clean, body = ScrubbedStream(self._provider.scrubber), bytearray()
        async for piece in self._taken(min(self._settings.most_bytes, MOST_WHOLE_BYTES)):
            passed = clean.feed(piece)
            self._pieces.add(passed)
            body += passed
        self._pieces.add(end := clean.end())
        self._clean = bytes(body + end)
        try:
            answer = json.loads(self._clean)
        except (ValueError, RecursionError):
            answer = None
        self.reading.whole(self._path, answer)
        if self.reading.error is not None:
            raise self._provider.inside(self.reading.error)
        if not self.reading.ended:
            raise ProviderFault(
                "provider_unreadable",
                "the provider answers with no answer of a model's",
                passing=True,
                unreported=True,
            )

    async def finish(self) -> None:
        self.sending = True
        await send_whole(self._client.send, 200, self._clean, b"application/json")
        self.sending = False


class _Streamed(_Either):
    """An answer in events."""

    async def take(self) -> None:
        events = Events(self._path, min(self._settings.most_bytes, MOST_WHOLE_BYTES))
        self.reading = events.reading
        clean, self._held = ScrubbedStream(self._provider.scrubber), b""
        async for piece in self._taken(self._settings.most_bytes):
            events.feed(piece)
            await self._pass(clean.feed(piece))
        events.end()
        await self._pass(clean.end())
        if self.reading.error is not None:
            raise self._provider.inside(self.reading.error)
        if not self.reading.ended:
            where = f" in the middle of a call of {self.reading.calling}"
            raise ProviderFault(
                "stream_cut",
                f"the provider cut its answer off{where if self.reading.calling else ''}",
                passing=True,
                unreported=True,
            )

    async def _pass(self, piece: bytes) -> None:
        self._pieces.add(piece)
        self._held += piece
        if self.reading.error is not None and not self.forwarded:
            raise self._provider.inside(self.reading.error)
        if not self.reading.begun or self.reading.closed:
            return
        self.sending = True
        await self._head()
        await send_piece(self._client.send, self._held)
        self.sending = False
        self._held = b""

    async def _head(self) -> None:
        if not self.forwarded:
            self.forwarded = True
            await send_head(self._client.send, _EVENTS.encode())

    async def finish(self) -> None:
        self.sending = True
        await self._head()
        await send_piece(self._client.send, self._held)
        await send_end(self._client.send)
        self.sending = False
