"""The environment in words: whole runs, reminders, refusals, and whatever may come as a reply."""

from __future__ import annotations

import json
import pickle
import warnings
from copy import deepcopy
from typing import Any

import gymnasium as gym
import numpy as np
import pytest
from gymnasium.utils.env_checker import check_env
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.wrappers.texts import oracle_line, played, slot_words, text_env, trades
from tradesbench_gym.company.play import play
from tradesbench_gym.company.simulation import Simulation
from tradesbench_gym.core.codes import CallState
from tradesbench_gym.envs import TradesEnv
from tradesbench_gym.errors import ActionError
from tradesbench_gym.policies import Decision, make_policy
from tradesbench_gym.wrappers import FlattenAction, TextWrapper
from tradesbench_gym.wrappers.text_chat import reply_from_tool_call

SIZES = (4, 14, 6)


@pytest.mark.parametrize("seed", [5, 21])
def test_the_oracle_in_words_earns_what_the_oracle_earns(seed: int) -> None:
    env = text_env()
    prompt, info = env.reset(seed=seed)
    total, ended = 0.0, False
    while not ended:
        assert prompt in env.observation_space
        assert info["reminder"] == 0
        prompt, reward, ended, cut, info = env.step(oracle_line(env))
        total += float(reward)
        assert not cut
    expected = play(Simulation(seed), make_policy("oracle"))
    assert info["results"]["profit"] == expected.profit
    assert round(total * 100) == expected.profit
    assert info["results"]["calls"] == expected.calls


def test_a_bad_reply_is_sent_back_and_the_clock_stands_still() -> None:
    env = text_env(days=2)
    _, info = env.reset(seed=3)
    before = trades(env).simulation.digest()
    for count in (1, 2):
        prompt, reward, ended, cut, info = env.step("What a day!")
        assert (reward, ended, cut) == (0.0, False, False)
        assert info["reminder"] == count
        assert info["error"]["code"] == "no_answer"
        assert info["run_seed"] == 3
        assert info["action_mask"].any()
        assert "answer" not in info
        assert prompt in env.observation_space
        assert "Call 1 is still on the line" in prompt
        assert ("last reminder" in prompt) == (count == 2)
        assert trades(env).simulation.digest() == before
    prompt, _, ended, _, info = env.step("What a day!")
    assert info["reminder"] == 0
    assert info["answer"] == "unanswered"
    assert info["error"]["code"] == "no_answer"
    assert not ended
    assert "call 1: unanswered" in prompt
    assert trades(env).desk["calls"]["state"][0] == CallState.UNANSWERED


def test_an_unanswered_call_is_to_the_company_as_a_rejected_one() -> None:
    silent, polite = text_env(days=3, reminders=0), text_env(days=3)
    silent.reset(seed=4)
    polite.reset(seed=4)
    ended = False
    while not ended:
        _, first, ended, _, left = silent.step("")
        _, second, _, _, rejected = polite.step("reject")
        assert first == second
    assert left["results"] == rejected["results"]


@pytest.mark.parametrize("reminders", [0, 1, 4])
def test_there_are_as_many_reminders_as_were_asked_for(reminders: int) -> None:
    env = text_env(days=1, reminders=reminders)
    env.reset(seed=1)
    seen = [env.step("")[-1]["reminder"] for _ in range(2 * (reminders + 1))]
    assert seen == [*range(1, reminders + 1), 0] * 2


def test_a_good_answer_after_a_reminder_counts() -> None:
    env = text_env(days=1)
    env.reset(seed=1)
    env.step("hm")
    *_, info = env.step("reject")
    assert (info["reminder"], info["answer"]) == (0, "rejected")
    assert "error" not in info
    *_, info = env.step("hm")
    assert info["reminder"] == 1, "the next call has reminders of its own"


def test_info_names_what_the_environment_was_handed() -> None:
    env = text_env(days=1)
    env.reset(seed=1)
    *_, info = env.step("book roberto tomorrow 9am")
    assert info["action"].tolist() == [1, 2, 1, 1]
    *_, info = env.step("reject")
    assert info["action"].tolist() == [0, 0, 0, 0]


def _reply(env: TextWrapper, technician: int, ahead: int, window: int) -> str:
    return " ".join(["book", *slot_words(env, Decision(technician, ahead, window))])


def test_offers_the_company_does_not_let_out_are_refused_in_its_own_words() -> None:
    """Every slot of a weekday's call is let out or refused as the mask says."""
    env = text_env(days=1, reminders=10_000)
    _, info = env.reset(seed=2)
    company = trades(env).simulation
    codes: set[str] = set()
    for slot in np.argwhere(info["action_mask"] == 0).tolist():
        own = company.refusal(*slot)
        assert own is not None
        prompt, _, _, _, told = env.step(_reply(env, *slot))
        assert told["error"]["code"] == own.code
        assert told["error"]["field"] == own.field
        assert told["error"]["message"].startswith(own.message + ":")
        assert own.message[1:20] in prompt
        codes.add(own.code)
    assert {"window_started", "off_shift"} <= codes
    for date in ("2026-09-30", "2026-10-15", "2999-01-01"):
        *_, told = env.step(f"book diana {date} 09:00")
        assert told["error"]["code"] == "beyond_horizon"
        assert "from 2026-10-01 to 2026-10-14" in told["error"]["message"]


