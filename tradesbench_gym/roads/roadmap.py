"""`RoadMap`, the road map as everybody else uses it, and `open_map`, which finds and opens one.

It joins the parts of this package into one object: arrays for the engine, addresses by id and text
for people, distances, the network as a graph. It must not know how a map is built or stored.
"""

from __future__ import annotations

import functools
import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import numpy as np
import numpy.typing as npt

from tradesbench_gym.errors import MapError
from tradesbench_gym.roads.book import AddressBook
from tradesbench_gym.roads.cache import Unpacked, arrays_of, derive, load
from tradesbench_gym.roads.container import write_content
from tradesbench_gym.roads.content import (
    About,
    AddressTable,
    Content,
    Network,
    check,
    digest_of,
    make_anchors,
    make_places,
)
from tradesbench_gym.roads.layout import (
    EDGE,
    MICRODEGREES,
    NODE,
    Int32Array,
    Kind,
    Landmark,
    Plane,
    Records,
    Zone,
    to_e6,
)
from tradesbench_gym.roads.shipped import SHIPPED

if TYPE_CHECKING:
    import networkx as nx

SUFFIX: Final = ".tbmap"
PHOENIX_PLANE: Final = Plane(33_440_000, -112_073_700, 110_913, 92_923)


@dataclass(frozen=True, slots=True)
class Address:
    """One address record; `metres` is the road distance to its `anchor`."""

    id: int
    number: str
    street: str
    city: str
    state: str
    zip: str
    lat: float
    lon: float
    zone: int
    anchor: int
    metres: int
    kind: Kind

    @property
    def text(self) -> str:
        """As people write it: `1234 W Camelback Rd, Phoenix, AZ 85015`."""
        return f"{self.number} {self.street}, {self.city}, {self.state} {self.zip}".rstrip()


class RoadMap:
    """A city to work in: zones, addresses, anchors and the road distances between them.

    - `name`, `source`, `licence`, `attribution`: str
    - `digest`: SHA-256 of the content in hexadecimal
    - `zones`: tuple of `Zone`, at most 16
    - `places`: (N,) array of dtype PLACE
    - `anchors`: (A,) array of dtype ANCHOR
    - `metres`: (A, A) int32, road metres from anchor i to anchor j along the fastest route,
      diagonal 0; nothing promises symmetry
    - `pool`: (N,) array of dtype SPOT, addresses grouped by zone × 3 + kind
    - `pool_start`: (zones × 3 + 1,) int32, where each group begins in `pool`
    - `landmarks`: tuple of `Landmark`, what a drawing shows besides roads

    Every array is read-only and C-contiguous; those of an opened file are memory maps that all
    processes of a machine share.
    """

    def __init__(self, unpacked: Unpacked, origin: str | None = None) -> None:
        content = unpacked.content
        self._unpacked = unpacked
        self._origin = origin
        self.about = content.about
        self.name = content.about.name
        self.source = content.about.source
        self.licence = content.about.licence
        self.attribution = content.about.attribution
        self.digest = unpacked.digest
        self.plane = content.plane
        self.zones = content.zones
        self.places = content.places
        self.anchors = content.anchors
        self.metres = content.metres
        self.network = content.network
        self.landmarks = content.landmarks
        self.pool = unpacked.pool
        self.pool_start = unpacked.pool_start

    def __repr__(self) -> str:
        return (
            f"RoadMap({self.name!r}, {len(self.places)} addresses, {len(self.anchors)} anchors, "
            f"{len(self.zones)} zones, digest {self.digest[:12]})"
        )

    def __len__(self) -> int:
        return len(self.places)

    def __reduce__(self) -> tuple[Any, ...]:
        # A worker process opens the map itself and shares its pages; only the recipe travels.
        if self._origin is None:
            return _rebuilt, (self._unpacked,)
        return open_map, (self._origin,)

    @classmethod
    def from_arrays(
        cls,
        name: str,
        zones: Sequence[Zone],
        places: Mapping[str, npt.ArrayLike],
        anchors: Mapping[str, npt.ArrayLike],
        metres: npt.ArrayLike,
        *,
        table: AddressTable | None = None,
        network: Network | None = None,
        plane: Plane = PHOENIX_PLANE,
        about: About | None = None,
        landmarks: Sequence[Landmark] = (),
    ) -> RoadMap:
        """A map in memory.

        `places` has N-long columns `lat_e6`, `lon_e6` (degrees × 10⁶), `anchor`, `leg` (metres),
        `zone` and `kind`; `anchors` has A-long columns `lat_e6`, `lon_e6` and `zone`; `metres` is
        an (A, A) array of whole metres. `table` says what the addresses are called; without it
        they are `1 E Main St`, `2 E Main St` … of Phoenix.

        Raises MapError, one sentence, when the parts do not fit together.
        """
        columns = {key: np.asarray(value) for key, value in places.items()}
        corners = {key: np.asarray(value) for key, value in anchors.items()}
        count = len(columns["anchor"])
        content = Content(
            about=about or About(name, name, "AZ", "made in memory", "none", "none"),
            plane=plane,
            zones=tuple(zones),
            places=make_places(plane, columns, count),
            anchors=make_anchors(plane, corners, len(corners["lat_e6"])),
            metres=np.ascontiguousarray(metres, dtype=np.int32),
            table=table or _plain_table(count),
            network=network or Network(np.zeros(0, NODE), np.zeros(0, EDGE), ()),
            landmarks=tuple(landmarks),
        )
        check(content)
        return cls(derive(content, digest_of(content)))

    def address(self, address: int) -> Address:
        """Address `address` (0 … N-1) in full; raises MapError for another number."""
        if not 0 <= address < len(self.places):
            raise MapError(
                f"There is no address {address}: the map has 0 to {len(self.places) - 1}.",
                code="address_unknown",
                field="address",
            )
        table, place = self._unpacked.content.table, self.places[address]
        city, code = table.localities[table.locality[address]]
        return Address(
            id=int(address),
            number=f"{table.number[address]}{table.suffixes[table.suffix[address]]}",
            street=table.streets[table.street[address]],
            city=city,
            state=self.about.state,
            zip=code,
            lat=int(place["lat_e6"]) / MICRODEGREES,
            lon=int(place["lon_e6"]) / MICRODEGREES,
            zone=int(place["zone"]),
            anchor=int(place["anchor"]),
            metres=int(place["leg"]),
            kind=Kind(int(place["kind"])),
        )

    @functools.cached_property
    def book(self) -> AddressBook:
        """The address book behind `find`, built when first needed."""
        unpacked = self._unpacked
        return AddressBook(
            unpacked.content.table,
            self.about.state,
            unpacked.street_order,
            unpacked.street_start,
        )

    def find(self, text: str) -> int:
        """The id of the address written as `text`.

        Case, commas and abbreviations do not matter; city, state and ZIP may be left out while the
        rest is unique. Raises MapError, naming close matches, when there is no such address.
        """
        return self.book.find(text)

    def nearest_anchor(self, lat: float, lon: float) -> int:
        """The anchor nearest to a point (straight line); on a tie the lower number."""
        east = int(self.plane.east(to_e6(lon)))
        north = int(self.plane.north(to_e6(lat)))
        away_x = self.anchors["x"].astype(np.int64) - east
        away_y = self.anchors["y"].astype(np.int64) - north
        return int(np.argmin(away_x * away_x + away_y * away_y))

    def distance(self, start: int, end: int) -> int:
        """Road metres from address `start` to address `end`: 0, or leg + anchors + leg."""
        if start == end:
            return 0
        first, last = self.places[start], self.places[end]
        between = int(self.metres[first["anchor"], last["anchor"]])
        return int(first["leg"]) + between + int(last["leg"])

    def graph(self) -> nx.DiGraph:
        """The road network as a networkx graph to inspect and edit; see `graph.to_graph`."""
        from tradesbench_gym.roads.graph import to_graph

        return to_graph(self.network)

    @property
    def content(self) -> Content:
        """Everything the map holds, as the container stores it."""
        return self._unpacked.content


