"""What the native batch cannot carry out gets one sentence that names what it can, and nothing has
changed in any of its runs.
"""

from __future__ import annotations

import copy
import os
from typing import Any

import gymnasium as gym
import numpy as np
import pytest
from gymnasium.vector import AutoresetMode

from tests.envs.batches import (
    NAME,
    any_actions,
    assert_same,
    batch_of,
    reject_all,
    whole_state,
)
from tests.envs.playing import assert_one_sentence
from tradesbench_gym.core import batch as compiled
from tradesbench_gym.envs import TradesEnv, TradesVectorEnv
from tradesbench_gym.errors import ActionError, ScenarioError, StateError, TradesBenchError

FLAGS = [True, False, True]


def _begun(**arguments: Any) -> TradesVectorEnv:
    batch = batch_of(3, days=1, **arguments)
    batch.reset(seed=2)
    return batch


def _whole(first: Any) -> Any:
    """Three actions, the first of them as given."""
    return [first, [0, 0, 0, 0], [0, 0, 0, 0]]


MALFORMED: dict[str, Any] = {
    "nothing": None,
    "text": "reject",
    "one number": 1,
    "one action": np.zeros(4, np.int64),
    "one action in a batch": np.zeros((1, 4), np.int64),
    "one too few": np.zeros((2, 4), np.int64),
    "one too many": np.zeros((4, 4), np.int64),
    "too short": np.zeros((3, 3), np.int64),
    "too long": np.zeros((3, 5), np.int64),
    "turned": np.zeros((4, 3), np.int64),
    "flat": np.zeros(12, np.int64),
    "one axis more": np.zeros((3, 4, 1), np.int64),
    "empty": np.zeros((0, 4), np.int64),
    "floats": np.zeros((3, 4)),
    "whole floats": np.ones((3, 4), np.float32),
    "a nan": _whole([1, float("nan"), 0, 0]),
    "an infinity": _whole([1, float("inf"), 0, 0]),
    "bools": np.zeros((3, 4), np.bool_),
    "complex": np.zeros((3, 4), complex),
    "objects": np.zeros((3, 4), object),
    "dates": np.zeros((3, 4), "datetime64[s]"),
    "numbers in text": _whole(["1", "0", "0", "0"]),
    "beyond 64 bits": _whole([1, 2**70, 0, 0]),
    "ragged": _whole([1, 0, 0]),
    "nested": _whole([1, [0, 0], 0, 0]),
    "a dictionary": {"accept": [1, 1, 1]},
    "a set": {1, 2, 3},
    "a generator": (number for number in range(3)),
    "an object": object(),
}


@pytest.mark.parametrize("strict", [False, True])
@pytest.mark.parametrize("kind", MALFORMED)
def test_what_are_no_actions_raises_one_sentence_and_changes_nothing(
    kind: str, strict: bool
) -> None:
    batch = _begun(strict=strict)
    state = whole_state(batch)
    with pytest.raises(ActionError, match=r"\(3, 4\)") as caught:
        batch.step(MALFORMED[kind])
    assert_one_sentence(caught.value)
    assert (caught.value.code, caught.value.field) == ("malformed_action", "action")
    assert whole_state(batch) == state


SEEDS: list[tuple[Any, type[TradesBenchError], str]] = [
    (-1, StateError, "0 to 2"),
    (2**64, StateError, "0 to 2"),
    (2**64 - 2, StateError, "0 to 2"),  # two of three runs would have a number
    (1.0, StateError, "whole number"),
    (float("nan"), StateError, "nan"),
    (True, StateError, "True"),
    ("7", StateError, "'7'"),
    (np.array(7), StateError, "whole number"),
    ({1, 2, 3}, StateError, "whole number"),
    ({"seed": 1}, StateError, "whole number"),
    (range(3), StateError, "whole number"),
    ([1, 2], ActionError, "each of 3"),
    ([1, 2, 3, 4], ActionError, "each of 3"),
    ([], ActionError, "each of 3"),
    ((1,), ActionError, "each of 3"),
    (np.arange(4), ActionError, "each of 3"),
    ([1, 2, -3], StateError, "-3"),
    ([1, 2, 2**64], StateError, "0 to 2"),
    ([1, 2, 0.5], StateError, "0.5"),
    ([1, None, "3"], StateError, "'3'"),
    ([1, [2], 3], StateError, "whole number"),
    (np.zeros((3, 2), np.int64), StateError, "whole number"),
    (np.zeros(3), StateError, "whole number"),
]


