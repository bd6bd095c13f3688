"""Random numbers as named things: seed, salt and the identity of an event give four words, and
nothing else does.

Philox4x64-10, bit for bit what `numpy.random.Philox` gives: key = (seed, salt), counter = (event,
a, b, c). This is the only home of unsigned 64-bit arithmetic; other modules hand words on without
looking inside. It knows no rule: which word of which event serves which quantity stands in `WORDS`,
and what is made of it in `rules/`.

Numbers wrap without ever overflowing an operation, so that the same source gives the same bits as
plain Python.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import IntEnum
from typing import TypeAlias

import numpy as np
import numpy.typing as npt

from tradesbench_gym.core.jit import compiled_as, inlined, kernel, rule
from tradesbench_gym.core.layout import Int, Record
from tradesbench_gym.core.machine import high_half

Word: TypeAlias = np.uint64
"""64 random bits, or a probability as a threshold for them."""


class Event(IntEnum):
    """Everything uncertain in a run; the identity (a, b, c) of each stands in `IDENTITY`."""

    WEATHER_REGION = 1
    WEATHER_ZONE = 2
    FORECAST = 3
    QUOTAS = 4
    CALL = 5
    CALL_WORK = 6
    CALLER = 7
    BOOK = 8
    BOOK_CALLER = 9
    ANSWER = 10
    CANCELLATION = 11
    VISIT = 12
    DRIVE = 13
    POLICY = 14


ZERO = np.int64(0)
"""Where an identity has fewer than three numbers (a compiled call would take 0 for a type)."""
DAY_OFFSET = 1_000
"""Added to a day in an identity, so that the days before day 0 have one too."""

_CALL_IDENTITY = ("day of the call", "stream", "index in the stream")

IDENTITY: dict[Event, tuple[str, ...]] = {
    Event.WEATHER_REGION: ("day + 1000", "lead (0: what happens; 1 to 7: a false sign)"),
    Event.WEATHER_ZONE: ("zone", "day + 1000", "lead (as for the region)"),
    Event.FORECAST: ("zone", "target day + 1000", "pair of leads (0: 1 and 2 … 3: 7 and 8)"),
    Event.QUOTAS: ("day + 1000",),
    Event.CALL: _CALL_IDENTITY,
    Event.CALL_WORK: _CALL_IDENTITY,
    Event.CALLER: _CALL_IDENTITY,
    Event.BOOK: ("index in the book",),
    Event.BOOK_CALLER: ("index in the book",),
    Event.ANSWER: _CALL_IDENTITY,
    Event.CANCELLATION: _CALL_IDENTITY,
    Event.VISIT: _CALL_IDENTITY,
    Event.DRIVE: _CALL_IDENTITY,
    Event.POLICY: ("when the call came in", "address"),
}

WORDS: dict[Event, tuple[str, ...]] = {
    Event.WEATHER_REGION: ("anomaly", "storm", "rain", "wind"),
    Event.WEATHER_ZONE: ("anomaly", "storm", "rain", "wind"),
    Event.FORECAST: ("error, odd lead", "sign lost, odd lead", "error, even", "sign lost, even"),
    Event.QUOTAS: ("out-of-scope calls", "installation calls"),
    Event.CALL: ("time", "from the book", "which of the book", "zone"),
    Event.CALL_WORK: ("work", "customer type", "urgency", "address"),
    Event.CALLER: ("first name", "last name", "phone"),
    Event.BOOK: ("zone", "customer type", "address"),
    Event.BOOK_CALLER: ("first name", "last name", "phone"),
    Event.ANSWER: ("patience",),
    Event.CANCELLATION: ("cancels", "when"),
    Event.VISIT: ("time on site", "invoice", "material share"),
    Event.DRIVE: ("variation",),
    Event.POLICY: ("policy's own",),
}

ALWAYS = (1 << 64) - 1
"""Threshold of p = 1: 2**64 does not fit, and no p < 1 reaches this one (see `threshold`)."""

_LOW = np.uint64(0xFFFFFFFF)
_HALF = np.uint64(32)
_ALWAYS = np.uint64(ALWAYS)
_MULTIPLIER_0 = np.uint64(0xD2E7470EE14C6C93)
_MULTIPLIER_1 = np.uint64(0xCA5A826395121157)
_WEYL_0 = np.uint64(0x9E3779B97F4A7C15)
_WEYL_1 = np.uint64(0xBB67AE8584CAA73B)
_MANTISSA_SHIFT = np.uint64(11)
_MANTISSA = 2.0**-53
_CHUNK = np.uint64(0xFFFF)
_CHUNK_BITS = np.uint64(16)
_ROUNDS = 10
_BELL_CENTRE = 4 * 65_535
_BELL_UNIT = np.int64(75_674)
"""Standard deviation of twice the sum of four uniform draws of 16 bits: 2 * 65,536 / sqrt(3)."""


def _add(a: Word, b: Word) -> Word:
    """Sum without its carry, which NumPy's scalars would warn of."""
    low = (a & _LOW) + (b & _LOW)
    high = (a >> _HALF) + (b >> _HALF) + (low >> _HALF)
    return (high << _HALF) | (low & _LOW)


