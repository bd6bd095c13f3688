"""A recorded run, step by step, as it was played: for a viewer, and to stand where it stopped.

Each step is done again and must lead to the digest that the journal has for it. This module reads
a file and writes nothing; what is wrong with a file that does not agree is the audit's matter.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tradesbench_gym.company.events import Event
from tradesbench_gym.company.simulation import Simulation
from tradesbench_gym.errors import BookingError
from tradesbench_gym.world.command import Command, perform, read_command
from tradesbench_gym.world.errors import WorldError
from tradesbench_gym.world.files import reading
from tradesbench_gym.world.identity import Identity, MapLike, business_of
from tradesbench_gym.world.rows import Counts
from tradesbench_gym.world.schema import COLUMNS, Row, select

TEXT = COLUMNS["run"].index("scenario_text")


@dataclass(frozen=True)
class Step:
    """One command of a recorded run.

    Attributes:
        number: of the row in the journal; 0 is the start.
        command, arguments, outcome: what was asked, and the answer.
        digest: of the whole state after it.
        events: what came of it.
        simulation: the run as it stood then; it moves on with the next step.

    """

    number: int
    command: Command
    arguments: dict[str, Any]
    outcome: int | None
    digest: str
    events: list[Event]
    simulation: Simulation


@dataclass(frozen=True)
class Recording:
    """What a file says of its run, read in one look.

    Attributes:
        run, journal, head: the rows of these tables.
        counts: how many rows there truly are.
        cents: sum of the ledger.

    """

    path: Path
    run: dict[str, Any]
    journal: list[Row]
    head: Row
    counts: Counts
    cents: int

    @property
    def identity(self) -> Identity:
        """What the run is of."""
        return Identity.read(self.run)

    def begin(self, given: MapLike | None) -> Simulation:
        """The run at its start; WorldError if it cannot be played here."""
        business = business_of(self.identity, self.run["scenario_text"], given, self.path)
        return self.identity.begin(business)


def read_recording(path: Path) -> Recording:
    """Read a file; WorldError if it is none, or damaged."""
    with reading(path) as connection:
        return recording_of(connection, path)


def recording_of(connection: sqlite3.Connection, path: Path) -> Recording:
    """What an open connection shows of a run."""
    (sound,) = connection.execute("PRAGMA quick_check(1)").fetchone()
    if sound != "ok":
        raise WorldError(f"{path} is damaged: {sound}", code="damaged", field="path")
    run, head = (connection.execute(select(table)).fetchone() for table in ("run", "head"))
    if run is None or head is None:
        raise WorldError(f"{path} holds no run", code="damaged", field="path")
    events, ledger, calls, cents = connection.execute(
        "SELECT (SELECT count(*) FROM events), count(*), (SELECT count(*) FROM calls),"
        " coalesce(sum(cents), 0) FROM ledger"
    ).fetchone()
    journal = connection.execute(select("journal")).fetchall()
    counts = Counts(len(journal) - 1, events, ledger, calls)
    known = dict(zip(COLUMNS["run"], run, strict=True))
    return Recording(path, known, journal, head, counts, cents)


def replay(path: str | Path, *, map: MapLike | None = None) -> Iterator[Step]:  # noqa: A002 - the word of the trade, and of make()
    """The steps of the run in a file, as far as it has been played; another may be playing it on.

    Args:
        path: the file.
        map: the map, where the file's own name for it is not that of a map here.

    Raises:
        WorldError: no world file, one that cannot be played here, or a step that leads elsewhere.

    """
    recording = read_recording(Path(path))
    return steps(recording, recording.begin(map))


def steps(recording: Recording, simulation: Simulation) -> Iterator[Step]:
    """Do a recording's commands again on a run at its start, proving each digest."""
    path, begun = recording.path, recording.identity.as_dict()
    for place, (number, code, text, outcome, _, digest) in enumerate(recording.journal):
        if number != place:
            raise _astray(path, place, "is missing")
        command, arguments = Command.BEGIN, begun
        if number > 0:
            command, arguments = _command(path, number, code, text)
            try:
                again = perform(simulation, command, arguments)
            except BookingError as error:
                raise _astray(path, number, f"is refused: {error.message}") from None
            if again != outcome:
                raise _astray(path, number, f"has another outcome: {again}, not {outcome}")
        if simulation.digest() != digest:
            raise _astray(path, number, "leads to another state than it says")
        events = simulation.take_events()
        yield Step(number, command, arguments, outcome, digest, events, simulation)


def resume(recording: Recording, simulation: Simulation) -> None:
    """Play a run at its start on to where its file stopped, proving digests, counts and cash."""
    made = Counts()
    for step in steps(recording, simulation):
        made = made.after(step.events)
    head = (made.journal, made.events, made.ledger, made.calls, simulation.digest())
    if (recording.counts, recording.head[1:]) != (made, head) or (
        recording.cents != simulation.profit_cents
    ):
        raise WorldError(
            f"{recording.path} has lost or gained rows since it was written: audit the file to see "
            "which",
            code="rows",
            field="path",
        )


def _command(path: Path, number: int, code: Any, text: Any) -> tuple[Command, dict[str, int]]:
    try:
        return read_command(code, text)
    except (ValueError, TypeError):
        raise _astray(path, number, "is no command") from None


def _astray(path: Path, number: int, what: str) -> WorldError:
    return WorldError(
        f"row {number} of the journal of {path} {what}: audit the file to see what was changed",
        code="journal",
        field="journal",
    )
