"""What the training commands do where their extras are not installed."""

from __future__ import annotations

import subprocess
import sys
from importlib.util import find_spec

import pytest


def run(module: str, *arguments: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", f"tradesbench_gym.training.{module}", *arguments]
    return subprocess.run(command, capture_output=True, text=True, check=False)


@pytest.mark.parametrize(
    ("module", "package", "extra"), [("train", "torch", "train"), ("rllib", "ray", "ray,train")]
)
def test_a_missing_extra_is_one_sentence(module: str, package: str, extra: str) -> None:
    if find_spec(package):
        pytest.skip(f"{package} is installed")
    done = run(module)
    assert done.returncode == 2
    sentence = f"Error: training.{module} needs {package}: pip install 'tradesbench-gym[{extra}]'"
    assert done.stderr.strip() == sentence


@pytest.mark.parametrize("module", ["evaluate", "enjoy"])
def test_a_trained_model_is_looked_at_without_torch(module: str) -> None:
    blocked = "import sys; sys.modules.update(dict.fromkeys(['torch', 'stable_baselines3']))"
    play = "import runpy; runpy.run_module('tradesbench_gym.training.{}', run_name='__main__')"
    code = f"{blocked}; sys.argv[1:] = ['--help']; {play.format(module)}"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
