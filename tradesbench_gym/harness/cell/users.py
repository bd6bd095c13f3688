"""The agent's user: a number that nobody else has, for as long as one run holds it.

The numbers lie where neither distributions nor systemd give out any, and have no name. Who holds
one is settled by the kernel, by the name of a socket, so that two engines never share one and a
dead engine holds none. This module knows no cell.
"""

from __future__ import annotations

import contextlib
import errno
import socket
from collections.abc import Iterator
from pathlib import Path

from tradesbench_gym.harness.cell.records import CellError, Survivor

FIRST_UID, LAST_UID = 60_600, 61_099
_PROC = Path("/proc")
_COMMAND_SHOWN = 200


class AgentUser:
    """A uid of our own (its gid is the same number), until `release` or the end of the process.

    Raises CellError where every number is taken.
    """

    def __init__(self) -> None:
        for uid in range(FIRST_UID, LAST_UID + 1):
            claim = _claimed(uid)
            if claim is None:
                continue
            if not _known(uid) and not any(processes_of(uid)):
                self.uid = uid
                self._claim = claim
                return
            claim.close()
        raise CellError(
            f"no user number from {FIRST_UID} to {LAST_UID} is free for an agent: end other runs",
            code="no_user",
        )

    def release(self) -> None:
        """Let another run have the number."""
        self._claim.close()


def _claimed(uid: int) -> socket.socket | None:
    claim = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
    try:
        claim.bind(f"\0tradesbench-agent-{uid}")
    except OSError as error:
        claim.close()
        if error.errno == errno.EADDRINUSE:
            return None
        raise
    return claim


def _known(uid: int) -> bool:
    import pwd  # a bare cell is opened where there is none, too

    try:
        pwd.getpwuid(uid)
    except KeyError:
        return False
    return True


def processes_of(uid: int) -> Iterator[Survivor]:
    """The living processes of a user, in this process's view of the machine."""
    for folder in _PROC.iterdir():
        if not folder.name.isdecimal():
            continue
        with contextlib.suppress(OSError):  # it has ended meanwhile
            if _lives_as(uid, (folder / "status").read_text(encoding="utf-8", errors="replace")):
                yield Survivor(int(folder.name), command_of(folder))


def command_of(folder: Path) -> str:
    """What a process was started as, on one line."""
    words = (folder / "cmdline").read_bytes().replace(b"\0", b" ").decode(errors="replace").split()
    said = " ".join(words) or (folder / "comm").read_text(errors="replace").strip()
    return said if len(said) <= _COMMAND_SHOWN else said[: _COMMAND_SHOWN - 1] + "…"


def _lives_as(uid: int, status: str) -> bool:
    said = dict(line.split(":", 1) for line in status.splitlines() if ":" in line)
    dead = said["State"].split()[0] in {"Z", "X"}
    return not dead and str(uid) in said["Uid"].split()
