"""What people type to say which runs they mean: seeds such as `0:23,40`, policies with settings.

Text in, plain lists out, or one sentence that says what was wrong; it plays and prints nothing.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import Final

from tradesbench_gym.errors import TradesBenchError

MOST_RUNS: Final = 1_000_000
_SEEDS: Final = 2**64
_RANGE: Final = re.compile(r"(\d{1,20})(?::(\d{1,20}))?", re.ASCII)


def parse_seeds(text: str) -> list[int]:
    """Numbers of runs, each once, in the order given; a range is half open, as in Python.

    >>> parse_seeds("0:3,7,2")
    [0, 1, 2, 7]

    Raises:
        TradesBenchError: text that names no seeds.

    """
    found: dict[int, None] = {}
    for piece in text.split(","):
        match = _RANGE.fullmatch(piece.strip())
        if match is None:
            raise _wrong_seeds(
                f"seeds look like 0:23, 5 or 1,4,7:10, and {piece.strip()!r} does not"
            )
        first = int(match[1])
        last = int(match[2]) if match[2] else first + 1
        if last <= first:
            raise _wrong_seeds(
                f"seeds {piece.strip()} are none: a range ends before its second number"
            )
        if last > _SEEDS:
            raise _wrong_seeds(f"seeds go up to {_SEEDS - 1}, and {piece.strip()} lies beyond")
        if last - first > MOST_RUNS - len(found):
            raise _wrong_seeds(f"seeds {text} are more than {MOST_RUNS:,} runs")
        found |= dict.fromkeys(range(first, last))
    return list(found)


def check_size(policies: Sequence[str], seeds: Sequence[int]) -> None:
    """Refuse more runs than anybody can mean; raises TradesBenchError."""
    if len(policies) * len(seeds) > MOST_RUNS:
        raise _wrong_seeds(
            f"{len(policies)} policies on {len(seeds):,} seeds are more than {MOST_RUNS:,} runs"
        )


def _wrong_seeds(sentence: str) -> TradesBenchError:
    return TradesBenchError(sentence, code="seeds", field="seeds")


def parse_policies(text: str) -> list[str]:
    """Policies, each once, in the order given; `key=value` is a setting of the policy before it.

    No name of a policy holds a comma, a colon or an equals sign: this can be read in one way only.

    >>> parse_policies("oracle,oracle:margin=20,quantile=0.8,do-nothing")
    ['oracle', 'oracle:margin=20,quantile=0.8', 'do-nothing']

    Raises:
        TradesBenchError: text that names no policy.

    """
    found = dict.fromkeys(_joined(text))
    if not found:
        raise TradesBenchError("name at least one policy", code="policies", field="policies")
    return list(found)


def _joined(text: str) -> Iterator[str]:
    policy = ""
    for piece in filter(None, map(str.strip, text.split(","))):
        if ":" in policy and "=" in piece and ":" not in piece:
            policy += f",{piece}"
            continue
        if policy:
            yield policy
        policy = piece
    if policy:
        yield policy
