"""Reading an answer, taking the key out and adding tokens up do not depend on how it is cut up."""

from __future__ import annotations

import json
from itertools import pairwise
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.harness.stub_answers import Call, Reply, Tokens, events
from tradesbench_gym.harness.gateway.secrets import ScrubbedStream, Scrubber
from tradesbench_gym.harness.gateway.usage import tokens_of
from tradesbench_gym.harness.gateway.wire import Events, Reading

CHAT, RESPONSES = "/v1/chat/completions", "/v1/responses"
REPLY = Reply("größe ✓ one two", (Call("bash", {"command": "ls"}), Call("read", {"path": "x"})))
COUNT = Tokens(120, 40, 17)
ASKED: dict[str, Any] = {"stream_options": {"include_usage": True}}
WIRE = {path: b"".join(events(path, ASKED, REPLY, COUNT)) for path in (CHAT, RESPONSES)}


def read(path: str, pieces: list[bytes], most: int = 10**6) -> Reading:
    reader = Events(path, most)
    for piece in pieces:
        reader.feed(piece)
    reader.end()
    return reader.reading


def cut_up(data: bytes, places: list[int]) -> list[bytes]:
    edges = [0, *sorted(place % (len(data) + 1) for place in places), len(data)]
    return [data[a:b] for a, b in pairwise(edges)]


@given(st.sampled_from([CHAT, RESPONSES]), st.lists(st.integers(0, 10**5), max_size=40))
def test_an_answer_reads_the_same_however_it_is_cut_up(path: str, places: list[int]) -> None:
    reading = read(path, cut_up(WIRE[path], places))
    assert reading.ended
    assert reading.closed
    assert reading.error is None
    assert reading.calling is None
    tokens = reading.tokens
    assert tokens is not None
    assert Tokens(tokens.input, tokens.cached, tokens.output) == COUNT


@given(st.sampled_from([CHAT, RESPONSES]), st.data())
def test_an_answer_that_stops_before_its_end_is_not_whole(path: str, data: st.DataObject) -> None:
    mark = b'"finish_reason": "tool_calls"' if path == CHAT else b"response.completed"
    last = WIRE[path].index(mark)
    end = data.draw(st.integers(0, last))
    assert not read(path, [WIRE[path][:end]]).ended


@given(st.binary(max_size=4000))
def test_no_bytes_upset_the_reader(noise: bytes) -> None:
    for path in (CHAT, RESPONSES):
        read(path, [noise, b"\n\ndata: ", noise])
        reading = Reading()
        for value in (noise.decode("latin-1"), [noise.hex()], 7, None):
            reading.whole(path, {"choices": value, "usage": value, "output": [value, {}]})


@given(
    st.recursive(
        st.none() | st.integers() | st.text(),
        lambda inner: (
            st.lists(inner)
            | st.dictionaries(
                st.sampled_from(
                    [
                        "choices",
                        "delta",
                        "usage",
                        "tool_calls",
                        "function",
                        "type",
                        "response",
                        "item",
                        "error",
                        "output",
                        "finish_reason",
                        "annotations",
                        "index",
                    ]
                ),
                inner,
            )
        ),
        max_leaves=12,
    )
)
def test_no_event_upsets_the_reader(event: Any) -> None:
    for path in (CHAT, RESPONSES):
        read(path, [b"data: " + json.dumps(event).encode() + b"\n\n"])


@pytest.mark.parametrize("index", [[1], {"a": 1}, None, "0", 1.5, True])
def test_a_choice_of_any_number_is_read(index: Any) -> None:
    choice = {"index": index, "delta": {}, "finish_reason": "stop"}
    reading = read(CHAT, [b"data: " + json.dumps({"choices": [choice]}).encode() + b"\n\n"])
    assert reading.ended


def test_an_event_without_an_end_is_not_kept() -> None:
    reader = Events(CHAT, 1000)
    for _ in range(1000):
        reader.feed(b"data: " + b"x" * 1000)
    assert len(reader._line) <= 1000
    reader.feed(b"\n\n" + WIRE[CHAT])
    assert reader.reading.ended, "and what follows it is read"


CHATTED = {"prompt_tokens": 9, "completion_tokens": 4}
RESPONDED = {"input_tokens": 9, "output_tokens": 4}
KEY = "sk-ab/sk-ab-secret"


@given(
    st.lists(st.sampled_from([KEY, KEY[:5], KEY[5:], "sk-", "x", "\n", KEY[:-1]]), max_size=12),
    st.lists(st.integers(0, 500), max_size=20),
)
def test_no_cutting_up_lets_the_key_through(words: list[str], places: list[int]) -> None:
    text = "".join(words).encode()
    stream = ScrubbedStream(Scrubber(KEY))
    out = b"".join(stream.feed(piece) for piece in cut_up(text, places)) + stream.end()
    assert KEY.encode() not in out
    if KEY.encode() not in text:
        assert out == text


@pytest.mark.parametrize(
    ("usage", "tokens"),
    [
        ({**CHATTED, "prompt_tokens_details": {"cached_tokens": 6}}, (9, 6, 4)),
        ({**RESPONDED, "input_tokens_details": {"cached_tokens": 6}}, (9, 6, 4)),
        ({**CHATTED, "prompt_tokens_details": None}, (9, 0, 4)),
        ({**CHATTED, "cached_tokens": 6}, (9, 6, 4)),
        ({**CHATTED, "prompt_cache_hit_tokens": 6, "prompt_cache_miss_tokens": 3}, (9, 6, 4)),
        ({**CHATTED, "cache_read_input_tokens": 6}, (9, 6, 4)),
        ({**CHATTED, "cached_tokens": 10}, None),
        ({**CHATTED, "prompt_tokens": 10**30}, None),
        ({"prompt_tokens": True, "completion_tokens": 4}, None),
        ({"prompt_tokens": 9.5, "completion_tokens": 4}, None),
        ({"total_tokens": 13}, None),
        ("9", None),
    ],
)
def test_tokens_are_read_as_providers_report_them(usage: Any, tokens: Any) -> None:
    found = tokens_of(usage)
    assert (None if found is None else (found.input, found.cached, found.output)) == tokens


def test_usage_is_found_where_groq_and_moonshot_put_it() -> None:
    used = CHATTED
    last = {"index": 0, "delta": {}, "finish_reason": "stop", "usage": used}
    for event in ({"x_groq": {"usage": used}, "choices": []}, {"choices": [last]}):
        assert read(CHAT, [b"data: " + json.dumps(event).encode() + b"\n\n"]).usage == used


@pytest.mark.parametrize(
    ("path", "event"),
    [
        (CHAT, {"choices": [{"index": 0, "delta": {"annotations": [{"type": "url_citation"}]}}]}),
        (CHAT, {"choices": [], "usage": {"server_tool_use": {"web_search_requests": 1}}}),
        (RESPONSES, {"type": "response.output_item.added", "item": {"type": "web_search_call"}}),
        (RESPONSES, {"type": "response.completed", "response": {"output": [{"type": "mcp_call"}]}}),
    ],
)
def test_a_tool_that_the_provider_ran_is_noticed(path: str, event: Any) -> None:
    assert read(path, [b"data: " + json.dumps(event).encode() + b"\n\n"]).hosted
    assert read(path, [WIRE[path]]).hosted is None
