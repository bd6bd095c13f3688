"""`tradesbench verify`: prove the folder of an agent's run, check by check."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from rich.console import Console
from rich.text import Text

from tradesbench_gym.commands.options import JsonOption
from tradesbench_gym.commands.results import check_installed
from tradesbench_gym.commands.world_options import MapOfFileOption

if TYPE_CHECKING:
    from tradesbench_gym.harness.results import Line

UNPROVEN = 1


def verify(
    folder: Annotated[Path, typer.Argument(help="The folder of a run.", show_default=False)],
    map_name: MapOfFileOption = None,
    digest: Annotated[
        str | None,
        typer.Option(help="The world's final digest as it was published: it must be this run's."),
    ] = None,
    as_json: JsonOption = False,
) -> None:
    """Replay the run of a folder and prove its score and everything that is told of it.

    Each check is one line. Exits 0 if all of them hold, and 1 if one does not: the first that fails
    is named at the end.

    Example: tradesbench verify my-run
    """
    check_installed("verify")
    from tradesbench_gym.harness.results import prove

    lines: list[Line] = []
    console = Console(markup=False, emoji=False, highlight=False)
    for line in prove(folder, known_map=map_name, digest=digest):
        lines.append(line)
        if not as_json:
            _print(console, line)
    failed = next((line for line in lines if not line.holds), None)
    if as_json:
        first = None if failed is None else failed.name
        said = {"proven": failed is None, "first_failing": first}
        typer.echo(json.dumps({**said, "checks": [line.as_dict() for line in lines]}, indent=2))
    elif failed is None:
        typer.echo(f"{folder} is proven: {len(lines)} checks hold")
    else:
        typer.echo(f"{folder} is not proven: {failed.name}: {failed.found}")
    if failed is not None:
        raise typer.Exit(UNPROVEN)


def _print(console: Console, line: Line) -> None:
    mark = Text("ok  ", "green") if line.holds else Text("FAIL", "bold red")
    console.print(Text.assemble(mark, f" {line.name:<9} ", line.proves), soft_wrap=True)
    console.print(Text(f"               {line.found}", "dim" if line.holds else ""), soft_wrap=True)
