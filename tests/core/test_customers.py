"""Will the customer say yes, and will he cancel (A.2 and A.3)?"""

from __future__ import annotations

from math import exp
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

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
    W11,
    W13,
    W15,
    W17,
    Script,
    clock,
    tiny_business,
)
from tradesbench_gym.core import draws
from tradesbench_gym.core.codes import CallState, Condition, Kind, Stop, Stream
from tradesbench_gym.core.draws import ALWAYS

DAY = 1_440
WEEKDAYS = [0, 1, 4, 5, 6, 7, 8, 11, 12, 13]  # of the run; day 0 is a Thursday
RESIDENTIAL, APARTMENT, COMMERCIAL = range(3)
GIVEN_ANSWERS = {
    "acceptance.urgent_next_day": "0.15",
    "acceptance.urgent_later": "0.05",
    "acceptance.routine_start": "0.9",
    "acceptance.routine_decay_per_day": "0.15",
    "acceptance.routine_floor": "0.25",
    "acceptance.late_installation_factor": "0.5",
}
CANCELS = {
    "cancellation.storm_factor": 1,
    **{f"customers.{who}.cancel_base": 1 for who in ("residential", "apartment", "commercial")},
}


@pytest.fixture(scope="module")
def p() -> Any:
    """The numbers of the scenario that ships."""
    return tiny_business().params[0]


def share(threshold: Any) -> float:
    return 1.0 if int(threshold) == ALWAYS else int(threshold) / 2**64


def test_a_routine_caller_accepts_three_days_out_57_of_100_times(p: Any) -> None:
    # 0.90 · e^(−0.15 · 3) = 0.90 · 0.63763 = 0.57387
    assert share(p["accept"][0, 3 * DAY]) == pytest.approx(0.90 * exp(-0.45), abs=1e-12)
    assert round(share(p["accept"][0, 3 * DAY]), 2) == 0.57


def test_a_routine_caller_accepts_a_week_out_31_of_100_times(p: Any) -> None:
    # 0.90 · e^(−0.15 · 7) = 0.90 · 0.34994 = 0.31494
    assert round(share(p["accept"][0, 7 * DAY]), 2) == 0.31


def test_routine_callers_start_at_90_and_end_at_a_floor_of_25_of_100(p: Any) -> None:
    assert share(p["accept"][0, 0]) == pytest.approx(0.90, abs=1e-15)
    # The floor is met where 0.90 · e^(−0.15 · lead) = 0.25: lead = ln(3.6) / 0.15 = 8.5396 days.
    floor = 2**62
    assert int(p["accept"][0, int(8.53 * DAY)]) > floor
    assert (p["accept"][0, int(8.55 * DAY) :] == floor).all()


def test_the_longer_the_lead_the_less_likely_the_yes(p: Any) -> None:
    assert (np.diff(p["accept"].astype(np.float64), axis=1) <= 0).all()


def test_urgent_callers_accept_same_day_always_next_day_15_later_5_of_100(p: Any) -> None:
    assert int(p["accept_urgent"][0]) == ALWAYS
    assert [share(t) for t in p["accept_urgent"]] == pytest.approx([1.0, 0.15, 0.05], abs=1e-15)


def test_a_late_installation_window_halves_the_chance_after_the_floor(p: Any) -> None:
    routine, late = p["accept"].astype(object)
    assert all(abs(int(a) - 2 * int(b)) <= 1 for a, b in zip(routine, late, strict=True))
    assert int(late[-1]) == 2**61  # 0.25 / 2


def patience(seed: int, index: int) -> int:
    """The first word of the caller's one answer."""
    words = draws.words(np.uint64(seed), np.uint64(0), int(draws.Event.ANSWER), 0, 0, index)
    return int(words[0])


def answer(seed: int, service: int, who: int, window: int, ahead: int, urgent: int = 0) -> bool:
    script = Script(GIVEN_ANSWERS, seed=seed)
    script.call("08:30", service, 5, urgent=urgent)
    return script.simulation.offer(who, ahead, window)


