"""A day of three calls whose prices can be worked out by hand, and runs of it in files.

Everything lies on one spot, so that no drive takes any time; everybody calls at 07:00, wants the
same and accepts; every job takes three hours and pays $300 less 20 % material, $240. Whoever is
late by the close of his window is missed, and the fixed costs of a Thursday are $2,916 ($1,520 of
base pay, $146 of on-call pay, $1,250 of overhead).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import lru_cache
from typing import Any

import numpy as np

from tests.worlds import STILL, tiny_business
from tradesbench_gym.company.business import Business, open_business
from tradesbench_gym.company.simulation import Simulation
from tradesbench_gym.core.branching import REJECT, code_of
from tradesbench_gym.core.view import Desk
from tradesbench_gym.policies import Decision
from tradesbench_gym.report.regret import Recorded, record
from tradesbench_gym.roads import RoadMap, Zone

FIXED = 291_600
JOB = 24_000
_LAT, _LON = 33.44, -112.0737
REJECTED = int(REJECT)
Offer = tuple[int, int, int] | None


@lru_cache
def one_spot() -> RoadMap:
    """Twelve addresses, four of each customer type, all at the one anchor."""
    lat, lon = round(_LAT * 1e6), round(_LON * 1e6)
    count = 12
    return RoadMap.from_arrays(
        "spot",
        (Zone("Spot", _LAT, _LON, 100.0),),
        {
            "lat_e6": [lat] * count,
            "lon_e6": [lon] * count,
            "anchor": [0] * count,
            "leg": [0] * count,
            "zone": [0] * count,
            "kind": [number % 3 for number in range(count)],
        },
        {"lat_e6": [lat], "lon_e6": [lon], "zone": [0]},
        [[0]],
    )


def three_calls(
    changes: Mapping[str, Any] | None = None, start: str | None = None, days: int = 1
) -> Business:
    """Days on the spot, with three callers for plumbing unless changed."""
    homes = {
        f"technicians.{name}.home_{axis}": value
        for name in ("marcus", "diana", "roberto", "katherine")
        for axis, value in (("lat", str(_LAT)), ("lon", str(_LON)))
    }
    hours = {f"services.plumbing.{name}": 180 for name in ("shortest", "typical", "longest")}
    demand = {
        "demand.start": 3,
        "demand.weekend_share": 1,
        "demand.weekend_floor": 0,
        "demand.urgent_share": 0,
        "demand.trade_mix": {"hvac_service": 0, "plumbing": 1, "electrical": 0},
    }
    scenario = tiny_business().scenario.replace(
        {**STILL, **homes, **hours, **demand, **(changes or {})}
    )
    return open_business(scenario, one_spot(), days, start)


def answering(offers: Sequence[Offer]) -> Any:
    """A policy that gives these answers one after the other."""
    given = iter(offers)

    def decide(_desk: Desk) -> Decision | None:
        offer = next(given)
        return None if offer is None else Decision(*offer)

    return decide


def answered(business: Business, offers: Sequence[Offer]) -> Recorded:
    """A run of these answers."""
    return record(Simulation(1, business=business), answering(offers))


def code(offer: Offer) -> int:
    """The code of an answer."""
    return REJECTED if offer is None else int(code_of(*(np.int64(part) for part in offer)))
