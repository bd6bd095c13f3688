"""The pages of the reference: one for each operation, made from its models and its list of errors.

A field, a unit or an error that the API has stands here because the models have it. This module
writes no file and knows no company.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from tradesbench_gym.api.examples import (
    Example,
    Schema,
    answers_of,
    part_of,
    refusal_of,
    requests_of,
)
from tradesbench_gym.api.fields import LARGEST, Model
from tradesbench_gym.api.markdown import table
from tradesbench_gym.api.operations import Fault, Operation

_KINDS = {
    "integer": "whole number",
    "number": "number",
    "string": "text",
    "boolean": "true or false",
    "null": "null",
    "object": "object",
}
_SHORT = 60


def operation_page(operation: Operation) -> str:
    """The page of one operation."""
    lasting = "It changes the company's state." if operation.writes else "It changes nothing."
    parts = [
        f"# {operation.name}",
        operation.summary,
        f"`POST {operation.path}`",
        f"{operation.description} {lasting}",
        "## Arguments",
        _arguments(operation.request),
        *_examples(requests_of(operation), "Request"),
        "## Answer",
        *_tables(operation.answer),
        *_examples(answers_of(operation), "Answer"),
        "## Errors",
        errors_table(operation.all_faults),
        "An error looks like this:",
        code_block(refusal_of(operation)),
    ]
    return "\n\n".join(parts) + "\n"


def errors_table(faults: Iterable[Fault]) -> str:
    """Status, code and meaning of each error."""
    rows = [[fault.status, f"`{fault.code}`", fault.meaning] for fault in faults]
    return table(["status", "code", "meaning"], rows)


def code_block(body: Mapping[str, Any]) -> str:
    """A body as JSON, for people."""
    return f"```json\n{json.dumps(body, indent=2, ensure_ascii=False)}\n```"


def _arguments(model: type[Model]) -> str:
    schema = model.model_json_schema()
    if not schema.get("properties"):
        return "None: the body is an empty object, `{}`."
    required = schema.get("required", [])
    head = ["argument", "type", "needed", "unit", "values", "meaning", "example"]
    rows = [
        [
            f"`{name}`",
            type_text(kind),
            "yes" if name in required else "no",
            kind.get("x-unit", ""),
            _values(kind),
            kind["description"],
            _example(kind),
        ]
        for name, kind in schema["properties"].items()
    ]
    return table(head, rows)


def _tables(model: type[Model]) -> Iterator[str]:
    """The table of an answer, and one for each model that it is made of."""
    schema = model.model_json_schema()
    parts = schema.get("$defs", {})
    yield schema["description"]
    yield _answer_table(schema)
    for name in _in_order(schema, parts):
        yield f"### {name}"
        yield parts[name]["description"]
        yield _answer_table(parts[name])


def _in_order(schema: Schema, parts: Schema) -> list[str]:
    found: list[str] = []
    waiting = [schema]
    while waiting:
        for kind in waiting.pop(0)["properties"].values():
            part = part_of(kind)
            if part is not None and part not in found:
                found.append(part)
                waiting.append(parts[part])
    return found


def _answer_table(schema: Schema) -> str:
    rows = [
        [
            f"`{name}`",
            type_text(kind),
            kind.get("x-unit", ""),
            _values(kind),
            kind["description"],
            _example(kind),
        ]
        for name, kind in schema["properties"].items()
    ]
    return table(["field", "type", "unit", "values", "meaning", "example"], rows)


def type_text(kind: Schema) -> str:
    """The type of a field in words.

    >>> type_text({"type": "array", "items": {"anyOf": [{"type": "integer"}, {"type": "null"}]}})
    'list of (whole number or null)'
    """
    if "$ref" in kind:
        name = part_of(kind) or ""
        return f"[{name}](#{name.lower()})"
    if "anyOf" in kind:
        return " or ".join(map(type_text, kind["anyOf"]))
    if kind.get("type") == "array":
        inner = type_text(kind["items"])
        return f"list of ({inner})" if " or " in inner else f"list of {inner}"
    return _KINDS[kind["type"]]


def _values(kind: Schema) -> str:
    """What values are allowed, as far as words or bounds say it."""
    if "enum" in kind:
        return ", ".join(f"`{value}`" for value in kind["enum"])
    said = [_bounds(one) for one in kind.get("anyOf", [kind])]
    return ", ".join(filter(None, said))


def _bounds(kind: Schema) -> str:
    low, high = kind.get("minimum"), kind.get("maximum")
    if low is not None and high not in {None, LARGEST}:
        return f"{low} to {high}"
    if low is not None:
        return f"{low} or more"
    longest = kind.get("maxLength")
    return "" if longest is None else f"at most {longest} characters"


def _example(kind: Schema) -> str:
    if "examples" not in kind:
        return ""
    text = json.dumps(kind["examples"][0], ensure_ascii=False)
    return f"`{text}`" if len(text) <= _SHORT else ""


def _examples(examples: Iterable[Example], what: str) -> Iterator[str]:
    for example in examples:
        yield f"{what} ({example.caption.lower()}):" if example.caption else f"{what}:"
        yield code_block(example.body)
