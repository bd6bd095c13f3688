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
def parts_of(section: Any) -> tuple[Part, ...]:
    """The fields of a section (a dataclass) that stand in the file, in order."""
    hints = get_type_hints(section, include_extras=True)
    return tuple(
        _part(field.name, hints[field.name]) for field in fields(section) if field.name != KEY
    )


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


def unfit(key: str, value: object, allowed: str) -> Wrong:
    """The error of a value that is wrong by itself."""
    return Wrong("wrong_value", key, f"{shown_key(key)} is {shown(value)}, but must be {allowed}")


def refuse_unknown(names: Iterable[object], known: Iterable[str], where: str) -> None:
    """Raise `Wrong` for the first name that is no known key of the table at `where`."""
    allowed = list(known)
    for name in names:
        if name not in allowed:
            key = join(where, str(name))
            # Matching takes the square of the length, and a key may be anything.
            near = get_close_matches(str(name)[:_LONGEST_NAME], allowed, n=1, cutoff=0)[0]
            close = shown_key(join(where, near))
            text = f"{shown_key(key)} is no key of a scenario, the nearest one is {close}"
            raise Wrong("unknown_key", key, text)


def require(names: Iterable[str], table: Document, where: str, allowed: str) -> None:
    """Raise `Wrong` for the first name that the table at `where` lacks."""
    for name in names:
        if name not in table:
            key = join(where, name)
            raise Wrong("missing_key", key, f"{key} is missing, but must be {allowed}")


def join(where: str, name: str) -> str:
    """The key of a name inside the table at `where`."""
    return f"{where}.{name}" if where else name


def shown_key(key: str) -> str:
    """A key as a sentence quotes it: on one line and not endless, whoever wrote it."""
    return key if key.isprintable() and 0 < len(key) <= 120 else shown(key)


def read_section(section: type[object], raw: object, where: str = "", name: str = "") -> Any:
    """A part of a scenario from its table; raises `Wrong`."""
    make: Any = section
    table, parts = _table(raw, where), parts_of(make)
    refuse_unknown(table, [part.key for part in parts], where)
    values: dict[str, Any] = {KEY: name} if name else {}
    for part in parts:
        require([part.key], table, where, _allowed(part.spec))
        values[part.attribute] = _read_part(part, table[part.key], join(where, part.key))
    return make(**values)


def _allowed(spec: Entry | Named | Sections | None) -> str:
    if isinstance(spec, Kind | Row):
        return spec.allowed
    return "a list of tables" if isinstance(spec, Sections) and not spec.keyed else "a table"


def _table(raw: object, where: str) -> Document:
    if not isinstance(raw, Mapping):
        raise unfit(where, raw, "a table")
    return raw


def _read_part(part: Part, raw: object, where: str) -> Any:
    if part.spec is None:
        return read_section(part.section, raw, where)
    if isinstance(part.spec, Sections):
        return _read_sections(part.spec, part.section, raw, where)
    return _read_value(part.spec, raw, where)


def _read_value(spec: Entry | Named, raw: object, where: str) -> Any:
    if isinstance(spec, Named):
        return _read_named(spec, _table(raw, where), where)
    try:
        return spec.read(raw)
    except Unfit as found:
        raise unfit(where + found.part, found.value, found.allowed) from None


def _read_named(spec: Named, table: Document, where: str) -> Table[Any, Any]:
    names: Iterable[str] = spec.names or table
    refuse_unknown(table, names, where)
    if spec.counts:
        # Counts run from 0 without a gap, so that the n-th weight is that of n.
        names = spec.names[: max(1, len(table))]
    if not 1 <= len(table) <= spec.most:
        found = f"{where} holds {len(table)} entries"
        raise Wrong("wrong_value", where, f"{found}, but must hold 1 to {spec.most}")
    inner = spec.each
    require(names, table, where, "a table" if isinstance(inner, Named) else inner.allowed)
    rows = {name: _read_value(inner, table[name], _named_key(where, name)) for name in names}
    return Table({int(name): row for name, row in rows.items()} if spec.counts else rows)


