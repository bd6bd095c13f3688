"""One run in one SQLite file: every change is a command, and every command one commit.

`World` does a command on the simulation, writes what came of it in one transaction, and only then
returns; if the file cannot take it, the simulation stands where it stood. It holds no rule, and it
is the only thing that writes a world file.
"""

from __future__ import annotations

import os
import sqlite3
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import date
from pathlib import Path
from types import TracebackType
from typing import Self

import numpy as np

from tradesbench_gym.company.business import Business, open_business
from tradesbench_gym.company.events import Event
from tradesbench_gym.company.scenario import Scenario
from tradesbench_gym.company.simulation import Simulation
from tradesbench_gym.core.codes import Stop
from tradesbench_gym.core.engine import CUSTOMER, LOCATION
from tradesbench_gym.core.view import Desk
from tradesbench_gym.errors import BookingError
from tradesbench_gym.world import files
from tradesbench_gym.world.command import Arguments, Command, perform, whole
from tradesbench_gym.world.errors import WorldError, world_error
from tradesbench_gym.world.identity import Identity, MapLike, names_rows, run_row
from tradesbench_gym.world.lock import FileLock, Holder
from tradesbench_gym.world.replaying import read_recording, resume
from tradesbench_gym.world.rows import Counts, Rows, make_rows, write_rows
from tradesbench_gym.world.schema import insert


