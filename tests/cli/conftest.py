"""Fixtures of the tests of `tradesbench llm`."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from typer.testing import CliRunner

from tests.cli.llm_calls import Called
from tradesbench_gym.cli import app
from tradesbench_gym.commands import llm_endpoint


@pytest.fixture
def quick(monkeypatch: pytest.MonkeyPatch) -> list[float]:
    """Waits are counted and not slept."""
    waited: list[float] = []
    monkeypatch.setattr(llm_endpoint, "_sleep", waited.append)
    return waited


@pytest.fixture
def llm(tmp_path: Path, quick: list[float]) -> Callable[..., Called]:
    del quick  # is asked for so that no test sleeps

    def call(url: str, *words: str, **environment: str) -> Called:
        folder = tmp_path / "out"
        runner = CliRunner(env={"COLUMNS": "120", "TRADESBENCH_QUIET": "1", **environment})
        command = ["llm", "--model", "stub", "--base-url", url, "--out", str(folder), *words]
        result = runner.invoke(app, command)
        if result.exception is not None and not isinstance(result.exception, SystemExit):
            raise result.exception
        return Called(result.exit_code, result.stdout, result.stderr, folder)

    return call
