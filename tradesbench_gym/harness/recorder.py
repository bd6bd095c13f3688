"""What happens around a run, written down as it happens: the transcript, its history, the faults.

Records come from the loop over the days, from the agent's turns and from whoever looks after the
servers, in threads of their own; here they are put one after the other. This module knows no run.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Mapping
from typing import Any

from tradesbench_gym.harness.faults import Fault, FaultKind
from tradesbench_gym.harness.manifest import FaultPart
from tradesbench_gym.harness.transcript import History, Transcript


class Recorder:
    """Writes down what happens.

    Args:
        transcript: of the run.
        watch: is told of every fault, after it is written down.

    Attributes:
        history: what the transcript says of the prompts so far.
        faults: of the whole run, those of earlier sittings first.

    """

    def __init__(self, transcript: Transcript, watch: Callable[[Fault], None]) -> None:
        self._transcript, self._watch = transcript, watch
        self._turn = threading.Lock()
        self.history = History(transcript.past)
        self.faults = [_fault(one.said) for one in transcript.past if one.kind == "fault"]
        self.prompts = sum(one.kind == "prompt" for one in transcript.past)

    def write(self, kind: str, **said: Any) -> None:
        """Add a record; it is on disk when this returns."""
        with self._turn:
            self._transcript.write(kind, **said)
            self.history.add(kind, said)
            self.prompts += kind == "prompt"

    def hear(self, said: Mapping[str, Any]) -> None:
        """Add what an agent said or did."""
        self.write("agent", said=said)

    def fault(self, fault: Fault) -> None:
        """Add a fault."""
        part = FaultPart.of(fault)
        with self._turn:
            self._transcript.write("fault", fault=part.model_dump())
            self.faults.append(fault)
        self._watch(fault)


def _fault(said: Mapping[str, Any]) -> Fault:
    part = FaultPart.model_validate(said["fault"])
    return Fault(FaultKind(part.kind), part.code, part.sentence, part.at, part.detail)
