"""Two maps side by side: sizes, distances, circuity, and pair by pair where the anchors agree.

It reads maps and computes plain values; showing them is the command line's business.
"""

from __future__ import annotations

from dataclasses import asdict
from typing import Any, Final

import numpy as np
from scipy.sparse.csgraph import connected_components
from scipy.spatial import cKDTree

from tradesbench_gym.roads.circuity import circuity, pairs_of
from tradesbench_gym.roads.roadmap import RoadMap
from tradesbench_gym.roads.routing import sparse_graph

QUANTILES: Final = (0.05, 0.25, 0.5, 0.75, 0.95, 1.0)
FAR_METRES: Final = 2_000
FAR_OFF: Final = 0.25


def compare(first: RoadMap, second: RoadMap) -> dict[str, Any]:
    """What there is to say of two maps: `maps`, a profile of each, and `pairs`.

    `pairs` compares the two matrices where both maps have the same anchors, and is None elsewhere.
    """
    return {
        "maps": [profile(first), profile(second)],
        "pairs": differences(first, second) if same_anchors(first, second) else None,
    }


def profile(road_map: RoadMap) -> dict[str, Any]:
    """Sizes, quantiles of distance in kilometres, circuity by band, pairs without a way."""
    straight, roads = pairs_of(road_map)
    edges = road_map.network.edges
    over = roads[straight > 0] / straight[straight > 0]
    return {
        "name": road_map.name,
        "engine": road_map.about.routing.get("engine", "unknown"),
        "addresses": len(road_map.places),
        "anchors": len(road_map.anchors),
        "zones": len(road_map.zones),
        "junctions": len(road_map.network.nodes),
        "road_km": round(float(edges["metres"].sum()) / 1000),
        "one_way_per_cent": _per_cent(edges["metres"][edges["oneway"] == 1].sum(), edges["metres"]),
        "leg_metres_median": int(np.median(road_map.places["leg"])),
        "leg_metres_95": int(np.quantile(road_map.places["leg"], 0.95)),
        "asymmetric_per_cent": _per_cent(np.sum(road_map.metres != road_map.metres.T), roads),
        "circuity_median": round(float(np.median(over)), 3) if len(over) else None,
        "unreachable_pairs": unreachable_pairs(road_map),
        "quantiles_km": {
            f"{q:g}": round(float(np.quantile(roads, q)) / 1000, 2) if len(roads) else None
            for q in QUANTILES
        },
        "circuity": [asdict(band) | {"band": band.label} for band in circuity(road_map)],
    }


def _per_cent(part: Any, whole: Any) -> float:
    total = float(len(whole)) if whole.dtype == np.float64 else float(whole.sum())
    return round(100 * float(part) / total, 1) if total else 0.0


def same_anchors(first: RoadMap, second: RoadMap) -> bool:
    """Whether both maps have the same anchors in the same order."""
    mine, theirs = first.anchors, second.anchors
    return len(mine) == len(theirs) and all(
        np.array_equal(mine[name], theirs[name]) for name in ("lat_e6", "lon_e6")
    )


def differences(first: RoadMap, second: RoadMap) -> dict[str, Any]:
    """How far two matrices of the same anchors differ, as shares of the shorter distance.

    `far_*` look only at pairs whose straight line is over `FAR_METRES`.
    """
    straight, mine = pairs_of(first)
    theirs = pairs_of(second)[1]
    off = np.abs(mine - theirs) / np.maximum(np.minimum(mine, theirs), 1)
    far = off[straight > FAR_METRES]
    return {
        "pairs": len(off),
        "median": float(np.median(off)),
        "p99": float(np.quantile(off, 0.99)),
        "far_pairs": len(far),
        "far_p99": float(np.quantile(far, 0.99)) if len(far) else None,
        "far_p999": float(np.quantile(far, 0.999)) if len(far) else None,
        "far_largest": float(far.max()) if len(far) else None,
        "far_over_a_quarter": int((far > FAR_OFF).sum()),
    }


def unreachable_pairs(road_map: RoadMap) -> int | None:
    """Pairs of anchors without a way both there and back over the network; None without one."""
    nodes, edges = road_map.network.nodes, road_map.network.edges
    if not len(nodes):
        return None
    back = edges["oneway"] == 0
    tail = np.concatenate([edges["tail"], edges["head"][back]])
    head = np.concatenate([edges["head"], edges["tail"][back]])
    graph = sparse_graph(tail, head, np.ones(len(tail), dtype=np.int64), len(nodes))
    _, part = connected_components(graph, directed=True, connection="strong")
    tree = cKDTree(np.stack([nodes["lat_e6"], nodes["lon_e6"]], axis=1))
    at = np.stack([road_map.anchors["lat_e6"], road_map.anchors["lon_e6"]], axis=1)
    sizes = np.bincount(part[tree.query(at)[1]])
    return int(len(at) ** 2 - (sizes.astype(np.int64) ** 2).sum())
