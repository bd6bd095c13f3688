"""A run in a file is the run: the same states, and everything that happened in its tables."""

from __future__ import annotations

import sqlite3
import threading
import time
from pathlib import Path

import pytest

from tests.world.runs import (
    DAYS,
    MAP,
    SEED,
    answer,
    business,
    create,
    play_steps,
    play_to_the_end,
    refused,
    resume,
    rows,
    undisturbed,
    untouched,
)
from tradesbench_gym.company.simulation import Simulation
from tradesbench_gym.core.codes import Entry, Kind, Stop
from tradesbench_gym.errors import BookingError
from tradesbench_gym.policies.load import load_policy
from tradesbench_gym.world import World, reading


def test_a_run_in_a_file_ends_in_the_same_state_as_one_without(finished_run: Path) -> None:
    (digest,) = rows(finished_run, "SELECT digest FROM head")[0]
    assert digest == undisturbed()


def test_the_events_in_the_file_are_those_of_the_simulation(finished_run: Path) -> None:
    simulation, decide = Simulation(SEED, business=business()), load_policy("oracle")
    while simulation.next_call() == Stop.NEW_CALL:
        answer(simulation, decide)
    happened = [
        (e.at, int(e.kind), e.call, e.technician, e.day, e.window, e.entry, e.cents)
        for e in simulation.take_events()
    ]
    kept = rows(
        finished_run,
        "SELECT at, kind, call, technician, day, window, entry, cents FROM events "
        "LEFT JOIN ledger ON ledger.event = events.number ORDER BY events.number",
    )
    assert kept == happened


def test_a_closed_file_is_one_file_without_companions(tmp_path: Path) -> None:
    with create(tmp_path / "run.sqlite") as world:
        play_steps(world, 30)
    assert [one.name for one in tmp_path.iterdir()] == ["run.sqlite"]
    assert rows(tmp_path / "run.sqlite", "PRAGMA journal_mode") == [("delete",)]


def test_opening_and_closing_without_a_command_changes_no_byte(finished_run: Path) -> None:
    with untouched(finished_run):
        resume(finished_run).close()


def test_a_run_stopped_and_resumed_after_each_command_ends_in_the_same_state(
    tmp_path: Path,
) -> None:
    path = tmp_path / "run.sqlite"
    create(path, days=1).close()
    decide = load_policy("oracle")
    while True:
        with resume(path) as world:
            if world.ended:
                break
            if world.line is None and int(world.record["phoned"]) < 0:
                world.advance()
            elif world.line is None:
                world.acknowledge()
            else:
                answer(world, decide)
    assert world.digest() == undisturbed(days=1)


def test_every_command_is_there_for_others_when_it_returns(tmp_path: Path) -> None:
    path = tmp_path / "run.sqlite"
    with create(path) as world:
        for _ in range(5):
            world.next_call()
            world.reject()
            with reading(path) as look:
                (last, digest) = look.execute("SELECT journal, digest FROM head").fetchone()
            assert (last, digest) == (world.commands, world.simulation.digest())


def test_cash_is_the_starting_cash_and_the_ledger_after_every_command(tmp_path: Path) -> None:
    with create(tmp_path / "run.sqlite", days=1) as world:
        while not world.ended:
            stop = world.advance()
            assert world.cash_cents == world.simulation.cash_cents
            if stop == Stop.NEW_CALL:
                world.reject()
        # One weekday without work: 1,520 base pay + 146 on call + 1,250 overhead = 2,916 dollars.
        assert world.cash_cents == 2_500_000 - 291_600
        assert world.profit_cents == -291_600


def test_bankruptcy_stands_in_the_commit_of_the_payment_that_caused_it(tmp_path: Path) -> None:
    path = tmp_path / "run.sqlite"
    with create(path, days=14) as world:
        while world.next_call() != Stop.ENDED:
            world.reject()
        # Doing nothing ends on day 10 at exactly -26,790 dollars of profit (simulation.md, 4).
        assert (world.day, world.profit_cents) == (9, -2_679_000)
    bankrupt = rows(path, "SELECT journal FROM events WHERE kind = {}", int(Kind.BANKRUPT))
    last = rows(path, "SELECT journal FROM events WHERE number = (SELECT max(event) FROM ledger)")
    assert bankrupt == last == [(rows(path, "SELECT journal FROM head")[0][0],)]


def test_a_refused_command_leaves_no_row(tmp_path: Path) -> None:
    with create(tmp_path / "run.sqlite") as world:
        world.next_call()
        before = world.commands, world.digest()
        for attempt in (
            lambda: world.offer(99, 0, 0),
            lambda: world.offer(0, 99, 0),
            lambda: world.offer(0, 1, 0, service=3 - int(world.record["calls"][0]["service"])),
            world.advance,
            world.acknowledge,
            lambda: world.register(int(world.record["calls"][0]["address"]) ^ 1),
        ):
            with pytest.raises(BookingError):
                attempt()
        assert (world.commands, world.digest(), world.simulation.digest()) == (*before, before[1])


