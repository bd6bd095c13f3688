"""The pen that writes the record: one request's rows in the order in which they happen.

It keeps the totals level with what it has written, so that a limit knows all that the record
knows. This module knows rows, and no network.
"""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from typing import Any

from tradesbench_gym.harness.faults import Fault, FaultKind
from tradesbench_gym.harness.gateway.asking import Asked
from tradesbench_gym.harness.gateway.journal import Journal, raw, row
from tradesbench_gym.harness.gateway.secrets import Scrubber
from tradesbench_gym.harness.gateway.tally import Tally, fault_row

MOST_REFUSALS = 1000
"""Rows of one code in one life of a gateway: who is refused for ever cannot fill the disk."""
_PIECE_BYTES = 64 * 1024


class Recorder:
    """Writes rows, and adds them up."""

    def __init__(self, journal: Journal, tally: Tally, scrubber: Scrubber) -> None:
        self.tally = tally
        self.scrubber = scrubber
        self._journal = journal
        self._refusals: Counter[str] = Counter()
        self._told: set[tuple[str, str]] = set()

    def write(self, kind: str, *raws: bytes, **told: Any) -> None:
        """Write a row, after what was sent or came back; on disk after the next `sync`."""
        self._journal.add(*raws, row(kind, **told))
        self.tally.add({"kind": kind, **told})

    def keep(self, request: int, what: str, data: bytes) -> None:
        """Write down what came back so far."""
        self._journal.add(raw(request, what, self.scrubber.raw(data)))

    async def sync(self) -> None:
        """Return once everything is on disk."""
        await asyncio.to_thread(self._journal.sync)

    def begin(self, path: str, asked: Asked) -> int:
        """Write down a request that is about to be let out; its number."""
        number = self.tally.last + 1
        self.write(
            "request",
            raw(number, "request", self.scrubber.raw(asked.body)),
            request=number,
            at=now(),
            path=path,
            stream=asked.stream,
            bytes=len(asked.body),
            guess=asked.guess,
            changes=[dict(one) for one in asked.changes],
        )
        self._tell_changes(number, asked.changes)
        return number

    def refuse(self, path: str, code: str, fault: Fault, body: bytes = b"") -> None:
        """Write down a request that is not let out."""
        self._refusals[code] += 1
        if self._refusals[code] > MOST_REFUSALS:
            return
        last = self._refusals[code] == MOST_REFUSALS
        said = self.scrubber.raw(body[:2000]).decode("utf-8", "replace")
        self.write(
            "refused",
            at=fault.at,
            path=path[:200],
            code=code,
            said=said,
            last=last,
            fault=fault_row(fault),
        )

    def tell_once(self, code: str, about: str, fault: Fault) -> None:
        """Write a fault down that every further request would repeat."""
        if (code, about) not in self._told and len(self._told) < MOST_REFUSALS:
            self._told.add((code, about))
            self.write("fault", at=fault.at, fault=fault_row(fault))

    def _tell_changes(self, number: int, changes: Sequence[Mapping[str, str]]) -> None:
        for change in changes:
            name = change["field"]
            if name == "store":
                continue  # every client's habit
            sentence = f"a request had `{name}`, which was not let out: {change['was']}"
            if name == "model":
                sentence = f"a request named the model {change['was']}, and went to the run's own"
            code = "other_model" if name == "model" else "hosted_tool"
            if not name.startswith(("model", "tool", "web", "plugins", "search", "mcp")):
                code = "field_taken_out"
            fault = made(FaultKind.AGENT, code, sentence, request=number, field=name, final=False)
            self.tell_once(code, change["was"], fault)


class Pieces:
    """What comes back of one request, without the key, written down in pieces that cut no line."""

    def __init__(self, recorder: Recorder, request: int) -> None:
        self._recorder = recorder
        self._request = request
        self._held = bytearray()
        self.size = 0

    def add(self, piece: bytes) -> None:
        """Take a piece."""
        self._held += piece
        self.size += len(piece)
        if len(self._held) >= _PIECE_BYTES:
            cut = self._held.rfind(b"\n") + 1
            self._write(cut or _whole_characters(self._held))

    def end(self) -> None:
        """Write down what is left."""
        self._write(len(self._held))

    def _write(self, cut: int) -> None:
        piece = bytes(self._held[:cut])
        del self._held[:cut]
        if piece:
            self._recorder.keep(self._request, "response", piece)


def _whole_characters(text: bytearray) -> int:
    """How much of a text ends with a whole character of UTF-8."""
    cut = len(text) - 1
    while cut > 0 and text[cut] & 0xC0 == 0x80:
        cut -= 1
    return cut


def now() -> str:
    """The wall time as rows have it."""
    return datetime.now(UTC).isoformat(timespec="milliseconds")


def made(kind: FaultKind, code: str, sentence: str, **detail: str | float | bool | None) -> Fault:
    """A fault of this moment."""
    return Fault(kind, code, sentence, now(), detail)
