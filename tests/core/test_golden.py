"""Each released version of the rules gives the bytes on record: see `tests/core/golden.py`."""

from __future__ import annotations

import pytest

from tests.core.golden import RUNS, known
from tradesbench_gym.core.layout import RULES_VERSION

HOW = "behaviour has changed: if it is meant, raise RULES_VERSION, then python -m tests.core.golden"


@pytest.mark.parametrize("name", RUNS)
def test_a_golden_run_still_comes_to_the_digest_on_record(name: str) -> None:
    assert RUNS[name]().digest() == known()[str(RULES_VERSION)][name], HOW
