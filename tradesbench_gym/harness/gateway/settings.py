"""What a gateway is started with: the provider, the run's model and prices, and the run's limits.

The key stands here and nowhere else in the package: it is never shown, and leaves only through
`handed_over`, for the gateway's standard input. This module knows no network.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from decimal import Decimal
from typing import Any
from urllib.parse import urlsplit

from tradesbench_gym.errors import TradesBenchError, shown

MEBIBYTE = 1024 * 1024
SHORTEST_KEY = 8
"""Characters; a shorter key would be found, and taken out, in every other text."""
_SEARCHING = (":online", "search-preview", "search-api")


class GatewayError(TradesBenchError):
    """The gateway cannot be started, or its record of requests cannot be read."""


@dataclass(frozen=True)
class Prices:
    """Dollars per million tokens; None where a price is unknown, which makes a cost unknown."""

    input: Decimal | None = None
    cached_input: Decimal | None = None
    output: Decimal | None = None

    def __post_init__(self) -> None:
        for one in fields(self):
            price = getattr(self, one.name)
            if price is not None and not (price.is_finite() and price >= 0):
                raise GatewayError(
                    f"a price is a number of dollars, 0 or above, and not {shown(price)}",
                    code="price",
                    field=one.name,
                )


@dataclass(frozen=True)
class GatewaySettings:
    """What a gateway is started with.

    Attributes:
        base_url: the provider's, such as `https://api.example.com/v1`.
        key: sent to the provider as bearer token; None sends none.
        model: the one model that requests go to, whatever they name.
        prices: for the cost, and needed for `max_cost`.
        max_cost: dollars after which nothing more is let out.
        max_tokens: input and output tokens together after which nothing more is let out.
        deadline: seconds since the epoch after which nothing more is let out.
        request_seconds: the longest that one try of a request may take.
        retries: how often a request that failed in passing is tried again.
        silence_seconds: the longest without a byte once an answer has begun; None as long as the
            try itself may take.
        most_bytes: of one answer on the wire; more is endless.
        first_wait_seconds: before the first further try; each one after it waits twice as long.

    Raises:
        GatewayError: a setting that cannot be; the sentence names what is allowed.

    """

    base_url: str
    key: str | None = field(repr=False)
    model: str
    prices: Prices = field(default_factory=Prices)
    max_cost: Decimal | None = None
    max_tokens: int | None = None
    deadline: float | None = None
    request_seconds: float = 600.0
    retries: int = 5
    silence_seconds: float | None = None
    most_bytes: int = 64 * MEBIBYTE
    first_wait_seconds: float = 1.0

    def __post_init__(self) -> None:
        _check_url(self.base_url)
        _check_key(self.key)
        _check_model(self.model)
        _check_numbers(self)
        if self.max_cost is not None and None in (self.prices.input, self.prices.output):
            raise GatewayError(
                "a limit on the cost cannot be kept while a price is unknown: give the prices of "
                "input and output tokens",
                code="price",
                field="max_cost",
            )

    @property
    def silence(self) -> float:
        """Seconds without a byte after which an answer that has begun is given up."""
        return min(self.silence_seconds or self.request_seconds, self.request_seconds)

    @property
    def local(self) -> bool:
        """Whether the provider is on this computer."""
        host = urlsplit(self.base_url).hostname or ""
        return host in {"localhost", "::1"} or host.startswith("127.")

    def public(self) -> dict[str, Any]:
        """All but the key, as plain JSON values."""
        return {name: value for name, value in self.handed_over().items() if name != "key"}

    def handed_over(self) -> dict[str, Any]:
        """All of it, the key included, as plain JSON values."""
        told: dict[str, Any] = {one.name: getattr(self, one.name) for one in fields(self)}
        told["prices"] = {
            one.name: _text(getattr(self.prices, one.name)) for one in fields(self.prices)
        }
        told["max_cost"] = _text(self.max_cost)
        return told

    @classmethod
    def taken_over(cls, told: Mapping[str, Any]) -> GatewaySettings:
        """The settings that `handed_over` gave."""
        prices = Prices(**{name: _decimal(value) for name, value in told["prices"].items()})
        return cls(**{**told, "prices": prices, "max_cost": _decimal(told["max_cost"])})


def _text(value: Decimal | None) -> str | None:
    return None if value is None else str(value)


def _decimal(value: str | None) -> Decimal | None:
    return None if value is None else Decimal(value)


def _check_url(url: str) -> None:
    try:
        parts = urlsplit(url)
        sound = parts.scheme in ("http", "https") and bool(parts.hostname) and " " not in url
        secret = bool(parts.username or parts.password or parts.query or parts.fragment)
        _ = parts.port
    except ValueError:
        sound = secret = False
    if secret:
        sentence = (
            "an address with a name, a password or a query in it would be written down: give a "
            "plain one, and the key apart from it"
        )
        raise GatewayError(sentence, code="base_url", field="base_url")
    if not sound:
        raise GatewayError(
            f"a provider's address is one such as https://api.example.com/v1, not {shown(url)}",
            code="base_url",
            field="base_url",
        )


def _check_key(key: str | None) -> None:
    if key is None:
        return
    odd = not (key.isascii() and key.isprintable()) or any(one in key for one in " \"\\'")
    if len(key) < SHORTEST_KEY or odd:
        raise GatewayError(
            f"the key has fewer than {SHORTEST_KEY} characters, or some that no header holds",
            code="key",
            field="key",
        )


def _check_model(model: str) -> None:
    if not model or not model.isprintable():
        raise GatewayError("a model is named as its provider names it", code="model", field="model")
    if any(one in model for one in _SEARCHING):
        raise GatewayError(
            f"{shown(model)} searches the web by itself, which no run may: name the plain model",
            code="model",
            field="model",
        )


def _check_numbers(settings: GatewaySettings) -> None:
    least: dict[str, float] = {"retries": 0, "most_bytes": 1024}
    positive = (
        "max_cost",
        "max_tokens",
        "deadline",
        "request_seconds",
        "silence_seconds",
        "first_wait_seconds",
    )
    for name in (*least, *positive):
        value = getattr(settings, name)
        if value is None:
            continue
        enough = value >= least[name] if name in least else value > 0
        if not (math.isfinite(value) and enough):
            allowed = f"{least[name]:.0f} or more" if name in least else "more than 0"
            raise GatewayError(
                f"{name} must be {allowed}, and not {shown(value)}", code="limit", field=name
            )
