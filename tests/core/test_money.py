"""Invoices, pay, premiums, overtime, overhead and the moment of bankruptcy (A.9)."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from tests.worlds import (
    DIANA,
    ELECTRICAL,
    HVAC,
    INSTALLATION,
    KATHERINE,
    MARCUS,
    PLUMBING,
    ROBERTO,
    W09,
    W11,
    W13,
    W15,
    W17,
    Script,
    clock,
    tiny_business,
)
from tradesbench_gym.company.simulation import Simulation
from tradesbench_gym.core import draws
from tradesbench_gym.core.codes import CallState, Entry, Kind, Stop

HVAC_PRICES = {
    "services.hvac_service.prices.residential": [150, 300, 500],
    "services.hvac_service.material_low": "0.15",
    "services.hvac_service.material_high": "0.25",
}


def close_day(simulation: Simulation) -> None:
    while (stop := simulation.advance()) != Stop.DAY_CLOSED:
        assert stop != Stop.ENDED
        if stop == Stop.NEW_CALL:
            simulation.reject()


def costs_of_a_day(day: int) -> dict[Entry, int]:
    simulation = Simulation(1, business=tiny_business({"pay.starting_cash": 100_000}))
    rows: dict[Entry, int] = {}
    for _ in range(day + 1):
        simulation.take_events()
        close_day(simulation)
    for event in simulation.take_events():
        if event.kind == Kind.LEDGER:
            assert event.entry is not None
            rows[event.entry] = rows.get(event.entry, 0) + (event.cents or 0)
    return rows


def test_a_weekday_costs_2916_dollars_whether_anybody_works_or_not() -> None:
    # 10 h · (36 + 40 + 37 + 39) = 1,520; on call 17-19: 2 h · (36 + 37) = 146; overhead 1,250.
    assert costs_of_a_day(0) == {
        Entry.BASE_PAY: -152_000,
        Entry.ON_CALL_PAY: -14_600,
        Entry.OVERHEAD: -125_000,
    }
    assert 152_000 + 14_600 + 125_000 == 291_600


def test_a_weekend_day_costs_2126_dollars() -> None:
    # On call 7-19: 12 h · (36 + 37) = 876; overhead 1,250; no base pay.
    assert costs_of_a_day(2) == {Entry.ON_CALL_PAY: -87_600, Entry.OVERHEAD: -125_000}
    assert 87_600 + 125_000 == 212_600


def reject_all(simulation: Simulation) -> None:
    while simulation.next_call() == Stop.NEW_CALL:
        simulation.reject()


def test_two_weeks_of_fixed_costs_are_37664_dollars() -> None:
    simulation = Simulation(1, business=tiny_business({"pay.starting_cash": 100_000}))
    reject_all(simulation)
    # Ten weekdays and four weekend days: 10 · 2,916 + 4 · 2,126.
    assert simulation.profit_cents == -3_766_400
    assert simulation.ended
    assert not simulation.record["bankrupt"]


@pytest.mark.parametrize("seed", [0, 5, 17])
@pytest.mark.parametrize("answered", [True, False])
def test_doing_nothing_is_bankrupt_on_day_10_at_minus_26790_and_not_before(
    seed: int, answered: bool
) -> None:
    """Seven weekdays, three weekend days: 7 · 2,916 + 3 · 2,126 = 26,790; a day less: 24,664."""
    simulation = Simulation(seed, business=tiny_business())
    while simulation.next_call() == Stop.NEW_CALL:
        assert simulation.cash_cents >= 0
        if answered:
            simulation.reject()
        else:
            simulation.leave_unanswered()
    run = simulation.record
    assert (run["bankrupt"], simulation.day) == (1, 9)
    assert simulation.profit_cents == -2_679_000
    assert run["days"]["cash"][8] == 2_500_000 - 2_466_400
    assert run["days"]["closed_at"][9] == clock("19:00", 9)
    assert simulation.advance() == Stop.ENDED


def test_what_is_due_at_the_close_is_one_commit_tested_for_bankruptcy_once() -> None:
    """Base pay alone would break the company: the whole day's rows still stand in the ledger."""
    simulation = Simulation(1, business=tiny_business({"pay.starting_cash": 300}))
    reject_all(simulation)
    run = simulation.record
    assert simulation.cash_cents == 30_000 - 291_600
    assert run["ledger"].tolist() == [0, 0, 0, 0, 0, -152_000, -14_600, -125_000]
    kinds = [event.kind for event in simulation.take_events()]
    assert kinds[-2:] == [Kind.BANKRUPT, Kind.ENDED]
    assert kinds.count(Kind.BANKRUPT) == 1
    assert kinds[-9:-2] == [Kind.LEDGER] * 7  # four wages, two on call, the overhead


