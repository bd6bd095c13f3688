from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.harness.cell.cells import Site, site
from tradesbench_gym.harness.cell import IsolatedCell, open_cell


@pytest.fixture
def place(tmp_path: Path) -> Iterator[Site]:
    """A run's private folder."""
    with site(tmp_path / "run") as here:
        yield here


@pytest.fixture
def cell(place: Site) -> Iterator[IsolatedCell]:
    """A cell around its workspace."""
    with open_cell(place.workspace, place.doors) as opened:
        yield opened
