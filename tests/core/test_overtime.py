"""Overtime where a scenario's paid hours end, or begin, inside the day (A.9)."""

from __future__ import annotations

from tests.worlds import HVAC, MARCUS, W13, Script, clock
from tradesbench_gym.core.codes import CallState, Entry, Kind

# Marcus is paid from 11:00 to 17:00 (and on call to 19:00): a drive before that is overtime.
LATE_SHIFT = {"pay.shift_from": "11:00", "pay.hours_per_weekday": 6}


def test_a_drive_before_the_shift_is_overtime_too() -> None:
    """08:00 to 08:15 is a quarter of an hour at $36: $9, on a job that bills more than $45."""
    script = Script(LATE_SHIFT)
    number = script.book("08:00", HVAC, 3, MARCUS, W13)
    script.close_day()
    assert script.happened(Kind.ARRIVED, number) == [clock("08:15")]
    assert script.job(number)["overtime"] == 900
    assert script.paid(number)[Entry.OVERTIME] == -900


def test_the_overtime_of_a_drive_is_paid_when_the_customer_then_cancels() -> None:
    script = Script(LATE_SHIFT)
    number = script.book("08:00", HVAC, 3, MARCUS, W13)
    script.cancel(number, "10:00")
    script.close_day()
    assert script.job(number)["state"] == CallState.CANCELLED
    assert script.paid(number) == {Entry.OVERTIME: -900}


def test_the_overtime_of_a_drive_is_paid_when_the_customer_cancels_on_the_way() -> None:
    script = Script(LATE_SHIFT)
    number = script.book("08:00", HVAC, 3, MARCUS, W13)
    script.cancel(number, "08:05")
    script.close_day()
    assert script.happened(Kind.ARRIVED, number) == [clock("08:15")]
    assert script.paid(number) == {Entry.OVERTIME: -900}