def test_cash_of_exactly_zero_is_not_bankrupt() -> None:
    simulation = Simulation(1, business=tiny_business({"pay.starting_cash": 2_916}))
    close_day(simulation)
    assert simulation.cash_cents == 0
    assert not simulation.record["bankrupt"]


def test_a_payment_that_breaks_the_company_ends_the_run_in_the_same_commit() -> None:
    """Nobody is paid past 17:00: an hour of a failed visit is $36 of overtime, and $35.99 are left.

    The next job would be set off to in that second; the run has stopped.
    """
    script = Script({"visits.failed": 60, "pay.on_call_weekday_until": "17:00"})
    number = script.book("09:00", ELECTRICAL, 0, MARCUS, W17)
    then = script.book("09:01", ELECTRICAL, 1, MARCUS, W17)
    script.run["cash"] = 3_599
    assert script.close_day() == Stop.ENDED
    assert script.job(number)["state"] == CallState.FAILED
    assert script.run["clock"] == script.job(number)["ended"] == clock("18:00")
    assert script.simulation.cash_cents == -1
    assert script.run["days"]["closed_at"][0] == -1
    assert [e.kind for e in script.events[-3:]] == [Kind.LEDGER, Kind.BANKRUPT, Kind.ENDED]
    assert script.job(then)["state"] == CallState.BOOKED


def test_a_job_is_billed_when_it_is_done_and_no_other_ever() -> None:
    script = Script()
    done = script.book("08:00", PLUMBING, 8, ROBERTO, W09)
    failed = script.book("08:01", PLUMBING, 11, KATHERINE, W09)
    cancelled = script.book("08:02", HVAC, 3, DIANA, W13)
    script.cancel(cancelled, "10:00")
    script.look("09:59")
    assert script.paid(done) == {}
    script.close_day()
    assert script.paid(done) == {Entry.INVOICE: 30_000, Entry.MATERIAL: -6_000}
    assert script.happened(Kind.LEDGER, done) == [clock("10:00")] * 2
    assert script.paid(failed) == script.paid(cancelled) == {}


def invoiced(seed: int, who: int = MARCUS, window: int = W09, ahead: int = 0) -> tuple[int, int]:
    script = Script(HVAC_PRICES, seed=seed)
    number = script.book("08:00", HVAC, 0 if who == MARCUS else 3, who, window, ahead=ahead)
    while script.job(number)["state"] != CallState.DONE:
        script.close_day()
        script.open_day()
    return int(script.job(number)["invoice"]), int(script.job(number)["material"])


def test_a_residential_hvac_invoice_is_150_to_500_weighted_toward_300() -> None:
    bills = [invoiced(seed) for seed in range(120)]
    dollars = np.array([invoice for invoice, _ in bills]) / 100
    assert dollars.min() >= 150
    assert dollars.max() <= 500
    # The mean of a triangle is (150 + 300 + 500) / 3 = 316.67, its SD sqrt(5138.9) = 71.7.
    assert abs(dollars.mean() - 316.67) < 4 * 71.7 / len(dollars) ** 0.5
    shares = np.array([material / invoice for invoice, material in bills])
    assert shares.min() >= 0.15 - 1e-4
    assert shares.max() <= 0.25 + 1e-4
    assert abs(shares.mean() - 0.20) < 4 * 0.0289 / len(shares) ** 0.5  # 0.10 / sqrt(12)