@pytest.mark.parametrize(("seed", "kind", "words"), SEEDS, ids=[repr(seed) for seed, *_ in SEEDS])
def test_a_seed_that_is_none_raises_one_sentence_and_changes_nothing(
    seed: Any, kind: type[TradesBenchError], words: str
) -> None:
    batch = _begun()
    state = whole_state(batch)
    with pytest.raises(kind) as caught:
        batch.reset(seed=seed)
    assert_one_sentence(caught.value)
    assert caught.value.field == "seed"
    assert words in caught.value.message
    assert whole_state(batch) == state


OPTIONS: list[tuple[Any, type[TradesBenchError], str]] = [
    ({"reset_mask": FLAGS}, ActionError, "3 bools"),
    ({"reset_mask": None}, ActionError, "3 bools"),
    ({"reset_mask": True}, ActionError, "3 bools"),
    ({"reset_mask": np.array([1, 0, 1])}, ActionError, "3 bools"),
    ({"reset_mask": np.array(FLAGS, object)}, ActionError, "3 bools"),
    ({"reset_mask": np.array([True])}, ActionError, "3 bools"),
    ({"reset_mask": np.array([FLAGS])}, ActionError, "3 bools"),
    ({"reset_mask": np.array(True)}, ActionError, "3 bools"),
    ({"reset_mask": np.zeros(3, np.bool_)}, ActionError, "no environment"),
    ({"reset_mask": np.array(FLAGS), "sault": 3}, ActionError, "'salt'"),
    ({"sault": 3}, ActionError, "'salt'"),
    ({3: 4}, ActionError, "'salt'"),
    ([], ActionError, "dictionary"),
    ("salt", ActionError, "dictionary"),
    ({"salt": -1}, StateError, "0 to 2"),
    ({"salt": 2**64}, StateError, "0 to 2"),
    ({"salt": None}, StateError, "None"),
    ({"salt": [1, 2, 3]}, StateError, "whole number"),
    ({"salt": "s", "reset_mask": np.array(FLAGS)}, StateError, "'s'"),
]


@pytest.mark.parametrize(
    ("options", "kind", "words"), OPTIONS, ids=[repr(options) for options, *_ in OPTIONS]
)
def test_options_that_are_none_raise_one_sentence_and_change_nothing(
    options: Any, kind: type[TradesBenchError], words: str
) -> None:
    batch = _begun()
    state = whole_state(batch)
    with pytest.raises(kind) as caught:
        batch.reset(seed=9, options=options)
    assert_one_sentence(caught.value)
    assert words in caught.value.message
    assert whole_state(batch) == state


