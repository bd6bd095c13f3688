"""The area file: what a map built from an extract is called, its bounds and its service zones.

It reads the TOML, checks every key and says which zone a point or a ZIP code belongs to. It knows
no extract and no road.
"""

from __future__ import annotations

import hashlib
import math
import tomllib
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final, NoReturn

import numpy as np

from tradesbench_gym.errors import MapError, shown
from tradesbench_gym.roads.layout import ZONE_CAPACITY, Int64Array, to_e6
from tradesbench_gym.roads.shapes import inside

SHIPPED_AREAS: Final = Path(__file__).with_name("areas")
DEFAULT_ANCHORS: Final = 2_116
DEFAULT_MARGIN_KM: Final = 5.0
KM_PER_DEGREE: Final = 111.0
NOWHERE: Final = -1
ELSEWHERE: Final = ("refuse", "leave out", "nearest")
AREA_KEYS: Final = frozenset(
    {"name", "title", "state", "city", "anchors", "bounds", "margin_km", "elsewhere", "zone"}
)
ZONE_KEYS: Final = frozenset({"name", "polygon", "zips", "centre", "share", "city"})


@dataclass(frozen=True, slots=True)
class Box:
    """South, west, north and east in microdegrees, borders included."""

    south: int
    west: int
    north: int
    east: int

    def holds(self, lat_e6: int, lon_e6: int) -> bool:
        """Whether a point lies in the box."""
        return self.south <= lat_e6 <= self.north and self.west <= lon_e6 <= self.east

    def grown(self, km: float) -> Box:
        """The box with `km` more on every side, counted in degrees of latitude."""
        more = to_e6(km / KM_PER_DEGREE)
        return Box(self.south - more, self.west - more, self.north + more, self.east + more)

    def __str__(self) -> str:
        degrees = (f"{value / 1e6:.3f}" for value in (self.south, self.west, self.north, self.east))
        return ", ".join(degrees)


@dataclass(frozen=True, slots=True)
class ServiceZone:
    """A zone of the area file; `centre` and `share` are filled in by the build where it has none.

    `outlines` are (N, 2) latitudes and longitudes × 10⁶, `zips` the ZIP codes it serves.
    """

    name: str
    outlines: tuple[Int64Array, ...]
    zips: frozenset[str]
    centre: tuple[float, float] | None
    share: float | None
    city: str


@dataclass(frozen=True, slots=True)
class Area:
    """An area file, read and checked; `digest` is the SHA-256 of its text."""

    name: str
    title: str
    state: str
    city: str
    anchors: int
    bounds: Box
    margin_km: float
    elsewhere: str
    zones: tuple[ServiceZone, ...]
    digest: str

    @property
    def road_bounds(self) -> Box:
        """Where roads are kept: the bounds and a margin, for routes that leave and come back."""
        return self.bounds.grown(self.margin_km)

    def zones_of(self, lat_e6: Int64Array, lon_e6: Int64Array, zips: list[str]) -> Int64Array:
        """The zone of each address, by ZIP code, else by outline; -1 where none claims it."""
        by_zip = {code: k for k, zone in enumerate(self.zones) for code in zone.zips}
        result = np.array([by_zip.get(code, NOWHERE) for code in zips], dtype=np.int64)
        for k, zone in reversed(list(enumerate(self.zones))):
            open_still = np.flatnonzero(result == NOWHERE)
            for outline in zone.outlines:
                within = inside(outline, lat_e6[open_still], lon_e6[open_still])
                result[open_still[within]] = k
        return result


def find_area(name_or_path: str) -> Path:
    """An area file by its path, or one that ships by name; raises MapError for neither."""
    path = Path(name_or_path)
    if path.is_file():
        return path
    shipped = SHIPPED_AREAS / f"{path.name.removesuffix('.toml')}.toml"
    if path.parent == Path() and shipped.is_file():
        return shipped
    names = ", ".join(sorted(area.stem for area in SHIPPED_AREAS.glob("*.toml")))
    raise MapError(
        f"There is no area file '{name_or_path}': give the path of a TOML file or the name of one "
        f"that ships ({names}).",
        code="area_missing",
        field="area",
    )


def load_area(path: Path) -> Area:
    """The area of a TOML file; raises MapError, one sentence, for anything that cannot be."""
    try:
        data = path.read_bytes()
        raw = tomllib.loads(data.decode("utf-8"))
    except OSError as error:
        raise MapError(
            f"Cannot read the area file {path}: {error.strerror or error}.", code="area_unreadable"
        ) from error
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise MapError(f"{path} is not TOML: {error}.", code="area_invalid") from None
    return _Reader(path).area(raw, hashlib.sha256(data).hexdigest())


