"""The company as the harness reaches it: a server process that is started again when it dies, and
the questions and commands of whoever drives the run.

The world file decides what has happened. A command whose answer was lost with the server is not
given again: the caller looks how the run stands and goes on from there. This module knows no agent.
"""

from __future__ import annotations

import json
import secrets
import subprocess
import sys
import threading
from collections.abc import Callable
from contextlib import ExitStack, suppress
from pathlib import Path
from typing import Any, Self, TypeVar

from tradesbench_gym.api.client import Agent, ApiError, Driver, UnreachableError
from tradesbench_gym.api.driver_models import RunStatus
from tradesbench_gym.api.listening import (
    ONLY_US,
    Listener,
    ListenError,
    listen_on_file,
    listen_on_port,
)
from tradesbench_gym.api.models import CurrentCall
from tradesbench_gym.api.private import PrivateFolder
from tradesbench_gym.harness.faults import Fault, FaultKind
from tradesbench_gym.harness.manifest import HarnessError, now
from tradesbench_gym.harness.processes import end

_START_SECONDS = 300.0
_STOP_SECONDS = 15.0
_ANSWER_SECONDS = 60.0
_TRIES = 3
_DAY = (
    "SELECT day, date, weekday, calls, booked, declined, rejected, done, missed, failed, "
    "cancelled, cash_cents FROM days WHERE day = {day}"
)

T = TypeVar("T")


class Company:
    """The servers of one world, and a client of each.

    Args:
        world: the world file.
        map_name: the map, where the file's own name for it is none here.
        token: the agent's.
        port: the agent's, if it can be had; else any.
        told: is told of every fault.

    Attributes:
        port: where the agent asks, on 127.0.0.1.
        driver_socket, driver_token: the driver's, to be kept from the agent.

    """

    def __init__(
        self,
        world: Path,
        map_name: str | None,
        token: str,
        port: int,
        told: Callable[[Fault], None],
    ) -> None:
        self._world, self._map, self._token, self._told = world, map_name, token, told
        self._held = ExitStack()
        self._process: subprocess.Popen[bytes] | None = None
        self._stopping = threading.Event()
        self._failed: HarnessError | None = None
        folder = PrivateFolder("harness")
        self._held.callback(folder.remove)
        self.driver_token = secrets.token_urlsafe(32)
        self.driver_socket = folder.path / "driver.sock"
        self._front = _listen(port)
        self._held.callback(self._front.close)
        self._back = listen_on_file(self.driver_socket, ONLY_US)
        self._held.callback(self._back.close)
        self.port = int(self._front.socket.getsockname()[1])
        self._agent = self._held.enter_context(
            Agent(token, port=self.port, timeout=_ANSWER_SECONDS)
        )
        self._driver = self._held.enter_context(
            Driver(self.driver_token, socket=self.driver_socket, timeout=_ANSWER_SECONDS)
        )

    # -- the process --

    def start(self) -> None:
        """Start the servers, wait until they answer, and keep them running from now on.

        Raises:
            HarnessError: they do not answer; the sentence is theirs.

        """
        self._process = self._started()
        threading.Thread(target=self._look_after, name="company", daemon=True).start()

    def _started(self) -> subprocess.Popen[bytes]:
        fronts = {"agent": (self._front, self._token), "driver": (self._back, self.driver_token)}
        wanted: dict[str, Any] = {"world": str(self._world), "map": self._map}
        for name, (listener, token) in fronts.items():
            wanted[name] = {"socket": listener.socket.fileno(), "token": token}
        process = subprocess.Popen(
            [sys.executable, "-m", "tradesbench_gym.harness.company_server"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            pass_fds=[listener.socket.fileno() for listener, _ in fronts.values()],
            # Ctrl-C is ours to hear: the servers answer until we are done.
            start_new_session=True,
        )
        said = _first_word(process, json.dumps(wanted).encode() + b"\n")
        if "ready" not in said:
            end(process)
            reason = said.get("error", {}).get("message", "its process ended")
            raise HarnessError(f"the company cannot be served: {reason}", code="company")
        return process

    @property
    def pid(self) -> int | None:
        """The servers' process."""
        return None if self._process is None else self._process.pid

    def _look_after(self) -> None:
        """Start the servers again whenever they die, and tell of it; in a thread of its own.

        Their sockets are ours and stay open: who asks meanwhile waits.
        """
        while self._process is not None and not self._stopping.is_set():
            code = self._process.wait()
            if self._stopping.is_set():
                return
            end(self._process)
            sentence = f"the company's server ended with status {code} and was started again"
            said = {"status": code}
            self._told(Fault(FaultKind.INFRASTRUCTURE, "company_died", sentence, now(), said))
            try:
                self._process = self._started()
            except HarnessError as error:
                self._failed = error
                return
        if self._process is not None:  # they came up while we were closing
            end(self._process)

    def close(self) -> None:
        """End the servers, when what is being answered has been, and give up their sockets."""
        self._stopping.set()
        if self._process is not None:
            end(self._process, _STOP_SECONDS)
            self._process = None
        self._held.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    # -- the run --

    def _ask(self, ask: Callable[[], T]) -> T:
        """Ask something that may be asked twice, of servers that may have died meanwhile."""
        for tries in range(1, _TRIES + 1):
            if self._failed is not None:
                raise self._failed
            try:
                return ask()
            except UnreachableError:
                if tries == _TRIES:
                    raise
        raise AssertionError

    def status(self) -> RunStatus:
        """How the run stands."""
        return self._ask(self._driver.status)

    def current_call(self) -> CurrentCall:
        """Who is on the line."""
        return self._ask(self._agent.current_call)

    def outcome(self, call_id: int) -> str:
        """What the call table says of a call: `booked`, `declined`, `rejected`, `unanswered`."""
        sql = f"SELECT outcome FROM calls WHERE call_id = {int(call_id)}"  # noqa: S608 - a number
        rows = self._ask(lambda: self._agent.query(sql)).rows
        return str(rows[0][0]) if rows else "ringing"

    def day(self, day: int) -> dict[str, Any]:
        """The row of a day, from 1."""
        found = self._ask(lambda: self._agent.query(_DAY.format(day=int(day))))
        return dict(zip(found.columns, found.rows[0], strict=True)) if found.rows else {}

    def advance(self) -> None:
        """Let time pass to the next stop, unless the servers die over it: the status tells then."""
        with suppress(UnreachableError):
            self._driver.advance()

    def leave_unanswered(self, call_id: int) -> None:
        """Give a call up, unless it has been answered at last."""
        with suppress(ApiError):
            self._ask(lambda: self._driver.leave_unanswered(call_id))


def _first_word(process: subprocess.Popen[bytes], wanted: bytes) -> dict[str, Any]:
    """What the servers say first; nothing if they end or take too long."""
    late = threading.Timer(_START_SECONDS, process.kill)
    late.start()
    try:
        if process.stdin is None or process.stdout is None:
            return {}
        process.stdin.write(wanted)
        process.stdin.flush()
        said: dict[str, Any] = json.loads(process.stdout.readline())
    except (OSError, ValueError):
        return {}
    finally:
        late.cancel()
    return said


def _listen(port: int) -> Listener:
    """On the port that the agent knows, if nobody has taken it since."""
    try:
        return listen_on_port(port)
    except ListenError:
        return listen_on_port(0)
