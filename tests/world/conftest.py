"""A finished run in a file, played once for all tests of a process."""

import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.world.runs import create, play_to_the_end


@pytest.fixture(scope="session")
def finished_run(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("finished") / "run.sqlite"
    with create(path) as world:
        play_to_the_end(world)
    return path


@pytest.fixture
def copy_of_run(finished_run: Path, tmp_path: Path) -> Callable[[], Path]:
    """A maker of fresh copies of the finished run."""

    def copy() -> Path:
        path = tmp_path / "copy.sqlite"
        shutil.copyfile(finished_run, path)
        return path

    return copy
