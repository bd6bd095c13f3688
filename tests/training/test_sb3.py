"""The native batch as SB3's VecEnv: what SB3 reads is there, and what it must not play is not."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from typing import Any

import gymnasium as gym
import numpy as np
import pytest

import tradesbench_gym  # noqa: F401 - registers the environment
from tradesbench_gym.wrappers import vector

pytestmark = pytest.mark.train
Envs = Any


def make_envs(count: int = 3, days: int = 2) -> Envs:
    from tradesbench_gym.training.sb3 import BatchVecEnv

    batch = gym.make_vec(
        "TradesBench-v0", num_envs=count, autoreset_mode="SameStep", days=days, threads=1
    )
    return BatchVecEnv(vector.FlattenAction(vector.QualifiedMask(batch)))


def first_legal(envs: Envs) -> Any:
    masks = np.stack(envs.env_method("action_masks"))
    return np.where(masks[:, 1:].any(1), 1 + masks[:, 1:].argmax(1), 0)


def test_it_plays_what_single_environments_under_sb3_play() -> None:
    from stable_baselines3.common.vec_env import DummyVecEnv

    from tradesbench_gym.training.seeds import training_runs
    from tradesbench_gym.wrappers import FlattenAction, QualifiedMask

    ours = make_envs()
    theirs = DummyVecEnv(
        [lambda: FlattenAction(QualifiedMask(gym.make("TradesBench-v0", days=2)))] * 3
    )
    runs = ours.seed(5)
    assert list(runs) == training_runs(5, 3)
    theirs._seeds = list(runs)
    seen, others = ours.reset(), theirs.reset()
    ends = 0
    for _ in range(70):
        assert all(np.array_equal(seen[key], others[key]) for key in seen)
        masks = np.stack(ours.env_method("action_masks"))
        assert np.array_equal(masks, np.stack(theirs.env_method("action_masks")))
        actions = first_legal(ours)
        seen, rewards, ended, infos = ours.step(actions)
        others, other_rewards, other_ended, other_infos = theirs.step(actions)
        assert rewards.dtype == other_rewards.dtype == np.float32
        assert np.array_equal(rewards, other_rewards)
        assert np.array_equal(ended, other_ended)
        for i in np.flatnonzero(ended):
            ends += 1
            last, other = (told[i]["terminal_observation"] for told in (infos, other_infos))
            assert all(np.array_equal(last[key], other[key]) for key in last)
            assert infos[i]["TimeLimit.truncated"] is False
            assert infos[i]["results"] == other_infos[i]["results"]
    assert ends >= 3


def test_seeds_of_trainers_never_reach_the_bench() -> None:
    envs = make_envs()
    for seed in (0, 100, 200):
        assert min(envs.seed(seed)) >= 10_000
        envs.reset()
        assert min(info["run_seed"] for info in envs.reset_infos) >= 10_000
    envs.reset()  # without a seed, runs are drawn
    assert min(info["run_seed"] for info in envs.reset_infos) >= 10_000


def test_a_reserved_run_is_refused_however_it_got_there() -> None:
    from tradesbench_gym.training.seeds import SeedError

    envs = make_envs()
    envs._seeds = [150, 151, 152]
    with pytest.raises(SeedError, match="run 150"):
        envs.reset()
    envs.env.reset(seed=3)
    with pytest.raises(SeedError, match="run 3 is not for training"):
        envs.step(np.zeros(3, np.int64))


def test_episodes_are_told_as_monitor_tells_them() -> None:
    from stable_baselines3.common.monitor import Monitor

    envs = make_envs(days=1)
    assert envs.env_is_wrapped(Monitor) == [True] * 3
    assert envs.env_is_wrapped(gym.wrappers.TimeLimit) == [False] * 3
    envs.seed(1)
    envs.reset()
    total, steps = np.zeros(3), np.zeros(3, int)
    told = 0
    for _ in range(40):
        _, rewards, ended, infos = envs.step(first_legal(envs))
        total += rewards
        steps += 1
        for i in np.flatnonzero(ended):
            assert infos[i]["episode"]["r"] == pytest.approx(total[i], abs=0.5)
            assert infos[i]["episode"]["r"] == pytest.approx(
                infos[i]["results"]["profit"] / 100, abs=0.01
            )
            assert infos[i]["episode"]["l"] == steps[i]
            total[i] = steps[i] = 0
            told += 1
    assert told >= 3


def test_masks_attributes_and_options() -> None:
    from sb3_contrib.common.maskable.utils import get_action_masks, is_masking_supported

    envs = make_envs()
    envs.reset()
    assert is_masking_supported(envs)
    masks = get_action_masks(envs)
    assert masks.shape == (3, 337)
    assert masks.dtype == np.bool_
    assert len(envs.env_method("action_masks", indices=[0, 2])) == 2
    assert envs.get_attr("strict") == [False] * 3
    with pytest.raises(AttributeError):
        envs.get_attr("no_such_thing")
    with pytest.raises(ValueError, match="some of its environments"):
        envs.set_attr("strict", True, indices=[0])
    envs.seed(1)
    plain = envs.reset()
    envs.seed(1)
    envs.set_options({"salt": 9})
    sealed = envs.reset()
    assert not all(np.array_equal(plain[key], sealed[key]) for key in plain)


def test_another_autoreset_mode_is_refused() -> None:
    from tradesbench_gym.training.sb3 import BatchVecEnv

    with pytest.raises(ValueError, match="SameStep"):
        BatchVecEnv(gym.make_vec("TradesBench-v0", num_envs=2, days=1))


def test_maskable_ppo_learns_on_it() -> None:
    from sb3_contrib import MaskablePPO

    envs = make_envs(count=8)
    model = MaskablePPO("MultiInputPolicy", envs, n_steps=16, batch_size=64, n_epochs=1, seed=0)
    model.learn(256)
    assert model.num_timesteps == 256


SCRIPT = """
import gymnasium as gym
import numpy as np
from stable_baselines3.common.vec_env import SubprocVecEnv

def make():
    return gym.make("tradesbench_gym:TradesBench-v0", days=1)

if __name__ == "__main__":
    envs = SubprocVecEnv([make, make], start_method="{method}")
    envs.seed(10_000)
    seen = envs.reset()
    rewards = np.zeros(2)
    for _ in range(5):
        seen, reward, _, _ = envs.step(np.zeros((2, 4), np.int64))
    print(seen["call"].shape, np.stack(envs.env_method("action_masks")).shape)
    envs.close()
"""


@pytest.mark.parametrize("method", ["forkserver", "spawn"])
def test_a_script_that_names_the_environment_runs_in_processes(method: str, tmp_path: Path) -> None:
    script = tmp_path / "script.py"
    script.write_text(SCRIPT.format(method=method), encoding="utf-8")
    done = subprocess.run(
        [sys.executable, str(script)],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=False,
        timeout=300,
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout.split("\n")[0] == "(2, 5) (2, 337)"


def test_the_batch_plays_the_same_in_another_process() -> None:
    from concurrent.futures import ProcessPoolExecutor
    from multiprocessing import get_context

    with ProcessPoolExecutor(1, get_context("spawn")) as pool:
        elsewhere = pool.submit(_total, 40).result(timeout=300)
    assert elsewhere == _total(40)


def _total(steps: int) -> list[float]:
    envs = make_envs(days=1)
    envs.seed(3)
    envs.reset()
    total = np.zeros(3)
    for _ in range(steps):
        total += envs.step(first_legal(envs))[1]
    return [float(one) for one in total]
