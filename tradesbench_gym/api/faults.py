"""From an error to an answer: its status, and the one body that every refusal has.

A code has one status, that of the list of operations; nothing of what was asked is repeated but
what a sentence of the company quotes. This module knows no run.
"""

from __future__ import annotations

import json
import logging
from collections.abc import Mapping, Sequence
from typing import Any

from starlette.responses import Response

from tradesbench_gym.api.operations import (
    AGENT_OPERATIONS,
    ASTRAY_FAULTS,
    COMMON_FAULTS,
    DRIVER_OPERATIONS,
)
from tradesbench_gym.errors import TradesBenchError
from tradesbench_gym.world import WorldError

REFUSED = 422
_LOG = logging.getLogger(__name__)
_LONGEST_NAME = 60


class RequestError(TradesBenchError):
    """A request that cannot be answered as it is."""


_STATUSES = {
    fault.code: fault.status
    for faults in (
        COMMON_FAULTS,
        ASTRAY_FAULTS,
        *(one.faults for one in (*AGENT_OPERATIONS, *DRIVER_OPERATIONS)),
    )
    for fault in faults
}
_FIELDS = {
    "call": "call_id",
    "day": "service_date",
    "window": "window_start",
    "service": "job_type",
    "text": "address",
}
"""How requests name what the company's own errors call otherwise."""


def refusal(error: TradesBenchError, headers: Mapping[str, str] | None = None) -> Response:
    """The answer that tells of an error."""
    status = _STATUSES.get(error.code, REFUSED)
    field = None if error.field is None else _FIELDS.get(error.field, error.field)
    said = {"error": {"code": error.code, "message": error.message, "field": field}}
    return Response(json.dumps(said), status, headers, media_type="application/json")


def closed() -> RequestError:
    """The error for what is asked while the server is being stopped."""
    return RequestError("the server is being stopped: ask the next one", code="closed")


def unusable(error: Exception, *, told: bool) -> RequestError:
    """The error for records that cannot be used; why stands in the log.

    Args:
        error: what was met.
        told: whether whoever asks may know it: a sentence about a file names its place.

    """
    if isinstance(error, WorldError) and error.code == "closed":
        return closed()
    _LOG.error("the records cannot be used: %s", error)
    reason = f": {error}" if told else ""
    return RequestError(
        f"the company's records cannot be used at the moment{reason}", code="records_unusable"
    )


def malformed(reason: str) -> RequestError:
    """The error for a body that is no JSON object."""
    return RequestError(
        f"the body must be one JSON object in UTF-8, such as {{}}: {reason}", code="malformed_body"
    )


def invalid(errors: Sequence[Any]) -> RequestError:
    """The error for a body that is not what the operation takes, by what pydantic found."""
    first = errors[0]
    place = [str(step) for step in first["loc"]]
    if first["type"] == "json_invalid":
        return malformed(f"{first['ctx']['error']}")
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
