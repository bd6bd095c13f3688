"""A street plan in OpenStreetMap's XML, written by hand, and area files for it.

Nodes stand on a grid of a thousandth of a degree, 111 m north and 93 m east, at 33.4 degrees north:

    20 --- 21 --- 22        40 === 41   (an island: no road leads there)
     |      |      |
    10 --- 11 --> 12        11 -> 12 is one-way
     |      |      |
     0 ---  1 ---  2
"""

from __future__ import annotations

from pathlib import Path
from xml.sax.saxutils import quoteattr

LAT, LON, STEP = 33.400, -112.000, 0.001
Tags = dict[str, str]

NODES: dict[int, tuple[int, int]] = {
    10 * row + column: (row, column) for row in range(3) for column in range(3)
} | {40: (0, 50), 41: (0, 52)}
STREET = {"highway": "residential"}
WAYS: list[tuple[int, list[int], Tags]] = [
    (100, [0, 1, 2], STREET | {"name": "First Street"}),
    (110, [10, 11], STREET | {"name": "Second Street"}),
    (111, [11, 12], STREET | {"name": "Second Street", "oneway": "yes"}),
    (120, [20, 21, 22], STREET | {"name": "Third Street"}),
    (130, [0, 10, 20], STREET | {"name": "West Avenue"}),
    (131, [1, 11, 21], STREET | {"name": "Middle Avenue"}),
    (132, [2, 12, 22], STREET | {"name": "East Avenue"}),
    (140, [40, 41], STREET | {"name": "Island Road"}),
]
# Houses: node, row, column, tags; ten metres off their street.
HOUSES: list[tuple[int, float, float, Tags]] = [
    (200, 0.1, 0.5, {"addr:housenumber": "12", "addr:street": "First Street"}),
    (201, 0.1, 1.5, {"addr:housenumber": "14A", "addr:street": "First Street"}),
    (202, 1.1, 0.5, {"addr:housenumber": "21;23", "addr:street": "Second Street"}),
    (203, 2.1, 0.5, {"addr:housenumber": "32", "addr:street": "Third St", "shop": "bakery"}),
    (204, 2.1, 1.5, {"addr:housenumber": "34", "addr:street": "Third Street"}),
    (205, 2.1, 1.6, {"addr:housenumber": "34", "addr:street": "Third Street", "office": "law"}),
    (206, 1.5, 2.1, {"addr:housenumber": "SN", "addr:street": "East Avenue"}),
    (207, 1.5, 1.1, {"addr:housenumber": "7", "addr:city": "Testville", "addr:postcode": "85001"}),
]


def write_plan(
    path: Path,
    *,
    ways: list[tuple[int, list[int], Tags]] | None = None,
    houses: list[tuple[int, float, float, Tags]] | None = None,
    nodes: dict[int, Tags] | None = None,
    relations: list[str] | None = None,
) -> Path:
    """Write the plan, with other ways or houses, tags on its nodes, and relations as XML."""
    lines = ['<?xml version="1.0" encoding="UTF-8"?>', '<osm version="0.6">']
    for number, (row, column) in NODES.items():
        lines.append(_node(number, row, column, (nodes or {}).get(number, {})))
    for number, north, east, tags in HOUSES if houses is None else houses:
        lines.append(_node(number, north, east, tags))
    for number, members, tags in WAYS if ways is None else ways:
        inner = "".join(f'<nd ref="{node}"/>' for node in members) + _tags(tags)
        lines.append(f'<way id="{number}" {STAMP}>{inner}</way>')
    lines += [*(relations or []), "</osm>"]
    path.write_text("\n".join(lines), encoding="utf-8")
    return path


STAMP = 'version="1" timestamp="2024-05-06T07:08:09Z"'


def _node(number: int, row: float, column: float, tags: Tags) -> str:
    lat, lon = LAT + STEP * row, LON + STEP * column
    return f'<node id="{number}" lat="{lat:.7f}" lon="{lon:.7f}" {STAMP}>{_tags(tags)}</node>'


def _tags(tags: Tags) -> str:
    return "".join(f"<tag k={quoteattr(k)} v={quoteattr(v)}/>" for k, v in tags.items())


def restriction(kind: str, start: int, via: int, end: int) -> str:
    """A turn restriction as a relation."""
    members = "".join(
        f'<member type="{sort}" ref="{ref}" role="{role}"/>'
        for sort, ref, role in (("way", start, "from"), ("node", via, "via"), ("way", end, "to"))
    )
    tags = _tags({"type": "restriction", "restriction": kind})
    return f'<relation id="900" {STAMP}>{members}{tags}</relation>'


def write_area(path: Path, text: str = "", zones: str = "") -> Path:
    """An area file: `text` adds to its head, `zones` replaces its one zone."""
    square = "[[33.39, -112.01], [33.39, -111.99], [33.41, -111.99], [33.41, -112.01]]"
    zone = zones or f'[[zone]]\nname = "All"\npolygon = {square}\n'
    head = 'name = "plan"\nstate = "AZ"\nanchors = 4\nmargin_km = 50\n'
    path.write_text(f"{head}{text}\n{zone}", encoding="utf-8")
    return path
