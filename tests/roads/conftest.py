"""Maps to test with, a cache of the test's own, and the way to the shared data files."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from tests.roads.towns import make_town
from tradesbench_gym.roads import RoadMap, open_map


@pytest.fixture
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty cache folder of this test's own."""
    folder = tmp_path / "cache"
    monkeypatch.setenv("TRADESBENCH_CACHE", str(folder))
    return folder


@pytest.fixture(scope="session")
def phoenix(tmp_path_factory: pytest.TempPathFactory) -> RoadMap:
    """The map that ships, unpacked for these tests alone: they run without a home folder too."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("TRADESBENCH_CACHE", str(tmp_path_factory.mktemp("maps")))
        return open_map("phoenix")


@pytest.fixture
def town() -> RoadMap:
    """A map in memory: 12 anchors on a 4 × 3 grid a kilometre apart, 200 addresses, two zones."""
    return make_town()


@pytest.fixture
def shared_data() -> Path:
    """The folder of shared data files; a test that needs it is skipped, loudly, without it."""
    return find_shared_data()


def find_shared_data() -> Path:
    """`$TRADESBENCH_DATA`, or a folder `shared/data` beside the checkout."""
    chosen = os.environ.get("TRADESBENCH_DATA")
    checkout = Path(__file__).resolve().parents[2]
    for folder in [Path(chosen)] if chosen else [checkout.parent / "shared" / "data"]:
        if folder.is_dir():
            return folder
    pytest.skip("SKIPPED FOR WANT OF DATA: set TRADESBENCH_DATA to the folder of shared data files")
