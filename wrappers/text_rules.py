"""What a model is told once: its task, how the company works, and how an answer is written.

The figures are the scenario's, the sentences this package's own. What has to be found out by
working there is not said: how callers answer, who cancels, what makes people call, how fast roads
are, what jobs bill.
"""

from __future__ import annotations

from decimal import Decimal

from tradesbench_gym.company.business import Business
from tradesbench_gym.company.refusals import window_text
from tradesbench_gym.company.scenario_units import clock
from tradesbench_gym.envs.wording import dollars
from tradesbench_gym.wrappers.text_prompt import listed, wrapped


def system_prompt(business: Business, reminders: int, handbook: str | None = None) -> str:
    """The system prompt of a run.

    Args:
        business: of the run; its hidden numbers change nothing here.
        reminders: how often a reply that is no answer is sent back.
        handbook: text to tell in place of the chapters on work, people, windows, visits and money.

    """
    return f"{rules_text(business, handbook)}\n\n{_answers(business, reminders)}\n"


def rules_text(business: Business, handbook: str | None = None) -> str:
    """All of the system prompt but how to answer: for people, who are told that otherwise."""
    chapters = (_work, _people, _windows, _visits, _money)
    told = [chapter(business) for chapter in chapters] if handbook is None else [handbook.strip()]
    return "\n\n".join((_task(business), *told, _shown(business)))


def _task(business: Business) -> str:
    first, last = business.date_of(0), business.date_of(business.days - 1)
    cash = dollars(business.scenario.pay.starting_cash_cents)
    office = wrapped(
        f"You run the office of {business.scenario.company}, a small home-services company, and "
        "answer its phone. Each caller who wants work done gets one answer from you: a no, or a "
        "single offer of a technician, a day and an arrival window, to be taken or left. Whoever "
        "leaves it is gone. Nothing but your answers decides what the company does."
    )
    aim = wrapped(
        f"The run goes from {first:%A} {first} to {last:%A} {last}, {business.days} days. What "
        "counts is the cash the company has when it ends. It begins with "
        f"{cash}; should cash ever be below zero, it is bankrupt and closes at once."
    )
    return f"{office}\n\n{aim}"


def _work(business: Business) -> str:
    rows = [
        f"{service.label}: {service.shortest_s // 60} to {service.longest_s // 60} minutes, "
        f"usually {service.typical_s // 60}"
        for service in business.scenario.services
    ]
    other = "Anything else that people call for is not the company's work."
    head = "WORK: what the company does, and how long it takes on site, without the drive"
    return listed(head, [*rows, other])


def _people(business: Business) -> str:
    labels = {service.key: service.label for service in business.scenario.services}
    rows = [
        f"{person.key}: {person.name}; {', '.join(labels[key] for key in person.skills)}; "
        f"{dollars(person.wage_cents)} an hour{'; on call' if person.on_call else ''}"
        for person in business.scenario.technicians
    ]
    return listed("TECHNICIANS: the work each can do, wages", rows)


def _windows(business: Business) -> str:
    scenario = business.scenario
    every = range(len(scenario.windows))
    office = [window_text(business, k) for k in every if not scenario.windows[k].evening]
    evening = [
        f"{window_text(business, k)} on weekdays" for k in every if scenario.windows[k].evening
    ]
    installs = ", ".join(service.label for service in scenario.services if service.installation)
    off_hours = " and ".join(
        [*(f"{at} on weekdays" for at in evening), "every window on Saturday and Sunday"]
    )
    rows = [
        "A job of any length is promised for one window, in which its work has to begin.",
        f"Office hours are {', '.join(office)} from Monday to Friday.",
        (
            f"Off-hours are {off_hours}. Only technicians on call work then, and {installs} is "
            "never booked then."
        ),
        (
            "You may offer a window of today that has not begun, and any of the next "
            f"{scenario.calendar.booking_days - 1} days."
        ),
        "A window takes any number of jobs. Nobody else checks that they can all be reached.",
        (
            "What is booked stays as it is: you cannot move it or take it back. A customer may "
            "phone to cancel; then you are told."
        ),
    ]
    return listed("WINDOWS", rows)


