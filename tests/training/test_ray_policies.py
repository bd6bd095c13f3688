"""Policies of a person's own on other machines, and `bench --executor ray` without Ray."""

from __future__ import annotations

import pickle
import sys
from pathlib import Path
from typing import Any

import pytest

from tradesbench_gym.commands.bench import Place, bench
from tradesbench_gym.company.play import Results, play
from tradesbench_gym.company.simulation import Simulation
from tradesbench_gym.errors import TradesBenchError
from tradesbench_gym.training.ray_policies import Suitcase, Unpacked, pack

MINE = """
import beside

def decide(desk):
    return beside.answer(desk)
"""
BESIDE = """
def answer(desk):
    offers = desk.legal().nonzero()
    return None if not len(offers[0]) else [int(one[0]) for one in offers]
"""


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    (tmp_path / "mine.py").write_text(MINE, encoding="utf-8")
    (tmp_path / "beside.py").write_text(BESIDE, encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    return tmp_path


def received(suitcase: Suitcase) -> Unpacked:
    """What a worker makes of a suitcase, in a process that has not loaded the policy yet."""
    for name in [name for name in sys.modules if name.startswith("_policy_") or name == "beside"]:
        del sys.modules[name]
    unpacked: Suitcase = pickle.loads(pickle.dumps(suitcase))  # noqa: S301 - made here
    return unpacked.unpack()


def played(decide: Any) -> Results:
    return play(Simulation(3), decide)


@pytest.mark.parametrize("typed", ["mine.py:decide", "mine:decide", "{folder}/mine.py:decide"])
def test_a_policy_plays_the_same_where_its_file_is_and_where_it_is_not(
    folder: Path, typed: str
) -> None:
    policy = typed.format(folder=folder)
    suitcase = pack([policy, "oracle"])
    here = played(received(suitcase)(policy))
    for file in folder.glob("*.py"):
        file.unlink()
    assert played(received(suitcase)(policy)) == here


def test_a_file_that_was_changed_since_is_not_the_same_file(folder: Path) -> None:
    suitcase = pack(["mine.py:decide"])
    before = played(received(suitcase)("mine.py:decide"))
    (folder / "mine.py").write_text("def decide(desk):\n    return None\n", encoding="utf-8")
    assert played(received(suitcase)("mine.py:decide")) == before


def test_a_registered_policy_needs_no_file(folder: Path) -> None:
    (folder / "oracle.py").write_text(MINE, encoding="utf-8")
    assert pack(["oracle", "oracle:margin=20"]).files == ()


def test_without_ray_one_sentence_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "ray", None)
    with pytest.raises(TradesBenchError) as caught:
        bench("oracle", "0", executor=Place.RAY)
    assert caught.value.code == "not_installed"
    assert caught.value.message == ("--executor ray needs ray: pip install 'tradesbench-gym[ray]'")


def test_an_address_without_the_executor_is_refused() -> None:
    with pytest.raises(TradesBenchError, match="give --executor ray"):
        bench("oracle", "0", address="auto")
