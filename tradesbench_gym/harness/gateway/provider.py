"""The provider behind its address: one try of a request, and what a failure of it means.

The key is added here, and taken out of whatever comes back. This module knows HTTP, and neither
the agent nor the record.
"""

from __future__ import annotations

import json
import random
import time
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from email.utils import parsedate_to_datetime
from typing import Any

import httpx

from tradesbench_gym import __version__
from tradesbench_gym.harness.faults import FaultKind
from tradesbench_gym.harness.gateway.asking import Asked
from tradesbench_gym.harness.gateway.secrets import Scrubber
from tradesbench_gym.harness.gateway.settings import GatewaySettings

LONGEST_WAIT_SECONDS = 60.0
LONGEST_ASKED_SECONDS = 300.0
"""A provider that asks for a longer wait than this is down."""
_CONNECT_SECONDS = 15.0
_MOST_ERROR_BYTES = 64 * 1024
_MOST_QUOTED = 300
_PASSING = frozenset((408, 409, 425, 429))
_KEY_REFUSED = frozenset((401, 403))
_NO_CREDIT = ("insufficient_quota", "billing_hard_limit", "exceeded your current quota")
_OVERFLOW = (
    "context_length_exceeded", "context length", "context window", "context size",
    "maximum prompt length", "prompt is too long", "input is too long", "too many tokens",
    "token limit exceeded", "input token count", "reduce the length of the messages",
    "exceeded model token limit", "request_too_large",
)  # fmt: skip
"""As the endpoints of a dozen providers put it."""


@dataclass
class ProviderFault(Exception):  # noqa: N818 - it may pass, or be the agent's
    """A try that brought no answer.

    Attributes:
        code: what went wrong.
        why: the same in words, without the key.
        kind: whose fault it is.
        status: the provider's, if it answered at all.
        passing: whether another try may help.
        after: seconds that the provider asks to wait.
        unreported: whether the provider may have worked at it without telling any tokens.
        body: what it answered, without the key.
        body_is_safe: whether the agent may see that.

    """

    code: str
    why: str
    kind: FaultKind = FaultKind.INFRASTRUCTURE
    status: int | None = None
    passing: bool = False
    after: float | None = None
    unreported: bool = False
    body: bytes = b""
    body_is_safe: bool = False

    def __post_init__(self) -> None:
        super().__init__(self.why)


@dataclass
class Backoff:
    """How long to wait before another try."""

    first_wait_seconds: float
    failed: int = 0
    _draw: random.Random = field(default_factory=random.SystemRandom)

    def wait_after(self, fault: ProviderFault) -> float | None:
        """Seconds until the next try; None if the provider asks for too long a wait."""
        self.failed += 1
        if fault.after is not None and fault.after > LONGEST_ASKED_SECONDS:
            return None
        longer = self.first_wait_seconds * (1 << min(self.failed - 1, 16))
        seconds = min(LONGEST_WAIT_SECONDS, longer) * self._draw.uniform(0.75, 1.25)
        return max(seconds, fault.after or 0.0)


