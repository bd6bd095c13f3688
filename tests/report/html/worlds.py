"""World files of every kind that a page must make sense of, on the tiny map."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tests.worlds import tiny_business, tiny_map
from tradesbench_gym.core.codes import Stop
from tradesbench_gym.policies.load import load_policy
from tradesbench_gym.report.html.facts import Run
from tradesbench_gym.report.html.reading import read_run
from tradesbench_gym.roads import write_map
from tradesbench_gym.world import World, play_on

NOBODY: dict[str, Any] = {
    "demand.start": 0,
    "demand.gain": 0,
    "demand.book_share": 0,
    "demand.other_min": 0,
    "demand.other_max": 0,
    "demand.installations": {"0": 1},
}
POOR: dict[str, Any] = {"pay.starting_cash": 200}
HOSTILE = "</script><b>Bob&Co</b>"


@dataclass(frozen=True)
class Kind:
    """A kind of run: its changes to the scenario, length, policy, and how far it is played."""

    changes: dict[str, Any]
    days: int = 3
    policy: str = "oracle"
    commands: int | None = None


KINDS = {
    "whole": Kind({}, 14),
    "missing": Kind({}, 5, "accept-all"),
    "bankrupt": Kind(POOR, 14, "do-nothing"),
    "quiet": Kind(NOBODY, 14),
    "long": Kind({}, 28),
    "unfinished": Kind({}, 14, commands=60),
    "unbegun": Kind({}, 14, commands=0),
    "hostile": Kind({"company": HOSTILE, "technicians.marcus.name": HOSTILE}, 2),
}


def make(path: Path, kind: Kind, seed: int = 7) -> Path:
    """A world file of a kind."""
    business = tiny_business(kind.changes, kind.days)
    with World.create(path, seed, business=business) as world:
        if kind.commands == 0:
            return path
        for _stop in play_on(world, load_policy(kind.policy, seed=seed)):
            if kind.commands is not None and world.commands >= kind.commands:
                break
        if kind.commands is not None:
            assert world.next_call() == Stop.NEW_CALL  # left in the middle of a call
    return path


def map_file(folder: Path) -> Path:
    """The tiny map in a file."""
    path = folder / "tiny.tbmap"
    write_map(path, tiny_map())
    return path


Runs = Callable[[str], Run]


def reader(folder: Path) -> Runs:
    """Makes and reads the run of a kind, once."""
    known: dict[str, Run] = {}
    tiny = str(map_file(folder))

    def read(name: str) -> Run:
        if name not in known:
            path = make(folder / f"{name}-7.sqlite", KINDS[name])
            known[name] = read_run(path, map_name=tiny)
        return known[name]

    return read
