"""Runs of 14 and of 31 days in one process: two sizes of one record, and not a number mixed up."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import numba
import pytest

from tests.worlds import tiny_business
from tradesbench_gym.company.play import play
from tradesbench_gym.company.simulation import Simulation
from tradesbench_gym.policies import make_policy

CODE = """
import sys
from tests.worlds import tiny_business
from tradesbench_gym.company.simulation import Simulation
for days in sys.argv[1:]:
    print(Simulation(1, business=tiny_business(days=int(days))).digest())
"""


def started(cache: Path, *days: int) -> list[str]:
    """Digests of runs of so many days in a process of its own."""
    ran = subprocess.run(
        [sys.executable, "-c", CODE, *map(str, days)],
        capture_output=True,
        text=True,
        check=True,
        env={
            **os.environ,
            "PYTHONPATH": os.pathsep.join(sys.path),
            "TRADESBENCH_CACHE": str(cache),
        },
    )
    return ran.stdout.split()


@pytest.mark.skipif(numba.config.DISABLE_JIT, reason="nothing is compiled")
def test_code_kept_by_two_processes_for_two_sizes_works_together_in_a_third(tmp_path: Path) -> None:
    """Numba names a record type in its symbols by a number that each process counts for itself."""
    cache = tmp_path / "cache"
    short, long = started(cache, 14), started(cache, 31)
    assert started(cache, 14, 31) == short + long
    assert started(cache, 31, 14) == long + short


def test_a_long_run_holds_more_days_and_begins_like_a_short_one() -> None:
    rich = {"pay.starting_cash": 10**6}
    short = Simulation(2, business=tiny_business(rich, 14))
    long = Simulation(2, business=tiny_business(rich, 31))
    play(short, make_policy("accept-all"))
    play(long, make_policy("accept-all"))
    assert long.day == 30
    for name in ("calls", "booked", "level", "cash", "closed_at"):
        assert (short.record["days"][name][:14] == long.record["days"][name][:14]).all()
