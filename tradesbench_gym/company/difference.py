"""Where two runs part: the first event that one has and the other has not.

Works on events alone, from a run just played or from a file of JSON lines; it knows no rule, no
policy and no map. What differs is named by the fields of `Event`.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, fields
from itertools import zip_longest
from typing import Any

from tradesbench_gym.company.events import Event
from tradesbench_gym.core.codes import Entry, Kind
from tradesbench_gym.errors import StateError

FIELDS = tuple(field.name for field in fields(Event))


@dataclass(frozen=True, slots=True)
class Difference:
    """Where two runs part.

    Attributes:
        place: how many events they have in common.
        common: the last of them; None if they part at once.
        left, right: the first two that differ; None where that run has no more events.
        differing: names of the fields in which the two differ; empty where one is missing.

    """

    place: int
    common: Event | None
    left: Event | None
    right: Event | None
    differing: tuple[str, ...]

    def as_dict(self) -> dict[str, Any]:
        """Plain values for JSON."""
        shown = {
            name: None if event is None else event.as_dict()
            for name, event in (("common", self.common), ("left", self.left), ("right", self.right))
        }
        return {"place": self.place, **shown, "differing": list(self.differing)}


def first_difference(left: Iterable[Event], right: Iterable[Event]) -> Difference | None:
    """The first event in which two runs part; None if they are the same.

    >>> first_difference([Event(1, Kind.RANG, 1)], [Event(1, Kind.RANG, 2)]).differing
    ('call',)
    """
    common = None
    for place, (one, other) in enumerate(zip_longest(left, right)):
        if one != other:
            return Difference(place, common, one, other, _differing(one, other))
        common = one
    return None


def _differing(one: Event | None, other: Event | None) -> tuple[str, ...]:
    if one is None or other is None:
        return ()
    return tuple(name for name in FIELDS if getattr(one, name) != getattr(other, name))


def write_events(events: Iterable[Event]) -> Iterator[str]:
    """One line of JSON an event, each with its newline."""
    for event in events:
        yield json.dumps(event.as_dict()) + "\n"


def read_events(lines: Iterable[str], name: str) -> Iterator[Event]:
    """The events of lines that `write_events` made.

    Args:
        lines: of JSON; blank ones are skipped.
        name: what the error calls their source.

    Raises:
        StateError: a line that is no event; it is named by its number.

    """
    for number, line in enumerate(lines, start=1):
        if line.strip():
            try:
                yield _event(json.loads(line))
            except (ValueError, KeyError, TypeError) as error:
                raise StateError(
                    f"{name}, line {number} is no event: {line.strip()!r:.60}",
                    code="event_damaged",
                    field="events",
                ) from error


def _event(plain: Any) -> Event:
    if not isinstance(plain, dict):
        raise TypeError("an event is an object")
    given: dict[str, Any] = dict(plain)
    given["kind"] = Kind[str(given["kind"]).upper()]
    if "entry" in given:
        given["entry"] = Entry[str(given["entry"]).upper()]
    if not all(isinstance(value, int) for value in given.values()):
        raise TypeError("the values of an event are whole numbers")
    return Event(**given)
