"""The limits of a run, kept before a request is let out.

Nothing is let out once a limit is reached. Near a limit requests go one at a time, so that a run
passes it by one request at most. This module knows the totals, and no network.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from datetime import UTC, datetime
from decimal import Decimal

from tradesbench_gym.errors import TradesBenchError
from tradesbench_gym.harness.gateway.settings import GatewaySettings
from tradesbench_gym.harness.gateway.tally import Tally
from tradesbench_gym.harness.gateway.usage import Tokens, most_it_cost


class LimitReachedError(TradesBenchError):
    """A limit of the run is reached; nothing more is let out."""


class Budget:
    """Lets requests out while the run's limits allow.

    Args:
        settings: with the limits.
        tally: the totals so far, kept up by whoever answers.

    """

    def __init__(
        self, settings: GatewaySettings, tally: Tally, clock: Callable[[], float] = time.time
    ) -> None:
        self._settings = settings
        self._tally = tally
        self._clock = clock
        self._out: list[int] = []
        self._changed = asyncio.Condition()

    @asynccontextmanager
    async def admitted(self, guess: int) -> AsyncIterator[None]:
        """Wait for a place, and hold it; what is used meanwhile is the tally's matter.

        Args:
            guess: of the tokens that the request may use.

        Raises:
            LimitReachedError: a limit is reached.

        """
        async with self._changed:
            while True:
                self.check()
                if not self._out or self._fits(guess):
                    break
                await self._changed.wait()
            self._out.append(guess)
        try:
            yield
        finally:
            self._out.remove(guess)
            async with self._changed:
                self._changed.notify_all()

    def check(self) -> None:
        """Raise LimitReachedError if a limit is reached."""
        limits = self._settings
        if limits.deadline is not None and self._clock() >= limits.deadline:
            until = datetime.fromtimestamp(limits.deadline, UTC).isoformat(timespec="seconds")
            raise LimitReachedError(
                f"the time of this run was over at {until}: no more requests are let out",
                code="limit_hours",
            )
        if limits.max_tokens is not None and self._tally.spent_tokens >= limits.max_tokens:
            raise LimitReachedError(
                f"this run has used the {limits.max_tokens} tokens that it may: no more requests "
                "are let out",
                code="limit_tokens",
            )
        if limits.max_cost is not None and self._tally.spent_cost >= limits.max_cost:
            raise LimitReachedError(
                f"this run has cost the ${limits.max_cost} that it may: no more requests are let "
                "out",
                code="limit_cost",
            )

    def _fits(self, guess: int) -> bool:
        """Whether all that is out and this one will leave the limits unreached, at a guess."""
        limits, all_out = self._settings, sum(self._out) + guess
        most = limits.max_tokens
        if most is not None and self._tally.spent_tokens + all_out >= most:
            return False
        if limits.max_cost is not None:
            as_input, as_output = Tokens(all_out, 0, 0), Tokens(0, 0, all_out)
            dearest = max(self._dollars(as_input), self._dollars(as_output))
            return self._tally.spent_cost + dearest < limits.max_cost
        return True

    def _dollars(self, tokens: Tokens) -> Decimal:
        return most_it_cost(tokens, self._settings.prices)