@compiled_as(_add)
def _add_at_once(a: Word, b: Word) -> Word:
    return a + b


def _multiply(a: Word, b: Word) -> tuple[Word, Word]:
    """High and low half of a 128-bit product."""
    a_low = a & _LOW
    a_high = a >> _HALF
    b_low = b & _LOW
    b_high = b >> _HALF
    low = a_low * b_low
    cross = a_high * b_low
    other = a_low * b_high
    middle = (low >> _HALF) + (cross & _LOW) + (other & _LOW)
    high = a_high * b_high + (cross >> _HALF) + (other >> _HALF) + (middle >> _HALF)
    return high, (middle << _HALF) | (low & _LOW)


@compiled_as(_multiply)
def _multiply_at_once(a: Word, b: Word) -> tuple[Word, Word]:
    return high_half(a, b), a * b


@rule
def block(
    seed: Word, salt: Word, event: Int, a: Int, b: Int, c: Int
) -> tuple[Word, Word, Word, Word]:
    """The four words of one event: what everything uncertain about it is read from."""
    c0 = np.uint64(event)
    c1 = np.uint64(a)
    c2 = np.uint64(b)
    c3 = np.uint64(c)
    k0 = seed
    k1 = salt
    for step in range(_ROUNDS):
        if step > 0:
            k0 = _add(k0, _WEYL_0)
            k1 = _add(k1, _WEYL_1)
        high0, low0 = _multiply(_MULTIPLIER_0, c0)
        high1, low1 = _multiply(_MULTIPLIER_1, c2)
        c0 = high1 ^ c1 ^ k0
        c1 = low1
        c2 = high0 ^ c3 ^ k1
        c3 = low0
    return c0, c1, c2, c3


@inlined
def of_call(run: Record, event: Int, call: Record) -> tuple[Word, Word, Word, Word]:
    """The words of an event of one call, which day, stream and index in the stream name."""
    return block(
        run["seed"],
        run["salt"],
        event,
        np.int64(call["from_day"]),
        np.int64(call["stream"]),
        np.int64(call["from_index"]),
    )


@kernel
def words(
    seed: Word, salt: Word, event: Int, a: Int, b: Int, c: Int
) -> tuple[Word, Word, Word, Word]:
    """`block` for callers outside the rules."""
    return block(seed, salt, event, a, b, c)


@inlined
def happens(word: Word, threshold: Word) -> bool:
    """Whether an event of probability p happens: u < floor(p * 2**64) (A.1 of the report)."""
    return bool(threshold == _ALWAYS or word < threshold)


@inlined
def below(word: Word, n: Int) -> np.int64:
    """A whole number from 0 to n - 1, n at most 2**31."""
    return np.int64(((word >> _HALF) * np.uint64(n)) >> _HALF)


