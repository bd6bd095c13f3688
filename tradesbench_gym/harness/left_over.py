"""Processes of the agent's that an earlier sitting left behind, because it was killed.

A cell ends with the harness that made it; a room without walls does not. Whoever has the agent's
token of this run in its environment, and runs as our user, is ended before anything new is started.
"""

from __future__ import annotations

import os
import signal
from contextlib import suppress
from pathlib import Path

_PROC = Path("/proc")


def end_left_over(token: str) -> list[int]:
    """End the processes that have a token in their environment; which they were."""
    ended = []
    for folder in _PROC.iterdir() if _PROC.is_dir() else ():
        if not folder.name.isdecimal() or int(folder.name) == os.getpid():
            continue
        with suppress(OSError):  # it is somebody else's, or has ended
            if token.encode() in (folder / "environ").read_bytes():
                os.kill(int(folder.name), signal.SIGKILL)
                ended.append(int(folder.name))
    return ended
