"""The company's servers as a process of their own, `python -m` this module.

What it is to serve comes as one JSON line on its stdin, tokens included, so that they stand in no
list of processes; the sockets are inherited, so that whoever asks while it is started again waits
and is not refused. It ends when its stdin does: with the harness, however that ends. This module
knows no agent.
"""

from __future__ import annotations

import json
import socket
import sys
import threading
import time
from contextlib import ExitStack
from pathlib import Path
from typing import Any

from tradesbench_gym.api import app, listening, serving
from tradesbench_gym.api.office import Office
from tradesbench_gym.api.tokens import Token
from tradesbench_gym.errors import TradesBenchError
from tradesbench_gym.world import World, WorldError

_PATIENCE_SECONDS = 20.0


def main() -> int:
    """Serve until stdin ends; the status to exit with."""
    wanted = json.loads(sys.stdin.readline())
    stopped = threading.Event()
    threading.Thread(target=_watch, args=(stopped,), daemon=True).start()
    try:
        _serve(wanted, stopped)
    except TradesBenchError as error:
        _say(error={"message": error.message, "code": error.code})
        return 2
    return 0


def _serve(wanted: dict[str, Any], stopped: threading.Event) -> None:
    with ExitStack() as held:
        world = held.enter_context(_opened(Path(wanted["world"]), wanted["map"]))
        office = Office(world)
        held.callback(office.close)
        served = []
        for name, make in (("agent", app.agent_app), ("driver", app.driver_app)):
            inherited = held.enter_context(socket.socket(fileno=wanted[name]["socket"]))
            token = Token(wanted[name]["token"].encode())
            served.append((make(office, token), listening.Listener(inherited)))
        serving.serve(served, lambda: _say(ready=True), office.stop, stopped)


def _opened(path: Path, map_name: str | None) -> World:
    """The world, as soon as the servers of a harness that was killed have let go of it."""
    until = time.monotonic() + _PATIENCE_SECONDS
    while True:
        try:
            return World.open(path, map=map_name)
        except WorldError as error:
            if error.code != "held" or time.monotonic() > until:
                raise
        time.sleep(0.1)


def _watch(stopped: threading.Event) -> None:
    sys.stdin.read()
    stopped.set()


def _say(**said: Any) -> None:
    print(json.dumps(said), flush=True)  # noqa: T201 - the harness reads it


if __name__ == "__main__":
    sys.exit(main())
