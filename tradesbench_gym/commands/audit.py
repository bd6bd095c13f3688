"""`tradesbench audit`: prove that a world file holds a run as the rules play it, cell by cell."""

from __future__ import annotations

import json
from typing import Annotated

import typer

from tradesbench_gym.commands.options import JsonOption
from tradesbench_gym.commands.world_options import FileArgument, MapOfFileOption
from tradesbench_gym.world import AuditReport
from tradesbench_gym.world import audit as audit_file

CHANGED = 1
_SHOWN = 20


def audit(
    file: FileArgument,
    map_name: MapOfFileOption = None,
    digest: Annotated[
        str | None,
        typer.Option(help="The final digest as it was published: it must be this file's."),
    ] = None,
    as_json: JsonOption = False,
) -> None:
    """Play the run of a world file again and prove every row of it.

    The file is not touched. Exits 0 if everything is as the rules make it, and 1 if anything was
    changed.

    Example: tradesbench audit run5.sqlite
    """
    report = audit_file(file, map=map_name, digest=digest)
    if as_json:
        typer.echo(json.dumps(report.as_dict(), indent=2))
    else:
        _print(report, str(file))
    if not report.ok:
        raise typer.Exit(CHANGED)


def _print(report: AuditReport, file: str) -> None:
    proven = (
        f"{report.commands} commands, {report.events} events, {report.calls} calls, "
        f"{report.ledger_rows} ledger rows"
    )
    if report.ok:
        typer.echo(f"{file} is proven: {proven}")
        typer.echo(f"final digest {report.digest}")
        return
    count = len(report.findings)
    typer.echo(f"{file} was changed, in {count} place{'' if count == 1 else 's'}:")
    for finding in report.findings[:_SHOWN]:
        typer.echo(f"  {finding}")
    if count > _SHOWN:
        typer.echo(f"  … and {count - _SHOWN} more (--json has them all)")
    if not report.complete:
        typer.echo(f"The proof ends there; before it stand {proven}.")