def _named_key(where: str, name: str) -> str:
    key = join(where, name)
    if not 1 <= len(name) <= _LONGEST_NAME or not name.isprintable() or "." in name:
        allowed = f"a name of 1 to {_LONGEST_NAME} printable characters without a dot"
        raise Wrong("wrong_value", key, f"the name {shown(name)} in {where} must be {allowed}")
    return key


def _read_sections(spec: Sections, section: type[object], raw: object, where: str) -> Any:
    if not spec.keyed:
        if not isinstance(raw, list | tuple) or not spec.fewest <= len(raw) <= spec.most:
            raise unfit(where, raw, f"a list of {spec.fewest} to {spec.most} tables")
        rows = {str(place): row for place, row in enumerate(raw)}
        return tuple(read_section(section, row, join(where, name)) for name, row in rows.items())
    table = _table(raw, where)
    if spec.names:
        refuse_unknown(table, spec.names, where)
        require(spec.names, table, where, "a table")
    elif not spec.fewest <= len(table) <= spec.most:
        text = f"{where} holds {len(table)} tables, but must hold {spec.fewest} to {spec.most}"
        raise Wrong("wrong_value", where, text)
    for name in table:
        if not _NAME_OF_TABLE.fullmatch(name):
            allowed = "lower-case letters, digits and underscores, such as hvac_service"
            text = f"the name {shown(name)} of a table in {where} must consist of {allowed}"
            raise Wrong("wrong_value", join(where, name), text)
    order = spec.names or tuple(table)
    return tuple(read_section(section, table[name], join(where, name), name) for name in order)


def write_section(value: Any) -> dict[str, Any]:
    """The document from which `read_section` reads this part again."""
    section: Any = type(value)
    return {
        part.key: _write_part(part.spec, getattr(value, part.attribute))
        for part in parts_of(section)
    }


def _write_part(spec: Entry | Named | Sections | None, value: Any) -> Any:
    if spec is None:
        return write_section(value)
    if isinstance(spec, Sections):
        if spec.keyed:
            return {row.key: write_section(row) for row in value}
        return [write_section(row) for row in value]
    if isinstance(spec, Named):
        return {str(name): _write_part(spec.each, row) for name, row in value.items()}
    return spec.write(value)


def entries(value: Any, where: str = "") -> Iterator[tuple[str, Entry, Any]]:
    """Every single entry of a part: its key, its kind, and its value as it stands in the file."""
    section: Any = type(value)
    for part in parts_of(section):
        yield from _entries(part.spec, getattr(value, part.attribute), join(where, part.key))


def _entries(
    spec: Entry | Named | Sections | None, value: Any, where: str
) -> Iterator[tuple[str, Entry, Any]]:
    if spec is None:
        yield from entries(value, where)
    elif isinstance(spec, Sections):
        for place, row in enumerate(value):
            yield from entries(row, join(where, row.key if spec.keyed else str(place)))
    elif isinstance(spec, Named):
        for name, row in value.items():
            yield from _entries(spec.each, row, join(where, str(name)))
    else:
        yield where, spec, spec.write(value)


def change(node: Any, key: str, value: object, where: str = "") -> None:
    """Put a value at a key of a document that has that key; raises `Wrong` for any other key."""
    name, _, rest = key.partition(".")
    if not isinstance(node, dict | list) or not node:
        text = f"{shown_key(join(where, key))} is no key of a scenario, the nearest one is {where}"
        raise Wrong("unknown_key", join(where, key), text)
    names = [str(place) for place in range(len(node))] if isinstance(node, list) else list(node)
    refuse_unknown([name], names, where)
    place: Any = int(name) if isinstance(node, list) else name
    if rest:
        change(node[place], rest, value, join(where, name))
    else:
        node[place] = _own(value)


def _own(value: object) -> object:
    # A copy in the shapes of a file, so that later changes never reach into the caller's table.
    if isinstance(value, Mapping):
        return {str(name): _own(inner) for name, inner in value.items()}
    return [_own(inner) for inner in value] if isinstance(value, list | tuple) else value
