"""Builds a map from an extract: read, place, distances, file, each stage kept until the map stands.

It joins the other modules of this package, pins where the data came from and writes the map in one
atomic step. It shows nothing: whoever calls hears of progress through a function.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Final, Protocol

import numpy as np

from tradesbench_gym.errors import MapError
from tradesbench_gym.roads.content import About
from tradesbench_gym.roads.layout import Int32Array, Int64Array
from tradesbench_gym.roads.osm.area import Area
from tradesbench_gym.roads.osm.extract import Extract
from tradesbench_gym.roads.osm.osrm import Osrm
from tradesbench_gym.roads.osm.osrm_tools import find_tools
from tradesbench_gym.roads.osm.placing import Placed, place
from tradesbench_gym.roads.osm.reading import load_osmium, read_extract
from tradesbench_gym.roads.osm.routes import Scipy
from tradesbench_gym.roads.osm.stages import Stages
from tradesbench_gym.roads.roadmap import RoadMap, write_map
from tradesbench_gym.roads.shapes import straight_metres

ENGINES: Final = ("scipy", "osrm")
# Raise it when a stage's meaning changes: what an older build left is then not taken up.
STAGES_VERSION: Final = "4"
LICENCE: Final = "ODbL 1.0 (https://opendatacommons.org/licenses/odbl/1-0/)"
ATTRIBUTION: Final = (
    "© OpenStreetMap contributors, ODbL 1.0 (https://www.openstreetmap.org/copyright)"
)
ROUTE: Final = {
    "scipy": "fastest by class, maxspeed, one-way streets, signals and turns; its metres",
    "osrm": "fastest by OSRM's car profile, turns and their restrictions counted; its metres",
}
LEGS: Final = "nearest anchor by road, metres off the road included"
Progress = Callable[[str, int, int], None]


class Engine(Protocol):
    """What finds the routes between anchors."""

    name: str
    version: str

    def metres(self, anchors: Int64Array, done: int) -> Iterator[Int32Array]:
        """Rows `done` … of the matrix between nodes, some at a time."""


@dataclass(frozen=True, slots=True)
class Order:
    """What to build: the extract, the area, where to, and how."""

    extract: Path
    area: Area
    output: Path
    anchors: int
    engine: str = "scipy"
    osrm: Path | None = None


@dataclass(frozen=True, slots=True)
class Built:
    """A map as written, its digest, and what became of the extract's house numbers."""

    road_map: RoadMap
    digest: str
    counts: dict[str, int]


def build_map(order: Order, progress: Progress = lambda *_: None) -> Built:
    """Build and write a map; `progress` hears of each stage, counts done and in all (0: unknown).

    A build that is stopped keeps its finished stages beside the output, and the same order goes on
    from there. Raises MapError, one sentence, when something is wrong with what was given; nothing
    is left behind then.
    """
    _check(order)
    load_osmium()
    sha = _sha256(order.extract, progress)
    stages = Stages(order.output, _key(order, sha))
    try:
        built = _build(order, sha, stages, progress)
    except MapError as error:
        if error.code != "engine_failed":  # that one may pass with more memory; keep the rest
            stages.remove()
        raise
    stages.remove()
    return built


def _check(order: Order) -> None:
    if order.engine not in ENGINES:
        raise MapError(
            f"There is no routing engine '{order.engine}': name {' or '.join(ENGINES)}.",
            code="engine_unknown",
            field="engine",
        )
    if order.anchors < 1:
        raise MapError("A map needs at least one anchor.", code="no_anchors", field="anchors")
    if not order.extract.is_file():
        raise MapError(
            f"There is no extract {order.extract}, or it is no file.",
            code="extract_missing",
            field="pbf",
        )
    if not order.output.absolute().parent.is_dir():
        raise MapError(
            f"There is no folder {order.output.absolute().parent} to write the map to.",
            code="map_unwritable",
            field="output",
        )
    if order.output.is_dir():
        raise MapError(
            f"{order.output} is a folder: name a file for the map.", code="map_unwritable"
        )


def _key(order: Order, sha: str) -> dict[str, str]:
    return {
        "stages": STAGES_VERSION,
        "extract": sha,
        "area": order.area.digest,
        "anchors": str(order.anchors),
        "engine": order.engine,
        "osrm": str(order.osrm or ""),
    }