@inlined
def pick(word: Word, cuts: npt.NDArray[np.uint64]) -> np.int64:
    """The first index whose cumulative threshold lies above the word; the last cut of a table is
    ALWAYS.
    """
    k = 0
    while not happens(word, cuts[k]):
        k += 1
    return np.int64(k)


@rule
def triangle(word: Word, low: Int, usual: Int, high: Int) -> np.int64:
    """A whole number of a triangle from low over usual to high: its inverse, rounded down.

    Only multiplication, division and the square root, which IEEE 754 rounds exactly on every
    machine.
    """
    if high <= low:
        return np.int64(low)
    u = np.float64(np.int64(word >> _MANTISSA_SHIFT)) * _MANTISSA
    width = np.float64(high - low)
    rise = np.float64(usual - low)
    if u * width < rise:
        return np.int64(low) + np.int64(np.sqrt(u * width * rise))
    return np.int64(low) + np.int64(width - np.sqrt((1.0 - u) * width * np.float64(high - usual)))


@inlined
def bell(word: Word, spread: Int) -> np.int64:
    """A deviate of mean 0 and standard deviation `spread`: the sum of the word's four 16-bit
    quarters, exact on every machine.
    """
    upper = word >> _HALF
    quarters = np.int64(word & _CHUNK) + np.int64((word >> _CHUNK_BITS) & _CHUNK)
    quarters += np.int64(upper & _CHUNK) + np.int64((upper >> _CHUNK_BITS) & _CHUNK)
    return div_round((2 * quarters - _BELL_CENTRE) * np.int64(spread), _BELL_UNIT)


@inlined
def div_round(a: Int, b: Int) -> np.int64:
    """A / b for b > 0, rounded half up: the one division of the rules."""
    return np.int64((2 * a + b) // (2 * b))


def threshold(numerator: int, denominator: int) -> int:
    """floor(p * 2**64) of p = numerator / denominator; `ALWAYS` for p >= 1, 0 for p <= 0."""
    if numerator <= 0:
        return 0
    if numerator >= denominator:
        return ALWAYS
    return min((numerator << 64) // denominator, ALWAYS - 1)


@dataclass(frozen=True)
class Explanation:
    """What one event was drawn from: for people who check results."""

    event: Event
    identity: dict[str, int]
    words: dict[str, int]
    threshold: int | None
    happened: bool | None

    @property
    def probability(self) -> float | None:
        """The threshold as a probability."""
        return None if self.threshold is None else self.threshold / 2**64


def explain(
    seed: int,
    event: Event,
    *identity: int,
    salt: int = 0,
    threshold: int | None = None,
    word: int = 0,
) -> Explanation:
    """The words of an event and, for a given threshold, whether it happens.

    Args:
        seed: number of the run.
        event: kind of event.
        identity: as many whole numbers as `IDENTITY[event]` names.
        salt: 0 for an open run.
        threshold: floor(p * 2**64) of the question asked, as `PARAMS` holds it.
        word: which of the event's words answers it.

    Raises:
        ValueError: wrong number of identity values, or no such word.

    """
    names, served = IDENTITY[event], WORDS[event]
    if len(identity) != len(names):
        raise ValueError(
            f"{event.name} is identified by {', '.join(names)}: "
            f"{len(names)} numbers, not {len(identity)}"
        )
    if not 0 <= word < len(served):
        raise ValueError(f"{event.name} has words 0 to {len(served) - 1}, not {word}")
    a, b, c = (*identity, 0, 0, 0)[:3]
    drawn = [int(value) for value in words(np.uint64(seed), np.uint64(salt), int(event), a, b, c)]
    named = {f"{i} {name}": drawn[i] for i, name in enumerate(served)}
    happened = None if threshold is None else threshold == ALWAYS or drawn[word] < threshold
    return Explanation(event, dict(zip(names, identity, strict=True)), named, threshold, happened)
