"""The door between the agent and the provider: what may pass, how many at a time, and within which
limits.

What is refused here has gone nowhere, and is written down as refused. This module knows neither
the provider's answers nor its failures.
"""

from __future__ import annotations

import asyncio

from starlette.types import Send

from tradesbench_gym.errors import TradesBenchError
from tradesbench_gym.harness.faults import FaultKind
from tradesbench_gym.harness.gateway.answers import send_error
from tradesbench_gym.harness.gateway.asking import ask
from tradesbench_gym.harness.gateway.budget import Budget, LimitReachedError
from tradesbench_gym.harness.gateway.client import Client
from tradesbench_gym.harness.gateway.errand import Errand
from tradesbench_gym.harness.gateway.provider import Provider
from tradesbench_gym.harness.gateway.recorder import Recorder, made
from tradesbench_gym.harness.gateway.settings import GatewaySettings

MOST_AT_ONCE = 8


class Relay:
    """Answers requests, several at a time.

    Args:
        settings: of the gateway.
        provider: whom to ask.
        recorder: where everything is written down.

    """

    def __init__(self, settings: GatewaySettings, provider: Provider, recorder: Recorder) -> None:
        self._settings = settings
        self._provider = provider
        self._recorder = recorder
        self._budget = Budget(settings, recorder.tally)
        self._places = asyncio.Semaphore(MOST_AT_ONCE)

    async def answer(self, path: str, client: Client) -> None:
        """Answer one request."""
        async with self._places:
            try:
                asked = ask(path, await client.body(), self._settings.model)
            except TradesBenchError as error:
                if not client.gone.is_set():
                    await self.refuse(client.send, path, 400, error)
                return
            watching = asyncio.ensure_future(client.watch())
            try:
                async with self._budget.admitted(asked.guess):
                    errand = Errand(self._settings, self._provider, self._recorder, self._budget)
                    await errand.run(path, asked, client)
            except LimitReachedError as error:
                await self.refuse(client.send, path, 402, error, FaultKind.INFRASTRUCTURE)
            finally:
                watching.cancel()

    async def refuse(
        self,
        send: Send,
        path: str,
        status: int,
        error: TradesBenchError,
        kind: FaultKind = FaultKind.AGENT,
    ) -> None:
        """Let a request not out, and say so."""
        fault = made(kind, error.code, error.message, final=True)
        self._recorder.refuse(path, error.code, fault)
        await self._recorder.sync()
        await send_error(send, status, error.code, error.message)
