"""The interval of paired differences: worlds are drawn again, not runs."""

from __future__ import annotations

import statistics

import numpy as np
import pytest

from tradesbench_gym.report.paired import paired


def test_mean_and_deviation_are_those_of_the_runs() -> None:
    values = [-300, 100, 250, -75]
    found = paired(enumerate(values))
    assert found.mean == statistics.fmean(values)
    assert found.deviation == statistics.stdev(values)
    assert (found.runs, found.worlds, found.drawn) == (4, 4, "worlds")


def test_the_interval_agrees_with_the_normal_one_where_that_holds() -> None:
    values = np.random.default_rng(1).normal(1000, 200, 400)
    found = paired(enumerate(values))
    half = 1.96 * values.std() / np.sqrt(len(values))
    assert found.low == pytest.approx(values.mean() - half, abs=0.1 * half)
    assert found.high == pytest.approx(values.mean() + half, abs=0.1 * half)


def test_many_runs_of_few_worlds_tell_no_more_than_the_worlds() -> None:
    few = paired([(0, -100), (1, 500)])
    many = paired([(0, -100)] * 50 + [(1, 500)] * 50)
    assert (many.low, many.high) == (few.low, few.high) == (-100, 500)
    assert many.worlds == 2


def test_runs_of_one_world_are_drawn_as_runs_and_said_to_be() -> None:
    found = paired([(0, 1), (0, 2), (0, 3)])
    assert found.drawn == "runs"
    assert found.low is not None
    assert 1 <= found.low < 2 < (found.high or 0) <= 3


def test_one_run_or_none_has_no_interval() -> None:
    assert paired([(0, 7)]).as_dict() == {
        "runs": 1, "worlds": 1, "mean": 7.0, "deviation": None, "low": None, "high": None,
        "drawn": "runs",
    }  # fmt: skip
    assert paired([]).mean is None


def test_the_same_differences_have_the_same_interval_every_time() -> None:
    values = [(n, n * n) for n in range(9)]
    assert paired(values) == paired(values)
