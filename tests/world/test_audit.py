"""An audit proves a file as it was written, and names every value that was changed since."""

# ruff: noqa: S608 - the SQL is put together from the tests' own words

from __future__ import annotations

import random
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.world.runs import MAP, create, play_steps, rows, trespass, untouched
from tradesbench_gym.errors import TradesBenchError
from tradesbench_gym.world import AuditReport, WorldError, audit
from tradesbench_gym.world.schema import COLUMNS

CELLS = [(table, column) for table, columns in COLUMNS.items() for column in columns]
GROWING = ("journal", "events", "ledger", "calls")
SMALL = 60  # commands of a run long enough to hold every kind of row

Copy = Callable[[], Path]


def look(path: Path) -> AuditReport:
    with untouched(path):
        return audit(path, map=MAP)


def key_of(table: str, row: tuple[Any, ...]) -> str:
    return " ".join(map(str, row[: 2 if table == "names" else 1]))


def another(value: Any, dice: random.Random) -> Any:
    """Another value that a STRICT column of the same type takes."""
    if isinstance(value, str):
        place = dice.randrange(len(value))
        changed = value[:place] + dice.choice("0123456789abcdefxyz") + value[place + 1 :]
        return dice.choice([changed, value + " ", value[1:], value.swapcase()])
    if value is None:
        return dice.randrange(5)
    return dice.choice([value + 1, value - 1, -value - 3, value + 2**40])


def quoted(value: Any) -> str:
    if isinstance(value, str):
        return "'" + value.replace("'", "''") + "'"
    return "NULL" if value is None else str(value)


def where(table: str, row: tuple[Any, ...]) -> str:
    keys = COLUMNS[table][: 2 if table == "names" else 1]
    return " AND ".join(f"{key} = {quoted(row[n])}" for n, key in enumerate(keys))


def change(path: Path, table: str, column: str, dice: random.Random) -> tuple[str, Any, Any]:
    """Change one value of one row; the row's key, the value before and after."""
    row = dice.choice(rows(path, "SELECT {} FROM {}", ", ".join(COLUMNS[table]), table))
    before = row[COLUMNS[table].index(column)]
    taken = {other[0] for other in rows(path, "SELECT {} FROM {}", column, table)}
    is_key = column in COLUMNS[table][: 2 if table == "names" else 1]
    after = before
    while after == before or (is_key and after in taken):
        after = another(before, dice)
    trespass(
        path, f"UPDATE {table} SET {column} = {quoted(after)} "
        f"WHERE {where(table, row)}",
    )  # fmt: skip
    return key_of(table, row), before, after


def assert_named(report: AuditReport, table: str, key: str, column: str, after: Any) -> None:
    assert not report.ok
    if column in COLUMNS[table][: 2 if table == "names" else 1]:
        # A changed key is a row that is missing, and one too many.
        assert any((one.table, one.row) == (table, key) for one in report.findings), report.findings
        return
    named = [
        one for one in report.findings if (one.table, one.row, one.column) == (table, key, column)
    ]
    assert named, [str(one) for one in report.findings[:5]]
    assert named[0].found == after


def test_a_run_as_it_was_written_is_proven(finished_run: Path) -> None:
    report = look(finished_run)
    assert report.ok, report.findings
    proven = (report.commands, report.events, report.ledger_rows, report.calls, report.digest)
    assert rows(finished_run, "SELECT journal, events, ledger, calls, digest FROM head") == [proven]


@pytest.mark.parametrize("steps", [0, 1, 2, SMALL])
def test_a_run_that_is_not_over_is_proven(steps: int, tmp_path: Path) -> None:
    path = tmp_path / "run.sqlite"
    with create(path) as world:
        play_steps(world, steps)
        assert audit(path, map=MAP).ok
    assert look(path).ok