def _plain_table(count: int) -> AddressTable:
    zeros: Int32Array = np.zeros(count, dtype=np.int32)
    numbers: Int32Array = np.arange(1, count + 1, dtype=np.int32)
    return AddressTable(
        numbers, zeros, zeros, zeros, ("",), ("E Main St",), (("Phoenix", "85004"),)
    )


def write_map(path: str | os.PathLike[str], road_map: RoadMap) -> str:
    """Write a map to `path` in one atomic step and return its digest."""
    return write_content(Path(path), road_map.content)


def open_map(name_or_path: str | os.PathLike[str] = "phoenix") -> RoadMap:
    """Open a shipped map by name or any map file by path; cached for the life of the process.

    Raises MapError, one sentence, for an unknown name and for a file that is truncated, foreign,
    of another format version or not what its digest says.
    """
    shipped = SHIPPED.get(str(name_or_path))
    if shipped is not None:
        return _opened(str(name_or_path), shipped.path, shipped.digest, 0)
    path = Path(name_or_path).absolute()
    if not path.exists():
        names = ", ".join(sorted(SHIPPED))
        raise MapError(
            f"There is no map '{os.fspath(name_or_path)}': name {names} or a {SUFFIX} file.",
            code="map_missing",
            field="map",
        )
    return _opened(str(path), path, None, path.stat().st_mtime_ns)


@functools.lru_cache(maxsize=8)
def _opened(origin: str, path: Path, digest: str | None, _changed: int) -> RoadMap:
    return RoadMap(load(path, digest), origin)


def zone_centres(zones: Sequence[Zone]) -> Int32Array:
    """Zone centres as an int32 array of shape (zones, 2): latitude and longitude × 10⁶."""
    return np.array([(to_e6(z.lat), to_e6(z.lon)) for z in zones], dtype=np.int32)


__all__ = [
    "Address",
    "Kind",
    "Plane",
    "Records",
    "RoadMap",
    "Zone",
    "open_map",
    "write_map",
]


def _rebuilt(unpacked: Unpacked) -> RoadMap:
    # Pickle forgets that arrays are read-only, and kernels would be compiled again for others.
    for array in arrays_of(unpacked).values():
        array.flags.writeable = False
    return RoadMap(unpacked)
