"""docs/HANDBOOK.md: how the company works, in words, with the numbers of its scenario.

It says what anybody in the office would know, and nothing that has to be found out by working
there: how callers answer, who cancels, how many call, what jobs earn and how fast the roads are.
Figures stand in tables, which `handbook_figures` reads back. This module writes no file.
"""

from __future__ import annotations

from datetime import date
from decimal import Decimal

from tradesbench_gym.api.markdown import table
from tradesbench_gym.company.scenario import Scenario
from tradesbench_gym.company.scenario_schema import Calendar
from tradesbench_gym.company.scenario_units import clock

REGULAR, OFF_HOURS = "regular", "off-hours"
ANY_HOURS, OFFICE_HOURS = "any hours", "office hours only"


def handbook_text(
    scenario: Scenario, days: int | None = None, start_date: date | None = None
) -> str:
    """The handbook, as Markdown.

    Args:
        scenario: of the business; its hidden numbers change nothing here.
        days: length of the run, where it is not the scenario's.
        start_date: its first day, likewise.

    """
    calendar = scenario.calendar
    length = calendar.days if days is None else days
    first_day = calendar.start_date if start_date is None else start_date
    sections = (
        _opening(scenario),
        _work(scenario),
        _people(scenario),
        _windows(scenario),
        _calendar(calendar, length, first_day),
        _offers(calendar),
        _visits(scenario),
        _pay(scenario),
        _costs(scenario),
    )
    return "\n\n".join(sections) + "\n"


def _opening(scenario: Scenario) -> str:
    return f"""# {scenario.company}: the handbook

What everybody here should know: what we do and who does it, when we come, and what that costs us.
Times of day are local, on a 24-hour clock; money is in US dollars."""


def _work(scenario: Scenario) -> str:
    head = ["job type", "name", "shortest", "typical", "longest", "bookable"]
    rows = [
        [
            service.key,
            service.label,
            *map(_minutes, (service.shortest_s, service.typical_s, service.longest_s)),
            OFFICE_HOURS if service.installation else ANY_HOURS,
        ]
        for service in scenario.services
    ]
    installation = next(service for service in scenario.services if service.installation)
    return f"""## Our work

These are our job types, with the time a technician spends on site. It counts from the moment the
work begins and leaves out the drive.

{table(head, rows)}

People also call for work that is not on this list. We do not do it, and a visit for it earns
nothing. {installation.label} is never booked into off-hours."""


def _people(scenario: Scenario) -> str:
    head = ["technician", "name", "job types", "hourly wage", "on call"]
    rows = [
        [
            person.key,
            person.name,
            ", ".join(job.label for job in scenario.services if job.key in person.skills),
            money(person.wage_cents),
            "yes" if person.on_call else "no",
        ]
        for person in scenario.technicians
    ]
    return f"""## Technicians

{table(head, rows)}

A technician does the job types named here and no others. {_on_call(scenario)} Where each of them
lives stands in every day's schedule."""


def _on_call(scenario: Scenario) -> str:
    names = [person.name for person in scenario.technicians if person.on_call]
    if not names:
        return "Nobody is on call, so nobody works off-hours."
    who = f"{', '.join(names[:-1])} and {names[-1]}" if len(names) > 1 else names[0]
    be = "are" if len(names) > 1 else "is"
    return f"{who} {be} on call; only technicians on call take off-hours windows."


def _windows(scenario: Scenario) -> str:
    head = ["window", "Monday to Friday", "Saturday and Sunday"]
    rows = [
        [
            f"{clock(window.opens)}-{clock(window.closes)}",
            OFF_HOURS if window.evening else REGULAR,
            OFF_HOURS,
        ]
        for window in scenario.windows
    ]
    return f"""## Arrival windows

{table(head, rows)}

A job of any type, however long, has one window. We promise the customer to be there and to begin
inside it. Nobody begins before it opens; once begun, work may go on after it closes. A job that has
not begun by the close is a missed appointment. A window that has already opened today cannot be
offered any more."""


