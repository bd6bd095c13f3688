"""Examples for the reference: put together from what each field of a model gives as its example,
and told as one small story.

It knows the models and no run: nothing in an example has happened anywhere.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

from tradesbench_gym.api import models
from tradesbench_gym.api.fields import Model
from tradesbench_gym.api.operations import COMMON_FAULTS, Operation

Values = Mapping[str, Any]
Schema = Mapping[str, Any]


class Example(NamedTuple):
    """A request or an answer as JSON, and when it comes so."""

    caption: str
    body: dict[str, Any]


_TODAY, _DEPARTED, _PHONED = "2026-10-01", "2026-10-01 09:06:00", "2026-10-01 10:30:00"
_STORY: dict[type[Model], Values] = {
    models.Job: dict.fromkeys(
        ("departed_at", "arrived_at", "started_at", "ended_at", "invoice_cents", "material_cents")
    ),
    models.NewJobCall: {"customer_id": None, "location_id": None},
    models.Presence: {"since": _DEPARTED},
}
"""What the fields of a model are in an example, beside what they say themselves."""
_NOBODY: Values = {"kind": "none", "new_job": None, "cancellation": None}
_CANCELLED: Values = {"state": "cancelled", "ended_at": _PHONED}
_DONE: Values = {
    "state": "done",
    "departed_at": "2026-10-02 08:32:10",
    "arrived_at": "2026-10-02 08:51:44",
    "started_at": "2026-10-02 09:00:00",
    "ended_at": "2026-10-02 10:17:25",
    "invoice_cents": 30_000,
    "material_cents": 6_000,
}
_UNDER_WAY: Values = {
    "service_date": _TODAY,
    "state": "driving",
    "departed_at": _DEPARTED,
}
_SCENES: dict[str, tuple[tuple[str, Values], ...]] = {
    "calls.current": (
        ("Somebody asks for new work", {"cancellation": None}),
        (
            "A customer cancels",
            {
                **_NOBODY,
                "kind": "cancellation",
                "cancellation": {"phoned_at": _PHONED, "job": _CANCELLED},
            },
        ),
        ("Nobody is on the line", _NOBODY),
    ),
    "calls.acknowledge": (("", {"state": "cancelled"}),),
    "jobs.book": (
        ("The customer accepts", {}),
        ("The customer declines", {"accepted": False, "job": None}),
    ),
    "jobs.get": (("", _DONE),),
    "schedule.day": (
        (
            "",
            {
                "date": _TODAY,
                "now": "2026-10-01 09:20:00",
                "technicians": [{"jobs": [_UNDER_WAY]}],
            },
        ),
    ),
    "weather.today": (("", {"date": _TODAY}),),
    "query": (("", {"columns": ["count(*)"], "rows": [[3]]}),),
}
"""For an operation: captions, and what is different in each of its answers."""
_ONE_ARGUMENT = ("customers.find", "locations.find")


def requests_of(operation: Operation) -> list[Example]:
    """Bodies that ask for the operation, in the order in which the reference shows them."""
    whole = example_of(operation.request)
    if operation.name not in _ONE_ARGUMENT:
        return [Example("", whole)]
    key = next(iter(reversed(whole)))
    return [Example("By one thing", {key: whole[key]}), Example("All of them", {})]


def answers_of(operation: Operation) -> list[Example]:
    """Answers to a request that succeeds."""
    scenes = _SCENES.get(operation.name, (("", {}),))
    return [Example(caption, example_of(operation.answer, values)) for caption, values in scenes]


def refusal_of(operation: Operation) -> dict[str, Any]:
    """The body of an answer that is none: the last of the operation's own errors, if it has any."""
    fault = operation.faults[-1] if operation.faults else COMMON_FAULTS[0]
    return {"error": {"code": fault.code, "message": fault.meaning, "field": None}}


def example_of(model: type[Model], values: Values | None = None) -> dict[str, Any]:
    """A model's example as plain JSON, checked by the model.

    Args:
        model: to be shown.
        values: that are different from what its fields say; of a nested model or a list of them,
            what is different there.

    """
    schema = model.model_json_schema()
    plain = _object(schema, schema.get("$defs", {}), values or {})
    model.model_validate(plain)
    return plain


def _object(schema: Schema, parts: Schema, values: Values) -> dict[str, Any]:
    story = _BY_TITLE.get(schema["title"], {})
    return {
        name: _value(kind, parts, {**story, **values}, name)
        for name, kind in schema.get("properties", {}).items()
    }


def _value(kind: Schema, parts: Schema, values: Values, name: str) -> Any:
    part = part_of(kind)
    if name in values and (part is None or values[name] is None):
        return values[name]
    if part is None:
        return kind["examples"][0]
    given = values.get(name, {})
    if kind.get("type") != "array":
        return _object(parts[part], parts, given)
    return [_object(parts[part], parts, one) for one in given or [{}]]


def part_of(kind: Schema) -> str | None:
    """The name of the model that a field, or each item of its list, is made of; None for plain
    values.
    """
    if "$ref" in kind:
        return str(kind["$ref"]).rpartition("/")[2]
    inner = [kind["items"]] if "items" in kind else kind.get("anyOf", [])
    return next((found for found in map(part_of, inner) if found), None)


_BY_TITLE = {model.__name__: values for model, values in _STORY.items()}
