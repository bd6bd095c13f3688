"""A dispatcher's desk filled from the API's answers, as the engine fills it from the run.

Whoever decides over HTTP knows what the handbook says and what the operations answer; it is written
down here in the same record, so that a policy decides here as it does in process. This module knows
no run, no scenario and no server.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from datetime import date, datetime, timedelta
from decimal import Decimal
from enum import IntEnum
from typing import Any, TypeVar

import numpy as np

from tradesbench_gym.api import models
from tradesbench_gym.api.client import Agent
from tradesbench_gym.api.facts import COUNTS
from tradesbench_gym.api.handbook_figures import read_handbook
from tradesbench_gym.company.scenario_schema import CUSTOMER_TYPES
from tradesbench_gym.company.scenario_units import clock
from tradesbench_gym.core.codes import Activity, CallState, Condition, Entry, Phase
from tradesbench_gym.core.engine import CUSTOMER, LOCATION
from tradesbench_gym.core.layout import DAY_SECONDS, MAX_SERVICES, NONE, desk_dtype
from tradesbench_gym.core.settings import plan_settings
from tradesbench_gym.core.view import Desk
from tradesbench_gym.policies.registry import Decision

_QUANTILE, _MARGIN_S = Decimal("0.65"), 40 * 60
_CIRCUITY, _SPEED_KMH = Decimal("1.3"), Decimal(40)
"""The oracle's settings as they were published (A.8 of the report)."""

_CALLS = "SELECT * FROM calls ORDER BY call_id"
_DAYS = "SELECT * FROM days ORDER BY day"
_LEDGER = "SELECT kind, sum(amount_cents) AS cents FROM ledger GROUP BY kind"
_MOMENTS = ("departed", "arrived", "started", "ended")

Said = Mapping[str, Any]
Word = TypeVar("Word", bound=IntEnum)