class Provider:
    """An OpenAI-style endpoint."""

    def __init__(self, settings: GatewaySettings) -> None:
        self.scrubber = Scrubber(settings.key)
        self._base = settings.base_url.rstrip("/")
        self._knows_stream_options = True
        headers = {"User-Agent": f"tradesbench-gym/{__version__}", "Accept-Encoding": "identity"}
        if settings.key is not None:
            headers["Authorization"] = f"Bearer {settings.key}"
        self._client = httpx.AsyncClient(
            headers=headers,
            timeout=httpx.Timeout(
                settings.request_seconds, connect=min(_CONNECT_SECONDS, settings.request_seconds)
            ),
            limits=httpx.Limits(max_connections=None, keepalive_expiry=30),
            follow_redirects=False,  # the key would go along
            trust_env=not settings.local,
        )

    @asynccontextmanager
    async def asked(self, asked: Asked) -> AsyncIterator[httpx.Response]:
        """The provider's answer, its body still to be read.

        Raises:
            ProviderFault: it could not be asked, or answers with an error.

        """
        if asked.usage_added and not self._knows_stream_options:
            asked = asked.without_usage()
        request = self._client.build_request(
            "POST",
            self._base + asked.path.removeprefix("/v1"),
            content=asked.body,
            headers={
                "Content-Type": "application/json",
                "Accept": "text/event-stream" if asked.stream else "application/json",
            },
        )
        try:
            response = await self._client.send(request, stream=True)
        except (httpx.TransportError, httpx.InvalidURL) as error:
            raise self.lost(error) from None
        try:
            if not response.is_success:
                raise await self._refusal(response, asked)
            if response.headers.get("content-encoding", "identity") != "identity":
                raise ProviderFault(
                    "provider_unreadable",
                    "the provider packs its answers though it was asked not to",
                    unreported=True,
                )
            yield response
        finally:
            await response.aclose()

    def lost(self, error: Exception) -> ProviderFault:
        """What it means that a connection could not be had, or broke off."""
        said = self.quoted(str(error) or type(error).__name__)
        if isinstance(error, httpx.ConnectError | httpx.ConnectTimeout | httpx.ProxyError):
            return ProviderFault(
                "provider_unreachable", f"the provider cannot be reached: {said}", passing=True
            )
        if isinstance(error, httpx.TimeoutException):
            return silent()
        return ProviderFault(
            "provider_dropped",
            f"the provider broke the connection off: {said}",
            passing=True,
            unreported=True,
        )

    def quoted(self, text: str) -> str:
        """Words of the provider's, on one short line and without the key."""
        line = " ".join(self.scrubber.text(text).split())
        return line if len(line) <= _MOST_QUOTED else line[: _MOST_QUOTED - 1] + "…"

    def inside(self, error: Any) -> ProviderFault:
        """What an error means that came inside an answer with a good status."""
        told = error if isinstance(error, Mapping) else {"message": str(error)}
        said = self.quoted(_message(told))
        code = told.get("code")
        status = code if isinstance(code, int) and not isinstance(code, bool) else None
        words = f"{code} {told.get('type')} {said}".lower()
        if any(one in words for one in _OVERFLOW):
            return _overflow(said, status)
        rate = status == 429 or "rate_limit" in words
        return ProviderFault(
            "rate_limited" if rate else "provider_error",
            f"the provider fails within its answer: {said}",
            status=status,
            passing=rate or status is None or status >= 500 or status in _PASSING,
            unreported=True,
        )

    async def _refusal(self, response: httpx.Response, asked: Asked) -> ProviderFault:
        status, body = response.status_code, await self._error_body(response)
        told = _parsed(body)
        said = self.quoted(_message(told) or body.decode("utf-8", "replace"))
        words = f"{told.get('code')} {told.get('type')} {said}".lower()
        if status in _KEY_REFUSED:
            # Not in the provider's words: some repeat half of the key.
            why = f"the provider refuses the run's key (HTTP {status})"
            return ProviderFault("key_refused", why, status=status)
        if status == 402 or (status == 429 and any(one in words for one in _NO_CREDIT)):
            why = f"the provider says that the account is empty (HTTP {status}): {said}"
            return ProviderFault("no_credit", why, status=status, body=body)
        if status in _PASSING or status >= 500:
            code = "rate_limited" if status == 429 else "provider_error"
            why = f"the provider answers HTTP {status}: {said}"
            after = _asked_to_wait(response.headers)
            return ProviderFault(code, why, status=status, passing=True, after=after, body=body)
        if 400 <= status < 500 and any(one in words for one in _OVERFLOW):
            fault = _overflow(said, status)
            fault.body, fault.body_is_safe = body, True
            return fault
        if asked.usage_added and "stream_options" in words and self._knows_stream_options:
            self._knows_stream_options = False
            why = "the provider does not know stream_options, and so will not report usage"
            return ProviderFault("no_stream_options", why, status=status, passing=True, body=body)
        why = f"the provider refuses the request (HTTP {status}): {said}"
        return ProviderFault(
            "provider_refused", why, status=status, body=body, body_is_safe=status >= 400
        )

    async def _error_body(self, response: httpx.Response) -> bytes:
        body = bytearray()
        try:
            async for piece in response.aiter_raw():
                body += piece
                if len(body) > _MOST_ERROR_BYTES:
                    break
        except httpx.TransportError:
            pass  # what came of it will do
        # Before it is cut: half a key at its end is no key to be found.
        clean = self.scrubber.raw(bytes(body))
        if len(clean) > _MOST_ERROR_BYTES:
            clean = clean[:_MOST_ERROR_BYTES]
        return clean[: len(clean) - self.scrubber.tail(clean)]

    async def close(self) -> None:
        """Let go of the connections."""
        await self._client.aclose()


def silent() -> ProviderFault:
    """The provider said nothing for as long as it may."""
    return ProviderFault(
        "provider_silent",
        "the provider gave no answer in the time that it has",
        passing=True,
        unreported=True,
    )


def _overflow(said: str, status: int | None) -> ProviderFault:
    return ProviderFault(
        "context_overflow",
        f"the conversation is longer than the model takes: {said}",
        kind=FaultKind.MODEL,
        status=status,
    )


def _parsed(body: bytes) -> Mapping[str, Any]:
    try:
        told = json.loads(body)
    except (ValueError, RecursionError):
        return {}
    if isinstance(told, list) and told:  # as Google's endpoint does
        told = told[0]
    if not isinstance(told, dict):
        return {}
    inner = told.get("error")
    return inner if isinstance(inner, dict) else told if inner is None else {"message": str(inner)}


def _message(told: Mapping[str, Any]) -> str:
    inner = told.get("message", told.get("detail", ""))
    return inner if isinstance(inner, str) else json.dumps(inner)


def _asked_to_wait(headers: httpx.Headers) -> float | None:
    """Seconds, from a number of seconds or milliseconds, or from a date."""
    for name, unit in (("retry-after-ms", 1e-3), ("retry-after", 1.0)):
        said = headers.get(name, "").strip()
        try:
            seconds = float(said) * unit
        except ValueError:
            continue
        if 0 <= seconds < float("inf"):
            return seconds
    try:
        return max(
            0.0, parsedate_to_datetime(headers.get("retry-after", "")).timestamp() - time.time()
        )
    except (ValueError, TypeError, OverflowError):
        return None
