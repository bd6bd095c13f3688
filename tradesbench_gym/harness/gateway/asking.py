"""What a request may ask of the provider: the run's model, with tools that the agent runs itself.

Whatever lets a provider do more than answer is taken out or refused, and said: tools that it runs
itself, searches, addresses that it would fetch, conversations and files that it keeps, other
models and dearer tiers. Only what is known to be harmless passes, because providers invent a new
door every month. This module knows JSON and no network.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from tradesbench_gym.errors import TradesBenchError, shown
from tradesbench_gym.harness.gateway.contents import check_contents
from tradesbench_gym.harness.gateway.usage import guess_tokens

CHAT, RESPONSES = "/v1/chat/completions", "/v1/responses"
_SAMPLING = """
    temperature top_p top_k min_p top_a typical_p top_logprobs logprobs logit_bias seed stop n
    presence_penalty frequency_penalty repetition_penalty max_tokens max_completion_tokens
    response_format verbosity parallel_tool_calls user metadata safety_identifier
    reasoning_effort reasoning reasoning_split reasoning_format include_reasoning thinking
    enable_thinking thinking_budget preserve_thinking chat_template_kwargs tool_stream usage
    prompt_cache_key prompt_cache_retention prompt_cache_options prediction
"""
_CHAT = "model messages stream stream_options tools tool_choice functions function_call store"
_CHAT_FIELDS = frozenset((*_CHAT.split(), *_SAMPLING.split()))
_RESPONSE = """
    model input instructions stream stream_options tools tool_choice parallel_tool_calls store
    max_output_tokens max_tool_calls temperature top_p top_logprobs reasoning text include
    metadata prompt_cache_key prompt_cache_retention prompt_cache_options safety_identifier
    truncation user
