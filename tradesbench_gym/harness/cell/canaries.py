"""What the engine lays out before a pre-flight for the agent's user to find, if a wall is missing:
files that every user of the host can read, a server, a named socket, shared memory, a key.

Nothing secret is in any of them, and all are taken away again. This module judges nothing.
"""

from __future__ import annotations

import contextlib
import ctypes
import secrets
import socket
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from tradesbench_gym.harness.cell.room import kernel

_FOLDERS = ("/tmp", "/dev/shm", "/var/tmp")  # noqa: S108 - where users of the host meet
_CREATE, _EVERYBODY, _REMOVE = 0o1000, 0o666, 0
_SESSION_KEYRING, _KEY_REVOKE = -3, 3


@dataclass(frozen=True)
class Canaries:
    """What was laid out, as the attempts go for it."""

    shared: tuple[str, ...]
    abstract: str
    listening: int
    key: str
    segment: int


@contextlib.contextmanager
def canaries() -> Iterator[Canaries]:
    """Lay them out, and take them away again."""
    name = f"tradesbench-canary-{secrets.token_hex(8)}"
    with contextlib.ExitStack() as held:
        shared = tuple(
            held.enter_context(_readable(folder, name)) for folder in _FOLDERS if _is_there(folder)
        )
        listening = held.enter_context(_server())
        named = held.enter_context(socket.socket(socket.AF_UNIX, socket.SOCK_STREAM))
        named.bind(f"\0{name}")
        named.listen()
        segment = held.enter_context(_memory())
        held.enter_context(_key(name))
        yield Canaries(shared, name, listening, name, segment)


def _is_there(folder: str) -> bool:
    return Path(folder).is_dir()


@contextlib.contextmanager
def _readable(folder: str, name: str) -> Iterator[str]:
    with tempfile.NamedTemporaryFile(dir=folder, prefix=name) as file:
        file.write(b"nothing secret")
        file.flush()
        path = Path(file.name)
        path.chmod(0o644)
        yield str(path)


@contextlib.contextmanager
def _server() -> Iterator[int]:
    """A port of the host on which somebody listens, for both kinds of addresses where there are."""
    with contextlib.ExitStack() as held:
        four = held.enter_context(socket.create_server(("127.0.0.1", 0)))
        port = int(four.getsockname()[1])
        with contextlib.suppress(OSError):
            held.enter_context(socket.create_server(("::1", port), family=socket.AF_INET6))
        yield port


@contextlib.contextmanager
def _memory() -> Iterator[int]:
    """System V memory, a semaphore and a queue, for every user of the host."""
    libc = ctypes.CDLL(None, use_errno=True)
    key = secrets.randbelow(1 << 30) + 1
    flags = _CREATE | _EVERYBODY
    memory, semaphore, queue = (
        libc.shmget(key, 4096, flags),
        libc.semget(key, 1, flags),
        libc.msgget(key, flags),
    )
    try:
        yield key
    finally:
        if memory >= 0:
            libc.shmctl(memory, _REMOVE, None)
        if semaphore >= 0:
            libc.semctl(semaphore, 0, _REMOVE, 0)
        if queue >= 0:
            libc.msgctl(queue, _REMOVE, None)


@contextlib.contextmanager
def _key(name: str) -> Iterator[None]:
    """A key on this session's ring, where the kernel keeps keys."""
    try:
        key = kernel.syscall("add_key", b"user", name.encode(), b"x", 1, _SESSION_KEYRING)
    except OSError:
        yield
        return
    try:
        yield
    finally:
        with contextlib.suppress(OSError):
            kernel.syscall("keyctl", _KEY_REVOKE, key)
