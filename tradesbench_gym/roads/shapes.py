"""Where points lie: inside outlines, within a river bed, nearest to which centre.

Integer arithmetic on latitudes and longitudes × 10⁶; it knows shapes, not streets.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from tradesbench_gym.roads.layout import Int64Array, Plane

Mask = npt.NDArray[np.bool_]


def inside(outline: Int64Array, lat: Int64Array, lon: Int64Array) -> Mask:
    """Which points lie inside a closed outline of (N, 2) latitudes and longitudes."""
    result: Mask = np.zeros(lat.shape, dtype=np.bool_)
    for (lat1, lon1), (lat2, lon2) in zip(outline, np.roll(outline, -1, axis=0), strict=True):
        if lat1 == lat2:
            continue
        straddles = (lat1 > lat) != (lat2 > lat)
        # lon < lon1 + (lat - lat1)(lon2 - lon1)/(lat2 - lat1), cleared of the division
        side = (lon - lon1) * (lat2 - lat1) - (lat - lat1) * (lon2 - lon1)
        left = side < 0 if lat2 > lat1 else side > 0
        result ^= straddles & left
    return result


def inside_any(outlines: tuple[Int64Array, ...], lat: Int64Array, lon: Int64Array) -> Mask:
    """Which points lie inside at least one outline."""
    result: Mask = np.zeros(lat.shape, dtype=np.bool_)
    for outline in outlines:
        result |= inside(outline, lat, lon)
    return result


def within(points: Int64Array, metres: int, plane: Plane, lat: Int64Array, lon: Int64Array) -> Mask:
    """Which points lie within `metres` of a line through `points`."""
    x, y = plane.east(lon).astype(np.int64), plane.north(lat).astype(np.int64)
    corners_x = plane.east(points[:, 1]).astype(np.int64)
    corners_y = plane.north(points[:, 0]).astype(np.int64)
    result: Mask = np.zeros(lat.shape, dtype=np.bool_)
    for k in range(len(points) - 1):
        away_x, away_y = x - corners_x[k], y - corners_y[k]
        step_x, step_y = corners_x[k + 1] - corners_x[k], corners_y[k + 1] - corners_y[k]
        square = step_x * step_x + step_y * step_y
        along = np.clip(away_x * step_x + away_y * step_y, 0, square)
        # the foot of the perpendicular, rounded down to whole metres
        off_x, off_y = away_x - along * step_x // square, away_y - along * step_y // square
        result |= off_x * off_x + off_y * off_y <= metres * metres
    return result


def nearest(plane: Plane, centres: Int64Array, lat: Int64Array, lon: Int64Array) -> Int64Array:
    """The index of the nearest centre of (N, 2) for each point; on a tie the lowest."""
    x, y = plane.east(lon).astype(np.int64), plane.north(lat).astype(np.int64)
    best = np.full(lat.shape, np.iinfo(np.int64).max, dtype=np.int64)
    index: Int64Array = np.zeros(lat.shape, dtype=np.int64)
    centres_x = plane.east(centres[:, 1]).astype(np.int64)
    centres_y = plane.north(centres[:, 0]).astype(np.int64)
    for k, (centre_x, centre_y) in enumerate(zip(centres_x, centres_y, strict=True)):
        square = (x - centre_x) ** 2 + (y - centre_y) ** 2
        closer = square < best
        best[closer] = square[closer]
        index[closer] = k
    return index


def straight_metres(
    plane: Plane, start: tuple[Int64Array, Int64Array], end: tuple[Int64Array, Int64Array]
) -> Int64Array:
    """Metres of the straight line between points (latitudes, longitudes) where they stand on the
    plane, rounded up; shapes broadcast.
    """
    east = plane.east(start[1]).astype(np.int64) - plane.east(end[1])
    north = plane.north(start[0]).astype(np.int64) - plane.north(end[0])
    metres: Int64Array = np.ceil(np.hypot(east, north)).astype(np.int64)
    return metres


def scramble(values: Int64Array, salt: int) -> npt.NDArray[np.uint64]:
    """64 well-mixed bits for each whole number (splitmix64): variety that every machine repeats."""
    offset = salt * 0x9E3779B97F4A7C15 % 2**64
    mixed = values.astype(np.uint64) + np.uint64(offset)
    mixed = (mixed ^ (mixed >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    mixed = (mixed ^ (mixed >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    result: npt.NDArray[np.uint64] = mixed ^ (mixed >> np.uint64(31))
    return result
