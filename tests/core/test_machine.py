"""What kernels use in place of plain functions gives what these give."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tradesbench_gym.core import machine
from tradesbench_gym.core.jit import kernel

TABLE = np.dtype([("before", "|i1"), ("table", "<i2", (3, 8)), ("after", "|i1")])
SMALL = st.integers(-(2**15), 2**15 - 1)
ROOM = 20


@kernel
def _convert(records: np.ndarray, row: int, whole: np.ndarray, real: np.ndarray, at: int) -> None:
    machine.convert_row(records[0]["table"], row, whole, at)
    machine.convert_row(records[0]["table"], row, real, at)


@kernel
def _bits(records: np.ndarray, row: int, found: np.ndarray) -> None:
    found[0] = machine.bits_of_row(records[0]["table"], row)


@kernel
def _copy(records: np.ndarray) -> None:
    machine.copy_whole(records[0]["table"], records[1]["table"])


@kernel
def _lowest(words: np.ndarray, found: np.ndarray) -> None:
    found[0] = machine.lowest_bit(words[0])


@kernel
def _add(counter: np.ndarray, amount: int, before: np.ndarray) -> None:
    before[0] = machine.add_shared(counter, np.int64(amount))


@kernel
def _fetch_and_borrow(records: np.ndarray, seen: np.ndarray) -> None:
    mine = machine.borrowed(records)
    machine.fetch(mine[0]["table"], np.int64(0))
    seen[0] = mine[0]["table"][2, 7]


def table_of(entries: list[int], count: int = 1) -> np.ndarray:
    records = np.zeros(count, TABLE)
    records[0]["table"] = np.array(entries).reshape(3, 8)
    return records


TABLES = st.lists(SMALL, min_size=24, max_size=24)


@given(entries=TABLES, row=st.integers(0, 2), at=st.integers(0, ROOM - 8))
def test_a_row_is_converted_as_numpy_converts_it(entries: list[int], row: int, at: int) -> None:
    records = table_of(entries)
    whole, real = np.full(ROOM, 77, np.int8), np.full(ROOM, 77, np.float32)
    _convert(records, row, whole, real, at)
    wanted_whole, wanted_real = np.full(ROOM, 77, np.int8), np.full(ROOM, 77, np.float32)
    wanted_whole[at : at + 8] = records[0]["table"][row].astype(np.int8)
    wanted_real[at : at + 8] = records[0]["table"][row]
    assert whole.tobytes() == wanted_whole.tobytes()
    assert real.tobytes() == wanted_real.tobytes()


@given(entries=TABLES, row=st.integers(0, 2))
def test_bits_of_a_row_say_which_entries_are_zero_or_more(entries: list[int], row: int) -> None:
    records, found = table_of(entries), np.zeros(1, np.uint64)
    _bits(records, row, found)
    ones = [i for i in range(8) if entries[8 * row + i] >= 0]
    assert int(found[0]) == sum(1 << i for i in ones)
    assert machine.bits_of_row(records[0]["table"], row) == found[0]


@given(word=st.integers(1, 2**64 - 1))
def test_the_lowest_bit_of_a_word(word: int) -> None:
    found = np.zeros(1, np.int64)
    _lowest(np.array([word], np.uint64), found)
    assert word % 2 ** int(found[0]) == 0
    assert word >> int(found[0]) & 1
    assert machine.lowest_bit(np.uint64(word)) == found[0]


@given(entries=TABLES)
def test_a_nested_array_is_copied_whole_and_nothing_beside_it(entries: list[int]) -> None:
    records = table_of(entries, 2)
    records["before"], records["after"] = [1, 2], [3, 4]
    _copy(records)
    assert records[1]["table"].tolist() == records[0]["table"].tolist()
    assert (records["before"].tolist(), records["after"].tolist()) == ([1, 2], [3, 4])


def test_a_counter_is_told_as_it_was_before() -> None:
    counter, before = np.array([5]), np.zeros(1, np.int64)
    _add(counter, 3, before)
    assert (before[0], counter[0]) == (5, 8)
    assert machine.add_shared(counter, 2) == 8
    assert counter[0] == 10


@pytest.mark.parametrize("last", [-3, 9])
def test_what_is_fetched_or_borrowed_is_what_it_was(last: int) -> None:
    records, seen = table_of([0] * 23 + [last]), np.zeros(1, np.int64)
    _fetch_and_borrow(records, seen)
    assert seen[0] == last
    assert records[0]["table"].tolist() == table_of([0] * 23 + [last])[0]["table"].tolist()
