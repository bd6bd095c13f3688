"""Isolation (A.1): one booking more shuffles nobody else's luck."""

from __future__ import annotations

from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from tests.worlds import tiny_business
from tradesbench_gym.company.simulation import Simulation
from tradesbench_gym.core.codes import CallState, Stop

LIVELY = {"pay.starting_cash": 10**6, "demand.gain": 0, "demand.loss": 0}
# What a call is, and what was drawn for it, whatever became of the others.
SAME = ("rang_at", "address", "service", "customer", "urgent", "zone", "book")

Slot = tuple[int, int, int]


def identity(call: Any) -> tuple[int, int, int]:
    return int(call["from_day"]), int(call["stream"]), int(call["from_index"])


def played(seed: int, offers: dict[int, Slot], days: int = 3) -> dict[tuple[int, int, int], Any]:
    """The calls of a run, by identity, that makes an offer to some calls and rejects the rest.

    Each also carries what is drawn once it is booked, noted at once: the answer and the
    cancellation.
    """
    simulation = Simulation(seed, business=tiny_business(LIVELY, days))
    answers: dict[tuple[int, int, int], tuple[bool, int]] = {}
    for number in range(10_000):
        if simulation.next_call() != Stop.NEW_CALL:
            break
        call = simulation.record["calls"][number]
        offer = offers.get(number)
        if offer is not None and simulation.refusal(*offer) is None:
            accepted = simulation.offer(*offer)
            answers[identity(call)] = (accepted, int(call["cancel_at"]))
        else:
            simulation.reject()
    run = simulation.record
    calls = run["calls"][: int(run["n_calls"])].copy()
    return {identity(call): (call, answers.get(identity(call))) for call in calls}


def work(call: Any) -> tuple[int, int, int] | None:
    """Length, invoice and material of a job that was done."""
    if call["state"] != CallState.DONE:
        return None
    length = int(call["ended"] - call["started"])
    return length, int(call["invoice"]), int(call["material"])


slots = st.tuples(st.integers(0, 3), st.integers(0, 2), st.integers(0, 5))


@settings(max_examples=12)
@given(
    seed=st.integers(0, 2**32),
    offers=st.dictionaries(st.integers(0, 30), slots, min_size=3, max_size=15),
    more=st.integers(0, 30),
    slot=slots,
)
def test_adding_one_booking_changes_no_draw_of_any_other_event(
    seed: int, offers: dict[int, Slot], more: int, slot: Slot
) -> None:
    offers.pop(more, None)
    without, with_it = played(seed, offers), played(seed, {**offers, more: slot})
    assert without.keys() == with_it.keys()
    for key, (call, answer) in without.items():
        other, answer_then = with_it[key]
        for name in SAME[:-1]:
            assert call[name] == other[name]
        if answer is not None and answer_then is not None:
            assert answer == answer_then
        if work(call) is not None and work(other) is not None:
            assert work(call) == work(other)


@settings(max_examples=12)
@given(seed=st.integers(0, 2**32), chosen=st.lists(st.integers(0, 30), min_size=6, unique=True))
def test_the_same_offer_to_the_same_customer_gets_the_same_answer_in_any_run(
    seed: int, chosen: list[int]
) -> None:
    """Two companies, the second of which also books every other caller: who is asked the same by
    both says the same, and cancels in the same second."""
    few = {number: (number % 4, 1, number % 5) for number in chosen}
    rest = {number: ((number + 1) % 4, 1, number % 5) for number in range(31)}
    one, two = played(seed, few), played(seed, {**rest, **few})
    numbers = list(one)
    for number in few:
        if number < len(numbers):
            assert one[numbers[number]][1] == two[numbers[number]][1]


@settings(max_examples=8)
@given(seed=st.integers(0, 2**32), level=st.integers(6, 29))
def test_more_demand_adds_calls_and_moves_none(seed: int, level: int) -> None:
    """Each call of the quieter city rings in the busier one too, at the same time, for the same
    work.
    """
    seen = []
    for start in (level, level + 1):
        business = tiny_business({**LIVELY, "demand.start": start, "demand.book_share": 0}, 2)
        simulation = Simulation(seed, business=business)
        while simulation.next_call() == Stop.NEW_CALL:
            simulation.reject()
        run = simulation.record
        seen.append({identity(c): c for c in run["calls"][: int(run["n_calls"])].copy()})
    quiet, busy = seen
    assert len(busy) > len(quiet)
    for key, call in quiet.items():
        for name in SAME:
            assert call[name] == busy[key][name]


@settings(max_examples=8)
@given(seed=st.integers(0, 2**32), who=st.integers(0, 3), window=st.integers(1, 4))
def test_the_length_and_the_bill_of_a_job_are_its_own_whoever_does_it(
    seed: int, who: int, window: int
) -> None:
    for number in range(4):
        ways = [played(seed, {number: (who, 1, window)}), played(seed, {number: (who, 0, 4)})]
        calls = [way[list(way)[number]][0] for way in ways]
        done = [work(call) for call in calls if work(call) is not None]
        assert len(set(done)) <= 1
