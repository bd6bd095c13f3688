"""The best run that hindsight finds: never worse, always a run that can be played, found again."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.report.test_regret_properties import careless_run
from tests.report.three_calls import FIXED, JOB, answered, three_calls
from tests.worlds import ROBERTO, W07, tiny_map
from tradesbench_gym.company.simulation import Simulation
from tradesbench_gym.errors import StateError
from tradesbench_gym.policies import make_policy
from tradesbench_gym.report.regret import Budget, Found, read_recorded, record, search
from tradesbench_gym.report.regret.keeping import keep
from tradesbench_gym.world import audit, replay

SOME = Budget(seconds=None, branches=6_000, seed=1)


def _same(one: Found, other: Found) -> bool:
    told = [(f.profit, f.branches, f.gains, f.settled, f.answers.tolist()) for f in (one, other)]
    return told[0] == told[1]


def test_three_calls_bring_three_jobs_in_hindsight() -> None:
    """One job is served in the recorded run (`test_regret_by_hand.py`), and three is all there is:
    $480 of headroom.
    """
    recorded = answered(three_calls(), [(ROBERTO, 0, W07), (ROBERTO, 0, W07), None])
    found = search(recorded, SOME)
    assert (found.recorded, found.oracle) == (JOB - FIXED, 3 * JOB - FIXED)
    assert (found.profit, found.headroom) == (3 * JOB - FIXED, 2 * JOB)


def test_a_day_on_which_the_oracle_puts_work_off_is_climbed_out_of() -> None:
    """Jobs of two hours and a half. The oracle books 7-9, 9-11 (from 9:30), 11-13 (from 12) and the
    fourth caller for 15-17 (from 14:30, in 13-15 half an hour to spare would be too little): four
    jobs; the fifth, from 17:30 in 17-19, is served as well. Overtime is paid beyond 19:00: done at
    20:00, an hour of $37. In hindsight nothing is put off: 7, 9:30, 12, 14:30, 17 and no one pays
    more: done at 19:30, half an hour, $18.50.
    """
    changes = {"demand.start": 5} | {
        f"services.plumbing.{name}": 150 for name in ("shortest", "typical", "longest")
    }
    world = three_calls(changes)
    recorded = record(Simulation(1, business=world), make_policy("oracle"))
    assert recorded.profit == 5 * JOB - 3_700 - FIXED
    assert search(recorded, SOME).profit == 5 * JOB - 1_850 - FIXED


@pytest.mark.parametrize("seed", [0, 1])
def test_what_is_found_is_a_run_that_earns_no_less_and_passes_the_audit(
    seed: int, tmp_path: Path
) -> None:
    recorded = careless_run(seed)
    found = search(recorded, SOME)
    assert found.profit >= max(found.recorded, found.oracle)
    assert found.recorded == recorded.profit
    assert [profit for _, profit in found.gains] == sorted({profit for _, profit in found.gains})

    path = tmp_path / "best.sqlite"
    keep(path, recorded, found.answers, found.profit)
    assert audit(path, map=tiny_map()).ok
    *_, last = replay(path, map=tiny_map())
    assert last.simulation.ended
    assert last.simulation.profit_cents == found.profit


def test_with_a_budget_of_branches_the_search_is_the_same_on_any_number_of_threads() -> None:
    one, other = (search(careless_run(2), SOME, workers=count) for count in (1, 3))
    assert _same(one, other)
    assert not _same(one, search(careless_run(2), Budget(None, 6_000, seed=2)))


def test_a_search_begun_again_from_what_was_found_never_falls_behind_it(tmp_path: Path) -> None:
    recorded = careless_run(3)
    first = search(recorded, Budget(None, 2_000))
    path = tmp_path / "best.sqlite"
    keep(path, recorded, first.answers, first.profit)
    again = search(read_recorded(path, map=tiny_map()), SOME)
    assert again.recorded == first.profit
    assert again.profit >= first.profit


def test_more_branches_never_find_less() -> None:
    """With one seed the longer search passes through everything the shorter one saw."""
    found = [search(careless_run(4), Budget(None, most)).profit for most in (500, 2_000, 8_000)]
    assert found == sorted(found)


def test_ctrl_c_leaves_the_best_so_far() -> None:
    seen: list[int] = []

    def told(branches: int, profit: int) -> None:
        seen.append(profit)
        if branches > 1_000:
            raise KeyboardInterrupt

    found = search(careless_run(5), Budget(None, 10**9), told=told)
    assert found.interrupted
    assert found.profit >= max(seen)


def test_a_time_is_kept() -> None:
    found = search(careless_run(6), Budget(seconds=0.2))
    assert not found.interrupted
    assert found.seconds[0] < 5


def test_a_run_that_would_come_to_something_else_is_not_kept_in_silence(tmp_path: Path) -> None:
    recorded = answered(three_calls(), [None, None, None])
    with pytest.raises(StateError, match="instead of 1"):
        keep(tmp_path / "best.sqlite", recorded, recorded.answers, 1)
