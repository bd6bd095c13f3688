"""The end of a process of ours that stops when its stdin is closed. It knows no program."""

from __future__ import annotations

import subprocess
from contextlib import suppress


def end(process: subprocess.Popen[bytes], patience: float = 0.0) -> None:
    """See to it that a process has ended, by the end of its stdin if there is time."""
    if process.stdin is not None:
        with suppress(OSError):
            process.stdin.close()
    try:
        process.wait(patience)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()
    if process.stdout is not None:
        process.stdout.close()
