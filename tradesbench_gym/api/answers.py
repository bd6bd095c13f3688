"""The answers to questions, made from the facts of a picture and nothing else.

A picture holds what a dispatcher may know, so no answer can tell more. This module changes nothing.
"""

from __future__ import annotations

from typing import TypeVar

import numpy as np

from tradesbench_gym.api import facts, models
from tradesbench_gym.api.facts import Facts
from tradesbench_gym.api.fields import Model
from tradesbench_gym.api.pictures import Person, Picture
from tradesbench_gym.core.codes import CallState
from tradesbench_gym.core.layout import FORECAST_DAYS

Answer = TypeVar("Answer", bound=Model)


def picked(model: type[Answer], known: Facts, **more: object) -> Answer:
    """A model from as many facts as it has fields for, and what is said besides."""
    return model(**{name: known[name] for name in model.model_fields if name in known}, **more)


def current_call(now: Picture) -> models.CurrentCall:
    """Who is on the line."""
    line, phoned = int(now.desk["line"]) + 1, int(now.desk["phoned"]) + 1
    if line:
        call = picked(models.NewJobCall, facts.of_call(now, line))
        return models.CurrentCall(kind="new_job", new_job=call, cancellation=None)
    if phoned:
        job = job_of(now, phoned)
        said = models.Cancellation(job_id=phoned, phoned_at=job.ended_at or "", job=job)
        return models.CurrentCall(kind="cancellation", new_job=None, cancellation=said)
    return models.CurrentCall(kind="none", new_job=None, cancellation=None)


def job_of(now: Picture, number: int) -> models.Job:
    """A call that was booked, by its number from 1."""
    return picked(models.Job, facts.of_call(now, number))


def customer(now: Picture, who: Person) -> models.Customer:
    """A customer in the books."""
    return picked(models.Customer, facts.of_customer(now, who))


def location(now: Picture, where: int) -> models.Location:
    """A location in the books."""
    return picked(models.Location, facts.of_location(now, where))


def day_schedule(now: Picture, day: int) -> models.DaySchedule:
    """Who does what on a day of the run, from 0."""
    calls = now.calls
    on_day = (calls["day"] == day) & (calls["state"] >= CallState.BOOKED)
    numbers = sorted((np.flatnonzero(on_day) + 1).tolist(), key=lambda number: _turn(now, number))
    jobs = [job_of(now, number) for number in numbers]
    return models.DaySchedule(
        date=now.names.date(day),
        weekday=now.names.weekday(day),
        now=now.names.moment(now.desk["clock"]),
        technicians=[
            _technician(now, place, jobs, is_today=day == int(now.desk["day"]))
            for place in range(len(now.names.technicians))
        ],
    )


def _technician(
    now: Picture, place: int, jobs: list[models.Job], *, is_today: bool
) -> models.TechnicianDay:
    known = facts.of_technician(now, place)
    return picked(
        models.TechnicianDay,
        known,
        present=picked(models.Presence, known) if is_today else None,
        jobs=[job for job in jobs if job.technician == known["technician"]],
    )


def _turn(now: Picture, number: int) -> tuple[bool, int, int, int]:
    """Where a job stands in its technician's list of the day."""
    call = now.calls[number - 1]
    departed = int(call["departed"])
    return departed < 0, departed, int(call["window"]), number


def weather(now: Picture, ahead: int) -> models.Weather:
    """Weather of today (0), or what is forecast today for a day ahead."""
    known = [facts.of_weather(now, ahead, zone) for zone in range(len(now.names.zones))]
    zones = [picked(models.ZoneWeather, one) for one in known]
    return models.Weather(date=known[0]["date"], zones=zones)


def forecast(now: Picture) -> models.Forecast:
    """What is forecast today."""
    return models.Forecast(
        made_on=now.names.date(int(now.desk["day"])),
        days=[weather(now, ahead) for ahead in range(1, FORECAST_DAYS + 1)],
    )


def company_status(now: Picture) -> models.CompanyStatus:
    """How the company stands."""
    known = facts.of_company(now)
    counts = {name: models.Counts(**known[name]) for name in ("today", "total")}
    return picked(models.CompanyStatus, {**known, **counts})
