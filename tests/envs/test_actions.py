"""What becomes of an action: legal, illegal or no action at all, in lenient and in strict mode."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
import pytest

from tests.envs.playing import (
    REJECT,
    assert_one_sentence,
    frozen,
    offer,
    wait_for,
)
from tradesbench_gym.core import step as compiled
from tradesbench_gym.core.codes import Refusal
from tradesbench_gym.envs import TradesEnv
from tradesbench_gym.errors import ActionError

SEED = 4
# For an installation customer who rings after nine on a weekday each of these is refused.
ILLEGAL = [
    ("unknown_technician", "technician", offer(4, 0, 5), "Katherine"),
    ("unknown_technician", "technician", offer(-1, 0, 5), "0 to 3"),
    ("unknown_technician", "technician", offer(2**40, 0, 5), "0 to 3"),
    ("unknown_window", "window", offer(0, 0, 6), "0 to 5"),
    ("unknown_window", "window", offer(0, 0, -(2**62)), "0 to 5"),
    ("beyond_horizon", "day", offer(0, 14, 0), "13"),
    ("beyond_horizon", "day", offer(0, -1, 0), "13"),
    ("window_started", "window", offer(0, 0, 0), "07:00-09:00"),
    ("off_shift", "technician", offer(1, 0, 5), "Diana Chen"),
    ("installation_off_hours", "window", offer(0, 0, 5), "evening"),
    ("unknown_answer", "accept", np.array([2, 0, 0, 0]), "0 or 1"),
    ("unknown_answer", "accept", np.array([-1, 0, 0, 0]), "0 or 1"),
    ("unknown_answer", "accept", np.array([2**63 - 1, 9, 99, 9]), "0 or 1"),
]
each_illegal = pytest.mark.parametrize(
    ("code", "field", "action", "words"),
    ILLEGAL,
    ids=[
        f"{code} {action[1:] if code != 'unknown_answer' else action[0]}"
        for code, _, action, _ in ILLEGAL
    ],
)


def _installation_after_nine(seen: dict[str, npt.NDArray[Any]]) -> bool:
    return bool(seen["call"][1] == 1 and seen["time"][1] > 9 and seen["time"][2] < 5)


def _waiting(**arguments: Any) -> TradesEnv:
    env = TradesEnv(**arguments)
    wait_for(env, SEED, _installation_after_nine)
    return env


def test_every_refusal_there_is_is_tried_here() -> None:
    tried = {code for code, *_ in ILLEGAL} - {"unknown_answer"}
    named = {why.name.lower() for why in Refusal}
    assert tried == named - {"none", "no_call"}


@each_illegal
def test_an_illegal_offer_counts_as_rejected_and_says_why(
    code: str, field: str, action: npt.NDArray[np.int64], words: str
) -> None:
    env = _waiting()
    rejected = env.desk["days"]["rejected"].sum()
    _, _, _, _, info = env.step(action)
    error = info["error"]
    assert set(error) == {"code", "message", "field"}
    assert (error["code"], error["field"]) == (code, field)
    assert words in error["message"]
    assert_one_sentence(ActionError(**error))
    assert info["answer"] == "rejected"
    assert env.desk["days"]["rejected"].sum() == rejected + 1


@each_illegal
def test_an_illegal_offer_changes_nothing_that_a_rejection_does_not(
    code: str, field: str, action: npt.NDArray[np.int64], words: str
) -> None:
    del code, field, words
    refused, rejecting = _waiting(observation="planned"), _waiting(observation="planned")
    first, second = refused.step(action), rejecting.step(REJECT)
    assert refused.simulation.get_state() == rejecting.simulation.get_state()
    assert refused.take_events() == rejecting.take_events()
    assert frozen(first[1:4]) == frozen(second[1:4])
    assert first[4].pop("error")
    assert frozen(first[4]) == frozen(second[4])
    first[0].pop("last_answer")
    assert second[0].pop("last_answer").tolist() == [1]
    assert frozen(first[0]) == frozen(second[0])
    assert frozen(refused.step(REJECT)) == frozen(rejecting.step(REJECT))
    assert refused.get_state() == rejecting.get_state()


@pytest.mark.parametrize(
    "action",
    [pytest.param(action, id=f"{code} {k}") for k, (code, _, action, _) in enumerate(ILLEGAL)],
)
def test_a_refused_answer_shows_as_none(action: npt.NDArray[np.int64]) -> None:
    """As documented: 0 none or refused."""
    assert _waiting().step(action)[0]["last_answer"].tolist() == [0]


@each_illegal
def test_strict_mode_raises_and_the_call_stays_on_the_line(
    code: str, field: str, action: npt.NDArray[np.int64], words: str
) -> None:
    strict, twin = _waiting(strict=True), _waiting(strict=True)
    line, state, shown = strict.simulation.line, strict.get_state(), frozen(strict.observe())
    with pytest.raises(ActionError) as caught:
        strict.step(action)
    assert (caught.value.code, caught.value.field) == (code, field)
    assert words in caught.value.message
    assert_one_sentence(caught.value)
    assert strict.simulation.line == line is not None
    assert strict.get_state() == state
    assert frozen(strict.observe()) == shown
    assert strict.take_events() == twin.take_events()
    assert frozen(strict.step(REJECT)) == frozen(twin.step(REJECT))


def test_both_modes_say_the_same() -> None:
    for code, _, action, _ in ILLEGAL:
        said = _waiting().step(action)[4]["error"]
        with pytest.raises(ActionError) as caught:
            _waiting(strict=True).step(action)
        assert said["message"] == caught.value.message, code


def test_the_sentence_names_the_date_of_the_call_and_not_of_the_next_one() -> None:
    env = TradesEnv()
    wait_for(env, SEED, lambda seen: bool(seen["today"][0] >= 8 and seen["time"][1] > 15))
    errors = []
    for _ in range(30):
        day = env.simulation.business.date_of(env.simulation.day)
        error = env.step(offer(1, 0, 5))[4]["error"]
        errors.append(f"{day:%A %Y-%m-%d}" in error["message"] or error["code"] != "off_shift")
    assert all(errors)
    assert env.simulation.day >= 1


def test_rejecting_ignores_the_rest_of_the_action() -> None:
    plain, odd = TradesEnv(strict=True), TradesEnv(strict=True)
    plain.reset(seed=1)
    odd.reset(seed=1)
    assert frozen(plain.step(REJECT)) == frozen(odd.step(np.array([0, 99, -7, 2**50])))


MALFORMED: dict[str, Any] = {
    "none": None,
    "text": "reject",
    "numbers in text": ["1", "0", "0", "0"],
    "float": 1.0,
    "floats": np.array([1.0, 0.0, 0.0, 0.0]),
    "not a number": [1, float("nan"), 0, 0],
    "infinity": [1, float("inf"), 0, 0],
    "one number": 1,
    "nothing": [],
    "too short": [1, 0, 0],
    "too long": [1, 0, 0, 0, 0],
    "a batch": np.zeros((1, 4), np.int64),
    "bools": np.array([True, False, False, False]),
    "complex": np.zeros(4, complex),
    "beyond 64 bits": [1, 2**70, 0, 0],
    "beyond 63 bits": [1, 2**63, 0, 0],
    "a dictionary": {"accept": 1, "technician": 0},
    "a set": {0, 1, 2, 3},
    "objects": np.array([1, 0, 0, None], object),
    "an object": object(),
    "nested": [1, [0, 0], 0, 0],
    "a column": np.zeros((4, 1), np.int64),
    "a table": np.zeros((9, 9)),
    "dates": np.zeros(4, "datetime64[s]"),
    "a long text": "offer " * 1_000,
}


@pytest.mark.parametrize("strict", [False, True])
@pytest.mark.parametrize(
    "action",
    [pytest.param(action, id=name) for name, action in MALFORMED.items()],
)
def test_what_is_no_action_raises_one_sentence_in_both_modes(action: Any, strict: bool) -> None:
    env = TradesEnv(strict=strict)
    env.reset(seed=2)
    state = env.get_state()
    with pytest.raises(ActionError) as caught:
        env.step(action)
    assert_one_sentence(caught.value)
    assert (caught.value.code, caught.value.field) == ("malformed_action", "action")
    assert env.get_state() == state


@pytest.mark.parametrize(
    "action",
    [
        [1, 2, 3, 4],
        (1, 2, 3, 4),
        np.array([1, 2, 3, 4], np.int32),
        np.array([1, 2, 3, 4], np.uint8),
        np.array([1, 2, 3, 4], ">i8"),
        [np.int64(1), 2, 3, 4],
    ],
    ids=["list", "tuple", "int32", "uint8", "big-endian", "mixed"],
)
def test_whole_numbers_of_any_kind_are_an_action(action: Any) -> None:
    given, plain = TradesEnv(), TradesEnv()
    given.reset(seed=3)
    plain.reset(seed=3)
    assert frozen(given.step(action)) == frozen(plain.step(np.array([1, 2, 3, 4])))


@pytest.mark.parametrize(
    "make",
    [
        lambda: np.array([1, 9, 1, 9, 1, 9, 1, 9])[::2],
        lambda: np.array([[1, 9]] * 4)[:, 0],
        lambda: np.broadcast_to(np.int64(1), (4,)),
    ],
    ids=["strided", "column", "broadcast"],
)
def test_no_action_reaches_the_kernel_in_a_layout_it_must_be_compiled_anew_for(
    make: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Compiling takes seconds; each kernel has exactly one signature."""
    env = TradesEnv()
    env.reset(seed=3)
    handed: list[npt.NDArray[np.int64]] = []
    play = env.simulation.step

    def watch(action: npt.NDArray[np.int64], *rest: Any) -> Any:
        handed.append(action)
        return play(np.ascontiguousarray(action).copy(), *rest)

    monkeypatch.setattr(env.simulation, "step", watch)
    env.step(make())
    assert handed[0].flags.c_contiguous
    assert handed[0].flags.writeable


def test_the_kernel_has_been_compiled_once_for_each_size_class() -> None:
    env = TradesEnv()
    env.reset(seed=3)
    env.step([1, 2, 3, 4])  # type: ignore[arg-type]
    signatures = getattr(compiled.step, "signatures", [("not compiled at all",)])
    assert len({signature[0] for signature in signatures}) == len(signatures)


@pytest.mark.parametrize("strict", [False, True])
def test_a_step_before_the_first_reset_is_refused(strict: bool) -> None:
    with pytest.raises(ActionError, match=r"reset\(\)") as caught:
        TradesEnv(strict=strict).step(REJECT)
    assert caught.value.code == "reset_needed"


def test_a_step_after_the_end_is_refused_until_the_next_reset() -> None:
    env = TradesEnv(days=1)
    env.reset(seed=1)
    while not env.step(REJECT)[2]:
        pass
    state = env.get_state()
    for _ in range(2):
        with pytest.raises(ActionError, match=r"reset\(\)") as caught:
            env.step(REJECT)
    assert caught.value.code == "reset_needed"
    assert env.get_state() == state
    env.reset(seed=1)
    assert env.step(REJECT)[2] is False
