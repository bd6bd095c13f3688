"""What may be asked of the public database and what may not, and what becomes of who asks it."""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
import threading
import time
import tomllib
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from tests.api.publics import Followed, Following, followed, play
from tradesbench_gym.api import guard, query_errors
from tradesbench_gym.api.faults import RequestError
from tradesbench_gym.api.models import QueryResult
from tradesbench_gym.api.query import Readers
from tradesbench_gym.api.query_errors import QueryError
from tradesbench_gym.api.views import BY_NAME
from tradesbench_gym.errors import TradesBenchError
from tradesbench_gym.policies.load import load_policy

HERE = Path(__file__).parent
HOSTILE = tomllib.loads((HERE / "hostile.toml").read_text(encoding="utf-8"))
ANALYST: list[str] = tomllib.loads((HERE / "analyst.toml").read_text(encoding="utf-8"))[
    "statements"
]
ENDLESS = ("trim(", "instr(", "%.*c")
HEAVY = ("sql_time", "sql_memory", "sql_too_large")
LIGHT = [(code, sql) for code, found in HOSTILE.items() if code not in HEAVY for sql in found]
BOMBS = [(code, sql) for code, found in HOSTILE.items() if code in HEAVY for sql in found]
COUNTING = (
    "WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n LIMIT {}) SELECT i FROM n"
)
LINUX = pytest.mark.skipif(not Path("/proc/self/status").exists(), reason="looks into /proc")


@pytest.fixture(scope="module")
def run() -> Iterator[tuple[Followed, Following]]:
    with (
        tempfile.TemporaryDirectory() as folder,
        followed(Path(folder)) as (world, public),
    ):
        play(world, load_policy("accept-all"), 50)
        yield world, public


@pytest.fixture
def public(run: tuple[Followed, Following]) -> Following:
    return run[1]


def one_reader(public: Following, **settings: Any) -> Readers:
    return Readers(list(BY_NAME), lambda: public.path, most=1, **settings)


@pytest.fixture(scope="module")
def patience(run: tuple[Followed, Following]) -> Iterator[dict[str, Readers]]:
    """Little for statements that would take for ever, much for those that end by themselves."""
    much, little = (one_reader(run[1], seconds=seconds) for seconds in (20, 0.3))
    found = {**dict.fromkeys(HEAVY, much), "sql_time": little}
    yield found
    for readers in found.values():
        readers.close()


def refused(public: Following, sql: Any) -> QueryError:
    with pytest.raises(QueryError) as caught:
        public.ask(sql)
    return checked(caught.value)


def checked(error: QueryError) -> QueryError:
    assert isinstance(error, TradesBenchError)
    assert error.field == "sql"
    assert error.message.isprintable()
    assert 10 < len(error.message) < 900
    return error


# -- the corpus --


def test_the_corpus_is_large_enough() -> None:
    assert len(LIGHT) + len(BOMBS) >= 200
    assert len({sql for _, sql in LIGHT + BOMBS}) == len(LIGHT) + len(BOMBS)
    assert len(ANALYST) >= 40


def test_every_hostile_statement_is_refused_with_a_sentence(public: Following) -> None:
    wrong: list[Any] = []
    files, memory = sorted(public.path.parent.iterdir()), _resident()
    for code, sql in LIGHT:
        before = public.ask("SELECT * FROM cash")
        try:
            wrong.append((sql, public.ask(sql)))
        except QueryError as error:
            if checked(error).code != code:
                wrong.append((sql, code, error.code, error.message))
        assert public.ask("SELECT * FROM cash") == before
    assert not wrong
    assert sorted(public.path.parent.iterdir()) == files
    assert _resident() < memory + 32 * 1024 * 1024


def _resident() -> int:
    """Bytes of memory that this process holds, where that can be told."""
    told = Path("/proc/self/statm")
    return int(told.read_text(encoding="ascii").split()[1]) * 4096 if told.exists() else 0


