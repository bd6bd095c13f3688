"""What a request may ask for: nothing that the provider would do but answer."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.harness.gateway.gateways import BASH, before, chat, post, response, rows
from tests.harness.stub_provider import Stub, providing
from tradesbench_gym.errors import TradesBenchError
from tradesbench_gym.harness.gateway import Gateway
from tradesbench_gym.harness.gateway.asking import CHAT, RESPONSES, Asked, ask

MODEL = "the-model"
HOSTED = [
    {"type": "web_search"},
    {"type": "web_search_preview"},
    {"type": "web_search_2025_08_26"},
    {"type": "openrouter:web_search"},
    {"type": "code_interpreter", "container": {"type": "auto"}},
    {"type": "file_search", "vector_store_ids": ["v"]},
    {"type": "computer_use_preview"},
    {"type": "computer"},
    {"type": "mcp", "server_label": "x", "server_url": "https://x"},
    {"type": "image_generation"},
    {"type": "shell"},
    {"type": "local_shell"},
    {"type": "namespace", "name": "n", "tools": [{"type": "web_search"}]},
    {"type": "programmatic_tool_calling"},
    {"type": "builtin_function", "function": {"name": "$web_search"}},
    {"type": "function", "function": {"name": "$web_search"}},
    {"type": "live_search", "sources": []},
    {"googleSearch": {}},
    {"type": "function"},
    "web_search",
    None,
]
DOORS: dict[str, Any] = {
    "web_search_options": {},
    "plugins": [{"id": "web"}],
    "search_parameters": {"mode": "on"},
    "enable_search": True,
    "mcp_servers": [{"url": "https://x"}],
    "data_sources": [{}],
    "models": ["other"],
    "route": "fallback",
    "provider": {"only": ["x"]},
    "service_tier": "priority",
    "extra_body": {"web_search_options": {}},
    "background": True,
    "something_new": 1,
}
KEPT: dict[str, Any] = {"previous_response_id": "r", "conversation": "c", "prompt": {"id": "p"}}


def asked(body: dict[str, Any], path: str = CHAT) -> tuple[Asked, dict[str, Any]]:
    made = ask(path, json.dumps(body).encode(), MODEL)
    return made, json.loads(made.body)


@pytest.mark.parametrize("tool", HOSTED)
@pytest.mark.parametrize("path", [CHAT, RESPONSES])
def test_a_tool_that_the_provider_runs_is_taken_out(tool: Any, path: str) -> None:
    own = BASH if path == CHAT else {"type": "function", "name": "bash", "parameters": {}}
    body = chat() if path == CHAT else response()
    made, sent = asked({**body, "tools": [tool, own]}, path)
    assert sent["tools"] == [own]
    assert [one["field"] for one in made.changes] == ["tools[0]"]
    made, sent = asked({**body, "tools": [tool], "tool_choice": "required"}, path)
    assert "tools" not in sent
    assert "tool_choice" not in sent


@pytest.mark.parametrize("field", DOORS)
@pytest.mark.parametrize("path", [CHAT, RESPONSES])
def test_a_field_that_opens_a_door_is_taken_out(field: str, path: str) -> None:
    body = chat() if path == CHAT else response()
    made, sent = asked({**body, field: DOORS[field]}, path)
    assert field not in sent
    assert [one["field"] for one in made.changes] == [field]


@pytest.mark.parametrize("field", KEPT)
def test_no_conversation_of_another_day_is_taken_up(field: str) -> None:
    _, sent = asked(response(**{field: KEPT[field]}), RESPONSES)
    assert field not in sent


def test_nothing_is_kept_at_the_provider() -> None:
    body = response()
    del body["store"]
    assert asked(body, RESPONSES)[1]["store"] is False
    assert asked({**body, "store": True}, RESPONSES)[1]["store"] is False
    assert asked(chat(store=True))[1]["store"] is False
    assert "store" not in asked(chat())[1]


@pytest.mark.parametrize("choice", [{"type": "web_search"}, {"type": "allowed_tools"}, "x", 7, []])
def test_a_choice_of_a_hosted_tool_is_taken_out(choice: Any) -> None:
    _, sent = asked(chat(tools=[BASH], tool_choice=choice))
    assert "tool_choice" not in sent


@pytest.mark.parametrize("model", ["other", "the-model:online", "", None, 7])
def test_the_model_is_the_run_s(model: Any) -> None:
    made, sent = asked(chat(model=model))
    assert sent["model"] == MODEL
    assert [one["field"] for one in made.changes] == ["model"]


def test_a_tool_cannot_carry_another_inside() -> None:
    tool = {**BASH, "googleSearch": {}, "function": {**BASH["function"], "web_search": {}}}
    _, sent = asked(chat(tools=[tool]))
    assert sent["tools"] == [BASH]


@pytest.mark.parametrize(
    "part",
    [
        {"type": "image_url", "image_url": {"url": "https://x/y.png"}},
        {"type": "image_url", "image_url": "https://x/y.png"},
        {"type": "image_url"},
        {"type": "input_image", "image_url": "http://127.0.0.1/"},
        {"type": "input_image", "image_url": "data:x", "file_id": "f"},
        {"type": "input_file", "file_url": "https://x"},
        {"type": "file", "file": {"file_id": "f"}},
        {"type": "video_url", "video_url": {"url": "https://x"}},
        {"type": "document", "source": {"type": "url", "url": "https://x"}},
        {"type": "input_audio", "input_audio": {}},
        {"fileData": {"fileUri": "https://x"}},
        7,
    ],
)
def test_nothing_is_let_out_that_the_provider_would_fetch(part: Any) -> None:
    for path, body in (
        (CHAT, chat(messages=[{"role": "user", "content": [part]}])),
        (RESPONSES, response([{"role": "user", "content": [part]}])),
        (RESPONSES, response([{"type": "function_call_output", "call_id": "c", "output": [part]}])),
    ):
        with pytest.raises(TradesBenchError) as caught:
            asked(body, path)
        assert caught.value.code in {"remote_content", "malformed"}


@pytest.mark.parametrize("kind", ["web_search_call", "mcp_call", "item_reference", "computer_call"])
def test_no_trace_of_a_hosted_tool_is_let_out(kind: str) -> None:
    with pytest.raises(TradesBenchError, match="not let out"):
        asked(response([{"type": kind, "id": "x"}]), RESPONSES)


def test_an_ordinary_conversation_passes_unchanged() -> None:
    call = {"id": "c", "type": "function", "function": {"name": "bash", "arguments": "{}"}}
    picture = {"type": "image_url", "image_url": {"url": "data:image/png;base64,AAAA"}}
    body = chat(
        messages=[
            {"role": "system", "content": "You run the company."},
            {"role": "user", "content": [{"type": "text", "text": "look"}, picture]},
            {"role": "assistant", "content": None, "tool_calls": [call], "reasoning_content": "hm"},
            {"role": "tool", "tool_call_id": "c", "content": "done"},
        ],
        tools=[BASH], tool_choice="auto", temperature=0.2, max_completion_tokens=99, store=False,
        reasoning_effort="high", stream=True, stream_options={"include_usage": True},
        prompt_cache_key="k",
    )  # fmt: skip
    made, sent = asked(body)
    assert sent == body
    assert made.changes == ()
    items = [
        {"role": "user", "content": [{"type": "input_text", "text": "look"}]},
        {"type": "reasoning", "summary": [], "encrypted_content": "x"},
        {"type": "function_call", "call_id": "c", "name": "bash", "arguments": "{}"},
        {"type": "function_call_output", "call_id": "c", "output": "done"},
    ]
    body = response(items, include=["reasoning.encrypted_content"], max_output_tokens=9)
    assert asked(body, RESPONSES)[1] == body


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=8),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(
            st.sampled_from([*DOORS, "type", "tools", "function", "name", "content", "text"]),
            inner, max_size=4,
        )
    ),
    max_leaves=15,
)  # fmt: skip


@given(
    st.dictionaries(st.sampled_from([*DOORS, *KEPT, "tools", "tool_choice", "messages", "input",
                                     "model", "stream", "stream_options", "store"]), JSON),
    st.sampled_from([CHAT, RESPONSES]),
)  # fmt: skip
def test_whatever_is_asked_no_door_is_let_out(body: dict[str, Any], path: str) -> None:
    try:
        made, sent = asked(body, path)
    except TradesBenchError:
        return
    assert sent["model"] == MODEL
    assert not set(sent) & (set(DOORS) | set(KEPT))
    for tool in sent.get("tools", []):
        assert tool["type"] in {"function", "custom"}
    assert asked(sent, path)[0].body == made.body, "what is let out once is let out unchanged"


def test_what_was_taken_out_is_recorded_and_told_once(tmp_path: Path) -> None:
    body = chat(model="other", tools=[BASH, {"type": "web_search"}], plugins=[{"id": "web"}])
    with providing() as stub, before(stub, tmp_path) as gateway:
        for _ in range(3):
            assert post(gateway, body).status_code == 200
        faults = gateway.faults()
    assert stub.asked[0].body == chat(tools=[BASH])
    assert [one.code for one in faults] == ["hosted_tool", "other_model", "hosted_tool"]
    assert {one.kind.value for one in faults} == {"agent"}
    assert all(len(row["changes"]) == 3 for row in rows(tmp_path, "request"))
    assert {row["body"]["model"] for row in rows(tmp_path, "raw") if "body" in row} == {MODEL}


def test_what_is_refused_is_recorded(shared: tuple[Stub, Gateway]) -> None:
    stub, gateway = shared
    since = len(gateway.faults())
    part = {"type": "image_url", "image_url": {"url": "https://x/?what-i-know"}}
    assert post(gateway, chat(messages=[{"role": "user", "content": [part]}])).status_code == 400
    (fault,) = gateway.faults(since)
    assert (fault.kind.value, fault.code) == ("agent", "remote_content")
    assert stub.asked == []
