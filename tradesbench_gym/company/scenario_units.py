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

K = TypeVar("K")
V = TypeVar("V")


class Unfit(Exception):  # noqa: N818 - a finding on its way to a ScenarioError, seen by nobody else
    """A value that its kind refuses: what would be allowed, and which part of the value is wrong."""

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
    if isinstance(value, dict):
        return "a table"
    if isinstance(value, list):
        return f"a list of {len(value)}"
    if isinstance(value, bool):
        return "true" if value else "false"
    text = repr(value) if isinstance(value, str) else str(value)
    return text if len(text) <= _SHOWN else text[: _SHOWN - 1] + "…"


def clock(seconds: int) -> str:
    """Seconds of a day as HH:MM."""
    return f"{seconds // 3600:02d}:{seconds // 60 % 60:02d}"


def as_number(raw: object, allowed: str) -> Decimal:
    """A number of the file, or decimal text, as an exact `Decimal`; raises `Unfit` otherwise."""
    if isinstance(raw, str) and _DECIMAL_TEXT.fullmatch(raw):
        raw = Decimal(raw)
    if isinstance(raw, bool) or not isinstance(raw, int | Decimal):
        raise Unfit(allowed, raw)
    value = Decimal(raw)
    if not value.is_finite():
        raise Unfit(allowed, raw)
    return value


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

    def source_of(self, key: str) -> Source:
        """Source of the entry at `key`."""
        return GIVEN if any(key.endswith("." + end) for end in self.given_for) else self.source

    def read(self, raw: object) -> Any:
        """The exact value for what stands in the file; raises `Unfit`."""
        raise NotImplementedError

    def write(self, value: Any) -> Any:
        """What would stand in the file for an exact value."""
        return value


@dataclass(frozen=True)
class Whole(Kind):
    """A whole number between bounds, both allowed."""

    low: int
    high: int

    @property
    def allowed(self) -> str:
        return f"a whole number from {self.low} to {self.high} ({self.unit})"

    def read(self, raw: object) -> int:
        value = as_number(raw, self.allowed)
        if not self.low <= value <= self.high or value != value.to_integral_value():
            raise Unfit(self.allowed, raw)
        return int(value)


@dataclass(frozen=True)
class Number(Kind):
    """An exact decimal number between bounds, both allowed, with a limited number of places."""

    low: str
    high: str
    places: int = DECIMAL_PLACES

    @property
    def allowed(self) -> str:
        return (
            f"a number from {self.low} to {self.high} ({self.unit}) "
            f"with at most {self.places} decimals"
        )

    def read(self, raw: object) -> Decimal:
        value = as_number(raw, self.allowed)
        exponent = value.as_tuple().exponent
        if not Decimal(self.low) <= value <= Decimal(self.high):
            raise Unfit(self.allowed, raw)
        if not isinstance(exponent, int) or -exponent > self.places + 15:
            raise Unfit(self.allowed, raw)
        value = exact(value)
        if -int(value.as_tuple().exponent) > self.places:
            raise Unfit(self.allowed, raw)
        return value


@dataclass(frozen=True)
class Dollars(Kind):
    """An amount in dollars, at most two decimals, kept as whole cents."""

    low: int
    high: int

    @property
    def allowed(self) -> str:
        return f"an amount from {self.low} to {self.high} ({self.unit}), to the cent"

    def read(self, raw: object) -> int:
        value = as_number(raw, self.allowed)
        if not self.low <= value <= self.high:
            raise Unfit(self.allowed, raw)
        cents = _EXACT.multiply(value, Decimal(100))
        if cents != cents.to_integral_value():
            raise Unfit(self.allowed, raw)
        return int(cents)

    def write(self, value: int) -> Decimal:
        return exact(_EXACT.divide(Decimal(value), Decimal(100)))


@dataclass(frozen=True)
class Clock(Kind):
    """A time of day "HH:MM" up to "24:00", kept as seconds; `step` is what it must be a multiple of."""

    step: int = 60

    @property
    def allowed(self) -> str:
        return 'a time of day such as "07:00"' + (" on the full hour" if self.step == 3600 else "")

    def read(self, raw: object) -> int:
        if isinstance(raw, time):
            raw = raw.isoformat("auto").removesuffix(":00")
        match = _CLOCK_TEXT.fullmatch(raw) if isinstance(raw, str) else None
        if match is None:
            raise Unfit(self.allowed, raw)
        hours, minutes = int(match[1]), int(match[2])
        seconds = hours * 3600 + minutes * 60
        if minutes > 59 or seconds > DAY_SECONDS or seconds % self.step:
            raise Unfit(self.allowed, raw)
        return seconds

    def write(self, value: int) -> str:
        return clock(value)


@dataclass(frozen=True)
class Minutes(Kind):
    """A duration in whole minutes, kept as seconds."""

    low: int
    high: int

    @property
    def allowed(self) -> str:
        return f"a whole number of minutes from {self.low} to {self.high}"

    def read(self, raw: object) -> int:
        value = as_number(raw, self.allowed)
        if not self.low <= value <= self.high or value != value.to_integral_value():
            raise Unfit(self.allowed, raw)
        return int(value) * 60

    def write(self, value: int) -> int:
        return value // 60


@dataclass(frozen=True)
class Day(Kind):
    """A calendar date."""

    allowed = "a date such as 2026-10-01, from 2000-01-01 to 2099-12-31"

    def read(self, raw: object) -> date:
        if isinstance(raw, str):
            try:
                raw = date.fromisoformat(raw)
            except ValueError:
                raise Unfit(self.allowed, raw) from None
        if not isinstance(raw, date) or isinstance(raw, datetime) or not 2000 <= raw.year <= 2099:
            raise Unfit(self.allowed, raw)
        return raw


@dataclass(frozen=True)
class Flag(Kind):
    """true or false."""

    def read(self, raw: object) -> bool:
        if not isinstance(raw, bool):
            raise Unfit("true or false", raw)
        return raw


@dataclass(frozen=True)
class Text(Kind):
    """A short printable text on one line."""

    longest: int = 40

    def read(self, raw: object) -> str:
        fits = isinstance(raw, str) and raw.strip() == raw and raw.isprintable()
        if not isinstance(raw, str) or not fits or not 1 <= len(raw) <= self.longest:
            raise Unfit(f"a text of 1 to {self.longest} printable characters", raw)
        return raw


@dataclass(frozen=True)
class Row:
    """A list of values of one kind, of one fixed length or of `shortest` to `longest`."""

    each: Kind
    shortest: int
    longest: int

    @property
    def allowed(self) -> str:
        size = (
            f"{self.shortest}"
            if self.shortest == self.longest
            else f"{self.shortest} to {self.longest}"
        )
        return f"a list of {size} values ({self.each.unit})"

    def read(self, raw: object) -> tuple[Any, ...]:
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
