"""A folder's evidence, each piece read once and only when it is asked for, so that a damaged one
fails the checks that need it and no other.
"""

from __future__ import annotations

from functools import cached_property
from pathlib import Path

from tradesbench_gym.errors import TradesBenchError
from tradesbench_gym.harness.folder import RunFolder
from tradesbench_gym.harness.manifest import Manifest, Status
from tradesbench_gym.harness.results.expected import Expected, expect
from tradesbench_gym.harness.transcript import History, Record, read_transcript
from tradesbench_gym.world import AuditReport, audit
from tradesbench_gym.world.identity import MapLike


class UnprovenError(TradesBenchError):
    """A check that fails; its sentence says what was found and what should be."""


class Evidence:
    """The folder of a run that is to be proven.

    Args:
        path: the folder.
        map: the map, where the manifest's own name for it is not that of a map here.
        digest: the final digest as it was published, if it was.

    """

    def __init__(self, path: Path, known: MapLike | None = None, digest: str | None = None) -> None:
        self.folder = RunFolder(path)
        self.digest = digest
        self._known = known

    @cached_property
    def manifest(self) -> Manifest:
        """What is played, and what came of it."""
        return self.folder.read()

    @property
    def map(self) -> MapLike:
        """The map that the run is played on here."""
        return self._known or self.manifest.run.map

    @cached_property
    def audit(self) -> AuditReport:
        """What an audit of the world file finds."""
        return audit(self.folder.world, map=self.map, digest=self.digest)

    @cached_property
    def expected(self) -> Expected:
        """What the world file says must have been said."""
        return expect(self.folder.world, self.map)

    @cached_property
    def records(self) -> list[Record]:
        """The transcript."""
        return list(read_transcript(self.folder.transcript))

    @cached_property
    def history(self) -> History:
        """What the transcript says of the prompts."""
        return History(self.records)

    @property
    def left_alone(self) -> bool:
        """Whether the last sitting came to put its totals down: it was not killed."""
        return self.manifest.status != Status.RUNNING


def hold(wanted: object, found: object, what: str) -> None:
    """Raise UnprovenError unless two things are the same."""
    if wanted != found:
        raise UnprovenError(f"{what} is {found!s:.120}, should be {wanted!s:.120}", code="unproven")


def holds(condition: bool, sentence: str) -> None:
    """Raise UnprovenError with a sentence unless a condition holds."""
    if not condition:
        raise UnprovenError(sentence, code="unproven")
