"""The figures of docs/HANDBOOK.md read back from its tables: what a program that was given the
handbook knows of the company, and no more.

It knows the layout that `handbook` writes; no scenario, no map and no company.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import date
from decimal import Decimal

import numpy as np

from tradesbench_gym.api.handbook import OFF_HOURS, OFFICE_HOURS
from tradesbench_gym.api.markdown import tables
from tradesbench_gym.core.layout import HANDBOOK
from tradesbench_gym.errors import TradesBenchError, shown

_NUMBER = re.compile(r"-?\d[\d,]*(\.\d+)?")
_MINUTE, _HOUR, _CENTS = 60, 3600, 100

Row = Mapping[str, str]


class HandbookError(TradesBenchError):
    """A handbook that says less than it should, or says it differently."""


@dataclass(frozen=True, eq=False)
class Figures:
    """What the handbook says.

    Attributes:
        book: a HANDBOOK record without technicians and zones, which any day's schedule and weather
            tell better.
        job_types: as the API calls them, in the order of the rules.
        first_day: day 0 of the run.

    """

    book: np.void
    job_types: tuple[str, ...]
    first_day: date


def read_handbook(text: str) -> Figures:
    """The figures of a handbook.

    Raises:
        HandbookError: a table, a row or a number is missing.

    """
    with _told():
        found = list(tables(text))
        jobs, windows = _of(found, "job type"), _of(found, "window")
        said = {row["what"]: _value(row) for rows in found for row in rows if "what" in row}
        book = np.zeros(1, HANDBOOK)[0]
        _fill_job_types(book, jobs)
        _fill_windows(book, windows)
        _fill_hours(book, said)
        first = date.fromisoformat(said["first day"][:10])
        book["first_weekday"] = first.weekday()
        return Figures(book, tuple(row["job type"] for row in jobs), first)


@contextmanager
def _told() -> Iterator[None]:
    try:
        yield
    except HandbookError:
        raise
    except (ArithmeticError, IndexError, KeyError, ValueError) as error:
        raise HandbookError(
            f"the handbook cannot be read: {shown(str(error))} is missing or is no figure",
            code="handbook",
            field="handbook",
        ) from error


def _of(found: list[list[dict[str, str]]], head: str) -> list[dict[str, str]]:
    for rows in found:
        if rows and head in rows[0]:
            return rows
    raise HandbookError(f"the handbook has no table of {head}s", code="handbook", field="handbook")


def _value(row: Row) -> str:
    _, text = row.values()
    return text


def _number(text: str) -> Decimal:
    found = _NUMBER.search(text)
    if found is None:
        raise ValueError(text)
    return Decimal(found[0].replace(",", ""))


def _clock(text: str) -> int:
    hours, minutes = text.split(":")
    return int(hours) * _HOUR + int(minutes) * _MINUTE


def _span(text: str) -> tuple[int, int]:
    begin, end = text.split("-")
    return _clock(begin), _clock(end)


def _fill_job_types(book: np.void, rows: list[dict[str, str]]) -> None:
    book["services"] = len(rows)
    for k, row in enumerate(rows):
        for name in ("shortest", "typical", "longest"):
            book[name][k] = int(_number(row[name]) * _MINUTE)
        book["installation"][k] = row["bookable"] == OFFICE_HOURS


def _fill_windows(book: np.void, rows: list[dict[str, str]]) -> None:
    book["windows"] = len(rows)
    for k, row in enumerate(rows):
        book["opens"][k], book["closes"][k] = _span(row["window"])
        book["evening"][k] = row["Monday to Friday"] == OFF_HOURS


def _fill_hours(book: np.void, said: Row) -> None:
    book["days"] = int(_number(said["length"]))
    book["booking_days"] = int(_number(said["jobs are booked"]))
    book["office_opens"] = _clock(said["office opens"])
    book["calls_from"], book["calls_until"] = _span(said["customers call"])
    book["shift_from"], book["shift_until"] = _span(said["weekday shift"])
    book["on_call_until"] = _span(said["on call on weekdays"])[1]
    book["weekend_from"], book["weekend_until"] = _span(said["on call at weekends"])
    book["overhead"] = int(_number(said["overhead"]) * _CENTS)
    book["starting_cash"] = int(_number(said["starting cash"]) * _CENTS)
    book["failed_visit"] = int(_number(said["failed visit"]) * _MINUTE)
