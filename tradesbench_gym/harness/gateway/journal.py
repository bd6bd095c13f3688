"""The record of every request: lines of JSON that are only ever added, safe on disk before anybody
is told.

What was sent and what came back stands in lines of the kind "raw", which whoever only counts can
pass over; everything that counts is in the others. A last line that was torn by a crash is left as
it is, and the next opening says so. This module knows lines, and nothing of what they say.
"""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from tradesbench_gym.harness.gateway.settings import GatewayError

NAME = "requests.jsonl"
RAW = b'{"kind":"raw",'
_LOOK_BACK = 1024 * 1024

if sys.platform == "win32":

    def _hold(handle: int) -> None:
        """Nothing: the gateway runs where there are users to keep apart."""
else:
    import fcntl

    def _hold(handle: int) -> None:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)


class Journal:
    """The one writer of a record.

    Attributes:
        torn: bytes of a last line that never became whole.

    Raises:
        GatewayError: another gateway writes it, or the disk does not let us.

    """

    def __init__(self, folder: Path) -> None:
        self.path = folder / NAME
        try:
            folder.mkdir(mode=0o700, parents=True, exist_ok=True)
            self._handle = os.open(self.path, os.O_RDWR | os.O_CREAT | os.O_APPEND, 0o600)
        except OSError as error:
            raise _unusable(self.path, error) from None
        try:
            _hold(self._handle)
        except OSError:
            os.close(self._handle)
            raise GatewayError(
                f"{self.path} is written by another gateway: only one may serve a run",
                code="held",
                field="folder",
            ) from None
        self._size = os.fstat(self._handle).st_size
        self.torn = self._end_torn_line()
        _sync_folder(folder)

    def _end_torn_line(self) -> int:
        begin = max(0, self._size - _LOOK_BACK)
        end = os.pread(self._handle, self._size - begin, begin)
        torn = len(end) - (end.rfind(b"\n") + 1)
        if torn:
            self._write(b"\n")
        return torn

    def add(self, *lines: bytes) -> None:
        """Add lines; they are safe after the next `sync`.

        Raises:
            GatewayError: they could not be written, and none of them was.

        """
        self._write(b"".join(line + b"\n" for line in lines))

    def _write(self, data: bytes) -> None:
        try:
            written = 0
            while written < len(data):
                written += os.write(self._handle, data[written:])
        except OSError as error:
            os.ftruncate(self._handle, self._size)  # half a line would hide the next one
            raise _unusable(self.path, error) from None
        self._size += len(data)

    def sync(self) -> None:
        """Return once everything that was added is on disk."""
        try:
            os.fsync(self._handle)
        except OSError as error:
            raise _unusable(self.path, error) from None

    def close(self) -> None:
        """Let go of the file."""
        os.close(self._handle)


def row(kind: str, **told: Any) -> bytes:
    """A line that counts."""
    return json.dumps({"kind": kind, **told}, separators=(",", ":")).encode()


def raw(request: int, what: str, data: bytes) -> bytes:
    """A line with what was sent or came back: as JSON where we wrote it, else as it was."""
    head = b'%b"request":%d,"what":"%b",' % (RAW, request, what.encode())
    if what == "request":
        return head + b'"body":' + data + b"}"
    try:
        return head + b'"text":' + json.dumps(data.decode()).encode() + b"}"
    except UnicodeDecodeError:
        return head + b'"latin1":' + json.dumps(data.decode("latin-1")).encode() + b"}"


class Reader:
    """Reads the lines that count, each once, also while they are being written."""

    def __init__(self, folder: Path) -> None:
        self.path = folder / NAME
        self._read = 0
        self._line = 0
        self._damaged = 0

    def rows(self) -> Iterator[Mapping[str, Any]]:
        """What has been added since the last time.

        Raises:
            GatewayError: a line in the middle is damaged.

        """
        if self.path.exists() and not self.path.is_file():  # of a pipe nobody sees the end
            raise GatewayError(f"{self.path} is not a regular file", code="damaged", field="folder")
        try:
            file = self.path.open("rb")
        except FileNotFoundError:
            return
        except OSError as error:
            raise _unusable(self.path, error) from None
        with file:
            file.seek(self._read)
            for line in file:
                if not line.endswith(b"\n"):
                    return  # it is being written, or was torn
                self._read += len(line)
                self._line += 1
                if not line.startswith(RAW):
                    yield from self._parse(line)

    def _parse(self, line: bytes) -> Iterator[Mapping[str, Any]]:
        try:
            found = json.loads(line)
        except ValueError:
            found = None
        whole = isinstance(found, dict) and isinstance(found.get("kind"), str)
        # A torn line is what the next opening has found; anything else was damaged afterwards.
        told = whole and found["kind"] == "opened" and found.get("torn", 0) > 0
        if self._damaged and not told:
            raise GatewayError(
                f"line {self._damaged} of {self.path} is damaged", code="damaged", field="folder"
            )
        self._damaged = 0 if whole else self._line
        if whole:
            yield found


def _unusable(path: Path, error: OSError) -> GatewayError:
    why = (error.strerror or type(error).__name__).lower()
    return GatewayError(f"{path} cannot be used: {why}", code="journal", field="folder")


def _sync_folder(folder: Path) -> None:
    if sys.platform == "win32":
        return
    handle = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)
