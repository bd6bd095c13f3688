"""One request that is let out: tried again while that may help, and its answer passed back.

Nothing is let out that is not written down first, and no answer ends that is not written down
first: whatever an agent has seen to its end is counted, even if the gateway is killed in the next
moment. A failure ends as a fault of a kind, and as an error that the agent cannot take for an
answer. This module knows the order of things; what they mean stands in the modules it uses.
"""

from __future__ import annotations

import asyncio
import json
import time
from contextlib import suppress
from typing import Any

from tradesbench_gym.harness.faults import FaultKind
from tradesbench_gym.harness.gateway.answers import send_cut, send_error, send_whole
from tradesbench_gym.harness.gateway.asking import Asked
from tradesbench_gym.harness.gateway.budget import Budget, LimitReachedError
from tradesbench_gym.harness.gateway.client import Client
from tradesbench_gym.harness.gateway.passing import Passing, passing
from tradesbench_gym.harness.gateway.provider import Backoff, Provider, ProviderFault, silent
from tradesbench_gym.harness.gateway.recorder import Pieces, Recorder, made, now
from tradesbench_gym.harness.gateway.settings import GatewaySettings
from tradesbench_gym.harness.gateway.tally import fault_row
from tradesbench_gym.harness.gateway.usage import cost_of, guess_tokens

DRAIN_SECONDS = 30.0
"""How long an answer is still read for its usage once the agent has hung up."""
_STATUS = {"provider_silent": 504, "rate_limited": 429, "context_overflow": 400}
_LIMIT_STATUS = 402


