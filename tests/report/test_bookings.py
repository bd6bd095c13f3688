"""The risk of a booking is what the desk showed when it was made, and stands beside its fate."""

from __future__ import annotations

from tests.worlds import MARCUS, PLUMBING, ROBERTO, W09, W13, Script, tiny_business
from tradesbench_gym.core.codes import CallState
from tradesbench_gym.policies.load import load_policy
from tradesbench_gym.report.analysis import (
    Booking,
    bookings,
    by_slack,
    missed_jobs,
    played_account,
)
from tradesbench_gym.report.analysis.accounts import Offer
from tradesbench_gym.report.analysis.weighing import Weigher, Weight

_HOUR = 3600


def booked(call: int, slack: int | None, became: CallState, day: int = 3) -> Booking:
    weight = Weight(None if slack is None else slack * 60, 0.25, 0.0)
    return Booking(Offer(call, ROBERTO, 1, W09, True, weight), day, became)


def test_slack_is_the_time_to_the_close_of_the_window_of_the_tightest_job() -> None:
    """Jobs of an hour at one address, in the window from 09:00 to 11:00: the first is planned for
    09:00, two hours before the close; the second for 10:00; the third for 11:00, on the stroke; the
    fourth for 12:00, an hour late.
    """
    script, weigher = Script(), Weigher()
    found = []
    for minute in range(4):
        script.call(f"07:0{minute + 1}", PLUMBING, 8)
        found.append(weigher.weigh(script.simulation.desk, ROBERTO, 0, W09))
        assert script.simulation.offer(ROBERTO, 0, W09)
    assert [one.slack for one in found] == [2 * _HOUR, _HOUR, 0, -_HOUR]
    assert [one.miss for one in found[:2]] == [0.0, 0.0]
    assert found[3].miss is not None
    assert found[3].miss > 0.5


def test_a_visit_that_can_only_fail_has_slack_and_no_chance() -> None:
    script = Script()
    script.call("07:01", PLUMBING, 8)
    weight = Weigher().weigh(script.simulation.desk, MARCUS, 0, W13)
    assert weight.slack == 2 * _HOUR
    assert weight.miss is None


def test_two_weighers_agree() -> None:
    business = tiny_business(days=3)
    one, two = (played_account(business, 2, 0, load_policy("accept-all")) for _ in range(2))
    assert one.offers == two.offers


def test_bookings_are_counted_by_slack_with_what_became_of_them() -> None:
    made = [
        booked(1, None, CallState.MISSED),
        booked(2, -1, CallState.MISSED),
        booked(3, 0, CallState.DONE),
        booked(4, 39, CallState.CANCELLED),
        booked(5, 40, CallState.DONE),
        booked(6, 59, CallState.MISSED),
        booked(7, 120, CallState.DONE),
    ]
    found = {one.slack: (one.bookings, one.kept, one.missed, one.share) for one in by_slack(made)}
    assert found == {
        "too many jobs to plan": (1, 0, 1, 1.0),
        "late by the plan": (1, 0, 1, 1.0),
        "0 to 20 min": (1, 1, 0, 0.0),
        "20 to 40 min": (1, 0, 0, None),
        "40 to 60 min": (2, 1, 1, 0.5),
        "100 min or more": (1, 1, 0, 0.0),
    }
    assert {one.risk for one in by_slack(made)} == {0.25}


def test_a_miss_is_told_with_the_tightest_later_booking_of_its_day() -> None:
    made = [
        booked(1, 10, CallState.DONE),
        booked(2, 90, CallState.MISSED),
        booked(3, 30, CallState.DONE),
        booked(4, 5, CallState.DONE, day=4),
        booked(5, 20, CallState.DONE),
    ]
    (miss,) = missed_jobs(made)
    assert miss.booking.offer.call == 2
    assert miss.tightest is not None
    assert miss.tightest.offer.call == 5
    (alone,) = missed_jobs(made[1:2])
    assert alone.tightest is None


def test_every_job_of_a_run_is_one_booking() -> None:
    account = played_account(tiny_business(days=4), 3, 0, load_policy("accept-all"))
    made, came_to = bookings(account), account.results
    assert sum(one.became == CallState.MISSED for one in made) == came_to.missed > 0
    assert sum(one.became == CallState.DONE for one in made) == came_to.completed > 0
    assert len(missed_jobs(made)) == came_to.missed


def test_the_oracle_keeps_its_forty_minutes_and_accept_all_keeps_none() -> None:
    """A.8: a window is kept only if every job would start forty minutes before it closes."""
    for name, keeps in (("oracle", True), ("accept-all", False)):
        account = played_account(tiny_business(days=5), 3, 0, load_policy(name))
        slacks = [one.offer.weight.slack for one in bookings(account)]
        assert all(slack is not None and slack >= 40 * 60 for slack in slacks) == keeps
