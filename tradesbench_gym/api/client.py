"""Clients of the company's HTTP API: one for whoever answers the phone, one for whoever drives the
run.

Requests and answers are the models of `requests`, `models` and `driver_models`; an answer that is
no success is raised with the server's own code, sentence and field. They speak through the standard
library, at a third of the time that a general client takes. This module knows no run and no server.
"""

from __future__ import annotations

import os
import socket
import time
from http.client import HTTPConnection, HTTPException
from pathlib import Path
from typing import Any, Self, TypeVar

from pydantic import ValidationError

from tradesbench_gym.api import driver_models, models
from tradesbench_gym.api.fields import Model
from tradesbench_gym.api.listening import HOST, PORT_VARIABLE
from tradesbench_gym.api.operations import AGENT_OPERATIONS, DRIVER_OPERATIONS, Operation
from tradesbench_gym.api.tokens import AGENT_VARIABLE
from tradesbench_gym.errors import TradesBenchError

_SECONDS = 60.0
_IDLE_SECONDS = 30.0
"""After so long a connection is made anew: the server lets go of an idle one."""
_SUCCESS = 200

Answer = TypeVar("Answer", bound=Model)


class ApiError(TradesBenchError):
    """The server refused a request, and nothing has changed. `status` is that of HTTP."""

    status = 0


class UnreachableError(TradesBenchError):
    """There is no server, or none that speaks this API."""


class SocketConnection(HTTPConnection):
    """A connection to a Unix socket."""

    def __init__(self, path: str | Path, timeout: float) -> None:
        super().__init__("company", timeout=timeout)
        self._path = str(path)

    def connect(self) -> None:
        """Connect to the socket's file."""
        self.sock = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        self.sock.settimeout(self.timeout)
        self.sock.connect(self._path)


class Client:
    """What both clients have in common. One thread at a time.

    Args:
        token: bearer token.
        port: TCP port of the server on this machine; or
        socket: path of its Unix socket; or
        connection: one that leads to it.
        timeout: seconds to wait for an answer.

    """

    operations: tuple[Operation, ...] = ()

    def __init__(
        self,
        token: str,
        *,
        port: int | None = None,
        socket: str | Path | None = None,
        connection: HTTPConnection | None = None,
        timeout: float = _SECONDS,
    ) -> None:
        if [port, socket, connection].count(None) != 2:
            raise UnreachableError(
                "a server is named by its port, its socket or a connection that leads to it",
                code="no_server",
                field="port",
            )
        if socket is not None:
            if not Path(socket).is_socket():
                raise UnreachableError(
                    f"there is no socket {socket}", code="no_server", field="socket"
                )
            connection = SocketConnection(socket, timeout)
        self._connection = connection or HTTPConnection(HOST, port, timeout=timeout)
        self._used = time.monotonic()
        self._headers = {"Content-Type": "application/json", "Authorization": f"Bearer {token}"}
        self._operations = {operation.name: operation for operation in self.operations}

    @classmethod
    def from_environment(cls) -> Self:
        """The client of the server that the environment of an agent names.

        Raises:
            UnreachableError: SUNRIDGE_API_PORT or SUNRIDGE_API_TOKEN is not set.

        """
        port, token = os.environ.get(PORT_VARIABLE, ""), os.environ.get(AGENT_VARIABLE, "")
        if not port.isdecimal() or not token:
            raise UnreachableError(
                f"set {PORT_VARIABLE} to the server's port and {AGENT_VARIABLE} to its token",
                code="no_server",
                field=PORT_VARIABLE,
            )
        return cls(token, port=int(port))

    def ask(self, operation: str, answer: type[Answer], /, **arguments: Any) -> Answer:
        """Ask for an operation by its name.

        Raises:
            ApiError: the server refused, there is no such operation, or it has no such arguments.
            UnreachableError: nobody answered, or not in the words of this API.

        """
        known = self._operations.get(operation)
        if known is None:
            raise ApiError(
                f"there is no operation {operation!r}: {', '.join(self._operations)}",
                code="unknown_operation",
                field="operation",
            )
        body = _body(known, arguments)
        status, said = self._post(known.path, body)
        if status != _SUCCESS:
            raise _refusal(status, said, known.path)
        return _read(answer, status, said, known.path)

    def _post(self, path: str, body: bytes) -> tuple[int, bytes]:
        now = time.monotonic()
        if now - self._used > _IDLE_SECONDS:
            self._connection.close()
        try:
            self._connection.request("POST", path, body, self._headers)
            got = self._connection.getresponse()
            said = got.read()
        except (OSError, HTTPException) as error:
            self._connection.close()  # half of an answer is of no use to the next request
            raise UnreachableError(
                f"the company's API cannot be reached: {str(error) or type(error).__name__}",
                code="unreachable",
                field="port",
            ) from error
        self._used = time.monotonic()
        return got.status, said

    def close(self) -> None:
        """Let go of the connection."""
        self._connection.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


