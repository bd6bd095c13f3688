"""A saved, copied or pickled environment continues bit for bit; foreign bytes are refused."""

from __future__ import annotations

import copy
import hashlib
import json
import pickle
import re
from collections.abc import Callable
from typing import Any

import gymnasium as gym
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.envs.playing import (
    REJECT,
    Action,
    any_action,
    assert_one_sentence,
    episode,
    frozen,
    in_another_process,
    legal_offer,
    offer,
    tiny_env,
)
from tradesbench_gym.envs import TradesEnv
from tradesbench_gym.errors import ActionError, StateError

DAYS = 6


def _script(env: TradesEnv, seed: int) -> list[Action]:
    """The actions of a run, legal and illegal ones, so that every copy can take the same."""
    taken: list[Action] = []

    def choose(random: np.random.Generator, inner: TradesEnv, info: dict[str, Any]) -> Action:
        how = legal_offer if random.random() < 0.8 else any_action
        taken.append(how(random, inner, info))
        return taken[-1]

    list(episode(env, seed, choose))
    return taken


def _continued(env: TradesEnv, actions: list[Action]) -> Any:
    """Everything the rest of a run shows, and two more runs drawn from np_random."""
    shown = [frozen(env.observe())]
    shown += [frozen(env.step(action)) for action in actions]
    shown += [frozen((env.reset(), env.step(REJECT))) for _ in range(2)]
    return shown


def _by_state(env: TradesEnv) -> TradesEnv:
    other = TradesEnv(days=DAYS, observation="planned")
    other.reset(seed=999)
    other.step(REJECT)
    other.set_state(env.get_state())
    return other


WAYS: dict[str, Callable[[TradesEnv], TradesEnv]] = {
    "get_state": _by_state,
    "deepcopy": copy.deepcopy,
    "pickle": lambda env: pickle.loads(pickle.dumps(env)),  # noqa: S301 - its own bytes
}


@pytest.mark.parametrize("way", list(WAYS))
def test_a_copy_made_at_any_step_continues_bit_for_bit(way: str) -> None:
    env = TradesEnv(days=DAYS, observation="planned")
    actions = _script(env, 31)
    env.reset(seed=31)
    copies = []
    for step, action in enumerate(actions):
        if step % 6 == 0:
            copies.append((WAYS[way](env), env.get_state(), actions[step:]))
        env.step(action)
    copies.append((WAYS[way](env), env.get_state(), []))
    for twin, state, rest in copies:
        assert twin.get_state() == state
        env.set_state(state)
        assert _continued(twin, rest) == _continued(env, rest)


def test_a_copy_and_the_original_do_not_share_anything_that_changes() -> None:
    env = TradesEnv(days=DAYS)
    env.reset(seed=1)
    for way in WAYS.values():
        before = env.get_state()
        if way is _by_state:
            continue
        twin = way(env)
        for _ in range(10):
            twin.step(offer(0, 1, 2))
        twin.reset()
        assert env.get_state() == before


def test_setting_the_state_of_every_step_goes_back_there() -> None:
    env = TradesEnv(days=2, observation="planned")
    states, shown = [], []
    for moment in episode(env, 8):
        states.append(env.get_state())
        shown.append(frozen(moment.observation))
    for place in np.random.default_rng(1).permutation(len(states)).tolist():
        env.set_state(states[place])
        assert env.get_state() == states[place]
        assert frozen(env.observe()[0]) == shown[place]


def test_a_state_continues_in_another_process(tmp_path: Any) -> None:
    env = TradesEnv(days=2)
    for _ in zip(range(15), episode(env, 3), strict=False):
        pass
    saved = tmp_path / "state"
    saved.write_bytes(env.get_state())
    code = f"""
from pathlib import Path
from tests.envs.playing import REJECT, TradesEnv, frozen
env = TradesEnv(days=2)
env.set_state(Path({str(saved)!r}).read_bytes())
print(frozen((env.step(REJECT), env.reset())))
"""
    assert in_another_process(code) == str(frozen((env.step(REJECT), env.reset())))


