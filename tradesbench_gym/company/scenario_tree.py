"""Reading and writing a tree of scenario parts by the kinds written into their annotations.

One walk down the dataclasses serves loading, writing back, describing and the digest, so that none
of them can forget a number. This module knows no key of the business: a wrong document ends in
`Wrong`, whose sentence names key, value and what is allowed; who loads a file adds the file's name.
"""

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, fields
from difflib import get_close_matches
from functools import cache
from typing import Annotated, Any, get_args, get_origin, get_type_hints

from tradesbench_gym.company.scenario_units import (
    Dollars,
    Entry,
    Kind,
    Minutes,
    Named,
    Row,
    Sections,
    Table,
    Unfit,
    shown,
)

KEY = "key"
"""The field of a part that holds the name of its own table."""
_NAME_OF_TABLE = re.compile(r"[a-z][a-z0-9_]{0,31}")
_LONGEST_NAME = 40

Document = Mapping[str, Any]


class Wrong(Exception):  # noqa: N818 - becomes a ScenarioError once the file's name is known
    """What is wrong with a document: a stable code, the key, and a sentence without its end."""

    def __init__(self, code: str, key: str, text: str) -> None:
        super().__init__(text)
        self.code, self.key, self.text = code, key, text


@dataclass(frozen=True)
class Part:
    """One field of a section: its attribute, its key in the file, and what may stand there."""

    attribute: str
    key: str
    spec: Entry | Named | Sections | None
    section: type[Any]


@cache
def parts_of(section: type[Any]) -> tuple[Part, ...]:
    """The fields of a section that stand in the file, in order."""
    hints = get_type_hints(section, include_extras=True)
    return tuple(_part(field.name, hints[field.name]) for field in fields(section) if field.name != KEY)


def _part(attribute: str, hint: Any) -> Part:
    if get_origin(hint) is not Annotated:
        return Part(attribute, attribute, None, hint)
    inner, spec = get_args(hint)
    key = attribute
    if isinstance(spec, Dollars):
        key = attribute.removesuffix("_cents")
    elif isinstance(spec, Minutes):
        key = attribute.removesuffix("_s")
    return Part(attribute, key, spec, get_args(inner)[0] if isinstance(spec, Sections) else object)


def must(fits: bool, key: str, value: object, allowed: str) -> None:
    """Raise `Wrong` unless the value at `key` fits the numbers around it."""
    if not fits:
        raise Wrong("wrong_combination", key, f"{key} is {shown(value)}, but must be {allowed}")


def nearest(key: str, known: Iterable[str]) -> str:
    """The known key that looks most like this one."""
    return get_close_matches(key, list(known), n=1, cutoff=0)[0]


def refuse_names(raw: Document, known: Iterable[str], where: str, missing: str = "there") -> None:
    """Raise `Wrong` for a key that is unknown, or else for one that is missing."""
    names = list(known)
    for key in raw:
        if key not in names:
            close = _join(where, nearest(str(key), names))
            text = f"{_join(where, key)} is no key of a scenario, the nearest one is {close}"
            raise Wrong("unknown_key", _join(where, key), text)
    for key in names:
        if key not in raw:
            text = f"{_join(where, key)} is missing, but must be {missing}"
            raise Wrong("missing_key", _join(where, key), text)


def read_section(section: type[Any], raw: object, where: str = "", name: str = "") -> Any:
    """A part of a scenario from its table; raises `Wrong`."""
    table = _table(raw, where)
    parts = parts_of(section)
    known = [part.key for part in parts]
    refuse_names({key: table[key] for key in table if key not in known}, known, where) if set(
        table
    ) - set(known) else None
    values: dict[str, Any] = {KEY: name} if name else {}
    for part in parts:
        inside = _join(where, part.key)
        if part.key not in table:
            raise Wrong("missing_key", inside, f"{inside} is missing, but must be {_allowed(part)}")
        values[part.attribute] = _read_part(part, table[part.key], inside)
    return section(**values)
