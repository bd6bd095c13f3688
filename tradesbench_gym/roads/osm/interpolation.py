"""House numbers between two known ones along a line, as OpenStreetMap's interpolation ways mean it.

Plain arithmetic on numbers and points; no tags but the word that says which numbers are meant.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from itertools import pairwise
from typing import Final

from tradesbench_gym.roads.osm.houses import Number

STEPS: Final = {"even": 2, "odd": 2, "all": 1}
# More houses than that between two numbers is a typing error, not a street.
MOST: Final = 1_000

Line = list[tuple[int, int]]


def between(rule: str, first: Number, last: Number, line: Line) -> Iterator[tuple[int, int, int]]:
    """Number, latitude and longitude × 10⁶ of every house between two, the two left out.

    `rule` is `even`, `odd`, `all` or a step; other rules (`alphabetic`) and numbers with a suffix
    give none.
    """
    step = STEPS.get(rule) or (int(rule) if rule.isdecimal() else 0)
    if not step or first.suffix or last.suffix:
        return
    low, high = first.number, last.number
    count = abs(high - low) // step
    if count > MOST:
        return
    for k in range(1, count + 1):
        number = low + k * step * (1 if high > low else -1)
        if number != high:
            lat, lon = _along(line, abs(number - low) / abs(high - low))
            yield number, lat, lon


def _along(line: Line, share: float) -> tuple[int, int]:
    """The point at `share` of the line's length."""
    squeeze = math.cos(math.radians(line[0][0] / 1e6))
    lengths = [
        math.hypot(lat2 - lat1, (lon2 - lon1) * squeeze)
        for (lat1, lon1), (lat2, lon2) in pairwise(line)
    ]
    left = share * sum(lengths)
    for ((lat1, lon1), (lat2, lon2)), length in zip(pairwise(line), lengths, strict=True):
        if left <= length and length:
            part = left / length
            return round(lat1 + (lat2 - lat1) * part), round(lon1 + (lon2 - lon1) * part)
        left -= length
    return line[-1]
