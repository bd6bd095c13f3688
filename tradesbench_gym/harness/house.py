"""Everything around the loop over the days: the gateway and its limits, the hours, the nights.

What the gateway has found wrong is taken down after every turn; a limit that is reached stops the
run where it stands. At night every process of the agent's is gone and its notes are kept. This
module knows no prompt and no rule of the business.
"""

from __future__ import annotations

import hashlib
import threading
import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import asdict
from typing import Any, Protocol, Self

from tradesbench_gym.errors import TradesBenchError
from tradesbench_gym.harness.agents.agent import TEMPORARY, Agent
from tradesbench_gym.harness.cell import Cell
from tradesbench_gym.harness.days import RunStoppedError
from tradesbench_gym.harness.faults import Fault, FaultKind
from tradesbench_gym.harness.folder import RunFolder
from tradesbench_gym.harness.manifest import HarnessError, LimitsPart, ModelPart, UsagePart, now
from tradesbench_gym.harness.recorder import Recorder
from tradesbench_gym.harness.workspace import make_folder

_HOUR = 3600.0
_LIMIT = "limit_"
_LOOK_SECONDS = 0.2


class Model(Protocol):
    """The model gateway, as far as a run needs it."""

    @property
    def port(self) -> int:
        """Of 127.0.0.1."""

    @property
    def token(self) -> str:
        """What the agent presents; not the provider's key."""

    def start(self) -> None:
        """Start it, or start it again, at the same port and with the same token."""

    def alive(self) -> bool:
        """Whether it runs."""

    def usage(self) -> Any:
        """What was used so far, over all sittings."""

    def faults(self, since: int = 0) -> Sequence[Fault]:
        """What has gone wrong, from the given one on."""

    def stop(self) -> None:
        """End it."""


class Warden:
    """Starts the gateway again whenever it dies, in a thread of its own; a context manager.

    It comes back at the same port; while it is down, who asks it is refused.

    Args:
        model: the gateway, started.
        told: is told of every death.

    """

    def __init__(self, model: Model, told: Callable[[Fault], None]) -> None:
        self._model, self._told = model, told
        self._over = threading.Event()
        self._thread = threading.Thread(target=self._watch, name="gateway", daemon=True)

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._over.set()
        self._thread.join()

    def _watch(self) -> None:
        told = False
        while not self._over.wait(_LOOK_SECONDS):
            if self._model.alive():
                told = False
                continue
            if not told:  # one that cannot be started has died once
                sentence = "the model gateway ended and is started again"
                self._told(Fault(FaultKind.INFRASTRUCTURE, "gateway_died", sentence, now()))
                told = True
            with suppress(TradesBenchError):  # the next look tries again
                self._model.start()


class Surroundings:
    """What is around a run in one sitting.

    Args:
        folder: of the run.
        room: where the agent's processes run.
        agent: who answers.
        model: the gateway; None if the agent has no model.
        recorder: of what happens.
        limits: of the run.
        seconds_before: how long earlier sittings took.
        closed: called when a day has closed, to put the manifest down.

    """

    def __init__(
        self,
        folder: RunFolder,
        room: Cell,
        agent: Agent,
        model: Model | None,
        recorder: Recorder,
        limits: LimitsPart,
        seconds_before: float,
        closed: Callable[[], None],
    ) -> None:
        self._folder, self._room, self._agent = folder, room, agent
        self._model, self._recorder, self._limits = model, recorder, limits
        self._closed = closed
        self._begun = time.monotonic() - seconds_before
        # What the gateway's record told of earlier sittings stands in the transcript already.
        self._told = 0 if model is None else _known(recorder, model)

    def check(self) -> None:
        """Take down what the gateway found wrong, and keep the limits.

        Raises:
            RunStoppedError: a limit of the run is reached.

        """
        limit = self._take_down() if self._model is not None else None
        if limit is not None:
            raise RunStoppedError(f"the run was stopped: {limit.sentence}", code=limit.code)
        hours = (time.monotonic() - self._begun) / _HOUR
        most = self._limits.max_hours
        if most is not None and hours >= most:
            raise RunStoppedError(
                f"the run was stopped: it has had the {most:g} hours that it may take",
                code="limit_hours",
            )

    def _take_down(self) -> Fault | None:
        """The gateway's faults since the last time; a limit among them, if one is reached."""
        if self._model is None:
            return None
        found = list(self._model.faults(self._told))
        self._told += len(found)
        for fault in found:
            self._recorder.fault(fault)
        return next((one for one in found if one.code.startswith(_LIMIT)), None)

    def close_day(self, day: int) -> None:
        """Send everybody home at the end of a day, from 1, and keep the agent's notes."""
        self._agent.end_day()
        survivors = self._room.reap()
        self._agent.put_away(day)
        self._recorder.write("night", day=day, survivors=[one.command for one in survivors])
        size = self._folder.keep_memory(day)
        digest = hashlib.sha256(self._folder.day_file(day).read_bytes()).hexdigest()
        self._recorder.write("memory", day=day, bytes=size, sha256=digest)
        make_folder(self._room.workspace, TEMPORARY, {}, self._room.uid)
        self._closed()

    def usage(self) -> UsagePart | None:
        """What the model took so far; None if there is none."""
        if self._model is None:
            return None
        known = UsagePart.model_fields
        return UsagePart(
            **{name: value for name, value in asdict(self._model.usage()).items() if name in known}
        )


def _known(recorder: Recorder, model: Model) -> int:
    """How many of the gateway's faults are written down already: they are, in order."""
    written = {(one.code, one.at) for one in recorder.faults}
    return sum((one.code, one.at) in written for one in model.faults())


def check_prices(limits: LimitsPart, model: ModelPart | None) -> None:
    """Raise HarnessError if a cost is limited that nobody can work out."""
    if limits.max_cost is None or model is None:
        return
    if None in (model.input_price, model.output_price):
        raise HarnessError(
            "--max-cost needs the prices: begin a run with --input-price and --output-price",
            code="price",
            field="max-cost",
        )