class Agent(Client):
    """The operations of whoever answers the phone; what each does stands in the reference."""

    operations = AGENT_OPERATIONS

    def current_call(self) -> models.CurrentCall:
        """Who is on the line."""
        return self.ask("calls.current", models.CurrentCall)

    def reject(self, call_id: int) -> models.AnsweredCall:
        """Turn the caller away."""
        return self.ask("calls.reject", models.AnsweredCall, call_id=call_id)

    def acknowledge(self, job_id: int) -> models.Acknowledged:
        """Acknowledge a cancellation."""
        return self.ask("calls.acknowledge", models.Acknowledged, job_id=job_id)

    def register_customer(self, call_id: int, name: str, phone: str) -> models.Customer:
        """Enter the caller in the company's books."""
        return self.ask(
            "customers.register", models.Customer, call_id=call_id, name=name, phone=phone
        )

    def find_customers(self, **wanted: Any) -> models.Customers:
        """Look customers up by `customer_id`, `name` or `phone`."""
        return self.ask("customers.find", models.Customers, **wanted)

    def register_location(self, call_id: int, address: str) -> models.Location:
        """Enter the place of the work in the company's books."""
        return self.ask("locations.register", models.Location, call_id=call_id, address=address)

    def find_locations(self, **wanted: Any) -> models.Locations:
        """Look locations up by `location_id` or `address`."""
        return self.ask("locations.find", models.Locations, **wanted)

    def book(
        self, call_id: int, job_type: str, service_date: str, window_start: str, technician: str
    ) -> models.Booking:
        """Make the caller the one offer."""
        return self.ask(
            "jobs.book",
            models.Booking,
            call_id=call_id,
            job_type=job_type,
            service_date=service_date,
            window_start=window_start,
            technician=technician,
        )

    def job(self, job_id: int) -> models.Job:
        """Look at a job."""
        return self.ask("jobs.get", models.Job, job_id=job_id)

    def schedule(self, date: str) -> models.DaySchedule:
        """Look at a day's schedule."""
        return self.ask("schedule.day", models.DaySchedule, date=date)

    def weather(self) -> models.Weather:
        """Today's weather."""
        return self.ask("weather.today", models.Weather)

    def forecast(self) -> models.Forecast:
        """The weather forecast."""
        return self.ask("weather.forecast", models.Forecast)

    def status(self) -> models.CompanyStatus:
        """How the company stands."""
        return self.ask("company.status", models.CompanyStatus)

    def query(self, sql: str) -> models.QueryResult:
        """Ask the public views in SQL."""
        return self.ask("query", models.QueryResult, sql=sql)


class Driver(Client):
    """The operations of whoever drives the run, on a socket of their own."""

    operations = DRIVER_OPERATIONS

    def advance(self) -> driver_models.Advanced:
        """Let time pass until the next stop."""
        return self.ask("advance", driver_models.Advanced)

    def leave_unanswered(self, call_id: int) -> models.AnsweredCall:
        """Let the call on the line go unanswered."""
        return self.ask("leave_unanswered", models.AnsweredCall, call_id=call_id)

    def status(self) -> driver_models.RunStatus:
        """How the run stands."""
        return self.ask("status", driver_models.RunStatus)


def _body(operation: Operation, arguments: dict[str, Any]) -> bytes:
    try:
        return operation.request(**arguments).model_dump_json(exclude_none=True).encode()
    except ValidationError as error:
        first = error.errors(include_url=False)[0]
        field = ".".join(map(str, first["loc"])) or None
        raise ApiError(
            f"{operation.name}: {field}: {first['msg']}", code="invalid_argument", field=field
        ) from error


def _read(model: type[Answer], status: int, said: bytes, path: str) -> Answer:
    try:
        return model.model_validate_json(said)
    except ValidationError as error:
        raise UnreachableError(
            f"what answered {path} does not speak this API: {status}, but no {model.__name__}",
            code="foreign_answer",
        ) from error


def _refusal(status: int, said: bytes, path: str) -> ApiError:
    problem = _read(models.ErrorAnswer, status, said, path).error
    error = ApiError(problem.message, code=problem.code, field=problem.field)
    error.status = status
    return error
