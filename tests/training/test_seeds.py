"""Runs for the bench, the test, selection and training are kept apart."""

from __future__ import annotations

from pathlib import Path

import gymnasium as gym
import numpy as np
import pytest

import tradesbench_gym  # noqa: F401 - registers the environment

pytestmark = pytest.mark.train


def test_any_trainers_seed_gives_runs_from_ten_thousand_up() -> None:
    from tradesbench_gym.training.seeds import training_runs

    for seed in (0, 1, 45, 100, 250, None):
        runs = training_runs(seed, 64)
        assert min(runs) >= 10_000
        assert len(set(runs)) == 64
    assert training_runs(3, 64) == training_runs(3, 64)
    assert training_runs(3, 64) != training_runs(4, 64)


@pytest.mark.parametrize("run", [0, 45, 46, 100, 199, 200, 299, 9_999])
def test_the_guard_refuses_runs_below_ten_thousand(run: int) -> None:
    from tradesbench_gym.training.seeds import SeedError, check_training

    check_training([10_000, 10_001])
    with pytest.raises(SeedError, match=f"run {run:d} is not for training"):
        check_training(np.array([10_000, run]))


def test_wrapped_environments_play_training_runs_only() -> None:
    from tradesbench_gym.training.seeds import TrainingRuns, VectorTrainingRuns

    single = TrainingRuns(gym.make("TradesBench-v0", days=1))
    many = VectorTrainingRuns(gym.make_vec("TradesBench-v0", num_envs=2, days=1))
    for seed in (0, 7, None):
        assert single.reset(seed=seed)[1]["run_seed"] >= 10_000
        assert (many.reset(seed=seed)[1]["run_seed"] >= 10_000).all()
    assert (many.reset(seed=[5, None])[1]["run_seed"] >= 10_000).all()
    assert single.reset(seed=0)[1]["run_seed"] == single.reset(seed=0)[1]["run_seed"]


def test_the_guard_watches_runs_that_begin_by_themselves() -> None:
    from tradesbench_gym.training.seeds import SeedError, VectorTrainingRuns

    many = gym.make_vec("TradesBench-v0", num_envs=1, days=1)
    watched = VectorTrainingRuns(many)
    many.reset(seed=7)  # behind the wrapper's back
    with pytest.raises(SeedError, match="run 7 is not for training"):
        watched.step(np.zeros((1, 4), np.int64))


def test_runs_are_written_as_people_write_them() -> None:
    from tradesbench_gym.training.seeds import SeedError, parse_runs

    assert parse_runs("200:300") == list(range(200, 300))
    assert parse_runs("7,9:11") == [7, 9, 10]
    for wrong in ("", "a", "5:5", "3-4", "-1"):
        with pytest.raises(SeedError, match="runs are written as"):
            parse_runs(wrong)


def test_each_look_at_the_held_out_runs_is_written_down(tmp_path: Path) -> None:
    from tradesbench_gym.training.seeds import SeedError, write_look

    log = tmp_path / "docs" / "looks.md"
    assert not write_look("a.npz", "00ff", [200, 201], "", path=log)
    assert not log.exists()
    with pytest.raises(SeedError, match="say why"):
        write_look("a.npz", "00ff", [199, 200], " ", path=log)
    assert not log.exists()
    assert write_look("a.npz", "00ff", [100, 199], "release 1", path=log)
    assert write_look("b.npz", "11ee", [150], "two | lines\nof text", path=log)
    rows = [row for row in log.read_text(encoding="utf-8").splitlines() if ".npz" in row]
    assert len(rows) == 2
    assert rows[0].endswith("| a.npz | `00ff` | 100 to 199 | release 1 |")
    assert rows[1].endswith("| b.npz | `11ee` | 150 to 150 | two / lines of text |")