@pytest.mark.parametrize(("code", "sql"), BOMBS)
def test_every_bomb_is_stopped(
    patience: dict[str, Readers], public: Following, code: str, sql: str
) -> None:
    begun = time.monotonic()
    with pytest.raises(QueryError) as caught:
        patience[code].ask(sql)
    assert checked(caught.value).code == code, caught.value.message
    assert time.monotonic() - begun < 10
    assert public.ask("SELECT count(*) FROM windows").rows == [[6]]


@pytest.mark.parametrize("sql", ANALYST)
def test_what_an_analyst_asks_is_answered(public: Following, sql: str) -> None:
    answer = public.ask(sql)
    assert answer.columns
    assert not answer.truncated
    assert all(len(row) == len(answer.columns) for row in answer.rows)
    json.dumps(answer.rows, allow_nan=False)


@LINUX
def test_the_memory_of_a_reader_is_bounded_whatever_it_is_asked(public: Following) -> None:
    """One reader does the whole corpus, and the answers as large as they may be."""
    large = [
        COUNTING.format(9_999).replace("SELECT i FROM", "SELECT i, printf('%0900d', i) FROM"),
        "SELECT " + ", ".join(["printf('%0990000d', 1)"] * 8),
        "SELECT " + ", ".join(["CAST(printf('%0990000d', 1) AS BLOB)"] * 4),
        "SELECT " + ", ".join(["printf('%0990000d', 1)"] * 99),
    ]
    process = subprocess.Popen(
        [sys.executable, "-I", "-S", guard.__file__], stdin=subprocess.PIPE, stdout=subprocess.PIPE
    )
    with process:
        assert process.stdin
        assert process.stdout
        process.stdin.write(json.dumps([list(BY_NAME), 0.2]).encode() + b"\n")
        peaks = {}
        # Without what no look between two operations can stop: that ends with its process.
        for sql in [
            *(sql for _, sql in LIGHT + BOMBS if not any(part in sql for part in ENDLESS)),
            *large,
        ]:
            process.stdin.write(json.dumps([public.path.as_uri(), sql]).encode() + b"\n")
            process.stdin.flush()
            assert len(process.stdout.readline()) < guard.MOST_ANSWER_BYTES + 1_000
            status = Path(f"/proc/{process.pid}/status").read_text(encoding="ascii")
            peaks[sql] = int(status.partition("VmHWM:")[2].split()[0]) // 1024
        process.stdin.close()
    assert max(peaks.values()) < 160, max(peaks, key=lambda sql: peaks[sql])


# -- limits --


def test_a_statement_has_two_seconds(public: Following) -> None:
    begun = time.monotonic()
    assert refused(public, HOSTILE["sql_time"][0]).code == "sql_time"
    assert 1.9 < time.monotonic() - begun < 6


def test_an_answer_ends_after_ten_thousand_rows(public: Following) -> None:
    whole, cut = (public.ask(COUNTING.format(most)) for most in (10_000, 10_001))
    assert (len(whole.rows), whole.truncated) == (10_000, False)
    assert (len(cut.rows), cut.truncated) == (10_000, True)
    assert cut.rows[-1] == [10_000]


def test_an_answer_ends_after_eight_mebibytes(public: Following) -> None:
    answer = public.ask(
        COUNTING.format(5_000).replace("SELECT i FROM", "SELECT printf('%0100000d', i) FROM")
    )
    assert answer.truncated
    assert len(answer.rows) == 8 * 1024 * 1024 // (100_000 + 5)
    one = "SELECT " + ", ".join(["printf('%0999999d', 1)"] * 9)
    assert refused(public, one).code == "sql_too_large"


