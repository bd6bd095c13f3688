"""Options of the commands that open a world file."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

FileArgument = Annotated[Path, typer.Argument(metavar="FILE", help="The world file.")]
MapOfFileOption = Annotated[
    str | None,
    typer.Option(
        "--map", help="The map's file, where the name that the run has for it is unknown here."
    ),
]
