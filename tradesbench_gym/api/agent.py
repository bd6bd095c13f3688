"""What the agent's operations do, but for queries: questions are answered from a picture of the
run, commands are given to the office. Both take a valid request, and answer or raise; none can let
time pass.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from tradesbench_gym.api import answers, models, requests
from tradesbench_gym.api.faults import RequestError
from tradesbench_gym.api.fields import Model
from tradesbench_gym.api.names import word
from tradesbench_gym.api.office import Office
from tradesbench_gym.api.pictures import Picture
from tradesbench_gym.core.codes import CallState
from tradesbench_gym.core.engine import CUSTOMER, LOCATION
from tradesbench_gym.errors import BookingError, shown
from tradesbench_gym.world import World

Question = Callable[[Picture, Any], Model]
Command = Callable[[Office, Any], Model]


def ringing(now: Picture, number: int) -> None:
    """Raise RequestError unless the call of this number is on the line."""
    if number == int(now.desk["line"]) + 1:
        return
    if not 1 <= number <= len(now.callers):
        raise RequestError(f"no call {number} has come in", code="unknown_call", field="call_id")
    became = word(CallState, now.calls[number - 1]["state"])
    raise RequestError(
        f"call {number} has been answered already: it is {became}",
        code="call_answered",
        field="call_id",
    )


def _known_job(now: Picture, number: int) -> None:
    if not now.is_job(number):
        raise RequestError(f"there is no job {number}", code="unknown_job", field="job_id")


def _reject(office: Office, wanted: requests.TheCall) -> Model:
    def ask(world: World, now: Picture) -> None:
        ringing(now, wanted.call_id)
        world.reject()

    office.command(ask)
    return models.AnsweredCall(call_id=wanted.call_id, outcome="rejected")


def _acknowledge(office: Office, wanted: requests.TheJob) -> Model:
    def ask(world: World, now: Picture) -> None:
        _known_job(now, wanted.job_id)
        if wanted.job_id != int(now.desk["phoned"]) + 1:
            raise RequestError(
                f"nobody is on the line to cancel job {wanted.job_id}",
                code="no_cancellation",
                field="job_id",
            )
        world.acknowledge()

    office.command(ask)
    return models.Acknowledged(job_id=wanted.job_id, state="cancelled")


def _register_customer(office: Office, wanted: requests.RegisterCustomer) -> Model:
    number = wanted.call_id

    def ask(world: World, now: Picture) -> None:
        ringing(now, number)
        caller = now.callers[number - 1]
        for field, given, own in (
            ("name", _plain(wanted.name), _plain(caller.name)),
            ("phone", _digits(wanted.phone), _digits(caller.phone)),
        ):
            if given != own:
                raise RequestError(
                    f"the customer must be the caller himself: {caller.name}, {caller.phone}",
                    code="wrong_customer",
                    field=field,
                )
        world.register(int(now.calls[number - 1]["address"]), CUSTOMER)

    _, now = office.command(ask)
    return answers.customer(now, now.person(number))


def _register_location(office: Office, wanted: requests.RegisterLocation) -> Model:
    number = wanted.call_id

    def ask(world: World, now: Picture) -> None:
        ringing(now, number)
        world.register(wanted.address, LOCATION)

    _, now = office.command(ask)
    return answers.location(now, int(now.calls[number - 1]["address"]))


def _plain(text: str) -> str:
    return " ".join(text.split()).casefold()


def _digits(text: str) -> str:
    return "".join(sign for sign in text if sign in "0123456789")


def _find_customers(now: Picture, wanted: requests.FindCustomers) -> Model:
    part, phone = _plain(wanted.name or ""), _digits(wanted.phone or "")
    found = [
        answers.customer(now, person)
        for person, entered in now.customers.items()
        if wanted.customer_id in {None, entered.number}
        and part in _plain(person[0])
        and (wanted.phone is None or phone == _digits(person[1]))
    ]
    return models.Customers(customers=found)


def _find_locations(now: Picture, wanted: requests.FindLocations) -> Model:
    part = _plain(wanted.address or "")
    found = [
        answers.location(now, where)
        for where, entered in now.locations.items()
        if wanted.location_id in {None, entered.number}
        and part in _plain(now.callers[entered.call - 1].address.text)
    ]
    return models.Locations(locations=found)


def _book(office: Office, wanted: requests.BookJob) -> Model:
    number = wanted.call_id

    def ask(world: World, now: Picture) -> bool:
        ringing(now, number)
        technician, ahead, window = _slot(now, wanted)
        for known, what in (
            (now.customer_id(number), "customer"),
            (now.location_id(number), "location"),
        ):
            if known is None:
                raise RequestError(
                    f"the {what} of call {number} is not in the company's books: "
                    f"{what}s.register comes first",
                    code=f"{what}_not_registered",
                    field="call_id",
                )
        _check_job_type(now, wanted)
        return world.offer(technician, ahead, window)

    accepted, now = office.command(ask)
    job = answers.job_of(now, number) if accepted else None
    return models.Booking(call_id=number, accepted=accepted, job=job)


def _slot(now: Picture, wanted: requests.BookJob) -> tuple[int, int, int]:
    """Technician, days ahead and window as the rules count them."""
    names = now.names
    if wanted.technician not in names.technicians:
        raise RequestError(
            f"there is no technician {shown(wanted.technician)}; "
            f"they are {', '.join(names.technicians)}",
            code="unknown_technician",
            field="technician",
        )
    if wanted.window_start not in names.window_starts:
        raise RequestError(
            f"no arrival window starts at {wanted.window_start}; "
            f"they start at {', '.join(names.window_starts)}",
            code="unknown_window",
            field="window_start",
        )
    ahead = names.day(wanted.service_date) - int(now.desk["day"])
    technician = names.technicians.index(wanted.technician)
    return technician, ahead, names.window_starts.index(wanted.window_start)


def _check_job_type(now: Picture, wanted: requests.BookJob) -> None:
    own = now.names.job_types[now.calls[wanted.call_id - 1]["service"]]
    if wanted.job_type != own:
        raise BookingError(
            f"a job is booked for the service the caller asked for, {own}, and no other",
            code="wrong_service",
            field="job_type",
        )


def _get_job(now: Picture, wanted: requests.TheJob) -> Model:
    _known_job(now, wanted.job_id)
    return answers.job_of(now, wanted.job_id)


def _schedule_day(now: Picture, wanted: requests.TheDay) -> Model:
    day = now.names.day(wanted.date)
    last = now.business.days + int(now.desk["handbook"]["booking_days"]) - 2
    if not 0 <= day <= last:
        raise RequestError(
            f"the company's calendar runs from {now.names.date(0)} to {now.names.date(last)}",
            code="unknown_day",
            field="date",
        )
    return answers.day_schedule(now, day)


def _opened(now: Picture) -> Picture:
    """The picture, once there is a weather forecast: from the first morning on."""
    if int(now.desk["clock"]) == 0:
        raise RequestError("the office has not opened yet", code="office_closed")
    return now


AGENT_QUESTIONS: Mapping[str, Question] = {
    "calls.current": lambda now, _: answers.current_call(now),
    "customers.find": _find_customers,
    "locations.find": _find_locations,
    "jobs.get": _get_job,
    "schedule.day": _schedule_day,
    "weather.today": lambda now, _: answers.weather(_opened(now), 0),
    "weather.forecast": lambda now, _: answers.forecast(_opened(now)),
    "company.status": lambda now, _: answers.company_status(now),
}
"""What the agent can ask about the run as it stands."""

AGENT_COMMANDS: Mapping[str, Command] = {
    "calls.reject": _reject,
    "calls.acknowledge": _acknowledge,
    "customers.register": _register_customer,
    "locations.register": _register_location,
    "jobs.book": _book,
}
"""What the agent can have done."""
