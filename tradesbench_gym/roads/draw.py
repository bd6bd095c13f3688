"""Draws a road map: roads by class, zones, barriers, anchors. matplotlib is loaded only here.

It reads a `RoadMap` and decides nothing about it; whatever a map holds is drawn, and no city is known.
"""

from __future__ import annotations

import math
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from tradesbench_gym.errors import MapError
from tradesbench_gym.roads.layout import MICRODEGREES, Road
from tradesbench_gym.roads.roadmap import RoadMap

if TYPE_CHECKING:
    from matplotlib.axes import Axes

# Okabe and Ito's palette, which colour-blind readers tell apart; class -> colour, width, label.
STYLE: Final[dict[Road, tuple[str, float, str]]] = {
    Road.LOCAL: ("#d9d9d9", 0.25, "residential street"),
    Road.COLLECTOR: ("#b5b5b5", 0.4, "half-mile collector"),
    Road.ARTERIAL: ("#707070", 0.8, "arterial"),
    Road.FREEWAY: ("#d55e00", 2.4, "freeway"),
}
ZONE_COLOURS: Final = (
    "#0072b2", "#e69f00", "#009e73", "#cc79a7", "#56b4e9",
    "#f0e442", "#999999", "#8c510a", "#5ab4ac", "#7b3294",
)  # fmt: skip
ZONE_SAMPLE: Final = 40_000
DIAGONAL: Final = ("#332288", 1.7, "diagonal avenue")
LAND: Final = {"mountain": "#cdbb96", "airport": "#bdbdbd"}
WATER: Final = "#7fb8dc"
METRES_PER_DEGREE: Final = 111_000
LABEL_METRES: Final = 28_000


def draw_map(road_map: RoadMap, path: Path, *, anchors: bool = False) -> None:
    """Draw `road_map` into an image file; raises MapError without matplotlib or with a bad path."""
    try:
        import matplotlib

        matplotlib.use("Agg")
        from matplotlib import pyplot
    except ImportError:
        raise MapError(
            "Drawing a map needs matplotlib: pip install 'tradesbench-gym[plot]'.",
            code="plot_missing",
        ) from None
    figure, axes = pyplot.subplots(figsize=(15, 12.5), dpi=130)
    try:
        _zones(axes, road_map)
        _landmarks(axes, road_map)
        _roads(axes, road_map)
        if anchors:
            _anchors(axes, road_map)
        _frame(axes, road_map)
        figure.tight_layout()
        figure.savefig(path)
    except (OSError, ValueError) as error:
        raise MapError(f"Cannot draw into {path}: {error}.", code="plot_unwritable") from error
    finally:
        pyplot.close(figure)


