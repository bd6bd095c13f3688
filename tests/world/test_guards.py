"""What the database itself refuses, whoever writes to it."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.world.runs import rows
from tradesbench_gym.core.codes import Entry, Kind, Stop
from tradesbench_gym.world import Command
from tradesbench_gym.world.schema import COLUMNS, schema_text

APPENDED = ("run", "names", "journal", "events", "ledger", "calls")


def attempt(path: Path, template: str, **words: object) -> str:
    """The database's own words when it refuses a statement."""
    connection = sqlite3.connect(path)
    try:
        with pytest.raises(sqlite3.IntegrityError) as caught:
            connection.execute(template.format(**words))
        return str(caught.value)
    finally:
        connection.close()


@pytest.mark.parametrize("table", APPENDED)
def test_no_row_is_ever_changed_or_deleted(table: str, copy_of_run: Callable[[], Path]) -> None:
    path, column = copy_of_run(), COLUMNS[table][-1]
    assert "never changed" in attempt(
        path, "UPDATE {table} SET {column} = {column}", table=table, column=column
    )
    assert "never deleted" in attempt(path, "DELETE FROM {table}", table=table)
    assert "never changed" in attempt(
        path, "UPDATE OR REPLACE {table} SET {column} = {column}", table=table, column=column
    )


@pytest.mark.parametrize("table", COLUMNS)
def test_no_row_is_replaced(table: str, copy_of_run: Callable[[], Path]) -> None:
    attempt(
        copy_of_run(), "INSERT OR REPLACE INTO {table} SELECT * FROM {table} LIMIT 1", table=table
    )


@pytest.mark.parametrize("table", ["journal", "events", "ledger", "calls"])
def test_no_number_is_left_out(table: str, copy_of_run: Callable[[], Path]) -> None:
    path, others = copy_of_run(), ", ".join(COLUMNS[table][1:])
    said = attempt(
        path,
        "INSERT INTO {table} SELECT number + 2, {others} FROM {table} ORDER BY number DESC LIMIT 1",
        table=table,
        others=others,
    )
    assert "end" in said


def test_the_head_moves_by_one_command_and_stays(copy_of_run: Callable[[], Path]) -> None:
    path = copy_of_run()
    assert "one command" in attempt(path, "UPDATE head SET journal = journal + 2")
    assert "one command" in attempt(path, "UPDATE head SET digest = digest")
    assert "never deleted" in attempt(path, "DELETE FROM head")


def test_a_ledger_row_is_a_payment_with_its_sign(copy_of_run: Callable[[], Path]) -> None:
    path = copy_of_run()
    row = "INSERT INTO ledger SELECT max(ledger.number) + 1, {event}, {entry}, {cents} FROM ledger"
    event = "(SELECT min(number) FROM events WHERE kind = {})"
    rang, paid = event.format(int(Kind.RANG)), event.format(int(Kind.LEDGER))
    said = attempt(path, row, event=rang, entry=int(Entry.INVOICE), cents=100)
    assert said == "a row of the ledger belongs to an event of the ledger"
    assert "CHECK" in attempt(path, row, event=paid, entry=int(Entry.INVOICE), cents=-1)
    assert "CHECK" in attempt(path, row, event=paid, entry=int(Entry.OVERHEAD), cents=1)
    said = attempt(path, row, event=paid, entry=int(Entry.INVOICE), cents="'ten'")
    assert said == "cannot store TEXT value in INTEGER column ledger.cents"


def test_the_numbers_in_the_sql_are_those_of_the_enums(finished_run: Path) -> None:
    # The SQL names a few by number; a change of an enum must change it too.
    kept = {
        kind: dict(rows(finished_run, "SELECT code, name FROM names WHERE kind = '{}'", kind))
        for kind in ("command", "stop", "kind", "entry")
    }
    for name, enum in (("command", Command), ("stop", Stop), ("kind", Kind), ("entry", Entry)):
        assert kept[name] == {int(one): one.name.lower() for one in enum}
    text = schema_text()
    assert f"command BETWEEN 0 AND {max(Command)}" in text
    assert f"kind BETWEEN 1 AND {max(Kind)}" in text
    assert f"entry BETWEEN 0 AND {max(Entry)}" in text
    assert (Entry.INVOICE, Entry.PREMIUM) == (0, 1)
    assert (Command.ADVANCE, Command.OFFER) == (1, 2)
    assert (Kind.DAY_OPENED, Kind.RANG, Kind.ACKNOWLEDGED, Kind.LEDGER) == (1, 2, 8, 15)
    assert (Kind.REJECTED, Kind.UNANSWERED, Kind.DECLINED, Kind.BOOKED) == (3, 4, 5, 6)
    assert (Kind.CANCELLED, Kind.DONE, Kind.MISSED, Kind.FAILED) == (7, 12, 13, 14)


def test_the_columns_in_the_code_are_those_of_the_sql(finished_run: Path) -> None:
    for table, columns in COLUMNS.items():
        assert (
            tuple(row[1] for row in rows(finished_run, "PRAGMA table_info({})", table)) == columns
        )
        (strict,) = rows(finished_run, "SELECT strict FROM pragma_table_list('{}')", table)[0]
        assert strict == 1
