"""`tradesbench map`: what a map holds, a picture of it, and building the one that ships.

The commands only talk to people; what they show or do is in the other modules of this package.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Annotated, Any, NoReturn

import numpy as np
import typer
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn
from rich.table import Table

from tradesbench_gym.errors import TradesBenchError
from tradesbench_gym.roads.content import PLANE_NAMES
from tradesbench_gym.roads.layout import Kind
from tradesbench_gym.roads.roadmap import RoadMap, open_map, write_map
from tradesbench_gym.roads.shipped import SHIPPED

map_app = typer.Typer(
    add_completion=False,
    name="map",
    help="Inspect, draw and build road maps.",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
)

NameArgument = Annotated[str, typer.Argument(help="A shipped map or the path of a .tbmap file.")]
BUILDERS = ("phoenix",)


@map_app.command()
def info(
    name: NameArgument = "phoenix",
    as_json: Annotated[bool, typer.Option("--json", help="Machine-readable output.")] = False,
) -> None:
    """Show what a map holds: zones, counts, plane, source and licence.

    Example: tradesbench map info phoenix --json
    """
    road_map = _open(name)
    facts = summary(road_map)
    if as_json:
        typer.echo(json.dumps(facts, indent=2, ensure_ascii=False))
        return
    console = Console()
    console.print(f"[bold]{road_map.about.title}[/bold] ({road_map.name})", highlight=False)
    lines = Table.grid(padding=(0, 2))
    for key in ("addresses", "anchors", "streets", "junctions", "road_stretches", "digest"):
        lines.add_row(key.replace("_", " "), _shown(facts[key]))
    for key in ("source", "licence", "attribution"):
        lines.add_row(key, str(facts[key]))
    console.print(lines)
    console.print(_zone_table(facts))


@map_app.command()
def draw(
    file: Annotated[Path, typer.Argument(help="The image to write, such as phoenix.png.")],
    name: NameArgument = "phoenix",
    anchors: Annotated[bool, typer.Option("--anchors", help="Show the anchors too.")] = False,
) -> None:
    """Draw a map into an image file.

    Example: tradesbench map draw phoenix.png
    """
    from tradesbench_gym.roads.draw import draw_map

    road_map = _open(name)
    try:
        draw_map(road_map, file, anchors=anchors)
    except TradesBenchError as error:
        _refuse(error.message)
    typer.echo(f"Drew {road_map.name} into {file}.")


@map_app.command()
def build(
    name: Annotated[str, typer.Argument(help="The map to build.")],
    output: Annotated[
        Path | None, typer.Option("-o", "--output", help="Where to write it [NAME.tbmap].")
    ] = None,
) -> None:
    """Build a map from its facts and write it to a file.

    Example: tradesbench map build phoenix -o phoenix.tbmap
    """
    if name not in BUILDERS:
        _refuse(f"There is no builder for '{name}': build one of {', '.join(BUILDERS)}.")
    from tradesbench_gym.roads.phoenix.build import build_phoenix

    path = output or Path(f"{name}.tbmap")
    if not path.absolute().parent.is_dir():
        _refuse(f"There is no folder {path.absolute().parent} to write the map to.")
    try:
        with _progress() as progress:
            tasks: dict[str, Any] = {}

            def report(stage: str, done: int, total: int) -> None:
                if stage not in tasks:
                    tasks[stage] = progress.add_task(stage, total=total)
                progress.update(tasks[stage], completed=done)

            road_map = build_phoenix(report)
            report("file", 0, 1)
            digest = write_map(path, road_map)
            report("file", 1, 1)
    except TradesBenchError as error:
        _refuse(error.message)
    shipped = SHIPPED[name].digest
    verdict = "the same as the map that ships" if digest == shipped else "not the map that ships"
    size = path.stat().st_size / 1e6
    typer.echo(f"Built {path}: {len(road_map):,} addresses, {size:.1f} MB, digest {digest}")
    typer.echo(f"It is {verdict}.")


def summary(road_map: RoadMap) -> dict[str, Any]:
    """What `info` shows, as plain values."""
    content = road_map.content
    per_zone = np.bincount(road_map.places["zone"], minlength=len(road_map.zones))
    per_group = np.diff(road_map.pool_start).reshape(-1, len(Kind))
    return {
        "name": road_map.name,
        "title": road_map.about.title,
        "digest": road_map.digest,
        "addresses": len(road_map.places),
        "anchors": len(road_map.anchors),
        "streets": len(content.table.streets),
        "junctions": len(content.network.nodes),
        "road_stretches": len(content.network.edges),
        "plane": {name: getattr(road_map.plane, name) for name in PLANE_NAMES},
        "routing": dict(road_map.about.routing),
        "source": road_map.source,
        "licence": road_map.licence,
        "attribution": road_map.attribution,
        "zones": [
            {
                "zone": number,
                "name": zone.name,
                "lat": zone.lat,
                "lon": zone.lon,
                "share": zone.share,
                "addresses": int(per_zone[number]),
                **{kind.name.lower(): int(per_group[number, kind]) for kind in Kind},
            }
            for number, zone in enumerate(road_map.zones)
        ],
    }


def _zone_table(facts: dict[str, Any]) -> Table:
    table = Table("zone", "name", "centre", title="Service zones")
    for heading in ("share %", "addresses", "residential", "apartment", "commercial"):
        table.add_column(heading, justify="right")
    for zone in facts["zones"]:
        counts = [f"{zone[k]:,}" for k in ("addresses", "residential", "apartment", "commercial")]
        centre = f"{zone['lat']:.3f}, {zone['lon']:.3f}"
        table.add_row(str(zone["zone"]), zone["name"], centre, f"{zone['share']:g}", *counts)
    return table


def _shown(value: Any) -> str:
    return f"{value:,}" if isinstance(value, int) else str(value)


def _progress() -> Progress:
    return Progress(
        TextColumn("{task.description:>14}"),
        BarColumn(),
        MofNCompleteColumn(),
        TimeElapsedColumn(),
        console=Console(stderr=True),
    )


def _open(name: str) -> RoadMap:
    try:
        return open_map(name)
    except TradesBenchError as error:
        _refuse(error.message)


def _refuse(message: str) -> NoReturn:
    typer.echo(f"error: {message}", err=True)
    raise typer.Exit(2)
