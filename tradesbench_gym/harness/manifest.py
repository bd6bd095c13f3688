"""The manifest of a run: what was played, by whom, with which versions and limits, how well it was
shut in, and what came of it.

It is written whole or not at all, and again whenever something in it changes. Secrets do not stand
in it: of a sealed run's salt there is only the digest until the run has ended. This module knows no
process and no socket.
"""

from __future__ import annotations

import hashlib
import os
import tempfile
from datetime import UTC, datetime
from decimal import Decimal
from enum import StrEnum
from pathlib import Path
from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, ValidationError

from tradesbench_gym.errors import TradesBenchError
from tradesbench_gym.harness.faults import Fault


class HarnessError(TradesBenchError):
    """A run that the harness cannot begin, resume or go on with."""


class Status(StrEnum):
    """Where a run is."""

    RUNNING = "running"
    """Somebody plays it, or was killed while doing so."""
    STOPPED = "stopped"
    """It was left before its end and can be resumed."""
    ENDED = "ended"
    """Its last day has closed, or the company is bankrupt."""


class AgentName(StrEnum):
    """The kinds of agents."""

    PI = "pi"
    SCRIPTED = "scripted"
    ORACLE = "oracle"


class _Part(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class RunPart(_Part):
    """What is played. `salt` is null until the run has ended; 0 is an open run's."""

    seed: int
    salt_digest: str
    salt: str | None = None
    scenario: str
    scenario_digest: str
    map: str
    map_digest: str
    days: int
    start_date: str


class AgentPart(_Part):
    """Who plays it: `program` is what a scripted agent is started with, `readable` the folders that
    it may read in its cell besides the system's.
    """

    name: AgentName
    program: tuple[str, ...] = ()
    readable: tuple[str, ...] = ()
    thinking: str | None = None


class ModelPart(_Part):
    """The model behind the gateway; prices in dollars per million tokens, null if unknown."""

    name: str
    base_url: str
    key_variable: str | None = None
    input_price: Decimal | None = None
    cached_price: Decimal | None = None
    output_price: Decimal | None = None
    context_tokens: int = 200_000
    output_tokens: int = 32_000


class LimitsPart(_Part):
    """What the agent may take, and how long it is waited for. Costs in dollars."""

    reminders: int = 2
    turn_seconds: float = 1_800.0
    command_seconds: float = 600.0
    turn_characters: int = 4_000_000
    request_seconds: float = 300.0
    request_retries: int = 5
    repeats: int = 2
    max_cost: Decimal | None = None
    max_tokens: int | None = None
    max_hours: float | None = None


class VersionsPart(_Part):
    """With what it is played."""

    tradesbench_gym: str
    rules: int
    world: int
    python: str
    platform: str
    agent: str | None = None
    node: str | None = None


class ProbePart(_Part):
    """One attempt to get out of the cell, and whether it held."""

    name: str
    what: str
    held: bool
    said: str


class SessionPart(_Part):
    """One sitting: from a start or resumption to its end; null if it was killed."""

    started_at: str
    ended_at: str | None = None
    ended_by: str | None = None
    isolated: bool
    probes: tuple[ProbePart, ...] = ()


class FaultPart(_Part):
    """A `Fault`, as it is written down."""

    kind: Literal["infrastructure", "agent", "model"]
    code: str
    sentence: str
    at: str
    detail: dict[str, str | int | float | bool | None] = {}

    @classmethod
    def of(cls, fault: Fault) -> FaultPart:
        """The fault, written down."""
        return cls(
            kind=fault.kind.value,
            code=fault.code,
            sentence=fault.sentence,
            at=fault.at,
            detail=dict(fault.detail),
        )


class UsagePart(_Part):
    """What the gateway counted; cost in dollars, null if a price is unknown. `unreported` requests
    came back without a count: what they took is in no total.
    """

    requests: int
    retries: int
    input_tokens: int
    cached_tokens: int
    output_tokens: int
    unreported: int
    cost: Decimal | None


class TurnsPart(_Part):
    """The agent's turns: how many, and how many hours they took together."""

    turns: int = 0
    hours: float = 0.0
    reminders: int = 0
    unanswered: int = 0


class Manifest(_Part):
    """Everything there is to know of a run but what was said in it."""

    format: Literal[1] = 1
    status: Status
    run: RunPart
    agent: AgentPart
    model: ModelPart | None
    limits: LimitsPart
    versions: VersionsPart
    isolated: bool
    created_at: str
    ended_at: str | None = None
    sessions: tuple[SessionPart, ...] = ()
    faults: tuple[FaultPart, ...] = ()
    usage: UsagePart | None = None
    turns: TurnsPart = TurnsPart()
    results: dict[str, int | None] | None = None

    def changed(self, **parts: Any) -> Manifest:
        """The manifest with some of its parts exchanged."""
        return self.model_copy(update=parts)


def now() -> str:
    """The wall clock, in ISO 8601."""
    return datetime.now(UTC).isoformat(timespec="milliseconds")


def salt_digest(salt: int) -> str:
    """SHA-256 of the salt's decimal digits: published before the run, proven by the salt after."""
    return hashlib.sha256(str(salt).encode()).hexdigest()


def read_manifest(path: Path) -> Manifest:
    """The manifest in a file.

    Raises:
        HarnessError: there is none, or it is none.

    """
    if path.exists():
        check_plain(path)
    try:
        return Manifest.model_validate_json(path.read_bytes())
    except OSError as error:
        reason = (error.strerror or "unknown reason").lower()
        raise HarnessError(
            f"{path.parent} is no folder of a run: its {path.name} cannot be read: {reason}",
            code="no_run",
            field="folder",
        ) from None
    except ValidationError as error:
        first = error.errors(include_url=False)[0]
        where = ".".join(map(str, first["loc"])) or "the whole"
        raise HarnessError(
            f"{path} is no manifest of this version: {where}: {first['msg'].lower()}",
            code="manifest",
            field="folder",
        ) from None


def check_plain(path: Path) -> None:
    """Raise HarnessError unless a file of a run's folder is one: of a pipe nobody sees the end."""
    if not path.is_file():
        raise HarnessError(f"{path} is not a regular file", code="file", field="folder")


def write_manifest(path: Path, manifest: Manifest) -> None:
    """Put a manifest into a file, durably, whole or not at all; only we can read it."""
    handle, made = tempfile.mkstemp(prefix=f".{path.name}-", dir=path.parent)
    try:
        with os.fdopen(handle, "w", encoding="utf-8") as file:
            file.write(manifest.model_dump_json(indent=2) + "\n")
            file.flush()
            os.fsync(file.fileno())
        Path(made).replace(path)
    except BaseException:
        Path(made).unlink(missing_ok=True)
        raise
    sync_folder(path.parent)


def sync_folder(folder: Path) -> None:
    """Make what was created or renamed in a folder durable."""
    handle = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)
