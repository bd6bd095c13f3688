"""Starting the small programs of `room`, and the line to the one that keeps a room.

A program gets what it must know in files without a name, an empty environment, and no descriptor
but those it is meant to have. This module knows what is told to whom, and nothing of what is tried.
"""

from __future__ import annotations

import contextlib
import json
import os
import socket
import subprocess
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import IO

from tradesbench_gym.errors import shown
from tradesbench_gym.harness.cell.capabilities import cannot
from tradesbench_gym.harness.cell.records import CellError, Stream
from tradesbench_gym.harness.cell.room import spec

_FOLDER = Path(__file__).resolve().parent
_BUILD_SECONDS = 60.0
_END_SECONDS = 60.0
OUTSIDE = -1
"""In place of a room's first process: only the user changes, the host's files stay in view."""


def _command(program: str, *descriptors: int) -> list[str]:
    begin = f"import sys; sys.path.insert(0, {str(_FOLDER)!r})"
    code = f"{begin}; from room.{program} import main; main()"
    return [sys.executable, "-I", "-S", "-B", "-c", code, *map(str, descriptors)]


class Keeper:
    """A room that stands: its namespaces live as long as this object's process, and no longer.

    Raises CellError where the machine does not allow one.
    """

    def __init__(self, room: spec.Room) -> None:
        try:
            told, engine = spec.to_memory(room), os.pidfd_open(os.getpid())
        except OSError as error:
            raise cannot(f"the kernel is too old, or forbids it: {error.strerror}") from error
        self._line, theirs = socket.socketpair()
        given = (told, theirs.fileno(), engine)
        try:
            self._process = subprocess.Popen(  # noqa: S603 - a program of ours
                _command("keeper", *given),
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                stderr=subprocess.DEVNULL,
                env={},
                cwd="/",
                pass_fds=given,
            )
        finally:
            theirs.close()
            os.close(told)
            os.close(engine)
        try:
            self.first = self._first_process()
        except BaseException:
            self.end()
            raise

    def _first_process(self) -> int:
        """The pidfd of the room's first process, as soon as the room is furnished."""
        self._line.settimeout(_BUILD_SECONDS)
        try:
            said = self._line.makefile("rb").readline()
        except TimeoutError:
            raise cannot("building the cell took more than a minute") from None
        if not said:
            raise cannot("the program that builds the cell ended without a word")
        answer = json.loads(said)
        if "error" in answer:
            raise cannot(answer["error"])
        return os.pidfd_open(int(answer["first"]))

    @property
    def stands(self) -> bool:
        """Whether the room is still there."""
        return self._process.poll() is None

    @property
    def pid(self) -> int:
        """The keeper's process."""
        return self._process.pid

    def end(self) -> None:
        """End every process in the room, and the room."""
        with contextlib.suppress(OSError):  # the keeper may be gone already
            self._line.shutdown(socket.SHUT_RDWR)  # a forked child of ours may hold the line too
        self._line.close()
        try:
            self._process.wait(_END_SECONDS)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()
        if getattr(self, "first", -1) >= 0:
            os.close(self.first)
            self.first = -1


def enter(
    room: spec.Room,
    first: int,
    argv: Sequence[str],
    env: Mapping[str, str],
    *,
    probes: dict[str, object] | None = None,
    stdin: Stream = None,
    stdout: Stream = None,
    stderr: Stream = None,
) -> subprocess.Popen[bytes]:
    """Start a program, or the attempts, in a room, and return once it runs.

    Raises CellError with the reason if it does not.
    """
    told = spec.to_memory(spec.Entry(room, tuple(argv), dict(env), probes))
    problems, tell = os.pipe()
    try:
        process = subprocess.Popen(  # noqa: S603 - a program of ours, which starts the agent's
            _command("entering", told, tell, first),
            env={},
            cwd="/",
            pass_fds=[fd for fd in (told, tell, first) if fd >= 0],
            stdin=_stream("stdin", stdin),
            stdout=_stream("stdout", stdout),
            stderr=_stream("stderr", stderr),
        )
    except BaseException:
        os.close(problems)
        raise
    finally:
        for fd in (told, tell):
            os.close(fd)
    with os.fdopen(problems, "rb") as file:
        said = file.read()
    if said:
        with process:
            process.kill()
        raise CellError(_not_started(argv, json.loads(said)), code="not_started", field="argv")
    return process


def _not_started(argv: Sequence[str], problem: Mapping[str, object]) -> str:
    name = shown(argv[0] if argv else "")
    if problem["errno"] == 2:
        return f"there is no program {name} in the agent's cell, which shows /usr and its own tools"
    return f"{name} cannot be started in the agent's cell: {problem['said']}"


def _stream(name: str, stream: Stream) -> int | IO[bytes]:
    """A stream that an agent may hold; a file or a terminal of ours is not one."""
    if stream is None:
        return subprocess.DEVNULL
    if isinstance(stream, int) and stream < 0:
        return stream
    fd = stream if isinstance(stream, int) else stream.fileno()
    kind = os.fstat(fd)
    null = Path(os.devnull).stat()
    if (kind.st_mode & 0o170000) in {0o010000, 0o140000} or kind.st_rdev == null.st_rdev != 0:
        return stream
    raise CellError(
        f"{name} of an agent is a pipe or /dev/null: a file or a terminal would be a way to ours",
        code="stream",
        field=name,
    )
