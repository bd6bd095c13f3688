"""Options that several commands share, and the run they name."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from tradesbench_gym.company.business import Business, open_business
from tradesbench_gym.errors import StateError

PolicyOption = Annotated[
    str,
    typer.Option(
        help="A policy's name, with settings if any (oracle:margin=20), or a function of your own: "
        "my_module:decide or path/to/file.py:decide."
    ),
]
SeedOption = Annotated[int, typer.Option(help="Number of the run.")]
DaysOption = Annotated[
    int | None, typer.Option(help="Length of the run; the scenario's if not given.")
]
ScenarioOption = Annotated[str, typer.Option(help="A scenario's name or file.")]
MapOption = Annotated[str, typer.Option("--map", help="A map's name or file.")]
StartOption = Annotated[
    str | None,
    typer.Option("--start-date", help="Day 0, such as 2026-10-01; the scenario's if not given."),
]
SaltOption = Annotated[
    str, typer.Option(help="The secret number of a sealed run, decimal or 0x...; 0: an open run.")
]
JsonOption = Annotated[bool, typer.Option("--json", help="Machine-readable output.")]


def open_with(scenario: str, map_name: str, days: int | None, start_date: str | None) -> Business:
    """The business that the options name."""
    return open_business(scenario, map_name, days, start_date)


def salt_number(text: str) -> int:
    """The salt as a number.

    Raises:
        StateError: text that is no whole number.

    """
    try:
        return int(text, 0)
    except ValueError:
        raise StateError(
            f"salt must be a whole number, decimal or 0x..., not {text!r}",
            code="salt",
            field="salt",
        ) from None


def check_writable(file: Path | None) -> None:
    """Raise StateError at once, rather than after the run, if a file cannot be written."""
    if file is None:
        return
    try:
        with file.open("a", encoding="utf-8"):
            pass
    except OSError as error:
        raise StateError(
            f"cannot write {file}: {error.strerror}", code="file", field="events"
        ) from None
