"""The kinds of value a scenario file may hold: how each is read, bounded, written back and named.

A kind turns what stands in the file (dollars, "07:00", minutes, decimal text) into the exact value
the rules use (whole cents, whole seconds, `Decimal`) and back. Each carries its unit, its source
and its meaning, so that the schema is their single home. This module knows no key of the business
and no file; it never holds a binary float.
"""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from datetime import date, datetime, time
from decimal import Context, Decimal
from typing import Any, Generic, Literal, TypeVar

Source = Literal["given", "calibrated"]
GIVEN: Source = "given"
CALIBRATED: Source = "calibrated"

DECIMAL_PLACES = 9
DAY_SECONDS = 86_400
_EXACT = Context(prec=60)
_DECIMAL_TEXT = re.compile(r"[+-]?[0-9]{1,15}(\.[0-9]{1,15})?")
_CLOCK_TEXT = re.compile(r"([0-9]{2}):([0-9]{2})")
_SHOWN = 60
_NESTED = (list, tuple, Mapping)

K = TypeVar("K")
V = TypeVar("V")


class Unfit(Exception):  # noqa: N818 - a finding, which ends as a ScenarioError
    """A value that its kind refuses: what would be allowed, and which part of it is wrong."""

    def __init__(self, allowed: str, value: object, part: str = "") -> None:
        super().__init__(allowed)
        self.allowed, self.value, self.part = allowed, value, part


class Table(Mapping[K, V], Generic[K, V]):
    """A mapping that cannot change; it compares, hashes, copies and pickles like a value."""

    __slots__ = ("_rows",)

    def __init__(self, rows: Mapping[K, V]) -> None:
        self._rows = dict(rows)

    def __getitem__(self, key: K) -> V:
        return self._rows[key]

    def __iter__(self) -> Iterator[K]:
        return iter(self._rows)

    def __len__(self) -> int:
        return len(self._rows)

    def __hash__(self) -> int:
        return hash(frozenset(self._rows.items()))

    def __repr__(self) -> str:
        return f"Table({self._rows!r})"


def exact(value: Decimal | int) -> Decimal:
    """The same number without trailing zeros or exponent, so that equal numbers look equal."""
    normal = _EXACT.normalize(Decimal(value))
    return Decimal(format(normal, "f")) if normal else Decimal(0)


def shown(value: object) -> str:
    """A value as an error sentence quotes it: short, on one line, whatever it is."""
    if isinstance(value, int) and value.bit_length() > 200:
        return "a number of more than 60 digits"
    if isinstance(value, Mapping):
        return "a table"
    if isinstance(value, list | tuple):
        simple = len(value) <= 8 and not any(isinstance(item, _NESTED) for item in value)
        return "[" + ", ".join(map(shown, value)) + "]" if simple else f"a list of {len(value)}"
    if isinstance(value, bool):
        return "true" if value else "false"
    text = repr(value) if isinstance(value, str) else str(value)
    return text if len(text) <= _SHOWN else text[: _SHOWN - 1] + "…"


def clock(seconds: int) -> str:
    """Seconds of a day as HH:MM."""
    return f"{seconds // 3600:02d}:{seconds // 60 % 60:02d}"


def as_number(raw: object) -> Decimal | None:
    """A number of the file, or decimal text, as an exact `Decimal`; None for anything else."""
    if isinstance(raw, str) and _DECIMAL_TEXT.fullmatch(raw):
        return Decimal(raw)
    if isinstance(raw, bool) or not isinstance(raw, int | Decimal):
        return None
    value = Decimal(raw)
    return value if value.is_finite() else None


def _whole(raw: object, low: int, high: int) -> int | None:
    value = as_number(raw)
    if value is None or not low <= value <= high or value != value.to_integral_value():
        return None
    return int(value)


@dataclass(frozen=True)
class Kind:
    """What every kind of value carries: unit in the file, source, one line of meaning.

    `given_for` names the few entries (by the end of their key) that the report gives although
    their neighbours are ours, such as the price of residential HVAC service.
    """

    unit: str
    source: Source
    meaning: str
    given_for: tuple[str, ...] = field(default=(), kw_only=True)

    @property
    def allowed(self) -> str:
        """What may stand there, as the end of "but must be …"."""
        return self._allowed()

    def source_of(self, key: str) -> Source:
        """Source of the entry at `key`."""
        return GIVEN if any(key.endswith("." + end) for end in self.given_for) else self.source

    def read(self, raw: object) -> Any:
        """The exact value for what stands in the file; raises `Unfit`."""
        value = self._read(raw)
        if value is None:
            binary = ", as text or Decimal and not as a binary float"
            raise Unfit(self.allowed + (binary if isinstance(raw, float) else ""), raw)
        return value

    def write(self, value: Any) -> Any:
        """What would stand in the file for an exact value."""
        return self._write(value)

    def _allowed(self) -> str:
        raise NotImplementedError

    def _read(self, raw: object) -> Any:
        """The exact value, or None for what is not allowed."""
        raise NotImplementedError

    def _write(self, value: Any) -> Any:
        return value


@dataclass(frozen=True)
class Whole(Kind):
    """A whole number between bounds, both allowed."""

    low: int
    high: int

    def _allowed(self) -> str:
        if self.low == self.high:
            return f"{self.low} ({self.unit}), which is all the rules can do"
        return f"a whole number from {self.low} to {self.high} ({self.unit})"

    def _read(self, raw: object) -> int | None:
        return _whole(raw, self.low, self.high)


