"""From an error to an answer: its status, and the one body that every refusal has.

A code has one status, that of the list of operations; nothing of what was asked is repeated but
what a sentence of the company quotes. This module knows no run.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

from starlette.responses import Response

from tradesbench_gym.api.operations import AGENT_OPERATIONS, DRIVER_OPERATIONS, Operation
from tradesbench_gym.errors import TradesBenchError
from tradesbench_gym.world import WorldError

REFUSED = 422
OUT_OF_ORDER = 503
_LONGEST_NAME = 60


class RequestError(TradesBenchError):
    """A request that cannot be answered as it is."""


def _statuses(operations: Sequence[Operation]) -> dict[str, int]:
    return {fault.code: fault.status for one in operations for fault in one.all_faults}


_STATUSES = {
    **_statuses((*AGENT_OPERATIONS, *DRIVER_OPERATIONS)),
    "unknown_operation": 404,
    "method_not_allowed": 405,
    "server_failed": 500,
}
_FIELDS = {
    "call": "call_id",
    "day": "service_date",
    "window": "window_start",
    "service": "job_type",
    "text": "address",
}
"""How requests name what the company's own errors call otherwise."""


def status_of(error: TradesBenchError) -> int:
    """The status of an answer that tells of an error."""
    if isinstance(error, WorldError):
        return OUT_OF_ORDER
    return _STATUSES.get(error.code, REFUSED)


def refusal(error: TradesBenchError, headers: Mapping[str, str] | None = None) -> Response:
    """The answer that tells of an error."""
    field = None if error.field is None else _FIELDS.get(error.field, error.field)
    said = {"error": {"code": error.code, "message": error.message, "field": field}}
    # In ASCII: a field's name may be half a character, which UTF-8 cannot say.
    body = json.dumps(said, ensure_ascii=True).encode()
    return Response(body, status_of(error), headers, media_type="application/json")


def malformed(reason: str) -> RequestError:
    """The error for a body that is no JSON object."""
    return RequestError(
        f"the body must be one JSON object in UTF-8, such as {{}}: {reason}", code="malformed_body"
    )


def invalid(errors: Sequence[Any]) -> RequestError:
    """The error for a body that is not what the operation takes, by what pydantic found."""
    first = errors[0]
    place = [str(step) for step in first["loc"]][1:]  # behind "body"
    if first["type"] == "json_invalid":
        return malformed(f"{first['ctx']['error'].lower()} at character {place[0]}")
    if not place:
        return malformed("it is empty or something else")
    field = ".".join(place)
    if len(field) > _LONGEST_NAME:
        field = field[: _LONGEST_NAME - 1] + "…"
    sentence = _sentence(str(first["type"]), str(first["msg"]))
    return RequestError(f"{field}: {sentence}", code="invalid_argument", field=field)


def _sentence(kind: str, said: str) -> str:
    if kind == "missing":
        return "this argument is missing"
    if kind == "extra_forbidden":
        return "there is no such argument"
    return said[:1].lower() + said[1:]
