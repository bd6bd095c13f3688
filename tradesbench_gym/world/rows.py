"""The rows that one command adds to a file: made here and nowhere else, so that what is written
while a run is played and what an audit expects to find cannot differ.

This module knows the tables and no connection.
"""

from __future__ import annotations

import sqlite3
from dataclasses import dataclass, field

from tradesbench_gym.company.events import Event
from tradesbench_gym.company.simulation import Simulation
from tradesbench_gym.core.codes import Kind
from tradesbench_gym.world.command import Arguments, Command, arguments_text
from tradesbench_gym.world.schema import Row, insert

_HEAD = "UPDATE head SET (journal, events, ledger, calls, digest) = (?, ?, ?, ?, ?)"
ADDED = ("journal", "events", "ledger", "calls")


@dataclass(frozen=True)
class Counts:
    """How many rows there are: the number of the last row of each table."""

    journal: int = -1
    events: int = 0
    ledger: int = 0
    calls: int = 0

    def after(self, events: list[Event]) -> Counts:
        """The counts after one more command and what came of it."""
        return Counts(
            self.journal + 1,
            self.events + len(events),
            self.ledger + sum(event.kind == Kind.LEDGER for event in events),
            self.calls + sum(event.kind == Kind.RANG for event in events),
        )


@dataclass
class Rows:
    """The rows of one command, by table, and the counts after them."""

    journal: list[Row]
    counts: Counts
    digest: str
    cents: int
    events: list[Row] = field(default_factory=list)
    ledger: list[Row] = field(default_factory=list)
    calls: list[Row] = field(default_factory=list)

    @property
    def head(self) -> Row:
        """The row of `head` after this command."""
        counts = self.counts
        last = (counts.journal, counts.events, counts.ledger, counts.calls)
        return (1, *last, self.digest)


def make_rows(
    before: Counts,
    simulation: Simulation,
    command: Command,
    arguments: Arguments,
    outcome: int | None,
    events: list[Event],
) -> Rows:
    """The rows of a command that has just been done.

    Args:
        before: the counts before it.
        simulation: the run after it.
        command: what was asked.
        arguments: of the command.
        outcome: the answer.
        events: what came of it.

    """
    number, digest = before.journal + 1, simulation.digest()
    clock = int(simulation.record["clock"])
    row = (number, int(command), arguments_text(arguments), outcome, clock, digest)
    cents = sum(event.cents or 0 for event in events)
    rows = Rows([row], before.after(events), digest, cents)
    for place, event in enumerate(events, before.events + 1):
        rows.events.append(_event_row(place, number, event))
        if event.kind == Kind.LEDGER:
            ledger = before.ledger + len(rows.ledger) + 1
            rows.ledger.append((ledger, place, int(event.entry or 0), event.cents))
        elif event.kind == Kind.RANG and event.call is not None:
            rows.calls.append(_call_row(event.call, place, simulation))
    return rows


def _event_row(number: int, journal: int, event: Event) -> Row:
    return (
        number,
        journal,
        event.at,
        int(event.kind),
        event.call,
        event.technician,
        event.day,
        event.window,
    )


def _call_row(call: int, event: int, simulation: Simulation) -> Row:
    record = simulation.record["calls"][call - 1]
    wanted = ("service", "customer", "urgent", "zone", "address")
    return (call, event, *(int(record[name]) for name in wanted))


def write_rows(connection: sqlite3.Connection, rows: Rows) -> None:
    """Add the rows of a command inside the present transaction."""
    for table in ADDED:
        for row in getattr(rows, table):
            connection.execute(insert(table), row)
    if rows.counts.journal == 0:
        connection.execute(insert("head"), rows.head)
    else:
        connection.execute(_HEAD, rows.head[1:])