@dataclass(frozen=True)
class Number(Kind):
    """An exact decimal number between bounds, both allowed, with a limited number of places."""

    low: str
    high: str
    places: int = DECIMAL_PLACES

    def _allowed(self) -> str:
        bounds = f"a number from {self.low} to {self.high} ({self.unit})"
        return f"{bounds} with at most {self.places} decimals"

    def _read(self, raw: object) -> Decimal | None:
        value = as_number(raw)
        if value is None or not Decimal(self.low) <= value <= Decimal(self.high):
            return None
        # Digits beyond the context's precision would be rounded away unseen.
        if len(value.as_tuple().digits) > _EXACT.prec:
            return None
        value = exact(value)
        return value if _places(value) <= self.places else None


def _places(value: Decimal) -> int:
    return max(0, -int(value.as_tuple().exponent))


@dataclass(frozen=True)
class Dollars(Kind):
    """An amount in dollars, at most two decimals, kept as whole cents."""

    low: int
    high: int

    def _allowed(self) -> str:
        return f"an amount from {self.low} to {self.high} ({self.unit}), to the cent"

    def _read(self, raw: object) -> int | None:
        value = as_number(raw)
        if value is None or not self.low <= value <= self.high:
            return None
        if len(value.as_tuple().digits) > _EXACT.prec or _places(exact(value)) > 2:
            return None
        return int(_EXACT.multiply(value, Decimal(100)))

    def _write(self, value: int) -> Decimal:
        return exact(_EXACT.divide(Decimal(value), Decimal(100)))


@dataclass(frozen=True)
class Clock(Kind):
    """A time of day "HH:MM" up to "24:00", kept as seconds and a multiple of `step` seconds."""

    step: int = 60

    def _allowed(self) -> str:
        return 'a time of day such as "07:00"' + (" on the full hour" if self.step == 3600 else "")

    def _read(self, raw: object) -> int | None:
        text = raw.isoformat().removesuffix(":00") if isinstance(raw, time) else raw
        match = _CLOCK_TEXT.fullmatch(text) if isinstance(text, str) else None
        if match is None:
            return None
        seconds = int(match[1]) * 3600 + int(match[2]) * 60
        fits = int(match[2]) < 60 and seconds <= DAY_SECONDS and seconds % self.step == 0
        return seconds if fits else None

    def _write(self, value: int) -> str:
        return clock(value)


@dataclass(frozen=True)
class Minutes(Kind):
    """A duration in whole minutes, kept as seconds."""

    low: int
    high: int

    def _allowed(self) -> str:
        return f"a whole number of minutes from {self.low} to {self.high}"

    def _read(self, raw: object) -> int | None:
        minutes = _whole(raw, self.low, self.high)
        return None if minutes is None else minutes * 60

    def _write(self, value: int) -> int:
        return value // 60


@dataclass(frozen=True)
class Day(Kind):
    """A calendar date."""

    def _allowed(self) -> str:
        return "a date such as 2026-10-01, from 2000-01-01 to 2099-12-31"

    def _read(self, raw: object) -> date | None:
        if isinstance(raw, str):
            try:
                raw = date.fromisoformat(raw)
            except ValueError:
                return None
        if not isinstance(raw, date) or isinstance(raw, datetime):
            return None
        return raw if 2000 <= raw.year <= 2099 else None


@dataclass(frozen=True)
class Flag(Kind):
    """true or false."""

    def _allowed(self) -> str:
        return "true or false"

    def _read(self, raw: object) -> bool | None:
        return raw if isinstance(raw, bool) else None


@dataclass(frozen=True)
class Text(Kind):
    """A short printable text on one line."""

    longest: int = 40

    def _allowed(self) -> str:
        return f"a text of 1 to {self.longest} printable characters"

    def _read(self, raw: object) -> str | None:
        if not isinstance(raw, str) or not 1 <= len(raw) <= self.longest:
            return None
        return raw if raw.isprintable() and raw == raw.strip() else None


@dataclass(frozen=True)
class Row:
    """A list of `shortest` to `longest` values of one kind."""

    each: Kind
    shortest: int
    longest: int

    @property
    def allowed(self) -> str:
        """What may stand there, as the end of "but must be …"."""
        few, many = self.shortest, self.longest
        return f"a list of {few if few == many else f'{few} to {many}'} values ({self.each.unit})"

    def read(self, raw: object) -> tuple[Any, ...]:
        """The exact values; raises `Unfit`."""
        if not isinstance(raw, list | tuple) or not self.shortest <= len(raw) <= self.longest:
            raise Unfit(self.allowed, raw)
        values = []
        for place, item in enumerate(raw):
            try:
                values.append(self.each.read(item))
            except Unfit as unfit:
                raise Unfit(unfit.allowed, item, f"[{place}]") from None
        return tuple(values)

    def write(self, value: tuple[Any, ...]) -> tuple[Any, ...]:
        """What would stand in the file."""
        return tuple(self.each.write(item) for item in value)


@dataclass(frozen=True)
class Named:
    """A table from names to values of one kind; `names` are fixed, or free when empty."""

    each: "Kind | Row | Named"
    names: tuple[str, ...] = ()
    most: int = 16
    counts: bool = False  # names are whole numbers from 0 on, as many as there are; keys are int


@dataclass(frozen=True)
class Sections:
    """Several tables of one shape: `keyed` by the name of each table, or a plain list."""

    fewest: int
    most: int
    keyed: bool
    names: tuple[str, ...] = ()


Entry = Kind | Row
"""What stands behind one key of the file."""


def kind_of(entry: Entry) -> Kind:
    """The kind that holds unit, source and meaning of a single entry."""
    return entry.each if isinstance(entry, Row) else entry
