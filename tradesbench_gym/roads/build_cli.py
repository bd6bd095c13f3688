"""What `tradesbench map build` does when it is called: progress, Ctrl-C, and what came of it.

It talks to people; building is the builders' business.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import asdict
from pathlib import Path
from typing import Any, Final, NoReturn

import typer
from rich.console import Console
from rich.progress import (
    BarColumn,
    MofNCompleteColumn,
    Progress,
    TextColumn,
    TimeElapsedColumn,
)

from tradesbench_gym.errors import INTERRUPTED, MapError
from tradesbench_gym.roads.circuity import circuity
from tradesbench_gym.roads.roadmap import write_map
from tradesbench_gym.roads.shipped import SHIPPED
from tradesbench_gym.roads.show import circuity_table

BUILDERS: Final = ("phoenix",)


def build_shipped(name: str, output: Path | None, as_json: bool) -> None:
    """Build a map that ships from its facts."""
    if name not in BUILDERS:
        raise MapError(
            f"There is no builder for '{name}': build one of {', '.join(BUILDERS)}, or give --pbf "
            "and --area to build a map from OpenStreetMap.",
            code="builder_unknown",
        )
    from tradesbench_gym.roads.phoenix.build import build_phoenix

    path = output or Path(f"{name}.tbmap")
    if not path.absolute().parent.is_dir():
        raise MapError(
            f"There is no folder {path.absolute().parent} to write the map to.",
            code="map_unwritable",
        )
    with progress() as report:
        road_map = build_phoenix(report)
        report("file", 0, 1)
        digest = write_map(path, road_map)
        report("file", 1, 1)
    same = digest == SHIPPED[name].digest
    if as_json:
        facts = {"file": str(path), "digest": digest, "addresses": len(road_map), "shipped": same}
        typer.echo(json.dumps(facts))
        return
    verdict = "the same as the map that ships" if same else "not the map that ships"
    size = path.stat().st_size / 1e6
    typer.echo(f"Built {path}: {len(road_map):,} addresses, {size:.1f} MB, digest {digest}")
    typer.echo(f"It is {verdict}.")


def build_from_extract(
    extract: Path, area_name: str, output: Path, anchors: int | None, engine: str,
    osrm: Path | None, as_json: bool,
) -> None:  # fmt: skip
    """Build a map from an OpenStreetMap extract and say what came of its house numbers."""
    from tradesbench_gym.roads.osm.area import find_area, load_area
    from tradesbench_gym.roads.osm.build import Order, build_map

    area = load_area(find_area(area_name))
    count = area.anchors if anchors is None else anchors
    order = Order(extract, area, output, count, engine, osrm)
    try:
        with progress() as report:
            built = build_map(order, report)
    except KeyboardInterrupt:
        _stopped(output)
    bands, size = circuity(built.road_map), output.stat().st_size
    about = built.road_map.about
    if as_json:
        facts = {
            "file": str(output), "digest": built.digest, "bytes": size,
            "addresses": len(built.road_map), "anchors": count, "counts": built.counts,
            "routing": about.routing, "extract": about.extract, "attribution": about.attribution,
            "circuity": [asdict(band) for band in bands],
        }  # fmt: skip
        typer.echo(json.dumps(facts, indent=2, ensure_ascii=False))
        return
    typer.echo(
        f"Built {output}: {len(built.road_map):,} addresses, {count:,} anchors, "
        f"{size / 1e6:.1f} MB, digest {built.digest[:12]}…"
    )
    for label, number in built.counts.items():
        if number:
            typer.echo(f"  {number:>9,}  {label}")
    Console(markup=False, emoji=False).print(circuity_table(bands))
    typer.echo(about.attribution)


def _stopped(output: Path) -> NoReturn:
    typer.echo(
        f"Stopped. What is finished is kept in .{output.name}.building; the same command goes on "
        "from there.",
        err=True,
    )
    raise typer.Exit(INTERRUPTED)


@contextmanager
def progress() -> Iterator[Callable[[str, int, int], None]]:
    """A bar a stage on the error stream; a stage whose end is not known only counts."""
    with Progress(
        TextColumn("{task.description:>14}"),
        BarColumn(),
        MofNCompleteColumn(),
        TimeElapsedColumn(),
        console=Console(markup=False, emoji=False, stderr=True),
    ) as bars:
        tasks: dict[str, Any] = {}

        def report(stage: str, done: int, total: int) -> None:
            if stage not in tasks:
                tasks[stage] = bars.add_task(stage, total=total or None)
            bars.update(tasks[stage], completed=done, total=total or None)

        yield report
