"""Builds the Phoenix map from its spec: grid, freeways, houses, anchors, distances, in that order.

It only joins the other modules of this package; every decision is theirs. The result is the same on
every machine: whole numbers throughout, no clock, no random numbers, no tie left to a library.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from tradesbench_gym.roads.anchors import choose_anchors
from tradesbench_gym.roads.content import About, AddressTable, Network
from tradesbench_gym.roads.layout import (
    EDGE,
    MICRODEGREES,
    NO_NAME,
    NODE,
    Int32Array,
    Int64Array,
    Landmark,
    Records,
    Road,
)
from tradesbench_gym.roads.phoenix.crossroads import Draft, add_freeways, add_roads
from tradesbench_gym.roads.phoenix.houses import Frontage, Houses, frontages, place_houses, setbacks
from tradesbench_gym.roads.phoenix.lattice import Lattice, build_lattice
from tradesbench_gym.roads.phoenix.spec import Spec, load_spec
from tradesbench_gym.roads.phoenix.streets import Blocks, name_blocks
from tradesbench_gym.roads.roadmap import RoadMap, zone_centres
from tradesbench_gym.roads.routing import anchor_metres, largest_part, nearest_anchors
from tradesbench_gym.roads.shapes import Mask, nearest

Progress = Callable[[str, int, int], None]
ROUTING = {
    "engine": "scipy.sparse.csgraph.dijkstra",
    "version": "1",
    "route": "fastest by road class, metres recorded, equally fast routes: the shortest",
}


@dataclass(frozen=True, slots=True)
class Streets:
    """The grid with its names and house-number ranges, and the network made of it.

    `edge` gives each block's edge in the network, -1 where it was cut.
    """

    lattice: Lattice
    blocks: Blocks
    front: Frontage
    network: Network
    edge: Int64Array


def build_phoenix(progress: Progress = lambda *_: None) -> RoadMap:
    """The whole map, in memory. `progress` hears of each stage with counts done and in all."""
    spec = load_spec()
    progress("streets", 0, 1)
    streets = lay_streets(spec)
    progress("streets", 1, 1)
    progress("houses", 0, 1)
    houses = place_houses(spec, streets.lattice, streets.blocks, streets.front)
    progress("houses", 1, 1)
    anchors = _anchors(spec, streets, houses)
    metres = anchor_metres(
        streets.network, anchors, lambda done, total: progress("distances", done, total)
    )
    progress("address book", 0, 1)
    result = _assemble(spec, streets, houses, anchors, metres)
    progress("address book", 1, 1)
    return result


def lay_streets(spec: Spec) -> Streets:
    """Grid, diagonal roads and freeways as one connected network."""
    lattice = build_lattice(spec)
    draft = Draft(lattice.lat.tolist(), lattice.lon.tolist())
    cut: Mask = np.zeros(len(lattice.tail), dtype=np.bool_)
    add_roads(spec, lattice, draft, cut)
    add_freeways(spec, lattice, draft, cut)
    blocks = name_blocks(spec, lattice)
    front = frontages(spec, lattice, blocks, cut)
    network, edge = _network(spec, lattice, draft, blocks, front, cut)
    front.room[edge < 0] = 0
    return Streets(lattice, blocks, front, network, edge)


def _network(
    spec: Spec, lattice: Lattice, draft: Draft, blocks: Blocks, front: Frontage, cut: Mask
) -> tuple[Network, Int64Array]:
    """The largest connected part of grid and roads, and each block's edge in it."""
    kept = np.flatnonzero(~cut)
    names = [f"{front.letter[b]} {blocks.name[b]}" for b in kept] + [e[2] for e in draft.edges]
    table = sorted(set(names) - {""})
    index = {name: k for k, name in enumerate(table)} | {"": NO_NAME}
    edges = np.zeros(len(names), dtype=EDGE)
    edges["tail"] = np.append(lattice.tail[kept], [e[0] for e in draft.edges])
    edges["head"] = np.append(lattice.head[kept], [e[1] for e in draft.edges])
    edges["road"] = np.append(lattice.road[kept], [e[3] for e in draft.edges])
    edges["name"] = [index[name] for name in names]
    nodes = np.zeros(len(draft.lat), dtype=NODE)
    nodes["lat_e6"], nodes["lon_e6"] = draft.lat, draft.lon
    _measure(spec, nodes, edges)
    _one_way(spec, nodes, edges, names)
    whole = Network(nodes, edges, tuple(table))
    return _connected(whole, kept, len(lattice.tail))