@pytest.mark.parametrize(
    ("service", "who", "window", "ahead", "urgent", "chance"),
    [
        # Thursday 08:30 to Friday 09:00 is 24 h 30 min = 1.0208 days.
        (PLUMBING, ROBERTO, W09, 1, 0, 0.90 * exp(-0.15 * 24.5 / 24)),
        (OTHER_WORK, ROBERTO, W09, 1, 0, 0.90 * exp(-0.15 * 24.5 / 24)),
        (PLUMBING, ROBERTO, W17, 12, 0, 0.25),
        (PLUMBING, ROBERTO, W09, 0, 1, 1.0),
        (PLUMBING, ROBERTO, W07, 1, 1, 0.15),
        (PLUMBING, ROBERTO, W07, 2, 1, 0.05),
        (INSTALLATION, DIANA, W13, 0, 0, 0.90 * exp(-0.15 * 4.5 / 24)),
        (INSTALLATION, DIANA, W15, 0, 0, 0.45 * exp(-0.15 * 6.5 / 24)),
        (PLUMBING, ROBERTO, W15, 0, 0, 0.90 * exp(-0.15 * 6.5 / 24)),
    ],
)
def test_an_answer_is_patience_against_the_chance_of_the_offer(
    service: int, who: int, window: int, ahead: int, urgent: int, chance: float
) -> None:
    for seed in range(40):
        expected = patience(seed, 1) < chance * 2**64
        assert answer(seed, service, who, window, ahead, urgent) == expected


@settings(max_examples=25)
@given(
    seed=st.integers(0, 10_000),
    urgent=st.integers(0, 1),
    service=st.sampled_from([PLUMBING, INSTALLATION, OTHER_WORK]),
    slots=st.lists(
        st.tuples(st.sampled_from(WEEKDAYS), st.integers(1, 4)),
        min_size=2,
        max_size=2,
        unique=True,
    ),
)
def test_a_better_offer_never_gets_a_worse_answer(
    seed: int, urgent: int, service: int, slots: list[tuple[int, int]]
) -> None:
    """Sooner is better; at the same hour where late in the day is worse by itself."""
    script = Script(GIVEN_ANSWERS, seed=seed)
    script.call("08:30", service, 5, urgent=urgent if service == PLUMBING else 0)
    state, who = script.simulation.get_state(), DIANA if service == INSTALLATION else ROBERTO
    answers = []
    for ahead, window in sorted(slots):
        script.simulation.set_state(state)
        hour = W15 if service == INSTALLATION else window
        answers.append(script.simulation.offer(who, ahead, hour))
    assert answers[0] >= answers[1]


def test_the_answer_is_the_callers_whoever_is_sent_and_whatever_was_booked_before() -> None:
    for seed in range(10):
        busy = Script(GIVEN_ANSWERS, seed=seed)
        busy.call("08:00", PLUMBING, 3, urgent=1)
        busy.simulation.offer(ROBERTO, 0, W09)
        busy.call("08:30", HVAC, 5)
        quiet = Script(GIVEN_ANSWERS, seed=seed)
        quiet.call("08:10", PLUMBING, 3)
        quiet.simulation.reject()
        quiet.call("08:30", HVAC, 5)
        assert busy.simulation.offer(MARCUS, 4, W09) == quiet.simulation.offer(DIANA, 4, W09)


# -- cancellation


def test_a_residential_job_a_week_out_cancels_14_of_100_times_and_20_in_a_storm(p: Any) -> None:
    # 0.08 + 0.0085 · 7 = 0.1395; × 1.4 = 0.1953
    assert share(p["cancel"][RESIDENTIAL, 0, 0, 7 * DAY]) == pytest.approx(0.1395, abs=1e-15)
    assert share(p["cancel"][RESIDENTIAL, 0, 1, 7 * DAY]) == pytest.approx(0.1953, abs=1e-15)


def test_cancelling_starts_at_8_6_and_5_of_100_and_rises_alike_for_all(p: Any) -> None:
    starts = [share(p["cancel"][who, 0, 0, 0]) for who in range(3)]
    assert starts == pytest.approx([0.08, 0.06, 0.05], abs=1e-15)
    for lead in (DAY, 10 * DAY):
        rises = [share(p["cancel"][who, 0, 0, lead]) - starts[who] for who in range(3)]
        assert rises == pytest.approx([0.0085 * lead / DAY] * 3, abs=1e-15)


def test_urgent_jobs_cancel_half_as_often(p: Any) -> None:
    routine, urgent = p["cancel"][:, 0], p["cancel"][:, 1]
    assert urgent.astype(float) == pytest.approx(routine.astype(float) / 2, rel=1e-15)


