"""What the README shows is run as it stands there."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from tradesbench_gym.company.play import play
from tradesbench_gym.company.simulation import Simulation
from tradesbench_gym.policies.load import load_policy

README = Path(__file__).parents[1] / "README.md"
SCRIPT, TRAINING, POLICY = re.findall(r"```python\n(.*?)```", README.read_text("utf-8"), re.DOTALL)


def test_the_script_plays_a_run(capsys: pytest.CaptureFixture[str]) -> None:
    exec(compile(SCRIPT, "README.md", "exec"), {})  # noqa: S102 - our own README
    assert re.fullmatch(r"-?\d+\n", capsys.readouterr().out)


@pytest.mark.parametrize("seed", range(3))
def test_the_policy_makes_legal_offers_to_the_end(tmp_path: Path, seed: int) -> None:
    mine = tmp_path / "mine.py"
    mine.write_text(POLICY, encoding="utf-8")
    simulation = Simulation(seed)
    play(simulation, load_policy(f"{mine}:decide"))
    assert simulation.ended


@pytest.mark.train
def test_the_training_learns() -> None:
    shorter = TRAINING.replace('"MultiInputPolicy", env)', '"MultiInputPolicy", env, n_steps=64)')
    assert "n_steps=64" in shorter
    learned = shorter.replace("model.learn(10_000)", "model.learn(64)")
    assert learned != shorter
    exec(compile(learned, "README.md", "exec"), {})  # noqa: S102 - our own README
