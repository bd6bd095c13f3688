"""Moments of runs that a picture has to be legible at: from the first morning to bankruptcy."""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache
from importlib.resources import files

import numpy as np

from tests.worlds import tiny_map
from tradesbench_gym.company.business import Business, open_business
from tradesbench_gym.company.play import answer
from tradesbench_gym.company.scenario import Scenario, load_scenario
from tradesbench_gym.company.simulation import Simulation
from tradesbench_gym.core.codes import Stop
from tradesbench_gym.core.layout import DAY_SECONDS
from tradesbench_gym.policies import make_policy

HOUR = 3600
LONG_NAMES = (
    "Maximiliana Featherstonehaugh-Cholmond",
    "Øyvind Þórðarson Łukasiewicz",
    "José Ñíguez de la Fuente y Montero",
    "Katherine Osei",
)
_PERSON = """
[technicians.{key}]
name = "{name}"
skills = ["hvac_service", "hvac_installation", "plumbing", "electrical"]
wage = 38
on_call = {on_call}
home_lat = {lat:.2f}
home_lon = {lon:.2f}
"""


@lru_cache
def crew(number: int, long_names: bool = False, company: str = "Sunridge Services") -> Business:
    """The shipped company with so many technicians, each of whom can do everything."""
    text = (files("tradesbench_gym.company") / "sunridge.toml").read_text(encoding="utf-8")
    head, rest = text.split("[technicians.marcus]", 1)
    tail = "[pay]" + rest.split("[pay]", 1)[1]
    people = [
        _PERSON.format(
            key=f"person{k}",
            name=LONG_NAMES[k % 4] + " " * (k >= 4) + "I" * (k // 4)
            if long_names
            else f"Person {k}",
            on_call="true" if k % 2 else "false",
            lat=33.40 + 0.06 * (k % 4),
            lon=-112.25 + 0.09 * k,
        )
        for k in range(number)
    ]
    head = head.replace('company = "Sunridge Services"', f'company = "{company}"')
    return open_business(load_scenario_text(head + "\n".join(people) + tail))


def load_scenario_text(text: str) -> Scenario:
    """A scenario from the text of its file."""
    import tempfile
    from pathlib import Path

    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "crew.toml"
        file.write_text(text, encoding="utf-8")
        return load_scenario(file)


def played_until(
    business: Business | None, policy: str, seed: int, done: Callable[[Simulation], bool]
) -> Simulation:
    """A run with a call on the line at the first moment that is wanted, or ended."""
    simulation, decide = Simulation(seed, business=business or open_business()), make_policy(policy)
    while simulation.next_call() == Stop.NEW_CALL and not done(simulation):
        answer(simulation, decide)
    return simulation


def at(day: int, hour: float) -> Callable[[Simulation], bool]:
    """The first call from an hour of a day on."""
    moment = day * DAY_SECONDS + hour * HOUR
    return lambda simulation: int(simulation.record["clock"]) >= moment


def everything_into_one_window(business: Business | None = None) -> Simulation:
    """A run whose whole first day is booked for the second's second window, with one technician."""
    simulation = Simulation(5, business=business or open_business())
    while simulation.next_call() == Stop.NEW_CALL and simulation.day == 0:
        if simulation.refusal(0, 1, 1) is None:
            simulation.offer(0, 1, 1)
        else:
            simulation.reject()
    while simulation.record["clock"] < DAY_SECONDS + 9 * HOUR and simulation.line is not None:
        simulation.reject()
        simulation.next_call()
    return simulation


MOMENTS: dict[str, Callable[[], Simulation]] = {
    "first call": lambda: played_until(None, "oracle", 5, at(0, 7)),
    "busy afternoon": lambda: played_until(None, "oracle", 5, at(6, 13)),
    "afternoon of a careless company": lambda: played_until(None, "accept-all", 5, at(1, 14)),
    "after a month": lambda: played_until(open_business(days=31), "oracle", 7, at(30, 12)),
    "end": lambda: played_until(None, "oracle", 5, at(99, 0)),
    "bankrupt": lambda: played_until(None, "do-nothing", 5, at(99, 0)),
    "eight technicians": lambda: played_until(crew(8), "oracle", 6, at(8, 14)),
    "eight long names": lambda: played_until(
        crew(8, True, "Home Services of Greater Maricopa County"),
        "accept-all",
        6,
        at(3, 12),
    ),
    "one technician": lambda: played_until(crew(1), "oracle", 6, at(2, 12)),
    "many jobs in a window": everything_into_one_window,
    "many jobs, eight technicians": lambda: everything_into_one_window(crew(8)),
    "weekend": lambda: played_until(None, "oracle", 8, at(9, 11)),
    "tiny map": lambda: played_until(
        open_business("sunridge", tiny_map(), 5), "oracle", 3, at(1, 12)
    ),
}


@lru_cache
def moment(name: str) -> Simulation:
    """The run at one of `MOMENTS`."""
    return MOMENTS[name]()


def frozen_sky(simulation: Simulation) -> Simulation:
    """The same moment under weather of every kind."""
    other = simulation.copy()
    condition = other.record["forecast"]["condition"]
    condition[...] = np.arange(condition.size).reshape(condition.shape) % 7
    return other