def test_a_storm_counts_in_the_jobs_zone_on_the_service_day_only() -> None:
    changes = {"customers.residential.cancel_base": "0.35", "cancellation.slope_per_day": 0}
    cancelled = {"job": 0, "elsewhere": 0}
    word = [
        int(draws.words(np.uint64(s), np.uint64(0), int(draws.Event.CANCELLATION), 0, 0, 1)[0])
        for s in range(60)
    ]
    for where in cancelled:
        for seed in range(60):
            script = Script(changes, seed=seed)
            # Address 5 is in the west (zone 0); a storm on Saturday, day 2, or beside it.
            script.run["sky"]["condition"][2, 0 if where == "job" else 1] = Condition.STORM
            script.run["sky"]["condition"][1, 0] = Condition.STORM
            number = script.book("08:30", PLUMBING, 5, ROBERTO, W09, ahead=2)
            cancelled[where] += script.job(number)["cancel_at"] >= 0
    assert cancelled["job"] == sum(w < 0.49 * 2**64 for w in word)  # 0.35 · 1.4
    assert cancelled["elsewhere"] == sum(w < 0.35 * 2**64 for w in word)


@pytest.mark.parametrize(
    ("rang", "window", "ahead", "earliest", "latest"),
    [
        ("08:30", W11, 0, clock("08:30:01"), clock("10:00")),
        ("08:30", W07, 1, clock("08:30:01"), clock("18:59:59")),
        ("18:00", W09, 1, clock("18:00:01"), clock("08:00", 1)),
    ],
)
def test_who_cancels_phones_in_calling_hours_and_an_hour_before_the_window(
    rang: str, window: int, ahead: int, earliest: int, latest: int
) -> None:
    moments = []
    for seed in range(60):
        script = Script(CANCELS, seed=seed)
        number = script.book(rang, PLUMBING, 5, ROBERTO, window, ahead=ahead)
        moments.append(int(script.job(number)["cancel_at"]))
    assert min(moments) >= earliest
    assert max(moments) <= latest
    assert all(7 * 3600 <= moment % 86_400 < 19 * 3600 for moment in moments)
    assert len(set(moments)) > 50  # seconds, uniformly drawn from at least 5,400


def test_a_moment_to_phone_is_drawn_uniformly_from_the_seconds_there_are() -> None:
    """Booked at 08:30 for 11:00: 5,400 seconds, from 08:30:01 to 10:00:00."""
    for seed in range(20):
        script = Script(CANCELS, seed=seed)
        number = script.book("08:30", PLUMBING, 5, ROBERTO, W11)
        words = draws.words(
            np.uint64(seed), np.uint64(0), int(draws.Event.CANCELLATION), 0, 0, int(number)
        )
        place = (int(words[1]) >> 32) * 5_400 >> 32
        assert script.job(number)["cancel_at"] == clock("08:30:01") + place


def test_a_booking_stands_where_no_second_is_left_to_phone() -> None:
    script = Script(CANCELS)
    number = script.book("08:30", PLUMBING, 5, ROBERTO, W09)  # 08:00 has passed
    assert script.job(number)["cancel_at"] == -1
    script.close_day()
    assert script.job(number)["state"] == CallState.DONE


def test_a_cancellation_stands_whether_acknowledged_or_not() -> None:
    for acknowledged in (True, False):
        script = Script()
        number = script.book("08:30", ELECTRICAL, 5, KATHERINE, W13)
        script.cancel(number, "11:00")
        assert script.simulation.advance() == Stop.CANCELLATION
        assert script.run["phoned"] == number
        if acknowledged:
            script.simulation.acknowledge()
        script.run["due_count"] = script.run["due_next"]
        script.close_day()
        assert script.job(number)["state"] == CallState.CANCELLED
        assert script.job(number)["ended"] == clock("11:00")
        assert bool(script.happened(Kind.ACKNOWLEDGED, number)) == acknowledged
        assert script.paid(number) == {}


def test_an_answer_or_cancellation_is_drawn_by_the_call_alone() -> None:
    """Its identity is day, stream and index in the stream, and no count of draws."""
    assert int(Stream.SERVICE) == 0
    assert patience(3, 1) != patience(3, 2)
    script = Script(CANCELS, seed=3)
    a = script.book("08:30", PLUMBING, 5, ROBERTO, W13)
    b = Script(CANCELS, seed=3)
    b.book("08:30", PLUMBING, 9, ROBERTO, W13)
    assert script.job(a)["cancel_at"] == b.job(a)["cancel_at"]