class World:
    """A run in a file, held by this process until `close`. Made by `create` or `open`.

    The commands are those of `Simulation`. Each is durable when it returns, and threads may share a
    world: one command is done after the other.

    Attributes:
        path: the file.
        left_by: the process that held the file last, if it was killed while doing so.

    """

    def __init__(self, path: Path, lock: FileLock, simulation: Simulation, counts: Counts) -> None:
        """For `create` and `open`."""
        self.path = path
        self._lock = lock
        self._simulation = simulation
        self._counts = counts
        self._digest = simulation.digest()
        self._cents = simulation.profit_cents
        self._events: list[Event] = []
        self._turn = threading.RLock()
        self._process = os.getpid()
        self._playing = False
        self._connection: sqlite3.Connection | None = files.open_writing(path)

    @classmethod
    def create(
        cls,
        path: str | Path,
        seed: int = 0,
        *,
        salt: int = 0,
        scenario: str | Path | Scenario = "sunridge",
        map: MapLike = "phoenix",  # noqa: A002 - the word of the trade, and of make()
        days: int | None = None,
        start_date: date | str | None = None,
        business: Business | None = None,
    ) -> World:
        """Begin a run in a new file, which appears whole or not at all.

        Seed and salt are those of `Simulation`; scenario, map, days and start date those of
        `open_business`, or a business stands in place of the four.

        Raises:
            WorldError: the file is there already or cannot be made.
            ScenarioError, MapError, StateError: a run that cannot be.

        """
        place = Path(path)
        known = business or open_business(scenario, map, days, start_date)
        simulation = Simulation(seed, salt=salt, business=known)
        opened_as = known.roadmap.name if business or not isinstance(map, str | Path) else str(map)
        lock = FileLock(place)
        try:
            files.check_free(place)
            with files.making(place) as connection:
                counts = _write_start(connection, Identity.of(simulation, opened_as), simulation)
            return cls(place, lock, simulation, counts)
        except BaseException:
            lock.release()
            raise

    @classmethod
    def open(cls, path: str | Path, *, map: MapLike | None = None) -> World:  # noqa: A002 - as above
        """Resume the run in a file: replay its journal from the seed, prove every digest, hold it.

        Args:
            path: the file.
            map: the map, where the file's own name for it is not that of a map here.

        Raises:
            WorldError: no world file, a damaged one, one that cannot be played here, or one that
                somebody else holds; the file is as it was.

        """
        place = Path(path)
        files.check_file(place)
        lock = FileLock(place)
        try:
            recording = read_recording(place)
            simulation = recording.begin(map)
            resume(recording, simulation)
            files.sweep(place)
            return cls(place, lock, simulation, recording.counts)
        except BaseException:
            lock.release()
            raise

    # -- commands ----------------------------------------------------------------------------------

    def advance(self) -> Stop:
        """Let the world run to the next stop; see `Simulation.advance`."""
        return Stop(int(self._do(Command.ADVANCE, {}) or 0))

    def next_call(self) -> Stop:
        """Let the world run to the next new-job call or the end, acknowledging cancellations on the
        way, each as a command of its own.
        """
        while (stop := self.advance()) not in (Stop.NEW_CALL, Stop.ENDED):
            if stop == Stop.CANCELLATION:
                self.acknowledge()
        return stop

    def offer(
        self, technician: int, ahead: int, window: int, *, service: int | None = None
    ) -> bool:
        """Make the caller the one offer he gets; whether he accepts. See `Simulation.offer`."""
        with self._turn:
            self._check_service(service)
            wanted = whole(technician=technician, ahead=ahead, window=window)
            return bool(self._do(Command.OFFER, wanted))

    def reject(self) -> None:
        """Turn the caller away; see `Simulation.reject`."""
        self._do(Command.REJECT, {})

    def leave_unanswered(self) -> None:
        """Let it ring; see `Simulation.leave_unanswered`."""
        self._do(Command.LEAVE_UNANSWERED, {})

    def acknowledge(self) -> None:
        """Acknowledge the cancellation on the line; see `Simulation.acknowledge`."""
        self._do(Command.ACKNOWLEDGE, {})

    def register(self, address: str | int, books: int = CUSTOMER | LOCATION) -> int:
        """Enter the caller, the location of the job or both in the company's books; the address's
        id. See `Simulation.register`.
        """
        with self._turn:
            found = address
            if isinstance(address, str) and self._simulation.line is not None:
                found = self._simulation.business.roadmap.find(address)
            wanted = {"address": found} if isinstance(found, str) else whole(address=found)
            self._do(Command.REGISTER, {**wanted, **whole(books=books)})
            return int(found)

    # -- looking -----------------------------------------------------------------------------------

    @property
    def simulation(self) -> Simulation:
        """The run, to look at: a command given to it past the file is noticed and refused."""
        return self._simulation

    @property
    def business(self) -> Business:
        """What the run is of."""
        return self._simulation.business

    @property
    def desk(self) -> Desk:
        """What a dispatcher may know now; see `Simulation.desk`."""
        return self._simulation.desk

    @property
    def day(self) -> int:
        """Service day, from 0."""
        return self._simulation.day

    @property
    def line(self) -> int | None:
        """Number of the call on the line, from 1; None if there is none."""
        return self._simulation.line

    @property
    def record(self) -> np.void:
        """The whole state, hidden parts included; see `Simulation.record`."""
        return self._simulation.record

    @property
    def ended(self) -> bool:
        """Whether the last day has closed or the company is bankrupt."""
        return self._simulation.ended

    @property
    def cash_cents(self) -> int:
        """Cash, added up from the ledger in the file."""
        with self._turn, files.told(self.path):
            (cents,) = self._open_connection().execute("SELECT cents FROM cash").fetchone()
            return int(cents)

    @property
    def profit_cents(self) -> int:
        """Cash minus the starting cash: the report's score."""
        return self.cash_cents - int(self.business.handbook["starting_cash"])

    @property
    def commands(self) -> int:
        """How many commands the journal holds."""
        return self._counts.journal

    def digest(self) -> str:
        """The digest of the state, as the last row of the journal has it."""
        return self._digest

    def take_events(self) -> list[Event]:
        """Everything that has happened since the last time this was asked, or since the opening."""
        with self._turn:
            taken, self._events = self._events, []
            return taken

    @property
    def left_by(self) -> Holder | None:
        """The process that held the file last, if it was killed while doing so."""
        return self._lock.left_by

    # -- holding -----------------------------------------------------------------------------------

    def close(self) -> None:
        """Let go of the file, leaving it whole and alone; a second time does nothing."""
        with self._turn:
            if self._connection is None or os.getpid() != self._process:
                return
            files.close_writing(self._connection)
            self._connection = None
            self._lock.release()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()

    # -- the one path ------------------------------------------------------------------------------

    def _do(self, command: Command, arguments: Arguments) -> int | None:
        with self._turn:
            connection, simulation = self._open_connection(), self._simulation
            if simulation.digest() != self._digest:
                raise WorldError(
                    f"the run was played on past its file {self.path}: open the file again",
                    code="astray",
                )
            before = simulation.get_state()
            with self._undone_unless_kept(before):
                outcome = perform(simulation, command, arguments)
                events = simulation.take_events()
                if events or simulation.digest() != self._digest:
                    rows = make_rows(self._counts, simulation, command, arguments, outcome, events)
                    self._commit(connection, rows)
                    self._events += events
            return outcome

    @contextmanager
    def _undone_unless_kept(self, before: bytes) -> Iterator[None]:
        """Whatever happens inside, the simulation ends where the file stands."""
        digest = self._digest
        try:
            yield
        except BookingError:
            raise  # refused: nothing has changed
        except BaseException:
            if self._digest == digest:
                self._simulation.set_state(before)
            raise

    def _commit(self, connection: sqlite3.Connection, rows: Rows) -> None:
        cents = self._cents + rows.cents
        if cents != self._simulation.profit_cents:
            raise WorldError(
                "the ledger does not add up to the cash of the run; nothing was written",
                code="ledger",
            )
        if not self._playing:
            files.begin_playing(connection, self.path)
            self._playing = True
        try:
            connection.execute("BEGIN IMMEDIATE")
            write_rows(connection, rows)
            connection.execute("COMMIT")
        except BaseException as error:
            if not self._was_kept(connection, rows):
                if isinstance(error, sqlite3.Error):
                    raise world_error(error, self.path) from error
                raise
            self._keep(rows, cents)
            if not isinstance(error, sqlite3.Error):
                raise
        else:
            self._keep(rows, cents)

    def _keep(self, rows: Rows, cents: int) -> None:
        self._counts, self._cents, self._digest = rows.counts, cents, rows.digest

    def _was_kept(self, connection: sqlite3.Connection, rows: Rows) -> bool:
        """Whether a commit that was broken off is in the file after all."""
        try:
            if connection.in_transaction:
                connection.execute("ROLLBACK")
            found = connection.execute("SELECT journal, digest FROM head").fetchone()
        except sqlite3.Error:
            found = None
        if found == (rows.counts.journal, rows.digest):
            return True
        if found != (self._counts.journal, self._digest):
            self.close()  # what is in the file cannot be told now: only its opening can
        return False

    def _check_service(self, service: int | None) -> None:
        number, simulation = self._simulation.line, self._simulation
        if number is None or service is None:
            return
        if service != int(simulation.record["calls"][number - 1]["service"]):
            raise BookingError(
                "a job is booked for the service the caller asked for, and no other",
                code="wrong_service",
                field="service",
            )

    def _open_connection(self) -> sqlite3.Connection:
        if self._connection is None:
            raise WorldError(f"{self.path} has been closed: open it again", code="closed")
        if os.getpid() != self._process:
            raise WorldError(
                f"{self.path} is held by process {self._process}, of which this is a copy",
                code="held",
                field="path",
            )
        return self._connection


def _write_start(
    connection: sqlite3.Connection, identity: Identity, simulation: Simulation
) -> Counts:
    business = simulation.business
    connection.execute(insert("run"), run_row(identity, business))
    connection.executemany(insert("names"), names_rows(business))
    rows = make_rows(Counts(), simulation, Command.BEGIN, identity.as_dict(), None, [])
    write_rows(connection, rows)
    return rows.counts