def _visits(business: Business) -> str:
    minutes = business.scenario.visits.failed_s // 60
    rows = [
        (
            "Technicians drive from home to their first job of the day and from each job straight "
            "to the next: the earliest window first, within it the nearest job."
        ),
        (
            "Whoever comes early waits until the window opens. Work once begun is finished, "
            "however late it gets."
        ),
        (
            "If work has not begun when its window closes, the appointment is missed and brings in "
            "nothing."
        ),
        (
            "A technician sent to work that is not his or hers, or not the company's, is there for "
            f"{minutes} minutes: a failed visit, which brings in nothing either."
        ),
        "Rain and storms slow drives.",
    ]
    return listed("VISITS", rows)


def _money(business: Business) -> str:
    pay = business.scenario.pay
    shift = f"{clock(pay.shift_from)}-{clock(pay.shift_until)}"
    weekday = f"{clock(pay.shift_until)}-{clock(pay.on_call_weekday_until)}"
    weekend = f"{clock(pay.on_call_weekend_from)}-{clock(pay.on_call_weekend_until)}"
    rows = [
        "A job that is done brings its invoice and costs its material.",
        (
            f"Off-hours, {_percent(pay.off_hours_premium)} is billed on top of the invoice, and "
            f"{_percent(pay.off_hours_share)} of the invoice goes to the technician when the job "
            "is done."
        ),
        f"Everybody is paid {pay.hours_per_weekday} hours each weekday ({shift}), busy or not.",
        (
            f"Whoever is on call is paid {weekday} on weekdays and {weekend} at weekends as well, "
            "busy or not."
        ),
        (
            "Driving and working outside hours that are paid anyway costs "
            f"{_plain(pay.overtime_multiple)} x the wage; for a job that is done at most "
            f"{_percent(pay.overtime_cap)} of its invoice."
        ),
        f"Overhead is {dollars(pay.overhead_cents)} a day, every day.",
    ]
    return listed("MONEY", rows)


def _shown(business: Business) -> str:
    calling = business.scenario.calendar
    hours = f"{clock(calling.calls_from)} to {clock(calling.calls_until)}"
    rows = [
        (
            f"Customers phone from {hours} every day. Each call comes with what happened since the "
            "last one, who is on the line, where everybody is, what is booked, and the weather."
        ),
        "A job has the number of the call it came from.",
        (
            "Places are (kilometres east, kilometres north) of one point of the map. Straight "
            "lines can be reckoned from them; roads are longer."
        ),
    ]
    return listed("WHAT YOU ARE SHOWN", rows)


def _answers(business: Business, reminders: int) -> str:
    names = " | ".join(person.key for person in business.scenario.technicians)
    times = "once" if reminders == 1 else f"up to {reminders} times"
    again = "counts as no answer" if reminders == 0 else f"is sent back with the reason, {times}"
    end = "which is" if reminders == 0 else "after that the call counts as unanswered,"
    how = wrapped(
        "Answer each call once. If you were given the tools book_job and reject_call, call one of "
        "them. Otherwise reply with one JSON object, the first to make an offer, the second to "
        "say no:"
    )
    rows = [
        f"NAME is {names}.",
        "HH:MM is when a window opens.",
        "One line does as well: book NAME YYYY-MM-DD HH:MM, or reject.",
        (
            f"A reply that is no answer, or an offer that the company cannot make, {again}; {end} "
            "the same as a rejection."
        ),
    ]
    objects = (
        '{"answer": "book", "technician": NAME, "date": "YYYY-MM-DD", "window": "HH:MM"}\n'
        '{"answer": "reject"}'
    )
    return "\n".join(["HOW YOU ANSWER", how, objects, listed("", rows).strip()])


def _percent(share: Decimal) -> str:
    return f"{_plain(share * 100)}%"


def _plain(value: Decimal) -> str:
    text = format(value, "f")
    return text.rstrip("0").rstrip(".") if "." in text else text
