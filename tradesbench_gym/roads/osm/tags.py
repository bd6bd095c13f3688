"""What the tags of a road mean to a car: its class, which ways it may be driven, and how fast.

The rules are those of OSRM's car profile (26.10), the ones that decide a route: access, one-way
streets, speed by class and `maxspeed`, surface, track type, smoothness and width, its penalties for
service roads and narrow streets, and what the look of a road tells of junctions. The module knows
tags only: no geometry, no file.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any, Final, NamedTuple

from tradesbench_gym.roads.layout import Road

Tags = Mapping[str, str]

# Class and free-flow km/h by `highway`.
HIGHWAYS: Final[dict[str, tuple[Road, int]]] = {
    "motorway": (Road.FREEWAY, 90), "motorway_link": (Road.RAMP, 45),
    "trunk": (Road.ARTERIAL, 85), "trunk_link": (Road.RAMP, 40),
    "primary": (Road.ARTERIAL, 65), "primary_link": (Road.RAMP, 30),
    "secondary": (Road.ARTERIAL, 55), "secondary_link": (Road.RAMP, 25),
    "tertiary": (Road.COLLECTOR, 40), "tertiary_link": (Road.COLLECTOR, 20),
    "unclassified": (Road.LOCAL, 25), "residential": (Road.LOCAL, 25),
    "living_street": (Road.LOCAL, 10), "service": (Road.LOCAL, 15),
}  # fmt: skip
# Ways such as tracks, driven only where a tag says that cars may.
OTHER_KMH: Final = 10
NEVER: Final = frozenset({"steps", "construction", "proposed", "no", "razed", "abandoned"})
ACCESS_KEYS: Final = ("motorcar", "motor_vehicle", "vehicle", "access")
OPEN: Final = frozenset({
    "yes", "motorcar", "motor_vehicle", "vehicle", "permissive", "designated", "hov",
})  # fmt: skip
RESTRICTED: Final = frozenset({
    "private", "delivery", "destination", "customers", "permit", "residents", "unknown",
})  # fmt: skip
CLOSED: Final = frozenset({
    "no", "agricultural", "forestry", "emergency", "psv", "taxi", "share_taxi", "minibus", "bus",
    "foot", "emergency_vehicle", "restricted", "military", "official",
}) | (RESTRICTED - {"unknown"})  # fmt: skip
MAXSPEED_KEYS: Final = ("maxspeed:advisory", "maxspeed")
KMH_PER_MPH: Final = 1.609
SHARE_OF_LIMIT: Final = 0.8
SLOW_SERVICES: Final = frozenset({
    "alley", "parking", "parking_aisle", "driveway", "drive-through", "drive-thru",
})  # fmt: skip
SERVICE_FACTOR: Final = 0.5
SINGLE_LANE_FACTOR: Final = 0.5
UNMARKED_FACTOR: Final = 0.75
ALTERNATING_FACTOR: Final = 0.4
SIDE_ROAD_FACTOR: Final = 0.8
# A road for both ways is slower where it is less than so many metres wide.
WIDTHS: Final = ((4, 0.6), (5, 0.75), (6, 0.8))
SINGLE_LANE_METRES: Final = 3
FEET: Final = 0.3048
SURFACES: Final = {
    "cement": 80, "compacted": 80, "fine_gravel": 80, "paving_stones": 60, "metal": 60,
    "bricks": 60, "grass": 40, "wood": 40, "sett": 40, "grass_paver": 40, "gravel": 40,
    "unpaved": 40, "ground": 40, "dirt": 40, "pebblestone": 40, "tartan": 40, "cobblestone": 30,
    "clay": 30, "earth": 20, "stone": 20, "rocky": 20, "sand": 20, "laterite": 15, "mud": 10,
}  # fmt: skip
TRACKS: Final = {"grade1": 60, "grade2": 40, "grade3": 30, "grade4": 25, "grade5": 20}
SMOOTHNESS: Final = {
    "intermediate": 80, "bad": 40, "very_bad": 20, "horrible": 10, "very_horrible": 5,
}  # fmt: skip
CAPS: Final = (("surface", SURFACES), ("tracktype", TRACKS), ("smoothness", SMOOTHNESS))
PASSABLE_BARRIERS: Final = frozenset({
    "cattle_grid", "border_control", "toll_booth", "sally_port", "no", "entrance",
    "height_restrictor", "arch", "gate", "lift_gate", "kerb",
})  # fmt: skip
GATES: Final = frozenset({"gate", "lift_gate"})
GATE_SECONDS: Final = 60
WAITS: Final = {"traffic_signals": 2, "stop": 2, "give_way": 1}
FORWARD: Final = frozenset({"yes", "1", "true"})
ARROWS: Final = frozenset({
    "none", "through", "sharp_left", "left", "slight_left", "slight_right", "right", "sharp_right",
    "reverse", "merge_to_left", "merge_to_right",
})  # fmt: skip
# Steps of the code of a road's looks.
CIRCULAR: Final = 16
SPLIT: Final = 32
LANE: Final = 64
BOTH: Final = 0
AHEAD: Final = 1
AGAINST: Final = -1


class Drive(NamedTuple):
    """How a car uses a way: `direction` is 0 both ways, 1 as drawn only, -1 against it only.

    `speed` in km/h is the one that chooses between routes: penalties are in it. `restricted` are
    private roads and the like, which nobody drives through but a drive may begin or end in.
    """

    road: Road
    speed: float
    direction: int
    restricted: bool
    name: str


class Look(NamedTuple):
    """What tells how wide and great a road looks: the place of its class in `HIGHWAYS`, whether it
    is a roundabout, whether its lanes have other arrows one way than the other, its lanes by the
    tags (those with arrows at least), 0 for none. Whole numbers, or arrays of such.
    """

    highway: Any
    circular: Any
    split: Any
    lanes: Any


def look(tags: Tags) -> int:
    """The looks of a road as one whole number; `look_of` takes it apart."""
    order = list(HIGHWAYS)
    highway = tags.get("highway", "")
    place = order.index(highway) if highway in HIGHWAYS else len(order)
    circular = tags.get("junction") in {"roundabout", "circular"}
    if "lanes" in tags:
        lanes = _count(tags["lanes"])
    else:
        lanes = _count(tags.get("lanes:forward", "")) + _count(tags.get("lanes:backward", ""))
    direction = _direction(tags, highway)
    ahead, against = _arrows(tags, direction)
    split = direction == BOTH and ahead != against
    lanes = max(lanes, _marked(ahead) + _marked(against))
    return place + CIRCULAR * circular + SPLIT * split + LANE * lanes


def look_of(code: Any) -> Look:
    """The looks that one number, or an array of them, stands for."""
    return Look(code % CIRCULAR, code // CIRCULAR % 2, code // SPLIT % 2, code // LANE)


def _count(text: str) -> int:
    return int(text) if re.fullmatch(r"\d{1,2}", text) else 0


def _arrows(tags: Tags, direction: int) -> list[str]:
    """The arrows on the lanes ahead and on those against; what is said of the whole road goes for
    each direction it is driven in.
    """
    common = tags.get("turn:lanes", "")
    return [
        tags.get(f"turn:lanes:{way}", "" if direction == other else common)
        for way, other in (("forward", AGAINST), ("backward", AHEAD))
    ]


def _marked(arrows: str) -> int:
    """How many lanes have arrows; none where not all of these are known."""
    known = ARROWS.issuperset(filter(None, re.split(r"[|;]", arrows)))
    return arrows.count("|") + 1 if arrows and known else 0


def drive(tags: Tags) -> Drive | None:
    """How a car uses the way with these tags; None where it may not."""
    highway = tags.get("highway", "")
    if highway in NEVER or _blocked(tags):
        return None
    access = _access(tags)
    known = HIGHWAYS.get(highway)
    restricted = known is not None and access in RESTRICTED
    if access in CLOSED and not restricted:
        return None
    if known is None and access not in OPEN:
        return None
    road, kmh = known or (Road.LOCAL, OTHER_KMH)
    direction = _direction(tags, highway)
    speed = _speed(tags, kmh) * _factor(tags, direction)
    return Drive(road, max(1.0, speed), direction, restricted, street_name(tags))


def street_name(tags: Tags) -> str:
    """What people call the way: its name, else its number, else nothing."""
    return tags.get("name") or tags.get("ref", "").replace(";", " / ")


def blocks(tags: Tags) -> bool:
    """Whether a node with these tags stops a car on its way."""
    access = _access(tags)
    if access:
        return access in CLOSED and access not in RESTRICTED
    barrier = tags.get("barrier")
    return barrier is not None and barrier not in PASSABLE_BARRIERS


class Wait(NamedTuple):
    """Seconds that a car loses at a node, by the direction in which its way is drawn."""

    ahead: int
    against: int


def wait(tags: Tags) -> Wait:
    """What a car loses at a node with these tags: signals, signs, gates."""
    seconds = WAITS.get(tags.get("highway", ""), 0)
    if tags.get("highway") == "stop" and tags.get("stop") == "minor":
        seconds = 0  # only for those who come by the smaller road, which the tags do not name
    direction = tags.get("traffic_signals:direction") or tags.get("direction")
    gate = GATE_SECONDS if tags.get("barrier") in GATES and not _access(tags) else 0
    return Wait(
        gate + (0 if direction == "backward" else seconds),
        gate + (0 if direction == "forward" else seconds),
    )


def _blocked(tags: Tags) -> bool:
    return (
        tags.get("area") == "yes"
        or tags.get("impassable") == "yes"
        or tags.get("status") == "impassable"
        or tags.get("oneway") == "reversible"
        or tags.get("service") == "emergency_access"
        or tags.get("smoothness") == "impassable"
        or tags.get("construction", "no") not in {"no", "widening", "minor"}
    )


def _access(tags: Tags) -> str:
    return next((tags[key] for key in ACCESS_KEYS if key in tags), "")


def _direction(tags: Tags, highway: str) -> int:
    oneway = tags.get("oneway:motorcar") or tags.get("oneway:motor_vehicle") or tags.get("oneway")
    if oneway == "-1":
        return AGAINST
    if oneway in FORWARD:
        return AHEAD
    implied = highway == "motorway" or tags.get("junction") in {"roundabout", "circular"}
    return AHEAD if implied and oneway != "no" else BOTH


def _speed(tags: Tags, kmh: float) -> float:
    for key in MAXSPEED_KEYS:
        limit = parse_limit(tags.get(key, ""))
        if limit:
            kmh = limit * SHARE_OF_LIMIT
            break
    for key, caps in CAPS:
        kmh = min(kmh, caps.get(tags.get(key, ""), kmh))
    return kmh


def parse_limit(text: str) -> float:
    """A speed limit in km/h: `40`, `25 mph`; 0 where it is none."""
    number = re.match(r"\d+", text)
    if number is None:
        return 0.0
    return int(number[0]) * (KMH_PER_MPH if "mph" in text else 1.0)


def _factor(tags: Tags, direction: int) -> float:
    """What slows a car down beside the speed itself: the worst of it counts."""
    factors = [1.0]
    if tags.get("service") in SLOW_SERVICES:
        factors.append(SERVICE_FACTOR)
    if tags.get("side_road") in {"yes", "rotary"}:
        factors.append(SIDE_ROAD_FACTOR)
    if tags.get("oneway") == "alternating":
        factors.append(ALTERNATING_FACTOR)
    if direction == BOTH:
        factors.append(_narrow(tags))
    return min(factors)


def _narrow(tags: Tags) -> float:
    lanes = re.match(r"\d+", tags.get("lanes", ""))
    width = parse_metres(tags.get("width", ""))
    if lanes is not None and int(lanes[0]) <= 1:
        return SINGLE_LANE_FACTOR
    if width is not None and width <= SINGLE_LANE_METRES:
        return SINGLE_LANE_FACTOR
    for most, factor in WIDTHS:
        if width is not None and width < most:
            return factor
    return UNMARKED_FACTOR if tags.get("lane_markings") == "no" else 1.0


def parse_metres(text: str) -> float | None:
    """A width in metres: `3`, `2,5 m`, `12'`, `12'6"`; None where it is none."""
    number = re.search(r"\d+\.?\d*", text.replace(",", "."))
    if number is None:
        return None
    feet = text.partition("'")
    if not feet[1]:
        return float(number[0])
    inches = re.search(r"\d+", feet[2])
    return FEET * (float(number[0]) + (int(inches[0]) / 12 if inches else 0))