@pytest.mark.parametrize(("table", "column"), CELLS)
def test_a_change_of_any_column_is_found_and_named(
    table: str, column: str, copy_of_run: Copy
) -> None:
    dice = random.Random(f"{table} {column}")
    for _ in range(2):
        path = copy_of_run()
        key, _before, after = change(path, table, column, dice)
        assert_named(look(path), table, key, column, after)
        path.unlink()


@settings(max_examples=40, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(cell=st.sampled_from(CELLS), seed=st.integers(0, 2**32))
def test_a_change_of_any_value_in_any_row_is_found_and_named(
    cell: tuple[str, str], seed: int, copy_of_run: Copy
) -> None:
    path = copy_of_run()
    key, _before, after = change(path, *cell, random.Random(seed))
    assert_named(look(path), cell[0], key, cell[1], after)


@pytest.mark.slow
@settings(
    max_examples=1500, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(cell=st.sampled_from(CELLS), seed=st.integers(0, 2**32))
def test_a_change_of_any_value_is_found_and_named_in_many_tries(
    cell: tuple[str, str], seed: int, copy_of_run: Copy
) -> None:
    path = copy_of_run()
    key, _before, after = change(path, *cell, random.Random(seed))
    assert_named(look(path), cell[0], key, cell[1], after)


@pytest.mark.parametrize(
    ("table", "column"),
    [
        (table, column)
        for table, column in CELLS
        if column != COLUMNS[table][0] and (table, column) != ("run", "scenario_text")
        if table != "names"
    ],
)
def test_a_changed_value_is_told_with_what_it_should_be(
    table: str, column: str, copy_of_run: Copy
) -> None:
    path = copy_of_run()
    key, before, after = change(path, table, column, random.Random(f"{table}.{column}"))
    told = [
        (one.found, one.expected)
        for one in look(path).findings
        if (one.table, one.row, one.column) == (table, key, column)
    ]
    assert (after, before) in told


@pytest.mark.parametrize("table", COLUMNS)
@pytest.mark.parametrize("place", ["first", "middle", "last"])
def test_a_deleted_row_is_found_and_named(table: str, place: str, copy_of_run: Copy) -> None:
    path = copy_of_run()
    held = rows(path, "SELECT {} FROM {}", ", ".join(COLUMNS[table]), table)
    row = held[{"first": 0, "middle": len(held) // 2, "last": -1}[place]]
    trespass(path, f"DELETE FROM {table} WHERE {where(table, row)}")
    report = look(path)
    assert not report.ok
    assert any((one.table, one.row) == (table, key_of(table, row)) for one in report.findings)


@pytest.mark.parametrize("table", GROWING)
@pytest.mark.parametrize("number", [-7, "(SELECT max(number) + 1 FROM {0})", 99_999])
def test_an_inserted_row_is_found_and_named(
    table: str, number: int | str, copy_of_run: Copy
) -> None:
    path, others = copy_of_run(), ", ".join(COLUMNS[table][1:])
    at = str(number).format(table)
    (key,) = rows(path, "SELECT {}", at)[0]
    trespass(
        path,
        f"INSERT INTO {table} SELECT {at}, {others} FROM {table} ORDER BY number DESC LIMIT 1",
    )
    report = look(path)
    assert not report.ok
    assert any((one.table, one.row) == (table, str(key)) for one in report.findings)


@pytest.mark.parametrize("table", GROWING)
@pytest.mark.parametrize("distance", [1, 9])
def test_two_swapped_rows_are_found_and_named(table: str, distance: int, copy_of_run: Copy) -> None:
    path, dice = copy_of_run(), random.Random(f"{table} {distance}")
    held = rows(path, "SELECT {} FROM {}", ", ".join(COLUMNS[table]), table)
    one = dice.randrange(1, len(held) - distance)
    while held[one][1:] == held[one + distance][1:]:
        one += 1
    first, second = held[one][0], held[one + distance][0]
    trespass(
        path,
        f"UPDATE {table} SET number = -99 WHERE number = {first}",
        f"UPDATE {table} SET number = {first} WHERE number = {second}",
        f"UPDATE {table} SET number = {second} WHERE number = -99",
    )
    report = look(path)
    assert not report.ok
    assert any((f.table, f.row) == (table, str(first)) for f in report.findings)


@pytest.mark.parametrize("table", ["run", "head"])
@pytest.mark.parametrize("number", [0, 2])
def test_a_second_run_or_head_is_found_and_named(
    table: str, number: int, copy_of_run: Copy
) -> None:
    path, others = copy_of_run(), ", ".join(COLUMNS[table][1:])
    trespass(path, f"INSERT INTO {table} SELECT {number}, {others} FROM {table}")
    report = look(path)
    assert [(f.table, f.row) for f in report.findings if f.table == table] == [(table, str(number))]


def test_an_offer_that_was_changed_is_named_and_the_proof_goes_on(copy_of_run: Copy) -> None:
    path = copy_of_run()
    number, before = rows(path, "SELECT number, arguments FROM journal WHERE command = 2")[3]
    after = '{"technician":0,"ahead":13,"window":0}'
    trespass(path, f"UPDATE journal SET arguments = '{after}' WHERE number = {number}")
    report = look(path)
    assert report.complete
    assert [str(one) for one in report.findings] == [
        f"journal, row {number}, arguments: is '{after}', should be '{before}'"
    ]


def test_an_argument_that_makes_no_difference_is_found_too(copy_of_run: Copy) -> None:
    path = copy_of_run()
    number, before = rows(path, "SELECT number, arguments FROM journal WHERE command = 2")[0]
    trespass(
        path,
        f"UPDATE journal SET arguments = '{before[:-1]},\"service\":0}}' WHERE number = {number}",
    )
    assert [(f.row, f.column) for f in look(path).findings] == [(str(number), "arguments")]


def test_a_run_cut_back_to_an_earlier_moment_needs_the_digest_written_down_elsewhere(
    tmp_path: Path,
) -> None:
    path = tmp_path / "run.sqlite"
    with create(path) as world:
        play_steps(world, 10)
    earlier = path.read_bytes()
    with_more = tmp_path / "more.sqlite"
    with_more.write_bytes(earlier)
    assert audit(path, map=MAP, digest=world.digest()).ok
    report = audit(path, map=MAP, digest="0" * 64)
    assert [(f.table, f.column, f.expected) for f in report.findings] == [
        ("head", "digest", "0" * 64)
    ]


@pytest.mark.parametrize(
    "statement",
    [
        "DROP TRIGGER journal_is_never_changed",
        "DROP VIEW cash",
        "CREATE TABLE more (a)",
        "CREATE INDEX more ON events (at)",
    ],
)
def test_a_changed_schema_is_found_and_named(statement: str, copy_of_run: Copy) -> None:
    path = copy_of_run()
    trespass(path)
    assert look(path).ok
    rows(path, statement)
    report = look(path)
    assert [one.table for one in report.findings] == ["sqlite_schema"]
    assert not report.ok


@settings(max_examples=60, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(seed=st.integers(0, 2**32))
def test_a_flipped_bit_anywhere_in_the_file_is_found_or_stands_in_no_row(
    seed: int, copy_of_run: Copy, finished_run: Path
) -> None:
    path, dice = copy_of_run(), random.Random(seed)
    held = bytearray(path.read_bytes())
    held[dice.randrange(len(held))] ^= 1 << dice.randrange(8)
    path.write_bytes(held)
    try:
        report = audit(path, map=MAP)
    except WorldError:
        return
    for table in COLUMNS if report.ok else ():
        assert rows(path, "SELECT * FROM {}", table) == rows(
            finished_run, "SELECT * FROM {}", table
        )


def test_an_audit_raises_nothing_but_the_errors_of_the_package(copy_of_run: Copy) -> None:
    path = copy_of_run()
    trespass(path, "DELETE FROM run", "DELETE FROM journal")
    with pytest.raises(TradesBenchError):
        audit(path, map=MAP)
