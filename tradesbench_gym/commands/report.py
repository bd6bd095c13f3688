"""`tradesbench report`: one HTML page about one run or several, that needs no network."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Annotated

import typer

from tradesbench_gym.commands.options import JsonOption
from tradesbench_gym.commands.world_options import MapOfFileOption
from tradesbench_gym.envs.wording import dollars
from tradesbench_gym.errors import StateError
from tradesbench_gym.report.html.facts import Run
from tradesbench_gym.report.html.page import MOST_DETAILED, render
from tradesbench_gym.report.html.reading import read_runs

_DATABASE = b"SQLite format 3\0"


def report(
    runs: Annotated[
        list[str],
        typer.Argument(
            metavar="RUN...",
            help="World files, or run folders with world.sqlite in them; NAME=RUN says who played.",
        ),
    ],
    output: Annotated[
        Path, typer.Option("--output", "-o", help="The page; an older one is replaced.")
    ] = Path("report.html"),
    map_name: MapOfFileOption = None,
    detailed: Annotated[
        int, typer.Option(min=1, help="How many runs are shown in full; all are compared.")
    ] = MOST_DETAILED,
    as_json: JsonOption = False,
) -> None:
    """Write one HTML page about one run or several.

    It shows money, calendar, map, callers and lost appointments. Each run is played again and every
    step proven. Several runs are compared by the name they go by, which is that of their file
    without the seed, or given as NAME=RUN; runs of the same draws are paired. The files are not
    touched.

    Example: tradesbench report run5.sqlite -o run5.html

    Example: tradesbench report oracle-*.sqlite mine=runs/7.sqlite -o compared.html
    """
    _check_output(output)
    found = read_runs(runs, map_name)
    page = render(found, most=detailed).encode(errors="replace")  # a file's name may be any bytes
    _write(output, page)
    if as_json:
        plain = {"file": str(output), "bytes": len(page), "runs": [_plain(run) for run in found]}
        typer.echo(json.dumps(plain, indent=2))
        return
    for run in found:
        typer.echo(_line(run))
    typer.echo(f"{output}: {len(page) / 1e6:.1f} MB; open it in any browser.")


def _line(run: Run) -> str:
    business, results = run.business, run.results
    if run.bankrupt:
        state = f"bankrupt on day {results.bankrupt_on} of {business.days}"
    elif run.ended:
        state = f"{business.days} days"
    else:
        state = f"unfinished, day {max(1, len(run.days))} of {business.days}"
    profit = dollars(results.profit)
    return f"{run.name}, seed {run.seed}: {profit} profit, {len(run.calls)} calls, {state}"


def _plain(run: Run) -> dict[str, object]:
    return {
        "name": run.name,
        "path": str(run.path),
        "ended": run.ended,
        "digest": run.digest,
        "results": run.results.as_dict(),
    }


def _check_output(output: Path) -> None:
    """Raise StateError before the work is done, and never replace a world file by a page."""
    if output.is_dir():
        raise _unwritable(output, "it is a folder")
    if not output.parent.is_dir():
        raise _unwritable(output, f"there is no folder {output.parent}")
    if output.is_file():
        with output.open("rb") as file:
            if file.read(len(_DATABASE)) == _DATABASE:
                raise _unwritable(output, "it is a database, perhaps a run: name another file")


def _unwritable(output: Path, why: str) -> StateError:
    return StateError(f"cannot write the page {output}: {why}", code="file", field="output")


def _write(output: Path, page: bytes) -> None:
    """The whole page or nothing appears under its name."""
    draft = output.with_name(f".{output.name}.{os.getpid()}.new")
    try:
        draft.write_bytes(page)
        draft.replace(output)
    except OSError as error:
        raise _unwritable(output, str(error.strerror)) from None
    finally:
        draft.unlink(missing_ok=True)