class _Reader:
    """Reads one area file; every refusal names the file and the key."""

    def __init__(self, path: Path) -> None:
        self._path = path

    def area(self, raw: dict[str, Any], digest: str) -> Area:
        self._known(raw, AREA_KEYS, "")
        rows = raw.get("zone")
        if not isinstance(rows, list) or not 1 <= len(rows) <= ZONE_CAPACITY:
            self._refuse("zone", f"an area has 1 to {ZONE_CAPACITY} [[zone]] tables")
        zones = tuple(self._zone(row, f"zone {k + 1}") for k, row in enumerate(rows))
        self._distinct(zones)
        elsewhere = self._text(raw, "elsewhere", "refuse")
        if elsewhere not in ELSEWHERE:
            self._refuse("elsewhere", f"it is one of {', '.join(map(repr, ELSEWHERE))}")
        name = self._text(raw, "name")
        return Area(
            name=name,
            title=self._text(raw, "title", name),
            state=self._text(raw, "state"),
            city=self._text(raw, "city", ""),
            anchors=int(self._number(raw, "anchors", 1, 20_000, DEFAULT_ANCHORS)),
            bounds=self._bounds(raw, zones),
            margin_km=self._number(raw, "margin_km", 0, 100, DEFAULT_MARGIN_KM),
            elsewhere=elsewhere,
            zones=zones,
            digest=digest,
        )

    def _zone(self, row: Any, where: str) -> ServiceZone:
        if not isinstance(row, dict):
            self._refuse(where, "a zone is a [[zone]] table")
        self._known(row, ZONE_KEYS, f"{where}: ")
        name = self._text(row, "name")
        outlines = self._outlines(row.get("polygon", []), f"{name}: polygon")
        zips = row.get("zips", [])
        if not isinstance(zips, list) or not all(isinstance(code, str) for code in zips):
            self._refuse(f"{name}: zips", 'ZIP codes are a list of strings such as ["85004"]')
        if not outlines and not zips:
            self._refuse(name, "a zone needs a polygon or ZIP codes")
        centre = row.get("centre")
        share = self._number(row, "share", 0, 100, -1.0)
        return ServiceZone(
            name=name,
            outlines=outlines,
            zips=frozenset(zips),
            centre=None if centre is None else self._point(centre, f"{name}: centre"),
            share=None if share < 0 else share,
            city=self._text(row, "city", ""),
        )

    def _distinct(self, zones: tuple[ServiceZone, ...]) -> None:
        names = [zone.name for zone in zones]
        twice = next((name for name in names if names.count(name) > 1), None)
        if twice is not None:
            self._refuse(twice, "two zones have this name")
        seen: dict[str, str] = {}
        for zone in zones:
            for code in sorted(zone.zips):
                if code in seen:
                    self._refuse(f"{zone.name}: zips", f"{code} belongs to {seen[code]} already")
                seen[code] = zone.name
        given = [zone.share for zone in zones if zone.share is not None]
        if given and len(given) < len(zones):
            self._refuse("share", "give every zone a share or none")
        if given and sum(given) <= 0:
            self._refuse("share", "the shares sum to nothing")

    def _bounds(self, raw: dict[str, Any], zones: tuple[ServiceZone, ...]) -> Box:
        if "bounds" not in raw:
            if any(zone.zips for zone in zones):
                self._refuse(
                    "bounds", "zones of ZIP codes need bounds = [south, west, north, east]"
                )
            corners = np.concatenate([outline for zone in zones for outline in zone.outlines])
            (south, west), (north, east) = corners.min(axis=0), corners.max(axis=0)
            return Box(int(south), int(west), int(north), int(east))
        sides = raw["bounds"]
        if not isinstance(sides, list) or len(sides) != 4:
            self._refuse("bounds", "they are [south, west, north, east] in degrees")
        low, high = self._point(sides[:2], "bounds"), self._point(sides[2:], "bounds")
        box = Box(to_e6(low[0]), to_e6(low[1]), to_e6(high[0]), to_e6(high[1]))
        if box.south >= box.north or box.west >= box.east:
            self._refuse("bounds", "they are [south, west, north, east], south and west first")
        return box

    def _outlines(self, rows: Any, where: str) -> tuple[Int64Array, ...]:
        if not isinstance(rows, list):
            self._refuse(where, "it is a list of [latitude, longitude] corners")
        if not rows:
            return ()
        # One outline, or a list of them.
        several = isinstance(rows[0], list) and rows[0] and isinstance(rows[0][0], list)
        result = []
        for outline in rows if several else [rows]:
            if not isinstance(outline, list) or len(outline) < 3:
                self._refuse(where, "an outline has at least three [latitude, longitude] corners")
            points = [self._point(point, where) for point in outline]
            result.append(
                np.array([[to_e6(lat), to_e6(lon)] for lat, lon in points], dtype=np.int64)
            )
        return tuple(result)

    def _point(self, value: Any, where: str) -> tuple[float, float]:
        numbers = isinstance(value, list) and len(value) == 2
        if not numbers or not all(_is_number(v) for v in value):
            self._refuse(where, f"{shown(value)} is not [latitude, longitude]")
        lat, lon = float(value[0]), float(value[1])
        if not (-85 <= lat <= 85 and -180 <= lon <= 180):
            self._refuse(where, f"{shown(value)} is not on the map: [latitude, longitude]")
        return lat, lon

    def _number(
        self, raw: dict[str, Any], key: str, low: float, high: float, default: float
    ) -> float:
        value = raw.get(key)
        if value is None:
            return default
        if not _is_number(value) or not low <= value <= high:
            self._refuse(key, f"it is a number from {low:g} to {high:,g}, not {shown(value)}")
        return float(value)

    def _text(self, raw: dict[str, Any], key: str, default: str | None = None) -> str:
        value = raw.get(key, default)
        if not isinstance(value, str) or (default is None and not value.strip()):
            self._refuse(key, "it is a text and must be given" if value is None else "it is a text")
        return value.strip()

    def _known(self, raw: dict[str, Any], known: frozenset[str], where: str) -> None:
        unknown = sorted(set(raw) - known)
        if unknown:
            self._refuse(
                f"{where}{unknown[0]}",
                f"there is no such key; there are {', '.join(sorted(known))}",
            )

    def _refuse(self, key: str, why: str) -> NoReturn:
        raise MapError(f"In the area file {self._path}, {key}: {why}.", code="area_invalid")


def _is_number(value: Any) -> bool:
    number = isinstance(value, int | float) and not isinstance(value, bool)
    return number and math.isfinite(value)
