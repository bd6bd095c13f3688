"""A run's limits hold before a request is let out."""

from __future__ import annotations

import time
from concurrent.futures import ThreadPoolExecutor
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest

from tests.harness.gateway.gateways import before, chat, ends, error_of, post, rows, streamed
from tests.harness.stub_provider import Asked, Reply, in_turn, providing
from tradesbench_gym.harness.gateway import Prices


def test_nothing_is_let_out_once_the_tokens_are_used(tmp_path: Path) -> None:
    with providing() as stub, before(stub, tmp_path, max_tokens=40) as gateway:
        answers = [post(gateway, chat()) for _ in range(6)]
        faults, usage = gateway.faults(), gateway.usage()
    let_out = len(stub.asked)
    used = [one.tokens.input + one.tokens.output for one in stub.asked if one.tokens]
    assert sum(used[:-1]) < 40 <= sum(used)
    assert [one.status_code for one in answers] == [200] * let_out + [402] * (6 - let_out)
    assert error_of(answers[-1])["code"] == "limit_tokens"
    assert "the 40 tokens that it may" in error_of(answers[-1])["message"]
    assert set(ends(faults)) == {("infrastructure", "limit_tokens")}
    assert (usage.requests, usage.refused) == (let_out, 6 - let_out)


def test_nothing_is_let_out_once_the_money_is_spent(tmp_path: Path) -> None:
    # At a dollar a token, whatever it is for.
    prices = Prices(Decimal(10**6), Decimal(10**6), Decimal(10**6))
    limit: dict[str, Any] = {"prices": prices, "max_cost": Decimal(40)}
    with providing() as stub, before(stub, tmp_path, **limit) as gateway:
        answers = [post(gateway, chat()) for _ in range(6)]
        cost = gateway.usage().cost
    assert cost == stub.total.input + stub.total.output >= 40
    last = stub.asked[-1].tokens
    assert last is not None
    assert cost - last.input - last.output < 40
    assert error_of(answers[-1])["code"] == "limit_cost"


def test_nothing_is_let_out_after_the_hours(tmp_path: Path) -> None:
    deadline = time.time() + 4  # a gateway may take a second or two to start
    with providing() as stub, before(stub, tmp_path, deadline=deadline) as gateway:
        assert post(gateway, chat()).status_code == 200
        time.sleep(max(deadline - time.time(), 0))
        answer = post(gateway, chat())
    assert (answer.status_code, error_of(answer)["code"]) == (402, "limit_hours")
    assert len(stub.asked) == 1


def test_a_retry_is_not_let_out_after_the_hours(tmp_path: Path) -> None:
    with (
        providing(in_turn(Reply(status=500))) as stub,
        before(stub, tmp_path, deadline=time.time() + 20, first_wait_seconds=60) as gateway,
    ):
        begun = time.monotonic()
        assert post(gateway, chat()).status_code == 502
        assert time.monotonic() - begun < 15, "it does not wait for what may not be"
    assert len(stub.asked) == 1


@pytest.mark.parametrize("reply", [Reply(usage=None), Reply(cut=2)])
def test_tokens_that_are_not_told_count_for_the_limit_at_a_guess(
    tmp_path: Path, reply: Reply
) -> None:
    with providing(in_turn(reply)) as stub, before(stub, tmp_path, max_tokens=1000) as gateway:
        for _ in range(40):
            try:
                post(gateway, streamed("word " * 200))
            except Exception:  # noqa: BLE001, S112 - a cut one
                continue
        usage = gateway.usage()
    assert len(stub.asked) < 40
    assert usage.guessed_tokens >= 1000
    assert (usage.input_tokens, usage.cost) == (0, None), "and only for that"


def test_many_at_once_pass_a_limit_by_one_request_at_most(tmp_path: Path) -> None:
    def reply(_asked: Asked) -> Reply:
        return Reply("yes " * 30, silent=0.1)

    with (
        providing(reply) as stub,
        before(stub, tmp_path, max_tokens=200) as gateway,
        ThreadPoolExecutor(8) as pool,
    ):
        list(pool.map(lambda _: post(gateway, chat(max_tokens=40)), range(16)))
    used = sorted(one.tokens.input + one.tokens.output for one in stub.asked if one.tokens)
    assert sum(used) - used[-1] < 200 <= sum(used)


def test_limits_hold_over_a_restart(tmp_path: Path) -> None:
    with providing() as stub:
        with before(stub, tmp_path, max_tokens=20) as gateway:
            post(gateway, chat())
            post(gateway, chat())
        let_out = len(stub.asked)
        with before(stub, tmp_path, max_tokens=20) as gateway:
            assert post(gateway, chat()).status_code == 402
        assert len(stub.asked) == let_out
    assert rows(tmp_path, "refused")[-1]["code"] == "limit_tokens"
