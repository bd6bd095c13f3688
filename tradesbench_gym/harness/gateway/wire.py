"""An answer as it lies on the wire: its events, its usage, and whether it came to its end.

An answer is read while it passes and never changed. One that stops short of its own end is cut,
however politely the connection was closed. This module knows the two OpenAI formats, and neither
files nor connections.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from tradesbench_gym.harness.gateway.asking import CHAT
from tradesbench_gym.harness.gateway.usage import Tokens, tokens_of

_ENDS = ("response.completed", "response.incomplete", "response.failed")
_BEFORE = (
    "response.created",
    "response.queued",
    "response.in_progress",
    "response.failed",
    "error",
)
_OWN_CALLS = ("function_call", "custom_tool_call", "message", "reasoning")
_SEARCHES = ("web_search_requests", "num_search_queries", "num_sources_used")


@dataclass
class Reading:
    """What was read of an answer.

    Attributes:
        usage: as it came; the last one, where a stream tells a running count.
        finish: why the model stopped, in the endpoint's word.
        ended: whether the answer told that it is whole.
        closed: whether nothing more can follow.
        error: the provider's error inside an answer that began well.
        begun: whether anything of the model's has come.
        calling: the tool call that is being written, by name.
        hosted: what the provider ran itself, in its words.

    """

    usage: Mapping[str, Any] | None = None
    finish: str | None = None
    ended: bool = False
    closed: bool = False
    error: Any = None
    begun: bool = False
    calling: str | None = None
    hosted: str | None = None
    _choices: dict[int | None, bool] = field(default_factory=dict)

    @property
    def tokens(self) -> Tokens | None:
        """The reported tokens, if a sound count was reported."""
        return tokens_of(self.usage)

    def whole(self, path: str, answer: object) -> None:
        """Read an answer that came in one piece."""
        if not isinstance(answer, dict):
            return
        if path == CHAT:
            self.chat(answer)
            self.ended = isinstance(answer.get("choices"), list) and bool(answer["choices"])
        else:
            self.response(answer)
            self.ended = isinstance(answer.get("output"), list)
        self.closed = True

    def chat(self, event: Mapping[str, Any]) -> None:
        """Read one chunk, or one completion."""
        self.error = event.get("error") or self.error
        groq = event.get("x_groq")
        self._take_usage(event.get("usage"), groq.get("usage") if isinstance(groq, dict) else None)
        choices = event.get("choices")
        for choice in choices if isinstance(choices, list) else ():
            if not isinstance(choice, dict):
                continue
            self.begun = True
            self._take_usage(choice.get("usage"))
            said = choice.get("delta") or choice.get("message")
            self._said(said if isinstance(said, dict) else {})
            finish = choice.get("finish_reason")
            index = choice.get("index")
            self._choices[index if isinstance(index, int) else None] = finish is not None
            if isinstance(finish, str):
                self.finish, self.calling = finish, None
            self.error = choice.get("error") or self.error
        self.ended = bool(self._choices) and all(self._choices.values())

    def event(self, event: Mapping[str, Any]) -> None:
        """Read one event of responses."""
        kind, item = event.get("type"), event.get("item")
        self.begun = self.begun or kind not in _BEFORE
        if kind == "error" or (kind is None and event.get("error")):
            self.error = event.get("error") or event
        elif kind == "response.output_item.added" and isinstance(item, dict):
            self.calling = str(item.get("name")) if "call" in str(item.get("type")) else None
            self._ran(item)
        elif kind == "response.output_item.done":
            self.calling = None
        elif kind in _ENDS:
            self.ended = self.closed = True
            answer = event.get("response")
            self.response(answer if isinstance(answer, dict) else {})

    def response(self, answer: Mapping[str, Any]) -> None:
        """Read a whole response."""
        self._take_usage(answer.get("usage"))
        self.error = answer.get("error") or self.error
        status = answer.get("status")
        self.finish = status if isinstance(status, str) else self.finish
        output = answer.get("output")
        for item in output if isinstance(output, list) else ():
            if isinstance(item, dict):
                self._ran(item)

    def _said(self, message: Mapping[str, Any]) -> None:
        calls = message.get("tool_calls")
        for call in calls if isinstance(calls, list) else ():
            inner = call.get("function") if isinstance(call, dict) else None
            name = inner.get("name") if isinstance(inner, dict) else None
            self.calling = name if isinstance(name, str) else self.calling or "?"
        noted = message.get("annotations")
        for note in noted if isinstance(noted, list) else ():
            if isinstance(note, dict) and note.get("type") == "url_citation":
                self.hosted = "url_citation"

    def _ran(self, item: Mapping[str, Any]) -> None:
        kind = str(item.get("type"))
        if kind.endswith("_call") and kind not in _OWN_CALLS:
            self.hosted = kind

    def _take_usage(self, *found: object) -> None:
        for usage in found:
            if not isinstance(usage, dict):
                continue
            self.usage = usage
            served = usage.get("server_tool_use")
            counts = (*_counts(usage), *_counts(served if isinstance(served, dict) else {}))
            self.hosted = next(iter(counts), self.hosted)


def _counts(usage: Mapping[str, Any]) -> Iterator[str]:
    yield from (name for name in _SEARCHES if usage.get(name))


class Events:
    """The events of a stream, cut from its bytes as they come.

    Args:
        path: of the request.
        most: bytes of the longest event that is read; a longer one is passed over.

    """

    def __init__(self, path: str, most: int) -> None:
        self.reading = Reading()
        self._chat = path == CHAT
        self._most = most
        self._line = bytearray()
        self._data: list[bytes] = []
        self._size = 0

    def feed(self, piece: bytes) -> None:
        """Read on."""
        *lines, rest = piece.split(b"\n")
        for line in lines:
            self._add(line)
            whole, self._line = bytes(self._line).rstrip(b"\r"), bytearray()
            self._take(whole)
        self._add(rest)

    def end(self) -> None:
        """Nothing more comes: an event that lacks only its empty line counts."""
        self.feed(b"\n\n")

    def _add(self, part: bytes) -> None:
        if len(self._line) + len(part) <= self._most:
            self._line += part

    def _take(self, line: bytes) -> None:
        if not line:
            data, self._data, self._size = b"\n".join(self._data), [], 0
            if data:
                self._event(data)
        elif line.startswith(b"data:") and self._size + len(line) <= self._most:
            self._size += len(line)
            self._data.append(line[5:].removeprefix(b" "))

    def _event(self, data: bytes) -> None:
        if data.strip() == b"[DONE]":
            # Not the end of the model's answer: some relays write it after a stream that was cut.
            self.reading.closed = self.reading.begun = True
            return
        try:
            event = json.loads(data)
        except (ValueError, RecursionError):
            return
        if isinstance(event, dict):
            (self.reading.chat if self._chat else self.reading.event)(event)