def _zones(axes: Axes, road_map: RoadMap) -> None:
    step = max(1, len(road_map.places) // ZONE_SAMPLE)
    shown = road_map.places[::step]
    for zone, about in enumerate(road_map.zones):
        mine = shown[shown["zone"] == zone]
        colour = ZONE_COLOURS[zone % len(ZONE_COLOURS)]
        axes.scatter(
            mine["lon_e6"] / MICRODEGREES,
            mine["lat_e6"] / MICRODEGREES,
            s=7, color=colour, alpha=0.22, linewidths=0, zorder=1, rasterized=True,
        )  # fmt: skip
        axes.annotate(
            about.name.replace("/", "/\n"),
            (about.lon, about.lat),
            ha="center", va="center", fontsize=11, fontweight="bold", color="#111111", zorder=9,
            bbox={"boxstyle": "round,pad=0.3", "fc": "white", "ec": colour, "lw": 2, "alpha": 0.88},
        )  # fmt: skip


def _landmarks(axes: Axes, road_map: RoadMap) -> None:
    for mark in road_map.landmarks:
        lats, lons = [p[0] for p in mark.points], [p[1] for p in mark.points]
        place = lons[len(lons) // 2], lats[len(lats) // 2]
        if mark.kind in LAND:
            axes.fill(lons, lats, facecolor=LAND[mark.kind], edgecolor="none", zorder=1.5)
            place = (min(lons) + max(lons)) / 2, (min(lats) + max(lats)) / 2
        else:
            _band(axes, lats, lons, mark.width)
        axes.annotate(
            mark.name, place, ha="center", va="center", fontsize=8.5, style="italic", zorder=8,
            color="#22506f" if mark.kind not in LAND else "#4d3f1e", bbox=HALO,
        )  # fmt: skip


HALO: Final = {"boxstyle": "round,pad=0.12", "fc": "white", "ec": "none", "alpha": 0.7}


def _band(axes: Axes, lats: list[float], lons: list[float], metres: int) -> None:
    """A line of a width given in metres on the ground, not in points on the paper."""
    squeeze = math.cos(math.radians(lats[0]))
    half = metres / 2 / METRES_PER_DEGREE
    for k in range(len(lats) - 1):
        east, north = (lons[k + 1] - lons[k]) * squeeze, lats[k + 1] - lats[k]
        length = math.hypot(east, north)
        off_lat, off_lon = half * east / length, -half * north / length / squeeze
        axes.fill(
            [lons[k] + off_lon, lons[k + 1] + off_lon, lons[k + 1] - off_lon, lons[k] - off_lon],
            [lats[k] + off_lat, lats[k + 1] + off_lat, lats[k + 1] - off_lat, lats[k] - off_lat],
            facecolor=WATER, edgecolor=WATER, linewidth=0.5, zorder=1.6,
        )  # fmt: skip


def _roads(axes: Axes, road_map: RoadMap) -> None:
    edges = road_map.network.edges
    diagonal = _diagonal(road_map)
    for rank, (road, (colour, width, label)) in enumerate(STYLE.items()):
        chosen = (edges["road"] == road) & ~(diagonal & (edges["road"] == Road.ARTERIAL))
        _lines(axes, road_map, chosen, colour, width, label, 2 + rank)
    colour, width, label = DIAGONAL
    _lines(axes, road_map, diagonal, colour, width, label, 4.5)
    _labels(axes, road_map, edges["road"] == Road.FREEWAY, "#a34700", "white")
    _labels(axes, road_map, diagonal, "white", DIAGONAL[0])


def _diagonal(road_map: RoadMap) -> Any:
    """Which named arterial edges run neither along a parallel nor along a meridian."""
    nodes, edges = road_map.network.nodes, road_map.network.edges
    north = np.abs(nodes["lat_e6"][edges["tail"]] - nodes["lat_e6"][edges["head"]])
    east = np.abs(nodes["lon_e6"][edges["tail"]] - nodes["lon_e6"][edges["head"]])
    slanted = (4 * north > east) & (4 * east > north)
    named = edges["name"] >= 0
    names = edges["name"][(edges["road"] == Road.ARTERIAL) & named & slanted]
    return (edges["road"] == Road.ARTERIAL) & named & np.isin(edges["name"], np.unique(names))


def _lines(
    axes: Axes, road_map: RoadMap, chosen: Any, colour: str, width: float, label: str, order: float
) -> None:
    from matplotlib.collections import LineCollection

    if not chosen.any():
        return
    points, edges = _points(road_map), road_map.network.edges[chosen]
    lines = np.stack([points[edges["tail"]], points[edges["head"]]], axis=1)
    axes.add_collection(
        LineCollection(
            list(lines), colors=colour, linewidths=width, zorder=order, label=label,
            capstyle="round",
        )
    )  # fmt: skip


def _points(road_map: RoadMap) -> Any:
    nodes = road_map.network.nodes
    return np.stack([nodes["lon_e6"], nodes["lat_e6"]], axis=1) / MICRODEGREES


def _labels(axes: Axes, road_map: RoadMap, chosen: Any, back: str, ink: str) -> None:
    """The names of roads, on the road, one for every `LABEL_METRES` of it."""
    points, edges, names = _points(road_map), road_map.network.edges, road_map.network.names
    for name in np.unique(edges["name"][chosen]).tolist():
        mine = edges[chosen & (edges["name"] == name)]
        if name < 0 or not len(mine):
            continue
        reached = np.cumsum(mine["metres"])
        count = max(1, round(int(reached[-1]) / LABEL_METRES))
        for k in range(count):
            at = int(np.searchsorted(reached, reached[-1] * (2 * k + 1) // (2 * count)))
            place = (points[mine["tail"][at]] + points[mine["head"][at]]) / 2
            axes.annotate(
                names[name], place, ha="center", va="center", fontsize=8.5, fontweight="bold",
                color=ink, zorder=8.5,
                bbox={"boxstyle": "round,pad=0.2", "fc": back, "ec": ink, "lw": 0.6},
            )  # fmt: skip


def _frame(axes: Axes, road_map: RoadMap) -> None:
    nodes = road_map.network.nodes if len(road_map.network.nodes) else road_map.places
    lat, lon = nodes["lat_e6"] / MICRODEGREES, nodes["lon_e6"] / MICRODEGREES
    middle = math.radians((float(lat.min()) + float(lat.max())) / 2)
    axes.set_aspect(1 / math.cos(middle))
    axes.set_xlim(lon.min() - 0.01, lon.max() + 0.01)
    axes.set_ylim(lat.min() - 0.01, lat.max() + 0.01)
    axes.set_xlabel("longitude (degrees)")
    axes.set_ylabel("latitude (degrees)")
    axes.set_title(
        f"{road_map.about.title}\n{len(road_map.places):,} addresses, "
        f"{len(road_map.anchors):,} anchors, {len(road_map.zones)} service zones",
        fontsize=15,
    )
    axes.legend(loc="lower left", fontsize=11, framealpha=0.95)
    axes.text(
        0.995, 0.005, f"{road_map.licence}\n{road_map.attribution}", transform=axes.transAxes, ha="right", va="bottom",
        fontsize=7, color="#444444", wrap=True,
    )  # fmt: skip


def _anchors(axes: Axes, road_map: RoadMap) -> None:
    at: Any = road_map.anchors
    axes.scatter(
        at["lon_e6"] / MICRODEGREES, at["lat_e6"] / MICRODEGREES, s=4, color="black", zorder=8,
        label="anchor",
    )  # fmt: skip
