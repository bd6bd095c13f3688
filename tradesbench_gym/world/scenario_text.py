"""A scenario as text and back: the TOML that a world file carries, so that a run needs no other.

One scenario has one text, and the text is a scenario file like any other: saved under a name it
can be played again. What the numbers mean is the scenario's matter.
"""

from __future__ import annotations

import json
import re
import tomllib
from collections.abc import Iterator, Mapping
from datetime import date
from decimal import Decimal
from typing import Any

from tradesbench_gym.company.scenario import Scenario
from tradesbench_gym.company.scenario_rules import check
from tradesbench_gym.company.scenario_tree import Wrong, read_section, write_section
from tradesbench_gym.errors import ScenarioError

_BARE = re.compile(r"[A-Za-z0-9_-]+")


def scenario_text(scenario: Scenario) -> str:
    """The scenario as TOML, without comments, in the order of its own tables."""
    return "\n".join(_table(write_section(scenario), ())).strip() + "\n"


def read_scenario(text: str) -> Scenario:
    """The scenario of a text.

    Raises:
        ScenarioError: no TOML, or no scenario.

    """
    try:
        document = tomllib.loads(text, parse_float=Decimal)
    except (ValueError, ArithmeticError, RecursionError) as error:
        reason = " ".join(str(error).split())
        raise ScenarioError(
            f"the text is not TOML: {reason}", code="unreadable_file", field="scenario"
        ) from None
    try:
        scenario: Scenario = read_section(Scenario, document)
        check(scenario)
    except Wrong as wrong:
        raise ScenarioError(wrong.text, code=wrong.code, field=wrong.key) from None
    return scenario


def _table(table: Mapping[str, Any], where: tuple[str, ...]) -> Iterator[str]:
    inner = {key: value for key, value in table.items() if isinstance(value, Mapping)}
    plain = {key: value for key, value in table.items() if key not in inner}
    if where and (plain or not inner):
        yield f"\n[{'.'.join(map(_key, where))}]"
    for key, value in plain.items():
        yield f"{_key(key)} = {_value(value)}"
    for key, value in inner.items():
        yield from _table(value, (*where, key))


def _key(key: str) -> str:
    return key if _BARE.fullmatch(key) else _quoted(key)


def _quoted(text: str) -> str:
    # TOML's escapes are JSON's, and it wants DEL escaped as well.
    return json.dumps(text, ensure_ascii=False).replace("\x7f", "\\u007f")


def _value(value: Any) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, int):
        return str(value)
    if isinstance(value, Decimal):
        return format(value, "f")
    if isinstance(value, date):
        return value.isoformat()
    if isinstance(value, str):
        return _quoted(value)
    if isinstance(value, Mapping):
        return "{ " + ", ".join(f"{_key(k)} = {_value(v)}" for k, v in value.items()) + " }"
    return "[" + ", ".join(_value(item) for item in value) + "]"
