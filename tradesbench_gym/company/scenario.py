"""The business in a file: load a scenario, check it, describe it, name it by a digest.

A scenario is a tree of frozen records of exact values: whole seconds, cents and counts, `Decimal`
for shares, factors and chances, never a binary float. This module knows files and the built-in
scenarios; what each number means stands in `scenario_schema`, what must hold between them in
`scenario_rules`.
"""

import hashlib
import json
import tomllib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from decimal import Decimal
from functools import cached_property, lru_cache
from importlib import resources
from pathlib import Path
from typing import Annotated, Any, NamedTuple

from tradesbench_gym.company.scenario_rules import check
from tradesbench_gym.company.scenario_schema import (
    COMPANY,
    CUSTOMERS,
    NAME,
    OTHER_WORK,
    SERVICES,
    TECHNICIANS,
    WINDOWS,
    Acceptance,
    Calendar,
    Cancellation,
    CustomerType,
    Demand,
    Driving,
    Estimate,
    Pay,
    Service,
    Technician,
    Visits,
    Weather,
    Window,
)
from tradesbench_gym.company.scenario_tree import (
    Wrong,
    change,
    entries,
    read_section,
    shown_key,
    write_section,
)
from tradesbench_gym.company.scenario_units import kind_of, shown
from tradesbench_gym.errors import ScenarioError

DEFAULT = "sunridge"
_FOLDER = "tradesbench_gym.company"
_SUFFIX = ".toml"


class Described(NamedTuple):
    """One number as documentation shows it; key, value and unit as they stand in the file.

    `source` is "given" (by the report) or "calibrated" (ours) as long as the value is that of the
    built-in Sunridge Services, else "changed".
    """

    key: str
    value: Any
    unit: str
    source: str
    meaning: str


@dataclass(frozen=True)
class Scenario:
    """Every number of a business. Made by `load_scenario` or `replace`, which check it."""

    name: Annotated[str, NAME]
    company: Annotated[str, COMPANY]
    windows: Annotated[tuple[Window, ...], WINDOWS]
    other_work: Annotated[tuple[str, ...], OTHER_WORK]
    calendar: Calendar
    technicians: Annotated[tuple[Technician, ...], TECHNICIANS]
    pay: Pay
    services: Annotated[tuple[Service, ...], SERVICES]
    customers: Annotated[tuple[CustomerType, ...], CUSTOMERS]
    demand: Demand
    acceptance: Acceptance
    cancellation: Cancellation
    visits: Visits
    driving: Driving
    weather: Weather
    estimate: Estimate

    @cached_property
    def digest(self) -> str:
        """SHA-256, in hex, of all values: whatever the file's formatting, order and comments.

        The order of windows, technicians, services and other work is a value of its own.
        """
        rows = [[key, _canonical(value)] for key, _, value in entries(self)]
        order = [[row.key for row in self.technicians], [row.key for row in self.services]]
        text = json.dumps([order, sorted(rows)], ensure_ascii=True, separators=(",", ":"))
        return hashlib.sha256(text.encode()).hexdigest()

    def describe(self) -> Iterator[Described]:
        """Every entry of the file in order, with its unit, source and meaning."""
        ours = {key: value for key, _, value in entries(load_scenario(DEFAULT))}
        for key, entry, value in entries(self):
            kind = kind_of(entry)
            source = kind.source_of(key) if ours.get(key) == value else "changed"
            yield Described(key, value, kind.unit, source, kind.meaning)

    def replace(self, changes: Mapping[str, object]) -> "Scenario":
        """A checked copy with other values, named by the keys of the file.

        Values are those of the file: dollars, minutes, "07:00", decimal text or `Decimal`.

        >>> load_scenario().replace({"demand.gain": "0.1", "pay.overhead": 900}).demand.gain
        Decimal('0.1')

        Raises:
            ScenarioError: an unknown key, or a value that does not fit.

        """
        where = f"scenario {self.name!r} with changes"
        document = write_section(self)
        try:
            for key, value in changes.items():
                change(document, key, value)
        except Wrong as wrong:
            raise _error(where, wrong) from None
        return _from_document(document, where)


