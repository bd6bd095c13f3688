"""What the driver's operations do: let time pass, and say how the run stands."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict
from typing import Any

from tradesbench_gym.api import driver_models, models, requests
from tradesbench_gym.api.agent import Command, ringing
from tradesbench_gym.api.answers import picked
from tradesbench_gym.api.facts import of_company
from tradesbench_gym.api.fields import Model
from tradesbench_gym.api.names import word
from tradesbench_gym.api.office import Office
from tradesbench_gym.api.pictures import Picture
from tradesbench_gym.company.play import results
from tradesbench_gym.core.codes import Stop
from tradesbench_gym.world import World

_MONEY = {"profit": "profit_cents", "cash": "cash_cents", "lowest_cash": "lowest_cash_cents"}


def _waiting(now: Picture) -> dict[str, Any]:
    return {
        "call_id": int(now.desk["line"]) + 1 or None,
        "job_id": int(now.desk["phoned"]) + 1 or None,
    }


def _advance(office: Office, _: requests.Nothing) -> Model:
    stop, now = office.command(lambda world, _: world.advance())
    said = {"stop": word(Stop, stop), **_waiting(now)}
    return picked(driver_models.Advanced, of_company(now), **said)


def _leave_unanswered(office: Office, wanted: requests.TheCall) -> Model:
    def ask(world: World, now: Picture) -> None:
        ringing(now, wanted.call_id)
        world.leave_unanswered()

    office.command(ask)
    return models.AnsweredCall(call_id=wanted.call_id, outcome="unanswered")


def _status(office: Office, _: requests.Nothing) -> Model:
    def look(world: World, now: Picture) -> driver_models.RunStatus:
        return picked(
            driver_models.RunStatus,
            of_company(now),
            **_waiting(now),
            ended=world.ended,
            commands=world.commands,
            digest=world.digest(),
            results=_outcome(world) if world.ended else None,
        )

    return office.look(look)


def _outcome(world: World) -> driver_models.Outcome:
    found = asdict(results(world.simulation))
    del found["seed"]
    return driver_models.Outcome(**{_MONEY.get(key, key): found[key] for key in found})


DRIVER_COMMANDS: Mapping[str, Command] = {
    "advance": _advance,
    "leave_unanswered": _leave_unanswered,
    "status": _status,
}
"""What each of the driver's operations does."""
