"""`bench --executor ray` and the RLlib example, on local clusters; needs the [ray] extra."""

from __future__ import annotations

import importlib.util
import json
import os
import signal
import subprocess
import sys
import time
import uuid
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

pytestmark = [
    pytest.mark.slow,
    pytest.mark.train,
    pytest.mark.skipif(importlib.util.find_spec("ray") is None, reason="Ray is not installed"),
]
PATIENCE_SECONDS = 300.0
SMALL: dict[str, Any] = {
    "num_cpus": 1,
    "include_dashboard": False,
    "object_store_memory": 128 * 1024 * 1024,
}
BENCH = [sys.executable, "-m", "tradesbench_gym", "bench", "--json"]
ON_RAY = ["--executor", "ray"]
# Books what it can. In a folder with a file `kill`, the one run that takes it away dies; with a
# file `kill-all`, every run does; with a file `wait`, runs wait until that is gone.
POLICY = """
import os, signal, time
from pathlib import Path

HERE = Path(__file__).parent

def decide(desk):
    if desk["line"] == 20:
        try:
            (HERE / "kill").unlink()
        except FileNotFoundError:
            pass
        else:
            os.kill(os.getpid(), signal.SIGKILL)
        if (HERE / "kill-all").exists():
            os.kill(os.getpid(), signal.SIGKILL)
        (HERE / f"began-{os.getpid()}").touch()
        while (HERE / "wait").exists():
            time.sleep(0.05)
    offers = desk.legal().nonzero()
    return None if not len(offers[0]) else [int(one[0]) for one in offers]
"""
# Untrained, in full exploration: with 337 answers and few of them legal, one step would do.
DRAWING = """
import torch
from ray.rllib.core.columns import Columns
from ray.rllib.core.rl_module.rl_module import RLModuleSpec
from tradesbench_gym.training.rllib import MASK, MaskedModule, make_batch

torch.manual_seed(0)
envs = make_batch({"num_envs": 8, "days": 2})
module = RLModuleSpec(
    module_class=MaskedModule,
    observation_space=envs.single_observation_space,
    action_space=envs.single_action_space,
    model_config={"hidden": [16]},
).build()
seen, infos = envs.reset(seed=0)
for _ in range(300):
    assert (infos["run_seed"] >= 10_000).all()
    given = {Columns.OBS: {name: torch.as_tensor(array) for name, array in seen.items()}}
    logits = module.forward_exploration(given)[Columns.ACTION_DIST_INPUTS]
    actions = torch.distributions.Categorical(logits=logits).sample()
    assert seen[MASK][range(8), actions].all()
    seen, _, _, _, infos = envs.step(actions.numpy())
print("all legal, all from 10,000 up")
"""


@pytest.fixture(scope="module")
def cluster() -> Iterator[Any]:
    """Two nodes of one core each, on this machine."""
    from ray.cluster_utils import Cluster

    made: Any = Cluster(initialize_head=True, head_node_args=SMALL)
    made.add_node(**SMALL)
    yield made
    made.shutdown()


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "mine.py").write_text(POLICY, encoding="utf-8")
    return tmp_path


def environment(**more: str) -> dict[str, str]:
    kept = {key: value for key, value in os.environ.items() if key != "RAY_ADDRESS"}
    return kept | {"TRADESBENCH_QUIET": "1"} | more


def bench(folder: Path, *words: str, status: int = 0) -> subprocess.CompletedProcess[str]:
    done = subprocess.run(
        [*BENCH, *words],
        cwd=folder,
        env=environment(),
        capture_output=True,
        text=True,
        timeout=PATIENCE_SECONDS,
        check=False,
    )
    assert done.returncode == status, done.stderr
    return done


def started(command: list[str], folder: Path, **more: str) -> subprocess.Popen[str]:
    # Whoever starts the tests in the background may have Ctrl-C ignored, which is inherited.
    heard = signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        return subprocess.Popen(
            command,
            cwd=folder,
            env=environment(**more),
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            start_new_session=True,
        )
    finally:
        signal.signal(signal.SIGINT, heard)


def wait_for(folder: Path, count: int, program: subprocess.Popen[str]) -> None:
    """Until runs have begun in so many workers."""
    until = time.monotonic() + PATIENCE_SECONDS
    while len(list(folder.glob("began-*"))) < count:
        assert time.monotonic() < until
        assert program.poll() is None
        time.sleep(0.1)


def runs(output: str) -> list[tuple[str, int]]:
    return [(run["policy"], run["seed"]) for run in json.loads(output)["runs"]]


def test_two_nodes_print_what_one_process_prints_byte_for_byte(cluster: Any, folder: Path) -> None:
    words = ["--policies", "oracle,mine.py:decide,reject-heavy", "--seeds", "0:15,40"]
    alone = bench(folder, *words, "--workers", "1")
    spread = bench(folder, *words, *ON_RAY, "--address", cluster.address)
    assert spread.stdout == alone.stdout
    assert "48 runs in" in spread.stderr


