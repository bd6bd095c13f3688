"""A desk that is kept up to date holds what a desk written anew would."""

from __future__ import annotations

import numpy as np

from tradesbench_gym.company.business import open_business
from tradesbench_gym.company.simulation import Simulation
from tradesbench_gym.core import desk as filling
from tradesbench_gym.core.codes import CallState, Stop


def test_a_desk_kept_up_to_date_is_a_desk_written_anew() -> None:
    late = sum(_late_arrivals(seed) for seed in range(4))
    assert late > 0  # who arrives after his appointment is over still changes it


def _late_arrivals(seed: int) -> int:
    """Play a run of reckless offers for today, comparing desks at every stop."""
    business = open_business(days=4)
    run, random = Simulation(seed, business=business), np.random.default_rng(seed)
    while (stop := run.advance()) != Stop.ENDED:
        if stop == Stop.CANCELLATION:
            run.acknowledge()
        while run.line is not None:
            offer = [int(n) for n in random.integers(0, [4, 2, 6])]
            if random.random() < 0.1:
                run.reject()
            elif run.refusal(*offer) is None:
                run.offer(*offer)
        fresh = business.new_desks()
        filling.fill(np.array([run.record]), 0, fresh, 0)
        assert run.desk.array.tobytes() == fresh.tobytes()
    over = (CallState.MISSED, CallState.CANCELLED)
    return sum(
        call["state"] in over and call["arrived"] > call["ended"] for call in run.desk["calls"]
    )
