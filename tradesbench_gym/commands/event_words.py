"""Events and answers in words that a person reads: names, dates and windows in place of numbers."""

from __future__ import annotations

from tradesbench_gym.company.business import Business
from tradesbench_gym.company.events import Event
from tradesbench_gym.company.refusals import window_text
from tradesbench_gym.core.codes import Kind
from tradesbench_gym.envs.wording import dollars

_OF_A_SLOT = (Kind.BOOKED, Kind.DECLINED, Kind.CANCELLED, Kind.MISSED)


def event_text(event: Event, business: Business) -> str:
    """An event in a line: `2026-10-01 08:29 booked call 1, diana, 2026-10-02 09:00-11:00`."""
    said = event.kind.name.lower().replace("_", " ")
    if event.kind is Kind.LEDGER and event.entry is not None and event.cents is not None:
        said = f"{event.entry.name.lower().replace('_', ' ')} {dollars(event.cents, sign=True)}"
    if event.call is not None:
        said += f", call {event.call}" if event.kind is Kind.LEDGER else f" call {event.call}"
    if event.technician is not None:
        said += f", {technician_name(business, event.technician)}"
    if event.kind in _OF_A_SLOT and event.window is not None:
        said += f", {slot_text(business, event.day, event.window)}"
    return f"{business.clock_text(event.at)}{seconds_text(event.at)} {said}"


def seconds_text(moment: int) -> str:
    """The seconds of a moment as they follow its minute, nothing where there are none."""
    return f":{moment % 60:02}" if moment % 60 else ""


def technician_name(business: Business, technician: int) -> str:
    """What an answer calls a technician."""
    return business.scenario.technicians[technician].key


def slot_text(business: Business, day: int | None, window: int) -> str:
    """A day of the run and a window, both from 0."""
    date = "" if day is None else f"{business.date_of(day)} "
    return date + window_text(business, window)
