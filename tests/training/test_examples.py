"""The examples run, in a few seconds of training each."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

pytestmark = pytest.mark.train
EXAMPLES = Path(__file__).parents[2] / "examples"
SCRIPTS = ("pytorch_ppo.py", "sb3_contrib_maskable_ppo.py", "sb3_ppo.py")


@pytest.mark.parametrize("script", SCRIPTS)
def test_an_example_runs(script: str, tmp_path: Path) -> None:
    done = subprocess.run(
        [sys.executable, str(EXAMPLES / script), "--steps", "512", "--envs", "8"],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=False,
        timeout=300,
    )
    assert done.returncode == 0, done.stderr
    assert "512 steps" in done.stdout
