"""What a batch costs in memory: 96 KiB an environment beside the map, and no more the longer it
runs.
"""

from __future__ import annotations

import sys

import pytest

from tests.envs.playing import in_another_process

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(sys.platform != "linux", reason="reads /proc/self/status"),
]

KIB = 1024
MOST_KIB = 96
# Two arrays more of 336 numbers of four bytes, in three blocks and as bounds of the space.
PLANNED_KIB = 2 * 336 * 4 * (3 + 2) / KIB
PLAYING = """
import gymnasium as gym
import tradesbench_gym

def resident(name):
    with open("/proc/self/status", encoding="ascii") as lines:
        return next(int(line.split()[1]) for line in lines if line.startswith(name))

def play(batch, steps):
    for _ in range(steps):
        observation, rewards, ended, truncated, info = batch.step(batch.action_space.sample())

def begun(count, **arguments):
    batch = gym.make_vec("TradesBench-v0", num_envs=count, **arguments)
    batch.action_space.seed(0)
    batch.reset(seed=10_000)
    return batch
"""


def _kib(count: int, arguments: str) -> list[int]:
    """Resident memory of a process that plays so many runs, at its end and at its peak."""
    code = f"""
batch = begun({count}, {arguments})
play(batch, 150)
print(resident("VmRSS"), resident("VmHWM"))
"""
    return [int(number) for number in in_another_process(PLAYING + code).split()]


@pytest.mark.parametrize(
    ("arguments", "most"),
    [
        ("", MOST_KIB),
        ("copy=False", MOST_KIB),
        ("threads=1", MOST_KIB),
        ("autoreset_mode='SameStep'", MOST_KIB),
        ("observation='planned'", MOST_KIB + PLANNED_KIB),
    ],
)
def test_an_environment_of_a_batch_takes_at_most_96_kib(arguments: str, most: float) -> None:
    few, many = _kib(256, arguments), _kib(2048, arguments)
    for fewer, more in zip(few, many, strict=True):
        each = (more - fewer) / (2048 - 256)
        assert each <= most, f"{each:.1f} KiB an environment"


def test_a_million_random_steps_take_no_more_memory_than_the_first_two_hundred_thousand() -> None:
    code = """
batch, found = begun(1024), []
for _ in range(5):
    play(batch, 196)
    found.append(resident("VmRSS"))
print(*found)
"""
    found = [int(number) for number in in_another_process(PLAYING + code).split()]
    assert max(found) - found[0] <= 4 * KIB, found
