"""Houses along the blocks: how many, which numbers, where exactly, of which kind, in which zone.

It turns named blocks into address columns, demand by zone as the spec asks. It knows no network
beyond the block a house stands on.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

import numpy as np

from tradesbench_gym.roads.layout import Int64Array, Kind, Road, to_e6
from tradesbench_gym.roads.phoenix.lattice import Ground, Lattice
from tradesbench_gym.roads.phoenix.spec import Spec
from tradesbench_gym.roads.phoenix.streets import Blocks, house_number
from tradesbench_gym.roads.shapes import Mask, inside, nearest, scramble

# Houses per metre of street by class, and thousandths of (residential, apartment) among them (A).
DENSITY: Final = {Road.ARTERIAL: 70, Road.COLLECTOR: 75, Road.LOCAL: 100}
MIX: Final = {Road.ARTERIAL: (110, 440), Road.COLLECTOR: (620, 840), Road.LOCAL: (800, 932)}
SETBACK: Final = {Road.ARTERIAL: 28, Road.COLLECTOR: 20, Road.LOCAL: 15}
CALM, VARIETY, SQUARE_SALT, KIND_SALT = 40, 120, 11, 12
OPEN_SAMPLES, OPEN_MARGIN_E6 = 6, 330
SETBACK_SALT, SETBACK_VARIETY_METRES = 13, 7
CROSS_STREETS: Final = {0: 1, 1: 0}


@dataclass(frozen=True, slots=True)
class Houses:
    """Address columns, one row per house; `along` is in thousandths of the block."""

    block: Int64Array
    along: Int64Array
    lat: Int64Array
    lon: Int64Array
    number: Int64Array
    kind: Int64Array
    zone: Int64Array


@dataclass(frozen=True, slots=True)
class Frontage:
    """What a block offers: compass letter, house numbers at its two ends, room for houses, zone."""

    letter: list[str]
    first: Int64Array
    last: Int64Array
    room: Int64Array
    zone: Int64Array


def frontages(spec: Spec, lattice: Lattice, blocks: Blocks, cut: Mask) -> Frontage:
    """House-number range, room and zone of every block; a cut block has no room."""
    count = len(lattice.tail)
    first, last = np.zeros(count, dtype=np.int64), np.zeros(count, dtype=np.int64)
    letters = []
    for block in range(count):
        city = spec.zips[int(blocks.locality[block])][3]
        numbering = spec.numbering.get(city, spec.numbering["county"])
        counts = CROSS_STREETS[int(lattice.direction[block])]
        letter, _ = house_number(numbering, counts, int(blocks.lat[block]), int(blocks.lon[block]))
        letters.append(letter)
        for array, node in ((first, lattice.tail[block]), (last, lattice.head[block])):
            seen, number = house_number(
                numbering, counts, int(lattice.lat[node]), int(lattice.lon[node])
            )
            # -1: the block straddles a city's baseline, where numbers would run both ways
            array[block] = number if seen == letter or number == 0 else -1
    room = np.maximum(np.abs(last - first) // 2 - 1, 0)
    room[cut | ~_buildable(spec, lattice) | (np.minimum(first, last) < 0)] = 0
    centres = np.array([(to_e6(z.lat), to_e6(z.lon)) for z in spec.zones], dtype=np.int64)
    zone = nearest(spec.plane, centres, blocks.lat, blocks.lon)
    return Frontage(letters, first, last, room, zone)


def _buildable(spec: Spec, lattice: Lattice) -> Mask:
    """Blocks with open land on both sides all along: no house on a bridge or in a park."""
    ground = Ground(spec)
    result: Mask = np.ones(len(lattice.tail), dtype=np.bool_)
    tail, head = lattice.tail, lattice.head
    for sample in range(OPEN_SAMPLES + 1):
        lat = lattice.lat[tail] + (lattice.lat[head] - lattice.lat[tail]) * sample // OPEN_SAMPLES
        lon = lattice.lon[tail] + (lattice.lon[head] - lattice.lon[tail]) * sample // OPEN_SAMPLES
        for away in (-OPEN_MARGIN_E6, OPEN_MARGIN_E6):
            result &= ground.open(lat + away, lon + away) & ground.open(lat + away, lon - away)
    return result


def place_houses(spec: Spec, lattice: Lattice, blocks: Blocks, front: Frontage) -> Houses:
    """All houses of the map, block by block."""
    per_block = _allot(spec, lattice, blocks, front)
    block = np.repeat(np.arange(len(per_block)), per_block)
    starts = np.cumsum(per_block) - per_block
    order = np.arange(len(block)) - starts[block]
    low = np.minimum(front.first, front.last)[block]
    span = np.abs(front.last - front.first)[block]
    # Numbers evenly along the block, odd and even in turn: even ones on the north and west sides.
    offset = (2 * order + 1) * (span - 1) // (2 * per_block[block])
    number = low + offset
    side = order & 1
    number = np.maximum(number - (number & 1), np.maximum(low + (low & 1), 2)) + side
    along = (number - low) * 1000 // np.maximum(span, 1)
    along = np.where((front.first > front.last)[block], 1000 - along, along)
    lat, lon = _positions(spec, lattice, block, along, side)
    kind = _kinds(lattice.road[block].astype(np.int64), block, order)
    return Houses(block, along, lat, lon, number, kind, front.zone[block])


def _allot(spec: Spec, lattice: Lattice, blocks: Blocks, front: Frontage) -> Int64Array:
    """Number of houses of each block, so that every zone gets exactly its share."""
    total = int(spec.about["addresses"])
    shares = [round(zone.share * 1000) for zone in spec.zones]
    bounds = [total * sum(shares[:k]) // sum(shares) for k in range(len(shares) + 1)]
    density = np.array([DENSITY.get(Road(r), 0) for r in range(len(Road))], dtype=np.int64)
    # Some squares are denser than others: a factor for each half-mile square.
    half_lat, half_lon = 4 * spec.block_lat, 4 * spec.block_lon
    square = (blocks.lat // half_lat) * 100_003 + blocks.lon // half_lon
    factor = CALM + (scramble(square, SQUARE_SALT) % np.uint64(VARIETY)).astype(np.int64)
    for sparse in spec.sparse:
        thin = inside(sparse.outline, blocks.lat, blocks.lon)
        factor = np.where(thin, factor * sparse.thousandths // 1000, factor)
    length = np.abs(lattice.lat[lattice.head] - lattice.lat[lattice.tail]) + np.abs(
        lattice.lon[lattice.head] - lattice.lon[lattice.tail]
    )
    weight = density[lattice.road] * factor * np.minimum(length, 3000)
    weight[front.room == 0] = 0
    result = np.zeros(len(weight), dtype=np.int64)
    for zone in range(len(spec.zones)):
        chosen = np.flatnonzero(front.zone == zone)
        wanted = bounds[zone + 1] - bounds[zone]
        result[chosen] = _share_out(weight[chosen], front.room[chosen], wanted)
    return result


def _share_out(weight: Int64Array, room: Int64Array, wanted: int) -> Int64Array:
    """Whole numbers that add up to `wanted`, in proportion to `weight`, none above `room`."""
    if wanted > int(room.sum()):
        raise ValueError(f"room for {int(room.sum())} houses where {wanted} are wanted")
    result = np.zeros(len(weight), dtype=np.int64)
    while (missing := wanted - int(result.sum())) > 0:
        open_weight = np.where(result < room, weight, 0)
        reach = np.cumsum(open_weight) * missing // int(open_weight.sum())
        result = np.minimum(result + np.diff(reach, prepend=0), room)
    return result


def _positions(
    spec: Spec, lattice: Lattice, block: Int64Array, along: Int64Array, side: Int64Array
) -> tuple[Int64Array, Int64Array]:
    """Latitude and longitude × 10⁶: along the block and back from its middle line."""
    tail, head = lattice.tail[block], lattice.head[block]
    lat = lattice.lat[tail] + (lattice.lat[head] - lattice.lat[tail]) * along // 1000
    lon = lattice.lon[tail] + (lattice.lon[head] - lattice.lon[tail]) * along // 1000
    variety = scramble(block * 1009 + along, SETBACK_SALT) % np.uint64(SETBACK_VARIETY_METRES)
    metres = setbacks(lattice)[block] - variety.astype(np.int64)
    north_south = lattice.direction[block] == 1
    away_lat = metres * 1_000_000 // spec.plane.metres_per_degree_lat
    away_lon = metres * 1_000_000 // spec.plane.metres_per_degree_lon
    odd = side == 1
    lat = lat + np.where(north_south, 0, np.where(odd, -away_lat, away_lat))
    lon = lon + np.where(north_south, np.where(odd, away_lon, -away_lon), 0)
    return lat, lon


def setbacks(lattice: Lattice) -> Int64Array:
    """Metres from the middle of each block's road to its houses."""
    table = np.array([SETBACK.get(Road(r), 0) for r in range(len(Road))], dtype=np.int64)
    return table[lattice.road]


def _kinds(road: Int64Array, block: Int64Array, order: Int64Array) -> Int64Array:
    """Kind of each house: shops and flats along the arterials, homes behind them."""
    draw = (scramble(block * 1009 + order, KIND_SALT) % np.uint64(1000)).astype(np.int64)
    residential = np.array([MIX.get(Road(r), (0, 0))[0] for r in range(len(Road))])[road]
    apartment = np.array([MIX.get(Road(r), (0, 0))[1] for r in range(len(Road))])[road]
    kind = np.full(len(draw), int(Kind.COMMERCIAL), dtype=np.int64)
    kind[draw < apartment] = Kind.APARTMENT
    kind[draw < residential] = Kind.RESIDENTIAL
    return kind
