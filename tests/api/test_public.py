"""The public database says what has happened, follows step by step, and tells of nothing else."""

from __future__ import annotations

import gc
import json
import os
import statistics
import threading
import time
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from tests.api.publics import Following, ask, dump, followed, play
from tests.world.runs import create, resume, trespass
from tradesbench_gym.api.faults import RequestError
from tradesbench_gym.api.pictures import story
from tradesbench_gym.api.public import PublicDatabase
from tradesbench_gym.api.query import Readers
from tradesbench_gym.api.query_errors import QueryError
from tradesbench_gym.api.views import BY_NAME, VIEWS
from tradesbench_gym.company.callers import caller_of
from tradesbench_gym.core.codes import CallState, Entry, Stop
from tradesbench_gym.policies.load import load_policy
from tradesbench_gym.world import WorldError, play_on


@pytest.mark.parametrize("policy", ["oracle", "accept-all", "reject-heavy", "do-nothing"])
def test_following_and_rebuilding_say_the_same(tmp_path: Path, policy: str) -> None:
    with followed(tmp_path, days=5) as (world, public):
        made = public.path
        for number, _ in enumerate(play_on(world, load_policy(policy))):
            if number % 20 and not world.ended:
                continue
            assert public.path == made  # it has followed every step
            before = dump(made)
            public.rebuild()
            made = public.path
            assert dump(made) == before
    with resume(tmp_path / "run.sqlite") as again, Following(again) as late:
        assert dump(late.path) == before


def test_what_is_told_together_is_what_is_told_step_by_step(tmp_path: Path) -> None:
    with create(tmp_path / "run.sqlite", days=4) as world, Following(world) as alone:
        play(world, load_policy("accept-all"))
        first, *steps = story(world)
        told = steps[:1]
        for news in steps[1:]:
            told += told.pop().with_next(news)
        assert len(told) == 4 < len(steps)
        with closing(PublicDatabase(lambda: [first])) as together:
            made = together.path
            together.follow(told)
            assert together.path == made
            alone.rebuild()
            assert dump(made) == dump(alone.path)


def test_the_views_say_what_the_run_says(tmp_path: Path) -> None:
    with followed(tmp_path, days=6) as (world, public):
        play(world, load_policy("accept-all"))
        desk, book = world.desk, world.business.handbook
        states = [CallState(int(call["state"])) for call in desk["calls"][: desk["n_calls"]]]
        assert {CallState.DONE, CallState.MISSED, CallState.FAILED} <= set(states)
        said = ask(public, "SELECT job_id, state FROM jobs")
        assert said == [
            [number, state.name.lower()]
            for number, state in enumerate(states, 1)
            if state >= CallState.BOOKED
        ]
        sums = dict(ask(public, "SELECT kind, sum(amount_cents) FROM ledger GROUP BY kind"))
        assert sums == {
            entry.name.lower(): int(desk["ledger"][entry])
            for entry in Entry
            if desk["ledger"][entry]
        }
        start = int(book["starting_cash"])
        assert ask(
            public, "SELECT cash_cents, starting_cash_cents, lowest_cash_cents FROM cash"
        ) == [[int(desk["cash"]), start, int(desk["lowest"])]]
        assert ask(public, "SELECT balance_cents FROM ledger ORDER BY entry DESC LIMIT 1") == [
            [int(desk["cash"])]
        ]
        done = sum(state == CallState.DONE for state in states)
        assert ask(public, "SELECT sum(done), max(day) FROM days") == [[done, int(desk["day"]) + 1]]
        assert ask(
            public,
            "SELECT count(*) FROM jobs WHERE (state = 'done') <> (invoice_cents IS NOT NULL)",
        ) == [[0]]
        assert ask(
            public,
            "SELECT sum(invoice_cents) - sum(material_cents) FROM jobs",
        ) == [[sums["invoice"] + sums["material"]]]


def test_a_booking_shows_at_once(tmp_path: Path) -> None:
    with followed(tmp_path) as (world, public):
        assert ask(public, "SELECT count(*) FROM calls") == [[0]]
        assert ask(public, "SELECT count(*) FROM days") == [[0]]
        while world.advance() != Stop.NEW_CALL:
            pass
        assert ask(public, "SELECT call_id, outcome, customer_id, location_id FROM calls") == [
            [1, "ringing", None, None]
        ]
        address = world.register(int(world.record["calls"][0]["address"]))
        assert ask(public, "SELECT call_id, outcome, customer_id, location_id FROM calls") == [
            [1, "ringing", 1, address]
        ]
        caller = caller_of(world.simulation, 1)
        assert ask(public, "SELECT customer_id, name, phone, first_call_id FROM customers") == [
            [1, caller.name, caller.phone, 1]
        ]
        accepted = world.offer(0, 1, 2)
        assert ask(public, "SELECT outcome, technician, service_date, window_start FROM calls") == [
            ["booked" if accepted else "declined", "marcus", "2026-10-02", "11:00"]
        ]
        assert ask(public, "SELECT count(*) FROM jobs") == [[int(accepted)]]


# -- the file --


def test_only_the_owner_can_enter_the_folder_and_it_goes_with_the_database(tmp_path: Path) -> None:
    with followed(tmp_path) as (_, public):
        folder = public.path.parent
        assert folder.stat().st_mode & 0o777 == 0o700
        assert folder.stat().st_uid == os.getuid()
        public.query("SELECT 1")
    assert not folder.exists()
    for forbidden in (public.catch_up, public.rebuild, lambda: public.query("SELECT 1")):
        with pytest.raises(RequestError) as caught:
            forbidden()
        assert caught.value.code == "closed"
    public.close()


