"""What is kept of an extract, as columns and tables of words, and its way into and out of a file.

It knows arrays and words; it must not know how they were read or what becomes of them.
"""

from __future__ import annotations

from dataclasses import dataclass

from tradesbench_gym.roads.layout import Int64Array


class Words:
    """A table of words, each kept once; `index` gives a word's place in it."""

    def __init__(self) -> None:
        self._index: dict[str, int] = {}

    def index(self, word: str) -> int:
        """The place of `word`, a new one at the end for a new word."""
        return self._index.setdefault(word, len(self._index))

    def tuple(self) -> tuple[str, ...]:
        """All words in the order of their places."""
        return tuple(self._index)


@dataclass(frozen=True, slots=True)
class Addresses:
    """House numbers as found: one row each; words by their place in the tables, "" for none."""

    lat_e6: Int64Array
    lon_e6: Int64Array
    number: Int64Array
    suffix: Int64Array
    street: Int64Array
    city: Int64Array
    zip: Int64Array
    kind: Int64Array
    suffixes: tuple[str, ...]
    streets: tuple[str, ...]
    cities: tuple[str, ...]
    zips: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Ways:
    """Drivable ways: one row each, or several where a node is missing, and the nodes of row w in
    places start[w] … start[w + 1] - 1.

    Nodes stand in the direction of travel; `reversed` is 1 where the way is drawn against it.
    `speed` is in centimetres an hour, which hold the speeds of OSRM's profile exactly, `look` as
    `tags.look` says. `blocked` lists the nodes that no car passes, `wait_*` those where it loses
    seconds, ahead and against the direction of the way; `ban_*` the turns by way, node and way that
    are forbidden (`ban_only` 1: every other turn there is).
    """

    id: Int64Array
    road: Int64Array
    speed: Int64Array
    oneway: Int64Array
    restricted: Int64Array
    reversed: Int64Array
    look: Int64Array
    name: Int64Array
    start: Int64Array
    ref: Int64Array
    lat_e6: Int64Array
    lon_e6: Int64Array
    names: tuple[str, ...]
    blocked: Int64Array
    wait_ref: Int64Array
    wait_ahead: Int64Array
    wait_against: Int64Array
    ban_from: Int64Array
    ban_via: Int64Array
    ban_to: Int64Array
    ban_only: Int64Array


@dataclass(frozen=True, slots=True)
class Extract:
    """What one pass over an extract kept; `date` is that of the data, `unreadable` counts the
    house numbers that are no numbers.
    """

    addresses: Addresses
    ways: Ways
    date: str
    unreadable: int
