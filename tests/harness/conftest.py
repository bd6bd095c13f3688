"""The tiny map in a file, and where a run of a test lies."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.worlds import tiny_map
from tradesbench_gym.harness.agents.pi import PiProgram
from tradesbench_gym.harness.parts import installed_pi
from tradesbench_gym.harness.pi_install import SetupError
from tradesbench_gym.roads import write_map


@pytest.fixture(scope="session")
def map_file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The tiny map in a file, for a server of its own process."""
    path = tmp_path_factory.mktemp("map") / "tiny.tbmap"
    write_map(path, tiny_map())
    return path


@pytest.fixture(scope="session")
def pi() -> PiProgram:
    """pi, where `tradesbench harness setup` has put it."""
    try:
        return installed_pi(None)
    except SetupError as error:
        pytest.skip(f"{error}: tradesbench harness setup")