@pytest.mark.parametrize(
    ("code", "sql"),
    [
        ("sql_text", None),
        ("sql_text", 5),
        ("sql_text", b"SELECT 1"),
        ("sql_text", ["SELECT 1"]),
        ("sql_text", "SELECT '\0'"),
        ("sql_text", "SELECT 1\0; DROP TABLE calls"),
        ("sql_text", "SELECT '\ud800'"),
        ("sql_too_long", "SELECT " + "1," * 100_000 + "1"),
        ("sql_too_long", "SELECT '" + "é" * 30_000 + "'"),
        ("sql_too_complex", "SELECT " + "(" * 5_000 + "1" + ")" * 5_000),
        ("sql_too_complex", "SELECT " + "+".join("1" * 500)),
        ("sql_too_complex", "SELECT 1 WHERE " + " OR ".join(["call"] * 300).replace("call", "1")),
        ("sql_too_complex", "SELECT " + ",".join("1" * 101)),
        ("sql_too_complex", " UNION ALL ".join(["SELECT 1"] * 60)),
        ("sql_too_complex", "SELECT coalesce(" + ",".join("1" * 200) + ")"),
        ("sql_too_complex", "SELECT 1 FROM " + ", ".join(f"calls c{i}" for i in range(70))),  # noqa: S608 - a test
        ("sql_too_complex", "SELECT " + "(SELECT " * 1_500 + "1" + ")" * 1_500),
        ("sql_too_complex", "SELECT " + "NOT " * 900 + "1"),
    ],
)
def test_what_is_no_statement_or_too_much_of_one(public: Following, code: str, sql: Any) -> None:
    assert refused(public, sql).code == code


def test_a_long_list_is_no_hostility(public: Following) -> None:
    numbers = ", ".join(str(number) for number in range(8_000))
    found = public.ask(f"SELECT count(*) FROM calls WHERE call_id IN ({numbers})")  # noqa: S608 - a test
    assert found.rows == public.ask("SELECT count(*) FROM calls").rows


# -- sentences --


@pytest.mark.parametrize(
    ("sql", "words"),
    [
        (
            "SELECT stat FROM jobs",
            ("no column stat", "do you mean state?", "jobs has job_id, customer_id"),
        ),
        ("SELECT j.stat FROM jobs j", ("no column j.stat", "do you mean state?")),
        (
            "SELECT * FROM job",
            ("no view job", "do you mean jobs?", "the views are calls, customers"),
        ),
        ("SELECT job_id FROM jobs j JOIN visits v ON j.job_id = v.job_id", ("jobs.job_id",)),
        ("SELECT * FORM jobs", ("syntax error near 'FORM'",)),
        ("SELECT * FROM jobs WHERE (", ("ends too early",)),
        ("SELECT lenght(name) FROM calls", ("no function lenght", "do you mean length?")),
        ("SELECT round() FROM calls", ("function round", "number of arguments")),
        ("PRAGMA table_info(windows)", ("only reads", "windows has window, window_start")),
        ("SELECT name FROM sqlite_master", ("no public view", "the views are calls")),
        ("SELECT random()", ("function random is not open",)),
        ("UPDATE jobs SET state = 'done'", ("only reads", "not UPDATE")),
        ("SELECT 1; SELECT 2", ("one at a time",)),
        ("SELECT * FROM calls WHERE call_id = ?", ("write the values into it",)),
    ],
)
def test_an_honest_mistake_is_told_what_would_be_right(
    public: Following, sql: str, words: tuple[str, ...]
) -> None:
    said = refused(public, sql).message
    assert all(word in said for word in words), said


def test_no_sentence_repeats_what_cannot_be_printed(public: Following) -> None:
    for sql in (
        'SELECT "\x1b[31m" FROM nothing',
        "SELECT * FROM [\n\t\x07]",
        "\x1b[2J",
        "SELECT \x9b",
    ):
        refused(public, sql)


def test_every_kind_of_failure_has_its_sentence() -> None:
    for kind in ("verb", "statements", "parameters", "time", "memory", "cell", "answer", "died"):
        assert checked(query_errors.refusal([kind, "X"], "")).code.startswith("sql_")


def test_a_database_that_is_locked_is_no_fault_of_the_statement() -> None:
    for said in ("database is locked", "database table is locked: calls"):
        assert checked(query_errors.refusal(["sqlite", said], "")).code == "query_busy"


# -- values, and the clock --


