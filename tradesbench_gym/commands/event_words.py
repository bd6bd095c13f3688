"""Events and answers in words that a person reads: names, dates and windows in place of numbers.

Numbers that the company does not have, as a file of another one may hold, stay numbers.
"""

from __future__ import annotations

from tradesbench_gym.company.business import Business
from tradesbench_gym.company.events import Event
from tradesbench_gym.company.refusals import window_text
from tradesbench_gym.core.codes import Kind
from tradesbench_gym.core.layout import BOOKING_DAYS, DAY_SECONDS
from tradesbench_gym.envs.wording import dollars

_OF_A_SLOT = (Kind.BOOKED, Kind.DECLINED, Kind.CANCELLED, Kind.MISSED)


def event_text(event: Event, business: Business | None) -> str:
    """An event in a line: `2026-10-01 08:29 booked call 1, diana, 2026-10-02 09:00-11:00`."""
    if business is None or not _fits(event, business):
        return str(event)
    said = values_of(event, business)
    ledger = event.kind is Kind.LEDGER
    text = f"{said['at']} {said['entry']} {said['cents']}" if ledger else f"{said['at']} "
    text += "" if ledger else said["kind"]
    if event.call is not None:
        text += f"{',' if ledger else ''} call {event.call}"
    if event.technician is not None:
        text += f", {said['technician']}"
    if event.kind in _OF_A_SLOT and event.day is not None and event.window is not None:
        text += f", {said['day']} {said['window']}"
    return text


def values_of(event: Event, business: Business | None) -> dict[str, str]:
    """What an event holds by the names of its fields, as text."""
    said = {name: str(value).replace("_", " ") for name, value in event.as_dict().items()}
    day, second = divmod(event.at, DAY_SECONDS)
    said["at"] = f"day {day + 1} {second // 3600:02}:{second // 60 % 60:02}:{second % 60:02}"
    if event.cents is not None:
        said["cents"] = dollars(event.cents, sign=True)
    if business is not None and _fits(event, business):
        said["at"] = business.clock_text(event.at) + (f":{second % 60:02}" if second % 60 else "")
        if event.technician is not None:
            said["technician"] = technician_name(business, event.technician)
        if event.day is not None:
            said["day"] = str(business.date_of(event.day))
        if event.window is not None:
            said["window"] = window_text(business, event.window)
    return said


def technician_name(business: Business, technician: int) -> str:
    """What an answer calls a technician."""
    return business.scenario.technicians[technician].key


def _fits(event: Event, business: Business) -> bool:
    """Whether the company has what an event names."""
    scenario, last_day = business.scenario, business.days + BOOKING_DAYS
    named = (
        (event.at, (last_day + 1) * DAY_SECONDS),
        (event.technician, len(scenario.technicians)),
        (event.day, last_day),
        (event.window, len(scenario.windows)),
    )
    return all(value is None or 0 <= value < count for value, count in named)
