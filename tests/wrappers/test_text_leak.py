"""Two worlds that differ only in hidden state get the same prompts, reminders and tools."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

from tests.envs.test_leak import _array, _other_values, _write, hidden_paths, twin_of
from tests.wrappers.texts import business, oracle_line, played, text_env, trades
from tradesbench_gym.company.callers import Caller, caller_of
from tradesbench_gym.company.simulation import Simulation
from tradesbench_gym.core.codes import CallState
from tradesbench_gym.envs.wording import Office
from tradesbench_gym.wrappers import TextWrapper, text_wrapper
from tradesbench_gym.wrappers.text_news import Shown, news, shown_of

# A caller's name is public, and drawn from what is hidden: seed, salt and the call's identity.
IDENTITY = {("seed",), ("salt",)} | {
    ("calls", name) for name in ("book", "from_day", "stream", "from_index")
}
BAD = ("", "book bob today 9am", "book katherine 2026-10-03 09:00", "reject\nreject")


@pytest.fixture
def same_names(monkeypatch: pytest.MonkeyPatch) -> None:
    def by_number(simulation: Simulation, number: int) -> Caller:
        address = simulation.business.roadmap.address(
            int(simulation.record["calls"][number - 1]["address"])
        )
        return Caller(f"Caller {number}", "(602) 555-0000", address)

    monkeypatch.setattr(text_wrapper, "caller_of", by_number)


def shown(env: TextWrapper) -> list[Any]:
    """Everything a model may be sent at one moment; the clock of a twin's world must not move."""
    prompt, reminders = env.look(), []
    for reply in BAD if trades(env).desk.call is not None else ():
        reminder, *_, info = env.step(reply)
        assert info["reminder"]
        reminders.append(reminder)
    return [prompt, reminders, env.messages(), env.tools(), env.system_prompt]


def moments(env: TextWrapper, seed: int, every: int) -> Iterator[Shown]:
    """Moments of a run, with what the prompt before had shown."""
    before = None
    for number, (_, _) in enumerate(played(env, seed)):
        office = Office(business(env), trades(env).desk)
        if before is not None and number % every == 0:
            yield before
        before = shown_of(office)


@pytest.mark.usefixtures("same_names")
def test_worlds_that_differ_only_in_what_is_hidden_read_the_same() -> None:
    env, one, other = (text_env(days=8, reminders=len(BAD)) for _ in range(3))
    random, count = np.random.default_rng(1), 0
    for before in moments(env, 41, every=4):
        trades(one).set_state(trades(env).get_state())
        twin_of(trades(env), trades(other), random)
        told = [news(Office(business(each), trades(each).desk), before) for each in (one, other)]
        assert told[0] == told[1] != []
        assert shown(one) == shown(other)
        count += 1
    assert count > 20


@pytest.mark.usefixtures("same_names")
@pytest.mark.parametrize("path", hidden_paths(), ids=".".join)
def test_each_hidden_field_by_itself_shows_nowhere(path: tuple[str, ...]) -> None:
    env, one, other = text_env(days=2), text_env(days=2), text_env(days=2)
    random = np.random.default_rng(2)
    for _ in moments(env, 43, every=9):
        state = trades(env).get_state()
        trades(one).set_state(state)
        trades(other).set_state(state)
        run = trades(other).simulation.record
        _write(run, path, _other_values(_array(run, path), random))
        assert one.look() == other.look()


@pytest.mark.parametrize("path", sorted(set(hidden_paths()) - IDENTITY), ids=".".join)
def test_names_are_drawn_from_the_callers_identity_and_nothing_else(path: tuple[str, ...]) -> None:
    env, twin = text_env(days=1), text_env(days=1)
    env.reset(seed=7)
    for _ in range(5):
        env.step("reject")
    trades(twin).set_state(trades(env).get_state())
    run = trades(twin).simulation.record
    _write(run, path, _other_values(_array(run, path), np.random.default_rng(3)))
    line = trades(env).simulation.line
    assert line is not None
    assert caller_of(trades(twin).simulation, line) == caller_of(trades(env).simulation, line)


@pytest.mark.parametrize("name", ["cash", "clock", "place", "state"])
def test_this_test_would_see_a_field_that_is_public(name: str) -> None:
    env, twin = text_env(days=2), text_env(days=2)
    env.reset(seed=1)
    for _ in range(6):
        env.step(oracle_line(env))
    trades(twin).set_state(trades(env).get_state())
    run, line = trades(twin).simulation.record, int(trades(env).desk["line"])
    if name == "place":
        run["calls"]["x"][line] += 5_000
    elif name == "state":
        run["calls"]["state"][0] = CallState.BOOKED
        run["calls"]["day"][0], run["calls"]["technician"][0], run["calls"]["window"][0] = 1, 1, 1
    else:
        run[name] += 60
    assert twin.look() != env.look()


def test_the_number_of_the_run_stands_nowhere() -> None:
    seed = 1_234_567_891
    env = text_env(days=3, memory_days=None)
    for prompt, _ in played(env, seed):
        sent = json.dumps([prompt, env.messages(), env.tools()])
        for trace in (str(seed), f"{seed:,}", f"{seed:x}"):
            assert trace not in sent


def test_a_sealed_run_is_another_one_and_its_salt_stands_nowhere() -> None:
    env = text_env(days=1)
    salt = 987_654_321_987
    prompt, _ = env.reset(seed=5, options={"salt": salt})
    ended = False
    while not ended:
        assert str(salt) not in json.dumps(env.messages())
        prompt, _, ended, _, _ = env.step("reject")
    assert str(salt) not in prompt
