"""The file of a scenario: comments that agree with the schema, exact values, a digest."""

import copy
import pickle
import re
import subprocess
import sys
from collections.abc import Iterator, Mapping
from dataclasses import fields, is_dataclass
from datetime import date
from decimal import Context, Decimal, localcontext
from typing import Any

import pytest

from tests.company.scenarios import (
    SUNRIDGE,
    TEXT,
    Write,
    writer,
)
from tradesbench_gym.company.scenario import load_scenario


@pytest.fixture(scope="module")
def write(tmp_path_factory: pytest.TempPathFactory) -> Write:
    return writer(tmp_path_factory.mktemp("scenario"))


def commented_lines() -> Iterator[tuple[str, str]]:
    """Key and comment of every value in the shipped file."""
    table, inside = "", False
    for line in TEXT.splitlines():
        if heading := re.match(r"\[([^\]]+)\]", line):
            table = heading[1] + "."
        elif value := re.match(r'("?)([^" {=]+|[^"=]+(?="))\1 = (.*)', line):
            comment = re.search(r"  # (.*)$", value[3])
            assert comment, f"no unit and source in: {line}"
            yield table + value[2], comment[1]
            inside = value[3].startswith("[ ")
        else:
            assert inside or re.match(r"#|    |\]|$", line), line


def test_the_comment_on_every_value_names_the_unit_and_source_of_the_schema() -> None:
    ours = {row.key: f"{row.unit}, {row.source}" for row in SUNRIDGE.describe()}
    ours["windows"] = ours["windows.0.opens"]
    said = dict(commented_lines())
    assert {key: comment.split(":")[0] for key, comment in said.items()} == {
        key: ours[key] for key in said
    }
    assert set(said) == {key for key in ours if not key.startswith("windows.")}


def test_every_number_has_a_unit_a_source_and_a_meaning() -> None:
    for row in SUNRIDGE.describe():
        assert row.unit
        assert row.meaning
        assert row.source in {"given", "calibrated"}


def test_only_the_hvac_numbers_the_report_prints_are_given() -> None:
    sources = {row.key: row.source for row in SUNRIDGE.describe()}
    prices = [key for key in sources if ".prices." in key and sources[key] == "given"]
    material = [key for key in sources if "material" in key and sources[key] == "given"]
    assert prices == ["services.hvac_service.prices.residential"]
    assert material == [f"services.hvac_service.material_{end}" for end in ("low", "high")]


def test_a_number_that_was_changed_no_longer_counts_as_given() -> None:
    other = SUNRIDGE.replace({"pay.overhead": 900})
    assert [row.key for row in other.describe() if row.source == "changed"] == ["pay.overhead"]


def test_a_copy_of_the_file_is_the_same_business(write: Write) -> None:
    path = write(TEXT)
    assert load_scenario(path) == load_scenario(str(path)) == SUNRIDGE
    assert load_scenario(SUNRIDGE) is SUNRIDGE


def test_windows_line_ends_and_a_byte_order_mark_are_read(write: Write) -> None:
    path = write("\ufeff" + TEXT.replace("\n", "\r\n"))
    assert load_scenario(path).digest == SUNRIDGE.digest


def test_the_digest_is_that_of_the_values_and_not_of_their_form(write: Write) -> None:
    bare = re.sub(r" +#[^\n]*", "", TEXT)
    other = bare.replace("overhead = 1250", 'overhead = "1250.00"').replace("= 0.7\n", "= 7.0E-1\n")
    tables = re.split(r"\n(?=\[(?:visits|estimate)\])", other)
    assert len(tables) == 3
    moved = tables[0] + "\n" + tables[2] + "\n" + tables[1]
    assert moved != TEXT
    assert load_scenario(write(moved)).digest == SUNRIDGE.digest


@pytest.mark.parametrize(
    "changes",
    [
        {"demand.gain": "0.0801"},
        {"pay.overhead": "1250.01"},
        {"windows.5.evening": False},
        {"company": "Sunridge"},
        {"technicians.marcus.home_lat": "33.600001"},
        {"other_work": ["Roofing"]},
    ],
)
def test_any_other_value_has_another_digest(changes: dict[str, object]) -> None:
    assert SUNRIDGE.replace(changes).digest != SUNRIDGE.digest


def test_the_order_of_technicians_is_part_of_the_digest(write: Write) -> None:
    start, end = TEXT.index("[technicians.marcus]"), TEXT.index("[technicians.roberto]")
    marcus, diana = TEXT[start:end].split("[technicians.diana]")
    swapped = TEXT[:start] + "[technicians.diana]" + diana + marcus + TEXT[end:]
    other = load_scenario(write(swapped))
    assert [p.key for p in other.technicians][:2] == ["diana", "marcus"]
    assert other.digest != SUNRIDGE.digest


def test_the_digest_is_the_same_in_another_process() -> None:
    code = "from tradesbench_gym.company.scenario import load_scenario as l; print(l().digest)"
    shown = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True
    ).stdout
    assert shown.strip() == SUNRIDGE.digest


def leaves(value: object) -> Iterator[object]:
    if is_dataclass(value):
        for field in fields(value):
            yield from leaves(getattr(value, field.name))
    elif isinstance(value, Mapping):
        for key, inner in value.items():
            yield from (key, *leaves(inner))
    elif isinstance(value, tuple):
        for inner in value:
            yield from leaves(inner)
    else:
        yield value


def test_a_scenario_holds_exact_values_and_no_binary_float() -> None:
    assert {type(leaf) for leaf in leaves(SUNRIDGE)} == {str, int, bool, date, Decimal}


def test_a_scenario_cannot_be_changed_and_travels_to_other_processes() -> None:
    with pytest.raises(AttributeError):
        SUNRIDGE.pay.overhead_cents = 0  # type: ignore[misc]
    with pytest.raises(TypeError):
        SUNRIDGE.demand.zone_share["Glendale"] = 0  # type: ignore[index]
    again = pickle.loads(pickle.dumps(SUNRIDGE))  # noqa: S301 - our own bytes
    assert again == copy.deepcopy(SUNRIDGE) == SUNRIDGE
    assert hash(again) == hash(SUNRIDGE)
    assert again.digest == SUNRIDGE.digest


def test_money_is_exact_to_the_cent() -> None:
    other = SUNRIDGE.replace({"pay.overhead": "1250.07", "technicians.marcus.wage": "36.29"})
    assert other.pay.overhead_cents == 125_007
    assert other.technicians[0].wage_cents == 3_629


def test_the_numbers_do_not_depend_on_the_callers_decimal_context(write: Write) -> None:
    path = write(TEXT)
    with localcontext(Context(prec=2)):
        assert load_scenario(path) == SUNRIDGE


def test_a_replaced_copy_never_shares_the_callers_tables() -> None:
    mine: dict[Any, Any] = {0: "0.5", 1: "0.5"}
    other = SUNRIDGE.replace({"demand.installations": mine, "demand.installations.0": "0.5"})
    assert dict(other.demand.installations) == {0: Decimal("0.5"), 1: Decimal("0.5")}
    assert mine == {0: "0.5", 1: "0.5"}


def test_customers_stand_in_the_order_of_the_maps_whatever_the_file_says(write: Write) -> None:
    start, end = TEXT.index("[customers.residential]"), TEXT.index("[customers.apartment]")
    stop = TEXT.index("[demand]")
    moved = TEXT[:start] + TEXT[end:stop] + TEXT[start:end] + TEXT[stop:]
    assert load_scenario(write(moved)) == SUNRIDGE
