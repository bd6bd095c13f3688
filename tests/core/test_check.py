"""The invariants hold after every step of any run, and each of them can break."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.worlds import HVAC, MARCUS, PLUMBING, ROBERTO, W09, W11, W13, Script, tiny_business
from tradesbench_gym.company.play import results
from tradesbench_gym.company.simulation import Simulation
from tradesbench_gym.core.check import BrokenInvariantError, check
from tradesbench_gym.core.codes import CallState, Kind, Phase, Stop
from tradesbench_gym.policies import make_policy

EDGES: list[dict[str, Any]] = [
    {},
    {"pay.starting_cash": 3_000},
    {"pay.starting_cash": 10**6, "demand.start": 30, "demand.loss": 0},
    {"demand.start": 0, "demand.gain": "5"},
    {"demand.start": 40, "demand.cap": 40, "demand.loss": "0.5", "pay.starting_cash": 50_000},
    {"acceptance.routine_start": 1, "acceptance.routine_floor": 1},
    {
        "cancellation.notice": 0,
        "cancellation.slope_per_day": 0,
        "cancellation.storm_factor": 1,
        "customers.residential.cancel_base": 1,
        "customers.apartment.cancel_base": 1,
        "customers.commercial.cancel_base": 1,
    },
    {"demand.call_time": ["07:00", "07:00", "07:00"]},
    {"demand.call_time": ["18:59", "18:59", "18:59"]},
    {"demand.book": 1, "demand.book_share": 1},
    {"demand.book": 0, "demand.book_share": 0},
    {"driving.speed_factor": "0.7", "pay.starting_cash": 10**6},
    {"weather.storm_days": [28] * 12, "weather.zone_hit.storm": 1},
    {"calendar.booking_days": 1},
    {"pay.overtime_cap": 0, "pay.off_hours_premium": 0, "pay.off_hours_share": 1},
    {"visits.failed": 0},
    {"services.plumbing.shortest": 1, "services.plumbing.typical": 1},
    {"demand.other_max": 30, "demand.installations": {"0": 0, "1": 0, "2": 1}},
]


def verify(simulation: Simulation) -> None:
    check(simulation.record, simulation.business.params[0])


class Ledger:
    """Adds up what the events say and holds it against the cash."""

    def __init__(self, simulation: Simulation) -> None:
        self.simulation = simulation
        self.cash = simulation.cash_cents
        self.rows = 0
        self.at = 0

    def follow(self) -> None:
        for event in self.simulation.take_events():
            assert event.at >= self.at, "events come in order"
            self.at = event.at
            if event.kind == Kind.LEDGER:
                assert event.cents
                self.cash += event.cents
                self.rows += 1
        assert self.cash == self.simulation.cash_cents
        assert self.rows == int(self.simulation.record["entries"])


def answer(simulation: Simulation, offer: tuple[int, int, int], mood: int) -> None:
    if mood == 0:
        simulation.reject()
    elif mood == 1:
        simulation.leave_unanswered()
    elif simulation.refusal(*offer) is None:
        simulation.offer(*offer)
    else:
        simulation.reject()


@settings(max_examples=15)
@given(
    seed=st.integers(0, 2**64 - 1),
    edge=st.sampled_from(EDGES),
    days=st.integers(1, 4),
    key=st.integers(0, 2**32),
    eager=st.booleans(),
)
def test_every_invariant_holds_after_every_step_of_any_run(
    seed: int, edge: dict[str, Any], days: int, key: int, eager: bool
) -> None:
    simulation = Simulation(seed, business=tiny_business(edge, days))
    rng = np.random.default_rng(key)
    ledger = Ledger(simulation)
    verify(simulation)
    while not simulation.ended:
        stop = simulation.advance()
        verify(simulation)
        ledger.follow()
        if stop == Stop.NEW_CALL:
            offer = (
                int(rng.integers(4)),
                int(rng.integers(3) * rng.integers(5)),
                int(rng.integers(6)),
            )
            answer(simulation, offer, 2 if eager else int(rng.integers(5)))
            verify(simulation)
        elif stop == Stop.CANCELLATION and rng.integers(2):
            simulation.acknowledge()
            verify(simulation)
    assert simulation.profit_cents == ledger.cash - int(
        simulation.business.handbook["starting_cash"]
    )


@pytest.mark.parametrize("name", ["oracle", "accept-all"])
def test_every_invariant_holds_through_two_weeks_of_a_policy(name: str) -> None:
    simulation = Simulation(11, business=tiny_business({"pay.starting_cash": 10**5}))
    policy, ledger = make_policy(name), Ledger(simulation)
    while simulation.next_call() == Stop.NEW_CALL:
        verify(simulation)
        decision = policy(simulation.desk)
        if decision is None:
            simulation.reject()
        else:
            simulation.offer(*decision)
        ledger.follow()
    verify(simulation)
    told = results(simulation)
    ended = told.completed + told.missed + told.failed + told.cancelled
    assert told.calls == ended + told.declined + told.rejected + told.open


def busy() -> Script:
    """A morning with a job done, one waited for, one under way and one booked for tomorrow."""
    script = Script()
    script.book("07:10", PLUMBING, 8, ROBERTO, W09)
    script.book("07:11", PLUMBING, 9, ROBERTO, W13)
    script.book("07:12", HVAC, 2, MARCUS, W11)
    script.book("07:13", HVAC, 2, MARCUS, W11, ahead=1)
    script.look("10:30")
    return script


def write(*path: Any, value: Any) -> Callable[[Script], None]:
    def change(script: Script) -> None:
        record = script.run
        for name in path[:-1]:
            record = record[name]
        record[path[-1]] = value

    return change


BREAKS: list[tuple[Callable[[Script], None], str]] = [
    (write("cash", value=1), "cash is the starting cash plus the ledger"),
    (write("lowest", value=10**9), "lowest"),
    (write("level", value=10**6), "demand level"),
    (write("bankrupt", value=1), "bankrupt exactly when"),
    (write("phase", value=9), "phase"),
    (write("phase", value=int(Phase.MORNING)), "a morning stands"),
    (write("day", value=77), "the day is one"),
    (write("line", value=0), "the one ringing call"),
    (write("phoned", value=1), "the cancellation on the line"),
    (
        write("n_calls", value=4),
        "who is busy has a job|a route leads to a call|those of its calls|is that of",
    ),
    (write("calls", 0, "state", value=77), "state is one there is"),
    (write("calls", 1, "zone", value=9), "zone is in range"),
    (write("calls", 1, "technician", value=5), "technician is in range"),
    (write("calls", 4, "day", value=2), "a job is on its route"),
    (write("calls", 1, "started", value=0), "arrived is no later than started"),
    (write("calls", 1, "ended", value=0), "started is no later than ended"),
    (write("calls", 2, "ended", value=30_000), "in hand has not ended"),
    (
        write("calls", 3, "state", value=int(CallState.WORKING)),
        "started is known from its moment on",
    ),
    (write("calls", 4, "cancel_at", value=100_000), "next_cancel is the earliest"),
    (write("calls", 1, "cancel_at", value=100_000), "can still be cancelled"),
    (write("next_cancel", value=5), "next_cancel is none"),
    (write("technicians", ROBERTO, "job", value=1), "what he is"),
    (write("technicians", MARCUS, "activity", value=0), "who is idle has no job"),
    (write("technicians", MARCUS, "until", value=5), "not overdue"),
    (write("calls", 2, "next", value=2), "a route names each job once"),
    (write("route", 1, MARCUS, value=-1), "every booked job is on a route"),
    (write("route", 3, 7, value=1), "nobody has a route"),
    (write("days", 0, "done", value=2), "count of done"),
    (write("days", 0, "closed_at", value=5), "the present day is open"),
    (write("lost", 3, value=1), "missed or failed are lost"),
    (write("forecast", "high", 0, 0, value=1), "what is said of today is true"),
]


@pytest.mark.parametrize(("change", "says"), BREAKS)
def test_a_record_that_no_run_can_reach_is_named(
    change: Callable[[Script], None], says: str
) -> None:
    script = busy()
    verify(script.simulation)
    change(script)
    with pytest.raises(BrokenInvariantError, match=says):
        verify(script.simulation)


def test_checking_changes_nothing() -> None:
    script = busy()
    before = script.simulation.get_state()
    verify(script.simulation)
    assert script.simulation.get_state() == before
