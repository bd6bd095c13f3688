"""The answers to questions, made from a picture of the run and nothing else.

A picture holds what a dispatcher may know, so no answer can tell more. This module changes nothing.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from tradesbench_gym.api import models
from tradesbench_gym.api.fields import word
from tradesbench_gym.api.office import Picture
from tradesbench_gym.core.codes import Activity, CallState, Condition, Phase
from tradesbench_gym.core.layout import FORECAST_DAYS

_COUNTS = ("calls", "booked", "declined", "rejected", "done", "missed", "failed", "cancelled")


def current_call(now: Picture) -> models.CurrentCall:
    """Who is on the line."""
    line, phoned = int(now.desk["line"]) + 1, int(now.desk["phoned"]) + 1
    if line:
        return models.CurrentCall(kind="new_job", new_job=_new_job(now, line), cancellation=None)
    if phoned:
        job = job_of(now, phoned)
        said = models.Cancellation(job_id=phoned, phoned_at=job.ended_at or "", job=job)
        return models.CurrentCall(kind="cancellation", new_job=None, cancellation=said)
    return models.CurrentCall(kind="none", new_job=None, cancellation=None)


def _of_caller(now: Picture, number: int) -> dict[str, Any]:
    """What a call says of who rang, from where and for what."""
    call, caller, names = now.calls[number - 1], now.callers[number - 1], now.names
    return {
        "call_id": number,
        "name": caller.name,
        "phone": caller.phone,
        "customer_type": names.customer_types[call["customer"]],
        "address": caller.address.text,
        "zone": names.zones[call["zone"]],
        "east_m": int(call["x"]),
        "north_m": int(call["y"]),
        "requested_service": names.requested[call["service"]],
        "job_type": names.job_types[call["service"]],
        "urgent": bool(call["urgent"]),
    }


def _new_job(now: Picture, number: int) -> models.NewJobCall:
    return models.NewJobCall(
        **_of_caller(now, number),
        received_at=now.names.moment(now.calls[number - 1]["rang_at"]),
        customer_id=now.customer_id(number),
        location_id=now.location_id(number),
    )


def job_of(now: Picture, number: int) -> models.Job:
    """A call that was booked, by its number from 1."""
    call, names = now.calls[number - 1], now.names
    done = call["state"] == CallState.DONE
    return models.Job(
        **_of_caller(now, number),
        job_id=number,
        state=word(CallState, call["state"]),
        customer_id=now.customer_id(number) or 0,
        location_id=int(call["address"]),
        called_at=names.moment(call["rang_at"]),
        technician=names.technicians[call["technician"]],
        service_date=names.date(call["day"]).isoformat(),
        window_start=names.window_starts[call["window"]],
        window_end=names.window_ends[call["window"]],
        departed_at=names.moment_if(call["departed"]),
        arrived_at=names.moment_if(call["arrived"]),
        started_at=names.moment_if(call["started"]),
        ended_at=names.moment_if(call["ended"]),
        invoice_cents=int(call["invoice"]) if done else None,
        material_cents=int(call["material"]) if done else None,
    )


def customer(now: Picture, number: int) -> models.Customer:
    """A customer in the books, by the number of a call of his."""
    caller = now.callers[number - 1]
    kind = now.names.customer_types[now.calls[number - 1]["customer"]]
    return models.Customer(
        customer_id=now.customer_id(number) or 0,
        name=caller.name,
        phone=caller.phone,
        customer_type=kind,
    )


def location(now: Picture, number: int) -> models.Location:
    """A location in the books, by the number of a call from there."""
    call = now.calls[number - 1]
    return models.Location(
        location_id=int(call["address"]),
        address=now.callers[number - 1].address.text,
        zone=now.names.zones[call["zone"]],
        east_m=int(call["x"]),
        north_m=int(call["y"]),
    )


def day_schedule(now: Picture, day: int) -> models.DaySchedule:
    """Who does what on a day of the run, from 0."""
    calls = now.calls
    on_day = (calls["day"] == day) & (calls["state"] >= CallState.BOOKED)
    numbers = (np.flatnonzero(on_day) + 1).tolist()
    date = now.names.date(day)
    return models.DaySchedule(
        date=date.isoformat(),
        weekday=f"{date:%A}",
        now=now.names.moment(now.desk["clock"]),
        technicians=[
            _technician(now, day, technician, numbers)
            for technician in range(len(now.names.technicians))
        ],
    )


def _technician(
    now: Picture, day: int, technician: int, numbers: list[int]
) -> models.TechnicianDay:
    book, names, calls = now.desk["handbook"], now.names, now.calls
    skills = int(book["skills"][technician])
    mine = [number for number in numbers if calls[number - 1]["technician"] == technician]
    return models.TechnicianDay(
        technician=names.technicians[technician],
        name=names.full_names[technician],
        job_types=[names.job_types[k] for k in range(names.services) if skills >> k & 1],
        on_call=bool(book["on_call"][technician]),
        wage_cents=int(book["wage"][technician]),
        home_east_m=int(book["home_x"][technician]),
        home_north_m=int(book["home_y"][technician]),
        present=_presence(now, technician) if day == int(now.desk["day"]) else None,
        jobs=[job_of(now, number) for number in sorted(mine, key=lambda n: _turn(now, n))],
    )


def _turn(now: Picture, number: int) -> tuple[bool, int, int, int]:
    """Where a job stands in its technician's list of the day."""
    call = now.calls[number - 1]
    departed = int(call["departed"])
    return departed < 0, departed, int(call["window"]), number


def _presence(now: Picture, technician: int) -> models.Presence:
    man = now.desk["technicians"][technician]
    return models.Presence(
        activity=word(Activity, man["activity"]),
        since=now.names.moment(man["since"]),
        job_id=int(man["job"]) + 1 or None,
        east_m=int(man["x"]),
        north_m=int(man["y"]),
    )


def weather(now: Picture, ahead: int) -> models.Weather:
    """Weather of today (0), or what is forecast today for a day ahead."""
    sky = now.desk["forecast"][ahead]
    return models.Weather(
        date=now.names.date(int(now.desk["day"]) + ahead).isoformat(),
        zones=[
            models.ZoneWeather(
                zone=zone,
                high_f=int(sky[index]["high"]),
                condition=word(Condition, sky[index]["condition"]),
            )
            for index, zone in enumerate(now.names.zones)
        ],
    )


def forecast(now: Picture) -> models.Forecast:
    """What is forecast today."""
    return models.Forecast(
        made_on=now.names.date(now.desk["day"]).isoformat(),
        days=[weather(now, ahead) for ahead in range(1, FORECAST_DAYS + 1)],
    )


def company_status(now: Picture) -> models.CompanyStatus:
    """How the company stands."""
    desk, business, day = now.desk, now.business, int(now.desk["day"])
    date, days = now.names.date(day), desk["days"][: day + 1]
    return models.CompanyStatus(
        company=business.scenario.company,
        now=now.names.moment(desk["clock"]),
        date=date.isoformat(),
        weekday=f"{date:%A}",
        day=day + 1,
        days=business.days,
        days_left=business.days - day - 1,
        phase=word(Phase, desk["phase"]),
        cash_cents=int(desk["cash"]),
        starting_cash_cents=int(desk["handbook"]["starting_cash"]),
        lowest_cash_cents=int(desk["lowest"]),
        bankrupt=bool(desk["bankrupt"]),
        today=_counts(days[-1:]),
        total=_counts(days),
    )


def _counts(days: Any) -> models.Counts:
    return models.Counts(**{name: int(days[name].sum()) for name in _COUNTS})
