"""A program run in a pseudo-terminal of a given size, as a person's terminal would run it."""

from __future__ import annotations

import fcntl
import os
import pty
import select
import signal
import struct
import subprocess
import termios
import time
from collections.abc import Sequence
from dataclasses import dataclass

PATIENCE_SECONDS = 120.0
# input() of CPython does not see a signal that comes between its last look and its select: a
# person at a prompt whose Ctrl-C brings nothing presses it again.
SILENCE_SECONDS = 5.0
PROMPT = b"> "


@dataclass(frozen=True)
class Seen:
    """What came out, and the exit status."""

    text: str
    status: int


def run_in_terminal(
    command: Sequence[str],
    *,
    columns: int = 100,
    lines: int = 30,
    environment: dict[str, str] | None = None,
    interrupt_after: str | None = None,
    typed: Sequence[str] = (),
) -> Seen:
    """Run a program to its end, pressing Ctrl-C as soon as a text has been seen, and typing a line
    at each of its prompts.
    """
    ours, theirs = pty.openpty()
    fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", lines, columns, 0, 0))
    settings = {key: value for key, value in os.environ.items() if key not in ("COLUMNS", "LINES")}
    settings |= {"TERM": "xterm-256color", "TRADESBENCH_QUIET": "1", **(environment or {})}
    # Whoever starts the tests in the background may have Ctrl-C ignored, and a child would inherit
    # that; no terminal does.
    heard = signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        program = subprocess.Popen(
            command,
            stdin=theirs,
            stdout=theirs,
            stderr=theirs,
            env=settings,
            start_new_session=True,
        )
    finally:
        signal.signal(signal.SIGINT, heard)
    with program:
        os.close(theirs)
        try:
            text = _read(ours, program, interrupt_after, list(typed))
        finally:
            program.kill()
            os.close(ours)
    return Seen(text, program.returncode)


def _read(
    ours: int,
    program: subprocess.Popen[bytes],
    interrupt_after: str | None,
    to_type: list[str],
) -> str:
    deadline, press_at, read = time.monotonic() + PATIENCE_SECONDS, 0.0, b""
    answered, silence = 0, SILENCE_SECONDS if to_type else PATIENCE_SECONDS
    while (now := time.monotonic()) < deadline:
        if select.select([ours], [], [], 0.1)[0]:
            try:
                piece = os.read(ours, 65536)
            except OSError:  # the other side is closed
                piece = b""
            if not piece:
                program.wait(timeout=PATIENCE_SECONDS)
                return read.decode(errors="replace")
            read += piece
            press_at = press_at and now + silence
            if to_type and read.count(PROMPT) > answered:
                answered += 1
                os.write(ours, to_type.pop(0).encode() + b"\n")
        if interrupt_after is not None and interrupt_after.encode() in read and now >= press_at:
            program.send_signal(signal.SIGINT)
            press_at = now + silence
    raise TimeoutError(f"the program did not end; it said: {read.decode(errors='replace')[-2000:]}")
