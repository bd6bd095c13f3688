"""Reads an extract in one streaming pass: the addresses of an area and the ways a car may drive.

It keeps columns of whole numbers and tables of words, nothing of what lies outside the area, and
says in one sentence what is wrong with a file. osmium is loaded only here and where an extract is
cut. The module knows nothing of zones, networks or maps.
"""

from __future__ import annotations

import datetime as dt
from array import array
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import numpy as np
import numpy.typing as npt

from tradesbench_gym.errors import MapError, needs
from tradesbench_gym.roads.layout import Int64Array
from tradesbench_gym.roads.osm.area import Box
from tradesbench_gym.roads.osm.extract import Addresses, Extract, Ways, Words
from tradesbench_gym.roads.osm.houses import Number, kind_of, numbers
from tradesbench_gym.roads.osm.interpolation import between
from tradesbench_gym.roads.osm.tags import AGAINST, BOTH, blocks, drive, look, wait

if TYPE_CHECKING:
    import osmium

HOUSE: Final = "addr:housenumber"
INTERPOLATION: Final = "addr:interpolation"
E6: Final = 1e6
E7: Final = 1e7
CM_PER_KM: Final = 100_000
REPORT_EVERY: Final = 20_000
Report = Callable[[int, int], None]
Point = tuple[int, int, int]
"""A node of a way: id, latitude and longitude in microdegrees."""


def load_osmium() -> Any:
    """The osmium package; raises MapError saying what to install where it is missing."""
    try:
        import osmium
    except ImportError:
        raise MapError(
            needs("Reading an OpenStreetMap extract", "osmium", "map") + ".",
            code="osmium_missing",
        ) from None
    return osmium


@contextmanager
def readable(path: Path) -> Iterator[None]:
    """Turns what osmium raises for a bad file into one sentence."""
    try:
        yield
    except MapError:
        raise
    except OSError as error:
        raise MapError(
            f"Cannot read the extract {path}: {error.strerror or error}.", code="extract_unreadable"
        ) from error
    except RuntimeError as error:
        reason = str(error).splitlines()[0] if str(error) else type(error).__name__
        raise MapError(
            f"{path} is truncated or is no OpenStreetMap extract (.osm.pbf, .osm, .osm.bz2): "
            f"{reason}.",
            code="extract_damaged",
        ) from None


def read_extract(path: Path, bounds: Box, roads: Box, report: Report = lambda *_: None) -> Extract:
    """The addresses within `bounds` and the drivable ways with a node within `roads`.

    Raises MapError when the file is not an extract, is truncated, or has nothing in the area.
    """
    osmium = load_osmium()
    with readable(path):
        reader = _Reader(bounds, roads, _building_rings(osmium, path))
        wanted = osmium.filter.KeyFilter(HOUSE, INTERPOLATION, "highway", "barrier", "restriction")
        # Locations first: the filter then keeps all other nodes from ever becoming Python objects.
        objects = (
            osmium.FileProcessor(str(path)).with_locations("sparse_mem_array").with_filter(wanted)
        )
        for count, thing in enumerate(objects):
            reader.take(thing)
            if count % REPORT_EVERY == 0:
                report(count, 0)
        date = _date_of(objects.header) or reader.youngest
    extract = reader.result(date)
    report(len(extract.addresses.lat_e6) + len(extract.ways.speed), 0)
    if not reader.met:
        raise MapError(
            f"The area ({bounds}: south, west, north, east) lies outside the extract {path}, which "
            f"covers {reader.covered()}.",
            code="area_outside",
            field="area",
        )
    if not len(extract.addresses.lat_e6):
        raise MapError(
            f"There are no house numbers (addr:housenumber) of {path} in the area ({bounds}).",
            code="no_addresses",
            field="area",
        )
    if not len(extract.ways.speed):
        raise MapError(
            f"There are no roads for cars of {path} in the area ({bounds}).",
            code="no_roads",
            field="area",
        )
    return extract


def _building_rings(osmium: Any, path: Path) -> dict[int, dict[str, str]]:
    """Tags of addressed multipolygons by the id of the first way of each, which stands for it."""
    rings: dict[int, dict[str, str]] = {}
    relations = osmium.FileProcessor(str(path), osmium.osm.RELATION).with_filter(
        osmium.filter.KeyFilter(HOUSE)
    )
    for relation in relations:
        for member in relation.members:
            if member.type == "w" and member.role != "inner":
                rings[member.ref] = dict(relation.tags)
                break
    return rings


def _date_of(header: Any) -> str:
    for key in ("osmosis_replication_timestamp", "timestamp"):
        if header.get(key):
            return str(header.get(key))
    return ""