def test_a_forgotten_database_is_removed_too(tmp_path: Path) -> None:
    with create(tmp_path / "run.sqlite") as world:
        public = Following(world)
        folder = public.path.parent
        for _, writer in public._files:
            writer.close()
        public._readers.close()
        del public
        gc.collect()
        assert not folder.exists()


def test_the_world_s_file_is_left_at_rest(tmp_path: Path) -> None:
    with followed(tmp_path) as (world, _):
        play(world, load_policy("oracle"), 10)
    assert [file.name for file in tmp_path.iterdir()] == ["run.sqlite"]


def test_a_journal_that_leads_elsewhere_is_no_news(tmp_path: Path) -> None:
    path = tmp_path / "run.sqlite"
    with create(path) as world, Following(world) as public:
        play(world, load_policy("oracle"), 10)
        trespass(path, "UPDATE journal SET digest = replace(digest, 'a', 'b') WHERE number = 4")
        before = ask(public, "SELECT * FROM calls")
        with pytest.raises(WorldError, match="row 4 of the journal"):
            public.rebuild()
        assert ask(public, "SELECT * FROM calls") == before


def test_after_a_step_that_was_missed_everything_is_told_again(tmp_path: Path) -> None:
    path = tmp_path / "run.sqlite"
    with create(path) as world, Following(world) as public:
        world.next_call()
        world.reject()
        made = public.path
        public.catch_up()
        assert public.path != made
        assert ask(public, "SELECT call_id, outcome FROM calls") == [[1, "rejected"]]
        made = public.path
        world.advance()
        public.catch_up()
        public.catch_up()
        assert public.path == made


def test_what_was_told_and_not_written_is_told_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with followed(tmp_path) as (world, public):
        play(world, load_policy("oracle"), 10)
        before = ask(public, "SELECT max(call_id) FROM calls")[0][0]
        with monkeypatch.context() as broken:
            broken.setattr(public._rows, "changes", _fail)
            with pytest.raises(RuntimeError):
                world.next_call()
        assert ask(public, "SELECT max(call_id) FROM calls") == [[before]]
        public.catch_up()
        assert ask(public, "SELECT max(call_id) FROM calls") == [
            [before + (world.line is not None)]
        ]


def _fail(_news: object) -> Iterator[Any]:
    raise RuntimeError("no room")


# -- many at once --


def test_fifty_readers_do_not_keep_the_writer_waiting(tmp_path: Path) -> None:
    with followed(tmp_path, days=4) as (world, public):
        play(world, load_policy("oracle"), 20)
        over, wrong, answered = threading.Event(), [], []

        def read() -> None:
            while not over.is_set():
                try:
                    answered.append(public.ask("SELECT count(*), max(call_id) FROM calls").rows[0])
                except QueryError as error:
                    if error.code != "query_busy":
                        wrong.append(error)

        threads = [threading.Thread(target=read) for _ in range(50)]
        for thread in threads:
            thread.start()
        waits, steps = [], play_on(world, load_policy("oracle"))
        for number in range(40):
            begun = time.perf_counter()
            next(steps)
            waits.append(time.perf_counter() - begun)
            if number % 5 == 0:
                public.rebuild()
        over.set()
        for thread in threads:
            thread.join()
        assert not wrong
        assert len(answered) > 50
        assert all(count == last for count, last in answered)
        assert statistics.median(waits) < 0.25


def test_a_statement_whose_database_went_while_it_waited_is_asked_of_the_next(
    tmp_path: Path,
) -> None:
    counting = "SELECT count(*) FROM calls"
    with followed(tmp_path) as (world, public):
        play(world, load_policy("oracle"), 5)
        gone = tmp_path / "dropped.sqlite"
        places = iter([gone, public.path, gone, gone, gone])
        with closing(Readers(["calls"], lambda: next(places), most=1)) as readers:
            assert json.loads(readers.ask(counting))["rows"] == public.ask(counting).rows
            with pytest.raises(QueryError, match="unable to open"):
                readers.ask(counting)


# -- the table of views --


def test_every_view_and_column_says_what_it_is() -> None:
    names = "calls customers locations jobs technicians windows schedule visits ledger cash weather"
    assert list(BY_NAME) == [*names.split(), "forecast", "days"]
    for view in VIEWS:
        assert view.meaning
        assert len(set(view.names)) == len(view.names)
        assert set(view.key) <= set(view.names)
        for column in view.columns:
            assert column.meaning, (view.name, column.name)
            assert column.type in ("INTEGER", "REAL", "TEXT")
            assert (column.name.endswith("_cents")) == column.unit.startswith("cents")


def test_the_rows_are_of_the_types_that_the_table_says(tmp_path: Path) -> None:
    types = {"INTEGER": int, "REAL": float, "TEXT": str}
    with followed(tmp_path, days=5) as (world, public):
        play(world, load_policy("accept-all"))
        for view in VIEWS:
            answer_ = public.ask(f"SELECT * FROM {view.name}")  # noqa: S608 - a name of ours
            assert tuple(answer_.columns) == view.names
            assert answer_.rows, view.name
            for column, cells in zip(view.columns, zip(*answer_.rows, strict=True), strict=True):
                kinds = {type(cell) for cell in cells if cell is not None}
                assert kinds <= {types[column.type]}, (view.name, column.name)
                assert column.empty or None not in cells, (view.name, column.name)
            keys = [tuple(row[view.names.index(key)] for key in view.key) for row in answer_.rows]
            assert len(set(keys)) == len(keys)