def test_an_environment_made_by_name_can_be_copied_too() -> None:
    env = gym.make("tradesbench_gym:TradesBench-v0", days=2)
    env.reset(seed=4)
    env.step(REJECT)
    twins = [env, copy.deepcopy(env), pickle.loads(pickle.dumps(env))]  # noqa: S301 - its own bytes
    assert len({str(frozen((twin.step(REJECT), twin.reset()))) for twin in twins}) == 1


def test_a_state_of_an_ended_or_fresh_environment_waits_for_reset() -> None:
    fresh, ended = TradesEnv(days=1), TradesEnv(days=1)
    list(episode(ended, 1))
    for source in (fresh, ended):
        env = TradesEnv(days=1)
        env.reset(seed=5)
        env.set_state(source.get_state())
        with pytest.raises(ActionError, match=r"reset\(\)"):
            env.step(REJECT)
        assert env.reset()[1]["run_seed"] == source.reset()[1]["run_seed"]


def test_events_not_yet_taken_do_not_survive_a_set_state() -> None:
    env = TradesEnv(days=2)
    env.reset(seed=2)
    state = env.get_state()
    env.step(REJECT)
    env.set_state(state)
    assert env.take_events() == []


@pytest.fixture
def midway() -> TradesEnv:
    env = TradesEnv(days=2)
    for _ in zip(range(12), episode(env, 3), strict=False):
        pass
    return env


def _refused(env: TradesEnv, state: Any) -> StateError:
    """The error; nothing has changed and the run goes on as if nothing had been tried."""
    before, shown, masks = env.get_state(), frozen(env.observe()), env.action_masks()
    with pytest.raises(StateError) as caught:
        env.set_state(state)
    assert_one_sentence(caught.value)
    assert env.get_state() == before
    assert frozen(env.observe()) == shown
    np.testing.assert_array_equal(env.action_masks(), masks)
    env.step(REJECT)
    env.set_state(before)
    return caught.value


def _parts(state: bytes) -> tuple[bytes, dict[str, Any], bytes]:
    """Magic word, the header of the loop, and the bytes of the run."""
    magic, _, text, run = state.split(b"\n", 3)
    return magic, json.loads(text), run


def _joined(magic: bytes, header: bytes, run: bytes, *, sealed: bool) -> bytes:
    body = header + b"\n" + run
    digest = hashlib.sha256(body if sealed else b"").hexdigest().encode()
    return b"\n".join((magic, digest, body))


FOREIGN: list[Any] = [
    b"",
    b"\n",
    b"hello",
    "text",
    None,
    5,
    bytearray(b"TRADESBENCH"),
    b"\x80\x04N.",
]


@pytest.mark.parametrize("state", FOREIGN, ids=repr)
def test_bytes_that_are_no_state_are_refused(midway: TradesEnv, state: Any) -> None:
    assert _refused(midway, state).code == "state_foreign"


def test_the_state_of_a_bare_run_is_no_state_of_an_environment(midway: TradesEnv) -> None:
    assert _refused(midway, midway.simulation.get_state()).code == "state_foreign"
    with pytest.raises(StateError) as caught:
        midway.simulation.set_state(midway.get_state())
    assert caught.value.code == "state_foreign"


