"""Runs with an agent, small enough for a test: on the tiny map, without walls."""

from __future__ import annotations

import sys
from collections import Counter
from pathlib import Path
from typing import Any

from tests.harness.doubles import parts
from tradesbench_gym.harness.days import Watch
from tradesbench_gym.harness.folder import Plan, RunFolder
from tradesbench_gym.harness.manifest import (
    AgentName,
    AgentPart,
    LimitsPart,
    Manifest,
    ModelPart,
    Status,
    VersionsPart,
    now,
)
from tradesbench_gym.harness.sitting import Parts, Sitting
from tradesbench_gym.harness.transcript import Record, read_transcript
from tradesbench_gym.world import World

PHONE = Path(__file__).parent / "phone.py"
SALT = 0x5EA1


def begin(
    path: Path,
    map_file: Path,
    *manner: object,
    days: int = 1,
    seed: int = 5,
    model: ModelPart | None = None,
    agent: AgentPart | None = None,
    **limits: Any,
) -> RunFolder:
    """A new run that an agent of some manner is to play."""
    folder, run = RunFolder.create(path, Plan(seed, SALT, map=str(map_file), days=days))
    program = (sys.executable, "-I", str(PHONE), *map(str, manner))
    folder.write(
        Manifest(
            status=Status.STOPPED,
            run=run,
            agent=agent or AgentPart(name=AgentName.SCRIPTED, program=program),
            model=model,
            limits=LimitsPart(**limits),
            versions=VersionsPart(
                tradesbench_gym="test", rules=1, world=1, python="3", platform="test"
            ),
            isolated=False,
            created_at=now(),
        )
    )
    return folder


def play(folder: RunFolder, made: Parts | None = None, watch: Watch | None = None) -> Manifest:
    """Play a run in one sitting."""
    return Sitting(folder, made or parts(), watch or Watch()).play()


def records(folder: RunFolder, kind: str | None = None) -> list[Record]:
    """The transcript, or the lines of a kind in it."""
    return [one for one in read_transcript(folder.transcript) if kind in {None, one.kind}]


def outcomes(folder: RunFolder) -> Counter[str]:
    """What became of the calls, as the transcript has it."""
    found = records(folder, "outcome")
    return Counter(one.said["outcome"] for one in found if one.said["about"] == "call")


def codes(manifest: Manifest) -> Counter[tuple[str, str]]:
    """The faults of a run, by kind and code."""
    return Counter((fault.kind, fault.code) for fault in manifest.faults)


def digest(folder: RunFolder, map_file: Path) -> str:
    """The digest of a run's whole state, played again from its journal."""
    with World.open(folder.world, map=map_file) as world:
        return world.digest()


def table(folder: RunFolder, map_file: Path) -> list[int]:
    """The states of all calls, as the world has them."""
    with World.open(folder.world, map=map_file) as world:
        record = world.record
        states: list[int] = record["calls"]["state"][: int(record["n_calls"])].tolist()
        return states
