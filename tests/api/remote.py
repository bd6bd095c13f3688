"""A company behind real HTTP servers in this process, with a client of each kind; and the same run
played without them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tests.api.companies import answering
from tradesbench_gym.api.app import agent_app, driver_app
from tradesbench_gym.api.client import Agent, Driver
from tradesbench_gym.api.handbook import handbook_text
from tradesbench_gym.api.listening import ONLY_US, listen_on_file, listen_on_port
from tradesbench_gym.api.office import Office
from tradesbench_gym.api.tokens import Token
from tradesbench_gym.company.business import Business
from tradesbench_gym.company.play import answer
from tradesbench_gym.company.simulation import Simulation
from tradesbench_gym.core.codes import Stop
from tradesbench_gym.core.view import Desk
from tradesbench_gym.world import World

AGENT, DRIVER = "an-agents-token-of-tests", "a-drivers-token-of-tests"


@dataclass(frozen=True)
class Company:
    """A world behind its two servers."""

    world: World
    agent: Agent
    driver: Driver
    handbook: str
    agent_port: int
    driver_socket: Path


@contextmanager
def open_company(folder: Path, business: Business, seed: int = 5) -> Iterator[Company]:
    """A new run: the agent's server on a TCP port, the driver's on a Unix socket."""
    place = folder / "driver.socket"
    with ExitStack() as stack:
        world = stack.enter_context(World.create(folder / "world.sqlite", seed, business=business))
        office = Office(world)
        stack.callback(office.close)
        front, back = listen_on_port(0), listen_on_file(place, ONLY_US)
        stack.enter_context(
            answering(
                office,
                (agent_app(office, Token(AGENT.encode())), front),
                (driver_app(office, Token(DRIVER.encode())), back),
            )
        )
        port = front.socket.getsockname()[1]
        agent = stack.enter_context(Agent(AGENT, port=port))
        driver = stack.enter_context(Driver(DRIVER, socket=place))
        book = handbook_text(business.scenario, business.days, business.start_date)
        yield Company(world, agent, driver, book, port, place)


def play_in_process(
    business: Business,
    seed: int,
    policy: Callable[[Desk], Any],
    desks: list[Desk] | None = None,
    salt: int = 0,
) -> Simulation:
    """The run of a policy without HTTP, callers entered in the books as a dispatcher does; the
    desks it decided from are added to a list.
    """
    simulation = Simulation(seed, salt=salt, business=business)
    while simulation.next_call() == Stop.NEW_CALL:
        simulation.register(int(simulation.record["calls"][(simulation.line or 0) - 1]["address"]))
        if desks is not None:
            desks.append(simulation.desk.copy())
        answer(simulation, policy)
    return simulation
