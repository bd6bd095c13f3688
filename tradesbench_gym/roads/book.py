"""The address book: finding an address by what people write, tolerant of case, commas and words.

It knows how addresses are written (directions, kinds of street, house-number suffixes) and looks
them up by street and number. It must not know files, distances or the engine.
"""

from __future__ import annotations

import difflib
import re
from collections.abc import Iterator
from typing import Final, NamedTuple

import numpy as np

from tradesbench_gym.errors import MapError
from tradesbench_gym.roads.content import AddressTable
from tradesbench_gym.roads.layout import Int32Array

WORDS: Final = {
    "NORTH": "N", "SOUTH": "S", "EAST": "E", "WEST": "W",
    "NORTHEAST": "NE", "NORTHWEST": "NW", "SOUTHEAST": "SE", "SOUTHWEST": "SW",
    "AVENUE": "AVE", "AV": "AVE", "STREET": "ST", "ROAD": "RD", "DRIVE": "DR", "LANE": "LN",
    "BOULEVARD": "BLVD", "PARKWAY": "PKWY", "PLACE": "PL", "TERRACE": "TER", "CIRCLE": "CIR",
    "COURT": "CT", "HIGHWAY": "HWY", "TRAIL": "TRL", "FREEWAY": "FWY", "SQUARE": "SQ",
    "EXPRESSWAY": "EXPY", "FIRST": "1ST", "SECOND": "2ND", "THIRD": "3RD", "FOURTH": "4TH",
    "FIFTH": "5TH", "SIXTH": "6TH", "SEVENTH": "7TH", "EIGHTH": "8TH", "NINTH": "9TH",
    "TENTH": "10TH", "SAINT": "ST", "MOUNT": "MT", "FORT": "FT",
}  # fmt: skip
STATES: Final = {"ARIZONA": "AZ", "NEW YORK": "NY", "CALIFORNIA": "CA"}
HOUSE: Final = re.compile(r"(\d+)(-\d+[A-Z]{0,2}|/\d+|[A-Z]{1,2})?$")
FRACTION: Final = re.compile(r"\d/\d$")
SUGGESTIONS: Final = 3


class Query(NamedTuple):
    """A written address, taken apart: house number, its suffix, and the remaining words."""

    number: int
    suffix: str
    words: tuple[str, ...]


def words_of(text: str) -> tuple[str, ...]:
    """The words of `text` in capitals, without punctuation, abbreviated the usual way."""
    plain = re.sub(r"[^0-9A-Z/\-#' ]", " ", text.upper()).replace("'", "")
    return tuple(WORDS.get(word, word) for word in plain.split())


def parse(text: str) -> Query:
    """Take a written address apart; raises MapError when it does not begin with a house number."""
    words = words_of(text)
    house = HOUSE.match(words[0]) if words else None
    if house is None or int(house[1]) > np.iinfo(np.int32).max:
        raise MapError(
            f"'{text.strip()}' does not begin with a house number: write it like "
            "'1234 W Camelback Rd, Phoenix, AZ 85015'.",
            code="address_unreadable",
            field="text",
        )
    suffix, rest = house[2] or "", words[1:]
    if rest and FRACTION.match(rest[0]):
        suffix, rest = f"{suffix} {rest[0]}", rest[1:]
    return Query(int(house[1]), suffix, rest)