def _calendar(calendar: Calendar, length: int, first_day: date) -> str:
    rows = [
        ["first day", f"{first_day.isoformat()}, a {first_day:%A}"],
        ["length", f"{length} days"],
        ["office opens", clock(calendar.office_opens)],
        ["customers call", f"{clock(calendar.calls_from)}-{clock(calendar.calls_until)}"],
        ["jobs are booked", f"up to {calendar.booking_days} days, today being the first of them"],
    ]
    return f"""## Calendar

{table(["what", "when"], rows)}

The phone is answered on every day of the week. Saturdays and Sundays are off-hours all day."""


def _offers(calendar: Calendar) -> str:
    ahead = calendar.booking_days - 1
    last = "for today" if ahead == 0 else f"for any day from today to {ahead} days ahead"
    return f"""## Answering a call

A caller gets a single offer: one technician, one day and one window, {last}.
The caller takes it or does not; there is no second offer, and whoever declines is gone. A call can
also be turned away. The job is booked under the caller's own name, for the job type and the address
given on the phone. Once it is booked we neither move it nor withdraw it. Customers may phone to
cancel, and that only has to be acknowledged."""


def _visits(scenario: Scenario) -> str:
    rows = [["failed visit", f"{_minutes(scenario.visits.failed_s)} on site"]]
    return f"""## On the road

A technician begins the day at home, drives from each job straight to the next, and stays until the
last job of the day is done. Nobody but whoever books checks whether the jobs of a day can all be
reached in time.

A visit fails if the technician does not do that job type, or if the company does not.

{table(["what", "how long"], rows)}

A missed appointment or a failed visit brings no money, and the drive there has been made."""


def _pay(scenario: Scenario) -> str:
    pay = scenario.pay
    on_call = f"{clock(pay.shift_until)}-{clock(pay.on_call_weekday_until)}"
    weekend = f"{clock(pay.on_call_weekend_from)}-{clock(pay.on_call_weekend_until)}"
    rows = [
        ["weekday shift", f"{clock(pay.shift_from)}-{clock(pay.shift_until)}"],
        ["base pay", f"{pay.hours_per_weekday} hours a weekday"],
        ["on call on weekdays", on_call],
        ["on call at weekends", weekend],
        ["off-hours premium", f"{percent(pay.off_hours_premium)} of the invoice"],
        ["off-hours share", f"{percent(pay.off_hours_share)} of the invoice"],
        ["overtime", f"{plain(pay.overtime_multiple)} x hourly wage"],
        ["overtime cap", f"{percent(pay.overtime_cap)} of the invoice"],
    ]
    return f"""## Pay

{table(["what", "how much"], rows)}

- Base pay: every technician, every weekday, busy or not, at the hourly wage.
- On-call pay: for those on call, the hourly wage for each on-call hour, busy or not.
- Off-hours premium: billed to the customer on top of the invoice when the job's window is
  off-hours.
- Off-hours share: what the technician gets of the invoice, without the premium, when such a job is
  done and paid.
- Overtime: driving and working outside hours that are paid anyway, which on weekdays are the shift
  and, for those on call, the on-call hours after it. Waiting does not count. The cap holds for a
  paid job; a visit that earns nothing has no invoice to cap it by."""


def _costs(scenario: Scenario) -> str:
    pay = scenario.pay
    rows = [
        ["overhead", f"{money(pay.overhead_cents)} a day"],
        ["starting cash", money(pay.starting_cash_cents)],
    ]
    return f"""## Costs and cash

{table(["what", "how much"], rows)}

Overhead, base pay and on-call pay leave the account when a day closes. A job's invoice and what it
cost are entered when it is done. If cash falls below zero the company is bankrupt and closes at
once."""


def _minutes(seconds: int) -> str:
    return f"{seconds // 60} min"


def money(cents: int) -> str:
    """Cents as dollars.

    >>> money(125_000), money(3_650)
    ('$1,250.00', '$36.50')
    """
    return f"${cents // 100:,}.{cents % 100:02}"


def percent(share: Decimal) -> str:
    """A share as per cent.

    >>> percent(Decimal("0.25")), percent(Decimal("0.125"))
    ('25%', '12.5%')
    """
    return f"{plain(share * 100)}%"


def plain(value: Decimal) -> str:
    """A number without trailing zeros or exponent.

    >>> plain(Decimal("1.50")), plain(Decimal("20.00"))
    ('1.5', '20')
    """
    text = format(value, "f")
    return text.rstrip("0").rstrip(".") if "." in text else text
