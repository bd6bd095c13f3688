"""What an operation answers and what a public view says is the same, under the same names."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from tests.api.companies import Company
from tradesbench_gym.api import models
from tradesbench_gym.api.fields import Model
from tradesbench_gym.api.views import BY_NAME, VIEWS

FEW = {"demand.book": 3, "demand.book_share": "0.9"}
DAYS = [f"2026-10-0{day}" for day in range(1, 9)]
MOMENT = re.compile(r"2026-10-\d\d \d\d:\d\d:\d\d")
SHARED: tuple[tuple[type[Model], tuple[str, ...]], ...] = (
    (models.Customer, ("customers",)),
    (models.Location, ("locations",)),
    (models.Job, ("jobs", "calls", "visits", "locations")),
    (models.NewJobCall, ("calls",)),
    (models.Presence, ("technicians",)),
    (models.TechnicianDay, ("technicians",)),
    (models.ZoneWeather, ("weather", "forecast")),
    (models.Counts, ("days",)),
)
"""What each model of an answer shares with which views."""
ALONE = {"requested_service", "present", "jobs"}
"""Words of the caller, and lists, that no view has."""


def rows(company: Company, sql: str) -> list[dict[str, Any]]:
    found = company.agent("query", sql=sql)
    return [dict(zip(found["columns"], row, strict=True)) for row in found["rows"]]


def as_cell(value: Any) -> Any:
    if isinstance(value, bool):
        return int(value)
    return ",".join(value) if isinstance(value, list) else value


def agree(row: dict[str, Any], said: dict[str, Any]) -> None:
    """Whatever has the same name has the same value."""
    both = row.keys() & said.keys()
    assert both
    assert {name: row[name] for name in both} == {name: as_cell(said[name]) for name in both}


def by_key(company: Company, view: str) -> dict[Any, dict[str, Any]]:
    key = BY_NAME[view].key[0]
    return {row[key]: row for row in rows(company, f"SELECT * FROM {view}")}  # noqa: S608 - a name of ours


def books_agree(company: Company) -> None:
    for operation, view, key in (
        ("customers.find", "customers", "customer_id"),
        ("locations.find", "locations", "location_id"),
    ):
        found = by_key(company, view)
        said = company.agent(operation)[view]
        assert [one[key] for one in said] == sorted(
            found, key=lambda number: found[number]["first_call_id"]
        )
        for one in said:
            agree(found[one[key]], one)


def jobs_agree(company: Company) -> None:
    jobs, calls, visits = (by_key(company, view) for view in ("jobs", "calls", "visits"))
    places = by_key(company, "locations")
    assert jobs.keys() == {number for number, row in calls.items() if row["outcome"] == "booked"}
    for number, row in jobs.items():
        said = company.agent("jobs.get", job_id=number)
        agree(row, said)
        agree(calls[number], said)
        agree(places[said["location_id"]], said)
        assert (number in visits) == (said["departed_at"] is not None)
        if number in visits:
            agree(visits[number], said)


def days_agree(company: Company) -> None:
    today = company.agent("company.status")["date"]
    people = by_key(company, "technicians")
    for date in DAYS:
        for man in company.agent("schedule.day", date=date)["technicians"]:
            name = man["technician"]
            route = rows(
                company,
                f"SELECT * FROM schedule WHERE service_date = '{date}'"  # noqa: S608 - words of ours
                f" AND technician = '{name}' ORDER BY position",
            )
            said = [job for job in man["jobs"] if job["state"] != "cancelled"]
            assert [row["job_id"] for row in route] == [job["job_id"] for job in said]
            for row, job in zip(route, said, strict=True):
                agree(row, job)
            agree(people[name], man)
            assert (man["present"] is None) == (date != today)
            if date == today:
                agree(people[name], man["present"])


def company_agrees(company: Company) -> None:
    status = company.agent("company.status")
    (cash,) = rows(company, "SELECT * FROM cash")
    agree(cash, status)
    days = by_key(company, "days")
    if status["phase"] != "night":
        agree(days[status["date"]], {**status["today"], "day": status["day"]})
    for name, count in status["total"].items():
        assert sum(day[name] for day in days.values()) == count
    skies = [company.agent("weather.today"), *company.agent("weather.forecast")["days"]]
    for view, sky in zip(("weather", *["forecast"] * 7), skies, strict=True):
        latest = "" if view == "weather" else f" AND made_on = '{skies[0]['date']}'"
        found = rows(company, f"SELECT * FROM {view} WHERE date = '{sky['date']}'{latest}")  # noqa: S608 - likewise
        assert len(found) == len(sky["zones"])
        for zone in sky["zones"]:
            agree(next(row for row in found if row["zone"] == zone["zone"]), zone)


def played(company: Company, days: int) -> Iterator[int]:
    """Play some days, booking three calls of four and registering one more; each call's number."""
    while (stop := company.driver("advance"))["stop"] != "ended" and stop["day"] <= days:
        if stop["stop"] == "cancellation":
            company.agent("calls.acknowledge", job_id=stop["job_id"])
        if stop["stop"] != "new_call":
            continue
        caller = company.agent("calls.current")["new_job"]
        number = caller["call_id"]
        yield number
        if number % 4:
            company.register(caller)
            date = DAYS[stop["day"] - 1 + number % 3]
            offer = company.offer(caller, service_date=date, window_start="15:00")
            if company.agent.ask("jobs.book", **offer).status_code == 200:
                continue
        company.agent("calls.reject", call_id=number)


