"""What the driver's operations do: let time pass, and say how the run stands."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict
from typing import Any

from tradesbench_gym.api import driver_models, models, requests
from tradesbench_gym.api.agent import Handler, ringing
from tradesbench_gym.api.fields import Model, word
from tradesbench_gym.api.office import Office, Picture
from tradesbench_gym.company.play import results
from tradesbench_gym.core.codes import Phase, Stop
from tradesbench_gym.world import World

_MONEY = {"profit": "profit_cents", "cash": "cash_cents", "lowest_cash": "lowest_cash_cents"}


def _where(now: Picture) -> dict[str, Any]:
    desk = now.desk
    return {
        "now": now.names.moment(desk["clock"]),
        "date": now.names.date(desk["day"]).isoformat(),
        "day": int(desk["day"]) + 1,
        "call_id": int(desk["line"]) + 1 or None,
        "job_id": int(desk["phoned"]) + 1 or None,
    }


def _advance(office: Office, _: requests.Nothing) -> Model:
    stop, now = office.command(lambda world, _: world.advance())
    return driver_models.Advanced(stop=word(Stop, stop), **_where(now))


def _leave_unanswered(office: Office, wanted: requests.TheCall) -> Model:
    def ask(world: World, now: Picture) -> None:
        ringing(now, wanted.call_id)
        world.leave_unanswered()

    office.command(ask)
    return models.AnsweredCall(call_id=wanted.call_id, state="unanswered")


def _status(office: Office, _: requests.Nothing) -> Model:
    def look(world: World, now: Picture) -> driver_models.RunStatus:
        desk, ended = now.desk, world.ended
        return driver_models.RunStatus(
            **_where(now),
            days=now.business.days,
            phase=word(Phase, desk["phase"]),
            bankrupt=bool(desk["bankrupt"]),
            ended=ended,
            commands=world.commands,
            digest=world.digest(),
            results=_outcome(world) if ended else None,
        )

    return office.look(look)


def _outcome(world: World) -> driver_models.Outcome:
    found = asdict(results(world.simulation))
    del found["seed"]
    return driver_models.Outcome(**{_MONEY.get(key, key): found[key] for key in found})


DRIVER_HANDLERS: Mapping[str, Handler] = {
    "advance": _advance,
    "leave_unanswered": _leave_unanswered,
    "status": _status,
}
"""What each of the driver's operations does."""
