"""A model's reply read as an answer to the call: an offer, a rejection, or what is wrong with it.

One JSON object or one line in a reply is the answer, whatever stands around it; two are none. It
reads words and knows no rule: whether the company lets an offer out is `text_offers`' matter.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from typing import Any

from tradesbench_gym.policies.registry import Decision
from tradesbench_gym.wrappers.text_terms import DAY, TIME, ReplyError, Terms, quoted, single

MOST_CHARACTERS = 200_000
"""Of a reply; a longer one is not read."""
_MOST_BRACES = 1_000
_LONGEST_LINE = 200
_BOOK, _REJECT = "book", "reject"
_ANSWERS = {_BOOK: _BOOK, _REJECT: _REJECT, "book_job": _BOOK, "reject_call": _REJECT}
_KEYS = ("technician", "date", "window")
FORM = (
    '{"answer": "book", "technician": NAME, "date": "YYYY-MM-DD", "window": "HH:MM"} '
    'or {"answer": "reject"}'
)
"""What an answer looks like; it names no slot, so that nobody books it because it stands there."""
TOOL_FORM = (
    "the tool book_job (technician, date as YYYY-MM-DD, window as HH:MM) or the tool reject_call"
)
"""The same for whoever answers by tools."""

_AROUND = " \t`*_~>#-•\"'“”.!;,"
_LABEL = re.compile(r"(?:my |final |the )*(?:answer|reply|decision|action)\W*", re.IGNORECASE)
_REJECTS = re.compile(r"reject(?:_call)?(?: (?:this |the )?call)?")
_BOOKS = re.compile(
    rf"book(?:_job)?:? (?P<technician>[^\s,]{{1,60}}(?: [^\s,]{{1,60}})??),? (?:on |for )?"
    rf"(?P<date>{DAY}),? (?:at |from )?(?P<window>{TIME})"
)


def read_reply(reply: str, terms: Terms, today: int, form: str = FORM) -> Decision | None:
    """The offer that a reply makes; None if it rejects the call. `form` is what errors ask for.

    Raises:
        ReplyError: no answer, two of them, or one in words that mean nothing here.

    """
    if len(reply) > MOST_CHARACTERS:
        raise ReplyError(
            f"the reply has {len(reply):,} characters and was not read: answer with {form}",
            code="long_reply",
            field="reply",
        )
    said = _after_thinking(reply)
    if not said.strip():
        raise ReplyError(
            f"the reply was empty: answer with {form}", code="empty_reply", field="reply"
        )
    objects, rest = _objects(said)
    lines = list(_answer_lines(rest))
    if len(objects) + len(lines) > 1:
        raise ReplyError(
            f"the reply holds more than one answer, and a call has one: answer only with {form}",
            code="several_answers",
            field="reply",
        )
    if objects:
        return _decided(_fields(objects[0]), terms, today, form)
    if lines:
        return _decided(lines[0], terms, today, form)
    raise _no_answer(rest, form)


def _after_thinking(reply: str) -> str:
    """What comes after a model's thoughts, where its server leaves them in the reply."""
    rest = reply.rpartition("</think>")[2]
    return rest.partition("<think>")[0]  # thoughts that never ended


def _objects(text: str) -> tuple[list[dict[str, Any]], str]:
    """Up to two JSON objects in a text, and the text without them."""
    decoder = json.JSONDecoder(object_pairs_hook=_once)
    found: list[dict[str, Any]] = []
    pieces, done, at = [], 0, text.find("{")
    for _ in range(_MOST_BRACES):
        if at < 0 or len(found) > 1:
            break
        try:
            value, end = decoder.raw_decode(text, at)
        except (ValueError, RecursionError):
            at = text.find("{", at + 1)
            continue
        found.append(value)
        pieces.append(text[done:at])
        done, at = end, text.find("{", end)
    return found, "\n".join([*pieces, text[done:]])


def _once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    made = dict(pairs)
    if len(made) < len(pairs):
        raise ValueError("a key stands twice")
    return made


def _answer_lines(text: str) -> Iterator[dict[str, Any]]:
    for line in map(_bare, _short_lines(text)):
        if _REJECTS.fullmatch(line):
            yield {"answer": _REJECT}
        elif line.startswith(_BOOK) and (match := _BOOKS.fullmatch(line)):
            yield {"answer": _BOOK, **match.groupdict()}


def _short_lines(text: str) -> Iterator[str]:
    return (line for line in text.splitlines() if len(line) <= _LONGEST_LINE)


def _bare(line: str) -> str:
    """A line without marks around it and without a label before it."""
    words = line.strip(_AROUND)
    return single(_LABEL.sub("", words, count=1) if _LABEL.match(words) else words).strip(_AROUND)


def _fields(value: dict[str, Any]) -> dict[str, Any]:
    """An object as an answer: also one in the form of a tool call."""
    named = {single(key): inner for key, inner in value.items()}
    arguments = named.get("arguments", named.get("parameters"))
    if "answer" not in named and isinstance(named.get("name"), str) and arguments is not None:
        arguments = arguments if isinstance(arguments, dict) else {}
        return {**{single(key): inner for key, inner in arguments.items()}, "answer": named["name"]}
    return named


def _decided(fields: Mapping[str, Any], terms: Terms, today: int, form: str) -> Decision | None:
    said = fields.get("answer")
    answer = _ANSWERS.get(single(said)) if isinstance(said, str) else None
    if answer is None:
        wrong = f"is 'book' or 'reject', not {quoted(said)}" if "answer" in fields else "is missing"
        raise ReplyError(
            f"the answer {wrong}: answer with {form}", code="unknown_answer", field="answer"
        )
    if answer == _REJECT:
        return None
    for key in _KEYS:
        if fields.get(key) in (None, ""):
            raise ReplyError(
                f"the booking names no {key}: answer with {form}", code="missing_field", field=key
            )
    return Decision(
        technician=terms.technician(fields["technician"]),
        ahead=terms.days_ahead(fields["date"], today),
        window=terms.window(fields["window"]),
    )


def _no_answer(text: str, form: str) -> ReplyError:
    begun = next((line for line in map(_bare, _short_lines(text)) if line.startswith(_BOOK)), None)
    if begun is not None:
        what = f"{quoted(begun)} is no whole booking, which is a name, a date and a time"
    elif "{" in text:
        what = "the reply holds no JSON object that can be read"
    else:
        what = "the reply holds no answer"
    return ReplyError(f"{what}: answer with {form}", code="no_answer", field="reply")
