"""A gateway as whoever drives a run sees it: started, watched, asked for totals, and stopped.

A gateway that was killed is started again behind the same address and token; while it is down, who
asks it is told so at once. Totals and faults are read from the record of requests, whether the
process lives or not. This module knows no HTTP.
"""

from __future__ import annotations

import json
import os
import secrets
import select
import subprocess
import sys
from contextlib import suppress
from pathlib import Path
from types import TracebackType
from typing import Any, Self

from tradesbench_gym.harness.faults import Fault
from tradesbench_gym.harness.gateway.journal import Reader
from tradesbench_gym.harness.gateway.settings import GatewayError, GatewaySettings, Prices
from tradesbench_gym.harness.gateway.tally import Tally
from tradesbench_gym.harness.gateway.usage import Usage
from tradesbench_gym.harness.processes import end

_START_SECONDS = 60.0
_STOP_SECONDS = 10.0
_LOG = "gateway.log"
_HANDED_ON = (
    "PATH", "HOME", "LANG", "LC_ALL", "TMPDIR", "PYTHONPATH", "VIRTUAL_ENV", "LD_LIBRARY_PATH",
    "SSL_CERT_FILE", "SSL_CERT_DIR", "HTTPS_PROXY", "HTTP_PROXY", "ALL_PROXY", "NO_PROXY",
    "https_proxy", "http_proxy", "all_proxy", "no_proxy", "TRADESBENCH_CACHE",
)  # fmt: skip


class Gateway:
    """The model gateway of one run; a context manager.

    Args:
        settings: provider, model, prices and limits.
        folder: where the record of requests is, or is to be.

    Attributes:
        token: what the agent presents as its API key; it opens nothing but this gateway.

    """

    def __init__(self, settings: GatewaySettings, folder: Path) -> None:
        self._settings = settings
        self._folder = folder.absolute()
        self.token = secrets.token_urlsafe(32)
        self._port = 0
        self._process: subprocess.Popen[bytes] | None = None
        self._reader = Reader(self._folder)
        self._tally = Tally(settings.prices)

    def __enter__(self) -> Self:
        self.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.stop()

    @property
    def port(self) -> int:
        """Of 127.0.0.1; the same at every further start.

        Raises:
            GatewayError: it has not been started.

        """
        if not self._port:
            raise GatewayError("the gateway has no port before it is started", code="not_started")
        return self._port

    @property
    def base_url(self) -> str:
        """Where the agent asks, as OpenAI's clients want it."""
        return f"http://127.0.0.1:{self.port}/v1"

    @property
    def pid(self) -> int | None:
        """The process, while there is one."""
        return None if self._process is None else self._process.pid

    def start(self) -> None:
        """Start the gateway, or start it again; return once it answers.

        Raises:
            GatewayError: it cannot be started; the sentence says why.

        """
        if self.alive():
            return
        self._let_go()
        self._folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        with (self._folder / _LOG).open("ab") as log:
            self._process = subprocess.Popen(
                [sys.executable, "-m", "tradesbench_gym.harness.gateway.process"],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=log,
                env={name: os.environ[name] for name in _HANDED_ON if name in os.environ},
                start_new_session=True,  # Ctrl-C is the driver's to deal with
            )
        try:
            self._hand_over(self._process)
        except BaseException:
            self._let_go()
            raise

    def _hand_over(self, process: subprocess.Popen[bytes]) -> None:
        told = {
            "settings": self._settings.handed_over(),
            "token": self.token,
            "folder": str(self._folder),
            "port": self._port,
        }
        if process.stdin is None or process.stdout is None:
            raise GatewayError("the gateway has no pipes", code="not_started")
        with suppress(BrokenPipeError):  # it says why, or nothing
            process.stdin.write(json.dumps(told).encode() + b"\n")
            process.stdin.flush()
        ready, _, _ = select.select([process.stdout], [], [], _START_SECONDS)
        said: dict[str, Any] = json.loads(process.stdout.readline() or b"{}") if ready else {}
        if "port" in said:
            self._port = said["port"]
            return
        why = said.get("error") or {}
        raise GatewayError(
            why.get("message", f"the gateway did not start: see {self._folder / _LOG}"),
            code=why.get("code", "not_started"),
            field=why.get("field"),
        )

    def alive(self) -> bool:
        """Whether the process runs."""
        return self._process is not None and self._process.poll() is None

    def usage(self) -> Usage:
        """The totals of the run so far, earlier lives of the gateway included.

        Raises:
            GatewayError: the record is damaged.

        """
        stopped = not self.alive()  # before reading: what was written until then is read
        self._read()
        return self._tally.usage(stopped=stopped)

    def faults(self, since: int = 0) -> list[Fault]:
        """All faults of the run so far, from the given one on, in the order of their record.

        `detail["final"]` tells whether a request ended with it, without an answer of the model's.
        """
        self._read()
        return self._tally.faults[since:]

    def _read(self) -> None:
        for row in self._reader.rows():
            self._tally.add(row)

    def stop(self) -> None:
        """Stop the gateway; totals and faults can still be asked for."""
        self._let_go()

    def _let_go(self) -> None:
        process, self._process = self._process, None
        if process is not None:
            end(process, _STOP_SECONDS)


def read_record(folder: Path, prices: Prices) -> tuple[Usage, list[Fault]]:
    """Totals and faults in a folder that no gateway is writing.

    Raises:
        GatewayError: the record is damaged.

    """
    tally = Tally(prices)
    for row in Reader(folder).rows():
        tally.add(row)
    return tally.usage(stopped=True), tally.faults
