"""The run as a chat: what is sent, what is remembered, and that any endpoint could take it."""

from __future__ import annotations

import json
from typing import Any

import pytest

from tests.wrappers.texts import oracle_line, slot_words, text_env, trades
from tradesbench_gym.policies import make_policy
from tradesbench_gym.wrappers import TextWrapper
from tradesbench_gym.wrappers.text_chat import MOST_CALLS, MOST_KEPT, Conversation


def roles(messages: list[dict[str, Any]]) -> list[str]:
    return [message["role"] for message in messages]


def call_message(name: str, arguments: Any, identity: Any = "c1") -> dict[str, Any]:
    function = {"name": name, "arguments": arguments}
    return {"content": None, "tool_calls": [{"id": identity, "function": function}]}


def oracle_call(env: TextWrapper) -> dict[str, Any]:
    offer = make_policy("oracle")(trades(env).desk)
    if offer is None:
        return call_message("reject_call", "{}")
    names = ("technician", "date", "window")
    return call_message(
        "book_job", json.dumps(dict(zip(names, slot_words(env, offer), strict=True)))
    )


def assert_sound(messages: list[dict[str, Any]]) -> None:
    """What the chat completions of OpenAI and their imitators insist on."""
    assert messages[0]["role"] == "system"
    assert "system" not in roles(messages[1:])
    assert messages[-1]["role"] in {"user", "tool"}
    waiting: set[str] = set()
    seen: set[str] = set()
    for message in messages[1:]:
        if message["role"] == "tool":
            waiting.remove(message["tool_call_id"])
            continue
        assert not waiting, "a tool call without a result"
        assert message["content"] or message.get("tool_calls")
        for call in message.get("tool_calls", ()):
            assert call["type"] == "function"
            assert call["id"] not in seen
            assert isinstance(json.loads(call["function"]["arguments"]), dict)
            waiting.add(call["id"])
            seen.add(call["id"])
    assert not waiting
    json.dumps(messages, ensure_ascii=False).encode("utf-8")


def test_without_memory_there_is_the_call_on_the_line_and_no_other() -> None:
    env = text_env(days=1)
    prompt, _ = env.reset(seed=5)
    for _ in range(6):
        messages = env.messages()
        assert roles(messages) == ["system", "user"]
        assert messages[0]["content"] == env.system_prompt
        assert messages[1]["content"] == prompt == env.prompt()
        prompt, *_ = env.step(oracle_line(env))


def test_reminders_are_part_of_the_conversation() -> None:
    env = text_env(days=1)
    env.reset(seed=5)
    reminder, *_ = env.step("Let me think.")
    assert roles(env.messages()) == ["system", "user", "assistant", "user"]
    assert env.messages()[2]["content"] == "Let me think."
    assert env.messages()[3]["content"] == reminder
    again, *_ = env.step("")
    assert env.messages()[-1]["content"] == again
    assert env.messages()[-2]["content"] == "(nothing)", "no endpoint takes an empty reply"
    env.step("reject")
    assert roles(env.messages()) == ["system", "user"]


@pytest.mark.parametrize("days", [1, 2, 3, None])
def test_memory_reaches_as_many_days_back_as_asked(days: int | None) -> None:
    env = text_env(days=5, memory_days=days)
    env.reset(seed=5)
    numbers: dict[int, list[int]] = {}
    ended = False
    while not ended:
        line = trades(env).simulation.line
        today = trades(env).simulation.day
        assert line is not None
        numbers.setdefault(today, []).append(line)
        kept = [
            n for day, calls in numbers.items() if days is None or day > today - days for n in calls
        ]
        asked = [m["content"] for m in env.messages() if m["role"] == "user"]
        assert [f"On the line, call {n}:" in text for n, text in zip(kept, asked, strict=True)]
        assert len(asked) == len(kept)
        assert_sound(env.messages())
        _, _, ended, _, _ = env.step(oracle_line(env))
    assert len(numbers) == 5


def test_what_is_remembered_is_short_and_stays_what_it_is() -> None:
    env = text_env(days=2, memory_days=None)
    env.reset(seed=5)
    for _ in range(8):
        env.step(oracle_line(env))
    messages = env.messages()
    assert all("Calendar" not in m["content"] for m in messages[1:-1])
    assert "Calendar" in messages[-1]["content"]
    env.step("reject")
    assert env.messages()[: len(messages) - 1] == messages[:-1], "a prefix that endpoints can cache"


