"""What a picture tells, in words: of a call, a customer, a technician, a day, the weather, cash.

A fact has one name, in the answers' JSON and in the columns of the public views alike; both are
picked from here, so that they agree. This module knows no request, no answer and no row.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from tradesbench_gym.api.names import word
from tradesbench_gym.api.pictures import Entered, Person, Picture
from tradesbench_gym.core.codes import Activity, CallState, Condition, Phase
from tradesbench_gym.core.layout import DESK_CALL, DESK_DAY, DESK_TECHNICIAN

Facts = dict[str, Any]
COUNTS = ("calls", "booked", "declined", "rejected", "done", "missed", "failed", "cancelled")
_MOMENTS = ("departed", "arrived", "started", "ended")
_NO_OFFER = dict.fromkeys(
    ("technician", "service_date", "window_start", "window_end", "off_hours"),
)


def _fields(dtype: np.dtype[np.void], record: Any) -> dict[str, int]:
    return dict(zip(dtype.names or (), record.item(), strict=True))


def of_call(now: Picture, number: int) -> Facts:
    """A call by its number from 1, with what was offered; of a job, what became of it."""
    names, caller = now.names, now.callers[number - 1]
    call = _fields(DESK_CALL, now.calls[number - 1])
    done, address = call["state"] == CallState.DONE, caller.address
    booked = call["state"] >= CallState.BOOKED
    return {
        "call_id": number,
        "job_id": number if booked else None,
        "called_at": names.moment(call["rang_at"]),
        "outcome": word(CallState, min(call["state"], CallState.BOOKED)),
        "state": word(CallState, call["state"]),
        "name": caller.name,
        "phone": caller.phone,
        "customer_type": names.customer_types[call["customer"]],
        "address": address.text,
        "zone": names.zones[call["zone"]],
        "lat": address.lat,
        "lon": address.lon,
        "east_m": call["x"],
        "north_m": call["y"],
        "requested_service": names.requested[call["service"]],
        "job_type": names.job_types[call["service"]],
        "urgent": bool(call["urgent"]),
        **_offer(now, call),
        **{f"{name}_at": names.moment_if(call[name]) for name in _MOMENTS},
        "invoice_cents": call["invoice"] if done else None,
        "material_cents": call["material"] if done else None,
        "customer_id": now.customer_id(number),
        "location_id": now.location_id(number),
    }


def _offer(now: Picture, call: Mapping[str, int]) -> Facts:
    if call["technician"] < 0 or call["state"] < CallState.DECLINED:
        return _NO_OFFER
    names, day, window = now.names, call["day"], call["window"]
    return {
        "technician": names.technicians[call["technician"]],
        "service_date": names.date(day),
        "window_start": names.window_starts[window],
        "window_end": names.window_ends[window],
        "off_hours": names.is_off_hours(day, window),
    }


def of_customer(now: Picture, who: Person) -> Facts:
    """A customer in the books."""
    name, phone, kind = who
    return {
        "customer_id": now.customers[who].number,
        "name": name,
        "phone": phone,
        "customer_type": now.names.customer_types[kind],
        **_entered(now, now.customers[who]),
    }


def of_location(now: Picture, where: int) -> Facts:
    """A location in the books."""
    entered = now.locations[where]
    call, address = now.calls[entered.call - 1], now.callers[entered.call - 1].address
    return {
        "location_id": entered.number,
        "address": address.text,
        "zone": now.names.zones[call["zone"]],
        "lat": address.lat,
        "lon": address.lon,
        "east_m": int(call["x"]),
        "north_m": int(call["y"]),
        **_entered(now, entered),
    }


def _entered(now: Picture, entered: Entered) -> Facts:
    at = now.names.moment(now.calls[entered.call - 1]["rang_at"])
    return {"first_call_id": entered.call, "registered_at": at}


def of_technician(now: Picture, place: int) -> Facts:
    """A technician, by his place in the handbook's order, with what he is doing now."""
    book, names = now.desk["handbook"], now.names
    person = now.business.scenario.technicians[place]
    man = _fields(DESK_TECHNICIAN, now.desk["technicians"][place])
    return {
        "technician": person.key,
        "name": person.name,
        "job_types": list(person.skills),
        "wage_cents": person.wage_cents,
        "on_call": person.on_call,
        "home_lat": float(person.home_lat),
        "home_lon": float(person.home_lon),
        "home_east_m": int(book["home_x"][place]),
        "home_north_m": int(book["home_y"][place]),
        "activity": word(Activity, man["activity"]),
        "since": names.moment(man["since"]),
        "job_id": man["job"] + 1 or None,
        "east_m": man["x"],
        "north_m": man["y"],
    }


def of_window(now: Picture, place: int) -> Facts:
    """An arrival window, by its place in the day."""
    return {
        "window": place + 1,
        "window_start": now.names.window_starts[place],
        "window_end": now.names.window_ends[place],
        "evening": now.business.scenario.windows[place].evening,
    }


def of_weather(now: Picture, ahead: int, zone: int) -> Facts:
    """The weather of a zone today (0), or what is forecast today for a day ahead."""
    today, sky = int(now.desk["day"]), now.desk["forecast"]
    return {
        "made_on": now.names.date(today),
        "date": now.names.date(today + ahead),
        "days_ahead": ahead,
        "zone": now.names.zones[zone],
        "high_f": int(sky["high"][ahead, zone]),
        "condition": word(Condition, sky["condition"][ahead, zone]),
    }


def of_day(now: Picture, day: int) -> Facts:
    """A day of the run, from 0, that has been opened."""
    seen, names = _fields(DESK_DAY, now.desk["days"][day]), now.names
    return {
        "date": names.date(day),
        "day": day + 1,
        "weekday": names.weekday(day),
        "weekend": names.is_weekend(day),
        "closed_at": names.moment_if(seen["closed_at"]),
        **{name: seen[name] for name in COUNTS},
        "cash_cents": None if seen["closed_at"] < 0 else seen["cash"],
    }


def of_cash(now: Picture) -> Facts:
    """The clock, and the company's cash."""
    desk = now.desk
    return {
        "now": now.names.moment(desk["clock"]),
        "cash_cents": int(desk["cash"]),
        "starting_cash_cents": int(desk["handbook"]["starting_cash"]),
        "lowest_cash_cents": int(desk["lowest"]),
        "bankrupt": bool(desk["bankrupt"]),
    }


def of_company(now: Picture) -> Facts:
    """How the company stands."""
    desk, names, day = now.desk, now.names, int(now.desk["day"])
    days = desk["days"][: day + 1]
    return {
        **of_cash(now),
        "company": now.business.scenario.company,
        "date": names.date(day),
        "weekday": names.weekday(day),
        "day": day + 1,
        "days": now.business.days,
        "days_left": now.business.days - day - 1,
        "phase": word(Phase, desk["phase"]),
        "today": {name: int(days[name][-1]) for name in COUNTS},
        "total": {name: int(days[name].sum()) for name in COUNTS},
    }
