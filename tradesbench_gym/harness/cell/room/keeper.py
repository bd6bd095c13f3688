"""The keeper of one room: makes its namespaces, opens its doors, and ends it.

It is a child of the engine and of the engine's user. It makes the namespaces, forks the room's
first process into them, comes back to the host's network and tends the doors. When the engine is
gone, however it ended, or lets go of the line between them, the first process is killed, and with
it the kernel kills every process in the room and takes down every mount, socket and interface of
it: nothing is ever left to be cleaned up. The first process ends the room by itself if the keeper
should be gone.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import os
import select
import signal
import socket
import sys
from typing import NoReturn

from . import doors, kernel
from .furnish import furnish
from .spec import Room, Walls, read, room_from

_FLAGS = {
    "network": kernel.NEWNET, "pids": kernel.NEWPID, "ipc": kernel.NEWIPC, "names": kernel.NEWUTS,
}  # fmt: skip
_FURNISHED = "furnished"


def main() -> None:
    """Keep the room that the descriptors on the command line tell of: room, line, engine."""
    told, line, engine = (int(one) for one in sys.argv[1:4])
    room = room_from(read(told))
    with socket.socket(fileno=line) as control:
        try:
            listening, first = _build(room, engine)
        except OSError as error:
            control.sendall(json.dumps({"error": str(error)}).encode() + b"\n")
            return
        try:
            control.sendall(json.dumps({"first": first}).encode() + b"\n")
            with os.fdopen(os.pidfd_open(first)) as room_end:
                asyncio.run(_tend(listening, (engine, control.fileno(), room_end.fileno())))
        finally:
            _end(first)


def _end(first: int) -> None:
    with contextlib.suppress(ProcessLookupError):
        os.kill(first, signal.SIGKILL)
    # The kernel lets it end only when everybody else in the room has.
    with contextlib.suppress(ChildProcessError):
        os.waitpid(first, 0)


def _build(room: Room, engine: int) -> tuple[list[tuple[socket.socket, int]], int]:
    with os.fdopen(os.open("/proc/self/ns/net", os.O_RDONLY | os.O_CLOEXEC)) as host_network:
        kernel.unshare(_namespaces(room.walls))
        listening = []
        if room.walls.network:
            doors.raise_loopback()
            listening = doors.listen(room.doors)
        first = _fork_first(room, engine)
        kernel.setns(host_network.fileno(), kernel.NEWNET)
    return listening, first


def _namespaces(walls: Walls) -> int:
    flags = kernel.NEWNS | kernel.NEWCGROUP
    for name, flag in _FLAGS.items():
        if getattr(walls, name):
            flags |= flag
    return flags


def _fork_first(room: Room, engine: int) -> int:
    """The room's first process: its number on the host, once the room is furnished."""
    ready, tell = os.pipe()
    first = os.fork()
    if first == 0:
        os.close(ready)
        _be_first(room, engine, tell)
    os.close(tell)
    with os.fdopen(ready) as said:
        answer = said.read()
    if answer != _FURNISHED:
        os.waitpid(first, 0)
        raise OSError(answer or "the room's first process ended without a word")
    return first


def _be_first(room: Room, engine: int, tell: int) -> NoReturn:
    status = 1
    try:
        kernel.prctl(kernel.PDEATHSIG, signal.SIGKILL)
        os.setsid()
        if room.walls.names:
            kernel.sethostname("office")
        furnish(room)
        _keep_only(tell, engine)
        os.write(tell, _FURNISHED.encode())
        os.close(tell)
        _reap_until_gone(engine)
        status = 0
    except Exception as error:  # noqa: BLE001 - told, whatever it is: the engine makes it a sentence
        with contextlib.suppress(OSError):
            os.write(tell, (str(error) or type(error).__name__).encode())
    finally:
        os._exit(status)


def _keep_only(*kept: int) -> None:
    nowhere = os.open("/dev/null", os.O_RDWR)
    for fd in (0, 1, 2):
        os.dup2(nowhere, fd)
    lowest = 3
    for fd in sorted(kept):
        os.closerange(lowest, fd)
        lowest = fd + 1
    os.closerange(lowest, 1 << 20)


def _reap_until_gone(engine: int) -> None:
    """Bury the room's orphans until the engine is gone."""
    wake, woken = os.pipe()
    for fd in (wake, woken):
        os.set_blocking(fd, False)
    signal.signal(signal.SIGCHLD, lambda *_: None)
    signal.set_wakeup_fd(woken, warn_on_full_buffer=False)
    waiting = select.poll()
    waiting.register(engine, select.POLLIN)
    waiting.register(wake, select.POLLIN)
    while True:
        ended = {fd for fd, _ in waiting.poll()}
        if engine in ended:
            return
        os.read(wake, 4096)
        with contextlib.suppress(ChildProcessError):
            while os.waitpid(-1, os.WNOHANG)[0]:
                pass


async def _tend(listening: list[tuple[socket.socket, int]], ends: tuple[int, ...]) -> None:
    """Let people through the doors until one of the descriptors says that it is over."""
    over = asyncio.Event()
    loop = asyncio.get_running_loop()
    for fd in ends:
        loop.add_reader(fd, over.set)
    for number in (signal.SIGTERM, signal.SIGINT):
        loop.add_signal_handler(number, lambda: None)  # a Ctrl-C is the engine's to answer
    for one, port in listening:
        await asyncio.start_server(doors.Door(port).lead, sock=one)
    await over.wait()