def test_installations_off_hours_are_refused_with_the_hours_they_have() -> None:
    env = text_env(reminders=2)
    _, info = env.reset(seed=2)
    while trades(env).desk.call["service"] != 1:  # type: ignore[index]
        _, _, ended, _, info = env.step("reject")
        assert not ended
    assert info["action_mask"][:, :, 5].sum() == 0
    *_, told = env.step(
        "book marcus saturday 9am" if _one_saturday(env) else "book marcus 2026-10-03 9am"
    )
    assert told["error"]["code"] == "installation_off_hours"
    assert "07:00, 09:00, 11:00, 13:00 or 15:00" in told["error"]["message"]


def _one_saturday(env: TextWrapper) -> bool:
    return trades(env).simulation.day > 3


def test_an_offer_that_was_called_right_is_right() -> None:
    env = text_env(days=1)
    _, info = env.reset(seed=2)
    gone = np.flatnonzero(info["action_mask"][0, 0] == 0)
    assert gone.size
    *_, told = env.step(_reply(env, 0, 0, int(gone[0])))
    right = told["error"]["message"].split("today ")[-1].split(" can be offered")[0]
    *_, info = env.step(f"book marcus today {right.split(' or ')[-1]}")
    assert info["answer"] in {"accepted", "declined"}


def _odd_replies() -> st.SearchStrategy[Any]:
    words = st.sampled_from(
        ["book", "reject", "diana", "marcus", "bob", "2026-10-01", "2026-10-02", "monday", "09:00",
         "17:00", "5 pm", "{", "}", '"answer"', '{"answer": "reject"}', ":", ",", "\n", "```",
         "<think>", "</think>", "\0", "\udc80", "9" * 40]
    )  # fmt: skip
    values = st.none() | st.booleans() | st.integers() | st.floats() | st.text() | words
    objects = st.dictionaries(
        st.sampled_from(["answer", "technician", "date", "window", "name", "arguments"]),
        values | st.lists(values, max_size=2) | st.dictionaries(st.text(max_size=3), values),
    )
    text = st.text() | st.lists(words, max_size=9).map(" ".join) | objects.map(json.dumps)
    calls = st.fixed_dictionaries(
        {"id": values, "function": st.fixed_dictionaries({"name": values, "arguments": values})}
    )
    messages = st.fixed_dictionaries(
        {}, optional={"content": values | st.lists(objects), "tool_calls": values | st.lists(calls)}
    )
    return text | st.binary() | values | messages | objects | st.builds(object)


_FUZZED = text_env(days=1)


@settings(max_examples=400)
@given(st.lists(_odd_replies(), min_size=1, max_size=6), st.integers(0, 5))
def test_no_reply_raises_or_takes_more_than_the_reminders_and_one(
    replies: list[Any], start: int
) -> None:
    env = _FUZZED
    _, info = env.reset(seed=11)
    for _ in range(start):
        env.step("reject")
    simulation = trades(env).simulation
    steps, line = 0, simulation.line
    for reply in replies:
        clock = int(simulation.record["clock"])
        prompt, reward, ended, cut, info = env.step(reply)
        steps += 1
        assert prompt in env.observation_space
        assert all(len(text) <= 80 for text in prompt.splitlines())
        json.dumps(env.messages()).encode("utf-8")
        if info["reminder"]:
            assert (steps, simulation.line, reward) == (info["reminder"], line, 0.0)
            assert int(simulation.record["clock"]) == clock
        else:
            assert steps <= 3
            steps, line = 0, simulation.line
        if ended:
            return
        assert not cut


@settings(max_examples=300)
@given(st.text() | st.none() | st.integers(), st.text() | st.binary() | st.none() | st.integers())
def test_no_tool_call_raises(name: Any, arguments: Any) -> None:
    assert isinstance(reply_from_tool_call(name, arguments), str)
    assert isinstance(TextWrapper.reply_from_tool_call(name, arguments), str)


@pytest.mark.parametrize(
    "reply",
    ["", "x" * 1_000_000, "{" * 100_000, '{"a":' * 30_000, "\0", "\ud800", b"\xff\xfe\x00", b"",
     None, 3, [], {}, {"content": None}, {"tool_calls": [{}]}, {"tool_calls": 3},
     {"content": [{"type": "text", "text": "hm"}]}, {"content": {"a": 1}}],
)  # fmt: skip
def test_rubbish_gets_a_reminder_and_a_chat_fit_to_be_sent(reply: Any) -> None:
    env = text_env(days=1)
    env.reset(seed=1)
    prompt, *_, info = env.step(reply)
    assert info["reminder"] == 1
    assert len(prompt) < 600
    sent = json.dumps(env.messages(), ensure_ascii=False).encode("utf-8")
    assert len(sent) < 20_000


