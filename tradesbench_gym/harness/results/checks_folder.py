"""Checks of the rest of a folder: the record of requests with its totals, and the agent's notes."""

from __future__ import annotations

import hashlib
import json
from collections import defaultdict
from collections.abc import Iterator, Mapping
from dataclasses import asdict
from decimal import Decimal
from typing import Any

from tradesbench_gym.harness.folder import MOST_MEMORY
from tradesbench_gym.harness.gateway import RECORD, GatewayError, Prices
from tradesbench_gym.harness.gateway.journal import RAW, Reader
from tradesbench_gym.harness.gateway.tally import Tally
from tradesbench_gym.harness.gateway.usage import Tokens, cost_of
from tradesbench_gym.harness.gateway.wire import Events, Reading
from tradesbench_gym.harness.manifest import ModelPart, UsagePart, check_plain
from tradesbench_gym.harness.results.evidence import Evidence, hold, holds
from tradesbench_gym.harness.results.facts import prices_of
from tradesbench_gym.harness.transcript import Occasion
from tradesbench_gym.harness.workspace import MEMORY, read_file

_MOST = 64 * 1024 * 1024
_USAGE = ("requests", "retries", "input_tokens", "cached_tokens", "output_tokens", "unreported")


def tokens(seen: Evidence) -> str:
    """Tokens and cost are the record's, and the answers' own."""
    model, said = seen.manifest.model, seen.manifest.usage
    if model is None:
        holds(said is None, "the manifest has usage, and the run has no model")
        return "no model"
    requests = _proven_rows(seen, model)
    if said is None:
        holds(requests == 0 or not seen.left_alone, "the manifest has no usage")
        return f"{requests} requests, and no totals yet"
    _totals(seen, model, said)
    cost = "unknown" if said.cost is None else f"${said.cost}"
    return (
        f"{requests} requests, {said.input_tokens:,} tokens in ({said.cached_tokens:,} cached), "
        f"{said.output_tokens:,} out, {said.unreported} without a count, cost {cost}"
    )


def _rows(seen: Evidence) -> Iterator[Mapping[str, Any]]:
    path = seen.folder.path / RECORD
    holds(path.exists(), f"{RECORD} is missing")
    yield from Reader(seen.folder.path).rows()


def _totals(seen: Evidence, model: ModelPart, said: UsagePart) -> None:
    """The manifest's totals are those of the record when they were put down.

    What was out then may have come back since, but nothing may have been asked since.
    """
    tally, found, asked_since = Tally(prices_of(model)), False, False
    for row in (None, *_rows(seen)):
        if row is not None:
            tally.add(row)
            asked_since = asked_since or row["kind"] == "request"
        if any(_same(tally, said, stopped=stopped) for stopped in (False, True)):
            found, asked_since = True, False
    now = asdict(tally.usage(stopped=True))
    shown = {name: now[name] for name in (*_USAGE, "cost")}
    holds(found, f"the manifest's totals are not the record's, which has {shown}")
    holds(
        not (asked_since and seen.left_alone),
        f"the record has requests that the manifest's totals leave out: {shown}",
    )


def _same(tally: Tally, said: UsagePart, *, stopped: bool) -> bool:
    usage = tally.usage(stopped=stopped)
    known = all(getattr(usage, name) == getattr(said, name) for name in _USAGE)
    return known and usage.cost == said.cost


def _proven_rows(seen: Evidence, model: ModelPart) -> int:
    """Hold each row's tokens and cost against the answer that came; how many requests there are."""
    prices, paths, asked = prices_of(model), dict[int, str](), 0
    came: defaultdict[int, bytearray] = defaultdict(bytearray)
    for row in _lines(seen):
        number = int(row.get("request") or 0)
        if row["kind"] == "opened":
            hold(row["model"], model.name, "the manifest's model")
            hold(row["base_url"], model.base_url, "the manifest's address of the model")
        elif row["kind"] == "raw" and row["what"] == "response":
            came[number] += _bytes(row)
        elif row["kind"] == "request":
            asked += 1
            hold(asked, number, "the number of a request in the record")
            paths[number] = str(row["path"])
        elif row["kind"] in {"retry", "done"}:
            _one(row, number, _read(paths.get(number, ""), bytes(came.pop(number, b""))), prices)
    return asked


def _lines(seen: Evidence) -> Iterator[Mapping[str, Any]]:
    """All lines of the record, what was sent and came back too."""
    for _ in _rows(seen):  # damaged lines are told of here
        pass
    with (seen.folder.path / RECORD).open("rb") as file:
        for line in file:
            if not line.endswith(b"\n"):
                return
            try:
                yield json.loads(line)
            except ValueError:
                if line.startswith(RAW):
                    raise GatewayError("a line of what came back is damaged", code="raw") from None


def _bytes(row: Mapping[str, Any]) -> bytes:
    return str(row["text"]).encode() if "text" in row else str(row["latin1"]).encode("latin-1")


def _read(path: str, answer: bytes) -> Reading:
    try:
        whole = json.loads(answer)
    except (ValueError, RecursionError):
        events = Events(path, _MOST)
        events.feed(answer)
        events.end()
        return events.reading
    reading = Reading()
    reading.whole(path, whole)
    return reading


def _one(row: Mapping[str, Any], number: int, reading: Reading, prices: Prices) -> None:
    counted, where = reading.tokens, f"request {number}"
    if counted is None:
        hold(None, row.get("usage"), f"the record's tokens of {where}, whose answer tells none,")
        return
    hold(_plain(counted), row.get("usage"), f"the record's tokens of {where}")
    cost, said = cost_of(counted, prices), row.get("cost")
    hold(cost, None if said is None else Decimal(str(said)), f"the record's cost of {where}")


def _plain(counted: Tokens) -> dict[str, int]:
    return {"input": counted.input, "cached": counted.cached, "output": counted.output}


def memory(seen: Evidence) -> str:
    """The notes of every day are there, unchanged since."""
    kept = {int(one.said["day"]): one.said for one in seen.records if one.kind == "memory"}
    due = {about.number for about in seen.expected.occasions if about.kind == "day"}
    over = {day for day in due if seen.history.is_over(Occasion("day", day))}
    hold(sorted(over), sorted(day for day in kept if day in over), "the days with notes")
    files = {path.name for path in seen.folder.memory.glob("*")}
    there = {seen.folder.day_file(day).name for day in kept}
    holds(there <= files, f"memory/ lacks {', '.join(sorted(there - files))}")
    holds(
        files <= there or not seen.left_alone, f"memory/ has {sorted(files - there)[:1]} too many"
    )
    sizes = []
    for day, said in sorted(kept.items()):
        check_plain(seen.folder.day_file(day))
        notes = seen.folder.day_file(day).read_bytes()
        where = f"memory/{seen.folder.day_file(day).name}"
        hold(said["bytes"], len(notes), f"the size of {where}")
        digest = hashlib.sha256(notes).hexdigest()
        hold(said.get("sha256", digest), digest, f"the digest of {where}")
        sizes.append(len(notes))
    if seen.expected.simulation.ended and kept:
        last = read_file(seen.folder.workspace, MEMORY, MOST_MEMORY) or b""
        holds(
            last == seen.folder.day_file(max(kept)).read_bytes(),
            f"the workspace's {MEMORY} is not the one of the last day",
        )
    return f"{len(sizes)} days, {sum(sizes):,} bytes"
