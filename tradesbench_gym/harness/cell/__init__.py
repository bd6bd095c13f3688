"""Where an agent's programs run: walls around them, attempts on the walls, and their end.

`open_cell` builds a cell with walls, which needs root; `open_bare` gives the same interface with
none. Neither knows a run: the driver says which folder is the workspace, which ports are doors and
what is private.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from tradesbench_gym.harness.cell.bare import BareCell
from tradesbench_gym.harness.cell.isolated import IsolatedCell
from tradesbench_gym.harness.cell.preflight import NotIsolatedError
from tradesbench_gym.harness.cell.records import (
    Cell,
    CellError,
    Doors,
    Private,
    Probe,
    Survivor,
)
from tradesbench_gym.harness.cell.room.spec import Limits

__all__ = [
    "BareCell",
    "Cell",
    "CellError",
    "Doors",
    "IsolatedCell",
    "Limits",
    "NotIsolatedError",
    "Private",
    "Probe",
    "Survivor",
    "open_bare",
    "open_cell",
]


def open_cell(
    workspace: Path,
    doors: Doors,
    *,
    readable: Sequence[Path] = (),
    limits: Limits | None = None,
) -> IsolatedCell:
    """Build a cell around a workspace.

    Args:
        workspace: a folder in one of ours with mode 0700; it is the agent's while the cell is open.
        doors: the ports of 127.0.0.1 that the agent may reach, at the same numbers.
        readable: folders that the agent may read and run, at the same paths: its own program.
        limits: what the agent may use up.

    Raises:
        CellError: one sentence, where a cell cannot be built, with the way out.

    """
    return IsolatedCell(workspace, doors, readable=readable, limits=limits)


def open_bare(workspace: Path, doors: Doors) -> BareCell:
    """The same without walls: the agent runs as this user and can read what we can."""
    return BareCell(workspace, doors)
