"""The two records: no padding, no floats, and DESK holds every public field and no hidden one."""

from __future__ import annotations

import os
import subprocess
import sys
from typing import Any

import numba
import numpy as np
import pytest

from tests.worlds import tiny_business
from tradesbench_gym.company.simulation import Simulation
from tradesbench_gym.core import desk as desk_view
from tradesbench_gym.core.codes import CallState, Stop
from tradesbench_gym.core.layout import (
    FIELDS,
    HANDBOOK,
    LOG,
    LOG_EVENTS,
    LOG_ROOM,
    MAX_TECHNICIANS,
    PARAMS,
    PLAN,
    desk_dtype,
    run_dtype,
)

RECORDS = [
    run_dtype(14),
    run_dtype(31),
    desk_dtype(14),
    desk_dtype(31),
    PARAMS,
    LOG,
    PLAN,
    HANDBOOK,
]
NESTED = {"technicians": "technician", "days": "day", "calls": "call", "due": "due"}
SHARED = ("route", "forecast")
UNSEEN = ("due", "lost", "sky", "doubt")


def leaves(dtype: np.dtype[Any]) -> list[np.dtype[Any]]:
    if dtype.names is None:
        return [dtype]
    return [leaf for name in dtype.names for leaf in leaves(dtype[name].base)]


def size_of(dtype: np.dtype[Any]) -> int:
    """Bytes of the fields, without what may lie between them."""
    if dtype.names is None:
        return dtype.itemsize
    return sum(
        size_of(dtype[name].base) * int(np.prod(dtype[name].shape, dtype=int))
        for name in dtype.names
    )


@pytest.mark.parametrize("dtype", RECORDS)
def test_no_record_has_padding(dtype: np.dtype[Any]) -> None:
    assert size_of(dtype) == dtype.itemsize


@pytest.mark.parametrize("dtype", RECORDS)
def test_no_record_holds_a_float(dtype: np.dtype[Any]) -> None:
    assert {leaf.kind for leaf in leaves(dtype)} <= {"i", "u"}


@pytest.mark.parametrize("dtype", RECORDS)
def test_every_number_is_little_endian_so_that_digests_agree(dtype: np.dtype[Any]) -> None:
    assert all(leaf.str[0] in "<|" for leaf in leaves(dtype))


def test_the_log_has_room_for_the_largest_change() -> None:
    """Each of eight people paid twice, the overhead, bankrupt, the end, the day: 2 · 8 + 1 + 3."""
    assert 2 * MAX_TECHNICIANS + 4 <= LOG_ROOM < LOG_EVENTS


def test_every_field_says_its_unit_its_meaning_and_who_may_see_it() -> None:
    for fields in FIELDS.values():
        for field in fields:
            assert field.seen in {"desk", "done", "hidden"}
            assert field.meaning


def poisoned(seed: int) -> Simulation:
    """A simulation at a call whose record is filled with random bytes, and only its counts are
    sane.
    """
    simulation = Simulation(seed, business=tiny_business())
    simulation.next_call()
    run = simulation.record
    rng = np.random.default_rng(seed)
    raw = simulation._runs.view(np.uint8)
    raw[:] = rng.integers(1, 256, raw.shape, np.uint8)
    run["n_calls"], run["day"], run["line"] = 25, 6, 24
    return simulation


def seen_by(simulation: Simulation) -> Any:
    desks = simulation.business.new_desks()
    desk_view.fill(simulation._runs, 0, desks, 0)
    return desks[0]


@pytest.mark.parametrize("seed", [1, 2])
def test_desk_holds_every_public_field_as_it_is(seed: int) -> None:
    simulation = poisoned(seed)
    run, desk = simulation.record, seen_by(simulation)
    run["calls"]["state"][:25] = np.arange(25) % len(CallState)
    desk = seen_by(simulation)
    for field in FIELDS["run"]:
        if field.seen == "desk":
            assert np.array_equal(desk[field.name], run[field.name]), field.name
    for table, kind in NESTED.items():
        if table in UNSEEN:
            continue
        rows = {"technicians": MAX_TECHNICIANS, "days": 7, "calls": 25}[table]
        for field in FIELDS[kind]:
            if field.seen == "desk":
                assert np.array_equal(
                    desk[table][field.name][:rows], run[table][field.name][:rows]
                ), (table, field.name)
    for name in SHARED:
        assert np.array_equal(desk[name], run[name])


@pytest.mark.parametrize("seed", [1, 2])
def test_what_a_job_brings_is_seen_once_it_is_done(seed: int) -> None:
    simulation = poisoned(seed)
    calls = simulation.record["calls"]
    calls["state"][:25] = np.arange(25) % len(CallState)
    desk, done = seen_by(simulation), calls["state"][:25] == CallState.DONE
    for field in FIELDS["call"]:
        if field.seen == "done":
            expected = np.where(done, calls[field.name][:25], 0)
            assert np.array_equal(desk["calls"][field.name][:25], expected)


