"""An OpenAI-compatible endpoint: one question, one answer, with patience for what passes.

It knows the `openai` client (the extra [llm]) and no run. The key is known here alone: `scrub`
takes it out of whatever leaves.
"""

from __future__ import annotations

import json
import random
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import urlsplit

from tradesbench_gym.errors import TradesBenchError, needs

FIRST_WAIT_SECONDS, LONGEST_WAIT_SECONDS = 1.0, 60.0
_MOST_QUOTED = 300
_KEY_AT_LEAST = 4
"""Characters of a key; a shorter one would be found in every text."""
_PASSING = {408, 409, 425, 429}
_NO_KEY_NEEDED = "none"
_sleep = time.sleep
_REFUSED_KEY = {401, 403}


class EndpointError(TradesBenchError):
    """The endpoint cannot be used, or answers no more."""


class ContextFullError(EndpointError):
    """The conversation is longer than the model takes."""


@dataclass(frozen=True)
class Usage:
    """Tokens of one reply, as the endpoint counts them; `cached` is part of `prompt`."""

    prompt: int
    completion: int
    cached: int


@dataclass(frozen=True)
class Answer:
    """What came back.

    Attributes:
        message: the assistant's, as it came.
        usage: None where the endpoint reports none.
        seconds: until it was there, waits included.
        retries: why it had to be asked again, each time.

    """

    message: Mapping[str, Any]
    usage: Usage | None
    finish: str | None
    seconds: float
    retries: tuple[str, ...] = field(default=())


class Endpoint:
    """A model at an address.

    Args:
        base_url: such as `http://localhost:8000/v1`.
        model: the name by which the endpoint knows it.
        key: sent as bearer token; None sends none that opens anything.
        timeout: seconds without a byte after which a request is given up.
        tries: how often a request is made at most.
        waits: told how long the next wait is, and why.

    Raises:
        EndpointError: the client is not installed, or an address or key that cannot be.

    """

    def __init__(
        self,
        base_url: str,
        model: str,
        *,
        key: str | None = None,
        timeout: float = 120.0,
        tries: int = 6,
        waits: Callable[[float, str], None] = lambda _seconds, _why: None,
    ) -> None:
        _check_url(base_url)
        self._key = _checked_key(key)
        self.base_url, self.model = base_url, model
        self._tries, self.waits = tries, waits
        self._client = _openai().OpenAI(
            api_key=self._key or _NO_KEY_NEEDED, base_url=base_url, timeout=timeout, max_retries=0
        )

    def ask(
        self, messages: Sequence[Mapping[str, Any]], tools: Sequence[Mapping[str, Any]] = ()
    ) -> Answer:
        """Send a chat and wait for the assistant's next message.

        Raises:
            ContextFullError: the chat is too long.
            EndpointError: the endpoint refuses, or has failed as often as it may.

        """
        request: dict[str, Any] = {"messages": list(messages)}
        if tools:
            request["tools"] = list(tools)
        begun, failed = time.monotonic(), list[str]()
        while True:
            try:
                body = self._post(request)
                message, finish = _message_of(body)
            except _Passing as passing:
                failed.append(passing.why)
                if len(failed) >= self._tries:
                    raise self._dead(failed) from None
                self._wait(len(failed), passing)
                continue
            seconds = time.monotonic() - begun
            return Answer(message, _usage_of(body), finish, seconds, tuple(failed))

    def scrub(self, value: Any) -> Any:
        """A value of plain parts without the key, wherever it stood."""
        if self._key is None:
            return value
        if isinstance(value, str):
            return value.replace(self._key, "[key]")
        if isinstance(value, Mapping):
            return {self.scrub(key): self.scrub(inner) for key, inner in value.items()}
        if isinstance(value, list | tuple):
            return [self.scrub(inner) for inner in value]
        return value

    def close(self) -> None:
        """Let go of the connections."""
        self._client.close()

    def _post(self, request: dict[str, Any]) -> Any:
        openai = _openai()
        try:
            # As extra_body: the client looks into every message of its own arguments against its
            # types, which takes longer than all the rest of a call.
            raw = self._client.chat.completions.with_raw_response.create(
                model=self.model, messages=(), extra_body=request
            )
            return json.loads(raw.text)
        except openai.APITimeoutError:
            raise _Passing("no answer in time") from None
        except openai.APIConnectionError as error:
            cause = error.__cause__ or error
            raise _Passing(self._quoted(f"no connection: {cause}")) from None
        except openai.APIStatusError as error:
            raise self._told(error) from None
        except openai.OpenAIError as error:
            raise _Passing(self._quoted(f"the client failed: {error}")) from None
        except (ValueError, RecursionError):
            raise _Passing("an answer that is no JSON") from None

    def _told(self, error: Any) -> Exception:
        """What an answer with an error's status means."""
        status = int(error.status_code)
        if status in _PASSING or status >= 500:
            return _Passing(f"HTTP {status}", _asked_to_wait(error.response.headers))
        if status in _REFUSED_KEY:
            # Not in the endpoint's words: some repeat half of the key.
            return EndpointError(
                f"{self.base_url} refuses the key (HTTP {status}): name the variable that holds it "
                "with --api-key-env",
                code="refused_key",
                field="api-key-env",
            )
        said = self._quoted(str(error.message))
        kind = ContextFullError if _speaks_of_length(said) else EndpointError
        hint = "; try --no-tools" if "tool" in said.lower() else ""
        return kind(
            f"{self.base_url} refuses the request (HTTP {status}): {said}{hint}",
            code="refused_request",
            field="base-url",
        )

    def _dead(self, failed: Sequence[str]) -> EndpointError:
        return EndpointError(
            f"{self.base_url} gave no answer in {len(failed)} tries; the last: {failed[-1]}",
            code="endpoint_dead",
            field="base-url",
        )

    def _wait(self, failed: int, passing: _Passing) -> None:
        backoff = FIRST_WAIT_SECONDS * 2 ** (failed - 1) * random.uniform(0.75, 1.25)  # noqa: S311 - jitter
        seconds = min(LONGEST_WAIT_SECONDS, max(backoff, passing.after))
        self.waits(seconds, passing.why)
        _sleep(seconds)

    def _quoted(self, text: str) -> str:
        line = " ".join(str(self.scrub(text)).split())
        return line if len(line) <= _MOST_QUOTED else line[: _MOST_QUOTED - 1] + "…"


