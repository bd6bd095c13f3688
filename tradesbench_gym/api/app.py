"""The two applications: the agent's and the driver's, their routes made from the lists of
operations.

They share an office and nothing else: neither has a route of the other's, nor takes its token. What
an operation does stands in `agent` and `driver`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any

from anyio import CapacityLimiter, to_thread
from fastapi import FastAPI, Request, Response, Security
from fastapi.exceptions import RequestValidationError
from fastapi.security import HTTPBearer
from starlette.exceptions import HTTPException
from starlette.types import ASGIApp

from tradesbench_gym import __version__
from tradesbench_gym.api.agent import AGENT_HANDLERS, Handler
from tradesbench_gym.api.driver import DRIVER_HANDLERS
from tradesbench_gym.api.faults import RequestError, invalid, malformed, refusal
from tradesbench_gym.api.limits import Gate
from tradesbench_gym.api.models import ErrorAnswer
from tradesbench_gym.api.office import Office
from tradesbench_gym.api.operations import (
    AGENT_OPERATIONS,
    DRIVER_OPERATIONS,
    Operation,
)
from tradesbench_gym.api.query import READERS
from tradesbench_gym.api.tokens import Token
from tradesbench_gym.errors import TradesBenchError

_QUERY = "query"
Lane = CapacityLimiter | None
Endpoint = Callable[[Any], Any]


def agent_app(office: Office, token: Token) -> ASGIApp:
    """The application for the agent: the business and nothing of the run."""
    return Gate(agent_routes(office), token)


def driver_app(office: Office, token: Token) -> ASGIApp:
    """The application for whoever drives the run."""
    return Gate(driver_routes(office), token)


def agent_routes(office: Office) -> FastAPI:
    """The agent's operations, for a gate to stand before them."""
    name = office.picture.business.scenario.company
    title = f"{name}: the company's API"
    return _application(title, office, AGENT_OPERATIONS, AGENT_HANDLERS)


def driver_routes(office: Office) -> FastAPI:
    """The driver's operations, for a gate to stand before them."""
    name = office.picture.business.scenario.company
    return _application(f"{name}: the driver's API", office, DRIVER_OPERATIONS, DRIVER_HANDLERS)


def _application(
    title: str, office: Office, operations: Sequence[Operation], handlers: Mapping[str, Handler]
) -> FastAPI:
    app = FastAPI(
        title=title,
        version=__version__,
        docs_url=None,
        redoc_url=None,
        redirect_slashes=False,
        dependencies=[Security(HTTPBearer(auto_error=False))],
    )
    # Commands wait for each other anyway, and a slow query must not keep them from a thread.
    commands, queries = CapacityLimiter(1), CapacityLimiter(READERS)
    for one in operations:
        lane = queries if one.name == _QUERY else commands if one.in_turn else None
        app.add_api_route(
            one.path,
            _endpoint(office, one, handlers[one.name], lane),
            methods=["POST"],
            operation_id=one.name,
            summary=one.summary,
            description=one.description,
            response_model=one.answer,
            responses=_responses(one),
        )
    _tell_in_one_shape(app)
    return app


def _endpoint(office: Office, operation: Operation, handler: Handler, lane: Lane) -> Endpoint:
    """What FastAPI calls: valid requests only, each answered in the lane of its operation."""

    async def answer(wanted: Any) -> Response:
        ask = partial(handler, office, wanted)
        found = ask() if lane is None else await to_thread.run_sync(ask, limiter=lane)
        return Response(found.model_dump_json(), media_type="application/json")

    # A class made elsewhere cannot stand in the signature as it is written.
    answer.__annotations__ = {"wanted": operation.request, "return": Response}
    return answer


def _responses(operation: Operation) -> dict[int | str, dict[str, Any]]:
    """The answers of an operation that are no success, by status."""
    told: dict[int | str, dict[str, Any]] = {}
    for fault in operation.all_faults:
        line = f"`{fault.code}`: {fault.meaning}."
        said = told.setdefault(fault.status, {"model": ErrorAnswer, "description": ""})
        said["description"] = f"{said['description']} {line}".strip()
    return told


def _tell_in_one_shape(app: FastAPI) -> None:
    """Whatever goes wrong is told in the shape of `ErrorAnswer`."""

    @app.exception_handler(TradesBenchError)
    def refused(_: Request, error: TradesBenchError) -> Response:
        return refusal(error)

    @app.exception_handler(RequestValidationError)
    def misfit(_: Request, error: RequestValidationError) -> Response:
        return refusal(invalid(error.errors()))

    @app.exception_handler(HTTPException)
    def astray(request: Request, error: HTTPException) -> Response:
        return refusal(_told(request, error), error.headers)

    @app.exception_handler(Exception)
    def failed(_: Request, _error: Exception) -> Response:
        return refusal(RequestError("the server failed; its log says why", code="server_failed"))


def _told(request: Request, error: HTTPException) -> RequestError:
    """What FastAPI found wrong with a request, in our words."""
    if error.status_code == 404:
        names = [str(getattr(route, "path", "")) for route in request.app.routes]
        known = ", ".join(name for name in names if name.startswith("/v1/"))
        return RequestError(
            f"there is no such operation; there are {known}", code="unknown_operation"
        )
    if error.status_code == 405:
        return RequestError("operations are asked for with POST", code="method_not_allowed")
    return malformed("it cannot be read")