def _sha256(path: Path, progress: Progress) -> str:
    progress("extract", 0, 1)
    try:
        with path.open("rb") as stream:
            digest = hashlib.file_digest(stream, "sha256").hexdigest()
    except OSError as error:
        raise MapError(
            f"Cannot read the extract {path}: {error.strerror or error}.", code="extract_unreadable"
        ) from error
    progress("extract", 1, 1)
    return digest


def _build(order: Order, sha: str, stages: Stages, progress: Progress) -> Built:
    # Asked for first: who has no OSRM shall hear it before the long reading.
    tools = find_tools(order.osrm, stages.folder) if order.engine == "osrm" else None
    extract = _read(order, stages, progress)
    progress("places", 0, 1)
    placed = place(extract, order.area, order.anchors)
    ways, date = extract.ways.id, extract.date
    del extract  # the routes need the room
    progress("places", 1, 1)
    engine: Engine = Scipy(placed.roads)
    if tools is not None:
        where = (placed.roads.lat_e6, placed.roads.lon_e6)
        engine = Osrm(tools, order.extract, ways, where, stages.folder, progress)
    metres = _distances(engine, placed.anchors, stages, progress)
    progress("file", 0, 1)
    road_map = _assemble(placed, metres, _about(order, sha, date, engine))
    digest = write_map(order.output, road_map)
    progress("file", 1, 1)
    return Built(road_map, digest, placed.counts)


def _read(order: Order, stages: Stages, progress: Progress) -> Extract:
    kept: Extract | None = stages.load("read", Extract)
    if kept is None:
        area = order.area
        kept = read_extract(
            order.extract,
            area.bounds,
            area.road_bounds,
            lambda done, total: progress("objects", done, total),
        )
        stages.save("read", kept)
    count = len(kept.addresses.number) + len(kept.ways.id)
    progress("objects", count, count)
    return kept


def _distances(
    engine: Engine, anchors: Int64Array, stages: Stages, progress: Progress
) -> Int32Array:
    rows = stages.rows(len(anchors))
    progress("distances", rows.done, len(anchors))
    if rows.done < len(anchors):
        for block in engine.metres(anchors, rows.done):
            rows.add(block)
            progress("distances", rows.done, len(anchors))
    return rows.matrix()


def _about(order: Order, sha: str, date: str, engine: Engine) -> About:
    area = order.area
    day = date[:10] or "an unknown day"
    return About(
        name=area.name,
        title=area.title,
        state=area.state,
        source=f"OpenStreetMap, extract {order.extract.name} with data of {day}, SHA-256 {sha}.",
        licence=LICENCE,
        attribution=ATTRIBUTION,
        routing={
            "engine": engine.name,
            "version": engine.version,
            "route": ROUTE[engine.name],
            "legs": LEGS,
        },
        extract={
            "name": order.extract.name,
            "sha256": sha,
            "date": date,
            "area_sha256": area.digest,
        },
    )


def _no_shorter_than_straight(placed: Placed, metres: Int32Array) -> None:
    """Where two anchors are farther apart on the map than the road between them is long, the
    straight line counts: they stand at whole metres of a plane, which far north or south of its
    centre shows east-west lines a little too long.
    """
    lat, lon = placed.roads.lat_e6[placed.anchors], placed.roads.lon_e6[placed.anchors]
    for k in range(len(metres)):
        straight = straight_metres(placed.plane, (lat[k : k + 1], lon[k : k + 1]), (lat, lon))
        np.maximum(metres[k], straight, out=metres[k], casting="unsafe")


def _assemble(placed: Placed, metres: Int32Array, about: About) -> RoadMap:
    nodes = placed.anchors
    _no_shorter_than_straight(placed, metres)
    return RoadMap.from_arrays(
        about.name,
        placed.zones,
        placed.places,
        {
            "lat_e6": placed.roads.lat_e6[nodes],
            "lon_e6": placed.roads.lon_e6[nodes],
            "zone": placed.anchor_zone,
        },
        np.ascontiguousarray(metres, dtype=np.int32),
        table=placed.table,
        network=placed.every,
        plane=placed.plane,
        about=about,
    )