def test_an_invoice_is_the_triangles_inverse_of_the_jobs_own_word() -> None:
    for seed in range(12):
        words = draws.words(np.uint64(seed), np.uint64(0), int(draws.Event.VISIT), 0, 0, 1)
        u = (int(words[1]) >> 11) / 2**53
        # 150 to 300 to 500: 15,000 of 35,000 cents lie left of the top.
        left = u < 15_000 / 35_000
        exact = (
            15_000 + (u * 35_000 * 15_000) ** 0.5
            if left
            else 50_000 - ((1 - u) * 35_000 * 20_000) ** 0.5
        )
        share = 1_500 + ((int(words[2]) >> 32) * 1_001 >> 32)
        invoice, material = invoiced(seed)
        assert invoice == int(exact)
        assert material == (invoice * share * 2 + 10_000) // 20_000


def test_the_same_job_has_the_same_invoice_and_material_whoever_does_it_and_when() -> None:
    bills = {
        invoiced(3),
        invoiced(3, DIANA, W13),
        invoiced(3, DIANA, W09, 1),
        invoiced(3, MARCUS, W15, 2),
    }
    assert len(bills) == 1


def test_customers_and_services_have_prices_of_their_own() -> None:
    price = tiny_business().params[0]["price"]
    assert price[HVAC, 0].tolist() == [15_000, 30_000, 50_000]
    installation = price[INSTALLATION]
    assert installation.min() == 450_000
    assert installation.max() == 1_500_000
    assert (np.diff(price, axis=2) > 0).all()


# -- off-hours


@pytest.mark.parametrize(
    ("ahead", "window", "off_hours"),
    [
        (0, W15, False),
        (0, W17, True),
        (2, W09, True),  # Saturday
        (3, W13, True),
        (4, W09, False),
    ],
)
def test_evening_and_weekend_jobs_bill_a_quarter_more_which_covers_the_technicians_share(
    ahead: int, window: int, off_hours: bool
) -> None:
    script = Script()
    number = script.book("08:00", PLUMBING, 8, ROBERTO, window, ahead=ahead)
    for _ in range(ahead):
        script.close_day()
        script.open_day()
    script.close_day()
    paid = script.paid(number)
    assert paid.get(Entry.PREMIUM, 0) == (7_500 if off_hours else 0)  # 25 % of $300
    assert paid.get(Entry.SHARE, 0) == (-7_500 if off_hours else 0)
    assert paid[Entry.MATERIAL] == -6_000  # of the invoice before the premium


def test_off_hours_is_decided_by_the_window_booked_not_by_the_hour_of_the_work() -> None:
    longer = {f"services.plumbing.{n}": 150 for n in ("shortest", "typical", "longest")}
    script = Script(longer)
    number = script.book("08:00", PLUMBING, 8, ROBERTO, W15)
    late = script.book("08:01", PLUMBING, 8, ROBERTO, W17)
    script.close_day()
    assert script.job(number)["ended"] == clock("17:30")
    assert Entry.PREMIUM not in script.paid(number)
    assert script.paid(late)[Entry.PREMIUM] == 7_500


# -- overtime


def last_hours(service: int, who: int, minutes: int, window: int, ahead: int = 0) -> Any:
    name = ("hvac_service", "hvac_installation", "plumbing", "electrical")[service]
    script = Script({f"services.{name}.{n}": minutes for n in ("shortest", "typical", "longest")})
    home = (0, 3, 8, 11)[who]
    number = script.book("08:00", service, home, who, window, ahead=ahead)
    for _ in range(ahead):
        script.close_day()
        script.open_day()
    script.close_day()
    return script.paid(number).get(Entry.OVERTIME, 0)


