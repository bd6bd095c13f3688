"""Training from the command line: killed and started again it loses nothing, and it says so."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

pytestmark = pytest.mark.train
ROOT = Path(__file__).parents[2]
SMALL = """
[environments]
count = 4

[network]
width = 8
value_width = 8

[teacher]
policy = ""
margin = 50.0
spread = 0.2

[cloning]
runs = 4
epochs = 1
batch_size = 64

[ppo]
n_steps = 8
batch_size = 16
n_epochs = 1

[training]
steps = 192
evaluate_every = 3
checkpoint_every = 2
evaluation_runs = 2
"""


@pytest.fixture
def settings(tmp_path: Path) -> Path:
    path = tmp_path / "small.toml"
    path.write_text(SMALL, encoding="utf-8")
    return path


def command(module: str, *arguments: Any) -> list[str]:
    return [sys.executable, "-m", f"tradesbench_gym.training.{module}", *map(str, arguments)]


def run(module: str, *arguments: Any, code: int = 0) -> str:
    done = subprocess.run(
        command(module, *arguments), cwd=ROOT, capture_output=True, text=True, check=False
    )
    assert done.returncode == code, done.stdout + done.stderr
    return done.stdout + done.stderr


def kill_after_a_checkpoint(folder: Path, *arguments: Any) -> None:
    """Start a training and kill it some time after its first checkpoint."""
    child = subprocess.Popen(command("train", *arguments), cwd=ROOT, stdout=subprocess.DEVNULL)
    deadline = time.monotonic() + 300
    while not (folder / "checkpoint.zip").exists() and time.monotonic() < deadline:
        assert child.poll() is None
        time.sleep(0.005)
    time.sleep(0.02)
    os.kill(child.pid, signal.SIGKILL)
    child.wait()


def arrays(path: Path) -> dict[str, Any]:
    with np.load(path, allow_pickle=False) as file:
        return {name: file[name] for name in file.files}


def test_a_training_killed_and_started_again_ends_with_the_same_bits(
    settings: Path, tmp_path: Path
) -> None:
    whole, broken = tmp_path / "whole", tmp_path / "broken"
    told = run("train", "--settings", settings, "--out", whole, "--seed", 3)
    assert "192 steps" in told
    again = ("--settings", settings, "--out", broken, "--seed", 3)
    kill_after_a_checkpoint(broken, *again)
    told = run("train", *again)
    assert "going on from" in told or "already trained" in told
    ours, theirs = arrays(whole / "last.npz"), arrays(broken / "last.npz")
    assert all(np.array_equal(ours[name], theirs[name]) for name in ours)
    columns = [
        [row.split(",")[1:] for row in (folder / "curve.csv").read_text().splitlines()]
        for folder in (whole, broken)
    ]
    assert columns[0] == columns[1]
    assert "already trained for 192 steps" in run("train", *again)
    assert list((whole / "tensorboard").glob("events*"))


@pytest.mark.parametrize(
    ("option", "value"), [("--steps", 0), ("--steps", -5), ("--seed", -1), ("--seed", 2**32)]
)
def test_what_cannot_be_trained_is_refused_before_anything_is_done(
    option: str, value: int, settings: Path, tmp_path: Path
) -> None:
    out = tmp_path / "none"
    told = run("train", "--settings", settings, "--out", out, f"{option}={value}", code=2)
    assert option in told
    assert not out.exists()


def test_a_checkpoint_between_two_updates_holds_everything(settings: Path, tmp_path: Path) -> None:
    from tradesbench_gym.training import checkpoints
    from tradesbench_gym.training.settings import load_settings
    from tradesbench_gym.training.train import make_model

    model = make_model(load_settings(settings), 3)
    model.learn(64)
    checkpoints.save(tmp_path / "half.zip", model, checkpoints.Diary(updates=2))
    model.learn(64, reset_num_timesteps=False)
    again, diary = checkpoints.load(tmp_path / "half.zip")
    assert diary.updates == 2
    again.learn(64, reset_num_timesteps=False)
    ours, theirs = model.policy.state_dict(), again.policy.state_dict()
    assert all((ours[name] == theirs[name]).all() for name in ours)
    assert all(np.array_equal(model._last_obs[k], again._last_obs[k]) for k in model._last_obs)
    assert again.num_timesteps == 128
    (tmp_path / "half.zip").write_bytes(b"rubbish")
    with pytest.raises(checkpoints.CheckpointError, match="cannot go on from"):
        checkpoints.load(tmp_path / "half.zip")


def test_evaluate_and_enjoy_take_what_was_trained(settings: Path, tmp_path: Path) -> None:
    folder = tmp_path / "run"
    run("train", "--settings", settings, "--out", folder, "--steps", 32)
    told = run("evaluate", folder, "--seeds", "200:203")
    assert "3 runs" in told
    assert "against oracle" in told
    assert '"runs": 2' in run("evaluate", folder / "best.npz", "--seeds", "200:202", "--json")
    assert "run 10000:" in run("enjoy", folder, "--pause", 0, "--no-board", "--days", 2)


def test_held_out_and_bench_runs_are_not_played_in_passing() -> None:
    assert "say why with --look" in run("evaluate", "oracle", "--seeds", "100:200", code=2)
    assert "tradesbench bench plays them" in run("evaluate", "oracle", "--seeds", "5", code=2)


def test_a_wrong_setting_is_named(settings: Path, tmp_path: Path) -> None:
    settings.write_text(SMALL + "speed = 3\n", encoding="utf-8")
    told = run("train", "--settings", settings, "--out", tmp_path / "run", code=2)
    assert "[training] has no setting 'speed'" in told
    assert "--algo is maskable-ppo" in run("train", "--algo", "dqn", code=2)


def test_what_a_file_leaves_out_is_as_in_the_one_that_ships(tmp_path: Path) -> None:
    from tradesbench_gym.training.settings import load_settings

    own = tmp_path / "own.toml"
    own.write_text("[ppo]\nn_steps = 8\n", encoding="utf-8")
    shipped, found = load_settings(), load_settings(own)
    assert shipped.teacher.policy
    assert shipped.ppo.n_steps != 8
    assert found == replace(shipped, ppo=replace(shipped.ppo, n_steps=8))


@pytest.mark.parametrize(
    ("content", "said"),
    [
        ("[ppo]\nn_steps = 0.5", r"\[ppo\] n_steps is a whole number, not 0.5"),
        ("[ppo]\ngamma = true", r"\[ppo\] gamma is a number, not True"),
        ("[teacher]\npolicy = 3", r"\[teacher\] policy is a text, not 3"),
        ("ppo = 3", r"\[ppo\] is a table of settings, not 3"),
        ("[ppo", "cannot read the settings .*own.toml"),
    ],
)
def test_a_setting_of_another_kind_is_named(content: str, said: str, tmp_path: Path) -> None:
    from tradesbench_gym.training.settings import SettingsError, load_settings

    own = tmp_path / "own.toml"
    own.write_text(content, encoding="utf-8")
    with pytest.raises(SettingsError, match=said):
        load_settings(own)
    with pytest.raises(SettingsError, match=r"none\.toml: no such file"):
        load_settings(tmp_path / "none.toml")


def test_a_folder_goes_on_only_with_what_it_was_begun_with(settings: Path, tmp_path: Path) -> None:
    folder = tmp_path / "run"
    run("train", "--settings", settings, "--out", folder, "--steps", 32)
    before = (folder / "checkpoint.zip").read_bytes()
    assert "another --seed" in run(
        "train", "--settings", settings, "--out", folder, "--seed", 4, code=2
    )
    for other in (("margin = 50.0", "margin = 49.0"), ("epochs = 1", "epochs = 2")):
        settings.write_text(SMALL.replace(*other, 1), encoding="utf-8")
        assert "other settings" in run("train", "--settings", settings, "--out", folder, code=2)
    assert (folder / "checkpoint.zip").read_bytes() == before
    settings.write_text(SMALL.replace("steps = 192", "steps = 64"), encoding="utf-8")
    assert "going on from 32 steps" in run("train", "--settings", settings, "--out", folder)


def test_the_teacher_can_be_a_policy_by_name() -> None:
    from tradesbench_gym.company.business import open_business
    from tradesbench_gym.company.simulation import Simulation
    from tradesbench_gym.policies.features import FIRST_FIT
    from tradesbench_gym.training.cloning import record_policy
    from tradesbench_gym.training.seeds import SeedError

    simulation = Simulation(business=open_business(days=3))
    lessons = record_policy(simulation, "oracle", [16_000, 16_001])
    assert len(lessons.chosen) > 50
    rows = np.arange(len(lessons.chosen))
    taken = lessons.offers[rows, lessons.chosen, FIRST_FIT]
    marked = lessons.offers[:, :, FIRST_FIT].any(1)
    assert np.array_equal(taken > 0, marked)
    assert lessons.legal[rows, lessons.chosen].all()
    with pytest.raises(SeedError, match="not for training"):
        record_policy(simulation, "oracle", [12])


def test_with_the_oracles_numbers_the_rule_is_the_oracle_where_the_margin_is_kept() -> None:
    from tradesbench_gym.policies.features import FIRST_FIT, SLACK
    from tradesbench_gym.training.cloning import record_rule
    from tradesbench_gym.training.evaluation import make_batch
    from tradesbench_gym.training.teacher import Rule

    lessons = record_rule(make_batch(4, days=4), Rule(), 0.0, seed=1)
    rows = np.arange(len(lessons.chosen))
    first = lessons.offers[:, :, FIRST_FIT].argmax(1)
    # 40 minutes of the hour in which the feature counts.
    kept = (first > 0) & (lessons.offers[rows, first, SLACK] >= np.float32(40 / 60))
    assert kept.sum() > 100
    assert np.array_equal(lessons.chosen[kept], first[kept])


def test_the_interval_of_a_mean_holds_it() -> None:
    from tradesbench_gym.report.pairing import interval
    from tradesbench_gym.training.evaluation import compare

    differences = np.random.default_rng(1).normal(100, 50, 400)
    low, high = interval(differences.tolist())
    # 50 / sqrt(400) = 2.5, and 1.96 of it on each side.
    assert high - low == pytest.approx(2 * 1.96 * 2.5, rel=0.15)
    assert low < differences.mean() < high
    result = compare(np.array([300_00, 100_00]), np.array([200_00, 150_00]), 0)
    assert (result.mean, result.other, result.difference) == (200, 175, 25)
    assert result.better == 0.5
