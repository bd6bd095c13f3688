"""A run as a chat: the system prompt, what is kept of the last days, and the call on the line.

Messages are plain dictionaries in the form of OpenAI's chat completions, fit to be sent to any
endpoint whatever a model has replied: of sound Unicode, of bounded length, and every tool call
answered. It knows no rule and no run; days are numbers.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping
from copy import deepcopy
from dataclasses import dataclass, field
from typing import Any

Message = dict[str, Any]

MOST_KEPT = 4_000
"""Characters kept of a reply; a longer one is cut."""
MOST_CALLS = 16
"""Tool calls read of a reply: one is asked for, and thousands would be sent back each time."""
BOOK_TOOL, REJECT_TOOL = "book_job", "reject_call"
_TO_ANSWERS = {BOOK_TOOL: "book", REJECT_TOOL: "reject"}
_NAME = re.compile(r"[A-Za-z0-9_-]{1,64}")


@dataclass
class Exchange:
    """What was said about one call."""

    day: int
    messages: list[Message] = field(default_factory=list)
    calls: list[str] = field(default_factory=list)
    """Identities of the tool calls that wait for a result."""


class Conversation:
    """What a model is sent with each call.

    Args:
        system: the system prompt.
        memory_days: how many simulated days are kept, today included; 0 keeps nothing but the call
            on the line, None everything.

    """

    def __init__(self, system: str, memory_days: int | None = 0) -> None:
        self.system = system
        self._days = memory_days
        self._kept: list[Exchange] = []
        self._now = Exchange(0)
        self._brief = ""
        self._ids: set[str] = set()

    def begin(self, day: int, prompt: str, brief: str) -> None:
        """A call rings.

        Args:
            day: of the run.
            prompt: all that is shown with it.
            brief: what is kept of that in memory once the call is over.

        """
        self._now = Exchange(day, [{"role": "user", "content": prompt}])
        self._brief = brief
        if self._days is not None:
            self._kept = [kept for kept in self._kept if kept.day > day - self._days]

    def reply(self, message: Mapping[str, Any]) -> None:
        """The model has replied, in whatever form."""
        calls = [self._sound_call(call) for call in tool_calls_of(message)]
        if calls and all(calls):
            self._now.calls = [str(call["id"]) for call in calls if call]
            said = clean(content_of(message)) or None
            made = {"role": "assistant", "content": said, "tool_calls": calls}
        else:
            self._now.calls = []
            made = {"role": "assistant", "content": clean(reply_text(message)) or "(nothing)"}
        self._now.messages.append(made)

    def tell(self, text: str) -> None:
        """Answer the last reply: as results of its tool calls, or as the user's next words."""
        for call in self._now.calls:
            self._now.messages.append({"role": "tool", "tool_call_id": call, "content": text})
        if not self._now.calls:
            self._now.messages.append({"role": "user", "content": text})
        self._now.calls = []

    def end(self, outcome: str) -> None:
        """The call is over: keep it in short."""
        if self._now.calls:
            self.tell(outcome)
        self._now.messages[0] = {"role": "user", "content": self._brief}
        self._kept.append(self._now)
        self._now = Exchange(self._now.day)

    def messages(self) -> list[Message]:
        """Everything to be sent, the system prompt first."""
        said = [message for kept in (*self._kept, self._now) for message in kept.messages]
        return [{"role": "system", "content": self.system}, *deepcopy(said)]

    def forget(self) -> bool:
        """Drop the older half of what is kept; whether there was anything."""
        there = bool(self._kept)
        del self._kept[: (len(self._kept) + 1) // 2]
        return there

    def _sound_call(self, call: Mapping[str, Any]) -> Message | None:
        """A tool call as an endpoint takes it back; None if it is too broken for that."""
        name, arguments = _called(call)
        if not isinstance(name, str) or not _NAME.fullmatch(name):
            return None
        try:
            value = json.loads(arguments or "{}") if isinstance(arguments, str) else arguments
            text = clean(json.dumps({} if value is None else value))
        except (TypeError, ValueError, RecursionError):
            return None
        if not isinstance(value, dict | None) or len(text) >= MOST_KEPT:
            return None
        function = {"name": name, "arguments": text}
        return {"id": self._identity(call.get("id")), "type": "function", "function": function}

    def _identity(self, given: Any) -> str:
        """The identity of a tool call: its own, unless that is none or was used before."""
        sound = isinstance(given, str) and _NAME.fullmatch(given) and given not in self._ids
        made = given if sound else f"call{len(self._ids):05}"
        self._ids.add(made)
        return made


def tools_of(technicians: Iterable[str], starts: Iterable[str], last: int) -> list[Message]:
    """The tools of the office, as `tools` of a chat completion.

    Args:
        technicians: short names.
        starts: of the windows, as `09:00`.
        last: how many days ahead may be offered.

    """
    offer = {
        "technician": {"type": "string", "enum": [*technicians], "description": "Who goes."},
        "date": {
            "type": "string",
            "description": f"The day, YYYY-MM-DD: today or up to {last} days ahead.",
        },
        "window": {
            "type": "string",
            "enum": [*starts],
            "description": "When the arrival window opens.",
        },
    }
    return [
        _tool(BOOK_TOOL, "Make the caller on the line the one offer; it may be declined.", offer),
        _tool(REJECT_TOOL, "Turn the caller on the line away.", {}),
    ]


def _tool(name: str, description: str, properties: dict[str, Any]) -> Message:
    parameters = {
        "type": "object",
        "properties": properties,
        "required": list(properties),
        "additionalProperties": False,
    }
    function = {"name": name, "description": description, "parameters": parameters}
    return {"type": "function", "function": function}


def reply_from_tool_call(name: Any, arguments_json: Any) -> str:
    """A tool call as a reply in text; what is wrong with it is left to whoever reads the reply.

    >>> reply_from_tool_call("reject_call", "")
    '{"answer": "reject"}'
    """
    arguments = arguments_json
    if not isinstance(arguments, Mapping):
        try:
            arguments = json.loads(arguments_json or "{}")
        except (TypeError, ValueError, RecursionError):
            arguments = None
    if not isinstance(arguments, Mapping):
        return f"{name}({arguments_json if isinstance(arguments_json, str) else '...'})"
    answer = _TO_ANSWERS.get(name, name) if isinstance(name, str) else None
    if answer == "reject":
        return json.dumps({"answer": answer})
    try:
        return json.dumps({**arguments, "answer": answer})
    except (TypeError, ValueError, RecursionError):
        return f"{name}(...)"


def reply_text(message: Mapping[str, Any]) -> str:
    """The reply in a message of the assistant: its tool calls, else its text."""
    calls = tool_calls_of(message)
    return "\n".join(reply_from_tool_call(*_called(call)) for call in calls) or content_of(message)


def tool_calls_of(message: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    """The tool calls in a message, at most `MOST_CALLS` of them."""
    calls = message.get("tool_calls")
    if not isinstance(calls, list | tuple):
        return []
    return [call for call in calls[:MOST_CALLS] if isinstance(call, Mapping)]


def content_of(message: Mapping[str, Any]) -> str:
    """The text in a message, whether in one piece or in parts."""
    content = message.get("content")
    if isinstance(content, str):
        return content
    parts = content if isinstance(content, list | tuple) else []
    texts = [part.get("text") for part in parts if isinstance(part, Mapping)]
    return "".join(text for text in texts if isinstance(text, str))


def clean(text: str) -> str:
    r"""Text that any endpoint takes: cut to length, without NUL and halves of characters.

    >>> clean("a\x00b\udc80")
    'a?b?'
    """
    cut = text[:MOST_KEPT].replace("\0", "?")
    return cut.encode("utf-8", "replace").decode("utf-8")


def _called(call: Mapping[str, Any]) -> tuple[Any, Any]:
    function = call.get("function")
    if not isinstance(function, Mapping):
        return None, None
    return function.get("name"), function.get("arguments")
