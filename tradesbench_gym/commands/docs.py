"""`tradesbench docs`: what an agent finds in its workspace to read, written into a folder."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Annotated

import typer

from tradesbench_gym.commands.options import (
    DaysOption,
    JsonOption,
    MapOption,
    ScenarioOption,
    StartOption,
    open_with,
)
from tradesbench_gym.errors import StateError, needs


def docs(
    folder: Annotated[Path, typer.Argument(help="The workspace; it is made if need be.")],
    scenario: ScenarioOption = "sunridge",
    map_name: MapOption = "phoenix",
    days: DaysOption = None,
    start_date: StartOption = None,
    as_json: JsonOption = False,
) -> None:
    """Write docs/ into a folder: the reference of the company's API, and its HANDBOOK.md.

    Both are made from what they describe: the operations and views as they are, and the numbers of
    the scenario that its people know. Documents written before are replaced, other files never.

    Example: tradesbench docs workspace

    Example: tradesbench docs workspace --scenario my.toml
    """
    try:
        from tradesbench_gym.api.docs import write_docs
    except ModuleNotFoundError as error:
        raise StateError(needs("docs", error.name, "api"), code="not_installed") from None
    files = write_docs(folder, open_with(scenario, map_name, days, start_date))
    if as_json:
        typer.echo(json.dumps({"files": [str(file) for file in files]}))
        return
    typer.echo(f"Wrote {files[0].parent}: {len(files)} pages, begin with {files[0].name}.")