@pytest.fixture
def company(opens: Callable[..., Company]) -> Company:
    """A company whose few customers of old call again and again."""
    return opens(changes=FEW, days=4)


def test_json_and_sql_say_the_same_under_the_same_names(company: Company) -> None:
    for number in played(company, 3):
        line = company.agent("calls.current")["new_job"]
        agree(by_key(company, "calls")[number], line)
        if number % 7 == 0:
            books_agree(company)
            jobs_agree(company)
            days_agree(company)
            company_agrees(company)
    assert number > 20
    assert len(by_key(company, "visits")) > 10


def test_a_caller_is_in_the_books_in_all_his_calls(company: Company) -> None:
    """Who called before he was registered is found under his number there too."""
    for _ in played(company, 3):
        numbers = {
            (row["name"], row["phone"], row["customer_type"]): key
            for key, row in by_key(company, "customers").items()
        }
        places = {row["address"]: key for key, row in by_key(company, "locations").items()}
        calls = by_key(company, "calls").values()
        for row in calls:
            who = row["name"], row["phone"], row["customer_type"]
            assert row["customer_id"] == numbers.get(who)
            assert row["location_id"] == places.get(row["address"])
    assert len(numbers) < len({row["call_id"] for row in calls if row["customer_id"]})


def test_every_moment_is_written_in_one_way(company: Company) -> None:
    for _ in played(company, 2):
        pass
    written = [
        row[column.name]
        for view in VIEWS
        for row in rows(company, f"SELECT * FROM {view.name}")  # noqa: S608 - a name of ours
        for column in view.columns
        if column.unit.startswith("YYYY-MM-DD HH")
    ]
    jobs = [company.agent("jobs.get", job_id=number) for number in by_key(company, "jobs")]
    written += [job[key] for job in jobs for key in job if key.endswith("_at")]
    written += [company.agent("company.status")["now"], company.driver("status")["now"]]
    found = [moment for moment in written if moment is not None]
    assert len(found) > 100
    assert all(MOMENT.fullmatch(moment) for moment in found)


@pytest.mark.parametrize(("model", "views"), SHARED, ids=lambda one: getattr(one, "__name__", ""))
def test_a_fact_has_one_name(model: type[Model], views: tuple[str, ...]) -> None:
    columns = {name for view in views for name in BY_NAME[view].names}
    assert set(model.model_fields) - ALONE <= columns
