"""A model that decides as the oracle does, and acts through pi's tools: bash, curl and the API.

What the oracle decides at each call is worked out beforehand, in process; the prompt says who is on
the line, and the model registers, books, rejects and acknowledges with commands of its own.
"""

from __future__ import annotations

import json
import re
import shlex
from collections.abc import Callable
from typing import Any

from tests.harness.stub_provider import Asked, Call, Reply
from tradesbench_gym.company.business import Business
from tradesbench_gym.company.play import answer
from tradesbench_gym.company.scenario_units import clock
from tradesbench_gym.company.simulation import Simulation
from tradesbench_gym.core.codes import Stop
from tradesbench_gym.core.view import Desk
from tradesbench_gym.policies.load import load_policy

Offers = dict[int, dict[str, str] | None]
_ASK = """\
ask() { curl -sS "http://127.0.0.1:$SUNRIDGE_API_PORT/v1/$1" \
-H "Authorization: Bearer $SUNRIDGE_API_TOKEN" -H "Content-Type: application/json" -d "$2"; echo; }
"""
_FIELD = re.compile(r"^(name|phone|address): (.+)$", re.MULTILINE)


def oracle_offers(business: Business, seed: int, salt: int) -> tuple[Offers, Simulation]:
    """What the oracle offers at each call of a run, None to reject; and the run it plays."""
    simulation = Simulation(seed, salt=salt, business=business)
    policy = load_policy("oracle")
    offers: Offers = {}
    scenario = business.scenario

    def decide(desk: Desk) -> Any:
        decision, number = policy(desk), simulation.line or 0
        offers[number] = None
        if decision is not None:
            service = int(simulation.record["calls"][number - 1]["service"])
            opens = business.handbook["opens"]
            offers[number] = {
                "job_type": scenario.services[service].key,
                "service_date": business.date_of(simulation.day + decision.ahead).isoformat(),
                "window_start": clock(int(opens[decision.window])),
                "technician": scenario.technicians[decision.technician].key,
            }
        return decision

    while simulation.next_call() == Stop.NEW_CALL:
        number = simulation.line or 0
        simulation.register(int(simulation.record["calls"][number - 1]["address"]))
        answer(simulation, decide)
    return offers, simulation


def model_of(offers: Offers) -> Callable[[Asked], Reply]:
    """The model that makes these offers."""

    def reply(asked: Asked) -> Reply:
        last = asked.body["messages"][-1]
        if last["role"] == "tool":
            return Reply(text="That is done.")
        said = text_of(last)
        call = re.search(r"Call (\d+) ", said)
        job = re.search(r"cancels job (\d+)|cancellation of job (\d+)", said)
        if "last job of the day" in said:
            return _bash("echo 'another day is over' >> MEMORY.md")
        if job is not None:
            number = int(job.group(1) or job.group(2))
            return _bash(_ASK + _asked("calls.acknowledge", job_id=number))
        if call is not None:
            number = int(call.group(1))
            whole = "\n\n".join(map(text_of, asked.body["messages"]))
            told = whole[whole.rindex(f"Call {number} asks") :]  # a reminder says less
            return _bash(_ASK + "\n".join(_answer(number, told, offers)))
        return Reply(text="Good morning.")

    return reply


def text_of(message: dict[str, Any]) -> str:
    """The words of a message, whether they come in one piece or in blocks."""
    content = message["content"] or ""
    if isinstance(content, str):
        return content
    return "".join(str(one.get("text", "")) for one in content)


def _answer(number: int, said: str, offers: Offers) -> list[str]:
    offer = offers[number]
    if offer is None:
        return [_asked("calls.reject", call_id=number)]
    who = dict(_FIELD.findall(said)[:3])
    return [
        _asked("customers.register", call_id=number, name=who["name"], phone=who["phone"]),
        _asked("locations.register", call_id=number, address=who["address"]),
        _asked("jobs.book", call_id=number, **offer),
    ]


def _asked(operation: str, **arguments: Any) -> str:
    return f"ask {operation} {shlex.quote(json.dumps(arguments))}"


def _bash(command: str) -> Reply:
    return Reply(text="", calls=(Call("bash", {"command": command}),))