# Where the system does not tell how much memory there is, nothing is refused.
TOO_MANY = (10**9, 10**30) if "SC_PHYS_PAGES" in getattr(os, "sysconf_names", {}) else ()
ARGUMENTS: list[tuple[str, Any, type[TradesBenchError], tuple[str, ...]]] = [
    *(
        (name, value, ActionError, ("1 or more",))
        for name in ("num_envs", "threads")
        for value in (0, -1, 1.0, "2", True, float("nan"), [3], np.array(3))
    ),
    ("num_envs", None, ActionError, ("1 or more",)),
    *(
        ("autoreset_mode", value, ActionError, ("'NextStep'", "'SameStep'", "'Disabled'"))
        for value in ("nextstep", "NEXT_STEP", "", None, 0, True, np.array(["NextStep"]))
    ),
    *(("copy", value, ActionError, ("False", "True")) for value in ("yes", None, 1)),
    *(("strict", value, ActionError, ("False", "True")) for value in ("yes", None, 0)),
    *(("observation", value, ActionError, ("'desk'", "'planned'")) for value in ("Desk", None, 1)),
    *(("render_mode", value, ActionError, ("'ansi'",)) for value in ("human", "rgb", 1)),
    *(("num_envs", value, ActionError, ("runs at most",)) for value in TOO_MANY),
    ("days", 0, ScenarioError, ("1 to 31",)),
    ("days", 1.5, ScenarioError, ("1 to 31",)),
    ("start_date", "July", ScenarioError, ("2026-10-01",)),
    ("scenario", "moonridge", ScenarioError, ("sunridge",)),
]


@pytest.mark.parametrize(
    ("name", "value", "kind", "words"),
    ARGUMENTS,
    ids=[f"{name}={value!r}" for name, value, *_ in ARGUMENTS],
)
def test_an_argument_that_cannot_be_gets_a_sentence_that_names_what_can(
    name: str, value: Any, kind: type[TradesBenchError], words: tuple[str, ...]
) -> None:
    with pytest.raises(kind) as caught:
        TradesVectorEnv(**{name: value})
    assert_one_sentence(caught.value)
    assert caught.value.field == name
    for word in words:
        assert word in caught.value.message


def test_make_vec_hands_the_same_sentence_on() -> None:
    with pytest.raises(ScenarioError, match="1 to 31"):
        gym.make_vec(NAME, num_envs=2, days=32)
    with pytest.raises(ActionError, match="1 or more"):
        gym.make_vec(NAME, num_envs=0)
    with pytest.raises(TypeError, match="wheather"):
        gym.make_vec(NAME, num_envs=2, wheather="fine")


@pytest.mark.parametrize("number", [3, np.int64(3), np.uint8(3)])
def test_whole_numbers_of_any_kind_count_environments(number: Any) -> None:
    batch: Any = TradesVectorEnv(number, days=1, threads=number)
    batch.reset(seed=np.int64(3))
    assert type(batch.num_envs) is int
    assert batch.observation_space["cash"].shape == (3, 1)
    assert len(batch.step(batch.action_space.sample())[1]) == 3


@pytest.mark.parametrize("mode", [*AutoresetMode, *(mode.value for mode in AutoresetMode)])
def test_a_mode_may_be_named_or_given_as_gymnasium_has_it(mode: Any) -> None:
    batch = TradesVectorEnv(1, autoreset_mode=mode)
    assert batch.autoreset_mode is batch.metadata["autoreset_mode"] is AutoresetMode(mode)


def test_a_strict_batch_names_the_first_environment_at_fault_and_changes_nothing_in_any() -> None:
    batch, twin = _begun(strict=True), _begun(strict=True)
    single = TradesEnv(days=1, strict=True)
    for action in ([1, 4, 0, 0], [1, 0, 14, 0], [1, 0, 0, 6], [1, 1, 0, 5], [2, 0, 0, 0]):
        actions = np.array([[1, 0, 1, 2], action, [1, 99, 99, 99]])
        state = whole_state(batch)
        single.reset(seed=3)
        with pytest.raises(ActionError) as alone:
            single.step(np.array(action))
        with pytest.raises(ActionError) as caught:
            batch.step(actions)
        assert_one_sentence(caught.value)
        assert (caught.value.code, caught.value.field) == (alone.value.code, alone.value.field)
        assert caught.value.message.startswith("environment 1: ")
        assert whole_state(batch) == state
    assert_same(batch.step(reject_all(3)), twin.step(reject_all(3)))