class RemoteDesk:
    """The desk of a company that is reached through its API.

    Attributes:
        first_day: day 0 of the run.
        technicians: short names, in the order of the handbook.
        window_starts: as the API writes them.

    """

    def __init__(self, agent: Agent, handbook: str) -> None:
        """With the text of docs/HANDBOOK.md.

        Raises:
            HandbookError: a figure is missing in it.

        """
        figures = read_handbook(handbook)
        book = figures.book
        self.first_day = figures.first_day
        self.technicians: tuple[str, ...] = ()
        self.window_starts = [clock(at) for at in book["opens"][: book["windows"]].tolist()]
        self._agent = agent
        self._job_types = {key: k for k, key in enumerate(figures.job_types)}
        self._zones: tuple[str, ...] = ()
        self._today = -1
        self._array = np.zeros(1, desk_dtype(int(book["days"])))
        desk = self._array[0]
        desk["handbook"], desk["plan"] = book, _published_plan(book)
        desk["route"], desk["line"], desk["phoned"] = NONE, NONE, NONE

    def look(self, call: models.NewJobCall, location_id: int) -> Desk:
        """What a dispatcher may know while a call is on the line."""
        status = self._agent.status()
        schedule = self._agent.schedule(status.date)
        if not self.technicians:
            self._write_people(schedule)
        missed = self._has_missed(call, status)
        self._array[0]["n_calls"], self._array[0]["line"] = call.call_id, call.call_id - 1
        since, today = max(0, self._today), status.day - 1
        if today != self._today:
            self._today = today
            self._write_weather()
            self._write_days()
        if missed:
            self._write_calls()
        # Days to come change by what is answered here; what is over has settled since.
        for day in range(since, self._last_day() + 1 if missed else today):
            if day != today:
                self._write_day(self._agent.schedule(self._date(day)), day)
        self._write_day(schedule, today)
        self._write_status(status)
        self._write_line(call, location_id)
        return Desk(self._array)

    def offer(self, decision: Decision) -> dict[str, str]:
        """A decision in the words of the API."""
        return {
            "service_date": self._date(self._today + decision.ahead),
            "window_start": self.window_starts[decision.window],
            "technician": self.technicians[decision.technician],
        }

    def note(self, job: models.Job) -> None:
        """Write down what became of a job."""
        if not self.technicians:
            return  # nothing was looked at yet: the first look reads this too
        self._array[0]["line"] = NONE
        self._write_job(job)
        self._write_route(self._day_of(job.service_date), self._technician(job.technician))

    def note_answer(self, call: models.NewJobCall, state: CallState, **offered: Any) -> None:
        """Write down what became of a call that was not booked."""
        seen = self._array[0]["calls"][call.call_id - 1]
        seen["state"] = state
        self._write_offer(seen, offered)
        self._array[0]["line"] = NONE

    # -- a day --

    def _has_missed(self, call: models.NewJobCall, status: models.CompanyStatus) -> bool:
        """Whether others have answered calls, or cancellations, since the last look."""
        desk = self._array[0]
        cancelled = np.count_nonzero(desk["calls"]["state"] == CallState.CANCELLED)
        known = call.call_id - 1, status.total.cancelled
        return (int(desk["n_calls"]), int(cancelled)) != known

    def _last_day(self) -> int:
        return self._today + int(self._array[0]["handbook"]["booking_days"]) - 1

    def _write_calls(self) -> None:
        for row in _rows(self._agent.query(_CALLS)):
            self._write_call(row["call_id"] - 1, {**row, "state": row["outcome"]})

    def _write_days(self) -> None:
        for row in _rows(self._agent.query(_DAYS)):
            seen = self._array[0]["days"][row["day"] - 1]
            seen["closed_at"] = self._second(row["closed_at"])
            seen["cash"] = row["cash_cents"] or 0
            _copy(seen, row, COUNTS)

    def _write_people(self, schedule: models.DaySchedule) -> None:
        book = self._array[0]["handbook"]
        self.technicians = tuple(person.technician for person in schedule.technicians)
        book["technicians"] = len(self.technicians)
        for k, person in enumerate(schedule.technicians):
            book["skills"][k] = sum(1 << self._job_types[key] for key in person.job_types)
            book["on_call"][k], book["wage"][k] = person.on_call, person.wage_cents
            book["home_x"][k], book["home_y"][k] = person.home_east_m, person.home_north_m

    def _write_weather(self) -> None:
        days = [self._agent.weather(), *self._agent.forecast().days]
        self._zones = tuple(one.zone for one in days[0].zones)
        self._array[0]["handbook"]["zones"] = len(self._zones)
        sky = self._array[0]["forecast"]
        for ahead, day in enumerate(days):
            for k, zone in enumerate(day.zones):
                sky["high"][ahead, k] = zone.high_f
                sky["condition"][ahead, k] = _number(Condition, zone.condition)

    def _write_day(self, schedule: models.DaySchedule, day: int) -> None:
        for k, person in enumerate(schedule.technicians):
            for job in person.jobs:
                self._write_job(job)
            self._write_route(day, k)
            if person.present is not None:
                self._write_presence(k, person.present)

    def _write_presence(self, technician: int, present: models.Presence) -> None:
        man = self._array[0]["technicians"][technician]
        man["activity"] = _number(Activity, present.activity)
        man["since"] = self._second(present.since)
        man["job"] = NONE if present.job_id is None else present.job_id - 1
        man["x"], man["y"] = present.east_m, present.north_m

    def _write_status(self, status: models.CompanyStatus) -> None:
        desk = self._array[0]
        if desk["cash"] != status.cash_cents:  # nothing else is posted in the ledger
            for row in _rows(self._agent.query(_LEDGER)):
                desk["ledger"][_number(Entry, row["kind"])] = row["cents"]
        desk["cash"], desk["lowest"] = status.cash_cents, status.lowest_cash_cents
        desk["clock"], desk["day"] = self._second(status.now), status.day - 1
        desk["phase"], desk["bankrupt"] = _number(Phase, status.phase), status.bankrupt
        today = desk["days"][status.day - 1]
        today["closed_at"] = NONE
        _copy(today, status.today.model_dump(), COUNTS)

    # -- calls and jobs --

    def _write_line(self, call: models.NewJobCall, location_id: int) -> None:
        said = call.model_dump() | {"customer_id": call.call_id, "location_id": location_id}
        self._write_call(call.call_id - 1, {**said, "state": "ringing"})

    def _write_call(self, number: int, said: Said) -> None:
        """A call by what the API says of it; of a job its schedule knows more."""
        seen = self._array[0]["calls"][number]
        known = seen["state"] >= CallState.BOOKED
        if known:
            return
        seen["rang_at"] = self._second(said["called_at"])
        seen["address"] = 0 if said["location_id"] is None else said["location_id"]
        seen["x"], seen["y"] = said["east_m"], said["north_m"]
        seen["service"] = self._service(said["job_type"])
        seen["customer"] = CUSTOMER_TYPES.index(said["customer_type"])
        seen["urgent"], seen["zone"] = said["urgent"], self._zones.index(said["zone"])
        seen["state"] = _number(CallState, said["state"])
        seen["next"] = NONE
        for name in _MOMENTS:
            seen[name] = self._second(said.get(f"{name}_at"))
        in_books = CUSTOMER * (said["customer_id"] is not None)
        seen["registered"] = in_books | LOCATION * (said["location_id"] is not None)
        self._write_offer(seen, said)

    def _write_job(self, job: models.Job) -> None:
        number = job.job_id - 1
        seen = self._array[0]["calls"][number]
        if seen["state"] < CallState.BOOKED:
            self._write_call(number, job.model_dump())
        seen["state"] = _number(CallState, job.state)
        for name in _MOMENTS:
            seen[name] = self._second(getattr(job, f"{name}_at"))
        seen["invoice"], seen["material"] = job.invoice_cents or 0, job.material_cents or 0

    def _write_offer(self, seen: np.void, said: Said) -> None:
        offered = said.get("technician")
        seen["technician"] = NONE if offered is None else self._technician(offered)
        seen["day"] = NONE if offered is None else self._day_of(said["service_date"])
        window = NONE if offered is None else self.window_starts.index(said["window_start"])
        seen["window"] = window

    def _write_route(self, day: int, technician: int) -> None:
        """The jobs of a day as the engine links them: the one booked last comes first."""
        desk = self._array[0]
        calls = desk["calls"][: desk["n_calls"]]
        mine = (calls["day"] == day) & (calls["technician"] == technician)
        first = int(NONE)
        for number in np.flatnonzero(mine & (calls["state"] >= CallState.BOOKED)).tolist():
            calls[number]["next"] = first
            first = number
        desk["route"][day, technician] = first

    # -- words --

    def _service(self, job_type: str) -> int:
        """Other work has numbers of its own, beyond those of the company's services."""
        others = len(self._job_types) - int(self._array[0]["handbook"]["services"])
        return self._job_types.setdefault(job_type, MAX_SERVICES + others)

    def _technician(self, key: str) -> int:
        return self.technicians.index(key)

    def _date(self, day: int) -> str:
        return (self.first_day + timedelta(days=day)).isoformat()

    def _day_of(self, text: str) -> int:
        return (date.fromisoformat(text) - self.first_day).days

    def _second(self, text: str | None) -> int:
        """A moment as seconds since the start of the run; -1 for none."""
        if text is None:
            return int(NONE)
        moment = datetime.fromisoformat(text)
        seconds = (moment.hour * 60 + moment.minute) * 60 + moment.second
        return (moment.date() - self.first_day).days * DAY_SECONDS + seconds


def _published_plan(book: np.void) -> np.void:
    ranges = [
        (int(book["shortest"][k]), int(book["typical"][k]), int(book["longest"][k]))
        for k in range(int(book["services"]))
    ]
    plan: np.void = plan_settings(ranges, _QUANTILE, _MARGIN_S, _CIRCUITY, _SPEED_KMH)[0]
    return plan


def _rows(result: models.QueryResult) -> Iterable[dict[str, Any]]:
    return (dict(zip(result.columns, row, strict=True)) for row in result.rows)


def _copy(seen: np.void, said: Said, names: Sequence[str]) -> None:
    for name in names:
        seen[name] = said[name]


def _number(kind: type[Word], word: str) -> int:
    return int(kind[word.upper()])
