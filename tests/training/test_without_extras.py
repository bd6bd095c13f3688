"""What the training commands do where their extras are not installed."""

from __future__ import annotations

import subprocess
import sys

import pytest


def run_without(packages: tuple[str, ...], module: str) -> subprocess.CompletedProcess[str]:
    """A module's `--help`, where some packages cannot be imported."""
    blocked = f"import sys; sys.modules.update(dict.fromkeys({packages}))"
    play = (
        f"import runpy; runpy.run_module('tradesbench_gym.training.{module}', run_name='__main__')"
    )
    code = f"{blocked}; sys.argv[1:] = ['--help']; {play}"
    command = [sys.executable, "-c", code]
    return subprocess.run(command, capture_output=True, text=True, check=False, timeout=300)


@pytest.mark.parametrize(
    ("module", "package", "extra"), [("train", "torch", "train"), ("rllib", "ray", "ray,train")]
)
def test_a_missing_extra_is_one_sentence(module: str, package: str, extra: str) -> None:
    done = run_without((package,), module)
    assert done.returncode == 2
    sentence = f"Error: training.{module} needs {package}: pip install 'tradesbench-gym[{extra}]'"
    assert done.stderr.strip() == sentence


@pytest.mark.parametrize("module", ["evaluate", "enjoy"])
def test_a_trained_model_is_looked_at_without_torch(module: str) -> None:
    done = run_without(("torch", "stable_baselines3"), module)
    assert done.returncode == 0, done.stderr