"""
_RESPONSES_FIELDS = frozenset(_RESPONSE.split())
_TOOL_KEYS = {"type", "name", "description", "parameters", "strict", "format", "cache_control"}
_OWN_TOOLS = ("function", "custom")
_PLAIN_CHOICES = ("auto", "none", "required")
_MOST_SHOWN = 500


class AskedError(TradesBenchError):
    """A request that is not let out as it is."""


@dataclass(frozen=True)
class Asked:
    """A request as it is let out.

    Attributes:
        path: where to, behind the provider's base address.
        body: what is sent, in one line of JSON.
        stream: whether the answer is to come in events.
        changes: what was taken out or replaced, each with what stood there.
        usage_added: whether usage was asked for on behalf of an agent that had not.
        guess: of the tokens that it may use, for the limits.

    """

    path: str
    body: bytes
    stream: bool
    changes: tuple[dict[str, str], ...] = ()
    usage_added: bool = False
    guess: int = 0
    _request: Mapping[str, Any] = field(default_factory=dict, repr=False)

    def without_usage(self) -> Asked:
        """The same for an endpoint that does not know `stream_options`."""
        request = {**self._request}
        del request["stream_options"]
        return replace(self, body=_dumped(request), usage_added=False, _request=request)


def ask(path: str, raw: bytes, model: str) -> Asked:
    """What is let out for a request of an agent's.

    Args:
        path: `CHAT` or `RESPONSES`.
        raw: its body.
        model: the run's.

    Raises:
        AskedError: it is no request, or has contents that the provider would have to fetch.

    """
    request = _parsed(raw)
    _check_turns(path, request)
    edit = _Edit(request)
    edit.keep(_CHAT_FIELDS if path == CHAT else _RESPONSES_FIELDS)
    if request.get("model") != model:
        edit.put("model", model)
    # Nothing is kept for another day; responses are kept unless it is said.
    if (path == RESPONSES or "store" in request) and request.get("store") is not False:
        edit.put("store", False)
    _tools(edit)
    stream = request.get("stream") is True
    added = path == CHAT and stream and _ask_for_usage(request)
    body = _dumped(request)
    outputs = [request.get(name) for name in ("max_tokens", "max_completion_tokens")]
    outputs.append(request.get("max_output_tokens"))
    output = max((one for one in outputs if type(one) is int and one > 0), default=0)
    return Asked(
        path, body, stream, tuple(edit.changes), added, guess_tokens(len(body)) + output, request
    )


class _Edit:
    """Changes to a request, each recorded."""

    def __init__(self, request: dict[str, Any]) -> None:
        self.request = request
        self.changes: list[dict[str, str]] = []

    def note(self, where: str, was: object, now: str) -> None:
        self.changes.append({"field": where, "was": shown(was, _MOST_SHOWN), "now": now})

    def keep(self, known: frozenset[str]) -> None:
        for name in [one for one in self.request if one not in known]:
            self.note(shown(name).strip("'"), self.request.pop(name), "taken out")

    def put(self, name: str, value: object) -> None:
        """Replace a value."""
        self.note(name, self.request.get(name), shown(value))
        self.request[name] = value

    def drop(self, name: str) -> None:
        if name in self.request:
            self.note(name, self.request.pop(name), "taken out")


def _parsed(raw: bytes) -> dict[str, Any]:
    try:
        request = json.loads(raw.decode(), parse_constant=_no_number)
    except (ValueError, RecursionError):
        raise AskedError("the body of a request is one JSON object", code="malformed") from None
    if not isinstance(request, dict):
        raise AskedError("the body of a request is one JSON object", code="malformed")
    return request


def _no_number(name: str) -> float:
    raise ValueError(name)


def _dumped(request: Mapping[str, Any]) -> bytes:
    return json.dumps(request, separators=(",", ":")).encode()


def _check_turns(path: str, request: Mapping[str, Any]) -> None:
    if path == CHAT:
        turns = request.get("messages")
        if not isinstance(turns, list) or not turns:
            raise AskedError(
                "`messages` is a list of at least one message", code="malformed", field="messages"
            )
        check_contents(turns, "messages")
        return
    turns = request.get("input")
    if isinstance(turns, list):
        check_contents(turns, "input")
    elif not isinstance(turns, str):
        raise AskedError("`input` is a text or a list", code="malformed", field="input")


def _tools(edit: _Edit) -> None:
    request = edit.request
    if "tools" in request:
        offered = request["tools"] if isinstance(request["tools"], list) else [request["tools"]]
        kept = []
        for place, tool in enumerate(offered):
            own = _own(tool)
            if own is None or own != tool:
                now = "taken out" if own is None else "only the agent's own part"
                edit.note(f"tools[{place}]", tool, now)
            if own is not None:
                kept.append(own)
        request["tools"] = kept
        if not kept:
            del request["tools"]
            edit.drop("tool_choice")
            edit.drop("parallel_tool_calls")
    choice = request.get("tool_choice")
    plain = choice is None or choice in _PLAIN_CHOICES
    if not plain and not (isinstance(choice, dict) and choice.get("type") in _OWN_TOOLS):
        edit.drop("tool_choice")


def _own(tool: object) -> dict[str, Any] | None:
    """The part of a tool that the agent itself runs; None if the provider would run it."""
    if not isinstance(tool, dict) or tool.get("type") not in _OWN_TOOLS:
        return None
    kind = tool["type"]
    inner = tool.get(kind)
    described = inner if isinstance(inner, dict) else tool
    name = described.get("name")
    # Moonshot's own tools are functions whose names begin with a dollar.
    if not isinstance(name, str) or name.startswith("$"):
        return None
    own = {key: value for key, value in tool.items() if key in _TOOL_KEYS}
    if isinstance(inner, dict):
        own[kind] = {key: value for key, value in inner.items() if key in _TOOL_KEYS}
    return own


def _ask_for_usage(request: dict[str, Any]) -> bool:
    options = request.get("stream_options")
    options = options if isinstance(options, dict) else {}
    if options.get("include_usage") is True:
        return False
    request["stream_options"] = {**options, "include_usage": True}
    return True
