"""`tradesbench map`: what a map holds, a picture of it, two maps compared, and building one.

The commands only talk to people; what they show or do is in the other modules of this package.
"""

from __future__ import annotations

import json
from dataclasses import asdict
from pathlib import Path
from typing import Annotated, Any, NoReturn

import numpy as np
import typer
from rich.console import Console
from rich.table import Table
from rich.text import Text

from tradesbench_gym.errors import TradesBenchError
from tradesbench_gym.roads.circuity import circuity
from tradesbench_gym.roads.content import PLANE_NAMES
from tradesbench_gym.roads.layout import Kind
from tradesbench_gym.roads.roadmap import RoadMap, open_map
from tradesbench_gym.roads.show import (
    circuity_table,
    comparison_table,
    differences_text,
    shown,
    zone_table,
)

map_app = typer.Typer(
    add_completion=False,
    name="map",
    help="Inspect, draw and build road maps.",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
)

JsonOption = Annotated[bool, typer.Option("--json", help="Machine-readable output.")]
PbfOption = Annotated[
    Path | None, typer.Option("--pbf", help="An OpenStreetMap extract (.osm.pbf, .osm).")
]
NameArgument = Annotated[str, typer.Argument(help="A shipped map or the path of a .tbmap file.")]


@map_app.command()
def info(
    name: NameArgument = "phoenix",
    with_circuity: Annotated[
        bool, typer.Option("--circuity", help="Road over straight line, by distance.")
    ] = False,
    as_json: JsonOption = False,
) -> None:
    """Show what a map holds: zones, counts, plane, source and licence.

    Example: tradesbench map info phoenix --json
    """
    road_map = _open(name)
    facts = summary(road_map)
    bands = circuity(road_map) if with_circuity else ()
    if with_circuity:
        facts["circuity"] = [asdict(band) for band in bands]
    if as_json:
        typer.echo(json.dumps(facts, indent=2, ensure_ascii=False))
        return
    console = Console(markup=False, emoji=False)
    console.print(Text.assemble((road_map.about.title, "bold"), f" ({road_map.name})"))
    lines = Table.grid(padding=(0, 2))
    lines.add_column(no_wrap=True)
    lines.add_column(overflow="fold")
    for key in ("addresses", "anchors", "streets", "junctions", "road_stretches", "digest"):
        lines.add_row(key.replace("_", " "), shown(facts[key]))
    engine = " ".join(facts["routing"].get(key, "") for key in ("engine", "version")).strip()
    lines.add_row("routing", engine or "unknown")
    for key in ("source", "licence", "attribution"):
        lines.add_row(key, str(facts[key]))
    console.print(lines)
    console.print(zone_table(facts["zones"]))
    if with_circuity:
        console.print(circuity_table(bands))


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
    target: Annotated[
        str, typer.Argument(help="With --pbf the file to write; else the map that ships, by name.")
    ],
    pbf: PbfOption = None,
    area: Annotated[
        str | None, typer.Option("--area", help="The area's TOML file, or one that ships: phoenix.")
    ] = None,
    anchors: Annotated[
        int | None, typer.Option("--anchors", help="Number of anchors (the area's; 2,116).")
    ] = None,
    engine: Annotated[
        str, typer.Option("--engine", help="What finds the routes: scipy or osrm.")
    ] = "scipy",
    osrm: Annotated[
        Path | None,
        typer.Option("--osrm", help="OSRM: the wheel of osrm-bindings, or a folder of programs."),
    ] = None,
    output: Annotated[
        Path | None, typer.Option("-o", "--output", help="Where to write the map (NAME.tbmap).")
    ] = None,
    as_json: JsonOption = False,
) -> None:
    """Build a map: from an OpenStreetMap extract, or the one that ships from its facts.

    Example: tradesbench map build --pbf arizona-latest.osm.pbf --area phoenix.toml real.tbmap

    Example: tradesbench map build phoenix -o phoenix.tbmap
    """
    from tradesbench_gym.roads.build_cli import build_from_extract, build_shipped

    try:
        if pbf is None and (area, anchors, osrm) == (None, None, None):
            build_shipped(target, output, as_json)
        elif pbf is None or area is None:
            _refuse("A map from OpenStreetMap needs both --pbf and --area.")
        else:
            build_from_extract(pbf, area, output or Path(target), anchors, engine, osrm, as_json)
    except TradesBenchError as error:
        _refuse(error.message)


@map_app.command()
def compare(
    first: Annotated[str, typer.Argument(help="A shipped map or the path of a .tbmap file.")],
    second: Annotated[str, typer.Argument(help="Another.")],
    picture: Annotated[
        Path | None, typer.Option("--draw", help="Draw both side by side into an image file.")
    ] = None,
    as_json: JsonOption = False,
) -> None:
    """Show two maps side by side: sizes, distances, circuity, pairs without a way.

    Example: tradesbench map compare phoenix real.tbmap --draw both.png
    """
    from tradesbench_gym.roads.compare import compare as compared
    from tradesbench_gym.roads.draw import draw_maps

    maps = [_open(first), _open(second)]
    facts = compared(*maps)
    if as_json:
        typer.echo(json.dumps(facts, indent=2, ensure_ascii=False))
    else:
        console = Console(markup=False, emoji=False)
        console.print(comparison_table(facts))
        console.print(differences_text(facts["pairs"]), highlight=False)
    if picture is None:
        return
    try:
        draw_maps(maps, picture)
    except TradesBenchError as error:
        _refuse(error.message)
    if not as_json:
        typer.echo(f"Drew both into {picture}.")


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
        "extract": dict(road_map.about.extract),
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


def _open(name: str) -> RoadMap:
    try:
        return open_map(name)
    except TradesBenchError as error:
        _refuse(error.message)


def _refuse(message: str) -> NoReturn:
    typer.echo(f"error: {message}", err=True)
    raise typer.Exit(2)
