"""The two doors of a room: sockets that listen inside it and lead to ports of the host.

A socket belongs to the network namespace it was made in, whoever holds it: it is made inside and
accepted from outside, by a process of the engine's user that an agent cannot reach otherwise. Bytes
go through as they are, in both directions, and one side's end is told to the other. This module
reads none of them.
"""

from __future__ import annotations

import asyncio
import contextlib
import fcntl
import socket
import struct

_LOOPBACK = "127.0.0.1"
_MOST_CONNECTIONS = 512
_CHUNK = 1 << 16
_WAITING = 128
_GET_FLAGS, _SET_FLAGS, _UP = 0x8913, 0x8914, 1


def raise_loopback() -> None:
    """Give the namespace we stand in a 127.0.0.1."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as any_socket:
        request = struct.pack("16sH14x", b"lo", 0)
        (flags,) = struct.unpack_from("H", fcntl.ioctl(any_socket, _GET_FLAGS, request), 16)
        fcntl.ioctl(any_socket, _SET_FLAGS, struct.pack("16sH14x", b"lo", flags | _UP))


def listen(ports: tuple[int, ...]) -> list[tuple[socket.socket, int]]:
    """Listening sockets in the namespace we stand in, each with the host's port it leads to."""
    listening = []
    for port in ports:
        one = socket.socket(socket.AF_INET, socket.SOCK_STREAM)
        one.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        one.bind((_LOOPBACK, port))
        one.listen(_WAITING)
        listening.append((one, port))
    return listening


async def _pump(source: asyncio.StreamReader, sink: asyncio.StreamWriter) -> None:
    with contextlib.suppress(OSError):
        while chunk := await source.read(_CHUNK):
            sink.write(chunk)
            await sink.drain()
        sink.write_eof()


class Door:
    """One door: whoever comes in is led to the host's port, or finds it shut."""

    def __init__(self, port: int) -> None:
        self._port = port
        self._inside = 0

    async def lead(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """Serve one connection until both sides are done with it."""
        if self._inside >= _MOST_CONNECTIONS:
            writer.transport.abort()
            return
        self._inside += 1
        try:
            await self._through(reader, writer)
        finally:
            self._inside -= 1

    async def _through(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            beyond, out = await asyncio.open_connection(_LOOPBACK, self._port)
        except OSError:
            writer.transport.abort()
            return
        try:
            _at_once(writer)
            _at_once(out)
            await asyncio.gather(_pump(reader, out), _pump(beyond, writer))
        finally:
            for one in (writer, out):
                one.transport.abort()


def _at_once(writer: asyncio.StreamWriter) -> None:
    one = writer.get_extra_info("socket")
    with contextlib.suppress(OSError):
        one.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
