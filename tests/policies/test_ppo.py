"""The trained dispatcher that ships: plain arrays, played without torch."""

from __future__ import annotations

import subprocess
import sys
import zipfile

import numpy as np
import pytest

from tradesbench_gym.company.play import play
from tradesbench_gym.company.simulation import Simulation
from tradesbench_gym.errors import PolicyError
from tradesbench_gym.policies.load import load_policy
from tradesbench_gym.policies.network import ARRAYS, SHIPPED


def test_the_weights_are_plain_arrays_of_less_than_five_megabytes() -> None:
    assert SHIPPED.stat().st_size < 5_000_000
    with zipfile.ZipFile(SHIPPED) as file:
        assert {name.removesuffix(".npy") for name in file.namelist()} == set(ARRAYS)
    with np.load(SHIPPED, allow_pickle=False) as arrays:
        assert all(np.isfinite(arrays[name]).all() for name in ARRAYS)


def test_it_plays_a_run_and_sends_nobody_to_work_he_cannot_do() -> None:
    results = play(Simulation(10_000), load_policy("ppo"))
    assert results.bankrupt_on is None
    assert results.failed == 0
    assert results.completed > 100


def test_the_same_run_twice_is_the_same() -> None:
    profits = [play(Simulation(10_001, days=4), load_policy("ppo")).profit for _ in range(2)]
    assert profits[0] == profits[1]


def test_it_needs_no_torch() -> None:
    code = (
        "import sys; sys.modules['torch'] = None; "
        "from tradesbench_gym.policies import make_policy; make_policy('ppo')"
    )
    subprocess.run([sys.executable, "-c", code], check=True, timeout=120)


def test_a_file_that_is_not_there_is_named() -> None:
    with pytest.raises(PolicyError, match=r"there is no network nowhere\.npz"):
        load_policy("ppo:weights=nowhere.npz")
