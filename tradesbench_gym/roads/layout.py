"""The shapes a road map is made of: record types, kinds of customer, road classes, the plane.

Everything that describes *how* map data lies in memory is here and nothing that reads, writes,
builds or searches it. The module knows neither a file format nor Phoenix; the engine relies on
`PLACE` and `ANCHOR` and on nothing else of this package but `RoadMap`.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import IntEnum
from typing import Any, Final, TypeAlias

import numpy as np
import numpy.typing as npt

Int8Array: TypeAlias = npt.NDArray[np.int8]
Int32Array: TypeAlias = npt.NDArray[np.int32]
Int64Array: TypeAlias = npt.NDArray[np.int64]
Records: TypeAlias = npt.NDArray[Any]

ZONE_CAPACITY: Final = 16
MICRODEGREES: Final = 1_000_000
NO_NAME: Final = -1

PLACE: Final = np.dtype(
    [
        ("lat_e6", "<i4"),
        ("lon_e6", "<i4"),
        ("x", "<i4"),
        ("y", "<i4"),
        ("anchor", "<i4"),
        ("leg", "<i4"),
        ("zone", "i1"),
        ("kind", "i1"),
    ]
)
"""One address: degrees × 10⁶, whole metres east and north of the origin, anchor, metres to it."""

SPOT: Final = np.dtype(
    [("address", "<i4"), ("x", "<i4"), ("y", "<i4"), ("anchor", "<i4"), ("leg", "<i4")]
)
"""An address in a pool: its id, and of `PLACE` what a run notes of a caller, in one place, for a
caller is drawn from anywhere in the city and every look at another table costs a wait for memory.
"""

ANCHOR: Final = np.dtype(
    [("lat_e6", "<i4"), ("lon_e6", "<i4"), ("x", "<i4"), ("y", "<i4"), ("zone", "<i4")]
)
"""One anchor: a node of the road network between which driving distances are tabulated."""

NODE: Final = np.dtype([("lat_e6", "<i4"), ("lon_e6", "<i4")])
"""One junction or bend of the road network."""

EDGE: Final = np.dtype(
    [
        ("tail", "<i4"),
        ("head", "<i4"),
        ("metres", "<i4"),
        ("name", "<i4"),
        ("speed", "<i2"),
        ("road", "i1"),
        ("oneway", "i1"),
    ]
)
"""One stretch of road: nodes, length, name (-1 none), km/h, `Road`, 1 = tail to head only."""


class Kind(IntEnum):
    """What stands at an address; the same numbers in `PLACE`, in pools and in the engine."""

    RESIDENTIAL = 0
    APARTMENT = 1
    COMMERCIAL = 2


class Road(IntEnum):
    """Class of a road, fastest first."""

    FREEWAY = 0
    RAMP = 1
    ARTERIAL = 2
    COLLECTOR = 3
    LOCAL = 4


@dataclass(frozen=True, slots=True)
class Zone:
    """A service zone: its centre in degrees and its share of the demand in per cent."""

    name: str
    lat: float
    lon: float
    share: float


@dataclass(frozen=True, slots=True)
class Landmark:
    """Something a drawing shows: an outline (`mountain`, `airport`) or a line (`river`).

    `points` are (latitude, longitude) in degrees; `width` is that of a line in metres.
    """

    name: str
    kind: str
    points: tuple[tuple[float, float], ...]
    width: int = 0


@dataclass(frozen=True, slots=True)
class Plane:
    """The flat plane of a map: whole metres from an origin, by two fixed constants.

    Integer arithmetic only, rounding half up, so that every machine gets the same metres.
    """

    origin_lat_e6: int
    origin_lon_e6: int
    metres_per_degree_lat: int
    metres_per_degree_lon: int

    def east(self, lon_e6: npt.ArrayLike) -> Int32Array:
        """Whole metres east of the origin, int32, same shape as `lon_e6`."""
        return _scaled(lon_e6, self.origin_lon_e6, self.metres_per_degree_lon)

    def north(self, lat_e6: npt.ArrayLike) -> Int32Array:
        """Whole metres north of the origin, int32, same shape as `lat_e6`."""
        return _scaled(lat_e6, self.origin_lat_e6, self.metres_per_degree_lat)


def _scaled(value_e6: npt.ArrayLike, origin_e6: int, metres_per_degree: int) -> Int32Array:
    offset = (np.asarray(value_e6, dtype=np.int64) - origin_e6) * metres_per_degree
    rounded = (2 * offset + MICRODEGREES) // (2 * MICRODEGREES)
    return np.asarray(rounded, dtype=np.int32)


def to_e6(degrees: float) -> int:
    """Degrees as whole microdegrees."""
    return round(degrees * MICRODEGREES)


def read_only(array: npt.NDArray[Any]) -> npt.NDArray[Any]:
    """The same array, C-contiguous and no longer writable."""
    array = np.ascontiguousarray(array)
    array.flags.writeable = False
    return array
