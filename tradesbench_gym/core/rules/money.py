"""Invoices, pay, overtime and overhead, and the moment a company is bankrupt (A.9 of the report).

Money moves only through `_post`: one row of the append-only ledger, and cash with it. Rows that
belong together are posted together and tested for bankruptcy once, by `settle`.
"""

from __future__ import annotations

import numpy as np

from tradesbench_gym.core import draws
from tradesbench_gym.core.codes import Entry, Kind, Phase, code
from tradesbench_gym.core.draws import div_round
from tradesbench_gym.core.jit import rule
from tradesbench_gym.core.layout import NONE, Int, Record
from tradesbench_gym.core.log import emit, emit_entry
from tradesbench_gym.core.rules.calendar import is_weekend, off_hours, paid_from, paid_until

_VISIT = code(draws.Event.VISIT)
_INVOICE = code(Entry.INVOICE)
_PREMIUM = code(Entry.PREMIUM)
_MATERIAL = code(Entry.MATERIAL)
_SHARE = code(Entry.SHARE)
_OVERTIME = code(Entry.OVERTIME)
_BASE_PAY = code(Entry.BASE_PAY)
_ON_CALL_PAY = code(Entry.ON_CALL_PAY)
_OVERHEAD = code(Entry.OVERHEAD)
_BANKRUPT = code(Kind.BANKRUPT)
_ENDED_EVENT = code(Kind.ENDED)
_ENDED = code(Phase.ENDED)
_HOUR = np.int64(3_600)
_UNIT = np.int64(10_000)


@rule
def _post(run: Record, log: Record, entry: Int, amount: Int, call: Int, technician: Int) -> None:
    if amount == 0:
        return
    run["ledger"][entry] += amount
    run["cash"] += amount
    run["entries"] += 1
    emit_entry(run, log, entry, amount, call, technician)


@rule
def settle(run: Record, log: Record) -> None:
    """Below zero the company is bankrupt, and the run stops with the payment that did it."""
    run["lowest"] = min(np.int64(run["lowest"]), np.int64(run["cash"]))
    if run["cash"] < 0 and run["bankrupt"] == 0:
        run["bankrupt"] = 1
        run["phase"] = _ENDED
        emit(run, log, _BANKRUPT, NONE, NONE)
        emit(run, log, _ENDED_EVENT, NONE, NONE)


@rule
def price(run: Record, p: Record, call: Record) -> None:
    """Draw a job's invoice and material cost: by the job alone, whichever day, window or
    technician.
    """
    _, w1, w2, _ = draws.of_call(run, _VISIT, call)
    prices = p["price"][call["service"], call["customer"]]
    invoice = draws.triangle(w1, np.int64(prices[0]), np.int64(prices[1]), np.int64(prices[2]))
    low, high = (
        np.int64(p["material"][call["service"], 0]),
        np.int64(p["material"][call["service"], 1]),
    )
    share = low + draws.below(w2, high - low + 1)
    call["invoice"] = invoice
    call["material"] = div_round(invoice * share, _UNIT)


@rule
def bill(run: Record, p: Record, log: Record, number: Int) -> None:
    """Post everything a finished job brings and costs, in one commit."""
    call = run["calls"][number]
    technician = np.int64(call["technician"])
    price(run, p, call)
    invoice = np.int64(call["invoice"])
    _post(run, log, _INVOICE, invoice, number, NONE)
    _post(run, log, _MATERIAL, -np.int64(call["material"]), number, NONE)
    if off_hours(p["handbook"], np.int64(call["day"]), np.int64(call["window"])):
        _post(run, log, _PREMIUM, div_round(invoice * np.int64(p["premium"]), _UNIT), number, NONE)
        _post(
            run, log, _SHARE, -div_round(invoice * np.int64(p["share"]), _UNIT), number, technician
        )
    cap = div_round(invoice * np.int64(p["overtime_cap"]), _UNIT)
    _post(run, log, _OVERTIME, -min(_overtime_cents(p, call, technician), cap), number, technician)
    settle(run, log)


@rule
def pay_overtime(run: Record, p: Record, log: Record, number: Int, technician: Int) -> None:
    """Post the overtime of a visit or drive that earned nothing: without a cap."""
    _post(
        run,
        log,
        _OVERTIME,
        -_overtime_cents(p, run["calls"][number], technician),
        number,
        technician,
    )
    settle(run, log)


@rule
def _overtime_cents(p: Record, call: Record, technician: Int) -> np.int64:
    hourly = np.int64(p["handbook"]["wage"][technician]) * np.int64(p["overtime_rate"])
    return div_round(np.int64(call["overtime"]) * hourly, _HOUR * _UNIT)


@rule
def count_overtime(
    run: Record, p: Record, number: Int, technician: Int, start: Int, end: Int
) -> None:
    """Add the seconds of a drive or of work that lie outside the hours paid for anyway to the job
    they serve.
    """
    first = paid_from(p["handbook"], np.int64(run["day"]))
    last = paid_until(p["handbook"], np.int64(run["day"]), technician)
    paid = max(np.int64(0), min(np.int64(end), last) - max(np.int64(start), first))
    run["calls"][number]["overtime"] += np.int64(end) - np.int64(start) - paid


@rule
def close_books(run: Record, p: Record, log: Record) -> None:
    """At the close of a day: base pay, on-call pay and overhead, several rows in one commit."""
    book = p["handbook"]
    weekend = is_weekend(book, np.int64(run["day"]))
    for technician in range(np.int64(book["technicians"])):
        wage = np.int64(book["wage"][technician])
        if not weekend:
            _post(run, log, _BASE_PAY, -wage * np.int64(p["hours_paid"]), NONE, technician)
        if book["on_call"][technician] == 1:
            seconds = np.int64(book["on_call_until"]) - np.int64(book["shift_until"])
            if weekend:
                seconds = np.int64(book["weekend_until"]) - np.int64(book["weekend_from"])
            _post(run, log, _ON_CALL_PAY, -div_round(wage * seconds, _HOUR), NONE, technician)
    _post(run, log, _OVERHEAD, -np.int64(book["overhead"]), NONE, NONE)
    settle(run, log)
