"""What is told of an answer that was not let out, whatever came in between."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from tradesbench_gym.company.business import open_business
from tradesbench_gym.core.batch import NOT_TOLD
from tradesbench_gym.core.codes import Refusal
from tradesbench_gym.core.step import REFUSALS, not_let_out, refusal_number
from tradesbench_gym.envs import answers
from tradesbench_gym.envs.answers import Refused

STARTED = int(not_let_out(np.int64(Refusal.WINDOW_STARTED), np.int64(1)))


def test_a_sentence_that_was_broken_off_is_put_together_again(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    refused, other = (Refused(open_business(days=2)) for _ in range(2))

    def stop(*_: Any) -> Any:
        raise KeyboardInterrupt

    with monkeypatch.context() as patched:
        patched.setattr(answers, "booking_error", stop)
        with pytest.raises(KeyboardInterrupt):
            refused.told(STARTED, [1, 0, 0, 0])
    told = refused.told(STARTED, [1, 0, 0, 0])
    assert told == other.told(STARTED, [1, 0, 0, 0])
    assert told["code"] == "window_started"


def test_a_run_begun_anew_is_told_nothing() -> None:
    assert len(answers.ANSWERS) == NOT_TOLD


def test_every_number_of_a_refusal_has_its_place_and_what_lies_outside_has_none() -> None:
    refused = Refused(open_business(days=2))
    for day in range(2):
        for why in range(1, REFUSALS - 1):
            answer = -(why + REFUSALS * day)
            number = refusal_number((4, 14, 6), answer, [1, 3, 13, 5])
            assert 0 < number < len(refused.known)
    assert refusal_number((4, 14, 6), STARTED, [1, 4, 0, 0]) == -1
    assert refusal_number((4, 14, 6), STARTED, [1, 0, 2**62, 0]) == -1
    assert refusal_number((4, 14, 6), STARTED, [0, 0, 0, 0]) == -1
