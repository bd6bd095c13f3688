"""The gateway's own process: it takes its settings and the key from its standard input, and serves
until that is closed.

The key is in no argument, no variable and no file, and the process leaves no core file and, where
the system knows how, lets nobody look into its memory. It ends with whoever started it.
"""

from __future__ import annotations

import ctypes
import json
import logging
import os
import signal
import sys
import threading
from contextlib import suppress
from pathlib import Path
from typing import Any

from tradesbench_gym.api.listening import listen_on_port
from tradesbench_gym.api.serving import serve
from tradesbench_gym.errors import TradesBenchError
from tradesbench_gym.harness.gateway.app import Door
from tradesbench_gym.harness.gateway.errand import unfinished
from tradesbench_gym.harness.gateway.journal import Journal, Reader
from tradesbench_gym.harness.gateway.provider import Provider
from tradesbench_gym.harness.gateway.recorder import Recorder, now
from tradesbench_gym.harness.gateway.relay import Relay
from tradesbench_gym.harness.gateway.settings import GatewaySettings
from tradesbench_gym.harness.gateway.tally import Tally

_PR_SET_DUMPABLE = 4


def main() -> int:
    """Serve; 0 once told to stop, 2 if that is not possible."""
    _keep_to_ourselves()
    logging.getLogger("uvicorn.error").setLevel(logging.CRITICAL)  # it would tell of every cut
    told = json.loads(sys.stdin.readline())
    try:
        _serve(told)
    except TradesBenchError as error:
        _say(error={"message": error.message, "code": error.code, "field": error.field})
        return 2
    return 0


def _serve(told: dict[str, Any]) -> None:
    settings = GatewaySettings.taken_over(told["settings"])
    listener = listen_on_port(told["port"])
    recorder = opened(Path(told["folder"]), settings)
    provider = Provider(settings)
    recorder.scrubber = provider.scrubber
    door = Door(Relay(settings, provider, recorder), told["token"], settings.model, _stop)
    threading.Thread(target=_stop_with_our_starter, daemon=True).start()
    port = listener.socket.getsockname()[1]
    serve([(door, listener)], ready=lambda: _say(port=port), stopping=lambda: None)


def opened(folder: Path, settings: GatewaySettings) -> Recorder:
    """The record in a folder, its totals rebuilt; what was out when it was last left is closed.

    Raises:
        GatewayError: another gateway writes it, or it is damaged.

    """
    journal = Journal(folder)
    tally = Tally(settings.prices)
    recorder = Recorder(journal, tally, Provider(settings).scrubber)
    # Before it is read: only the opening tells that a torn line is one.
    recorder.write("opened", at=now(), pid=os.getpid(), torn=journal.torn, **settings.public())
    for row in Reader(folder).rows():
        tally.add(row)
    for number, out in list(tally.open.items()):
        recorder.write("unfinished", **unfinished(number, out.guess))
    journal.sync()
    return recorder


def _keep_to_ourselves() -> None:
    with suppress(ImportError, OSError, ValueError):
        import resource

        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    if sys.platform == "linux":
        with suppress(OSError, AttributeError):
            ctypes.CDLL(None).prctl(_PR_SET_DUMPABLE, 0, 0, 0, 0)


def _stop_with_our_starter() -> None:
    while sys.stdin.readline():
        pass
    _stop()


def _stop() -> None:
    os.kill(os.getpid(), signal.SIGTERM)


def _say(**told: Any) -> None:
    sys.stdout.write(json.dumps(told) + "\n")
    sys.stdout.flush()


if __name__ == "__main__":
    sys.exit(main())
