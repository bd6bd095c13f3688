"""A street plan small enough to draw by hand, and the way to the real extracts."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from tests.roads.osm.plans import write_area, write_plan

CHECKOUT = Path(__file__).resolve().parents[3]


@pytest.fixture(autouse=True)
def _own_cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TRADESBENCH_CACHE", str(tmp_path / "cache"))


@pytest.fixture
def plan(tmp_path: Path) -> Path:
    """The extract of `plans.PLAN`."""
    return write_plan(tmp_path / "plan.osm")


@pytest.fixture
def area(tmp_path: Path) -> Path:
    """An area file of one zone around it."""
    return write_area(tmp_path / "area.toml")


@pytest.fixture(scope="session")
def extracts() -> Path:
    """The real extracts: `$TRADESBENCH_OSM_DATA`, or shared/data/osm beside the checkout."""
    chosen = os.environ.get("TRADESBENCH_OSM_DATA")
    folder = Path(chosen) if chosen else CHECKOUT.parent / "shared" / "data" / "osm"
    if not folder.is_dir():
        pytest.skip("SKIPPED FOR WANT OF DATA: set TRADESBENCH_OSM_DATA to a folder of extracts")
    return folder


def extract(folder: Path, name: str) -> Path:
    """One real extract; the test is skipped, with a reason, where it is missing."""
    path = folder / name
    if not path.is_file():
        pytest.skip(f"SKIPPED FOR WANT OF DATA: there is no {name} in {folder}")
    return path
