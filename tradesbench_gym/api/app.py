"""The two applications: the agent's and the driver's, their routes made from the lists of
operations.

They share an office and nothing else: neither has a route of the other's, nor takes its token. What
an operation does stands in `agent` and `driver`.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Coroutine, Sequence
from typing import Any

from anyio import CapacityLimiter, to_thread
from fastapi import FastAPI, Request, Response, Security
from fastapi.routing import APIRoute
from fastapi.security import HTTPBearer
from pydantic import ValidationError
from starlette.exceptions import HTTPException
from starlette.types import ASGIApp

from tradesbench_gym import __version__
from tradesbench_gym.api.agent import AGENT_COMMANDS, AGENT_QUESTIONS, Command, Question
from tradesbench_gym.api.driver import DRIVER_COMMANDS
from tradesbench_gym.api.faults import RequestError, invalid, malformed, refusal, unusable
from tradesbench_gym.api.fields import Model
from tradesbench_gym.api.limits import Gate
from tradesbench_gym.api.models import ErrorAnswer
from tradesbench_gym.api.office import Office
from tradesbench_gym.api.operations import AGENT_OPERATIONS, DRIVER_OPERATIONS, PREFIX, Operation
from tradesbench_gym.api.query import READERS
from tradesbench_gym.api.tokens import Token
from tradesbench_gym.errors import TradesBenchError
from tradesbench_gym.world import WorldError

_MOST_REMEMBERED = 64
Answerer = Callable[[Any], Awaitable[bytes]]


def agent_app(office: Office, token: Token) -> ASGIApp:
    """The application for the agent: the business and nothing of the run."""
    return Gate(agent_routes(office), token)


def driver_app(office: Office, token: Token) -> ASGIApp:
    """The application for whoever drives the run."""
    return Gate(driver_routes(office), token)


def agent_routes(office: Office) -> FastAPI:
    """The agent's operations, for a gate to stand before them."""
    name, remembered = office.picture.business.scenario.company, Remembered(office)
    answerers = {
        **{key: remembered.asked(key, one) for key, one in AGENT_QUESTIONS.items()},
        **{key: _commanded(office, one) for key, one in AGENT_COMMANDS.items()},
        "query": _queried(office),
    }
    return _application(f"{name}: the company's API", AGENT_OPERATIONS, answerers, why=False)


def driver_routes(office: Office) -> FastAPI:
    """The driver's operations, for a gate to stand before them."""
    name = office.picture.business.scenario.company
    answerers = {key: _commanded(office, one) for key, one in DRIVER_COMMANDS.items()}
    return _application(f"{name}: the driver's API", DRIVER_OPERATIONS, answerers, why=True)


class _Route(APIRoute):
    """From a request to its answer by the shortest way: the body is read once, by its model."""

    def get_route_handler(self) -> Callable[[Request], Coroutine[Any, Any, Response]]:
        """What Starlette calls in the place of FastAPI's own reading of arguments."""
        endpoint = self.endpoint
        model: type[Model] = endpoint.__annotations__["wanted"]

        async def handle(request: Request) -> Response:
            try:
                wanted = model.model_validate_json(await request.body())
            except ValidationError as error:
                raise invalid(error.errors(include_url=False)) from None
            return await endpoint(wanted)  # type: ignore[no-any-return]

        return handle


class Remembered:
    """Answers to questions about the run as it stands, each made once: readers come in crowds."""

    def __init__(self, office: Office) -> None:
        self._office = office
        self._picture = office.picture
        self._said: dict[Any, bytes] = {}

    def asked(self, name: str, question: Question) -> Answerer:
        """The answerer of a question."""

        async def answer(wanted: Any) -> bytes:
            now = self._office.picture
            if now is not self._picture or len(self._said) >= _MOST_REMEMBERED:
                self._picture, self._said = now, {}
            known = self._said.get((name, wanted))
            if known is None:
                known = self._said[name, wanted] = _bytes(question(now, wanted))
            return known

        return answer


def _commanded(office: Office, command: Command) -> Answerer:
    """The answerer of a command, which is done in the servers' own thread.

    A commit takes a millisecond or two. In a thread beside, it would wait longer for its turn at
    the interpreter than it takes: with fifty readers, three times as long.
    """

    async def answer(wanted: Any) -> bytes:
        return _bytes(command(office, wanted))

    return answer


def _queried(office: Office) -> Answerer:
    """The answerer of queries, which take their time in threads beside."""
    lane = CapacityLimiter(READERS)

    async def answer(wanted: Any) -> bytes:
        return await to_thread.run_sync(office.query, wanted.sql, limiter=lane)

    return answer


def _bytes(found: Model) -> bytes:
    return found.model_dump_json().encode()


def _application(
    title: str, operations: Sequence[Operation], answerers: dict[str, Answerer], *, why: bool
) -> FastAPI:
    """The routes of operations.

    Args:
        title: of the document.
        operations: each gets a route.
        answerers: what answers each, by its name.
        why: whether it is told why records cannot be used: the sentence names their place.

    """
    app = FastAPI(
        title=title,
        version=__version__,
        docs_url=None,
        redoc_url=None,
        redirect_slashes=False,
        dependencies=[Security(HTTPBearer(auto_error=False))],
    )
    app.router.route_class = _Route
    for one in operations:
        app.add_api_route(
            one.path,
            _endpoint(one, answerers[one.name]),
            methods=["POST"],
            operation_id=one.name,
            summary=one.summary,
            description=one.description,
            response_model=one.answer,
            responses=_responses(one),
        )
    _tell_in_one_shape(app, why=why)
    return app


def _endpoint(operation: Operation, answerer: Answerer) -> Callable[..., Any]:
    """What answers valid requests, and is described by its annotations."""

    async def answer(wanted: Any) -> Response:
        return Response(await answerer(wanted), media_type="application/json")

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


def _tell_in_one_shape(app: FastAPI, *, why: bool) -> None:
    """Whatever goes wrong is told in the shape of `ErrorAnswer`."""

    @app.exception_handler(WorldError)
    def out_of_order(_: Request, error: WorldError) -> Response:
        return refusal(unusable(error, told=why))

    @app.exception_handler(TradesBenchError)
    def refused(_: Request, error: TradesBenchError) -> Response:
        return refusal(error)

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
        known = ", ".join(name for name in names if name.startswith(PREFIX))
        return RequestError(
            f"there is no such operation; there are {known}", code="unknown_operation"
        )
    if error.status_code == 405:
        return RequestError("operations are asked for with POST", code="method_not_allowed")
    return malformed("it cannot be read")
