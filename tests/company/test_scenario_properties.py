"""Whatever stands in a scenario's file, it loads or is refused in one sentence."""

from collections.abc import Callable
from decimal import Decimal

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from tests.company.scenarios import (
    HOUR,
    SUNRIDGE,
    TEXT,
    Write,
    assert_one_sentence,
    refusal,
    writer,
)
from tradesbench_gym.company.scenario import Scenario, load_scenario
from tradesbench_gym.company.scenario_rules import latest_finish
from tradesbench_gym.errors import ScenarioError

KEYS = [row.key for row in SUNRIDGE.describe()]


@pytest.fixture(scope="module")
def write(tmp_path_factory: pytest.TempPathFactory) -> Write:
    return writer(tmp_path_factory.mktemp("scenario"))


SCALARS = st.one_of(
    st.integers(),
    st.integers(min_value=10**300, max_value=10**301),
    st.integers(-3, 60),
    st.decimals(),
    st.decimals(0, 2, places=3),
    st.floats(),
    st.booleans(),
    st.text(max_size=80),
    st.from_regex(r"[0-2][0-9]:[0-5][0-9]", fullmatch=True),
    st.dates(),
    st.datetimes(),
    st.times(),
    st.none(),
)
VALUES = st.recursive(
    SCALARS,
    lambda inner: st.lists(inner, max_size=25) | st.dictionaries(st.text(max_size=8), inner),
    max_leaves=30,
)


def assert_loads_or_is_refused(load: Callable[[], Scenario]) -> None:
    try:
        loaded = load()
    except ScenarioError as error:
        assert_one_sentence(error)
    else:
        assert isinstance(loaded, Scenario)
        assert len(loaded.digest) == 64
        assert latest_finish(loaded) < 24 * HOUR + loaded.calendar.office_opens


@given(key=st.sampled_from(KEYS), value=VALUES)
@example(key="demand.gain", value=Decimal("sNaN"))
@example(key="demand.gain", value=Decimal("1E+999999"))
@example(key="demand.gain", value=Decimal("1E-999999"))
@example(key="demand.gain", value=10**5_000)
def test_any_value_at_any_key_loads_or_is_refused(key: str, value: object) -> None:
    assert_loads_or_is_refused(lambda: SUNRIDGE.replace({key: value}))


SECTIONS = sorted({key.rsplit(".", depth)[0] for key in KEYS for depth in (1, 2) if "." in key})


@given(key=st.sampled_from(SECTIONS), value=VALUES)
def test_any_value_for_a_whole_table_loads_or_is_refused(key: str, value: object) -> None:
    assert_loads_or_is_refused(lambda: SUNRIDGE.replace({key: value}))


OTHER_KEYS = st.text(max_size=40) | st.sampled_from(KEYS).map(lambda key: key[:-1])


@given(key=OTHER_KEYS.filter(lambda key: key not in KEYS))
def test_any_other_key_is_refused(key: str) -> None:
    error = refusal({key: 1})
    assert error.code in {"unknown_key", "wrong_value"}


VALUE_LINES = [n for n, line in enumerate(TEXT.splitlines()) if " = " in line]
SNIPPETS = st.one_of(
    st.integers().map(str),
    st.decimals(allow_nan=False, allow_infinity=False).map(str),
    st.sampled_from(["nan", "inf", "-inf", "1e400", "0x10", "[]", "{}", "''", "07:00:00", "true"]),
    st.text(max_size=20),
    st.text(max_size=20).map(repr),
)


@given(line=st.sampled_from(VALUE_LINES), snippet=SNIPPETS)
def test_any_text_for_one_value_of_the_file_loads_or_is_refused(
    write: Write, line: int, snippet: str
) -> None:
    lines = TEXT.splitlines()
    lines[line] = lines[line].split(" = ")[0] + " = " + snippet
    text = "\n".join(lines).encode(errors="replace").decode()
    assert_loads_or_is_refused(lambda: load_scenario(write(text)))


@given(line=st.integers(0, len(TEXT.splitlines()) - 1), twice=st.booleans())
def test_a_line_lost_or_doubled_loads_or_is_refused(write: Write, line: int, twice: bool) -> None:
    lines = TEXT.splitlines()
    lines[line : line + 1] = [lines[line]] * 2 if twice else []
    assert_loads_or_is_refused(lambda: load_scenario(write("\n".join(lines))))


@given(data=st.data())
def test_every_number_written_back_reads_as_itself(data: st.DataObject) -> None:
    row = data.draw(st.sampled_from(list(SUNRIDGE.describe())))
    assert SUNRIDGE.replace({row.key: row.value}) == SUNRIDGE