def load_scenario(name_or_path: str | Path | Scenario = DEFAULT) -> Scenario:
    """A built-in scenario by name, or one of your own by the path of its file.

    >>> load_scenario("sunridge").company
    'Sunridge Services'

    Raises:
        ScenarioError: no such scenario, or a file with a number that is missing or wrong.

    """
    wanted: object = name_or_path  # callers without a type checker pass anything
    if isinstance(wanted, Scenario):
        return wanted
    if isinstance(wanted, str):
        if wanted in builtin_scenarios():
            return _builtin(wanted)
        if _is_no_file(wanted):
            known = ", ".join(builtin_scenarios())
            raise _unknown(
                f"No scenario is called {shown(wanted)}: there is {known}, "
                "and a file of your own is named by its path, such as my.toml."
            )
        wanted = Path(wanted)
    if not isinstance(wanted, Path):
        raise _unknown(f"A scenario is a name or the path of a file, not {type(wanted).__name__}.")
    return _from_text(_read(wanted), shown_key(str(wanted)))


def _is_no_file(text: str) -> bool:
    path = Path(text)
    return path.name == text and path.suffix != _SUFFIX and not path.is_file()


def _unknown(message: str) -> ScenarioError:
    return ScenarioError(message, code="unknown_scenario", field="scenario")


def builtin_scenarios() -> tuple[str, ...]:
    """Names of the scenarios that ship with the package."""
    names = (item.name for item in resources.files(_FOLDER).iterdir())
    return tuple(sorted(name.removesuffix(_SUFFIX) for name in names if name.endswith(_SUFFIX)))


@lru_cache
def _builtin(name: str) -> Scenario:
    text = resources.files(_FOLDER).joinpath(name + _SUFFIX).read_text(encoding="utf-8")
    return _from_text(text, name + _SUFFIX)


def _read(path: Path) -> str:
    try:
        if path.exists() and not (path.is_file() or path.is_dir()):
            # A pipe or a device: reading would wait for ever, or never end.
            raise _unreadable(f"{shown_key(str(path))} is no regular file.")
        return path.read_text(encoding="utf-8-sig")
    except OSError as error:
        reason = (error.strerror or "unknown reason").lower()
    except UnicodeDecodeError:
        reason = "it is no text in UTF-8"
    except ValueError:
        reason = "its name cannot be that of a file"
    raise _unreadable(f"{shown_key(str(path))} cannot be read as a scenario: {reason}.")


def _from_text(text: str, where: str) -> Scenario:
    try:
        document = tomllib.loads(text, parse_float=Decimal)
    except tomllib.TOMLDecodeError as error:
        reason = " ".join(str(error).split())
        raise _unreadable(f"{where} is not a TOML file: {reason}.") from None
    except (ValueError, ArithmeticError, RecursionError):
        # A number of thousands of digits, an endless exponent, brackets without end.
        reason = "a number or a list in it is too large"
        raise _unreadable(f"{where} cannot be read as a scenario: {reason}.") from None
    return _from_document(document, where)


def _unreadable(message: str) -> ScenarioError:
    return ScenarioError(message, code="unreadable_file", field="scenario")


def _from_document(document: Mapping[str, Any], where: str) -> Scenario:
    try:
        scenario: Scenario = read_section(Scenario, document)
        check(scenario)
    except Wrong as wrong:
        raise _error(where, wrong) from None
    return scenario


def _error(where: str, wrong: Wrong) -> ScenarioError:
    return ScenarioError(f"{where}: {wrong.text}.", code=wrong.code, field=wrong.key)


def _canonical(value: Any) -> Any:
    if isinstance(value, tuple):
        return [_canonical(item) for item in value]
    return str(value)
