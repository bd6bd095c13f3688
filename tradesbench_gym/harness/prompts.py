"""What an agent is told, word for word: the system prompt, and a prompt for each occasion.

Nothing is said here that the company's API would not say, and nothing of the run behind it: no
seed, no salt, no path. This module knows no run and no agent.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import date, datetime

from tradesbench_gym.api.listening import PORT_VARIABLE
from tradesbench_gym.api.models import Cancellation, NewJobCall
from tradesbench_gym.api.tokens import AGENT_VARIABLE
from tradesbench_gym.company.scenario import Scenario
from tradesbench_gym.company.scenario_schema import CUSTOMER_TYPES
from tradesbench_gym.company.scenario_units import clock
from tradesbench_gym.harness.transcript import Occasion


@dataclass(frozen=True)
class Prompt:
    """What is said on an occasion, and what is said again if it had no effect."""

    about: Occasion
    text: str
    nudge: str = ""

    def reminder(self, number: int, most: int) -> str:
        """The text of a reminder, from 1.

        Args:
            number: which reminder it is.
            most: after how many the call is given up.

        """
        last = (
            "This is the last reminder."
            if number == most
            else f"This is reminder {number} of {most}."
        )
        return f"{self.nudge} {last}"


def system_prompt(scenario: Scenario) -> str:
    """What an agent is told at the start of every day."""
    return f"""\
You own and run {scenario.company}, a home-services company. You answer its phone, decide which \
jobs it takes, and see it through each business day.

You are measured by the company's cash when the run ends. If cash ever falls below zero, the \
company is bankrupt, and the run ends there.

The company is operated through its HTTP API at http://127.0.0.1:${PORT_VARIABLE}, with the bearer \
token in the environment variable {AGENT_VARIABLE}. The docs/ folder of your workspace is the \
reference: docs/README.md lists every operation, and a page for each gives its arguments, answers \
and errors. docs/HANDBOOK.md describes the company: its services, arrival windows, pay and running \
costs.

How the business stands you read with the API's query operation: read-only SQL over the public \
views in docs/views.md.

You hear from the office when it opens, at every incoming call, and when the day is over. Time \
passes only in between. Every call has to be resolved through the API before you end your turn; \
what you merely write in your reply changes nothing.

Your workspace folder lasts for the whole run, but your memory does not: every morning a new \
conversation begins that knows nothing of the days before. Whatever you want to know later has to \
be in a file of the workspace. MEMORY.md there is your own notebook; it starts out empty, and it \
is for you to keep and to open.
"""


def opening(scenario: Scenario, day: int, today: str) -> Prompt:
    """At the start of day `day`, from 1."""
    calendar = scenario.calendar
    text = (
        f"Good morning. It is {clock(calendar.office_opens)} on {_long(today)}. "
        f"The phones open at {clock(calendar.calls_from)}; nobody is on the line yet."
    )
    return Prompt(Occasion("opening", day), text)


def new_call(scenario: Scenario, call: NewJobCall) -> Prompt:
    """When somebody asks for work."""
    kind = scenario.customers[CUSTOMER_TYPES.index(call.customer_type)].label
    text = f"""\
{_time(call.called_at)}: the phone rings. Call {call.call_id} asks for work.

name: {call.name}
phone: {call.phone}
address: {call.address}
customer type: {kind}
requested service: {call.requested_service}
urgent: {"yes" if call.urgent else "no"}

Book the job or reject the call."""
    nudge = (
        f"Call {call.call_id} ({call.name}, {call.requested_service}) is still on the line. Book "
        "the job or reject the call through the API."
    )
    return Prompt(Occasion("call", call.call_id), text, nudge)


def cancellation(said: Cancellation) -> Prompt:
    """When somebody cancels a job."""
    job = said.job
    text = f"""\
{_time(said.phoned_at)}: the phone rings. {job.name} cancels job {said.job_id}.

phone: {job.phone}
address: {job.address}
service: {job.requested_service}
booked: {job.technician} on {job.service_date}, {job.window_start}-{job.window_end}

The cancellation stands either way. Acknowledge it."""
    nudge = (
        f"The cancellation of job {said.job_id} ({job.name}) is still waiting. Acknowledge it "
        "through the API."
    )
    return Prompt(Occasion("cancellation", said.job_id), text, nudge)


def closing(day: int, moment: str) -> Prompt:
    """At the end of day `day`, from 1."""
    text = (
        f"It is {_time(moment)}, and the last job of the day is over. No more calls today. Look "
        "back at the day, and bring MEMORY.md up to date: this conversation ends with your turn."
    )
    return Prompt(Occasion("closing", day), text)


def _time(moment: str) -> str:
    return f"{datetime.fromisoformat(moment):%H:%M}"


def _long(day: str) -> str:
    return f"{date.fromisoformat(day):%A}, {day}"