def test_every_value_can_be_read_by_every_reader_of_json(public: Following) -> None:
    (row,) = public.ask(
        "SELECT 9e999, -9e999, 9e999 - 9e999, x'00FF', 9223372036854775807, -9007199254740992,"
        " 9007199254740991, CAST(x'FF41' AS TEXT), 0.1, NULL, char(0x1F600), ''"
    ).rows
    assert row == [
        "Infinity", "-Infinity", None, "x'00FF'", "9223372036854775807", "-9007199254740992",
        9007199254740991, "�A", 0.1, None, "😀", "",
    ]  # fmt: skip


@pytest.mark.parametrize(
    "expression",
    [
        "datetime('now')",
        "datetime('NOW')",
        "datetime('n' || 'ow')",
        "datetime()",
        "datetime('now', 'localtime')",
        "datetime(x'6e6f77')",
        "datetime(cast('now' as blob))",
        "datetime('now' || char(0))",
        "datetime('NOW' || char(0) || 'x')",
        "datetime('now', 'utc')",
        "CURRENT_TIMESTAMP",
        "current_date || ' ' || current_time",
        "strftime('%Y-%m-%d %H:%M:%S')",
        "strftime('%Y-%m-%d %H:%M:%S', 'now')",
        "datetime(julianday('now') + 0.1 / 86400)",
        "datetime(unixepoch('now'), 'unixepoch')",
        "date('now') || ' ' || time('now')",
    ],
)
def test_now_is_the_company_s_clock(public: Following, expression: str) -> None:
    (row,) = public.ask(f"SELECT {expression}, now FROM cash").rows  # noqa: S608 - a test
    assert row[0] == row[1]


def test_subseconds_are_the_company_s_too(public: Following) -> None:
    (row,) = public.ask("SELECT datetime('subsec'), now FROM cash").rows
    assert row[0] in (None, row[1])


# -- processes --


def found(readers: Readers) -> Any:
    return QueryResult.model_validate_json(readers.ask("SELECT 1")).rows


def test_a_reader_that_died_is_replaced(public: Following) -> None:
    readers = one_reader(public)
    try:
        assert found(readers) == [[1]]
        (idle,) = readers._idle
        idle._process.kill()
        idle._process.wait()
        assert found(readers) == [[1]]
    finally:
        readers.close()


def test_a_reader_that_dies_while_it_is_asked_is_a_sentence(public: Following) -> None:
    readers = one_reader(public)
    try:
        readers.ask("SELECT 1")
        process = readers._idle[0]._process
        threading.Timer(0.3, process.kill).start()
        with pytest.raises(QueryError) as caught:
            readers.ask(HOSTILE["sql_time"][0])
        assert checked(caught.value).code == "sql_failed"
        assert found(readers) == [[1]]
    finally:
        readers.close()


@LINUX
def test_a_reader_knows_nothing_of_ours(public: Following, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SUNRIDGE_API_TOKEN", "secret")
    readers = one_reader(public)
    try:
        readers.ask("SELECT 1")
        place = Path(f"/proc/{readers._idle[0]._process.pid}")
        assert b"secret" not in place.joinpath("environ").read_bytes()
        assert len(list(place.joinpath("fd").iterdir())) == 3
        assert "tradesbench" not in place.joinpath("maps").read_text(encoding="utf-8")
    finally:
        readers.close()


def test_no_reader_is_left_behind(public: Following) -> None:
    readers = one_reader(public)
    readers.ask("SELECT 1")
    process = readers._idle[0]._process
    readers.close()
    assert process.poll() is not None
    with pytest.raises(RequestError, match="stopped"):
        readers.ask("SELECT 1")


def test_who_waits_too_long_is_told_so(public: Following, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tradesbench_gym.api.query._PATIENCE_SECONDS", 0.05)
    with closing(one_reader(public)) as readers:
        with readers._reader(), pytest.raises(QueryError) as caught:
            readers.ask("SELECT 1")
        assert caught.value.code == "query_busy"


def test_statements_leave_nothing_in_the_folder(public: Following) -> None:
    before = sorted(public.path.parent.iterdir())
    for sql in ANALYST[:10]:
        public.ask(sql)
    assert sorted(public.path.parent.iterdir()) == before
