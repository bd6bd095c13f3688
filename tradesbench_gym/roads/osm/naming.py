"""The address book of an extract: one spelling a street, gaps filled, no text twice.

Streets, cities and ZIP codes that an address leaves out are those of its road and its neighbours.
It knows addresses and words, no distance matrix and no file.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np
import numpy.typing as npt
from scipy.spatial import cKDTree

from tradesbench_gym.roads.book import words_of
from tradesbench_gym.roads.content import AddressTable
from tradesbench_gym.roads.layout import Int64Array, Kind, Plane
from tradesbench_gym.roads.osm.extract import Addresses

CITY_METRES: Final = 10_000
ZIP_METRES: Final = 2_000
SAME_HOUSE_METRES: Final = 300
# Of several entries with one text, flats say more than a shop, and a shop more than nothing.
RANK: Final = (Kind.RESIDENTIAL, Kind.COMMERCIAL, Kind.APARTMENT)


@dataclass(frozen=True, slots=True)
class Named:
    """Addresses with their texts: `row` is the row of the extract that gives each its place.

    `counts` says what was filled in, merged and left out.
    """

    row: Int64Array
    kind: Int64Array
    table: AddressTable
    counts: dict[str, int]


def name_addresses(
    found: Addresses, plane: Plane, road_name: Sequence[str], city: Sequence[str]
) -> Named:
    """One address for every text.

    `road_name` and `city` have what each address is called where neither it nor a neighbour says:
    the name of the road it stands on, and the city of its zone.
    """
    at = np.stack([plane.east(found.lon_e6), plane.north(found.lat_e6)], axis=1)
    street, streets, bare = _streets(found, road_name)
    code, codes, coded = _fill(found.zip, found.zips, at, ZIP_METRES)
    locality, localities, moved = _localities(found, at, city, code, codes)
    keep = np.flatnonzero(street >= 0)
    order = keep[
        np.lexsort((keep, locality[keep], found.suffix[keep], found.number[keep], street[keep]))
    ]
    columns = (street, found.number, found.suffix, locality)
    fresh = np.ones(len(order), dtype=np.bool_)
    fresh[1:] = np.any([c[order[1:]] != c[order[:-1]] for c in columns], axis=0)
    group = np.cumsum(fresh) - 1
    row = order[fresh]
    off = np.hypot(*(at[order] - at[row[group]]).T)
    kind = _kinds(found.kind[order], group, len(row))
    table = AddressTable(
        number=found.number[row].astype(np.int32),
        suffix=found.suffix[row].astype(np.int32),
        street=street[row].astype(np.int32),
        locality=locality[row].astype(np.int32),
        suffixes=found.suffixes,
        streets=streets,
        localities=localities,
    )
    counts = {
        "house numbers read": len(found.number),
        "street of the nearest road": int(bare),
        "left out, no street": int((street < 0).sum()),
        "city of neighbours": int(moved),
        "ZIP code of neighbours": int(coded),
        "merged, same text": int((~fresh).sum()),
        f"merged, over {SAME_HOUSE_METRES} m apart": int((off > SAME_HOUSE_METRES).sum()),
    }
    return Named(row, kind, table, counts)


def _kinds(kinds: Int64Array, group: Int64Array, groups: int) -> Int64Array:
    """The kind that says most, of every group of entries."""
    rank = np.array([RANK.index(kind) for kind in Kind])[kinds]
    best = np.zeros(groups, dtype=np.int64)
    np.maximum.at(best, group, rank)
    return np.array([int(kind) for kind in RANK], dtype=np.int64)[best]


def _streets(found: Addresses, road_name: Sequence[str]) -> tuple[Int64Array, tuple[str, ...], int]:
    """Street of each address (-1 none), the names, and how many took that of their road."""
    given = [found.streets[k] for k in found.street.tolist()]
    names = [name if words_of(name) else road for name, road in zip(given, road_name, strict=True)]
    index, table = spellings(names)
    bare = sum(
        not words_of(name) and bool(words_of(road))
        for name, road in zip(given, road_name, strict=True)
    )
    return index, table, bare


def spellings(names: Sequence[str]) -> tuple[Int64Array, tuple[str, ...]]:
    """Each name's place in a sorted table with one spelling, the commonest, for every name that a
    search takes for the same; -1 for names without a word.
    """
    keys = {name: words_of(name) for name in set(names)}
    counted: dict[tuple[str, ...], Counter[str]] = defaultdict(Counter)
    for name in names:
        if keys[name]:
            counted[keys[name]][name] += 1
    chosen = {
        key: min(spelt, key=lambda name: (-spelt[name], name)) for key, spelt in counted.items()
    }
    table = sorted(chosen.values())
    place = {name: k for k, name in enumerate(table)}
    where = {name: place[chosen[key]] if key else -1 for name, key in keys.items()}
    return np.array([where[name] for name in names], dtype=np.int64), tuple(table)


def _localities(
    found: Addresses, at: npt.NDArray[np.int32], city: Sequence[str], code: Int64Array,
    codes: tuple[str, ...],
) -> tuple[Int64Array, tuple[tuple[str, str], ...], int]:  # fmt: skip
    """The (city, ZIP) of each address, the table of them, and how many cities were filled in."""
    by_code: dict[int, Counter[int]] = defaultdict(Counter)
    named = np.array([bool(words_of(word)) for word in found.cities])
    own = np.where(named[found.city], found.city, -1)
    for zip_code, town in zip(code.tolist(), own.tolist(), strict=True):
        if town >= 0:
            by_code[zip_code][town] += 1
    usual = {z: min(c, key=lambda town: (-c[town], town)) for z, c in by_code.items() if codes[z]}
    guess = np.array([usual.get(z, -1) for z in code.tolist()], dtype=np.int64)
    town = np.where(own >= 0, own, guess)
    town = _from_neighbours(town, at, CITY_METRES)
    names = [found.cities[t] if t >= 0 else city[k] for k, t in enumerate(town.tolist())]
    index, cities = spellings(names)
    pairs = np.stack([index, code], axis=1)
    unique, place = np.unique(pairs, axis=0, return_inverse=True)
    table = tuple((cities[c] if c >= 0 else "", codes[z]) for c, z in unique.tolist())
    return place.reshape(-1).astype(np.int64), table, int((own < 0).sum())


def _fill(
    column: Int64Array, words: tuple[str, ...], at: npt.NDArray[np.int32], reach: int
) -> tuple[Int64Array, tuple[str, ...], int]:
    """A column of words with gaps filled from the nearest address within `reach` metres."""
    table = tuple(sorted({"", *words}))
    place = {word: k for k, word in enumerate(table)}
    known = np.array([place[word] for word in words], dtype=np.int64)[column]
    filled = _from_neighbours(np.where(known > 0, known, -1), at, reach)
    return np.maximum(filled, 0), table, int(((known == 0) & (filled > 0)).sum())


def _from_neighbours(values: Int64Array, at: npt.NDArray[np.int32], reach: int) -> Int64Array:
    known, open_still = np.flatnonzero(values >= 0), np.flatnonzero(values < 0)
    if not len(known) or not len(open_still):
        return values
    off, nearest = cKDTree(at[known]).query(at[open_still], distance_upper_bound=reach)
    found = np.isfinite(off)
    result = values.copy()
    result[open_still[found]] = values[known[np.asarray(nearest)[found]]]
    return result
