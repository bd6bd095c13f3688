"""The transcript of a run: JSON lines, each on disk before what it tells of is done.

A run that was killed is picked up from here: which prompts were given and which of them are over.
What happened in the run itself stands in the world file, which is always right. A line that was cut
short by a kill is taken off when the transcript is opened again. Secrets are struck out. This
module knows no agent.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import datetime
from pathlib import Path
from types import TracebackType
from typing import Any, NamedTuple, Self

from tradesbench_gym.harness.manifest import FaultPart, HarnessError, check_plain, now

LONGEST_TEXT = 100_000
"""Characters of one text that are kept."""
_DEEPEST = 16
_STRUCK = "[secret]"


class Occasion(NamedTuple):
    """What a prompt is about: `opening` or `closing` of a day, a `call`, a `cancellation`."""

    kind: str
    number: int
    """Day from 1, call or job."""


class Record(NamedTuple):
    """One line."""

    kind: str
    at: str
    said: Mapping[str, Any]


class Transcript:
    """The transcript in a file, appended to; a process at a time.

    Attributes:
        past: what stood in it when it was opened.

    """

    def __init__(self, path: Path, secrets: Sequence[str] = ()) -> None:
        self._secrets = tuple(one for one in secrets if one)
        if path.exists():
            check_plain(path)
        self._handle = os.open(path, os.O_RDWR | os.O_CREAT | os.O_APPEND, 0o600)
        self.past = list(self._mended(path))

    def _mended(self, path: Path) -> Iterator[Record]:
        whole = 0
        for number, line in enumerate(path.read_bytes().splitlines(keepends=True), 1):
            if not line.endswith(b"\n"):
                break  # cut short: it never counted
            whole += len(line)
            yield _read(line, path, number)
        os.ftruncate(self._handle, whole)

    def write(self, kind: str, **said: Any) -> None:
        """Add a line; it is on disk when this returns."""
        line = json.dumps({"kind": kind, "at": now(), **_plain(said)}, ensure_ascii=False)
        for secret in self._secrets:
            line = line.replace(secret, _STRUCK)
        # Lone surrogates cannot be encoded; what an agent says may hold them.
        self._add(line.encode("utf-8", "backslashreplace") + b"\n")

    def _add(self, line: bytes) -> None:
        """The whole line or nothing of it: half of one would spoil the next, too."""
        before, left = os.fstat(self._handle).st_size, line
        try:
            while left:
                left = left[os.write(self._handle, left) :]
            os.fsync(self._handle)
        except OSError as error:
            os.ftruncate(self._handle, before)
            reason = (error.strerror or "unknown reason").lower()
            raise HarnessError(
                f"the transcript cannot be written: {reason}", code="transcript", field="folder"
            ) from None

    def close(self) -> None:
        """Let go of the file; a second time does nothing."""
        if self._handle >= 0:
            os.close(self._handle)
            self._handle = -1

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()


def read_transcript(path: Path) -> Iterator[Record]:
    """The lines of a transcript, at rest or being written; none if there is none yet."""
    if not path.exists():
        return
    check_plain(path)
    for number, line in enumerate(path.read_bytes().splitlines(keepends=True), 1):
        if line.endswith(b"\n"):
            yield _read(line, path, number)


def seconds_spent(records: Iterable[Record]) -> float:
    """Wall seconds that the sittings in a transcript took, also those that were killed."""
    spent, last = 0.0, None
    for record in records:
        at = datetime.fromisoformat(record.at)
        if last is not None and record.kind != "sitting":
            spent += max((at - last).total_seconds(), 0.0)
        last = at
    return spent


def _read(line: bytes, path: Path, number: int) -> Record:
    damaged = HarnessError(
        f"{path} is damaged: line {number} is no record", code="transcript", field="folder"
    )
    try:
        said = json.loads(line)
        record = Record(said.pop("kind"), said.pop("at"), said)
        timed = datetime.fromisoformat(record.at).tzinfo is not None
        # What every reader counts on must be there, and be what it is.
        History([record])
        if record.kind == "fault":
            FaultPart.model_validate(said["fault"])
    except (ValueError, AttributeError, KeyError, TypeError, RecursionError):
        raise damaged from None
    if not timed:
        raise damaged
    return record


def _plain(value: Any, depth: int = _DEEPEST) -> Any:
    """A value of plain parts with its texts cut to what is worth keeping."""
    if isinstance(value, str):
        if len(value) <= LONGEST_TEXT:
            return value
        return f"{value[:LONGEST_TEXT]}… ({len(value):,} characters)"
    if not isinstance(value, Mapping | list | tuple):
        return value
    if depth == 0:
        return "…"
    if isinstance(value, Mapping):
        return {str(key): _plain(inner, depth - 1) for key, inner in value.items()}
    return [_plain(inner, depth - 1) for inner in value]


class History:
    """What a transcript says of the prompts so far.

    Attributes:
        turns: how many turns have ended; `seconds` is how long they took together.
        reminders: prompts that were reminders; `unanswered`: calls that were given up.

    """

    def __init__(self, records: Sequence[Record]) -> None:
        self._over: set[Occasion] = set()
        self._attempts: dict[Occasion, int] = {}
        self._begun: dict[Occasion, None] = {}
        self.turns = self.reminders = self.unanswered = 0
        self.seconds = 0.0
        for record in records:
            self.add(record.kind, record.said)

    def add(self, kind: str, said: Mapping[str, Any]) -> None:
        """Take one line into account."""
        if kind == "prompt":
            self._begun[_occasion(said)] = None
            self.reminders += said["attempt"] > 0
        elif kind == "turn":
            self.turns += 1
            self.seconds += said["seconds"]
            if said["counts"]:
                occasion = _occasion(said)
                self._attempts[occasion] = self._attempts.get(occasion, 0) + 1
        elif kind == "outcome":
            self._over.add(_occasion(said))
            self.unanswered += said["outcome"] == "unanswered"

    def is_over(self, occasion: Occasion) -> bool:
        """Whether a prompt has had its outcome."""
        return occasion in self._over

    def left_open(self) -> list[Occasion]:
        """The prompts that have been given and have had no outcome yet."""
        return [one for one in self._begun if one not in self._over]

    def attempts(self, occasion: Occasion) -> int:
        """How many turns the agent has had for it that count."""
        return self._attempts.get(occasion, 0)


def _occasion(said: Mapping[str, Any]) -> Occasion:
    return Occasion(said["about"], said["number"])
