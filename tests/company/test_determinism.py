"""The same seed and the same actions give the same bytes: everywhere, and from any point on."""

from __future__ import annotations

import copy
import os
import pickle
import subprocess
import sys
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.worlds import tiny_business, tiny_map
from tradesbench_gym.company.simulation import Simulation
from tradesbench_gym.core import draws
from tradesbench_gym.core.codes import Stop
from tradesbench_gym.envs.trades_env import TradesEnv
from tradesbench_gym.errors import StateError

DAYS = 3


def step(simulation: Simulation, key: int = 1) -> Stop:
    """Play to the next call and answer it by a draw of the test's own."""
    stop = Stop.NEW_CALL if simulation.line else simulation.next_call()
    if stop == Stop.NEW_CALL:
        number = int(simulation.record["line"])
        words = draws.words(np.uint64(key), np.uint64(0), int(draws.Event.POLICY), number, 1, 0)
        offer = tuple(int(w) % n for w, n in zip(words, (4, 3, 6), strict=False))
        if int(words[3]) % 4 and simulation.refusal(*offer) is None:
            simulation.offer(*offer)
        else:
            simulation.reject()
    return stop


def finish(simulation: Simulation, key: int = 1) -> str:
    while step(simulation, key) == Stop.NEW_CALL:
        pass
    return simulation.digest()


def played(seed: int = 3, key: int = 1) -> str:
    return finish(Simulation(seed, business=tiny_business(days=DAYS)), key)


CODE = """
from tests.company.test_determinism import played
print(played())
"""


@pytest.mark.parametrize(
    "settings_",
    [{}, {"PYTHONHASHSEED": "1"}, {"PYTHONHASHSEED": "777", "NUMBA_DISABLE_JIT": "1"}],
    ids=["another process", "another hash seed", "without JIT"],
)
def test_the_same_run_has_the_same_digest_elsewhere(settings_: dict[str, str]) -> None:
    elsewhere = {k: v for k, v in os.environ.items() if k != "NUMBA_DISABLE_JIT"} | settings_
    ran = subprocess.run(
        [sys.executable, "-c", CODE],
        capture_output=True,
        text=True,
        check=True,
        env={**elsewhere, "PYTHONPATH": os.pathsep.join(sys.path)},
    )
    assert ran.stdout.split() == [played()]


def test_seed_salt_and_every_action_change_the_run() -> None:
    digests = [played(), played(seed=4), played(key=2)]
    salted = Simulation(3, salt=1, business=tiny_business(days=DAYS))
    digests.append(finish(salted))
    assert len(set(digests)) == 4


def test_a_run_begun_anew_in_the_same_buffers_is_the_same_run() -> None:
    simulation = Simulation(9, business=tiny_business(days=DAYS))
    finish(simulation, key=5)
    simulation.restart(3)
    assert finish(simulation) == played()


def through_state(simulation: Simulation) -> Simulation:
    other = Simulation(0, business=simulation.business)
    other.set_state(simulation.get_state())
    return other


WAYS: dict[str, Any] = {
    "state": through_state,
    "copy": lambda s: s.copy(),
    "deepcopy": copy.deepcopy,
    "pickle": lambda s: pickle.loads(pickle.dumps(s)),  # noqa: S301  # bytes of this very test
}


@settings(max_examples=12)
@given(steps=st.integers(0, 50), way=st.sampled_from(sorted(WAYS)), seed=st.integers(0, 2**64 - 1))
def test_a_run_restored_at_any_step_goes_on_bit_for_bit(steps: int, way: str, seed: int) -> None:
    simulation = Simulation(seed, business=tiny_business(days=DAYS))
    for _ in range(steps):
        step(simulation)
    twin = WAYS[way](simulation)
    assert twin.digest() == simulation.digest()
    assert twin.get_state() == simulation.get_state()
    before = simulation.digest()
    ended = finish(twin)
    assert simulation.digest() == before, "a copy shares nothing"
    assert finish(simulation) == ended
    assert simulation.desk.array.tobytes() == twin.desk.array.tobytes()


@settings(max_examples=10)
@given(steps=st.integers(0, 40), stops=st.integers(0, 3))
def test_a_run_restored_between_two_stops_goes_on_bit_for_bit(steps: int, stops: int) -> None:
    simulation = Simulation(6, business=tiny_business(days=DAYS))
    for _ in range(steps):
        step(simulation)
    for _ in range(stops):
        if simulation.line is None:
            simulation.advance()
    twin = through_state(simulation)
    assert finish(twin) == finish(simulation)


def refuses(state: Any, code: str) -> None:
    simulation = Simulation(5, business=tiny_business(days=DAYS))
    step(simulation)
    before = simulation.get_state()
    with pytest.raises(StateError) as caught:
        simulation.set_state(state)
    assert caught.value.code == code
    assert len(str(caught.value).splitlines()) == 1
    assert simulation.get_state() == before


def test_bytes_that_are_no_state_are_refused_in_a_sentence() -> None:
    good = Simulation(5, business=tiny_business(days=DAYS)).get_state()
    refuses(b"", "state_foreign")
    refuses(b"PK\3\4 something else", "state_foreign")
    refuses("text", "state_foreign")
    refuses(None, "state_foreign")
    refuses(good[:16] + b"{broken" + good[16:], "state_damaged")
    refuses(good[:16] + b"[]\n", "state_damaged")
    refuses(good[:-1], "state_damaged")
    refuses(good + b"\0", "state_damaged")


def test_a_state_with_a_flipped_bit_is_refused() -> None:
    good = bytearray(Simulation(5, business=tiny_business(days=DAYS)).get_state())
    good[-20_000] ^= 1
    refuses(bytes(good), "state_damaged")


@pytest.mark.parametrize(
    ("changes", "days", "field"),
    [({"demand.gain": "0.09"}, DAYS, "scenario"), ({}, DAYS + 1, "days")],
)
def test_a_state_of_another_business_is_refused_by_name(
    changes: dict[str, Any], days: int, field: str
) -> None:
    state = Simulation(5, business=tiny_business(changes, days)).get_state()
    simulation = Simulation(5, business=tiny_business(days=DAYS))
    with pytest.raises(StateError, match=f"belongs to another {field}") as caught:
        simulation.set_state(state)
    assert (caught.value.code, caught.value.field) == ("state_mismatch", field)


def test_looking_changes_nothing() -> None:
    simulation = Simulation(5, business=tiny_business(days=DAYS))
    for _ in range(30):
        before = simulation.get_state()
        desk = simulation.desk
        assert desk.array.tobytes() == simulation.desk.array.tobytes()
        simulation.refusal(0, 1, 2)
        simulation.take_events()
        assert simulation.get_state() == before
        step(simulation)


def test_a_decision_leads_to_the_same_bytes_through_every_door() -> None:
    """The environment's compiled step and the company's own commands are one simulation."""
    env = TradesEnv(map=tiny_map(), days=DAYS)
    env.reset(seed=3)
    plain = Simulation(3, business=env.simulation.business)
    ended = False
    while not ended:
        assert plain.next_call() == Stop.NEW_CALL
        assert plain.digest() == env.simulation.digest()
        number = int(plain.record["line"])
        offer = (number % 4, number % 2, number % 6)
        allowed = plain.refusal(*offer) is None
        if allowed:
            plain.offer(*offer)
        else:
            plain.reject()
        _, _, ended, _, _ = env.step(np.array([int(allowed), *offer]))
