"""What the tests of the cell share: an engine's folders, a company's door, programs."""

from __future__ import annotations

import os
import socket
import subprocess
import sys
import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

import pytest

from tradesbench_gym.errors import TradesBenchError
from tradesbench_gym.harness.cell import BareCell, Doors, IsolatedCell
from tradesbench_gym.harness.cell.capabilities import require_capabilities

PATH = {"PATH": "/usr/local/bin:/usr/bin:/bin"}
UNAUTHORIZED = b"HTTP/1.1 401 Unauthorized\r\nContent-Length: 0\r\nConnection: close\r\n\r\n"


def _why_not() -> str:
    if sys.platform != "linux":
        return "cells stand on Linux"
    try:
        require_capabilities()
    except TradesBenchError as error:
        return str(error)
    return ""


WHY_NOT = _why_not()
NEEDS_ROOT = pytest.mark.skipif(bool(WHY_NOT), reason=WHY_NOT or "it can")


@dataclass(frozen=True)
class Site:
    """A run's private folder, with a workspace in it and a company that answers at a port."""

    folder: Path
    workspace: Path
    port: int

    @property
    def doors(self) -> Doors:
        return Doors(self.port)

    def private(self, name: str = "world.sqlite", content: str = "everything") -> Path:
        """A file of the run's that no agent may read."""
        path = self.folder / name
        path.write_text(content, encoding="utf-8")
        path.chmod(0o600)
        return path


@contextmanager
def company(answer: bytes = UNAUTHORIZED) -> Iterator[int]:
    """A server that gives everybody the same answer; its port."""
    with socket.create_server(("127.0.0.1", 0)) as listening:
        over = threading.Event()

        def serve() -> None:
            while not over.is_set():
                with suppress(OSError):
                    one, _ = listening.accept()
                    with one:
                        one.settimeout(5)
                        if one.recv(1 << 16):
                            one.sendall(answer)

        thread = threading.Thread(target=serve, daemon=True)
        thread.start()
        try:
            yield int(listening.getsockname()[1])
        finally:
            over.set()
            with suppress(OSError):
                socket.create_connection(listening.getsockname(), 1).close()
            thread.join(10)


@contextmanager
def site(folder: Path) -> Iterator[Site]:
    """A run's place in a folder, which becomes private."""
    folder.mkdir(parents=True, exist_ok=True)
    folder.chmod(0o700)
    workspace = folder / "workspace"
    workspace.mkdir()
    with company() as port:
        yield Site(folder, workspace, port)


def said(cell: IsolatedCell | BareCell, script: str, env: Mapping[str, str] | None = None) -> str:
    """What a shell script says in a cell, errors included."""
    process = cell.popen(
        ["sh", "-c", script],
        PATH if env is None else env,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
    )
    out, _ = process.communicate(timeout=60)
    return out.decode(errors="replace")


def open_descriptors() -> set[str]:
    """The descriptors of this process, each with what it leads to."""
    found = set()
    for fd in Path("/proc/self/fd").iterdir():
        with suppress(OSError):
            found.add(f"{fd.name} {fd.readlink()}")
    return found


def nest(top: Path, levels: int) -> None:
    """Folders in a folder, deeper than any path may be long."""
    top.mkdir(exist_ok=True)
    here = os.open(top, os.O_RDONLY)
    for _ in range(levels):
        os.mkdir("inner", dir_fd=here)
        there = os.open("inner", os.O_RDONLY, dir_fd=here)
        os.close(here)
        here = there
    os.close(here)
