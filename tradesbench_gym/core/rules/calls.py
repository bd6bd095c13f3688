"""Who calls, when, and for what (A.4 and A.5 of the report): the day's calls, and the caller on the
line.

The number of calls is settled at 07:00 from the level then; a call's details are made when it
rings. Every call is named by day, stream and index in the stream, so that one call more moves no
other call's time, work or address.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from tradesbench_gym.core import draws
from tradesbench_gym.core.codes import CallState, Stream, code
from tradesbench_gym.core.draws import happens
from tradesbench_gym.core.jit import inlined, rule
from tradesbench_gym.core.layout import DAY_SECONDS, MAX_CUSTOMER_TYPES, NONE, Int, Record
from tradesbench_gym.core.machine import fetch
from tradesbench_gym.core.rules.demand import calls_wanted, quotas
from tradesbench_gym.core.rules.weather import weather_at

_CALL = code(draws.Event.CALL)
_WORK = code(draws.Event.CALL_WORK)
_BOOK = code(draws.Event.BOOK)
SERVICE = code(Stream.SERVICE)
INSTALLATION = code(Stream.INSTALLATION)
OTHER = code(Stream.OTHER)
_RINGING = code(CallState.RINGING)
_MINUTE = 60
_TO_LOOK_UP = np.int64(-2)
"""In a caller's address: this less the place in the map's pool where he will be looked up."""

Pool = npt.NDArray[np.void]


@rule
def open_lines(run: Record, p: Record) -> None:
    """Settle the calls of the present day, in the order in which they will ring."""
    day = np.int64(run["day"])
    other, installations = quotas(run, p, day)
    service = max(np.int64(0), calls_wanted(p, np.int64(run["level"]), day) - other - installations)
    run["days"][day]["level"] = run["level"]
    run["due_count"] = 0
    run["due_next"] = 0
    _add_due(run, p, day, SERVICE, service)
    _add_due(run, p, day, INSTALLATION, installations)
    _add_due(run, p, day, OTHER, other)


@rule
def _add_due(run: Record, p: Record, day: Int, stream: Int, count: Int) -> None:
    # Insertion keeps the list sorted by (time, stream, index): streams come in order, indices too.
    for index in range(count):
        word, _, _, _ = draws.block(run["seed"], run["salt"], _CALL, day, stream, index)
        times = p["call_time"]
        minute = draws.triangle(word, np.int64(times[0]), np.int64(times[1]), np.int64(times[2]))
        at = np.int64(day) * DAY_SECONDS + minute * _MINUTE
        place = np.int64(run["due_count"])
        while place > 0 and run["due"][place - 1]["at"] > at:
            before = run["due"][place - 1]
            after = run["due"][place]
            after["at"] = before["at"]
            after["stream"] = before["stream"]
            after["index"] = before["index"]
            place -= 1
        due = run["due"][place]
        due["at"] = at
        due["stream"] = stream
        due["index"] = index
        run["due_count"] += 1


@inlined
def ring(run: Record, p: Record) -> np.int64:
    """Put the next call of the day on the line and return its index. Where the caller lives is for
    `look_up` to write down.
    """
    due = run["due"][run["due_next"]]
    number = np.int64(run["n_calls"])
    call = run["calls"][number]
    call["rang_at"] = due["at"]
    call["stream"] = due["stream"]
    call["from_day"] = run["day"]
    call["from_index"] = due["index"]
    call["state"] = _RINGING
    _leave_blank(call)
    _make_caller(run, p, call)
    run["due_next"] += 1
    run["n_calls"] += 1
    run["line"] = number
    run["days"][run["day"]]["calls"] += 1
    return number


@inlined
def _leave_blank(call: Record) -> None:
    call["cancel_at"] = NONE
    call["departed"] = NONE
    call["arrived"] = NONE
    call["started"] = NONE
    call["ended"] = NONE
    call["book"] = NONE
    call["next"] = NONE
    call["day"] = NONE
    call["technician"] = NONE
    call["window"] = NONE


@inlined
def _make_caller(run: Record, p: Record, call: Record) -> None:
    """About a quarter of service callers are customers of the book; one who was lost is replaced by
    a new customer.
    """
    stream = np.int64(call["stream"])
    _, w1, w2, w3 = draws.of_call(run, _CALL, call)
    v0, v1, v2, v3 = draws.of_call(run, _WORK, call)
    zone = draws.pick(w3, p["zone_cut"][:])
    customer = draws.pick(v1, p["customer_cut"][:])
    address_word = v3
    if stream == SERVICE and happens(w1, p["from_book"]):
        known = draws.below(w2, np.int64(p["book"]))
        if run["lost"][known] == 0:
            call["book"] = known
            b0, b1, b2, _ = draws.block(
                run["seed"], run["salt"], _BOOK, known, draws.ZERO, draws.ZERO
            )
            zone = draws.pick(b0, p["zone_cut"][:])
            customer = draws.pick(b1, p["customer_cut"][:])
            address_word = b2
    call["zone"] = zone
    call["customer"] = customer
    call["address"] = _TO_LOOK_UP - _spot(p, zone, customer, address_word)
    condition = weather_at(run, zone, np.int64(call["rang_at"]))
    call["urgent"] = 0
    if stream == SERVICE:
        call["service"] = draws.pick(v0, p["trade_cut"][condition])
        call["urgent"] = np.int64(happens(v2, p["urgent_cut"][condition]))
    elif stream == INSTALLATION:
        call["service"] = p["installation_service"]
    else:
        call["service"] = np.int64(p["handbook"]["services"]) + draws.below(
            v0, np.int64(p["other_works"])
        )


@inlined
def _spot(p: Record, zone: Int, customer: Int, word: draws.Word) -> np.int64:
    """Where in the map's pool the address of a caller stands."""
    group = np.int64(zone) * MAX_CUSTOMER_TYPES + np.int64(customer)
    first, last = np.int64(p["pool_start"][group]), np.int64(p["pool_start"][group + 1])
    if first == last:  # a zone without addresses of this type: any address of the zone
        group = np.int64(zone) * MAX_CUSTOMER_TYPES
        first, last = (
            np.int64(p["pool_start"][group]),
            np.int64(p["pool_start"][group + MAX_CUSTOMER_TYPES]),
        )
    return first + draws.below(word, last - first)


@inlined
def look_up(run: Record, pool: Pool) -> None:
    """Write down where the caller on the line lives, if that is still to be done.

    Apart from `ring`, because the map is far larger than any cache: a batch asks for the memory
    with `fetch_caller`, plays another run, and then looks up.
    """
    if run["line"] >= 0:
        call = run["calls"][run["line"]]
        if call["address"] <= _TO_LOOK_UP:
            _set_address(call, pool[_TO_LOOK_UP - np.int64(call["address"])])


@inlined
def fetch_caller(run: Record, pool: Pool) -> None:
    """Let the memory come that `look_up` will need. Changes nothing."""
    if run["line"] >= 0 and run["calls"][run["line"]]["address"] <= _TO_LOOK_UP:
        fetch(pool, _TO_LOOK_UP - np.int64(run["calls"][run["line"]]["address"]))


@inlined
def _set_address(call: Record, place: Record) -> None:
    call["address"] = place["address"]
    call["anchor"] = place["anchor"]
    call["leg"] = place["leg"]
    call["x"] = place["x"]
    call["y"] = place["y"]
