"""How long a run takes once the rules are compiled, and what can be done with its record."""

import pickle
from typing import Any

import pytest

from tradesbench_gym.company.business import Business, open_business
from tradesbench_gym.company.play import play
from tradesbench_gym.company.simulation import Simulation
from tradesbench_gym.core.codes import Stop
from tradesbench_gym.policies import make_policy
from tradesbench_gym.report.published import POLICIES


@pytest.fixture(scope="module")
def business() -> Business:
    return open_business()


@pytest.fixture
def midway(business: Business) -> Simulation:
    """A run of the oracle on the eighth day."""
    simulation, decide = Simulation(5, business=business), make_policy("oracle")
    while simulation.day < 7 and simulation.next_call() == Stop.NEW_CALL:
        decision = decide(simulation.desk)
        if decision is None:
            simulation.reject()
        else:
            simulation.offer(*decision)
    return simulation


@pytest.mark.benchmark(group="a run of 14 days")
@pytest.mark.parametrize("policy", POLICIES)
def test_a_run_of_14_days(benchmark: Any, business: Business, policy: str) -> None:
    simulation = Simulation(5, business=business)

    def run() -> None:
        simulation.restart(5)
        play(simulation, make_policy(policy, seed=5))

    benchmark.pedantic(run, rounds=50, warmup_rounds=2)
    benchmark.extra_info["calls"] = int(simulation.record["n_calls"])


@pytest.mark.benchmark(group="a record midway")
def test_copying_a_run(benchmark: Any, midway: Simulation) -> None:
    benchmark.extra_info["bytes"] = midway.business.run_dtype.itemsize
    benchmark(midway.copy)


@pytest.mark.benchmark(group="a record midway")
def test_digesting_a_run(benchmark: Any, midway: Simulation) -> None:
    benchmark(midway.digest)


@pytest.mark.benchmark(group="a record midway")
def test_saving_the_state_of_a_run(benchmark: Any, midway: Simulation) -> None:
    benchmark(midway.get_state)


@pytest.mark.benchmark(group="a record midway")
def test_restoring_the_state_of_a_run(benchmark: Any, midway: Simulation) -> None:
    state = midway.get_state()
    benchmark(midway.set_state, state)


@pytest.mark.benchmark(group="a record midway")
def test_looking_at_the_desk(benchmark: Any, midway: Simulation) -> None:
    benchmark(lambda: midway.desk)


@pytest.mark.benchmark(group="a scenario")
def test_opening_a_changed_scenario(benchmark: Any, business: Business) -> None:
    prices = iter(range(100, 200))

    def opened() -> Business:
        changed = business.scenario.replace({"pay.overhead": next(prices)})
        return open_business(changed, business.roadmap)

    benchmark.pedantic(opened, rounds=3)


@pytest.mark.benchmark(group="a scenario")
def test_sending_a_business_to_another_process(benchmark: Any, business: Business) -> None:
    benchmark(lambda: pickle.dumps(business))
