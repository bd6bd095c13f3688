"""What a sitting of a test is made of: a room without walls, and nothing that is not asked for."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from tradesbench_gym.harness.cell import Cell, Doors, Probe, open_bare
from tradesbench_gym.harness.manifest import HarnessError
from tradesbench_gym.harness.sitting import Parts


def open_room(workspace: Path, api: int, gateway: int | None, readable: Sequence[Path]) -> Cell:
    """A room without walls."""
    del readable
    return open_bare(workspace, Doors(api, gateway))


def parts(**other: Any) -> Parts:
    """What a sitting without a model is made of, some of it exchanged."""
    made: dict[str, Any] = {"model": None, "room": open_room, "preflight": lambda *_: ()}
    return Parts(**{**made, **other})


def failed_preflight(probes: Sequence[Probe]) -> Any:
    """A pre-flight that finds an open door."""

    def tried(*_: object) -> tuple[()]:
        error = HarnessError("a wall gave way", code="not_isolated")
        error.probes = tuple(probes)  # type: ignore[attr-defined]
        raise error

    return tried
