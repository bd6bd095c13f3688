"""The public database tells of nothing that has not happened, and of nothing that is hidden."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import numpy as np
import pytest

from tests.api.publics import ask, followed, image, play
from tests.envs.test_leak import _array, _other_values, _write, _write_unborn, hidden_paths
from tests.worlds import HVAC, MARCUS, W09, W11, Script, tiny_business
from tradesbench_gym.api.pictures import News, Watcher
from tradesbench_gym.api.public import PublicDatabase
from tradesbench_gym.api.views import BY_NAME, VIEWS
from tradesbench_gym.company.events import Event
from tradesbench_gym.company.play import answer
from tradesbench_gym.company.simulation import Simulation
from tradesbench_gym.core.codes import Stop
from tradesbench_gym.policies.load import load_policy
from tradesbench_gym.world import play_on

MOMENTS = [
    (view.name, column.name)
    for view in VIEWS
    for column in view.columns
    if column.unit.startswith("YYYY-MM-DD HH")
]


def test_nothing_lies_in_the_database_that_has_not_happened(tmp_path: Path) -> None:
    with followed(tmp_path, days=4) as (world, public):
        for number, _ in enumerate(play_on(world, load_policy("accept-all"))):
            if number % 15:
                continue
            ((now,),) = ask(public, "SELECT now FROM cash")
            assert now == f"{world.business.clock_text(int(world.desk['clock']))}{now[16:]}"
            for view, column in MOMENTS:
                late = f"SELECT count(*) FROM {view} WHERE {column} > '{now}'"  # noqa: S608 - names of ours
                assert ask(public, late) == [[0]], (view, column)
            today = f"'{now[:10]}'"
            for late in (
                f"SELECT count(*) FROM weather WHERE date > {today}",  # noqa: S608
                f"SELECT count(*) FROM forecast WHERE made_on > {today}",  # noqa: S608
                "SELECT count(*) FROM forecast WHERE date <= made_on",
                f"SELECT count(*) FROM days WHERE date > {today}",  # noqa: S608
                "SELECT count(*) FROM visits WHERE departed_at IS NULL",
                "SELECT count(*) FROM jobs WHERE state <> 'done' AND invoice_cents IS NOT NULL",
                "SELECT count(*) - max(call_id) FROM calls HAVING count(*)",
                "SELECT count(*) - max(entry) FROM ledger HAVING count(*)",
                "SELECT count(*) - max(customer_id) FROM customers HAVING count(*)",
            ):
                assert ask(public, late) in ([[0]], []), late
            assert ask(public, "SELECT count(*) FROM calls") == [[int(world.desk["n_calls"])]]


def test_the_seed_is_nowhere(tmp_path: Path) -> None:
    seed = 0x1122_3344_5566_7788
    with followed(tmp_path, seed=seed) as (world, public):
        play(world, load_policy("oracle"), 40)
        for file in public.path.parent.iterdir():
            found = file.read_bytes()
            for trace in (str(seed).encode(), f"{seed:x}".encode(), world.digest().encode()):
                assert trace not in found
            for order in ("big", "little"):
                assert seed.to_bytes(8, order) not in found


def test_no_table_has_row_numbers_or_counts_of_its_own(tmp_path: Path) -> None:
    with followed(tmp_path) as (_, public):
        connection = sqlite3.connect(public.path)
        names = connection.execute("SELECT name, type FROM sqlite_schema").fetchall()
        assert {name for name, _ in names} == set(BY_NAME)
        for name, kind in names:
            assert (kind == "view") == bool(BY_NAME[name].select)
            if kind == "table":
                with pytest.raises(sqlite3.OperationalError, match="no such column"):
                    connection.execute(f"SELECT rowid FROM {name}")  # noqa: S608 - a name of ours
        connection.close()


class Told(PublicDatabase):
    """A database that is told what the test tells it, of a run without a file."""

    def __init__(self, simulation: Simulation) -> None:
        self.simulation, self.step = simulation, 0
        self.watcher = Watcher(simulation.business)
        super().__init__(lambda: [self._news([])])

    def tell(self, events: list[Event] | None = None) -> list[Event]:
        """Tell of the next step; its events."""
        self.step += 1
        told = self.simulation.take_events() if events is None else events
        self.follow([self._news(told)])
        return told

    def _news(self, events: list[Event]) -> News:
        return News(self.step - 1, self.step, self.watcher.look(self.simulation), events)


def stops(simulation: Simulation, policy: str) -> Iterator[None]:
    decide = load_policy(policy)
    while not simulation.ended:
        if simulation.advance() == Stop.NEW_CALL:
            yield
            answer(simulation, decide)
        elif simulation.record["phoned"] >= 0:
            yield
            simulation.acknowledge()
        yield


def disguise(twin: Simulation, like: Simulation, random: np.random.Generator) -> None:
    """The same moment in a world whose every hidden part is another."""
    twin.set_state(like.get_state())
    run = twin.record
    for path in hidden_paths():
        _write(run, path, _other_values(_array(run, path), random))
    _write_unborn(run, random)


@pytest.mark.parametrize("policy", ["oracle", "accept-all"])
def test_worlds_that_differ_only_in_what_is_hidden_have_the_same_database(policy: str) -> None:
    """Byte for byte: rows, their order and numbers, tables, pages."""
    business, random = tiny_business(days=4), np.random.default_rng(5)
    run, twin = Simulation(41, business=business), Simulation(42, business=business)
    disguise(twin, run, random)
    with closing(Told(run)) as mine, closing(Told(twin)) as theirs:
        for number, _ in enumerate(stops(run, policy)):
            disguise(twin, run, random)
            assert twin.digest() != run.digest()
            events = mine.tell()
            # Names and numbers of callers are public, and drawn from what is hidden.
            theirs.watcher._callers = mine.watcher._callers
            theirs.tell(events)
            if number % 10 == 0 or run.ended:
                assert image(mine.path) == image(theirs.path)
        assert number > 60


@pytest.mark.parametrize("name", ["cash", "clock", "lowest"])
def test_this_test_would_see_a_field_that_is_public(name: str) -> None:
    business = tiny_business(days=4)
    run, twin = Simulation(41, business=business), Simulation(41, business=business)
    for simulation in (run, twin):
        simulation.next_call()
    twin.record[name] -= 1
    with closing(Told(run)) as mine, closing(Told(twin)) as theirs:
        assert image(mine.path) != image(theirs.path)


def test_who_is_called_away_has_not_set_off() -> None:
    """A visit that was broken off while waiting on site leaves the view again."""
    script = Script()
    with closing(Told(script.simulation)) as public:
        waited_for = script.book("07:05", HVAC, 1, MARCUS, W11) + 1
        script.look("08:00")
        public.tell()
        assert ask(public, "SELECT job_id, state FROM visits") == [[waited_for, "waiting"]]
        sooner = script.book("08:30", HVAC, 2, MARCUS, W09) + 1
        public.tell()
        assert ask(public, "SELECT job_id, state FROM visits") == [[sooner, "driving"]]
        assert ask(public, "SELECT position, job_id FROM schedule ORDER BY position") == [
            [1, sooner],
            [2, waited_for],
        ]
        assert ask(
            public, "SELECT activity, job_id FROM technicians WHERE technician = 'marcus'"
        ) == [["driving", sooner]]
