"""Draws a road map: roads by class, zones, barriers, anchors. matplotlib is loaded only here.

It reads a `RoadMap` and decides nothing about it; whatever a map holds is drawn, and no city is
known.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from itertools import pairwise, product
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from tradesbench_gym.errors import MapError, needs
from tradesbench_gym.roads.layout import MICRODEGREES, Road
from tradesbench_gym.roads.roadmap import RoadMap

if TYPE_CHECKING:
    from matplotlib.axes import Axes

# Okabe and Ito's palette, which colour-blind readers tell apart; class -> colour, width, label.
STYLE: Final[dict[Road, tuple[str, float, str]]] = {
    Road.LOCAL: ("#d9d9d9", 0.25, "local street"),
    Road.COLLECTOR: ("#b5b5b5", 0.4, "collector"),
    Road.ARTERIAL: ("#5a5a5a", 0.9, "arterial"),
    Road.FREEWAY: ("#d55e00", 2.4, "freeway"),
}
ZONE_COLOURS: Final = (
    "#0072b2", "#e69f00", "#009e73", "#cc79a7", "#56b4e9",
    "#f0e442", "#999999", "#8c510a", "#5ab4ac", "#7b3294",
)  # fmt: skip
ZONE_SAMPLE: Final = 40_000
DIAGONAL: Final = ("#332288", 1.7, "avenue off the grid")
BRIDGE: Final = ("#000000", 2.2, "bridge")
LAND: Final = {"mountain": "#cdbb96", "airport": "#bdbdbd"}
WATER: Final = "#7fb8dc"
METRES_PER_DEGREE: Final = 111_000
LABEL_METRES: Final = 28_000
SHORTEST_LABELLED_METRES: Final = 4_000
LETTER_DEGREES: Final = 0.0033
LINE_DEGREES: Final = 0.017
# The sizes above are those of a map of this extent; others are drawn in proportion to theirs.
EXTENT_DEGREES: Final = (0.63, 0.97)
WIDEST_LINES: Final = 3.0


def draw_map(road_map: RoadMap, path: Path, *, anchors: bool = False) -> None:
    """Draw `road_map` into an image file; raises MapError without matplotlib or with a bad path."""
    draw_maps([road_map], path, anchors=anchors)


def draw_maps(road_maps: Sequence[RoadMap], path: Path, *, anchors: bool = False) -> None:
    """Draw maps side by side into an image file; raises MapError as `draw_map` does."""
    try:
        from matplotlib.backends.backend_agg import FigureCanvasAgg
        from matplotlib.figure import Figure
    except ImportError:
        raise MapError(
            needs("Drawing a map", "matplotlib", "plot") + ".", code="plot_missing"
        ) from None
    # Drawn without pyplot: no window, no global state, whatever the user's settings.
    figure = Figure(figsize=(15 * len(road_maps), 12.5), dpi=130)
    FigureCanvasAgg(figure)
    try:
        for place, road_map in enumerate(road_maps, start=1):
            _draw(figure.add_subplot(1, len(road_maps), place), road_map, anchors)
        figure.tight_layout()
        figure.savefig(path, bbox_inches="tight", pad_inches=0.3)
    except (OSError, ValueError) as error:
        raise MapError(f"Cannot draw into {path}: {error}.", code="plot_unwritable") from error


def _draw(axes: Axes, road_map: RoadMap, anchors: bool) -> None:
    scale = _scale(road_map)
    labels = Labels(axes, scale)
    _zones(axes, road_map, labels)
    _roads(axes, road_map, labels, scale)
    _landmarks(axes, road_map, labels)
    if anchors:
        _anchors(axes, road_map)
    _frame(axes, road_map, scale)


def _scale(road_map: RoadMap) -> float:
    """The extent of a map as a multiple of the one that the sizes here are made for."""
    shown = road_map.network.nodes if len(road_map.network.nodes) else road_map.places
    spans = (np.ptp(shown[axis]) / MICRODEGREES for axis in ("lat_e6", "lon_e6"))
    widest = max(span / usual for span, usual in zip(spans, EXTENT_DEGREES, strict=True))
    return max(float(widest), 1e-3)


class Labels:
    """Places labels so that none covers another: of several places the freest is taken."""

    def __init__(self, axes: Axes, scale: float = 1.0) -> None:
        self._axes = axes
        self._scale = scale
        self._boxes: list[tuple[float, float, float, float]] = []

    def put(self, text: str, places: list[tuple[float, float]], **style: Any) -> None:
        """Write `text` at the one of `places` (longitude, latitude) farthest from other labels."""
        lines = text.split("\n")
        half_wide = self._scale * LETTER_DEGREES * max(len(line) for line in lines)
        half_high = self._scale * LINE_DEGREES / 2 * len(lines)
        lon, lat = max(places, key=lambda place: self._free(place, half_wide, half_high))
        self._boxes.append((lon, lat, half_wide, half_high))
        self._axes.annotate(text, (lon, lat), ha="center", va="center", **style)

    def _free(self, place: tuple[float, float], half_wide: float, half_high: float) -> float:
        """How free a place is: 1 is free enough, below that labels come close."""
        spans = [
            max(abs(place[0] - lon) / (half_wide + wide), abs(place[1] - lat) / (half_high + high))
            for lon, lat, wide, high in self._boxes
        ]
        return min([1.0, *spans])


def _zones(axes: Axes, road_map: RoadMap, labels: Labels) -> None:
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
        labels.put(
            about.name.replace("/", "/\n"),
            [(about.lon, about.lat)],
            fontsize=9.5, fontweight="bold", color="#111111", zorder=9,
            bbox={"boxstyle": "round,pad=0.3", "fc": "white", "ec": colour, "lw": 2, "alpha": 0.88},
        )  # fmt: skip


def _landmarks(axes: Axes, road_map: RoadMap, labels: Labels) -> None:
    for mark in road_map.landmarks:
        lats, lons = [p[0] for p in mark.points], [p[1] for p in mark.points]
        places = list(zip(lons, lats, strict=True))
        if mark.kind in LAND:
            axes.fill(lons, lats, facecolor=LAND[mark.kind], edgecolor="none", zorder=1.5)
            west, east = min(lons), max(lons)
            middle = (min(lats) + max(lats)) / 2
            shifts = (0.0, -LINE_DEGREES / 2, LINE_DEGREES / 2, -LINE_DEGREES, LINE_DEGREES)
            places = [
                (west + (east - west) * k / 8, middle + shift)
                for k in (4, 3, 5, 2, 6)
                for shift in shifts
            ]
        else:
            _band(axes, lats, lons, mark.width)
        labels.put(
            mark.name, places, fontsize=8, style="italic", zorder=8, bbox=HALO,
            color="#22506f" if mark.kind not in LAND else "#4d3f1e",
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


def _roads(axes: Axes, road_map: RoadMap, labels: Labels, scale: float) -> None:
    edges = road_map.network.edges
    wider = min(max(scale, 1e-3) ** -0.5, WIDEST_LINES) if scale < 1 else 1.0
    # Off the grid is worth a colour only where there is a grid, as in our own model.
    surveyed = bool(road_map.about.extract)
    diagonal = np.zeros(len(edges), dtype=np.bool_) if surveyed else _diagonal(road_map)
    for rank, (road, (colour, width, label)) in enumerate(STYLE.items()):
        chosen = (edges["road"] == road) & ~(diagonal & (edges["road"] == Road.ARTERIAL))
        _lines(axes, road_map, chosen, colour, width * wider, label, 2 + rank)
    colour, width, label = DIAGONAL
    _lines(axes, road_map, diagonal, colour, width, label, 4.5)
    bridges = _wet(road_map) & (edges["road"] == Road.ARTERIAL)
    colour, width, label = BRIDGE
    _lines(axes, road_map, bridges, colour, width, label, 4.6)
    _names(labels, road_map, edges["road"] == Road.FREEWAY, "#a34700", "white", scale)
    _names(labels, road_map, diagonal, "white", DIAGONAL[0], scale)


def _diagonal(road_map: RoadMap) -> Any:
    """Which named arterial edges run neither along a parallel nor along a meridian."""
    nodes, edges = road_map.network.nodes, road_map.network.edges
    north = np.abs(nodes["lat_e6"][edges["tail"]] - nodes["lat_e6"][edges["head"]])
    east = np.abs(nodes["lon_e6"][edges["tail"]] - nodes["lon_e6"][edges["head"]])
    slanted = (4 * north > east) & (4 * east > north)
    named = edges["name"] >= 0
    names = edges["name"][(edges["road"] == Road.ARTERIAL) & named & slanted]
    return (edges["road"] == Road.ARTERIAL) & named & np.isin(edges["name"], np.unique(names))


def _wet(road_map: RoadMap) -> Any:
    """Which edges are over a river at a quarter, a half or three quarters of their length."""
    points, edges = _points(road_map), road_map.network.edges
    tails, heads = points[edges["tail"]], points[edges["head"]]
    samples = [tails + (heads - tails) * share for share in (0.25, 0.5, 0.75)]
    result = np.zeros(len(edges), dtype=np.bool_)
    for river in (mark for mark in road_map.landmarks if mark.kind not in LAND):
        squeeze = np.array([math.cos(math.radians(river.points[0][0])), 1.0])
        corners = np.array(river.points)[:, ::-1] * squeeze
        for (start, end), sample in product(pairwise(corners), samples):
            step, away = end - start, sample * squeeze - start
            along = np.clip(away @ step / (step @ step), 0, 1)
            off = np.hypot(*(away - along[:, None] * step).T)
            result |= off <= river.width / 2 / METRES_PER_DEGREE
    return result


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


def _names(
    labels: Labels, road_map: RoadMap, chosen: Any, back: str, ink: str, scale: float
) -> None:
    """The names of roads, on the road, one for every `LABEL_METRES` of it."""
    points, edges, names = _points(road_map), road_map.network.edges, road_map.network.names
    for name in np.unique(edges["name"][chosen]).tolist():
        mine = edges[chosen & (edges["name"] == name)]
        reached = np.cumsum(mine["metres"])
        if name < 0 or reached[-1] < SHORTEST_LABELLED_METRES * scale:
            continue
        count = max(1, round(int(reached[-1]) / (LABEL_METRES * scale)))
        for k in range(count):
            # the middle of each stretch, or a place towards its ends where that is freer
            shares = [(k + part / 8) / count for part in (4, 3, 5, 2, 6, 1, 7)]
            at = [int(np.searchsorted(reached, reached[-1] * share)) for share in shares]
            spots = (points[mine["tail"][at]] + points[mine["head"][at]]) / 2
            labels.put(
                names[name], [(float(lon), float(lat)) for lon, lat in spots],
                fontsize=8, fontweight="bold", color=ink, zorder=8.5,
                bbox={"boxstyle": "round,pad=0.2", "fc": back, "ec": ink, "lw": 0.6},
            )  # fmt: skip


def _frame(axes: Axes, road_map: RoadMap, scale: float) -> None:
    lat, lon = (
        np.concatenate([road_map.network.nodes[axis], road_map.places[axis]]) / MICRODEGREES
        for axis in ("lat_e6", "lon_e6")
    )
    middle = math.radians((float(lat.min()) + float(lat.max())) / 2)
    axes.set_aspect(1 / math.cos(middle))
    margin = 0.01 * scale
    axes.set_xlim(lon.min() - margin, lon.max() + margin)
    axes.set_ylim(lat.min() - margin, lat.max() + margin)
    axes.ticklabel_format(useOffset=False)
    axes.locator_params(axis="x", nbins=6)
    axes.set_xlabel("longitude (degrees)")
    axes.set_ylabel("latitude (degrees)")
    count = len(road_map.zones)
    zones = f"{count} service zone{'' if count == 1 else 's'}"
    axes.set_title(
        f"{road_map.about.title}\n{len(road_map.places):,} addresses, "
        f"{len(road_map.anchors):,} anchors, {zones}",
        fontsize=15,
    )
    axes.legend(loc="lower left", fontsize=11, framealpha=0.95)
    axes.text(
        1.0,
        -0.045,
        f"{road_map.licence}\n{road_map.attribution}",
        transform=axes.transAxes,
        ha="right",
        va="top",
        fontsize=7,
        color="#444444",
    )


def _anchors(axes: Axes, road_map: RoadMap) -> None:
    at: Any = road_map.anchors
    axes.scatter(
        at["lon_e6"] / MICRODEGREES, at["lat_e6"] / MICRODEGREES, s=4, color="black", zorder=8,
        label="anchor",
    )  # fmt: skip
