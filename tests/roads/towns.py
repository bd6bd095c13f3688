"""A small town in memory: 12 anchors, 200 addresses, every sort of house number."""

from __future__ import annotations

import numpy as np

from tradesbench_gym.roads import (
    EDGE,
    NODE,
    About,
    AddressTable,
    Landmark,
    Network,
    RoadMap,
    Zone,
)

ADDRESSES = 200
ANCHORS = 12
HILL = ((33.45, -112.07), (33.46, -112.07), (33.45, -112.06))


def make_town(about: About | None = None) -> RoadMap:
    """Anchor k stands at column k % 4, row k // 4; address i belongs to anchor i % 12.

    Driving east costs 10 m more than driving west, so that the matrix is not symmetric.
    """
    column, row = np.arange(ANCHORS) % 4, np.arange(ANCHORS) // 4
    east = np.abs(column[None, :] - column[:, None]) * 1000
    north = np.abs(row[None, :] - row[:, None]) * 1000
    metres = east + north + 10 * np.maximum(column[None, :] - column[:, None], 0)
    ids = np.arange(ADDRESSES)
    anchor = ids % ANCHORS
    anchor_lat = 33_440_000 + row * 9_016
    anchor_lon = -112_073_700 + column * 10_762
    return RoadMap.from_arrays(
        "town",
        (Zone("West", 33.45, -112.07, 50), Zone("East", 33.45, -112.045, 50)),
        {
            "lat_e6": anchor_lat[anchor] + 500,
            "lon_e6": anchor_lon[anchor] + 10 * ids,
            "anchor": anchor,
            "leg": 60 + ids,
            "zone": (anchor % 4) // 2,
            "kind": ids % 3,
        },
        {"lat_e6": anchor_lat, "lon_e6": anchor_lon, "zone": column // 2},
        metres,
        table=town_table(),
        network=town_network(),
        about=about,
        landmarks=(Landmark("Hill", "mountain", HILL),),
    )


def town_table() -> AddressTable:
    """House numbers of every sort: `12`, `12A`, `112-34`, `12 1/2`; one street in two cities."""
    ids = np.arange(ADDRESSES, dtype=np.int32)
    return AddressTable(
        number=100 + ids // 4,
        suffix=ids % 4,
        street=ids % 2,
        locality=(ids // 2) % 2,
        suffixes=("", "A", "-34", " 1/2"),
        streets=("W Camelback Rd", "N 7th Ave"),
        localities=(("Phoenix", "85015"), ("Glendale", "85301")),
    )


def town_network() -> Network:
    """Three junctions in a row; the second stretch is one-way."""
    nodes = np.array([(33_440_000, -112_073_700 + 10_762 * k) for k in range(3)], dtype=NODE)
    edges = np.array([(0, 1, 1000, 0, 40, 4, 0), (1, 2, 1000, -1, 40, 4, 1)], dtype=EDGE)
    return Network(nodes, edges, ("W Camelback Rd",))
