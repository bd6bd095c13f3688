"""What the tests of `tradesbench llm` share: what a call came to, and scripted endpoints."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

from tests.cli.stub_endpoint import Reply, Request, said

REJECT = '{"answer": "reject"}'


class Called(NamedTuple):
    """What a call of the command came to."""

    status: int
    out: str
    err: str
    folder: Path

    @property
    def results(self) -> dict[str, Any]:
        found: dict[str, Any] = json.loads((self.folder / "results.json").read_text("utf-8"))
        return found

    def rows(self, seed: int) -> list[dict[str, Any]]:
        lines = (self.folder / f"seed-{seed}.jsonl").read_text("utf-8").splitlines()
        return [json.loads(line) for line in lines]


def in_turn(*replies: Reply) -> Callable[[Request], Reply]:
    """These replies, then rejections for ever."""
    left: Iterator[Reply] = iter(replies)
    return lambda _request: next(left, said(REJECT))
