"""One gateway for the tests that let nothing out."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.harness.gateway.gateways import Pair, before
from tests.harness.stub_provider import Stub, providing
from tradesbench_gym.harness.gateway import Gateway


@pytest.fixture(scope="module")
def shared(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Stub, Gateway]]:
    """A stub and a gateway in front of it."""
    folder = tmp_path_factory.mktemp("gateway")
    with providing() as stub, before(stub, folder) as gateway:
        yield stub, gateway


@pytest.fixture(scope="module")
def pair(shared: tuple[Stub, Gateway]) -> Pair:
    """The same, for requests that are let out."""
    return Pair(*shared)
