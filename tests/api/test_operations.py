"""What the operations do and answer, in the words of the report and of design/interfaces.md."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from tests.api.companies import Company
from tests.worlds import STILL
from tradesbench_gym.api.agent import AGENT_COMMANDS, AGENT_QUESTIONS
from tradesbench_gym.api.driver import DRIVER_COMMANDS
from tradesbench_gym.api.operations import AGENT_OPERATIONS, DRIVER_OPERATIONS
from tradesbench_gym.api.pictures import Picture
from tradesbench_gym.company.callers import caller_of
from tradesbench_gym.core.layout import FIELDS
from tradesbench_gym.world import World

CANCELLING = {
    **STILL,
    "cancellation.storm_factor": 1,
    "cancellation.urgent_factor": 1,
    **{f"customers.{kind}.cancel_base": 1 for kind in ("residential", "apartment", "commercial")},
}


def test_every_operation_of_the_list_is_done_by_somebody() -> None:
    assert {one.name for one in AGENT_OPERATIONS} == {*AGENT_QUESTIONS, *AGENT_COMMANDS, "query"}
    assert {one.name for one in DRIVER_OPERATIONS} == set(DRIVER_COMMANDS)
    assert not {*AGENT_QUESTIONS, *AGENT_COMMANDS} & set(DRIVER_COMMANDS)
    assert not {one.name for one in AGENT_OPERATIONS if one.writes} & set(AGENT_QUESTIONS)


def test_the_operations_are_those_of_the_design() -> None:
    assert ", ".join(one.name for one in AGENT_OPERATIONS) == (
        "calls.current, calls.reject, calls.acknowledge, customers.register, customers.find, "
        "locations.register, locations.find, jobs.book, jobs.get, schedule.day, weather.today, "
        "weather.forecast, company.status, query"
    )


def test_nobody_is_on_the_line_before_the_phones_open(company: Company) -> None:
    nobody = {"kind": "none", "new_job": None, "cancellation": None}
    assert company.agent("calls.current") == nobody
    assert company.agent.refused("weather.today") == (409, "office_closed")
    assert company.agent.refused("weather.forecast") == (409, "office_closed")
    opened = company.driver("advance")
    assert (opened["stop"], opened["now"]) == ("day_opened", "2026-10-01 06:45:00")
    assert company.agent("calls.current") == nobody
    status = company.agent("company.status")
    assert (status["phase"], status["day"], status["days_left"]) == ("morning", 1, 2)
    assert status["cash_cents"] == 2_500_000


def test_the_weather_is_told_by_zone_and_the_forecast_seven_days_ahead(company: Company) -> None:
    company.driver("advance")
    desk = company.world.desk
    today = company.agent("weather.today")
    assert today["date"] == "2026-10-01"
    assert [zone["zone"] for zone in today["zones"]] == ["West", "East"]
    assert [zone["high_f"] for zone in today["zones"]] == desk["forecast"]["high"][0, :2].tolist()
    forecast = company.agent("weather.forecast")
    assert forecast["made_on"] == "2026-10-01"
    assert [day["date"] for day in forecast["days"]] == [f"2026-10-0{n}" for n in range(2, 9)]


def test_the_caller_is_told_as_he_introduces_himself(company: Company) -> None:
    caller = company.next_call()
    desk, known = company.world.desk, caller_of(company.world.simulation, 1)
    call = desk["calls"][0]
    assert caller["call_id"] == 1
    assert (caller["name"], caller["phone"]) == (known.name, known.phone)
    assert caller["address"] == known.address.text
    assert (caller["east_m"], caller["north_m"]) == (call["x"], call["y"])
    assert caller["urgent"] == bool(call["urgent"])
    assert (caller["customer_id"], caller["location_id"]) == (None, None)
    assert company.agent("calls.current")["new_job"] == caller  # until answered


def test_customer_and_location_are_registered_before_a_job_is_booked(company: Company) -> None:
    caller = company.next_call()
    offer = company.offer(caller)
    assert company.agent.refused("jobs.book", **offer) == (409, "customer_not_registered")
    who = {key: caller[key] for key in ("call_id", "name", "phone")}
    customer = company.agent("customers.register", **who)
    assert customer["customer_id"] == 1
    assert company.agent.refused("jobs.book", **offer) == (409, "location_not_registered")
    where = {"call_id": caller["call_id"], "address": caller["address"].lower()}
    location = company.agent("locations.register", **where)
    assert location["address"] == caller["address"]
    now = company.agent("calls.current")["new_job"]
    assert (now["customer_id"], now["location_id"]) == (1, location["location_id"])
    assert company.agent("jobs.book", **offer)["call_id"] == caller["call_id"]


def test_registering_is_a_command_in_the_journal_and_twice_is_once(company: Company) -> None:
    caller = company.next_call()
    before = company.world.commands
    company.register(caller)
    company.register(caller)
    assert company.world.commands == before + 2
    assert company.world.desk["calls"][0]["registered"] == 3


def test_only_the_caller_himself_and_his_own_address_are_registered(company: Company) -> None:
    caller = company.next_call()
    digest, call = company.world.digest(), {"call_id": caller["call_id"]}
    right = {"name": caller["name"], "phone": caller["phone"]}
    for wrong in ({"name": "Somebody Else"}, {"phone": "(602) 555-9999"}, {"phone": "none"}):
        refused = company.agent.refused("customers.register", **call, **{**right, **wrong})
        assert refused == (422, "wrong_customer")
    roadmap = company.world.business.roadmap
    other = roadmap.address((int(company.world.desk["calls"][0]["address"]) + 1) % 200).text
    for text, code in (
        (other, "wrong_location"),
        ("12345 No Such Street", "address_unknown"),
        ("somewhere", "address_unreadable"),
    ):
        assert company.agent.refused("locations.register", **call, address=text) == (422, code)
    assert company.world.digest() == digest


def test_a_job_is_booked_as_the_caller_wants_it_or_not_at_all(company: Company) -> None:
    caller = company.next_call()
    company.register(caller)
    digest = company.world.digest()
    for change, status, code in (
        ({"job_type": "hvac_installation"}, 422, "wrong_service"),
        ({"technician": "bob"}, 404, "unknown_technician"),
        ({"window_start": "08:00"}, 422, "unknown_window"),
        ({"service_date": "2026-09-30"}, 422, "beyond_horizon"),
        ({"service_date": "2026-10-15"}, 422, "beyond_horizon"),
        ({"service_date": "2026-10-01", "window_start": "07:00"}, 422, "window_started"),
        ({"service_date": "2026-10-03", "technician": "diana"}, 422, "off_shift"),
        ({"service_date": "2026-02-30"}, 422, "invalid_argument"),
        ({"call_id": 99}, 404, "unknown_call"),
        ({"call_id": 2**63}, 422, "invalid_argument"),
    ):
        refused = company.agent.refused("jobs.book", **company.offer(caller, **change))
        assert refused == (status, code), change
    assert company.world.digest() == digest
    assert company.agent("calls.current")["new_job"]["call_id"] == caller["call_id"]


def test_there_is_no_way_to_move_or_withdraw_a_job(company: Company) -> None:
    for name in ("jobs.move", "jobs.cancel", "jobs.withdraw", "jobs.update", "jobs.delete"):
        assert company.agent.refused(name) == (404, "unknown_operation")


def test_one_offer_is_all_a_caller_gets(opens: Callable[..., Company]) -> None:
    company = opens(changes=STILL)
    caller = company.next_call()
    company.register(caller)
    offer = company.offer(caller)
    booked = company.agent("jobs.book", **offer)
    assert booked["accepted"]
    job = booked["job"]
    assert (job["job_id"], job["state"], job["window_end"]) == (1, "booked", "13:00")
    assert (job["invoice_cents"], job["departed_at"]) == (None, None)
    assert company.agent.refused("jobs.book", **offer) == (409, "call_answered")
    assert company.agent.refused("calls.reject", call_id=1) == (409, "call_answered")
    assert company.driver.refused("leave_unanswered", call_id=1) == (409, "call_answered")


def test_a_job_is_followed_to_its_invoice(opens: Callable[..., Company]) -> None:
    company = opens(changes=STILL)
    caller = company.next_call()
    company.register(caller)
    company.agent("jobs.book", **company.offer(caller))
    schedule = company.agent("schedule.day", date="2026-10-02")
    jobs = [job for man in schedule["technicians"] for job in man["jobs"]]
    assert [job["job_id"] for job in jobs] == [1]
    assert all(man["present"] is None for man in schedule["technicians"])
    while company.driver("advance")["now"] < "2026-10-02 07:00:00":
        pass
    # One call at 07:00: at that moment the technician has set off, for he has nothing else to do.
    now = company.agent("schedule.day", date="2026-10-02")["technicians"]
    (man,) = [man for man in now if man["jobs"]]
    assert man["present"]["activity"] == "driving"
    assert man["present"]["job_id"] == 1
    assert man["jobs"][0]["departed_at"] == man["present"]["since"] == "2026-10-02 07:00:00"
    assert man["present"]["east_m"] == man["home_east_m"]
    company.agent("calls.reject", call_id=2)
    assert company.driver("advance")["stop"] == "day_closed"
    done = company.agent("jobs.get", job_id=1)
    assert (done["state"], done["started_at"]) == ("done", "2026-10-02 11:00:00")
    dollars = {"hvac_service": 300, "plumbing": 300, "electrical": 320}[done["job_type"]]
    assert done["invoice_cents"] == dollars * 100
    status = company.agent("company.status")
    assert (status["total"]["done"], status["today"]["done"], status["phase"]) == (1, 1, "night")
    assert company.agent.refused("jobs.get", job_id=2) == (404, "unknown_job")


def test_a_cancellation_is_on_the_line_until_acknowledged(opens: Callable[..., Company]) -> None:
    company = opens(changes=CANCELLING)
    caller = company.next_call()
    company.register(caller)
    company.agent("jobs.book", **company.offer(caller))
    assert company.agent.refused("calls.acknowledge", job_id=1) == (409, "no_cancellation")
    while (stopped := company.driver("advance"))["stop"] != "cancellation":
        if stopped["stop"] == "new_call":
            company.agent("calls.reject", call_id=stopped["call_id"])
    assert (stopped["job_id"], stopped["call_id"]) == (1, None)
    line = company.agent("calls.current")
    assert (line["kind"], line["cancellation"]["job_id"]) == ("cancellation", 1)
    assert line["cancellation"]["phoned_at"] == stopped["now"]
    assert line["cancellation"]["job"]["state"] == "cancelled"
    assert company.agent.refused("calls.acknowledge", job_id=99) == (404, "unknown_job")
    assert company.agent("calls.acknowledge", job_id=1)["state"] == "cancelled"
    assert company.agent("calls.current")["kind"] == "none"
    assert company.agent.refused("calls.acknowledge", job_id=1) == (409, "no_cancellation")


def test_a_call_is_rejected_or_left_to_ring(company: Company) -> None:
    first = company.next_call()["call_id"]
    assert company.driver.refused("advance") == (409, "call_waiting")
    assert company.agent.refused("calls.reject", call_id=first + 1) == (404, "unknown_call")
    assert company.agent("calls.reject", call_id=first)["outcome"] == "rejected"
    second = company.next_call()["call_id"]
    assert company.driver("leave_unanswered", call_id=second)["outcome"] == "unanswered"
    assert company.agent("company.status")["today"]["rejected"] == 2


def test_the_books_hold_who_was_registered_and_nobody_else(company: Company) -> None:
    assert company.agent("customers.find") == {"customers": []}
    first = company.next_call()
    company.register(first)
    company.agent("calls.reject", call_id=first["call_id"])
    company.next_call()
    (customer,) = company.agent("customers.find")["customers"]
    assert customer["name"] == first["name"]
    (location,) = company.agent("locations.find")["locations"]
    assert location["address"] == first["address"]
    last, digits = first["name"].split()[-1].upper(), first["phone"].replace(" ", "-")
    assert company.agent("customers.find", name=last, phone=digits)["customers"] == [customer]
    assert company.agent("customers.find", customer_id=2)["customers"] == []
    house = first["address"].split(",")[0].lower()
    assert company.agent("locations.find", address=house)["locations"] == [location]
    assert company.agent("locations.find", address="elsewhere")["locations"] == []


def test_the_calendar_ends_with_the_last_day_that_can_be_booked(company: Company) -> None:
    # Three days, of which the last can book 13 days ahead: 1 to 16 October.
    for date in ("2026-10-01", "2026-10-16"):
        assert len(company.agent("schedule.day", date=date)["technicians"]) == 4
    for date in ("2026-09-30", "2026-10-17", "0001-01-01", "9999-12-31"):
        assert company.agent.refused("schedule.day", date=date) == (404, "unknown_day")


def test_a_query_is_answered_from_the_public_views_as_they_are_now(company: Company) -> None:
    question = "SELECT count(*) AS calls FROM calls"
    assert company.agent("query", sql=question)["rows"] == [[0]]
    company.next_call()
    found = company.agent("query", sql=question)
    assert found == {"columns": ["calls"], "rows": [[1]], "truncated": False}
    assert company.agent.refused("query", sql="DELETE FROM calls")[0] == 422


def test_the_driver_is_told_what_the_run_came_to(company: Company) -> None:
    status = company.driver("status")
    assert (status["ended"], status["results"]) == (False, None)
    while (stop := company.driver("advance"))["stop"] != "ended":
        if stop["call_id"] is not None:
            company.driver("leave_unanswered", call_id=stop["call_id"])
    assert company.driver("advance")["stop"] == "ended"
    status = company.driver("status")
    assert status["digest"] == company.world.digest()
    # Three days of doing nothing: two weekdays of $2,916 and a Saturday of $2,126 (A.9).
    assert status["results"]["profit_cents"] == -(2 * 291_600 + 212_600)
    assert company.agent("company.status")["phase"] == "ended"


def _scrambled(record: np.void, random: np.random.Generator) -> None:
    """Draw every hidden field of a run anew, but those that name whoever called."""
    kept = {"seed", "salt"}
    tables = {"run": record, "technician": record["technicians"], "call": record["calls"]}
    for name, table in {**tables, "day": record["days"], "due": record["due"]}.items():
        for field in FIELDS[name]:
            if field.seen == "hidden" and field.name not in kept:
                shape = np.shape(table[field.name])
                table[field.name] = random.integers(0, 100, shape)
    record["sky"]["high"] = random.integers(0, 100, record["sky"]["high"].shape)
    record["lost"] = random.integers(0, 2, record["lost"].shape)


def test_no_answer_depends_on_what_is_hidden(company: Company) -> None:
    for _ in range(12):
        caller = company.next_call()
        company.register(caller)
        company.agent("jobs.book", **company.offer(caller))
    company.next_call()
    twin = company.world.simulation.copy()
    _scrambled(twin.record, np.random.default_rng(1))
    assert twin.digest() != company.world.digest()
    seen = company.office.picture
    assert _everything(replace(seen, desk=twin.desk.copy())) == _everything(seen)


def _everything(picture: Picture) -> list[str]:
    """What every question answers at a moment."""
    wanted: dict[str, list[dict[str, Any]]] = {
        "jobs.get": [{"job_id": n} for n in range(1, 14) if picture.is_job(n)],
        "schedule.day": [{"date": f"2026-10-{day:02}"} for day in range(1, 17)],
    }
    return [
        AGENT_QUESTIONS[one.name](picture, one.request(**arguments)).model_dump_json()
        for one in AGENT_OPERATIONS
        if one.name in AGENT_QUESTIONS
        for arguments in wanted.get(one.name, [{}])
    ]


def test_a_served_run_is_audited_like_any_other(company: Company) -> None:
    from tradesbench_gym.world import audit

    caller = company.next_call()
    company.register(caller)
    company.agent("jobs.book", **company.offer(caller))
    path, digest = company.world.path, company.world.digest()
    company.office.close()
    report = audit(path, map=company.world.business.roadmap)
    assert report.ok
    with World.open(path, map=company.world.business.roadmap) as again:
        assert again.digest() == digest


@pytest.mark.parametrize("arguments", [{"call_id": "1"}, {"call_id": 1.0}, {"call_id": True}, {}])
def test_an_argument_of_another_type_is_refused(
    company: Company, arguments: dict[str, Any]
) -> None:
    assert company.agent.refused("calls.reject", **arguments) == (422, "invalid_argument")
