"""Fastest routes, exactly: time decides, metres are recorded, no tie is left to a solver."""

from __future__ import annotations

import networkx as nx
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tradesbench_gym.roads import EDGE, NODE, MapError, Network
from tradesbench_gym.roads.routing import anchor_metres, largest_part, nearest_anchors


def _network(nodes: int, edges: list[tuple[int, int, int, int, int]]) -> Network:
    """Edges are (tail, head, metres, km/h, one-way)."""
    rows = [
        (tail, head, metres, -1, speed, 4, oneway) for tail, head, metres, speed, oneway in edges
    ]
    return Network(np.zeros(nodes, dtype=NODE), np.array(rows, dtype=EDGE), ())


def test_the_faster_road_is_taken_and_its_metres_recorded() -> None:
    # straight on: 1000 m at 30 km/h, two minutes; round by 2: 1500 m at 100 km/h, 54 seconds
    network = _network(3, [(0, 1, 1000, 30, 0), (0, 2, 700, 100, 0), (2, 1, 800, 100, 0)])
    metres = anchor_metres(network, np.array([0, 1], dtype=np.int32))
    assert metres.tolist() == [[0, 1500], [1500, 0]]


def test_of_two_equally_fast_routes_the_shorter_counts() -> None:
    # 1000 m at 50 km/h and 2000 m at 100 km/h both take 72 seconds
    network = _network(2, [(0, 1, 2000, 100, 0), (0, 1, 1000, 50, 0)])
    assert anchor_metres(network, np.array([0, 1], dtype=np.int32))[0, 1] == 1000


def test_a_one_way_street_is_driven_one_way() -> None:
    network = _network(3, [(0, 1, 100, 50, 1), (1, 2, 100, 50, 0), (2, 0, 100, 50, 0)])
    metres = anchor_metres(network, np.arange(3, dtype=np.int32))
    assert metres[0, 1] == 100
    assert metres[1, 0] == 200


def test_an_anchor_out_of_reach_is_one_sentence() -> None:
    network = _network(3, [(0, 1, 100, 50, 0)])
    with pytest.raises(MapError, match="cannot be reached"):
        anchor_metres(network, np.array([0, 2], dtype=np.int32))


def test_an_equally_near_anchor_yields_to_the_lower_number() -> None:
    network = _network(3, [(0, 1, 100, 50, 0), (1, 2, 100, 50, 0)])
    anchor, metres = nearest_anchors(network, np.array([2, 0], dtype=np.int32))
    assert anchor.tolist() == [1, 0, 0]
    assert metres.tolist() == [0, 100, 0]


def test_the_way_to_an_anchor_follows_traffic() -> None:
    network = _network(3, [(0, 1, 100, 50, 1), (1, 2, 100, 50, 1), (2, 0, 500, 50, 1)])
    anchor, metres = nearest_anchors(network, np.array([0], dtype=np.int32))
    assert anchor.tolist() == [0, 0, 0]
    assert metres.tolist() == [0, 600, 500]


def test_the_largest_part_is_one_where_all_reach_all() -> None:
    network = _network(5, [(0, 1, 1, 50, 0), (1, 2, 1, 50, 0), (2, 3, 1, 50, 1), (3, 4, 1, 50, 0)])
    assert largest_part(network).tolist() == [True, True, True, False, False]


@st.composite
def _networks(draw: st.DrawFn) -> Network:
    count = draw(st.integers(2, 8))
    node = st.integers(0, count - 1)
    edge = st.tuples(
        node, node, st.integers(1, 2000), st.sampled_from([30, 50, 100]), st.integers(0, 1)
    )
    ring = [(k, (k + 1) % count, 500, 40, 0) for k in range(count)]
    extra = [e for e in draw(st.lists(edge, max_size=12)) if e[0] != e[1]]
    return _network(count, ring + extra)


@settings(max_examples=60, deadline=None)
@given(_networks())
def test_the_matrix_is_what_another_solver_finds(network: Network) -> None:
    graph: nx.MultiDiGraph = nx.MultiDiGraph()
    for edge in network.edges:
        metres = int(edge["metres"])
        weight = (metres * 3600 // int(edge["speed"]), metres)
        pairs = [(edge["tail"], edge["head"])]
        if not edge["oneway"]:
            pairs.append((edge["head"], edge["tail"]))
        for tail, head in pairs:
            graph.add_edge(int(tail), int(head), weight=weight[0] * 2**20 + weight[1])
    count = len(network.nodes)
    matrix = anchor_metres(network, np.arange(count, dtype=np.int32))
    for start in range(count):
        lengths = nx.single_source_dijkstra_path_length(graph, start)
        assert [lengths[end] % 2**20 for end in range(count)] == matrix[start].tolist()
