"""What a learner is paid, what the till holds and what the ledger says: one number, to the cent."""

from __future__ import annotations

from typing import Any

import numba
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.core.test_check import EDGES, verify
from tests.worlds import tiny_business, tiny_map
from tradesbench_gym.envs.trades_env import TradesEnv

RUNS_EACH = 50


@pytest.mark.skipif(numba.config.DISABLE_JIT, reason="a thousand runs take minutes uncompiled")
@settings(max_examples=20)
@given(edge=st.sampled_from(EDGES), key=st.integers(0, 2**32), taken=st.floats(0, 1))
def test_rewards_cash_and_ledger_agree_on_a_thousand_runs(
    edge: dict[str, Any], key: int, taken: float
) -> None:
    env = TradesEnv(scenario=tiny_business(edge).scenario, map=tiny_map())
    rng = np.random.default_rng(key)
    start = int(env.simulation.business.handbook["starting_cash"])
    for seed in range(RUNS_EACH):
        env.reset(seed=key + seed)
        dollars, ended = 0.0, False
        actions = rng.integers([2, 4, 14, 6], size=(600, 4))
        actions[:, 0] = rng.random(600) < taken
        place = 0
        while not ended:
            _, reward, ended, truncated, _ = env.step(actions[place % 600])
            assert not truncated
            dollars += reward
            place += 1
        run = env.simulation.record
        first = start - env.simulation.cash_cents + round(dollars * 100)
        # A day without a call closes before the first step: its costs are nobody's reward.
        assert first == 0 or run["calls"]["rang_at"][0] >= 86_400
        assert int(run["ledger"].sum()) == env.simulation.cash_cents - start
        verify(env.simulation)
