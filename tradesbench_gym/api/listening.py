"""The sockets that the servers listen on: a port of this computer or a file, never the network.

A port is one of 127.0.0.1. A socket's file is made anew, is ours while we listen, and is removed
afterwards; a file that anybody else needs is left alone. This module knows no HTTP.
"""

from __future__ import annotations

import errno
import os
import socket
import stat
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from tradesbench_gym.errors import TradesBenchError

HOST, PORT_VARIABLE = "127.0.0.1", "SUNRIDGE_API_PORT"
EVERYBODY = 0o666
ONLY_US = 0o600


class ListenError(TradesBenchError):
    """A port or a socket's file that cannot be listened on."""


@dataclass(frozen=True, slots=True)
class Listener:
    """A socket that listens.

    Attributes:
        socket: the socket.
        path: its file; None for a port.

    """

    socket: socket.socket
    path: Path | None = None
    made: os.stat_result | None = None

    @property
    def address(self) -> str:
        """Where to ask: `http://127.0.0.1:8642`, or `unix:/path/of/the/socket`."""
        if self.path is not None:
            return f"unix:{self.path}"
        return f"http://{HOST}:{self.socket.getsockname()[1]}"

    def close(self) -> None:
        """Stop listening, and remove the file."""
        self.socket.close()
        if self.path is not None and self.made is not None:
            with suppress(OSError):
                if os.path.samestat(self.path.stat(), self.made):
                    self.path.unlink()


def listen_on_port(port: int) -> Listener:
    """Listen on a port of this computer; 0 for any that is free.

    Raises:
        ListenError: a port that is in use or cannot be had.

    """
    # With its protocol by name: only then does asyncio see that it is TCP, and send answers at once
    # and not, after Nagle, 40 ms later.
    made = socket.socket(socket.AF_INET, socket.SOCK_STREAM, socket.IPPROTO_TCP)
    try:
        if os.name == "posix":  # elsewhere it would share the port with who has it
            made.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        made.bind((HOST, port))
        made.listen()
    except (OSError, OverflowError) as error:
        made.close()
        raise _refused(error, f"port {port}", "give another --port, or 0 for any") from None
    return Listener(made)


def listen_on_file(path: Path, mode: int) -> Listener:
    """Listen on a file.

    Args:
        path: the file; one that a server left behind when it was killed is replaced.
        mode: who may ask.

    Raises:
        ListenError: the file is something else, in use, or cannot be made.

    """
    if not hasattr(socket, "AF_UNIX"):
        raise ListenError("this system has no sockets with files: use a port", code="listen")
    _make_room(path)
    made = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    try:
        made.bind(str(path))
        path.chmod(mode)
        made.listen()
        return Listener(made, path, path.stat())
    except OSError as error:
        made.close()
        raise _refused(error, str(path), "give another path") from None


def _make_room(path: Path) -> None:
    try:
        if not stat.S_ISSOCK(path.lstat().st_mode):
            raise ListenError(
                f"{path} is there already and no socket: give another path",
                code="listen",
                field="path",
            )
    except OSError:
        return  # nothing is there, or binding will say what is wrong
    asked = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    with asked:
        asked.settimeout(1)
        try:
            asked.connect(str(path))
        except ConnectionRefusedError:
            path.unlink(missing_ok=True)
            return
        except OSError:
            return
    raise ListenError(f"another server listens on {path} already", code="listen", field="path")


def _refused(error: Exception, where: str, hint: str) -> ListenError:
    number = error.errno if isinstance(error, OSError) else None
    if number == errno.EADDRINUSE:
        reason = "somebody else listens there"
    elif isinstance(error, OSError) and error.strerror:
        reason = error.strerror.lower()
    else:
        reason = str(error)
    return ListenError(f"cannot listen on {where}: {reason}; {hint}", code="listen", field="port")
