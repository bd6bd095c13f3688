"""What a conversation may hold: texts, calls of the agent's own tools, and pictures sent whole.

A part with an address or the name of a stored file would have the provider fetch it, which is a
way out of the agent's closed room. This module knows one request and no network.
"""

from __future__ import annotations

from typing import Any

from tradesbench_gym.errors import TradesBenchError, shown

_OWN_ITEMS = """
    message function_call function_call_output custom_tool_call custom_tool_call_output reasoning
"""
_OWN_PARTS = """
    text input_text output_text refusal thinking redacted_thinking reasoning reasoning_text
    summary_text
"""
_ITEMS, _PARTS = frozenset(_OWN_ITEMS.split()), frozenset(_OWN_PARTS.split())
_PICTURES = ("image_url", "input_image")
_LISTS = ("content", "output", "summary")


class ContentsError(TradesBenchError):
    """A part of a conversation that is not let out."""


def check_contents(turns: list[Any], where: str) -> None:
    """Raise ContentsError unless every part of a conversation is one that stands for itself.

    Args:
        turns: messages of chat completions, or items of responses.
        where: their name in the request.

    """
    for place, turn in enumerate(turns):
        here = f"{where}[{place}]"
        if not isinstance(turn, dict):
            raise ContentsError(
                f"{here} is an object, not {shown(turn)}", code="malformed", field=where
            )
        kind = turn.get("type")
        if where == "input" and kind is not None and kind not in _ITEMS:
            raise _refused(kind, here)
        for name in _LISTS:
            parts = turn.get(name)
            if isinstance(parts, list):
                for number, part in enumerate(parts):
                    _check_part(part, f"{here}.{name}[{number}]")


def _check_part(part: object, here: str) -> None:
    if isinstance(part, str):
        return
    if not isinstance(part, dict):
        raise ContentsError(f"{here} is an object, not {shown(part)}", code="malformed")
    kind = part.get("type")
    if kind in _PICTURES:
        address = part.get("image_url")
        address = address.get("url") if isinstance(address, dict) else address
        if isinstance(address, str) and address.startswith("data:") and "file_id" not in part:
            return
        raise ContentsError(
            f"{here} is a picture that the provider would fetch: send it whole, as a data: address",
            code="remote_content",
        )
    if kind not in _PARTS:
        raise _refused(kind, here)


def _refused(kind: object, here: str) -> ContentsError:
    return ContentsError(
        f"{here} is of the kind {shown(kind)}, which is not let out: a conversation holds texts, "
        "pictures sent whole, and the agent's own tools",
        code="remote_content",
    )
