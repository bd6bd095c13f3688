"""What the stub provider says: a reply as chat completions and as responses, in one piece or in
events, with tokens that it counts itself."""

from __future__ import annotations

import json
from bisect import bisect_left
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

Body = dict[str, Any]
CHAT = "/v1/chat/completions"


@dataclass(frozen=True)
class Call:
    """A call of one of the agent's tools."""

    name: str
    arguments: Mapping[str, Any]


@dataclass(frozen=True)
class Tokens:
    """The stub's own count; `cached` is part of `input`."""

    input: int
    cached: int
    output: int


@dataclass(frozen=True)
class Reply:
    """What the stub answers, and what goes wrong with it.

    Attributes:
        text: the model's words.
        calls: its calls of tools.
        status: of HTTP; with `body`, the answer is just that.
        body: bytes instead of an answer.
        headers: further ones.
        silent: seconds before anything is said.
        pause: seconds between two events.
        drop: the connection is closed instead.
        cut: the connection is broken off after so many events, or after half of a whole answer.
        politely: a cut ends as HTTP ends an answer that is whole.
        endless: bytes of words without an end.
        usage: whether the tokens are told; or what is told instead of them.
        error: an error in the middle of the events, after `cut` of them.
        done: whether `[DONE]` is said.
        comments: so many comments before the first event, to keep the connection alive.
        hang: whether the connection is left open after the last event.

    """

    text: str = "Very well."
    calls: tuple[Call, ...] = ()
    status: int = 200
    body: bytes | None = None
    headers: Mapping[str, str] = field(default_factory=dict)
    silent: float = 0.0
    pause: float = 0.0
    drop: bool = False
    cut: int | None = None
    politely: bool = False
    endless: int = 0
    usage: Any = True
    error: Any = None
    done: bool = True
    comments: int = 0
    hang: bool = False


def words(reply: Reply) -> list[str]:
    """The pieces of a text, each of which is a token."""
    return [f"{word} " for word in reply.text.split(" ")] if reply.text else []


def arguments(call: Call) -> list[str]:
    """The pieces of a call's arguments, each of which is a token."""
    whole = json.dumps(call.arguments)
    return [whole[begin : begin + 8] for begin in range(0, len(whole), 8)]


def count(asked: Body, before: str, reply: Reply) -> Tokens:
    """Four characters of the conversation are a token; what it has in common with the one before
    is cached."""
    told = conversation(asked)
    most = min(len(told), len(before))
    common = bisect_left(range(most), 1, key=lambda size: told[: size + 1] != before[: size + 1])
    made = len(words(reply)) + sum(1 + len(arguments(call)) for call in reply.calls)
    return Tokens(-(-len(told) // 4), common // 4, made)


def conversation(asked: Body) -> str:
    """What counts of a request."""
    return json.dumps([asked.get("tools"), asked.get("messages", asked.get("input"))])


def whole(path: str, asked: Body, reply: Reply, tokens: Tokens) -> Body:
    """An answer in one piece."""
    if path == CHAT:
        message: Body = {"role": "assistant", "content": reply.text or None}
        if reply.calls:
            message["tool_calls"] = [_chat_call(n, call) for n, call in enumerate(reply.calls)]
        choice = {"index": 0, "message": message, "finish_reason": _finish(reply)}
        answer = _chat(asked, "chat.completion", [choice])
    else:
        answer = _response(asked, "completed", _items(reply))
    used = _used(path, reply, tokens)
    return answer if used is None else {**answer, "usage": used}


def events(path: str, asked: Body, reply: Reply, tokens: Tokens) -> Iterator[bytes]:
    """An answer in events."""
    if path == CHAT:
        for chunk in _chunks(asked, reply, tokens):
            yield b"data: " + json.dumps(chunk).encode() + b"\n\n"
        if reply.done:
            yield b"data: [DONE]\n\n"
        return
    for event in _response_events(asked, reply, tokens):
        yield f"event: {event['type']}\ndata: {json.dumps(event)}\n\n".encode()


def _chunks(asked: Body, reply: Reply, tokens: Tokens) -> Iterator[Body]:
    def delta(said: Body, finish: str | None = None) -> Body:
        choice = {"index": 0, "delta": said, "finish_reason": finish}
        return _chat(asked, "chat.completion.chunk", [choice])

    yield delta({"role": "assistant", "content": ""})
    for word in words(reply):
        yield delta({"content": word})
    for number, call in enumerate(reply.calls):
        head = _chat_call(number, call, "")
        yield delta({"tool_calls": [{**head, "index": number}]})
        for piece in arguments(call):
            part = {"index": number, "function": {"arguments": piece}}
            yield delta({"tool_calls": [part]})
    yield delta({}, _finish(reply))
    used = _used(CHAT, reply, tokens)
    options = asked.get("stream_options") or {}
    if used is not None and options.get("include_usage"):
        yield {**_chat(asked, "chat.completion.chunk", []), "usage": used}


def _response_events(asked: Body, reply: Reply, tokens: Tokens) -> Iterator[Body]:
    yield {"type": "response.created", "response": _response(asked, "in_progress", [])}
    for place, item in enumerate(_items(reply)):
        yield {"type": "response.output_item.added", "output_index": place, "item": item}
        if item["type"] == "message":
            for word in words(reply):
                yield {"type": "response.output_text.delta", "output_index": place, "delta": word}
        else:
            call = reply.calls[place - (1 if reply.text else 0)]
            for piece in arguments(call):
                kind = "response.function_call_arguments.delta"
                yield {"type": kind, "output_index": place, "delta": piece}
        yield {"type": "response.output_item.done", "output_index": place, "item": item}
    answer = _response(asked, "completed", _items(reply))
    used = _used("", reply, tokens)
    yield {"type": "response.completed", "response": {**answer, "usage": used}}


def _items(reply: Reply) -> list[Body]:
    said = {"type": "output_text", "text": reply.text, "annotations": []}
    items: list[Body] = []
    if reply.text:
        items.append({"type": "message", "id": "m", "role": "assistant", "content": [said]})
    for number, call in enumerate(reply.calls):
        told = {"name": call.name, "arguments": json.dumps(call.arguments)}
        items.append({"type": "function_call", "id": f"f{number}", "call_id": f"c{number}", **told})
    return items


def _chat_call(number: int, call: Call, said: str | None = None) -> Body:
    told = json.dumps(call.arguments) if said is None else said
    inner = {"name": call.name, "arguments": told}
    return {"id": f"call_{number}", "type": "function", "function": inner}


def _finish(reply: Reply) -> str:
    return "tool_calls" if reply.calls else "stop"


def _chat(asked: Body, kind: str, choices: list[Body]) -> Body:
    model = asked.get("model")
    return {"id": "c", "object": kind, "created": 0, "model": model, "choices": choices}


def _response(asked: Body, status: str, output: list[Body]) -> Body:
    model = asked.get("model")
    return {"id": "r", "object": "response", "created_at": 0, "model": model, "status": status,
            "output": output, "error": None}  # fmt: skip


def _used(path: str, reply: Reply, tokens: Tokens) -> Any:
    if reply.usage is not True:
        return reply.usage or None
    names = ("prompt", "completion") if path == CHAT else ("input", "output")
    return {
        f"{names[0]}_tokens": tokens.input,
        f"{names[1]}_tokens": tokens.output,
        "total_tokens": tokens.input + tokens.output,
        f"{names[0]}_tokens_details": {"cached_tokens": tokens.cached},
        f"{names[1]}_tokens_details": {"reasoning_tokens": 0},
    }
