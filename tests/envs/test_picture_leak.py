"""Two worlds that differ only in hidden state give the same picture, to the byte."""

from __future__ import annotations

import numpy as np
import pytest

from tests.envs.playing import episode, offer
from tests.envs.test_leak import twin_of
from tradesbench_gym.core.layout import MAX_ZONES
from tradesbench_gym.envs import TradesEnv


def pair(days: int) -> tuple[TradesEnv, TradesEnv]:
    return tuple(TradesEnv(render_mode="rgb_array", days=days) for _ in range(2))  # type: ignore[return-value]


def same(env: TradesEnv, twin: TradesEnv) -> bool:
    return bool((np.asarray(env.render()) == np.asarray(twin.render())).all())


def test_worlds_that_differ_only_in_what_is_hidden_give_the_same_picture() -> None:
    env, twin = pair(4)
    random = np.random.default_rng(1)
    for number, moment in enumerate(episode(env, 41)):
        if number % 4 and not moment.terminated:
            continue
        twin_of(env, twin, random)
        assert twin.simulation.digest() != env.simulation.digest()
        assert same(env, twin)
    assert number > 20


def test_the_future_does_not_show_before_it_comes() -> None:
    env, twin = pair(12)
    env.reset(seed=1)
    twin.set_state(env.get_state())
    sky = twin.simulation.record["sky"]
    sky["high"][1:, :MAX_ZONES] += 40
    sky["condition"][1:] = 3
    assert same(env, twin)


@pytest.mark.parametrize("name", ["cash", "lowest", "clock"])
def test_this_test_would_see_a_field_that_is_public(name: str) -> None:
    env, twin = pair(12)
    env.reset(seed=1)
    env.step(offer(0, 1, 2))
    twin.set_state(env.get_state())
    twin.simulation.record[name] -= 60
    assert not same(env, twin)


@pytest.mark.parametrize("name", ["x", "zone", "urgent", "address", "service"])
def test_this_test_would_see_a_public_field_of_the_caller(name: str) -> None:
    env, twin = pair(12)
    env.reset(seed=1)
    twin.set_state(env.get_state())
    call = twin.simulation.record["calls"][int(twin.simulation.record["line"])]
    call[name] = call[name] + 3_000 if name == "x" else call[name] ^ 1
    assert not same(env, twin)


def test_the_number_of_the_run_stands_in_no_picture() -> None:
    env, twin = pair(2)
    env.reset(seed=1_234_567)
    twin.set_state(env.get_state())
    twin.simulation.record["seed"] = 7_654_321
    assert same(env, twin)