def test_overtime_begins_at_five_and_for_who_is_on_call_at_seven() -> None:
    # Katherine ($39) from 15:00: 120 minutes end at 17:00, 150 at 17:30.
    assert last_hours(ELECTRICAL, KATHERINE, 120, W15) == 0
    assert last_hours(ELECTRICAL, KATHERINE, 150, W15) == -1_950
    # Roberto ($37, on call) from 15:00: 240 minutes end at 19:00, 270 at 19:30.
    assert last_hours(PLUMBING, ROBERTO, 150, W15) == 0
    assert last_hours(PLUMBING, ROBERTO, 240, W15) == 0
    assert last_hours(PLUMBING, ROBERTO, 270, W15) == -1_850
    # At the weekend he is paid from 7 to 19.
    assert last_hours(PLUMBING, ROBERTO, 120, W17, ahead=2) == 0
    assert last_hours(PLUMBING, ROBERTO, 150, W17, ahead=2) == -1_850


def test_overtime_of_a_paid_job_is_capped_at_a_fifth_of_its_invoice() -> None:
    # 15:00 to 19:00 at $39: two hours are $78, but a fifth of $320 is $64.
    assert last_hours(ELECTRICAL, KATHERINE, 240, W15) == -6_400
    # An installation of $6,500: 15:00 to 23:00 at $40 are six hours past 17:00: $240 < $1,300.
    assert last_hours(INSTALLATION, DIANA, 480, W15) == -24_000


def test_overtime_counts_driving_and_work_but_not_waiting() -> None:
    """Roberto to 19:10 at home; the drive to the next house would be all overtime, and so it is."""
    longer = {f"services.plumbing.{n}": 118 for n in ("shortest", "typical", "longest")}
    script = Script(longer)
    script.book("08:00", PLUMBING, 8, ROBERTO, W17)  # until 18:58
    number = script.book("08:01", PLUMBING, 11, ROBERTO, W17)  # 900 s: at 19:13, too late
    script.close_day()
    job = script.job(number)
    assert job["state"] == CallState.MISSED
    assert script.happened(Kind.ARRIVED, number) == [clock("19:13")]
    # 19:00 to 19:13 are 780 s at $37: 780 · 3,700 / 3,600 = 801.67, half up 802, without a cap.
    assert script.paid(number) == {Entry.OVERTIME: -802}
    assert script.happened(Kind.LEDGER, number) == [clock("19:13")]
    script = Script()
    waiting = script.book("08:00", PLUMBING, 8, ROBERTO, W17)  # on site all day
    script.close_day()
    assert script.job(waiting)["overtime"] == 0


def test_the_overtime_of_a_drive_and_of_the_work_it_leads_to_is_one_row() -> None:
    longer = {f"services.electrical.{n}": 125 for n in ("shortest", "typical", "longest")}
    script = Script(longer)
    script.book("08:00", ELECTRICAL, 11, KATHERINE, W13)  # 13:00 to 15:05
    script.book("08:01", ELECTRICAL, 11, KATHERINE, W15)  # 15:05 to 17:10
    number = script.book("08:02", ELECTRICAL, 10, KATHERINE, W15)  # missed at 17:00
    script.close_day()
    assert script.job(number)["state"] == CallState.MISSED
    assert script.paid(number) == {}  # nobody drove to it


def test_cash_is_the_starting_cash_and_the_ledger() -> None:
    script = Script()
    script.book("08:00", PLUMBING, 8, ROBERTO, W09)
    script.book("08:01", HVAC, 0, MARCUS, W17)
    script.book("08:02", ELECTRICAL, 4, KATHERINE, W11)
    script.close_day()
    rows = [e.cents or 0 for e in script.events if e.kind == Kind.LEDGER]
    assert script.simulation.cash_cents == 2_500_000 + sum(rows)
    assert script.run["ledger"].sum() == sum(rows)
    assert script.run["entries"] == len(rows)
    assert script.run["days"][0]["cash"] == script.simulation.cash_cents


def test_lowest_cash_is_the_least_after_any_commit() -> None:
    script = Script()
    for _ in range(2):
        script.close_day()
        script.open_day()
    assert script.run["lowest"] == 2_500_000 - 2 * 291_600
