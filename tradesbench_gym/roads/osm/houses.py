"""What stands at an address by its tags: house numbers as written, and the kind of customer.

House numbers are taken apart the way the address book spells them (a whole number and a suffix).
The module knows tags and text only.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final, NamedTuple

from tradesbench_gym.roads.layout import Kind
from tradesbench_gym.roads.osm.tags import Tags

NUMBER: Final = re.compile(
    r"(?P<number>\d{1,9})"
    r"(?P<second>-\d+(?:\s*[A-Z](?![A-Z]))?|/\d+)?"
    r"(?:\s*-?\s*(?P<letters>[A-Z]{1,2}))?"
    r"(?:\s+(?P<fraction>\d/\d))?$"
)
SEVERAL: Final = re.compile(r"[;,]")
APARTMENTS: Final = frozenset({"apartments", "dormitory", "residential;apartments", "condominium"})
BUSINESS_BUILDINGS: Final = frozenset({
    "commercial", "retail", "office", "industrial", "warehouse", "supermarket", "hotel", "motel",
    "school", "college", "university", "hospital", "church", "public", "civic", "government",
    "kindergarten", "service", "fire_station", "restaurant", "shop", "store", "bank",
})  # fmt: skip
BUSINESS_KEYS: Final = (
    "shop", "office", "amenity", "craft", "tourism", "leisure", "healthcare", "industrial",
)  # fmt: skip
FLATS: Final = ("addr:unit", "addr:flats", "building:flats", "addr:door")


class Number(NamedTuple):
    """A house number as the address book spells it: 112 + `-34`, 12 + `A`, 12 + ` 1/2`."""

    number: int
    suffix: str


def numbers(text: str) -> Iterator[Number | None]:
    """The house numbers of an `addr:housenumber`, several where it lists several.

    None stands for one that is no number, such as `SN` or `Rear`.
    """
    for part in SEVERAL.split(text):
        written = part.strip().upper()
        if written:
            yield parse_number(written)


def parse_number(written: str) -> Number | None:
    """One house number in capitals; None where it is none that a text search could tell."""
    found = NUMBER.match(written)
    if found is None or int(found["number"]) > 2**31 - 1:
        return None
    second = re.sub(r"\s", "", found["second"] or "")
    letters = found["letters"] or ""
    if second.startswith("/") and letters:
        return None
    fraction = f" {found['fraction']}" if found["fraction"] else ""
    return Number(int(found["number"]), second + letters + fraction)


def kind_of(tags: Tags) -> Kind:
    """Whom one meets at an address with these tags."""
    building = tags.get("building", "")
    if building in APARTMENTS or tags.get("residential") == "apartments":
        return Kind.APARTMENT
    if building in BUSINESS_BUILDINGS or any(key in tags for key in BUSINESS_KEYS):
        return Kind.COMMERCIAL
    if any(key in tags for key in FLATS):
        return Kind.APARTMENT
    return Kind.RESIDENTIAL