def test_the_runs_of_a_killed_worker_are_played_again_and_counted_once(
    cluster: Any, folder: Path
) -> None:
    words = ["--policies", "mine.py:decide", "--seeds", "0:40"]
    alone = bench(folder, *words, "--workers", "1")
    (folder / "kill").touch()
    spread = bench(folder, *words, *ON_RAY, "--address", cluster.address)
    assert not (folder / "kill").exists()
    assert runs(spread.stdout) == [("mine.py:decide", seed) for seed in range(40)]
    assert spread.stdout == alone.stdout


def test_the_runs_of_a_lost_machine_are_played_again(cluster: Any, folder: Path) -> None:
    words = ["--policies", "mine.py:decide", "--seeds", "0:20"]
    alone = bench(folder, *words, "--workers", "1")
    for began in folder.glob("began-*"):
        began.unlink()
    (folder / "wait").touch()
    third = cluster.add_node(**SMALL)
    command = [*BENCH, *words, *ON_RAY, "--address", cluster.address]
    with started(command, folder) as program:
        wait_for(folder, 3, program)
        cluster.remove_node(third, allow_graceful=False)
        (folder / "wait").unlink()
        output, _ = program.communicate(timeout=PATIENCE_SECONDS)
    assert program.returncode == 0
    assert output == alone.stdout


def test_runs_that_kill_every_worker_are_named(cluster: Any, folder: Path) -> None:
    (folder / "kill-all").touch()
    words = ["--policies", "mine.py:decide", "--seeds", "7", *ON_RAY, "--address", cluster.address]
    *told, said = bench(folder, *words, status=2).stderr.splitlines()
    assert said.startswith("error: 5 workers died playing mine.py:decide on seeds 7 to 7: ")
    assert "Traceback" not in "".join(told)


def test_a_policy_that_fails_says_on_ray_what_it_says_without(cluster: Any, folder: Path) -> None:
    (folder / "mine.py").write_text("def decide(desk):\n    return 1 // 0\n", encoding="utf-8")
    words = ["--policies", "mine.py:decide", "--seeds", "5"]
    alone = bench(folder, *words, status=2)
    spread = bench(folder, *words, *ON_RAY, "--address", cluster.address, status=2)
    assert "ZeroDivisionError" in alone.stderr
    assert spread.stderr == alone.stderr


def test_a_cluster_that_is_not_there_is_one_sentence(folder: Path) -> None:
    words = ["--policies", "oracle", "--seeds", "0", *ON_RAY, "--address", "127.0.0.1:9"]
    said = bench(folder, *words, status=2).stderr
    assert "error: no Ray cluster at 127.0.0.1:9" in said
    assert "Traceback" not in said


def test_ctrl_c_ends_a_cluster_of_this_machine_and_leaves_nothing_running(folder: Path) -> None:
    (folder / "wait").touch()
    mark = uuid.uuid4().hex
    command = [*BENCH, "--policies", "mine.py:decide", "--seeds", "0:40", *ON_RAY]
    with started(command, folder, TRADESBENCH_TEST=mark) as program:
        wait_for(folder, 1, program)
        # As a terminal does: to everything that the command has started and kept in its group.
        os.killpg(program.pid, signal.SIGINT)
        output, said = program.communicate(timeout=PATIENCE_SECONDS)
    assert program.returncode == 130
    assert (output, said.splitlines()[-1]) == ("", "interrupted")
    assert "Traceback" not in said
    until = time.monotonic() + 20
    while left := marked(mark):
        assert time.monotonic() < until, left
        time.sleep(0.2)


def test_a_module_draws_only_what_its_masks_allow() -> None:
    # In a process of its own: a warning of Ray's is no error of ours.
    done = subprocess.run(
        [sys.executable, "-c", DRAWING],
        env=environment(),
        capture_output=True,
        text=True,
        timeout=PATIENCE_SECONDS,
        check=False,
    )
    assert done.stdout == "all legal, all from 10,000 up\n", done.stderr


def test_rllib_trains_on_a_cluster(cluster: Any, folder: Path) -> None:
    command = [sys.executable, "-m", "tradesbench_gym.training.rllib", "--iterations", "1"]
    sizes = ["--runners", "1", "--runs", "4", "--steps", "256"]
    done = subprocess.run(
        [*command, *sizes, "--address", cluster.address, "--checkpoint", str(folder / "saved")],
        env=environment(),
        capture_output=True,
        text=True,
        timeout=PATIENCE_SECONDS,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert " steps/s\nsaved in " in done.stdout
    assert (folder / "saved" / "rllib_checkpoint.json").exists()


def test_the_example_runs() -> None:
    example = Path(__file__).parents[2] / "examples" / "rllib_ppo.py"
    done = subprocess.run(
        [sys.executable, str(example), "--steps", "256", "--envs", "4"],
        env=environment(),
        capture_output=True,
        text=True,
        timeout=PATIENCE_SECONDS,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout.endswith(" steps\n")


def marked(mark: str) -> list[str]:
    """Command lines of the processes that inherited a mark."""
    found = []
    for process in Path("/proc").glob("[0-9]*"):
        try:
            if mark.encode() in (process / "environ").read_bytes():
                found.append((process / "cmdline").read_text().replace("\0", " "))
        except OSError:
            continue
    return found