def _measure(spec: Spec, nodes: Records, edges: Records) -> None:
    """Fill in metres (rounded up, so that no route is shorter than the straight line) and speed."""
    x = spec.plane.east(nodes["lon_e6"]).astype(np.int64)
    y = spec.plane.north(nodes["lat_e6"]).astype(np.int64)
    away_x, away_y = x[edges["tail"]] - x[edges["head"]], y[edges["tail"]] - y[edges["head"]]
    winding = np.array([spec.winding[Road(r)] for r in range(len(Road))], dtype=np.int64)
    stretched = (away_x**2 + away_y**2) * winding[edges["road"]] ** 2
    # √ is exact to the last bit everywhere; thousandths of metres, rounded up to whole metres
    edges["metres"] = np.maximum(-(-np.ceil(np.sqrt(stretched)).astype(np.int64) // 1000), 1)
    speeds = np.array([spec.speeds[Road(r)] for r in range(len(Road))], dtype=np.int16)
    edges["speed"] = speeds[edges["road"]]


def _one_way(spec: Spec, nodes: Records, edges: Records, names: list[str]) -> None:
    """Turn the stretches where traffic flows one way."""
    lon = nodes["lon_e6"]
    base = np.array([name.partition(" ")[2] for name in names])
    for stretch in spec.one_way:
        middle = (lon[edges["tail"]] + lon[edges["head"]]) // 2
        chosen = (base == stretch.name) & (stretch.low <= middle) & (middle <= stretch.high)
        eastward = lon[edges["head"]] > lon[edges["tail"]]
        wrong = chosen & (eastward != (stretch.toward == "east"))
        edges["tail"][wrong], edges["head"][wrong] = edges["head"][wrong], edges["tail"][wrong]
        edges["oneway"][chosen] = 1


def _connected(whole: Network, kept: Int64Array, blocks: int) -> tuple[Network, Int64Array]:
    inside = largest_part(whole)
    number = np.cumsum(inside) - 1
    stays = inside[whole.edges["tail"]] & inside[whole.edges["head"]]
    edges = whole.edges[stays]
    edges["tail"], edges["head"] = number[edges["tail"]], number[edges["head"]]
    edge = np.full(blocks, -1, dtype=np.int64)
    staying = stays[: len(kept)]
    edge[kept[staying]] = np.arange(int(staying.sum()))
    return Network(whole.nodes[inside], edges, whole.names), edge


def _anchors(spec: Spec, streets: Streets, houses: Houses) -> Int32Array:
    """Crossings that serve as anchors, by the houses around them."""
    nodes, edges = streets.network.nodes, streets.network.edges
    edge, along = _on_edges(streets, houses)
    nearer = np.where(along < 500, edges["tail"][edge], edges["head"][edge])
    weight = np.bincount(nearer, minlength=len(nodes)).astype(np.int64)
    x = spec.plane.east(nodes["lon_e6"]).astype(np.int64)
    y = spec.plane.north(nodes["lat_e6"]).astype(np.int64)
    return choose_anchors(x, y, weight, int(spec.about["anchors"]))


def _on_edges(streets: Streets, houses: Houses) -> tuple[Int64Array, Int64Array]:
    """Edge of every house and thousandths along it; one-way edges may run against their block."""
    lattice, network = streets.lattice, streets.network
    edge = streets.edge[houses.block]
    start, first = network.nodes[network.edges["tail"][edge]], lattice.tail[houses.block]
    same = (start["lat_e6"] == lattice.lat[first]) & (start["lon_e6"] == lattice.lon[first])
    return edge, np.where(same, houses.along, 1000 - houses.along)


def _assemble(
    spec: Spec, streets: Streets, houses: Houses, anchors: Int32Array, metres: Int32Array
) -> RoadMap:
    names = [
        f"{letter} {name}"
        for letter, name in zip(streets.front.letter, streets.blocks.name, strict=True)
    ]
    used = sorted({names[b] for b in np.unique(houses.block)})
    index = {name: k for k, name in enumerate(used)}
    street = np.array([index.get(name, -1) for name in names], dtype=np.int64)[houses.block]
    locality = streets.blocks.locality[houses.block]
    order = np.lexsort((locality, houses.number, street))
    table = AddressTable(
        number=_int32(houses.number[order]),
        suffix=np.zeros(len(order), dtype=np.int32),
        street=_int32(street[order]),
        locality=_int32(locality[order]),
        suffixes=("",),
        streets=tuple(used),
        localities=tuple((city, code) for code, _, _, city in spec.zips),
    )
    anchor, leg = _nearest_by_road(streets, houses, anchors)
    nodes = streets.network.nodes[anchors]
    places = {
        "lat_e6": houses.lat, "lon_e6": houses.lon, "anchor": anchor, "leg": leg,
        "zone": houses.zone, "kind": houses.kind,
    }  # fmt: skip
    return RoadMap.from_arrays(
        str(spec.about["name"]),
        spec.zones,
        {name: column[order] for name, column in places.items()},
        {name: nodes[name] for name in ("lat_e6", "lon_e6")} | {"zone": _zones_of(spec, nodes)},
        metres,
        table=table,
        network=streets.network,
        plane=spec.plane,
        about=_about(spec),
        landmarks=_landmarks(spec),
    )


def _nearest_by_road(
    streets: Streets, houses: Houses, anchors: Int32Array
) -> tuple[Int64Array, Int64Array]:
    """Anchor and road metres of every house: by the nearer end of its block, setback included."""
    node_anchor, node_metres = nearest_anchors(streets.network, anchors)
    edge, along = _on_edges(streets, houses)
    edges = streets.network.edges[edge]
    before = (edges["metres"].astype(np.int64) * along + 999) // 1000
    after = (edges["metres"].astype(np.int64) * (1000 - along) + 999) // 1000
    by_tail = node_metres[edges["tail"]] + before
    by_head = node_metres[edges["head"]] + after
    back = setbacks(streets.lattice)[houses.block]
    anchor = np.where(by_tail <= by_head, node_anchor[edges["tail"]], node_anchor[edges["head"]])
    return anchor.astype(np.int64), np.minimum(by_tail, by_head) + back


def _zones_of(spec: Spec, nodes: Records) -> Int64Array:
    centres = zone_centres(spec.zones).astype(np.int64)
    lat, lon = nodes["lat_e6"].astype(np.int64), nodes["lon_e6"].astype(np.int64)
    return nearest(spec.plane, centres, lat, lon)


def _int32(values: npt.NDArray[Any]) -> Int32Array:
    return np.ascontiguousarray(values, dtype=np.int32)


def _landmarks(spec: Spec) -> tuple[Landmark, ...]:
    def degrees(points: Int64Array) -> tuple[tuple[float, float], ...]:
        return tuple((lat / MICRODEGREES, lon / MICRODEGREES) for lat, lon in points.tolist())

    holes = [
        Landmark(h.name, "airport" if "Airport" in h.name else "mountain", degrees(h.outline))
        for h in spec.holes
    ]
    river = spec.river
    return (*holes, Landmark(river.name, "river", degrees(river.points), 2 * river.half_width))


def _about(spec: Spec) -> About:
    about = spec.about
    return About(
        name=about["name"],
        title=about["title"],
        state=about["state"],
        source=about["source"],
        licence=about["licence"],
        attribution=about["attribution"],
        routing=dict(ROUTING),
    )
