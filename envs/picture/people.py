"""The letters by which technicians are told apart on map and board."""

from __future__ import annotations

from collections.abc import Sequence


def initials(names: Sequence[str]) -> list[str]:
    """One or two letters a name, no two the same; a number where letters do not tell them apart.

    >>> initials(["Marcus Vega", "Diana Chen", "Mary Poe", "Max Poe"])
    ['MV', 'D', '3', '4']
    """
    firsts = [name[:1].upper() for name in names]
    both = ["".join(part[0].upper() for part in name.split()[:2]) for name in names]
    found = []
    for number, (first, two) in enumerate(zip(firsts, both, strict=True)):
        if firsts.count(first) == 1:
            found.append(first)
        else:
            found.append(two if both.count(two) == 1 else str(number + 1))
    return found