class AddressBook:
    """Looks addresses up by text.

    `order` lists the address ids by (street, number), `start` where each street begins in it.
    """

    def __init__(self, table: AddressTable, state: str, order: Int32Array, start: Int32Array):
        self._table = table
        self._state = state
        self._order = order
        self._start = start
        self._streets: dict[tuple[str, ...], list[int]] = {}
        for index, name in enumerate(table.streets):
            self._streets.setdefault(words_of(name), []).append(index)
        self._suffixes = {suffix.upper(): i for i, suffix in enumerate(table.suffixes)}
        self._places = [(words_of(city), code.upper()) for city, code in table.localities]

    def text(self, address: int) -> str:
        """How address `address` is written."""
        table = self._table
        city, code = table.localities[table.locality[address]]
        house = f"{table.number[address]}{table.suffixes[table.suffix[address]]}"
        street = table.streets[table.street[address]]
        return f"{house} {street}, {city}, {self._state} {code}".rstrip()

    def find(self, text: str) -> int:
        """The id of the address written as `text`; raises MapError naming close matches."""
        query = parse(text)
        longest: tuple[list[int], list[int]] | None = None
        for streets, rest in self._splits(query):
            candidates = [i for street in streets for i in self._at(street, query)]
            matches = [i for i in candidates if self._agrees(i, rest)]
            if len(matches) == 1:
                return matches[0]
            if matches:
                raise MapError(
                    f"'{text.strip()}' may be {self._several(matches)}: add the city or the ZIP.",
                    code="address_ambiguous",
                    field="text",
                )
            longest = longest or (streets, candidates)
        if longest is None:
            raise self._unknown_street(text, query)
        near = longest[1] or self._neighbours(longest[0], query.number)
        raise MapError(
            f"There is no address '{text.strip()}'; near it {self._several(near)}.",
            code="address_unknown",
            field="text",
        )

    def _splits(self, query: Query) -> Iterator[tuple[list[int], tuple[str, ...]]]:
        """Streets that leading words name, and the words after them; most words first, for a
        street may be called what another street and its city are.
        """
        for length in range(len(query.words), 0, -1):
            streets = self._streets.get(query.words[:length])
            if streets:
                yield streets, query.words[length:]

    def _at(self, street: int, query: Query) -> list[int]:
        suffix = self._suffixes.get(query.suffix)
        ids = self._order[self._start[street] : self._start[street + 1]]
        low, high = self._range(street, query.number)
        return [int(i) for i in ids[low:high] if self._table.suffix[i] == suffix]

    def _range(self, street: int, number: int) -> tuple[int, int]:
        ids = self._order[self._start[street] : self._start[street + 1]]
        return self._bisect(ids, number), self._bisect(ids, number + 1)

    def _bisect(self, ids: Int32Array, number: int) -> int:
        low, high = 0, len(ids)
        while low < high:
            middle = (low + high) // 2
            if self._table.number[ids[middle]] < number:
                low = middle + 1
            else:
                high = middle
        return low

    def _agrees(self, address: int, rest: tuple[str, ...]) -> bool:
        """Whether the words after the street fit the address's city, state and ZIP."""
        city, code = self._places[self._table.locality[address]]
        words = list(rest)
        if words and words[-1].split("-")[0] == code:
            words.pop()
        if words and STATES.get(words[-1], words[-1]) == self._state:
            words.pop()
        return not words or tuple(words) == city

    def _neighbours(self, streets: list[int], number: int) -> list[int]:
        found = []
        for street in streets:
            ids = self._order[self._start[street] : self._start[street + 1]]
            at = self._bisect(ids, number)
            found += [int(i) for i in ids[max(0, at - 2) : at + 2]]
        found.sort(key=lambda i: abs(int(self._table.number[i]) - number))
        return found

    def _several(self, addresses: list[int]) -> str:
        shown = [f"'{self.text(i)}'" for i in addresses[:SUGGESTIONS]]
        return " or ".join(shown) if shown else "there is none"

    def _unknown_street(self, text: str, query: Query) -> MapError:
        known = {" ".join(key): streets[0] for key, streets in self._streets.items()}
        wanted = [" ".join(query.words[:n]) for n in range(2, min(5, len(query.words)) + 1)]
        wanted = wanted or [" ".join(query.words)]
        close = [
            match
            for phrase in reversed(wanted)
            for match in difflib.get_close_matches(phrase, known, SUGGESTIONS, cutoff=0.75)
        ]
        names = list(dict.fromkeys(self._table.streets[known[match]] for match in close))
        hint = f"; streets like it: {', '.join(names[:SUGGESTIONS])}" if names else ""
        return MapError(
            f"No street of this map is named in '{text.strip()}'{hint}.",
            code="address_unknown",
            field="text",
        )
