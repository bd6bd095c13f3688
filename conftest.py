"""What holds for every test: the marks that follow from the folder, and Hypothesis's settings."""

import importlib.util
from pathlib import Path

import pytest
from hypothesis import settings

TESTS = Path(__file__).parent / "tests"
RULES = {"core", "company"}
CORE = RULES | {"api", "envs", "policies", "roads", "world", "wrappers"}
LEFT_OUT = {"bench", "slow", "train"}

# The first call of a kernel may compile for seconds, which says nothing about the example.
settings.register_profile("tradesbench", deadline=None, print_blob=True)
settings.load_profile("tradesbench")

# Doctests import the modules they stand in, and those of training import [train].
HAS_TRAIN = importlib.util.find_spec("stable_baselines3") is not None
collect_ignore = [] if HAS_TRAIN else ["tradesbench_gym/training"]
# No doctests, and it imports [ray], which takes long.
collect_ignore.append("tradesbench_gym/training/rllib.py")


@pytest.hookimpl(tryfirst=True)  # before -m selects by the marks
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    for item in items:
        if not item.path.is_relative_to(TESTS):
            continue
        folder = item.path.relative_to(TESTS).parts[0]
        if folder == "benchmarks":
            item.add_marker("bench")
        own = {mark.name for mark in item.iter_markers()}
        for mark, folders in (("rules", RULES), ("core", CORE)):
            if folder in folders and not own & LEFT_OUT:
                item.add_marker(mark)
