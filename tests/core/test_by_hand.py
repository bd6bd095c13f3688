"""Three calls worked out by hand, to the second and to the cent: see `tests/worlds.py` for the
place.

Anchors lie in four columns and three rows, 3,000 m apart; westward costs 600 m more; 36 km/h is 10
m/s. Address 12 + k lies 10 m from anchor k, address 24 + k 20 m. Wages: Marcus $36, Roberto $37,
Katherine $39.
"""

from __future__ import annotations

from tests.worlds import (
    ELECTRICAL,
    HVAC,
    KATHERINE,
    MARCUS,
    PLUMBING,
    ROBERTO,
    W09,
    W15,
    W17,
    Script,
    clock,
)
from tradesbench_gym.core.codes import CallState, Condition, Entry, Kind


def test_a_morning_call_for_plumbing() -> None:
    """Roberto lives at anchor 8 (column 0, row 2); the customer at address 22 is 10 m from anchor
    10.

    Road: 0 m from home to anchor 8, two blocks east = 6,000 m, 10 m to the house: 6,010 m.
    Drive: 6,010 m at 10 m/s = 601 s. He is free at 08:00, so he sets off then and arrives 08:10:01.
    The window opens at 09:00; an hour's work; done at 10:00.
    Invoice $300.00, material 20 % = $60.00, no premium, no overtime.
    """
    script = Script()
    number = script.book("08:00", PLUMBING, 22, ROBERTO, W09)
    script.close_day()
    job = script.job(number)
    assert job["metres"] == 6_010
    assert script.happened(Kind.DEPARTED, number) == [clock("08:00")]
    assert script.happened(Kind.ARRIVED, number) == [clock("08:10:01")]
    assert script.happened(Kind.STARTED, number) == [clock("09:00")]
    assert script.happened(Kind.DONE, number) == [clock("10:00")]
    assert (job["state"], job["invoice"], job["material"]) == (CallState.DONE, 30_000, 6_000)
    assert script.paid(number) == {Entry.INVOICE: 30_000, Entry.MATERIAL: -6_000}


def test_an_afternoon_call_in_the_rain_that_runs_into_overtime() -> None:
    """Katherine lives at anchor 11 (column 3, row 2); address 25 is 20 m from anchor 1 (column 1,
    row 0).

    First a job at her own corner from 15:00 to 16:30, then straight on. Road: two blocks west and
    two south = 12,000 m, 600 m for going west, 20 m to the house: 12,620 m. It rains in the west:
    1,262 s · 1.15 = 1,451.3 s, half up 1,451 s = 24 min 11 s. She arrives at 16:54:11, before the
    close at 17:00, and begins at once; 90 minutes: done 18:24:11. She is paid to 17:00: 84 min 11 s
    = 5,051 s of overtime, · $39.00 / 3,600 s = $54.719…, half up $54.72; the cap is 20 % of $320 =
    $64. Invoice $320.00, material 25 % = $80.00.
    """
    script = Script()
    script.run["sky"]["condition"][0, 0] = Condition.RAIN
    near = script.book("13:00", ELECTRICAL, 11, KATHERINE, W15)
    far = script.book("13:05", ELECTRICAL, 25, KATHERINE, W15)
    script.close_day()
    assert script.happened(Kind.DONE, near) == [clock("16:30")]
    assert script.happened(Kind.DEPARTED, far) == [clock("16:30")]
    assert script.job(far)["metres"] == 12_620
    assert script.happened(Kind.ARRIVED, far) == [clock("16:54:11")]
    assert script.happened(Kind.STARTED, far) == [clock("16:54:11")]
    assert script.happened(Kind.DONE, far) == [clock("18:24:11")]
    assert script.job(far)["overtime"] == 5_051
    assert script.paid(far) == {
        Entry.INVOICE: 32_000,
        Entry.MATERIAL: -8_000,
        Entry.OVERTIME: -5_472,
    }


def test_an_evening_call_off_hours() -> None:
    """Marcus, on call to 19:00, lives at anchor 0; a commercial customer at address 14, 10 m from
    anchor 2.

    Two jobs in the evening window, the first at his own corner: 17:00 to 18:00.
    Road: two blocks = 6,000 m and 10 m: 601 s; on site 18:10:01, done 19:10:01.
    Overtime: 601 s past 19:00, · $36.00 / 3,600 s = $6.01. Invoice $300.00, material 20 % = $60.00,
    premium 25 % billed = $75.00, his share 25 % of the invoice = $75.00.
    With the day's pay: 1,520 + 146 + 1,250 = 2,916. Cash at the close:
    25,000 + 2 · (300 − 60 + 75 − 75) − 6.01 − 2,916 = $22,557.99.
    """
    script = Script()
    near = script.book("09:00", HVAC, 0, MARCUS, W17)
    far = script.book("09:05", HVAC, 14, MARCUS, W17, customer=2)
    script.close_day()
    assert script.happened(Kind.DONE, near) == [clock("18:00")]
    assert script.happened(Kind.STARTED, far) == [clock("18:10:01")]
    assert script.happened(Kind.DONE, far) == [clock("19:10:01")]
    off_hours = {
        Entry.INVOICE: 30_000,
        Entry.MATERIAL: -6_000,
        Entry.PREMIUM: 7_500,
        Entry.SHARE: -7_500,
    }
    assert script.paid(near) == off_hours
    assert script.paid(far) == {**off_hours, Entry.OVERTIME: -601}
    assert script.simulation.cash_cents == 2_255_799
    assert script.run["days"][0]["closed_at"] == clock("19:10:01")