def test_a_strict_and_a_lenient_batch_say_the_same() -> None:
    strict, lenient, random = _begun(strict=True), _begun(), np.random.default_rng(8)
    refused = 0
    for _ in range(60):
        masks = lenient.action_masks()
        actions = any_actions(random, masks)
        answered = lenient.step(actions)[4]
        if "error" in answered:
            refused += 1
            first = int(np.flatnonzero(answered["_error"])[0])
            with pytest.raises(ActionError) as caught:
                strict.step(actions)
            said = answered["error"]["message"][first]
            assert caught.value.message == f"environment {first}: {said}"
            actions[answered["_error"]] = 0
        strict.step(actions)
    assert refused >= 20


def test_a_strict_batch_asks_nothing_of_a_run_that_is_to_be_begun_anew() -> None:
    batch = _begun(strict=True)
    while not (ended := batch.step(reject_all(3))[2]).any():
        pass
    actions = reject_all(3)
    actions[ended] = 99
    batch.step(actions)


def test_a_step_before_the_first_reset_is_refused() -> None:
    for strict in (False, True):
        batch = batch_of(3, days=1, strict=strict)
        with pytest.raises(ActionError, match=r"environment 0: .*reset\(\)") as caught:
            batch.step(reject_all(3))
        assert caught.value.code == "reset_needed"


def test_a_step_is_refused_until_every_environment_has_begun_a_run() -> None:
    batch = batch_of(3, days=1)
    batch.reset(seed=1, options={"reset_mask": np.array([True, False, True])})
    state = whole_state(batch)
    with pytest.raises(ActionError, match="environment 1: ") as caught:
        batch.step(reject_all(3))
    assert caught.value.code == "reset_needed"
    assert whole_state(batch) == state
    batch.reset(seed=1, options={"reset_mask": np.array([False, True, False])})
    batch.step(reject_all(3))


def test_a_batch_that_never_began_a_run_can_be_looked_at() -> None:
    batch = batch_of(3, days=1, render_mode="ansi")
    assert batch.action_masks().sum(1).tolist() == [1, 1, 1]
    assert batch.render() == (TradesEnv(days=1, render_mode="ansi").render(),) * 3


def test_an_ended_run_is_not_stepped_where_autoreset_is_disabled() -> None:
    batch = batch_of(3, days=1, autoreset_mode="Disabled")
    batch.reset(seed=1)
    while not (ended := batch.step(reject_all(3))[2]).any():
        pass
    state, first = whole_state(batch), int(np.flatnonzero(ended)[0])
    for _ in range(2):
        with pytest.raises(ActionError, match=rf"environment {first}: .*reset\(\)") as caught:
            batch.step(reject_all(3))
        assert caught.value.code == "reset_needed"
        assert whole_state(batch) == state
    batch.reset(options={"reset_mask": ended})
    assert not batch.step(reject_all(3))[2][ended].any()


def test_no_argument_makes_a_kernel_compile_anew() -> None:
    """Compiling takes seconds; each kernel of the batch has one signature for a size class."""
    batch = batch_of(3, days=1, strict=True)
    batch.reset(seed=1)
    fixed = reject_all(3)
    fixed.flags.writeable = False
    kinds: tuple[Any, ...] = (
        fixed,
        np.asfortranarray(fixed),
        np.asfortranarray(fixed, np.int32),
        np.broadcast_to(np.int64(0), (3, 4)),
        fixed.astype(">i8"),
        fixed.astype(np.uint8).tolist(),
        np.frombuffer(b"x" + bytes(96), np.int64, 12, 1).reshape(3, 4),
    )
    for actions in kinds:
        batch.step(actions)
    mask = np.array([True, False, True])
    mask.flags.writeable = False
    batch.reset(seed=np.arange(3), options={"reset_mask": mask, "salt": np.int8(3)})  # type: ignore[arg-type]
    batch.reset(seed=[2**64 - 1, None, 3])
    copy.deepcopy(batch).step(fixed)
    batch.action_masks()
    for name, kernel in vars(compiled).items():
        signatures = getattr(kernel, "signatures", [])
        assert len({signature[0] for signature in signatures}) == len(signatures), name