class _Reader:
    """Collects what one pass over an extract meets."""

    def __init__(self, bounds: Box, roads: Box, rings: dict[int, dict[str, str]]) -> None:
        self._bounds, self._roads, self._rings = bounds, roads, rings
        self._words = {name: Words() for name in ("suffix", "street", "city", "zip", "name")}
        self._address: dict[str, array[int]] = {
            name: array("i")
            for name in ("lat_e6", "lon_e6", "number", "suffix", "street", "city", "zip", "kind")
        }
        self._way: dict[str, array[int]] = {
            name: array("i")
            for name in ("road", "oneway", "restricted", "reversed", "look", "name")
        }
        self._way["speed"] = array("q")
        self._id = array("q")
        self._refs, self._lats, self._lons = array("q"), array("i"), array("i")
        self._starts = array("q", [0])
        self._blocked: set[int] = set()
        self._waits: list[tuple[int, int, int]] = []
        self._bans: list[tuple[int, int, int, int]] = []
        self._houses: dict[int, tuple[Number, int]] = {}
        self._unreadable = 0
        self._seen = [2**31, 2**31, -(2**31), -(2**31)]
        self._latest = dt.datetime.fromtimestamp(0, dt.UTC)
        self.met = False

    @property
    def youngest(self) -> str:
        """When the youngest object kept was last changed: the date of a file that names none."""
        return self._latest.strftime("%Y-%m-%dT%H:%M:%SZ") if self._latest.year > 1970 else ""

    def covered(self) -> str:
        """The box of everything met."""
        return str(Box(*self._seen)) if self._seen[0] < 2**31 else "no house and no road"

    def take(self, thing: Any) -> None:
        """Look at one node, way or relation."""
        if thing.is_node():
            self._node(thing)
        elif thing.is_way():
            self._line(thing)
        elif "restriction" in thing.tags:
            self._ban(thing)

    def _node(self, node: osmium.osm.Node) -> None:
        location = node.location
        if not location.valid():
            return
        lat, lon = _e6(location.y), _e6(location.x)
        self._see(lat, lon)
        tags = node.tags
        if HOUSE in tags and self._bounds.holds(lat, lon):
            self._stamp(node)
            self._house(dict(tags), lat, lon, node.id)
        if ("barrier" in tags or "access" in tags) and blocks(dict(tags)):
            self._blocked.add(node.id)
        if "highway" in tags or "barrier" in tags:
            lost = wait(dict(tags))
            if any(lost):
                self._waits.append((node.id, *lost))

    def _ban(self, relation: osmium.osm.Relation) -> None:
        """A forbidden or compulsory turn at a node; those that lead over ways are left out."""
        kind = relation.tags["restriction"]
        if not kind.startswith(("no_", "only_")):
            return
        ends: dict[tuple[str, str], list[int]] = {}
        for member in relation.members:
            ends.setdefault((member.role, member.type), []).append(member.ref)
        for via in ends.get(("via", "n"), []):
            for start in ends.get(("from", "w"), []):
                for end in ends.get(("to", "w"), []):
                    self._bans.append((start, via, end, int(kind.startswith("only_"))))

    def _line(self, way: osmium.osm.Way) -> None:
        tags = way.tags
        ring = self._rings.get(way.id)
        if "highway" not in tags and HOUSE not in tags and INTERPOLATION not in tags and not ring:
            return
        runs = _runs(way)
        points = [point for run in runs for point in run]
        if not points:
            return
        for _, lat, lon in points:
            self._see(lat, lon)
        if HOUSE in tags:
            self._building(dict(tags), points)
        if ring:
            self._building(ring, points)
        if INTERPOLATION in tags:
            self._interpolated(dict(tags), points)
        if "highway" in tags:
            for run in runs:
                self._road(way, run)

    def _see(self, lat: int, lon: int) -> None:
        seen = self._seen
        seen[0], seen[1] = min(seen[0], lat), min(seen[1], lon)
        seen[2], seen[3] = max(seen[2], lat), max(seen[3], lon)
        self.met = self.met or self._bounds.holds(lat, lon)

    def _stamp(self, thing: Any) -> None:
        self._latest = max(self._latest, thing.timestamp)

    def _building(self, tags: dict[str, str], points: list[Point]) -> None:
        if len(points) > 1 and points[0][0] == points[-1][0]:
            points = points[1:]
        lat = sum(p[1] for p in points) // len(points)
        lon = sum(p[2] for p in points) // len(points)
        if self._bounds.holds(lat, lon):
            self._house(tags, lat, lon, None)

    def _house(self, tags: dict[str, str], lat: int, lon: int, node: int | None) -> None:
        for number in numbers(tags[HOUSE]):
            if number is None:
                self._unreadable += 1
                continue
            row = self._add(tags, number, lat, lon)
            if node is not None:
                self._houses[node] = (number, row)

    def _add(self, tags: dict[str, str], number: Number, lat: int, lon: int) -> int:
        words, column = self._words, self._address
        column["lat_e6"].append(lat)
        column["lon_e6"].append(lon)
        column["number"].append(number.number)
        column["suffix"].append(words["suffix"].index(number.suffix))
        street = tags.get("addr:street") or tags.get("addr:place") or ""
        column["street"].append(words["street"].index(" ".join(street.split())))
        column["city"].append(words["city"].index(" ".join(tags.get("addr:city", "").split())))
        code = tags.get("addr:postcode", "").split(";")[0].split("-")[0].strip()
        column["zip"].append(words["zip"].index(code))
        column["kind"].append(int(kind_of(tags)))
        return len(column["lat_e6"]) - 1

    def _interpolated(self, tags: dict[str, str], points: list[Point]) -> None:
        """Houses between the numbered nodes of an interpolation way, named as its first node is."""
        numbered = [(k, *self._houses[p[0]]) for k, p in enumerate(points) if p[0] in self._houses]
        for (start, first, row), (end, last, _) in pairwise(numbered):
            line = [(lat, lon) for _, lat, lon in points[start : end + 1]]
            for number, lat, lon in between(tags[INTERPOLATION], first, last, line):
                self._copy(row, number, lat, lon)

    def _copy(self, row: int, number: int, lat: int, lon: int) -> None:
        for column in self._address.values():
            column.append(column[row])
        self._address["lat_e6"][-1], self._address["lon_e6"][-1] = lat, lon
        self._address["number"][-1] = number
        self._address["suffix"][-1] = self._words["suffix"].index("")

    def _road(self, way: osmium.osm.Way, points: list[Point]) -> None:
        inside = any(self._roads.holds(lat, lon) for _, lat, lon in points)
        if not inside or len(points) < 2:
            return
        tags = dict(way.tags)
        use = drive(tags)
        if use is None:
            return
        self._stamp(way)
        if use.direction == AGAINST:
            points.reverse()
        self._way["reversed"].append(int(use.direction == AGAINST))
        self._id.append(way.id)
        self._way["road"].append(int(use.road))
        self._way["speed"].append(round(use.speed * CM_PER_KM))
        self._way["oneway"].append(int(use.direction != BOTH))
        self._way["restricted"].append(int(use.restricted))
        self._way["look"].append(look(tags))
        self._way["name"].append(self._words["name"].index(use.name))
        for ref, lat, lon in points:
            self._refs.append(ref)
            self._lats.append(lat)
            self._lons.append(lon)
        self._starts.append(len(self._refs))

    def result(self, date: str) -> Extract:
        """Everything collected, as arrays."""
        words, way = self._words, {name: _int64(column) for name, column in self._way.items()}
        return Extract(
            addresses=Addresses(
                **{name: _int64(column) for name, column in self._address.items()},
                suffixes=words["suffix"].tuple(),
                streets=words["street"].tuple(),
                cities=words["city"].tuple(),
                zips=words["zip"].tuple(),
            ),
            ways=Ways(
                id=_int64(self._id),
                **way,
                start=_int64(self._starts),
                ref=_int64(self._refs),
                lat_e6=_int64(self._lats),
                lon_e6=_int64(self._lons),
                names=words["name"].tuple(),
                blocked=np.array(sorted(self._blocked), dtype=np.int64),
                **_columns(self._waits, ("wait_ref", "wait_ahead", "wait_against")),
                **_columns(self._bans, ("ban_from", "ban_via", "ban_to", "ban_only")),
            ),
            date=date,
            unreadable=self._unreadable,
        )


def _runs(way: osmium.osm.Way) -> list[list[Point]]:
    """The nodes of a way, parted where an extract lacks some: no road leads over what was cut."""
    runs: list[list[Point]] = [[]]
    for node in way.nodes:
        if node.location.valid():
            runs[-1].append((node.ref, _e6(node.location.y), _e6(node.location.x)))
        elif runs[-1]:
            runs.append([])
    return runs


def _e6(e7: int) -> int:
    """Microdegrees of an osmium coordinate, rounded as OSRM does: half away from zero."""
    e6 = e7 / E7 * E6
    return int(e6 + 0.5 if e6 >= 0 else e6 - 0.5)


def _columns(rows: Sequence[tuple[int, ...]], names: tuple[str, ...]) -> dict[str, Int64Array]:
    table = np.array(sorted(set(rows)), dtype=np.int64).reshape(-1, len(names))
    return dict(zip(names, table.T.copy(), strict=True))


def _int64(column: array[int]) -> Int64Array:
    values: npt.NDArray[Any] = np.array(column)
    return values.astype(np.int64)
