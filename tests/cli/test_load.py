"""Policies by what a person types."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from tradesbench_gym.core.layout import desk_dtype
from tradesbench_gym.core.view import Desk
from tradesbench_gym.errors import PolicyError
from tradesbench_gym.policies import Decision
from tradesbench_gym.policies.load import checked, load_policy


@pytest.fixture
def desk() -> Desk:
    return Desk(np.zeros(1, desk_dtype(14)))


def test_a_registered_name_with_settings_is_that_policy(desk: Desk) -> None:
    assert load_policy("do-nothing")(desk) is None
    assert load_policy("reject-heavy:share=1", seed=3)(desk) is None


def test_a_file_is_found_by_its_path_and_may_import_its_neighbour(
    tmp_path: Path, desk: Desk
) -> None:
    (tmp_path / "neighbour_of_a_policy.py").write_text("HOW = (1, 2, 3)\n")
    mine = tmp_path / "mine.py"
    mine.write_text("from neighbour_of_a_policy import HOW\ndef decide(desk): return HOW\n")
    before = list(sys.path)
    assert load_policy(f"{mine}:decide")(desk) == Decision(1, 2, 3)
    assert sys.path == before


def test_two_files_of_one_name_are_two_policies(tmp_path: Path, desk: Desk) -> None:
    for folder in ("1", "2"):
        (tmp_path / folder).mkdir()
        (tmp_path / folder / "same.py").write_text(f"def decide(desk): return ({folder}, 0, 0)\n")
    chosen = [load_policy(f"{tmp_path}/{folder}/same.py:decide")(desk) for folder in ("1", "2")]
    assert chosen == [Decision(1, 0, 0), Decision(2, 0, 0)]


def test_a_file_that_cannot_be_loaded_is_said_so_with_the_line(tmp_path: Path) -> None:
    mine = tmp_path / "mine.py"
    mine.write_text("\nimport no_such_module_anywhere\n")
    with pytest.raises(PolicyError, match=r"mine.py cannot be loaded: ModuleNotFoundError.*line 2"):
        load_policy(f"{mine}:decide")
    mine.write_text("def decide(desk) return None\n")
    with pytest.raises(PolicyError, match="SyntaxError"):
        load_policy(f"{mine}:decide")
    mine.write_text("decide = 3\n")
    with pytest.raises(PolicyError, match="has no function 'decide'"):
        load_policy(f"{mine}:decide")


def test_numpy_s_whole_numbers_are_a_decision(desk: Desk) -> None:
    assert checked(lambda _desk: np.array([1, 2, 3]), "mine")(desk) == Decision(1, 2, 3)
    assert checked(lambda _desk: [np.int8(1), 2, 3], "mine")(desk) == (1, 2, 3)


@pytest.mark.parametrize(
    "rubbish", ["no", 7, (1, 2), (1, 2, 3, 4), (1.0, 2, 3), {}, np.array([1.5, 2, 3]), object()]
)
def test_rubbish_is_named_as_no_decision(desk: Desk, rubbish: Any) -> None:
    with pytest.raises(PolicyError, match="a decision is None to reject") as caught:
        checked(lambda _desk: rubbish, "mine")(desk)
    assert caught.value.code == "no_decision"
