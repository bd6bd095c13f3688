"""What the driver and a cell tell each other: doors, secrets, attempts, survivors, and the cell.

This module knows no namespace and no process; `isolated.py` and `bare.py` are the two cells.
"""

from __future__ import annotations

import subprocess
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Protocol, Self

from tradesbench_gym.errors import TradesBenchError

Stream = int | IO[bytes] | None
"""As `subprocess.Popen` takes one; None is nothing to read and nowhere to write."""


class CellError(TradesBenchError):
    """A cell cannot be built or entered here, or does not hold."""


@dataclass(frozen=True)
class Doors:
    """Ports of 127.0.0.1 that the agent may reach: the company's, and the model gateway's."""

    api: int
    gateway: int | None = None

    @property
    def ports(self) -> tuple[int, ...]:
        """Each port once."""
        both = (self.api,) if self.gateway is None else (self.api, self.gateway)
        return tuple(dict.fromkeys(both))


@dataclass(frozen=True)
class Private:
    """What must be out of an agent's reach.

    Attributes:
        paths: files and folders of the run: world, write-ahead log, lock, manifest, transcript,
            tokens, other workspaces.
        sockets: the driver's, and every other that is not a door.
        pids: processes of the engine, its servers and its gateway; the calling one is added.
        values: the provider's key and every token that is not the agent's own.
        token: the agent's own token, from which forged ones are made at the company's door.

    """

    paths: tuple[Path, ...] = ()
    sockets: tuple[Path, ...] = ()
    pids: tuple[int, ...] = ()
    values: tuple[bytes, ...] = ()
    token: str | None = None


@dataclass(frozen=True)
class Probe:
    """One attempt as the agent's user: its name, what was tried, whether the wall held, and what
    the system said.
    """

    name: str
    what: str
    held: bool
    said: str


@dataclass(frozen=True)
class Survivor:
    """A process of the agent's user that was still there when a day was over."""

    pid: int
    command: str


class Cell(Protocol):
    """Where an agent's programs run; a context manager that closes itself."""

    workspace: Path
    isolated: bool
    uid: int

    @property
    def ports(self) -> Doors:
        """The doors as the agent sees them, on its own 127.0.0.1."""
        ...

    def popen(
        self,
        argv: Sequence[str],
        env: Mapping[str, str],
        *,
        stdin: Stream = None,
        stdout: Stream = None,
        stderr: Stream = None,
    ) -> subprocess.Popen[bytes]:
        """Start a program as the agent's user in the workspace, with this environment and no
        other. Streams are pipes or /dev/null. Raises CellError if it cannot be started.
        """
        ...

    def preflight(self, private: Private) -> tuple[Probe, ...]:
        """Try every wall; what was tried. Raises CellError, with the attempts, if one gave way."""
        ...

    def reap(self) -> tuple[Survivor, ...]:
        """End every process of the agent's, and say which there were."""
        ...

    def close(self) -> None:
        """End the agent's processes and leave nothing of the cell behind."""
        ...

    def __enter__(self) -> Self: ...
    def __exit__(self, *_: object) -> None: ...
