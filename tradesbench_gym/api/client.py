"""Clients of the company's HTTP API: one for whoever answers the phone, one for whoever drives the
run.

Requests and answers are the models of `requests`, `models` and `driver_models`; an answer that is
no success is raised with the server's own code, sentence and field. This module knows no run and no
server.
"""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any, Self, TypeVar

import httpx
from pydantic import ValidationError

from tradesbench_gym.api import driver_models, models
from tradesbench_gym.api.fields import Model
from tradesbench_gym.api.operations import AGENT_OPERATIONS, DRIVER_OPERATIONS, Operation
from tradesbench_gym.errors import TradesBenchError

PORT_VARIABLE, TOKEN_VARIABLE = "SUNRIDGE_API_PORT", "SUNRIDGE_API_TOKEN"

_HOST = "http://127.0.0.1"
_SECONDS = 60.0
_JSON = {"Content-Type": "application/json"}

Answer = TypeVar("Answer", bound=Model)


class ApiError(TradesBenchError):
    """The server refused a request, and nothing has changed. `status` is that of HTTP."""

    status = 0


class UnreachableError(TradesBenchError):
    """There is no server, or none that speaks this API."""


class Client:
    """What both clients have in common.

    Args:
        token: bearer token.
        port: TCP port of the server on this machine; or
        socket: path of its Unix socket; or
        http: a client of httpx that leads to it, such as one to an application in this process.
        timeout: seconds to wait for an answer.

    """

    operations: tuple[Operation, ...] = ()

    def __init__(
        self,
        token: str,
        *,
        port: int | None = None,
        socket: str | Path | None = None,
        http: httpx.Client | None = None,
        timeout: float = _SECONDS,
    ) -> None:
        if [port, socket, http].count(None) != 2:
            raise UnreachableError(
                "a server is named by its port, its socket or a client that leads to it",
                code="no_server",
                field="port",
            )
        if socket is not None and not Path(socket).is_socket():
            raise UnreachableError(f"there is no socket {socket}", code="no_server", field="socket")
        base = _HOST if port is None else f"{_HOST}:{port}"
        way = None if socket is None else httpx.HTTPTransport(uds=str(socket))
        self._http = http or httpx.Client(
            base_url=base, transport=way, timeout=timeout, trust_env=False
        )
        self._headers = {**_JSON, "Authorization": f"Bearer {token}"}
        self._operations = {operation.name: operation for operation in self.operations}

    @classmethod
    def from_environment(cls) -> Self:
        """The client of the server that the environment of an agent names.

        Raises:
            UnreachableError: SUNRIDGE_API_PORT or SUNRIDGE_API_TOKEN is not set.

        """
        port, token = os.environ.get(PORT_VARIABLE, ""), os.environ.get(TOKEN_VARIABLE, "")
        if not port.isdecimal() or not token:
            raise UnreachableError(
                f"set {PORT_VARIABLE} to the server's port and {TOKEN_VARIABLE} to its token",
                code="no_server",
                field=PORT_VARIABLE,
            )
        return cls(token, port=int(port))

    def ask(self, operation: str, answer: type[Answer], /, **arguments: Any) -> Answer:
        """Ask for an operation by its name.

        Raises:
            ApiError: the server refused, or the arguments are none of this operation.
            UnreachableError: nobody answered, or not in the words of this API.

        """
        known = self._operations[operation]
        body = _body(known, arguments)
        try:
            got = self._http.post(known.path, content=body, headers=self._headers)
        except httpx.HTTPError as error:
            raise UnreachableError(
                f"the company's API cannot be reached: {error}", code="unreachable", field="port"
            ) from error
        if not got.is_success:
            raise _refusal(got)
        return _read(answer, got)

    def close(self) -> None:
        """Let go of the connection."""
        self._http.close()

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


def _body(operation: Operation, arguments: dict[str, Any]) -> str:
    try:
        return operation.request(**arguments).model_dump_json(exclude_none=True)
    except ValidationError as error:
        first = error.errors(include_url=False)[0]
        field = ".".join(map(str, first["loc"])) or None
        raise ApiError(
            f"{operation.name}: {field}: {first['msg']}", code="invalid_argument", field=field
        ) from error


def _read(model: type[Answer], got: httpx.Response) -> Answer:
    try:
        return model.model_validate_json(got.content)
    except ValidationError as error:
        raise UnreachableError(
            f"what answered {got.request.url.path} does not speak this API: {got.status_code}, "
            f"but no {model.__name__}",
            code="foreign_answer",
        ) from error


def _refusal(got: httpx.Response) -> ApiError:
    problem = _read(models.ErrorAnswer, got).error
    error = ApiError(problem.message, code=problem.code, field=problem.field)
    error.status = got.status_code
    return error