def test_tool_calls_are_answered_by_results() -> None:
    env = text_env(days=2, memory_days=None)
    env.reset(seed=5)
    answers, ended = [], False
    while not ended:
        assert_sound(env.messages())
        _, _, ended, _, info = env.step(oracle_call(env))
        answers.append(info["answer"])
    messages = env.messages()
    results = [message["content"] for message in messages if message["role"] == "tool"]
    assert len(results) == len(answers)
    words = {"accepted": "accepted", "declined": "declined", "rejected": "rejected"}
    assert all(words[answer] in said for answer, said in zip(answers, results, strict=True))
    assert set(answers) == set(words)


def test_a_wrong_tool_call_gets_the_reminder_as_its_result() -> None:
    env = text_env(days=1)
    env.reset(seed=1)
    wrong = json.dumps({"technician": "bob", "date": "2026-10-02", "window": "09:00"})
    reminder, *_, info = env.step(call_message("book_job", wrong))
    assert info["error"]["code"] == "unknown_technician"
    last = env.messages()[-1]
    assert (last["role"], last["tool_call_id"], last["content"]) == ("tool", "c1", reminder)
    assert_sound(env.messages())


@pytest.mark.parametrize(
    ("name", "arguments", "identity"),
    [
        ("book_job", "{broken", "c1"),
        ("book job!", "{}", "c1"),
        ("", None, None),
        ("book_job", "[]", "c1"),
        ("reject_call", "", ""),
        ("reject_call", {}, 7),
        ("reject_call", "{}", "é\udc80"),
        ("send_email", '{"to": "\\ud800"}', "c1"),
        ("book_job", json.dumps({"note": "x" * 100_000}), "c1"),
    ],
)
def test_no_tool_call_makes_a_chat_that_cannot_be_sent(
    name: str, arguments: Any, identity: Any
) -> None:
    env = text_env(days=1, memory_days=None)
    env.reset(seed=1)
    for _ in range(3):
        env.step(call_message(name, arguments, identity))
        assert_sound(env.messages())


def test_two_tool_calls_are_no_answer_and_both_get_the_reason() -> None:
    env = text_env(days=1)
    env.reset(seed=1)
    call = {"id": "same", "function": {"name": "reject_call", "arguments": "{}"}}
    _, *_, info = env.step({"tool_calls": [call, call]})
    assert info["error"]["code"] == "several_answers"
    assert "answer only with the tool book_job" in info["error"]["message"]
    assert roles(env.messages())[-2:] == ["tool", "tool"]
    assert_sound(env.messages())


def test_of_thousands_of_tool_calls_only_a_few_are_sent_back() -> None:
    env = text_env(memory_days=None)
    env.reset(seed=10_000)
    many = call_message("reject_call", "{}")
    many["tool_calls"] *= 5_000
    env.step(many)
    assert_sound(env.messages())
    assert len(env.messages()) < 3 * MOST_CALLS


def test_a_long_reply_is_cut_in_the_chat() -> None:
    env = text_env(days=1)
    env.reset(seed=1)
    env.step("x" * 1_000_000)
    assert len(env.messages()[2]["content"]) == MOST_KEPT


def test_tools_name_the_technicians_and_windows_there_are() -> None:
    book, reject = (tool["function"] for tool in text_env(days=1).tools())
    assert (book["name"], reject["name"]) == ("book_job", "reject_call")
    offer = book["parameters"]["properties"]
    assert offer["technician"]["enum"] == ["marcus", "diana", "roberto", "katherine"]
    assert offer["window"]["enum"] == ["07:00", "09:00", "11:00", "13:00", "15:00", "17:00"]
    assert book["parameters"]["required"] == ["technician", "date", "window"]
    assert reject["parameters"]["properties"] == {}
    assert json.loads(json.dumps(book)) == book


def test_what_is_given_out_can_be_changed_without_harm() -> None:
    env = text_env(days=1, memory_days=None)
    env.reset(seed=5)
    env.step("reject")
    first = env.messages()
    env.messages()[1]["content"] = "something else"
    env.messages().clear()
    assert env.messages() == first


def test_forgetting_drops_the_older_half() -> None:
    chat = Conversation("system", None)
    for call in range(5):
        chat.begin(0, f"prompt {call}", f"brief {call}")
        chat.reply({"content": "reject"})
        chat.end("done")
    chat.begin(0, "prompt", "brief")
    left = []
    while True:
        left.append([m["content"] for m in chat.messages() if m["role"] == "user"])
        if not chat.forget():
            break
    assert left == [
        ["brief 0", "brief 1", "brief 2", "brief 3", "brief 4", "prompt"],
        ["brief 3", "brief 4", "prompt"],
        ["brief 4", "prompt"],
        ["prompt"],
    ]
