"""Who looks after the model gateway: it is started again, and each death is told once."""

from __future__ import annotations

import threading

import pytest

from tradesbench_gym.harness import house
from tradesbench_gym.harness.faults import Fault
from tradesbench_gym.harness.gateway import GatewayError
from tradesbench_gym.harness.house import Warden


class Stubborn:
    """A gateway that is dead, and cannot be started the first few times."""

    port, token = 1, "token"

    def __init__(self, refusals: int) -> None:
        self.refusals, self.lives = refusals, False
        self.up = threading.Event()

    def start(self) -> None:
        if self.refusals:
            self.refusals -= 1
            raise GatewayError("its port is taken", code="not_started")
        self.lives = True

    def alive(self) -> bool:
        if self.lives:
            self.up.set()
        return self.lives

    def usage(self) -> None: ...

    def faults(self, since: int = 0) -> list[Fault]:
        del since
        return []

    def stop(self) -> None: ...


def test_a_gateway_that_cannot_be_started_at_once_has_died_once(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(house, "_LOOK_SECONDS", 0.001)
    model, told = Stubborn(refusals=3), list[Fault]()
    with Warden(model, told.append):
        assert model.up.wait(10)
        assert [fault.code for fault in told] == ["gateway_died"]
        model.up.clear()
        model.lives, model.refusals = False, 2
        assert model.up.wait(10)
    assert [fault.code for fault in told] == ["gateway_died", "gateway_died"]
