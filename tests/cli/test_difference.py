"""Where two runs part, on events made by hand."""

from __future__ import annotations

import pytest

from tradesbench_gym.company.difference import first_difference, read_events, write_events
from tradesbench_gym.company.events import Event
from tradesbench_gym.core.codes import Entry, Kind
from tradesbench_gym.errors import StateError

OPENED = Event(24300, Kind.DAY_OPENED)
RANG = Event(28800, Kind.RANG, call=1)
BOOKED = Event(28800, Kind.BOOKED, call=1, technician=2, day=0, window=3)
OTHERWISE = Event(28800, Kind.BOOKED, call=1, technician=1, day=0, window=4)
PAID = Event(68400, Kind.LEDGER, entry=Entry.OVERHEAD, cents=-125000)


def test_the_same_events_have_no_difference() -> None:
    assert first_difference([OPENED, RANG, BOOKED], [OPENED, RANG, BOOKED]) is None
    assert first_difference([], []) is None


def test_the_first_difference_is_named_with_its_fields_and_the_last_common_event() -> None:
    found = first_difference([OPENED, RANG, BOOKED, PAID], [OPENED, RANG, OTHERWISE])
    assert found is not None
    assert (found.place, found.common) == (2, RANG)
    assert (found.left, found.right) == (BOOKED, OTHERWISE)
    assert found.differing == ("technician", "window")


def test_a_run_that_stops_early_parts_at_its_end() -> None:
    found = first_difference([OPENED], [OPENED, RANG])
    assert found is not None
    assert (found.left, found.right, found.differing) == (None, RANG, ())


def test_runs_may_part_at_once() -> None:
    found = first_difference([RANG], [OPENED])
    assert found is not None
    assert (found.place, found.common) == (0, None)


def test_events_written_and_read_are_the_same_events() -> None:
    events = [OPENED, RANG, BOOKED, PAID]
    assert list(read_events(write_events(events), "memory")) == events


@pytest.mark.parametrize(
    "line",
    [
        "rubbish",
        "[]",
        "{}",
        '{"at": 1}',
        '{"at": 1, "kind": "dance"}',
        '{"at": "1", "kind": "rang"}',
        '{"at": 1, "kind": "rang", "colour": 3}',
        '{"at": 1, "kind": "ledger", "entry": "gift"}',
        '{"at": 1, "kind": "rang", "call": 1.5}',
    ],
)
def test_a_line_that_is_no_event_is_named_by_its_number(line: str) -> None:
    good = next(iter(write_events([OPENED])))
    with pytest.raises(StateError, match="mine, line 2 is no event"):
        list(read_events([good, line], "mine"))
