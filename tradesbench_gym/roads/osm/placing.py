"""Puts the addresses of an extract on its roads and into its zones, and chooses the anchors.

It joins network, snapping and naming into the columns of a map, all but the distance matrix, and
says in one sentence what cannot be placed. It knows no file and no routing engine.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

import numpy as np
import numpy.typing as npt
from scipy.spatial import cKDTree

from tradesbench_gym.errors import MapError
from tradesbench_gym.roads.anchors import choose_anchors
from tradesbench_gym.roads.content import AddressTable, Network
from tradesbench_gym.roads.layout import MICRODEGREES, Int64Array, Plane, Road, Zone, to_e6
from tradesbench_gym.roads.osm.area import NOWHERE, Area, ServiceZone
from tradesbench_gym.roads.osm.extract import Addresses, Extract
from tradesbench_gym.roads.osm.naming import name_addresses
from tradesbench_gym.roads.osm.network import (
    DM_PER_METRE,
    Roads,
    as_network,
    lay_roads,
    main_part,
    plane_at,
)
from tradesbench_gym.roads.osm.snapping import REACH_METRES, Snapped, snap
from tradesbench_gym.roads.routing import nearest_anchors
from tradesbench_gym.roads.shapes import nearest, straight_metres

# The share of the anchors that goes to roads without houses, so that no corner is without one.
ROAD_SHARE: Final = 0.05
Mask = npt.NDArray[np.bool_]


@dataclass(frozen=True, slots=True)
class Placed:
    """A map but for its distance matrix: columns of `places`, anchors as nodes of `roads`.

    `roads` is the part of `every` that hangs together, the one that routes are made on.
    """

    roads: Roads
    every: Network
    plane: Plane
    zones: tuple[Zone, ...]
    places: dict[str, Int64Array]
    table: AddressTable
    anchors: Int64Array
    anchor_zone: Int64Array
    counts: dict[str, int]


def place(extract: Extract, area: Area, anchors: int) -> Placed:
    """Everything of a map that needs no route between anchors.

    Raises MapError when addresses lie in no zone, a zone has none or is cut off from the rest, or
    there are more anchors than nodes.
    """
    bounds = area.bounds
    plane = plane_at((bounds.south + bounds.north) // 2, (bounds.west + bounds.east) // 2)
    laid = lay_roads(extract.ways)
    every = as_network(laid)
    roads, share = main_part(laid, every)
    del laid  # the largest thing there is
    found, zone, counts = _in_zones(extract.addresses, area, plane)
    snapped = snap(roads, plane, found.lat_e6, found.lon_e6)
    near = snapped.off <= REACH_METRES * DM_PER_METRE
    _check_cut_off(area, zone, near)
    counts["left out, cut off from the roads"] = int((~near).sum())
    found, zone, snapped = _kept(found, near), zone[near], _kept_snaps(snapped, near)
    road_name = [roads.names[k] if k >= 0 else "" for k in roads.name[snapped.edge].tolist()]
    cities = [z.city or area.city or z.name for z in area.zones]
    named = name_addresses(found, plane, road_name, [cities[k] for k in zone.tolist()])
    _check_zones(area, zone[named.row])
    snapped, zone = _kept_snaps(snapped, named.row), zone[named.row]
    nodes = _anchors(roads, plane, area, snapped, anchors)
    anchor, leg = _legs(roads, snapped, nodes)
    lat, lon = found.lat_e6[named.row], found.lon_e6[named.row]
    ends = roads.lat_e6[nodes[anchor]], roads.lon_e6[nodes[anchor]]
    leg = np.maximum(leg, straight_metres(plane, (lat, lon), ends))
    places = {
        "lat_e6": lat, "lon_e6": lon,
        "anchor": anchor, "leg": leg, "zone": zone, "kind": named.kind,
    }  # fmt: skip
    zones = _zones(area, places)
    centres = np.array([(to_e6(z.lat), to_e6(z.lon)) for z in zones], dtype=np.int64)
    anchor_zone = _zone_of_anchors(roads, plane, area, centres, nodes)
    counts = {
        "house numbers that are none": extract.unreadable,
        **counts,
        **named.counts,
        "% of road metres connected": round(100 * share),
    }
    return Placed(roads, every, plane, zones, places, named.table, nodes, anchor_zone, counts)


def _in_zones(
    found: Addresses, area: Area, plane: Plane
) -> tuple[Addresses, Int64Array, dict[str, int]]:
    """The addresses that some zone claims, and the zone of each."""
    codes = [found.zips[k] for k in found.zip.tolist()]
    zone = area.zones_of(found.lat_e6, found.lon_e6, codes)
    lost = zone == NOWHERE
    counts = {"in no zone": int(lost.sum())}
    if lost.any() and area.elsewhere == "refuse":
        raise MapError(_homeless(found, lost), code="address_in_no_zone", field="area")
    if lost.any() and area.elsewhere == "nearest":
        centres = _rough_centres(area, found, zone)
        zone[lost] = nearest(plane, centres, found.lat_e6[lost], found.lon_e6[lost])
        return found, zone, counts
    if lost.all():
        raise MapError("No address of the area lies in any zone.", code="address_in_no_zone")
    return _kept(found, ~lost), zone[~lost], counts


def _homeless(found: Addresses, lost: Mask) -> str:
    first = int(np.flatnonzero(lost)[0])
    house = f"{found.number[first]}{found.suffixes[found.suffix[first]]}"
    text = f"{house} {found.streets[found.street[first]]}".strip()
    lat, lon = found.lat_e6[first] / MICRODEGREES, found.lon_e6[first] / MICRODEGREES
    return (
        f"{int(lost.sum()):,} of {len(lost):,} addresses lie in no zone, the first '{text}' at "
        f"{lat:.5f}, {lon:.5f}: widen a zone, or set elsewhere = 'nearest' or 'leave out' in the "
        "area file."
    )


def _rough_centres(area: Area, found: Addresses, zone: Int64Array) -> Int64Array:
    """Centre of each zone: as given, of its outlines, else of the addresses it has."""
    rows = []
    for k, service in enumerate(area.zones):
        if service.centre is not None:
            rows.append((to_e6(service.centre[0]), to_e6(service.centre[1])))
        elif service.outlines:
            corners = np.concatenate(service.outlines)
            rows.append((int(corners[:, 0].mean()), int(corners[:, 1].mean())))
        elif (zone == k).any():
            mine = zone == k
            rows.append((int(found.lat_e6[mine].mean()), int(found.lon_e6[mine].mean())))
        else:
            raise _empty(service)
    return np.array(rows, dtype=np.int64)


def _check_cut_off(area: Area, zone: Int64Array, near: Mask) -> None:
    for k, service in enumerate(area.zones):
        mine = zone == k
        if mine.any() and not near[mine].any():
            raise MapError(
                f"Zone '{service.name}' is cut off: none of its {int(mine.sum()):,} addresses lies "
                f"within {REACH_METRES / 1000:g} km of the roads that hang together.",
                code="zone_cut_off",
                field="area",
            )


def _check_zones(area: Area, zone: Int64Array) -> None:
    for k, service in enumerate(area.zones):
        if not (zone == k).any():
            raise _empty(service)


def _empty(service: ServiceZone) -> MapError:
    return MapError(
        f"Zone '{service.name}' has no addresses in this extract: redraw it or leave it out.",
        code="zone_empty",
        field="area",
    )


def _kept(found: Addresses, rows: Mask) -> Addresses:
    names = ("lat_e6", "lon_e6", "number", "suffix", "street", "city", "zip", "kind")
    columns = {name: getattr(found, name)[rows] for name in names}
    return Addresses(
        **columns,
        suffixes=found.suffixes,
        streets=found.streets,
        cities=found.cities,
        zips=found.zips,
    )


def _kept_snaps(snapped: Snapped, rows: Mask | Int64Array) -> Snapped:
    return Snapped(snapped.edge[rows], snapped.along[rows], snapped.off[rows])


def _anchors(roads: Roads, plane: Plane, area: Area, snapped: Snapped, count: int) -> Int64Array:
    """Nodes that serve as anchors: by the houses around them, and a few by the roads alone."""
    every, free = _candidates(roads, area)
    usable = free if int(free.sum()) >= count else every
    if count > int(usable.sum()):
        raise MapError(
            f"{count:,} anchors are more than the {int(usable.sum()):,} nodes of the connected "
            "roads in the area: ask for fewer.",
            code="too_many_anchors",
            field="anchors",
        )
    x = plane.east(roads.lon_e6).astype(np.int64)
    y = plane.north(roads.lat_e6).astype(np.int64)
    nodes = np.flatnonzero(usable)
    edges, along = snapped.edge, snapped.along / roads.dm[snapped.edge]
    stands = np.stack(
        [ends[roads.tail[edges]] * (1 - along) + ends[roads.head[edges]] * along for ends in (x, y)]
    )
    tree = cKDTree(np.stack([x[nodes], y[nodes]], axis=1))
    _, nearer = tree.query(stands.T)
    houses = np.bincount(nodes[nearer], minlength=len(usable)).astype(np.int64)
    each = max(1, round(len(nodes) * (1 - ROAD_SHARE) / ROAD_SHARE / len(edges)))
    return choose_anchors(x, y, houses * each + usable, count).astype(np.int64)


def _candidates(roads: Roads, area: Area) -> tuple[Mask, Mask]:
    """Nodes within the bounds on roads that houses stand on, and those of them where a car may
    leave and arrive along every road: at others the way out depends on the road one is put on,
    and OSRM puts nobody on a private service road.
    """
    box, count = area.bounds, len(roads.lat_e6)
    inside = (roads.lat_e6 >= box.south) & (roads.lat_e6 <= box.north)
    inside &= (roads.lon_e6 >= box.west) & (roads.lon_e6 <= box.east)
    slow = ~np.isin(roads.road, (Road.FREEWAY, Road.RAMP))
    every = inside & _touched(roads, slow, count)
    bound = ~slow | (roads.oneway == 1) | (roads.restricted == 1)
    return every, every & ~_touched(roads, bound, count)


def _touched(roads: Roads, edges: Mask, count: int) -> Mask:
    result: Mask = np.zeros(count, dtype=np.bool_)
    result[roads.tail[edges]] = True
    result[roads.head[edges]] = True
    return result


def _legs(roads: Roads, snapped: Snapped, anchors: Int64Array) -> tuple[Int64Array, Int64Array]:
    """Anchor nearest by road of every house and the metres there, those off the road included."""
    node_anchor, node_dm = nearest_anchors(
        as_network(roads, decimetres=True), anchors.astype(np.int32)
    )
    tail, head = roads.tail[snapped.edge], roads.head[snapped.edge]
    by_head = node_dm[head] + roads.dm[snapped.edge] - snapped.along
    by_tail = node_dm[tail] + snapped.along
    ahead = (roads.oneway[snapped.edge] == 1) | (by_head < by_tail)
    dm = np.where(ahead, by_head, by_tail) + snapped.off
    anchor = np.where(ahead, node_anchor[head], node_anchor[tail]).astype(np.int64)
    return anchor, -(-dm // DM_PER_METRE)


def _zones(area: Area, places: dict[str, Int64Array]) -> tuple[Zone, ...]:
    result = []
    total = len(places["zone"])
    for k, service in enumerate(area.zones):
        mine = places["zone"] == k
        middle = (
            float(places["lat_e6"][mine].mean()) / MICRODEGREES,
            float(places["lon_e6"][mine].mean()) / MICRODEGREES,
        )
        lat, lon = service.centre or middle
        share = service.share if service.share is not None else 100 * int(mine.sum()) / total
        result.append(Zone(service.name, round(lat, 6), round(lon, 6), round(share, 2)))
    return tuple(result)


def _zone_of_anchors(
    roads: Roads, plane: Plane, area: Area, centres: Int64Array, nodes: Int64Array
) -> Int64Array:
    lat, lon = roads.lat_e6[nodes], roads.lon_e6[nodes]
    zone = area.zones_of(lat, lon, [""] * len(nodes))
    lost = zone == NOWHERE
    zone[lost] = nearest(plane, centres, lat[lost], lon[lost])
    return zone
