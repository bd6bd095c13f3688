"""Tables of Markdown: written for whoever reads a document, and read back by a program.

What a document says in figures stands in tables, so that one layout serves both. This module knows
no document.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from itertools import pairwise

_RULE = re.compile(r"\|( ?:?-+:? ?\|)+")
_BETWEEN = re.compile(r"(?<!\\)\|")


def table(head: Sequence[str], rows: Iterable[Sequence[object]]) -> str:
    r"""A table, one line a row.

    >>> print(table(["window", "hours"], [["07:00-09:00", "regular"], ["a|b", ""]]))
    | window | hours |
    | --- | --- |
    | 07:00-09:00 | regular |
    | a\|b |  |
    """
    lines = [_row(head), _row(["---"] * len(head))]
    return "\n".join([*lines, *map(_row, rows)])


def tables(text: str) -> Iterator[list[dict[str, str]]]:
    r"""The tables of a document in order, each row by the words of the head.

    >>> list(tables("Hours:\n\n| window | hours |\n| --- | --- |\n| a\\|b | regular |\n"))
    [[{'window': 'a|b', 'hours': 'regular'}]]
    """
    head: list[str] | None = None
    rows: list[dict[str, str]] = []
    for line, following in pairwise([*text.split("\n"), ""]):
        if head is None:
            if _RULE.fullmatch(following) and line.startswith("|"):
                head, rows = _cells(line), []
        elif not line.startswith("|"):
            yield rows
            head = None
        elif not _RULE.fullmatch(line):
            rows.append(dict(zip(head, _cells(line), strict=False)))
    if head is not None:
        yield rows


def _row(cells: Iterable[object]) -> str:
    return "| " + " | ".join(_escaped(str(cell)) for cell in cells) + " |"


def _escaped(cell: str) -> str:
    return cell.strip().replace("\n", " ").replace("|", "\\|")


def _cells(line: str) -> list[str]:
    inner = _BETWEEN.split(line.strip())[1:-1]
    return [cell.strip().replace("\\|", "|") for cell in inner]
