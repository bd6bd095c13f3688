"""What the company lets out and what it refuses (A.7): each refusal has its code and changes
nothing.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from tests.worlds import (
    DIANA,
    ELECTRICAL,
    HVAC,
    INSTALLATION,
    KATHERINE,
    MARCUS,
    OTHER_WORK,
    PLUMBING,
    ROBERTO,
    W07,
    W09,
    W13,
    W15,
    W17,
    Script,
    tiny_business,
)
from tradesbench_gym.company.simulation import Simulation
from tradesbench_gym.core.codes import CallState
from tradesbench_gym.errors import BookingError, ScenarioError, StateError

# Day 0 is a Thursday, so 2 and 3 days ahead are a weekend.
REFUSED: list[tuple[str, int, tuple[int, int, int], str, str]] = [
    ("09:01", PLUMBING, (4, 0, W13), "unknown_technician", "technician"),
    ("09:01", PLUMBING, (-1, 0, W13), "unknown_technician", "technician"),
    ("09:01", PLUMBING, (ROBERTO, 0, 6), "unknown_window", "window"),
    ("09:01", PLUMBING, (ROBERTO, 0, -1), "unknown_window", "window"),
    ("09:01", PLUMBING, (ROBERTO, 14, W13), "beyond_horizon", "day"),
    ("09:01", PLUMBING, (ROBERTO, -1, W13), "beyond_horizon", "day"),
    ("09:01", PLUMBING, (ROBERTO, 0, W07), "window_started", "window"),
    ("09:01", PLUMBING, (ROBERTO, 0, W09), "window_started", "window"),
    ("09:01", ELECTRICAL, (KATHERINE, 0, W17), "off_shift", "technician"),
    ("09:01", ELECTRICAL, (KATHERINE, 2, W09), "off_shift", "technician"),
    ("09:01", HVAC, (DIANA, 3, W13), "off_shift", "technician"),
    ("09:01", INSTALLATION, (MARCUS, 0, W17), "installation_off_hours", "window"),
    ("09:01", INSTALLATION, (MARCUS, 2, W09), "installation_off_hours", "window"),
]


def refused(script: Script, act: Callable[[], Any]) -> BookingError:
    """The error of something refused, and proof that nothing changed: state, line and events."""
    script.simulation.take_events()
    before = script.simulation.get_state()
    with pytest.raises(BookingError) as caught:
        act()
    assert script.simulation.get_state() == before
    assert script.simulation.take_events() == []
    assert str(caught.value).count("\n") == 0
    return caught.value


@pytest.mark.parametrize(("at", "service", "offer", "code", "field"), REFUSED)
def test_a_refused_offer_names_the_rule_and_changes_nothing(
    at: str, service: int, offer: tuple[int, int, int], code: str, field: str
) -> None:
    script = Script()
    script.call(at, service, 5)
    error = refused(script, lambda: script.simulation.offer(*offer))
    assert (error.code, error.field) == (code, field)
    told = script.simulation.refusal(*offer)
    assert told is not None
    assert (told.code, str(told)) == (error.code, str(error))
    script.simulation.reject()


def test_without_a_call_on_the_line_there_is_nothing_to_answer() -> None:
    script = Script()
    for act in (
        lambda: script.simulation.offer(ROBERTO, 0, W13),
        script.simulation.reject,
        script.simulation.leave_unanswered,
        lambda: script.simulation.register(0),
    ):
        assert refused(script, act).code == "no_call"
    assert refused(script, script.simulation.acknowledge).code == "no_cancellation"


def test_a_call_gets_one_answer_and_no_second() -> None:
    for answer in ("offer", "reject"):
        script = Script()
        script.call("08:00", PLUMBING, 5)
        if answer == "offer":
            script.simulation.offer(ROBERTO, 0, W09)
        else:
            script.simulation.reject()
        error = refused(script, lambda: script.simulation.offer(ROBERTO, 0, W13))  # noqa: B023
        assert error.code == "no_call"


def test_a_customer_who_declines_gets_no_second_offer() -> None:
    script = Script({"acceptance.routine_start": 0, "acceptance.routine_floor": 0})
    number = script.call("08:00", PLUMBING, 5)
    assert not script.simulation.offer(ROBERTO, 0, W09)
    assert script.job(number)["state"] == CallState.DECLINED
    assert refused(script, lambda: script.simulation.offer(ROBERTO, 0, W13)).code == "no_call"


def test_a_job_is_booked_for_the_callers_own_service_and_address() -> None:
    script = Script()
    script.call("08:00", PLUMBING, 5)
    offer = script.simulation.offer
    wrong = refused(script, lambda: offer(ROBERTO, 0, W09, service=ELECTRICAL))
    assert (wrong.code, wrong.field) == ("wrong_service", "service")
    wrong = refused(script, lambda: script.simulation.register(6))
    assert (wrong.code, wrong.field) == ("wrong_location", "address")
    address = script.simulation.business.roadmap.address(5).text
    assert script.simulation.register(address) == 5
    assert offer(ROBERTO, 0, W09, service=PLUMBING)


def test_time_does_not_go_on_while_a_call_is_on_the_line() -> None:
    script = Script()
    script.call("08:00", PLUMBING, 5)
    assert refused(script, script.simulation.advance).code == "call_waiting"


@pytest.mark.parametrize(
    ("service", "who", "ahead", "window"),
    [
        (PLUMBING, KATHERINE, 0, W09),  # not qualified
        (OTHER_WORK, MARCUS, 0, W09),  # nobody does it
        (INSTALLATION, ROBERTO, 0, W15),
        (PLUMBING, ROBERTO, 0, W17),  # on call in the evening
        (PLUMBING, ROBERTO, 2, W07),  # and at weekends from 7 to 19
        (OTHER_WORK, MARCUS, 3, W17),
        (HVAC, DIANA, 13, W09),  # the last day that can be booked
        (INSTALLATION, DIANA, 0, W15),  # late, but not off-hours
        (ELECTRICAL, MARCUS, 2, W17),
    ],
)
def test_the_company_lets_out_what_no_rule_forbids(
    service: int, who: int, ahead: int, window: int
) -> None:
    script = Script()
    script.call("08:30", service, 5)
    assert script.simulation.refusal(who, ahead, window) is None
    assert script.simulation.offer(who, ahead, window)


def test_a_window_may_be_offered_until_the_second_it_opens() -> None:
    script = Script()
    script.call("09:00", PLUMBING, 8)
    assert script.simulation.refusal(ROBERTO, 0, W09) is None
    assert script.simulation.refusal(ROBERTO, 0, W07) is not None


def test_a_run_of_more_than_31_days_is_refused_by_name() -> None:
    with pytest.raises(ScenarioError, match="days must be a whole number from 1 to 31, not 32"):
        tiny_business(days=32)


@pytest.mark.parametrize("seed", [-1, 2**64, True, 1.5, "5"])
def test_a_seed_is_a_whole_number_of_64_bits(seed: Any) -> None:
    with pytest.raises(StateError, match="seed must be a whole number from 0 to"):
        Simulation(seed, business=tiny_business())
