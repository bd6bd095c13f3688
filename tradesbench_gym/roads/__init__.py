"""Road maps: the container, the address book, the Phoenix that ships, and what builds it.

Everybody else needs `open_map` and `RoadMap`; builders of other maps also need `write_map`, the
record types of `layout` and the tables of `content`. Nothing here knows the rules of the
simulation.
"""

from tradesbench_gym.errors import MapError
from tradesbench_gym.roads.content import About, AddressTable, Network
from tradesbench_gym.roads.layout import (
    ANCHOR,
    EDGE,
    NODE,
    PLACE,
    Kind,
    Landmark,
    Plane,
    Road,
    Zone,
)
from tradesbench_gym.roads.roadmap import Address, RoadMap, open_map, write_map

__all__ = [
    "ANCHOR",
    "EDGE",
    "NODE",
    "PLACE",
    "About",
    "Address",
    "AddressTable",
    "Kind",
    "Landmark",
    "MapError",
    "Network",
    "Plane",
    "Road",
    "RoadMap",
    "Zone",
    "open_map",
    "write_map",
]
