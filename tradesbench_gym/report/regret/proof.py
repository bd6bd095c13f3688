"""Proof that the branches of a run are that run's: from every call on, its own answers must lead to
where it went.

A price is the difference of two branches, and believed because the one branch whose end is known
ends there. It plays compiled branches only, some milliseconds' worth.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from tradesbench_gym.core.branching import ORACLE
from tradesbench_gym.errors import StateError
from tradesbench_gym.report.regret.playing import CompiledPlayer, Whole, blank_script, oracle_plan
from tradesbench_gym.report.regret.recorded import Recorded


def own_script(recorded: Recorded) -> Whole:
    """The run's own answers as a script; calls it does not know are left to the oracle."""
    script = blank_script(recorded.business)
    calls = recorded.end[0]["calls"][: len(recorded.answers)]
    script[calls["from_day"], calls["stream"], calls["from_index"]] = recorded.answers
    return script


def prove(recorded: Recorded) -> None:
    """Follow the run's own answers from its start and, if it is finished, from each of its calls.

    Raises:
        StateError: they lead elsewhere.

    """
    business, script = recorded.business, own_script(recorded)
    plan, calls = oracle_plan(business), len(recorded.answers)
    known = business.run_dtype["calls"].shape[0]
    kept = np.zeros((known, business.run_dtype.itemsize), np.uint8)
    begun = CompiledPlayer(business, recorded.start, plan)
    begun.trace(0, int(ORACLE), script, kept, np.zeros(known, np.int64))
    again = kept[:calls].reshape(-1).view(business.run_dtype)
    for name in ("clock", "cash", "level"):
        _same(again[name], recorded.states[name], name)
    if recorded.finished:
        player = CompiledPlayer(business, recorded.states, plan)
        ends = player.play(np.arange(calls), recorded.answers, script)
        _same(ends, np.full(calls, int(recorded.end[0]["cash"])), "cash at the end")


def _same(found: npt.NDArray[Any], expected: npt.NDArray[Any], what: str) -> None:
    differing = np.flatnonzero(found != expected)
    if len(differing):
        call = int(differing[0])
        raise StateError(
            f"the run's own answers lead elsewhere at call {call + 1}: {what} {found[call]}, "
            f"recorded {expected[call]}",
            code="astray",
            field="path",
        )
