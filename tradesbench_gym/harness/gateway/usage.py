"""Tokens as endpoints report them, what they cost, and the totals of a run.

Endpoints agree on the count of input tokens with the cached ones inside it, and on little else;
what is no sound count is unreported, never 0. This module knows no network and no file.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from decimal import Decimal

from tradesbench_gym.harness.gateway.settings import Prices

_MILLION = Decimal(1_000_000)
_BYTES_PER_TOKEN = 4
_MOST_TOKENS = 10**9
"""Of one request: a thousand times what any model takes. More is no count, and would make every
total of the run a number that nobody can write down."""
_INPUT = ("prompt_tokens", "input_tokens")
_OUTPUT = ("completion_tokens", "output_tokens")
_DETAILS = ("prompt_tokens_details", "input_tokens_details")
_CACHED = ("cached_tokens", "prompt_cache_hit_tokens", "cache_read_input_tokens")
"""By most in the details; beside the counts by Moonshot, DeepSeek and LiteLLM, in that order."""


@dataclass(frozen=True)
class Tokens:
    """Tokens of one request, as its endpoint counts them; `cached` is part of `input`."""

    input: int
    cached: int
    output: int


@dataclass(frozen=True)
class Usage:
    """What a run has used so far.

    Attributes:
        requests: that were let out to the provider.
        retries: further tries of them.
        input_tokens: as reported, the cached ones among them.
        cached_tokens: of the input, as reported.
        output_tokens: as reported.
        unreported: tries that the provider worked at, or may have, without telling their tokens;
            none of their tokens is in the counts.
        cost: dollars; None where a price is unknown or a try was unreported.
        cost_reported: dollars of the reported tokens alone, a lower bound of the cost; None where
            a price is unknown.
        refused: requests that the gateway did not let out.
        guessed_tokens: of the unreported tries, for the limits alone: four bytes are a token.

    """

    requests: int = 0
    retries: int = 0
    input_tokens: int = 0
    cached_tokens: int = 0
    output_tokens: int = 0
    unreported: int = 0
    cost: Decimal | None = Decimal(0)
    cost_reported: Decimal | None = Decimal(0)
    refused: int = 0
    guessed_tokens: int = 0


def tokens_of(usage: object) -> Tokens | None:
    """The tokens in a usage object of chat completions or of responses; None for none.

    >>> tokens_of({"prompt_tokens": 7, "completion_tokens": 2, "prompt_cache_hit_tokens": 5})
    Tokens(input=7, cached=5, output=2)
    >>> tokens_of({"prompt_tokens": 7, "completion_tokens": -2}) is None
    True
    >>> tokens_of({"prompt_tokens": 10**30, "completion_tokens": 2}) is None
    True
    """
    if not isinstance(usage, Mapping):
        return None
    given, made = _first(usage, _INPUT), _first(usage, _OUTPUT)
    details = [inner for name in _DETAILS if isinstance(inner := usage.get(name), Mapping)]
    cached = next((n for one in (*details, usage) if (n := _first(one, _CACHED)) is not None), 0)
    if given is None or made is None or cached > given:
        return None
    return Tokens(given, cached, made)


def cost_of(tokens: Tokens, prices: Prices) -> Decimal | None:
    """Dollars; None if a price that is needed is unknown.

    >>> cost_of(Tokens(1_000_000, 0, 0), Prices(Decimal(3), None, Decimal(15)))
    Decimal('3')
    >>> cost_of(Tokens(1_000_000, 1, 0), Prices(Decimal(3), None, Decimal(15))) is None
    True
    """
    parts = (
        (tokens.input - tokens.cached, prices.input),
        (tokens.cached, prices.cached_input),
        (tokens.output, prices.output),
    )
    total = Decimal(0)
    for count, price in parts:
        if count and price is None:
            return None
        total += count * (price or 0)
    return total / _MILLION


def most_it_cost(tokens: Tokens, prices: Prices) -> Decimal:
    """Dollars for a limit: a cached token costs what any other does while its price is unknown."""
    cached = prices.input if prices.cached_input is None else prices.cached_input
    return cost_of(tokens, Prices(prices.input, cached, prices.output)) or Decimal(0)


def guess_tokens(size: int) -> int:
    """Tokens in so many bytes of text, for want of anything better."""
    return -(-size // _BYTES_PER_TOKEN)


def _first(usage: Mapping[str, object], names: tuple[str, ...]) -> int | None:
    for name in names:
        value = usage.get(name)
        if isinstance(value, int) and not isinstance(value, bool) and 0 <= value <= _MOST_TOKENS:
            return value
    return None