def test_desk_has_no_hidden_field_at_all() -> None:
    desk = desk_dtype(14)
    hidden = {
        kind: {field.name for field in fields if field.seen == "hidden"}
        for kind, fields in FIELDS.items()
    }
    assert desk.names is not None
    assert not set(desk.names) & (hidden["run"] | set(UNSEEN))
    for table, kind in NESTED.items():
        if table in desk.names:
            names = set(desk[table].base.names or ())
            assert names == {f.name for f in FIELDS[kind]} - hidden[kind]
    for name in ("seed", "salt", "level"):
        assert name in hidden["run"]
    for name in ("cancel_at", "metres", "anchor", "leg", "from_day", "from_index", "stream"):
        assert name in hidden["call"]


def test_nothing_of_calls_and_days_to_come_is_in_desk() -> None:
    desk = seen_by(poisoned(3))
    assert not desk["calls"][25:].tobytes().strip(b"\0")
    assert not desk["days"][7:].tobytes().strip(b"\0")


def scramble(simulation: Simulation, rng: np.random.Generator) -> None:
    """Give everything hidden other values, all that is public left as it is."""
    run = simulation.record
    for table, kind in (("", "run"), *NESTED.items()):
        record = run[table] if table else run
        for field in FIELDS[kind]:
            if field.seen == "hidden" or table in UNSEEN:
                place = record[field.name]
                record[field.name] = rng.integers(0, 100, place.shape)
            elif field.seen == "done":
                done = record["state"] == CallState.DONE
                record[field.name] += np.where(done, 0, 7).astype(record[field.name].dtype)
    run["lost"] = rng.integers(0, 2, run["lost"].shape)
    for name in ("high", "condition"):
        run["sky"][name] = rng.integers(0, 7, run["sky"].shape)


def test_two_runs_that_differ_only_in_hidden_state_look_the_same_to_a_dispatcher() -> None:
    one = Simulation(4, business=tiny_business())
    rng = np.random.default_rng(0)
    for step in range(60):
        if one.next_call() != Stop.NEW_CALL:
            break
        two = one.copy()
        scramble(two, rng)
        assert one.desk.array.tobytes() == two.desk.array.tobytes()
        assert one.get_state() != two.get_state()
        _answer(one, step)


def _answer(simulation: Simulation, step: int) -> None:
    offer = (step % 4, step % 3, step % 6)
    if simulation.refusal(*offer) is None:
        simulation.offer(*offer)
    else:
        simulation.reject()


def test_the_desk_can_be_looked_at_at_every_stop_the_last_close_included() -> None:
    """Nobody calls; what is hidden of the day's calls must not show where calls would stand."""
    quiet = {
        "demand.start": 0,
        "demand.other_min": 0,
        "demand.other_max": 0,
        "demand.installations": {"0": 1},
        "pay.starting_cash": 10**6,
    }
    simulation = Simulation(4, business=tiny_business(quiet))
    while not simulation.ended:
        simulation.advance()
        for name in ("at", "index", "stream"):
            simulation.record["due"][name] = 7
        desk = simulation.desk
        assert not desk["calls"].tobytes().strip(b"\0"), f"day {simulation.day}"
        assert desk["day"] == simulation.day


SIGNATURES = """
import importlib, pkgutil
import numpy as np
import tradesbench_gym.core as core
from tests.worlds import tiny_business
from tradesbench_gym.company.play import play
from tradesbench_gym.company.simulation import Simulation
from tradesbench_gym.envs.trades_env import TradesEnv
from tradesbench_gym.policies import make_policy
from tests.worlds import tiny_map
for name in ("oracle", "planner", "accept-all", "reject-heavy", "do-nothing"):
    play(Simulation(1, business=tiny_business()), make_policy(name, seed=1))
for seen in ("desk", "planned"):
    env = TradesEnv(map=tiny_map(), observation=seen)
    env.reset(seed=1)
    env.action_space.seed(1)
    ended = False
    while not ended:
        _, _, ended, _, _ = env.step(env.action_space.sample())
found = 0
for module in pkgutil.walk_packages(core.__path__, core.__name__ + "."):
    for name, thing in vars(importlib.import_module(module.name)).items():
        if hasattr(thing, "signatures") and thing.py_func.__module__ == module.name:
            assert len(thing.signatures) <= 1, (module.name, name, thing.signatures)
            found += len(thing.signatures)
print(found)
"""


@pytest.mark.skipif(numba.config.DISABLE_JIT, reason="nothing is compiled")
def test_every_kernel_is_compiled_for_one_signature_and_no_more() -> None:
    ran = subprocess.run(
        [sys.executable, "-W", "ignore", "-c", SIGNATURES],
        capture_output=True,
        text=True,
        check=False,
        env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)},
    )
    assert ran.returncode == 0, ran.stderr
    assert int(ran.stdout) >= 8
