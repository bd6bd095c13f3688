"""Proof of a file: the run is played again from its seed, and every value of every row must be what
the rules make of it.

What a command should have been is found by trying: the digest after it, and the row that follows,
leave no other. So a changed value is named with what it should be, and the proof goes on behind it.
A file cut back to an earlier moment of the same run, every table alike, is a run that had got so
far: only a digest written down elsewhere tells, and may be given. This module reads, never writes.
"""

from __future__ import annotations

import sqlite3
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from tradesbench_gym.company.simulation import Simulation
from tradesbench_gym.world import suspects
from tradesbench_gym.world.command import Command
from tradesbench_gym.world.files import reading
from tradesbench_gym.world.identity import MapLike, names_rows, run_row
from tradesbench_gym.world.origin import Origin, find_origin
from tradesbench_gym.world.rows import ADDED, Counts, make_rows
from tradesbench_gym.world.schema import (
    COLUMNS,
    Row,
    read_objects,
    schema_objects,
    select,
    view_objects,
)

_SHOWN = 60
_KEYS = {"names": 2}
ABSENT = "nothing"


@dataclass(frozen=True)
class Finding:
    """One value that is not what it should be.

    Attributes:
        table, row, column: where it stands; row by its key, column empty for a whole row.
        found, expected: as they stand in SQLite; `nothing` for a row that is missing, or one too
            many.

    """

    table: str
    row: str
    column: str
    found: Any
    expected: Any

    def as_dict(self) -> dict[str, Any]:
        """Plain values for JSON."""
        return asdict(self)

    def __str__(self) -> str:
        where = f"{self.table}, row {self.row}" + (f", {self.column}" if self.column else "")
        if self.found == ABSENT:
            return f"{where}: is missing"
        if self.expected == ABSENT:
            return f"{where}: is one too many"
        return f"{where}: is {_short(self.found)}, should be {_short(self.expected)}"


@dataclass
class AuditReport:
    """What an audit found.

    Attributes:
        findings: every value that is not what it should be; none in a file as it was written.
        commands, events, ledger_rows, calls: how many of each were proven.
        digest: of the state after the last command that was proven.
        complete: whether the proof reached the end of the journal.

    """

    findings: list[Finding] = field(default_factory=list)
    commands: int = 0
    events: int = 0
    ledger_rows: int = 0
    calls: int = 0
    digest: str = ""
    complete: bool = True

    @property
    def ok(self) -> bool:
        """Whether the whole file is proven."""
        return self.complete and not self.findings

    def as_dict(self) -> dict[str, Any]:
        """Plain values for JSON."""
        return {"ok": self.ok, **asdict(self)}


Tables = dict[str, list[Row]]


def audit(
    path: str | Path,
    *,
    map: MapLike | None = None,  # noqa: A002 - the word of the trade, and of make()
    digest: str | None = None,
) -> AuditReport:
    """Prove a file: every journal row, event, ledger row and the final digest. It is not touched.

    Args:
        path: the file; another process may be playing it on.
        map: the map, where the file's own name for it is not that of a map here.
        digest: the final digest as it was written down elsewhere.

    Raises:
        WorldError: no world file, one that cannot be read, or one that cannot be played here.

    """
    place, report = Path(path), AuditReport()
    with reading(place) as connection:
        tables = _read(connection, report)
    origin = find_origin(tables["run"], tables["journal"], map, place)
    report.findings += [Finding(*where) for where in origin.doubts]
    if origin.simulation is None:
        report.complete = False
        return report
    expected = _replay(tables, origin, origin.simulation, report)
    for table, rows in expected.items():
        found = tables[table]
        if not report.complete and table in ADDED:
            found = [row for row in found if row[0] <= rows[-1][0]] if rows else []
        if report.complete or table != "head":
            report.findings += differences(table, found, rows)
    if digest is not None and digest != report.digest:
        report.findings.append(Finding("head", "1", "digest", report.digest, digest))
    report.findings = list(dict.fromkeys(report.findings))
    return report


def _read(connection: sqlite3.Connection, report: AuditReport) -> Tables:
    here, due = read_objects(connection), schema_objects()
    # A file may lack the views for people; one that is there must say what it says here.
    due = {**due, **{key: sql for key, sql in view_objects().items() if key in here}}
    for kind, name in sorted(here.keys() | due.keys(), key=_order):
        found, expected = here.get((kind, name), ABSENT), due.get((kind, name), ABSENT)
        if found != expected:
            report.findings.append(
                Finding("sqlite_schema", f"{kind} {name}", "sql", found, expected)
            )
    said = [row[0] for row in connection.execute("PRAGMA integrity_check")]
    tables = {table: connection.execute(select(table)).fetchall() for table in COLUMNS}
    if said != ["ok"]:
        report.findings += [Finding("integrity_check", "", "", text, "ok") for text in said]
    return tables


def _replay(tables: Tables, origin: Origin, simulation: Simulation, report: AuditReport) -> Tables:
    """Play the run again along the journal; the rows that every table should hold."""
    identity, business = origin.identity, simulation.business
    expected: Tables = {
        "run": [run_row(identity, business)],
        "names": names_rows(business),
        **{table: [] for table in ADDED},
    }
    said = {row[0]: row for row in tables["journal"]}
    ends_at, final = suspects.end(tables["journal"], tables["head"])
    command, arguments, outcome = Command.BEGIN, identity.as_dict(), None
    counts = Counts()
    for number in range(ends_at + 1):
        if number > 0:
            done = suspects.settle(
                simulation, said.get(number), said.get(number + 1), final(number)
            )
            if done is None:
                report.findings.append(_unexplained(said.get(number), number))
                report.complete = False
                break
            command, arguments, outcome = done.command, done.arguments, done.outcome
        rows = make_rows(counts, simulation, command, arguments, outcome, simulation.take_events())
        counts = rows.counts
        for table in ADDED:
            expected[table] += getattr(rows, table)
        expected["head"] = [rows.head]
        report.digest = rows.digest
    report.commands, report.events = counts.journal, counts.events
    report.ledger_rows, report.calls = counts.ledger, counts.calls
    return expected


def _unexplained(row: Row | None, number: int) -> Finding:
    if row is None:
        return Finding("journal", str(number), "", ABSENT, None)
    found = ", ".join(
        f"{name} {value}" for name, value in zip(COLUMNS["journal"], row, strict=True)
    )
    return Finding("journal", str(number), "", found, "what follows from the rows before it")


def differences(table: str, found: list[Row], expected: list[Row]) -> list[Finding]:
    """Every value in which the rows of a table are not those expected, by key."""
    keys = _KEYS.get(table, 1)
    here = {row[:keys]: row for row in found}
    due = {row[:keys]: row for row in expected}
    findings = []
    for key in sorted(here.keys() | due.keys(), key=_order):
        name = " ".join(map(str, key))
        if key not in here:
            findings.append(Finding(table, name, "", ABSENT, None))
        elif key not in due:
            findings.append(Finding(table, name, "", None, ABSENT))
        else:
            findings += [
                Finding(table, name, column, one, other)
                for column, one, other in zip(COLUMNS[table], here[key], due[key], strict=True)
                if (type(one), one) != (type(other), other)
            ]
    return findings


def _order(key: Row) -> list[tuple[int, str]]:
    # In a damaged file anything may stand anywhere.
    return [(value, "") if isinstance(value, int) else (0, str(value)) for value in key]


def _short(value: Any) -> str:
    text = repr(value) if isinstance(value, str) else str(value)
    return text if len(text) <= _SHOWN else f"{text[:_SHOWN]}… ({len(text)} characters)"
