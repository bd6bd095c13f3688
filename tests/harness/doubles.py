"""Stand-ins for what a sitting is made of: a room without walls, and a model that is no gateway."""

from __future__ import annotations

import os
import signal
import subprocess
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from tradesbench_gym.harness.manifest import HarnessError
from tradesbench_gym.harness.sitting import Parts


@dataclass(frozen=True)
class Doors:
    api: int
    gateway: int | None = None


@dataclass
class OpenRoom:
    """A room that anybody can leave; its processes are ended by their group."""

    workspace: Path
    ports: Doors
    uid: int = field(default_factory=os.getuid)
    started: list[subprocess.Popen[bytes]] = field(default_factory=list)

    def popen(
        self, argv: Sequence[str], env: Mapping[str, str], **streams: Any
    ) -> subprocess.Popen[bytes]:
        process = subprocess.Popen(
            list(argv), env=dict(env), cwd=self.workspace, start_new_session=True, **streams
        )
        self.started.append(process)
        return process

    def reap(self) -> tuple[str, ...]:
        there = tuple(str(one.pid) for one in self.started if one.poll() is None)
        for one in self.started:
            with suppress(ProcessLookupError, PermissionError):
                os.killpg(one.pid, signal.SIGKILL)
            one.wait()
        self.started.clear()
        return there

    def close(self) -> None:
        self.reap()


def open_room(workspace: Path, api: int, gateway: int | None, readable: Sequence[Path]) -> OpenRoom:
    del readable
    return OpenRoom(workspace, Doors(api, gateway))


def parts(**other: Any) -> Parts:
    """What a sitting without a model is made of, some of it exchanged."""
    made: dict[str, Any] = {"model": None, "room": open_room, "preflight": lambda *_: ()}
    return Parts(**{**made, **other})


@dataclass(frozen=True)
class Tried:
    """What came of one attempt to get out."""

    name: str
    what: str
    held: bool
    said: str


def failed_preflight(probes: Sequence[Tried]) -> Any:
    """A pre-flight that finds an open door."""

    def tried(*_: object) -> tuple[()]:
        error = HarnessError("a wall gave way", code="not_isolated")
        error.probes = tuple(probes)  # type: ignore[attr-defined]
        raise error

    return tried
