"""Prices worked out by hand, in the world of three calls (`tests/report/three_calls.py`).

A plumbing job pays $240 and keeps Roberto for three hours: in the window of 7 o'clock he is done at
10, then at 13, at 16. A second job in one window is missed at its close, two hours after it opened.
The oracle keeps 40 minutes to spare before a window closes.
"""

from __future__ import annotations

import pytest

from tests.report.three_calls import FIXED, JOB, Offer, answered, code, three_calls
from tests.worlds import DIANA, ROBERTO, W07, W09, W13, W15
from tradesbench_gym.core.codes import CallState
from tradesbench_gym.report.regret import Ask, Kind, Part, Price, price

EARLY: Offer = (ROBERTO, 0, W07)


def test_three_answers_of_which_one_is_right_one_makes_a_chain_and_one_turns_work_away() -> None:
    """First 7-9, second 7-9 as well, the third is turned away.

    Call 1. The oracle books the second for 9-11 (from 10 o'clock, an hour to spare) and the third
    for 13-15 (from 13; in 11-13 he would come with nothing to spare): three jobs, $720. No answer
    brings more than three jobs. Lost: nothing.

    Call 2, in one window with the first: missed at 9. By the oracle's plan that route cannot be
    kept, so nothing fits today and it puts the third caller off to tomorrow, when the run is over:
    one job, $240. At best it is booked for 9-11 and the third for 13-15: $720. Lost: $480, half of
    it the job's own, half the third caller's. All other 84 answers bring two jobs or three.

    Call 3. Turned away: one job, $240. Roberto is free at 10, so that in five of today's windows
    there is a second job: $480; 7-9 would be missed. Lost: $240.
    """
    recorded = answered(three_calls(), [EARLY, EARLY, None])
    assert recorded.profit == JOB - FIXED

    first, second, third = price(recorded).of

    assert (first.value, first.best_value) == (3 * JOB - FIXED, 3 * JOB - FIXED)
    assert (first.regret, first.kind, first.best) == (0, Kind.NONE, code(EARLY))

    assert (second.value, second.best_value) == (JOB - FIXED, 3 * JOB - FIXED)
    assert (second.regret, second.kind) == (2 * JOB, Kind.MISSED_CHAIN)
    assert second.best == code((ROBERTO, 0, W09))
    assert _parts(second) == {Part.OWN: JOB, Part.JOBS: JOB}
    assert second.comparison.became == (CallState.MISSED, CallState.DONE)
    assert second.rejecting == 2 * JOB - FIXED
    assert (second.tried, second.better) == (1 + 14 * 6, 14 * 6)

    assert (third.value, third.best_value) == (JOB - FIXED, 2 * JOB - FIXED)
    assert (third.regret, third.kind) == (JOB, Kind.REJECTED_WORK)
    assert third.best == code((ROBERTO, 0, W09))
    assert _parts(third) == {Part.OWN: JOB}
    assert third.better == 5


def test_what_an_answer_earned_against_the_oracle_adds_up_to_what_the_run_did() -> None:
    """The same run earns $240, the oracle from the first call on $720: $480 less, and all of that
    at call 2. At call 3 the oracle would have put the caller off to tomorrow: no better.
    """
    prices = price(answered(three_calls(), [EARLY, EARLY, None]))
    assert [one.against_policy for one in prices.of] == [0, -2 * JOB, 0]
    assert prices.policy_profit == 3 * JOB - FIXED


def test_a_miss_that_keeps_callers_away_is_lost_demand() -> None:
    """Two days; each miss costs three of the three callers of the next.

    Call 2 in one window with the first is missed: nobody calls on the second day, and the third
    caller, put off by the oracle to 7-9 of that day, is served: two jobs. At best all three of the
    first day are served and all three of the second: six jobs, $1,440. Lost: $960, of which $240
    is the job's own and $720 the three callers' who did not ring.
    """
    world = three_calls({"demand.loss": 3}, days=2)
    prices = price(answered(world, [EARLY, EARLY, (ROBERTO, 1, W07)]))
    second = prices.of[1]
    assert second.value == 2 * JOB - 2 * FIXED
    assert second.best_value == 6 * JOB - 2 * FIXED
    assert _parts(second) == {Part.OWN: JOB, Part.CALLERS: 3 * JOB}
    assert second.kind == Kind.LOST_DEMAND


def test_work_turned_away_on_a_saturday_is_rejected_weekend_work() -> None:
    """On Saturday 2026-10-03 every window is off-hours: a quarter more is billed and the same
    quarter of the invoice goes to Roberto, so a job still pays $240. All three are turned away.

    Call 1: after it the oracle books the others for 7-9 and 9-11, two jobs of $240; with it 7-9,
    9-11 and 13-15, three. Call 2: one or two. Call 3: none or one. $240 each time.
    """
    prices = price(answered(three_calls(start="2026-10-03"), [None, None, None]))
    assert [one.regret for one in prices.of] == [JOB, JOB, JOB]
    assert {one.kind for one in prices.of} == {Kind.REJECTED_WEEKEND}
    assert [_parts(one) for one in prices.of] == [{Part.OWN: JOB}] * 3


def test_an_installation_offered_too_late_is_a_declined_installation_window() -> None:
    """One caller wants an installation, five hours at $6,500 less 60 % material, $2,600, and takes
    no window from 15:00 on. Offered 15-17 he declines; in 7-9 he is done at 12. Lost: $2,600.

    Diana alone installs, Monday to Friday from 7 to 17. The run starts on a Thursday; of the 14
    days to come ten are weekdays with four windows before 15:00: 40 offers are accepted, one
    declined offer stands for ten, and the caller can be turned away: 42 distinct answers.
    """
    changes = {
        "demand.start": 1,
        "demand.installations": {"0": 0, "1": 1},
        "acceptance.late_installation_factor": 0,
    }
    (only,) = price(answered(three_calls(changes), [(DIANA, 0, W15)])).of
    assert (only.outcome, only.kind) == (CallState.DECLINED, Kind.DECLINED_INSTALLATION)
    assert (only.value, only.regret) == (-FIXED, 260_000)
    assert only.best == code((DIANA, 0, W07))
    assert _parts(only) == {Part.OWN: 260_000}
    assert only.tried == 42


@pytest.mark.parametrize(
    ("all_technicians", "tried"), [(False, 1 + 84), (True, 1 + 84 + 84 + 50 + 50)]
)
def test_who_cannot_do_the_work_is_tried_only_if_asked_for(
    all_technicians: bool, tried: int
) -> None:
    """Thursday to the Wednesday after next: ten weekdays and four days of weekends. Roberto, on
    call, can come in 84 windows and so can Marcus, who cannot do it; Diana and Katherine in the 50
    of the day shift.
    """
    recorded = answered(three_calls({"demand.start": 1}), [(ROBERTO, 0, W13)])
    (only,) = price(recorded, Ask(all_technicians=all_technicians)).of
    assert only.tried == tried
    assert only.regret == 0


def test_a_visit_that_must_fail_is_priced_though_nobody_asked_for_such_answers() -> None:
    """Diana cannot do plumbing: the visit fails and pays nothing; Roberto's would pay $240."""
    (only,) = price(answered(three_calls({"demand.start": 1}), [(DIANA, 0, W07)])).of
    assert (only.regret, only.kind) == (JOB, Kind.FAILED_VISIT)
    assert only.tried == 1 + 84 + 1


def _parts(one: Price) -> dict[Part, int]:
    return {part: cents for part, cents in one.comparison.parts.items() if cents}
