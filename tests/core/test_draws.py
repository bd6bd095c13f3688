"""One hash per event (A.1): Philox bit for bit, thresholds exact, identities that shift nothing."""

from __future__ import annotations

from decimal import Decimal
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.worlds import tiny_business
from tradesbench_gym.company.params import chance, cuts
from tradesbench_gym.core import draws
from tradesbench_gym.core.draws import ALWAYS, IDENTITY, WORDS, Event

WORD = st.integers(0, 2**64 - 1)
SMALL = st.integers(0, 2**31 - 1)


def drawn(seed: int, salt: int, event: int, a: int, b: int, c: int) -> list[int]:
    return [int(w) for w in draws.words(np.uint64(seed), np.uint64(salt), event, a, b, c)]


def numpys(key: list[int], counter: list[int]) -> list[int]:
    """NumPy steps its counter before the first block: it is handed the counter less one."""
    whole = sum(value << (64 * place) for place, value in enumerate(counter)) - 1
    before = [(whole >> (64 * place)) % 2**64 for place in range(4)]
    generator = np.random.Philox(key=np.array(key, np.uint64), counter=np.array(before, np.uint64))
    return [int(word) for word in generator.random_raw(4)]


@given(seed=WORD, salt=WORD, event=st.integers(1, 16), a=SMALL, b=SMALL, c=SMALL)
def test_the_words_of_an_event_are_numpys_philox(
    seed: int, salt: int, event: int, a: int, b: int, c: int
) -> None:
    assert drawn(seed, salt, event, a, b, c) == numpys([seed, salt], [event, a, b, c])


def test_the_published_test_vector_of_philox_is_met() -> None:
    """Key and counter zero, from the authors' known-answer file (Random123, philox 4x64, 10)."""
    assert [f"{word:016x}" for word in drawn(0, 0, 0, 0, 0, 0)] == [
        "16554d9eca36314c",
        "db20fe9d672d0fdc",
        "d7e772cee186176b",
        "7e68b68aec7ba23b",
    ]


def test_the_salt_of_a_sealed_run_changes_every_draw() -> None:
    assert not set(drawn(5, 0, 7, 1, 2, 3)) & set(drawn(5, 1, 7, 1, 2, 3))


def test_every_kind_of_event_says_its_identity_and_its_words() -> None:
    assert set(IDENTITY) == set(WORDS) == set(Event)
    assert all(1 <= len(IDENTITY[event]) <= 3 and 1 <= len(WORDS[event]) <= 4 for event in Event)
    assert len({int(event) for event in Event}) == len(Event)


@pytest.mark.parametrize(
    ("p", "threshold"),
    [
        (Fraction(0), 0),
        (Fraction(1, 2), 2**63),
        (Fraction(1, 4), 2**62),
        (Fraction(1, 3), 0x5555555555555555),  # 2**64 / 3 in hexadecimal is 5555…5.55…
        (
            Decimal("0.15"),
            2767011611056432742,
        ),  # 0.15 · 18446744073709551616 = 2767011611056432742.4
        (Fraction(1), ALWAYS),
        (1, ALWAYS),
    ],
)
def test_a_probability_is_floored_to_its_threshold_exactly(
    p: Fraction | Decimal | int, threshold: int
) -> None:
    assert chance(p) == threshold


