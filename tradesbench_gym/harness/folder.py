"""The folder of a run: what lies where in it, and who holds it.

    manifest.json      what is played, and what came of it
    world.sqlite       the run itself
    transcript.jsonl   what was said and done, line by line
    requests.jsonl     the gateway's log of model requests
    private.json       the agent's token, for a resumption; removed when the run has ended
    sessions/          the agent program's own records of its conversations, a file a day
    memory/day-NN.md   MEMORY.md at the close of each day
    workspace/         the agent's own folder

Only the workspace is the agent's; the folder itself nobody but our user can enter. This module
knows no process but the one that holds the folder.
"""

from __future__ import annotations

import json
import os
import secrets
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Self

from tradesbench_gym.api.docs import write_docs
from tradesbench_gym.company.business import Business, open_business
from tradesbench_gym.harness.manifest import (
    HarnessError,
    Manifest,
    RunPart,
    read_manifest,
    salt_digest,
    sync_folder,
    write_manifest,
)
from tradesbench_gym.harness.workspace import MEMORY, read_file
from tradesbench_gym.world import World, WorldError
from tradesbench_gym.world.lock import FileLock

_PRIVATE = 0o700
MOST_MEMORY = 4 * 1024 * 1024


@dataclass(frozen=True)
class Plan:
    """What a new run is of. A salt of 0 is an open run's."""

    seed: int
    salt: int
    scenario: str = "sunridge"
    map: str = "phoenix"
    days: int | None = None
    start_date: str | None = None


class RunFolder:
    """A folder that is there; made by `create`."""

    def __init__(self, path: Path) -> None:
        self.path = path.resolve()

    @property
    def manifest_file(self) -> Path:
        """What is played, and what came of it."""
        return self.path / "manifest.json"

    @property
    def world(self) -> Path:
        """The run itself."""
        return self.path / "world.sqlite"

    @property
    def transcript(self) -> Path:
        """What was said and done."""
        return self.path / "transcript.jsonl"

    @property
    def private(self) -> Path:
        """What a resumption needs and nobody else may know."""
        return self.path / "private.json"

    @property
    def workspace(self) -> Path:
        """The agent's own folder."""
        return self.path / "workspace"

    @property
    def memory(self) -> Path:
        """MEMORY.md by day."""
        return self.path / "memory"

    @property
    def sessions(self) -> Path:
        """The agent program's own records."""
        return self.path / "sessions"

    @classmethod
    def create(cls, path: Path, plan: Plan) -> tuple[RunFolder, RunPart]:
        """A new folder with a world, a workspace and all that is in it; and what is played.

        Raises:
            HarnessError: the folder is there already and not empty, or cannot be made.
            TradesBenchError: a run that cannot be.

        """
        business = open_business(plan.scenario, plan.map, plan.days, plan.start_date)
        folder = cls(path)
        try:
            folder._make()
        except OSError as error:
            reason = (error.strerror or "unknown reason").lower()
            raise HarnessError(
                f"a run cannot be kept in {path}: {reason}", code="folder", field="out"
            ) from error
        write_docs(folder.workspace, business)
        (folder.workspace / MEMORY).touch()
        World.create(folder.world, plan.seed, salt=plan.salt, business=business).close()
        folder.world.chmod(0o600)
        sync_folder(folder.path)
        return folder, _run_part(plan, business)

    def _make(self) -> None:
        self.path.mkdir(parents=True, exist_ok=True)
        if any(self.path.iterdir()):
            raise HarnessError(
                f"{self.path} is not empty: name a new folder with --out",
                code="folder",
                field="out",
            )
        self.path.chmod(_PRIVATE)
        for one in (self.memory, self.sessions):
            one.mkdir(_PRIVATE)
        self.workspace.mkdir(_PRIVATE)

    def read(self) -> Manifest:
        """The manifest; HarnessError if there is none."""
        return read_manifest(self.manifest_file)

    def write(self, manifest: Manifest) -> None:
        """Put the manifest down."""
        write_manifest(self.manifest_file, manifest)

    def keep_memory(self, day: int) -> int:
        """Keep MEMORY.md as it is at the close of a day, from 1; its size in bytes.

        A link, a pipe or anything else that is no file of the agent's counts as no notes.
        """
        notes = read_file(self.workspace, MEMORY, MOST_MEMORY) or b""
        self.day_file(day).write_bytes(notes)
        return len(notes)

    def day_file(self, day: int) -> Path:
        """Where the notes of a day are kept."""
        return self.memory / f"day-{day:02}.md"


def _run_part(plan: Plan, business: Business) -> RunPart:
    return RunPart(
        seed=plan.seed,
        salt_digest=salt_digest(plan.salt),
        scenario=business.scenario.name,
        scenario_digest=business.scenario.digest,
        map=plan.map,
        map_digest=business.roadmap.digest,
        days=business.days,
        start_date=business.start_date.isoformat(),
    )


class Hold:
    """The hold on a run's folder: one harness at a time."""

    def __init__(self, folder: RunFolder) -> None:
        """Take hold of the folder.

        Raises:
            HarnessError: another process holds it.

        """
        folder.read()  # a folder of no run gets no lock
        try:
            self._lock = FileLock(folder.manifest_file)
        except WorldError as error:
            raise HarnessError(error.message, code="held", field="folder") from None

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._lock.release()


@dataclass
class Private:
    """What a resumption needs: the agent's token and the port it knows, so that a script it wrote
    goes on working.
    """

    path: Path

    @cached_property
    def _kept(self) -> dict[str, str | int]:
        try:
            kept: dict[str, str | int] = json.loads(self.path.read_text(encoding="utf-8"))
        except FileNotFoundError:
            kept = {"token": secrets.token_urlsafe(32), "port": 0}
        return kept

    @property
    def token(self) -> str:
        """The agent's token, the same over the whole run."""
        return str(self._kept["token"])

    @property
    def port(self) -> int:
        """The port that the agent knew last; 0 if none yet."""
        return int(self._kept["port"])

    def keep(self, port: int) -> None:
        """Put it down, with the port."""
        self._kept["port"] = port
        made = self.path.with_suffix(".new")
        made.unlink(missing_ok=True)
        handle = os.open(made, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
        with os.fdopen(handle, "w", encoding="utf-8") as file:
            json.dump(self._kept, file)
            file.flush()
            os.fsync(file.fileno())
        made.replace(self.path)
