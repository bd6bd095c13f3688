"""Runs of every kind, played and read once for all tests of a process."""

import pytest

from tests.report.html.worlds import Runs, reader


@pytest.fixture(scope="session")
def run_of(tmp_path_factory: pytest.TempPathFactory) -> Runs:
    """The run of a kind, by its name in `worlds.KINDS`."""
    return reader(tmp_path_factory.mktemp("runs"))
