"""What the tests of a scenario share: the shipped file, a place for others, one sentence."""

from collections.abc import Callable, Mapping
from pathlib import Path

import pytest

from tradesbench_gym.company import scenario as scenario_module
from tradesbench_gym.company.scenario import load_scenario
from tradesbench_gym.errors import ScenarioError

SHIPPED = Path(scenario_module.__file__).with_name("sunridge.toml")
TEXT = SHIPPED.read_text(encoding="utf-8")
SUNRIDGE = load_scenario()
HOUR = 3600

Write = Callable[[str], Path]


def writer(folder: Path) -> Write:
    """A function that writes a text to one file in the folder and returns its path."""
    path = folder / "my.toml"

    def write(text: str) -> Path:
        path.write_text(text, encoding="utf-8")
        return path

    return write


def refusal(changes: Mapping[str, object]) -> ScenarioError:
    with pytest.raises(ScenarioError) as caught:
        SUNRIDGE.replace(changes)
    assert_one_sentence(caught.value)
    return caught.value


def assert_one_sentence(error: ScenarioError) -> None:
    assert str(error).isprintable()
    assert len(str(error)) < 600
    assert str(error).endswith(".")
    assert error.code != "error"
    assert error.field is not None
