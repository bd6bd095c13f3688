"""The road network as a networkx graph that people inspect and edit, and back into records.

It knows `Network` and networkx only: no routing, no files.
"""

from __future__ import annotations

import networkx as nx

from tradesbench_gym.roads.content import Network
from tradesbench_gym.roads.layout import MICRODEGREES, Road


def to_graph(network: Network) -> nx.DiGraph:
    """A directed graph of the network.

    Nodes are integers with `lat`, `lon` in degrees; edges carry `name` (may be empty), `road`
    (class in words), `speed` in km/h and `metres`. A two-way road is two edges.
    """
    graph: nx.DiGraph = nx.DiGraph()
    lats, lons = network.nodes["lat_e6"].tolist(), network.nodes["lon_e6"].tolist()
    graph.add_nodes_from(
        (node, {"lat": lat / MICRODEGREES, "lon": lon / MICRODEGREES})
        for node, (lat, lon) in enumerate(zip(lats, lons, strict=True))
    )
    roads = {int(road): road.name.lower() for road in Road}
    for tail, head, metres, name, speed, road, oneway in network.edges.tolist():
        data = {
            "name": network.names[name] if name >= 0 else "",
            "road": roads[road],
            "speed": speed,
            "metres": metres,
        }
        graph.add_edge(tail, head, **data)
        if not oneway:
            graph.add_edge(head, tail, **data)
    return graph