class Errand:
    """The way of one request to the provider and back."""

    def __init__(
        self, settings: GatewaySettings, provider: Provider, recorder: Recorder, budget: Budget
    ) -> None:
        self._settings = settings
        self._provider = provider
        self._recorder = recorder
        self._budget = budget
        self._tries = 0
        self._way: Passing | None = None
        self._begun = time.monotonic()

    async def run(self, path: str, asked: Asked, client: Client) -> None:
        """Answer a request, one way or another."""
        if client.gone.is_set():
            return
        self._path, self._asked, self._client = path, asked, client
        self._number = self._recorder.begin(path, asked)
        await self._recorder.sync()
        self._pieces = Pieces(self._recorder, self._number)
        if client.gone.is_set():  # it hung up in the queue: nothing is let out for nobody
            self._done("abandoned", 0, None, unreported=False)
            return
        try:
            await self._try_until_answered()
        except BaseException:  # the gateway is told to stop, or has a fault of its own
            with suppress(OSError):
                self._leave_unfinished()
            raise

    async def _try_until_answered(self) -> None:
        backoff = Backoff(self._settings.first_wait_seconds)
        while True:
            try:
                await self._try()
            except ProviderFault as fault:
                wait = self._worth_waiting(fault, backoff)
                if wait is None:
                    await self._fail(fault)
                    return
                await self._wait(fault, wait)
                if self._client.gone.is_set():
                    await self._fail(ProviderFault("agent_gone", "the agent hung up"))
                    return
            else:
                return

    async def _try(self) -> None:
        self._tries += 1
        self._way = None
        try:
            self._budget.check()
        except LimitReachedError as error:
            raise ProviderFault(error.code, error.message, status=_LIMIT_STATUS) from None
        try:
            async with asyncio.timeout(self._settings.request_seconds) as clock:
                hurry = asyncio.ensure_future(self._hurry(clock))
                try:
                    async with self._provider.asked(self._asked) as response:
                        await self._pass(response)
                finally:
                    hurry.cancel()
        except TimeoutError:
            if self._sending():
                raise ProviderFault(
                    "agent_stalled", "the agent did not take its answer", kind=FaultKind.AGENT,
                    unreported=True,
                ) from None  # fmt: skip
            raise silent() from None

    def _sending(self) -> bool:
        return self._way is not None and self._way.sending

    async def _hurry(self, clock: asyncio.Timeout) -> None:
        """Once the agent has hung up its answer is read on for its usage, but not for long."""
        await self._client.gone.wait()
        soon = asyncio.get_running_loop().time() + DRAIN_SECONDS
        if (until := clock.when()) is None or soon < until:
            clock.reschedule(soon)

    async def _pass(self, response: Any) -> None:
        self._way = passing(
            self._settings, self._provider, self._path, response, self._client, self._pieces
        )
        await self._way.take()
        outcome = "abandoned" if self._client.gone.is_set() else "complete"
        hosted = self._way.reading.hosted
        fault = None
        if hosted is not None:
            fault = made(
                FaultKind.INFRASTRUCTURE,
                "hosted_tool_ran",
                f"the provider ran a tool of its own that nobody had asked for: {hosted}",
                request=self._number,
                final=False,
            )
        self._done(outcome, 200, None if fault is None else fault_row(fault), unreported=True)
        await self._recorder.sync()
        await self._way.finish()

    def _worth_waiting(self, fault: ProviderFault, backoff: Backoff) -> float | None:
        """Seconds until another try; None if there is to be none."""
        forwarded = self._way is not None and self._way.forwarded
        if not fault.passing or forwarded or self._client.gone.is_set():
            return None
        if fault.code == "no_stream_options":
            return 0.0
        if backoff.failed >= self._settings.retries:
            return None
        wait = backoff.wait_after(fault)
        deadline = self._settings.deadline
        late = wait is not None and deadline is not None and time.time() + wait >= deadline
        return None if late else wait

    async def _wait(self, fault: ProviderFault, seconds: float) -> None:
        self._pieces.end()
        used, unreported = self._used(fault.unreported)
        told = made(
            fault.kind, fault.code, fault.why, **self._detail(fault), waited_seconds=seconds,
            final=False,
        )  # fmt: skip
        self._recorder.write(
            "retry",
            request=self._number,
            at=now(),
            attempt=self._tries,
            status=fault.status,
            wait_seconds=round(seconds, 3),
            body=fault.body.decode("utf-8", "replace"),
            **used,
            unreported=unreported,
            guess=self._guess(),
            fault=fault_row(told),
        )
        await self._recorder.sync()
        with suppress(TimeoutError):
            await asyncio.wait_for(self._client.gone.wait(), seconds)
        self._way = None  # its tokens are counted

    async def _fail(self, fault: ProviderFault) -> None:
        """Write a failure down, and tell the agent so that it cannot take it for an answer."""
        self._pieces.end()
        forwarded = self._way is not None and self._way.forwarded
        calling = None if self._way is None else self._way.reading.calling
        code = fault.code
        if forwarded and code in ("provider_dropped", "stream_cut"):
            code = "stream_cut"
        told = made(fault.kind, code, fault.why, **self._detail(fault), calling=calling, final=True)
        status = 200 if forwarded else self._status(fault)
        body = fault.body.decode("utf-8", "replace")
        gone = self._client.gone.is_set()
        self._done(
            "abandoned" if gone else code,
            status,
            None if gone else fault_row(told),
            unreported=fault.unreported,
            body=body,
        )
        await self._recorder.sync()
        if gone or code == "agent_stalled":
            return
        if forwarded:
            await send_cut(self._client.send, code, fault.why)
        elif fault.body_is_safe and _is_json(fault.body):
            await send_whole(self._client.send, status, fault.body)
        else:
            await send_error(self._client.send, status, code, fault.why)

    def _status(self, fault: ProviderFault) -> int:
        own = fault.body_is_safe or fault.status == _LIMIT_STATUS
        if own and fault.status is not None:
            return fault.status
        return _STATUS.get(fault.code, 502)

    def _done(
        self,
        outcome: str,
        status: int,
        fault: dict[str, Any] | None,
        *,
        unreported: bool,
        **more: Any,
    ) -> None:
        self._pieces.end()
        reading = None if self._way is None else self._way.reading
        used, unreported = self._used(unreported)
        self._recorder.write(
            "done",
            request=self._number,
            at=now(),
            outcome=outcome,
            status=status,
            tries=self._tries,
            seconds=round(time.monotonic() - self._begun, 4),
            bytes=self._pieces.size,
            finish=None if reading is None else reading.finish,
            raw_usage=None if reading is None else reading.usage,
            **used,
            unreported=unreported,
            guess=self._guess(),
            fault=fault,
            **more,
        )
        if unreported:
            sentence = "the endpoint did not tell what a request used: it is not in the totals"
            about = made(
                FaultKind.INFRASTRUCTURE, "usage_unreported", sentence, request=self._number,
                final=False,
            )  # fmt: skip
            self._recorder.tell_once("usage_unreported", "", about)

    def _leave_unfinished(self) -> None:
        if self._number not in self._recorder.tally.open:
            return  # it is done, and only its end was still to be sent
        self._pieces.end()
        self._recorder.write("unfinished", **unfinished(self._number, self._guess()))

    def _used(self, unreported: bool) -> tuple[dict[str, Any], bool]:
        """The reported tokens and their cost; and whether there are none where some were used."""
        tokens = None if self._way is None else self._way.reading.tokens
        if tokens is None:
            return {"usage": None, "cost": None}, unreported
        cost = cost_of(tokens, self._settings.prices)
        used = {"input": tokens.input, "cached": tokens.cached, "output": tokens.output}
        return {"usage": used, "cost": None if cost is None else str(cost)}, False

    def _guess(self) -> int:
        return guess_tokens(len(self._asked.body) + (0 if self._way is None else self._way.size))

    def _detail(self, fault: ProviderFault) -> dict[str, str | int | None]:
        return {"request": self._number, "attempt": self._tries, "status": fault.status}


def unfinished(number: int, guess: int) -> dict[str, Any]:
    """The row of a request during which the gateway stopped."""
    fault = made(
        FaultKind.INFRASTRUCTURE,
        "gateway_stopped",
        "the gateway stopped while a request was out: what it used is not known",
        request=number,
        final=True,
    )
    return {
        "request": number, "at": fault.at, "usage": None, "unreported": True, "guess": guess,
        "fault": fault_row(fault),
    }  # fmt: skip


def _is_json(body: bytes) -> bool:
    try:
        json.loads(body)
    except (ValueError, RecursionError):
        return False
    return True
