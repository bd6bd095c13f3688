"""What `explain` works out apart from the rules agrees with what a whole run did."""

from __future__ import annotations

import numpy as np
import pytest

from tradesbench_gym.company.explain import CallEvent, explain_call
from tradesbench_gym.company.play import play
from tradesbench_gym.company.simulation import Simulation
from tradesbench_gym.core.codes import CallState
from tradesbench_gym.core.draws import Event
from tradesbench_gym.core.layout import NONE
from tradesbench_gym.errors import StateError
from tradesbench_gym.policies import make_policy


@pytest.fixture(scope="module", params=[("oracle", 5, 0), ("accept-all", 6, 2**63 + 9)])
def run(request: pytest.FixtureRequest) -> Simulation:
    policy, seed, salt = request.param
    simulation = Simulation(seed, salt=salt)
    play(simulation, make_policy(policy, seed=seed))
    return simulation


def told(run: Simulation, event: Event) -> list[tuple[np.void, CallEvent]]:
    found = []
    for number in range(1, int(run.record["n_calls"]) + 1):
        chosen = [one for one in explain_call(run, number) if one.drawn.event == event]
        found += [(run.record["calls"][number - 1], one) for one in chosen]
    assert found
    return found


def test_every_answer_agrees_with_the_run(run: Simulation) -> None:
    answers = told(run, Event.ANSWER)
    for call, event in answers:
        assert event.outcome["accepted"] == (call["state"] != CallState.DECLINED)
    states = run.record["calls"]["state"][: int(run.record["n_calls"])]
    turned_away = np.isin(states, (CallState.REJECTED, CallState.UNANSWERED, CallState.RINGING))
    assert len(answers) == len(states) - int(turned_away.sum())


def test_every_cancellation_agrees_with_the_run(run: Simulation) -> None:
    cancelled = 0
    for call, event in told(run, Event.CANCELLATION):
        at = event.outcome.get("at_s")
        if call["state"] == CallState.CANCELLED:
            assert at == call["ended"]
            cancelled += 1
        elif at is not None:
            assert at > run.record["clock"]
            assert at == call["cancel_at"]
    assert cancelled


def test_every_drive_that_ended_took_as_long_as_explained(run: Simulation) -> None:
    for call, event in told(run, Event.DRIVE):
        if call["arrived"] != NONE:
            assert event.outcome["drive_s"] == call["arrived"] - call["departed"]


def test_every_visit_took_and_billed_what_is_explained(run: Simulation) -> None:
    for call, event in told(run, Event.VISIT):
        if call["state"] in (CallState.DONE, CallState.FAILED):
            assert event.outcome["on_site_s"] == call["ended"] - call["started"]
        if call["state"] == CallState.DONE:
            assert event.outcome["invoice_cents"] == call["invoice"]
            assert event.outcome["material_cents"] == call["material"]


@pytest.mark.parametrize("number", [0, -1, 10_000])
def test_a_call_that_never_rang_cannot_be_explained(run: Simulation, number: int) -> None:
    with pytest.raises(StateError, match=f"there is no call {number}"):
        explain_call(run, number)


def test_explaining_changes_nothing(run: Simulation) -> None:
    before = run.digest()
    told(run, Event.ANSWER)
    assert run.digest() == before