@given(st.fractions(0, 1, max_denominator=10**9))
def test_no_probability_below_one_is_always(p: Fraction) -> None:
    assert chance(p) == (ALWAYS if p == 1 else p.numerator * 2**64 // p.denominator)


def happens(word: int, threshold: int) -> bool:
    return bool(draws.happens(np.uint64(word), np.uint64(threshold)))


@given(WORD)
def test_what_has_no_chance_never_happens_and_what_is_certain_always(word: int) -> None:
    assert not happens(word, chance(0))
    assert happens(word, chance(1))


def test_an_event_happens_when_its_word_lies_below_the_threshold() -> None:
    half = chance(Fraction(1, 2))
    assert happens(2**63 - 1, half)
    assert not happens(2**63, half)
    assert happens(2**64 - 1, ALWAYS)


@given(
    st.lists(st.integers(0, 9), min_size=1, max_size=5).filter(any),
    WORD,
)
def test_a_choice_by_weight_never_takes_what_weighs_nothing(weights: list[int], word: int) -> None:
    table = np.array(cuts(weights), np.uint64)
    chosen = int(draws.pick(np.uint64(word), table))
    assert weights[chosen] > 0
    exact = Fraction(word, 2**64) * sum(weights)
    assert sum(weights[:chosen]) <= exact + Fraction(1, 2**32)
    assert exact < sum(weights[: chosen + 1])


@given(WORD, st.integers(1, 2**31))
def test_a_whole_number_below_n_has_equal_chances(word: int, n: int) -> None:
    assert int(draws.below(np.uint64(word), n)) == (word >> 32) * n >> 32


def test_a_triangle_is_cut_where_its_area_says() -> None:
    """Between 0 and 10,000 with its top at 2,500 a quarter of the area lies left of the top."""
    cases = (
        (0.25, 2_500),
        (0.0, 0),
        (0.04, 1_000),  # sqrt(0.04 · 10,000 · 2,500) = 1,000
        (0.52, 4_000),  # 10,000 − sqrt(0.48 · 10,000 · 7,500) = 10,000 − 6,000
        (0.97, 8_500),  # 10,000 − sqrt(0.03 · 10,000 · 7,500) = 10,000 − 1,500
    )
    for share, value in cases:
        word = np.uint64(int(share * 2**64))
        assert abs(int(draws.triangle(word, 0, 2_500, 10_000)) - value) <= 1
    assert int(draws.triangle(np.uint64(0), 7, 7, 7)) == 7


@given(WORD, st.lists(st.integers(0, 10**6), min_size=3, max_size=3))
def test_a_triangle_stays_within_its_range(word: int, sides: list[int]) -> None:
    low, usual, high = sorted(sides)
    assert low <= int(draws.triangle(np.uint64(word), low, usual, high)) <= high


def test_a_bell_has_mean_zero_and_the_spread_it_is_given() -> None:
    values = np.array(
        [
            int(draws.bell(np.uint64(word), np.int64(1_000)))
            for k in range(500)
            for word in drawn(9, 0, 99, k, 0, 0)
        ]
    )
    # Standard errors: 1,000 / sqrt(2,000) = 22 of the mean, 1,000 / sqrt(4,000) = 16 of the spread.
    assert abs(values.mean()) < 4 * 22
    assert abs(values.std() - 1_000) < 4 * 16


@pytest.mark.parametrize(
    ("a", "b", "rounded"), [(5, 10, 1), (4, 10, 0), (15, 10, 2), (-5, 10, 0), (-6, 10, -1)]
)
def test_rounding_is_half_up(a: int, b: int, rounded: int) -> None:
    assert int(draws.div_round(np.int64(a), np.int64(b))) == rounded


def test_explain_shows_an_auditor_words_threshold_and_outcome() -> None:
    told = draws.explain(5, Event.ANSWER, 3, 0, 7, threshold=chance(Decimal("0.15")))
    word = drawn(5, 0, int(Event.ANSWER), 3, 0, 7)[0]
    assert told.identity == {"day of the call": 3, "stream": 0, "index in the stream": 7}
    assert told.words == {"0 patience": word}
    assert told.happened == (word < 0.15 * 2**64)
    assert told.probability == pytest.approx(0.15)


def test_explain_refuses_an_identity_of_the_wrong_length() -> None:
    with pytest.raises(ValueError, match="ANSWER is identified by"):
        draws.explain(5, Event.ANSWER, 3)
    with pytest.raises(ValueError, match="has words 0 to 0"):
        draws.explain(5, Event.ANSWER, 3, 0, 7, word=1)


def test_thresholds_are_made_once_and_cannot_be_changed() -> None:
    with pytest.raises(ValueError, match="read-only"):
        tiny_business().params[0]["accept"][0, 0] = 0