def test_bytes_and_parts_of_a_message_are_replies_too() -> None:
    env = text_env(days=1)
    env.reset(seed=1)
    for reply in (
        b"reject",
        {"role": "assistant", "content": "reject"},
        {"content": [{"type": "text", "text": "rej"}, {"type": "text", "text": "ect"}]},
        {"content": "hm", "tool_calls": [{"function": {"name": "reject_call", "arguments": "{}"}}]},
        {"tool_calls": [{"function": {"name": "reject_call", "arguments": {}}}]},
    ):
        *_, info = env.step(reply)
        assert info["answer"] == "rejected"


def test_it_is_made_of_any_environment_whose_action_it_knows() -> None:
    inner = gym.make("tradesbench_gym:TradesBench-v0", days=2, observation="planned", strict=True)
    env = gym.wrappers.RecordEpisodeStatistics(TextWrapper(gym.wrappers.TimeLimit(inner, 12)))
    _, info = env.reset(seed=9, options={"salt": 77})
    assert info["run_seed"] == 9
    steps = 0
    ended = cut = False
    while not (ended or cut):
        _, _, ended, cut, info = env.step(
            "book katherine 2026-10-03 09:00" if steps % 2 else "reject"
        )
        steps += 1
    assert cut
    assert info["episode"]["l"] == steps
    for wrong in (FlattenAction(TradesEnv(days=1)), gym.make("CartPole-v1")):
        with pytest.raises(TypeError, match="TradesBench-v0"):
            TextWrapper(wrong)


def test_seeds_options_and_resets_are_the_environments_own() -> None:
    env = text_env(days=1)
    first, _ = env.reset(seed=5)
    sealed, _ = env.reset(seed=5, options={"salt": 7})
    again, _ = env.reset(seed=5)
    assert first == again != sealed
    _, drawn = env.reset()
    assert drawn["run_seed"] >= 10_000
    with pytest.raises(ActionError, match="salt"):
        env.reset(options={"sugar": 1})


def test_a_step_without_a_call_is_an_error() -> None:
    env = text_env(days=1)
    with pytest.raises(ActionError, match=r"reset\(\)"):
        env.step("reject")
    for _ in played(env, 1):
        pass
    with pytest.raises(ActionError, match=r"reset\(\)"):
        env.step("reject")


def test_a_run_put_back_is_looked_at_anew() -> None:
    env = text_env(days=1)
    env.reset(seed=5)
    for _ in range(4):
        env.step(oracle_line(env))
    state, prompt = trades(env).get_state(), env.prompt()
    told = prompt.index("Since the last call"), prompt.index("On the line")
    env.step("reject")
    trades(env).set_state(state)
    assert env.look() == prompt[: told[0]] + prompt[told[1] :] == env.prompt()
    assert len(env.messages()) == 2
    *_, info = env.step("reject")
    assert info["reminder"] == 0


def test_copies_play_on_alike() -> None:
    env = text_env(days=1, memory_days=None)
    env.reset(seed=5)
    env.step(oracle_line(env))
    twin, other = deepcopy(env), pickle.loads(pickle.dumps(env))  # noqa: S301 - our own
    for copy in (twin, other):
        assert copy.messages() == env.messages()
    outcomes = [copy.step("reject")[:4] for copy in (env, twin, other)]
    assert outcomes[0] == outcomes[1] == outcomes[2]


@pytest.mark.parametrize("wrong", [-1, 1.5, "2", None, True])
def test_wrong_arguments_are_told(wrong: Any) -> None:
    with pytest.raises(ActionError, match="reminders"):
        text_env(days=1, reminders=wrong)
    if wrong is not None:
        with pytest.raises(ActionError, match="memory_days"):
            text_env(days=1, memory_days=wrong)


def test_gymnasiums_checker_has_nothing_to_say() -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        warnings.filterwarnings("ignore", message=".*different from the unwrapped version")
        check_env(text_env(days=1), skip_render_check=True)


def test_gymnasium_can_make_it_again_from_its_spec() -> None:
    env = TextWrapper(gym.make("tradesbench_gym:TradesBench-v0", days=1), reminders=1)
    assert env.spec is not None
    again = gym.make(env.spec)
    assert isinstance(again, TextWrapper)
    prompt, _ = again.reset(seed=4)
    assert prompt == env.reset(seed=4)[0]
    assert [again.step("")[-1]["reminder"] for _ in range(2)] == [1, 0]