class _Passing(Exception):  # noqa: N818 - no error yet: it may pass
    """A failure after which a request is worth another try, `after` so many seconds."""

    def __init__(self, why: str, after: float = 0.0) -> None:
        super().__init__(why)
        self.why, self.after = why, after


def _openai() -> Any:
    try:
        import openai
    except ImportError:
        raise EndpointError(
            needs("llm", "the openai client", "llm"), code="not_installed"
        ) from None
    return openai


def _check_url(url: str) -> None:
    try:
        parts = urlsplit(url)
        sound = parts.scheme in ("http", "https") and bool(parts.hostname)
        secret = bool(parts.username or parts.password or parts.query)
        _ = parts.port
    except ValueError:
        sound = secret = False
    if secret:
        raise EndpointError(
            "an address with a name, a password or a query in it would be written down: give a "
            "plain one, and the key with --api-key-env",
            code="base_url",
            field="base-url",
        )
    if not sound:
        raise EndpointError(
            f"--base-url is an address such as http://localhost:8000/v1, not {url!r}",
            code="base_url",
            field="base-url",
        )


def _checked_key(key: str | None) -> str | None:
    if key is None:
        return None
    if len(key) < _KEY_AT_LEAST or not (key.isascii() and key.isprintable()) or " " in key:
        raise EndpointError(
            f"the key has fewer than {_KEY_AT_LEAST} characters, or some that no header holds",
            code="key",
            field="api-key-env",
        )
    return key


def _message_of(body: Any) -> tuple[Mapping[str, Any], str | None]:
    choices = body.get("choices") if isinstance(body, Mapping) else None
    first = choices[0] if isinstance(choices, list) and choices else None
    message = first.get("message") if isinstance(first, Mapping) else None
    if not isinstance(message, Mapping):
        raise _Passing("an answer without a message")
    finish = first.get("finish_reason") if isinstance(first, Mapping) else None
    return message, finish if isinstance(finish, str) else None


def _usage_of(body: Mapping[str, Any]) -> Usage | None:
    usage = body.get("usage")
    if not isinstance(usage, Mapping):
        return None
    prompt, completion = _count(usage.get("prompt_tokens")), _count(usage.get("completion_tokens"))
    if prompt is None or completion is None:
        return None
    details = usage.get("prompt_tokens_details")
    cached = _count(details.get("cached_tokens")) if isinstance(details, Mapping) else None
    return Usage(prompt, completion, cached or 0)


def _count(value: Any) -> int | None:
    sound = isinstance(value, int) and not isinstance(value, bool) and value >= 0
    return value if sound else None


def _asked_to_wait(headers: Mapping[str, str]) -> float:
    try:
        seconds = float(headers.get("retry-after") or 0)
    except ValueError:  # a date: the backoff will do
        return 0.0
    return seconds if 0 <= seconds < float("inf") else 0.0


def _speaks_of_length(said: str) -> bool:
    words = said.lower()
    return "context" in words and any(w in words for w in ("length", "window", "exceed", "size"))