def test_a_command_that_changes_nothing_leaves_no_row(tmp_path: Path) -> None:
    with create(tmp_path / "run.sqlite", days=1) as world:
        world.next_call()
        address = int(world.record["calls"][0]["address"])
        assert world.register(address) == address
        registered = world.commands
        world.register(address)
        assert world.commands == registered
        play_to_the_end(world)
        ended = world.commands
        assert world.advance() == Stop.ENDED
        assert world.commands == ended


def test_the_ledgers_rows_are_the_record_s_sums(finished_run: Path) -> None:
    with resume(finished_run) as world:
        sums = world.record["ledger"].tolist()
    kept = dict(rows(finished_run, "SELECT entry, sum(cents) FROM ledger GROUP BY entry"))
    assert [kept.get(int(entry), 0) for entry in Entry] == sums


def test_the_days_in_words_are_the_record_s_days(finished_run: Path) -> None:
    names = ("calls", "booked", "declined", "rejected", "done", "missed", "failed", "cancelled")
    with resume(finished_run) as world:
        days = world.record["days"][:DAYS]
        due = [(*(int(day[name]) for name in names), int(day["cash"]) / 100) for day in days]
    assert rows(finished_run, "SELECT {}, cash FROM days", ", ".join(names)) == due


def test_every_view_shows_something(finished_run: Path) -> None:
    for view in ("commands", "happenings", "statement", "cash", "jobs", "days"):
        assert rows(finished_run, "SELECT * FROM {}", view), view


def test_the_jobs_in_words_are_all_calls_with_their_last_state(finished_run: Path) -> None:
    with resume(finished_run) as world:
        calls = int(world.record["n_calls"])
        done = int((world.record["calls"][:calls]["state"] == 8).sum())
    assert rows(finished_run, "SELECT count(*) FROM jobs") == [(calls,)]
    assert rows(finished_run, "SELECT count(*) FROM jobs WHERE state = 'done'") == [(done,)]


def test_a_sealed_run_and_the_largest_seed_are_kept_whole(tmp_path: Path) -> None:
    path, most = tmp_path / "run.sqlite", 2**64 - 1
    with World.create(path, most, salt=most, business=business(1)) as world:
        world.next_call()
        digest = world.digest()
    with resume(path) as world:
        assert (int(world.record["seed"]), int(world.record["salt"])) == (most, most)
        assert world.digest() == digest


def test_a_run_played_past_its_file_is_noticed(tmp_path: Path) -> None:
    with create(tmp_path / "run.sqlite") as world:
        world.simulation.next_call()
        refused(world.reject, "astray")
        assert rows(world.path, "SELECT count(*) FROM journal") == [(1,)]


def test_a_closed_world_takes_no_command(tmp_path: Path) -> None:
    world = create(tmp_path / "run.sqlite")
    world.close()
    world.close()
    refused(world.advance, "closed")


def test_of_two_threads_that_answer_one_call_exactly_one_wins(tmp_path: Path) -> None:
    won: list[str] = []
    lost: list[str] = []

    def answer() -> None:
        gate.wait()
        try:
            world.reject()
        except BookingError as error:
            lost.append(error.code)
        else:
            won.append("rejected")

    with create(tmp_path / "run.sqlite") as world:
        for _ in range(10):
            world.next_call()
            gate = threading.Barrier(2)
            pair = [threading.Thread(target=answer) for _ in range(2)]
            for one in pair:
                one.start()
            for one in pair:
                one.join()
    assert (len(won), lost) == (10, ["no_call"] * 10)


def test_fifty_readers_in_the_middle_of_reading_do_not_block_the_writer(tmp_path: Path) -> None:
    path = tmp_path / "run.sqlite"
    with create(path) as world:
        play_steps(world, 10)
        readers = [sqlite3.connect(f"{path.as_uri()}?mode=ro", uri=True) for _ in range(50)]
        try:
            for reader in readers:
                reader.execute("BEGIN")
                reader.execute("SELECT count(*) FROM events").fetchone()
            seen = world.commands
            begun = time.perf_counter()
            play_steps(world, seen + 20)
            # A blocked writer would have waited for five seconds and then failed.
            assert time.perf_counter() - begun < 4
            held = {one.execute("SELECT max(number) FROM journal").fetchone() for one in readers}
            assert held == {(seen,)}
        finally:
            for reader in readers:
                reader.close()
        assert play_to_the_end(world) == undisturbed()


def test_an_open_reader_does_not_keep_the_last_commit_from_the_file(tmp_path: Path) -> None:
    path = tmp_path / "run.sqlite"
    world = create(path)
    play_steps(world, 10)
    reader = sqlite3.connect(path)
    reader.execute("BEGIN")
    reader.execute("SELECT count(*) FROM events").fetchone()
    world.close()
    reader.close()
    with World.open(path, map=MAP) as again:
        assert (again.commands, again.digest()) == (world.commands, world.digest())
        assert play_to_the_end(again) == undisturbed()
