"""The same interface without walls, for who runs without root and says so with --no-isolation.

Every result carries that `isolated` is False. Programs are found again by a mark in their
environment, by descent and by their sessions, which a program that wants to hide can escape.
"""

from __future__ import annotations

import contextlib
import os
import secrets
import signal
import subprocess
import time
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Self

from tradesbench_gym.errors import shown
from tradesbench_gym.harness.cell.records import (
    CellError,
    Doors,
    Private,
    Probe,
    Stream,
    Survivor,
)
from tradesbench_gym.harness.cell.users import command_of

MARK = "TRADESBENCH_CELL"
_PROC = Path("/proc")
_GONE_SECONDS = 10.0
_POLL_SECONDS = 0.02


class BareCell:
    """A workspace and this process's own user: nothing is kept from an agent.

    Attributes:
        workspace: the folder that an agent works in.
        isolated: False.
        uid: our own.
        ports: the host's, as they are.
        home: the workspace.

    """

    isolated = False

    def __init__(self, workspace: Path, doors: Doors) -> None:
        self.workspace = workspace.resolve()
        if not self.workspace.is_dir():
            raise CellError(
                f"the workspace {shown(str(workspace))} is no folder: make it first",
                code="no_workspace",
                field="workspace",
            )
        self.ports = doors
        self.home = str(self.workspace)
        self.uid = os.getuid() if hasattr(os, "getuid") else 0
        self._mark = secrets.token_hex(8)
        self._started: list[subprocess.Popen[bytes]] = []

    def popen(
        self,
        argv: Sequence[str],
        env: Mapping[str, str],
        *,
        stdin: Stream = None,
        stdout: Stream = None,
        stderr: Stream = None,
    ) -> subprocess.Popen[bytes]:
        """As `Cell.popen`, with one more variable by which its processes are found again."""
        try:
            process = subprocess.Popen(  # noqa: S603 - the agent that somebody chose
                list(argv),
                env={**env, MARK: self._mark},
                cwd=self.workspace,
                stdin=subprocess.DEVNULL if stdin is None else stdin,
                stdout=subprocess.DEVNULL if stdout is None else stdout,
                stderr=subprocess.DEVNULL if stderr is None else stderr,
                start_new_session=True,
            )
        except OSError as error:
            name = shown(argv[0] if argv else "")
            raise CellError(
                f"{name} cannot be started: {error.strerror}", code="not_started", field="argv"
            ) from error
        self._started.append(process)
        return process

    def preflight(
        self, private: Private, env: Mapping[str, str] | None = None
    ) -> tuple[Probe, ...]:
        """No attempt is made: there is no wall to try."""
        del private, env
        return ()

    def reap(self) -> tuple[Survivor, ...]:
        """End the processes that can be found; which there were."""
        survivors: dict[int, Survivor] = {}
        deadline = time.monotonic() + _GONE_SECONDS
        while left := {one.pid: one for one in self._left()}:
            survivors |= left
            if time.monotonic() > deadline:
                break
            for pid in left:
                with contextlib.suppress(OSError):
                    os.kill(pid, signal.SIGKILL)
            for process in self._started:
                process.poll()
            time.sleep(_POLL_SECONDS)
        self._started = [process for process in self._started if process.poll() is None]
        return tuple(survivors.values())

    def close(self) -> None:
        """End the processes that can be found."""
        self.reap()

    def _left(self) -> Iterator[Survivor]:
        if not _PROC.is_dir():
            yield from self._left_by_session()
            return
        mark = f"{MARK}={self._mark}".encode()
        # Of a program that has ended, the number may be somebody else's by now.
        sessions = {process.pid for process in self._started if process.poll() is None}
        for folder in _PROC.iterdir():
            if not folder.name.isdecimal() or int(folder.name) == os.getpid():
                continue
            with contextlib.suppress(OSError, IndexError):  # it is somebody else's, or has ended
                state, session = _state(folder)
                if state in {"Z", "X"}:
                    continue
                marked = session in sessions or mark in (folder / "environ").read_bytes()
                if marked:
                    yield Survivor(int(folder.name), command_of(folder))

    def _left_by_session(self) -> Iterator[Survivor]:
        for process in self._started:
            if process.poll() is None:
                yield Survivor(process.pid, str(process.args))

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


def _state(folder: Path) -> tuple[str, int]:
    """A process's state and session."""
    said = (folder / "stat").read_text(encoding="utf-8", errors="replace").rsplit(")", 1)[1].split()
    return said[0], int(said[3])
