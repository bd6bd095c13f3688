"""Companies whose phones are answered over HTTP: in process, and by servers in a thread."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path

import pytest

from tests.api.companies import Company, Served, opened, served
from tests.worlds import tiny_map
from tradesbench_gym.roads import write_map


@pytest.fixture
def opens(tmp_path: Path) -> Iterator[Callable[..., Company]]:
    """A maker of companies on the tiny map, asked in process."""
    with ExitStack() as held:
        yield lambda **wanted: held.enter_context(opened(tmp_path / "run.sqlite", **wanted))


@pytest.fixture
def company(opens: Callable[..., Company]) -> Company:
    """A tiny company at the start of its run, asked in process."""
    return opens()


@pytest.fixture
def running(company: Company) -> Iterator[Served]:
    """The same, served on two ports."""
    with served(company) as found:
        yield found


@pytest.fixture(scope="session")
def map_file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The tiny map in a file, for a server of its own process."""
    path = tmp_path_factory.mktemp("map") / "tiny.tbmap"
    write_map(path, tiny_map())
    return path
