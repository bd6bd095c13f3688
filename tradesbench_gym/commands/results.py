"""`tradesbench results`: what runs of agents came to, every one of them, beside the oracle."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from rich.console import Console

from tradesbench_gym.commands.options import JsonOption
from tradesbench_gym.commands.world_options import MapOfFileOption
from tradesbench_gym.errors import StateError, needs

if TYPE_CHECKING:
    from tradesbench_gym.harness.results import RunFacts

FoldersArgument = Annotated[
    list[Path], typer.Argument(metavar="FOLDER", help="Folders of runs.", show_default=False)
]


def results(
    folders: FoldersArgument, map_name: MapOfFileOption = None, as_json: JsonOption = False
) -> None:
    """Print the results of every run given, with means and the difference to the oracle.

    Runs of one agent and model on comparable worlds are averaged; unfinished ones are shown as far
    as they came, and are in no mean. The oracle plays the world of each finished run: same seed,
    same salt.

    Example: tradesbench results runs/*
    """
    check_installed("results")
    from tradesbench_gym.harness.results import grouped, read_facts
    from tradesbench_gym.harness.results.tables import print_results

    found: list[RunFacts] = [read_facts(folder, map=map_name) for folder in _once(folders)]
    groups = grouped(found)
    if as_json:
        said = {
            "runs": [run.as_dict() for run in found],
            "groups": [group.as_dict() for group in groups],
        }
        typer.echo(json.dumps(said, indent=2))
    else:
        print_results(Console(markup=False, emoji=False, highlight=False), groups)


def _once(folders: list[Path]) -> list[Path]:
    """The folders, if each is named once: a run that counts twice would pass for two."""
    seen: set[Path] = set()
    for folder in folders:
        place = folder.resolve()
        if place in seen:
            raise StateError(f"{folder} is given twice", code="twice", field="folder")
        seen.add(place)
    return folders


def check_installed(command: str) -> None:
    """Raise StateError if what plays and reads agents' runs is not installed."""
    try:
        import fastapi  # noqa: F401 - only whether it is there
        import httpx  # noqa: F401 - likewise
        import pydantic  # noqa: F401 - likewise
        import uvicorn  # noqa: F401 - likewise
    except ModuleNotFoundError as error:
        raise StateError(needs(command, error.name, "harness"), code="not_installed") from None