def _damages(state: bytes) -> dict[str, bytes]:
    magic, digest, body = state.split(b"\n", 2)
    header = _parts(state)[1]
    changed = {**header, "run_seed": 5}
    return {
        "no end": state[:-1],
        "one byte more": state + b"\0",
        "half": state[: len(state) // 2],
        "magic only": magic + b"\n",
        "no body": magic + b"\n" + digest + b"\n",
        "no digest": magic + b"\n\n" + body,
        "another digest": b"\n".join((magic, digest[::-1], body)),
        "no text": b"\n".join((magic, b"\xff\xfe", body)),
        "another run": state.replace(json.dumps(header).encode(), json.dumps(changed).encode()),
        "twice": state + state,
    }


def test_damaged_bytes_are_refused(midway: TradesEnv) -> None:
    for name, state in _damages(midway.get_state()).items():
        assert _refused(midway, state).code.startswith("state_"), name


@pytest.mark.parametrize("share", [0.1, 0.5, 0.9, 1.0])
def test_one_changed_bit_of_the_run_is_noticed(midway: TradesEnv, share: float) -> None:
    state = midway.get_state()
    body = len(state) - midway.simulation.business.run_dtype.itemsize
    place = int(body + share * (len(state) - body - 1))
    flipped = bytes([state[place] ^ 1])
    error = _refused(midway, state[:place] + flipped + state[place + 1 :])
    assert error.code == "state_damaged"


@pytest.mark.parametrize(
    ("other", "field"),
    [
        (lambda: TradesEnv(days=3), "days"),
        (lambda: TradesEnv(days=31), "layout"),
        (lambda: TradesEnv(days=2, start_date="2026-10-02"), "start_date"),
        (lambda: tiny_env(days=2), "map"),
        (lambda: tiny_env({"pay.overhead": 1}, days=2), "scenario"),
    ],
    ids=["days", "size class", "start date", "map", "scenario"],
)
def test_a_state_of_another_business_is_refused_by_name(
    midway: TradesEnv, other: Callable[[], TradesEnv], field: str
) -> None:
    stranger = other()
    stranger.reset(seed=1)
    error = _refused(midway, stranger.get_state())
    assert error.code == "state_mismatch"
    assert error.field in {field, "scenario"}
    assert str(error.field).replace("_", " ") in error.message


def test_a_state_of_other_rules_is_refused_by_name(midway: TradesEnv) -> None:
    magic, header, run = _parts(midway.get_state())
    older = re.sub(rb'"rules": \d+', b'"rules": 999', run, count=1)
    assert older != run
    state = _joined(magic, json.dumps(header).encode(), older, sealed=True)
    error = _refused(midway, state)
    assert (error.code, error.field) == ("state_mismatch", "rules")


@pytest.mark.parametrize(
    "header",
    [b"{", b"[1, 2]", b"{}", b'{"random": null}', b"\xff\xfe"],
    ids=["no JSON", "a list", "empty", "no generator", "no text"],
)
def test_a_sealed_state_of_another_make_is_refused_in_a_sentence(
    midway: TradesEnv, header: bytes
) -> None:
    """As another release would write it, whose loop keeps other things."""
    magic, _, run = _parts(midway.get_state())
    assert _refused(midway, _joined(magic, header, run, sealed=True)).code.startswith("state_")


def test_planned_and_plain_observations_share_their_states(midway: TradesEnv) -> None:
    planned = TradesEnv(days=2, observation="planned")
    planned.set_state(midway.get_state())
    assert planned.get_state() == midway.get_state()
    seen, plain = planned.observe()[0], midway.observe()[0]
    assert frozen({name: seen[name] for name in plain}) == frozen(plain)


@settings(max_examples=60)
@given(data=st.data())
def test_no_damage_to_a_header_raises_anything_but_a_state_error(data: st.DataObject) -> None:
    env = TradesEnv(days=2)
    env.reset(seed=3)
    before = env.get_state()
    length = len(before) - len(_parts(before)[2])
    place = data.draw(st.integers(0, length))
    piece = data.draw(st.binary(max_size=3))
    state = before[:place] + piece + before[place + data.draw(st.integers(0, 40)) :]
    try:
        env.set_state(state)
    except StateError as error:
        assert_one_sentence(error)
        assert env.get_state() == before


def test_another_kind_of_generator_is_refused_in_a_sentence() -> None:
    env = TradesEnv(days=2)
    env.reset(seed=3)
    env.np_random = np.random.Generator(np.random.MT19937(1))
    with pytest.raises(StateError, match="MT19937") as caught:
        env.get_state()
    assert_one_sentence(caught.value)
