"""The log of a step: events in the order in which they happened, handed out through one fixed
record.
"""

from __future__ import annotations

import numpy as np

from tradesbench_gym.core.codes import Kind, code
from tradesbench_gym.core.jit import rule
from tradesbench_gym.core.layout import NONE, Int, Record

_LEDGER = code(Kind.LEDGER)


@rule
def emit(run: Record, log: Record, kind: Int, call: Int, technician: Int) -> None:
    """Note an event of now: with a call's booked day and window, else with the present day."""
    event = log["events"][log["count"]]
    log["count"] += 1
    event["at"] = run["clock"]
    event["kind"] = kind
    event["call"] = call
    event["technician"] = technician
    event["entry"] = NONE
    event["amount"] = 0
    event["day"] = run["day"]
    event["window"] = NONE
    if call >= 0:
        event["day"] = run["calls"][call]["day"]
        event["window"] = run["calls"][call]["window"]


@rule
def emit_entry(
    run: Record, log: Record, entry: Int, amount: Int, call: Int, technician: Int
) -> None:
    """Note a ledger row."""
    place = np.int64(log["count"])
    emit(run, log, _LEDGER, call, technician)
    log["events"][place]["entry"] = entry
    log["events"][place]["amount"] = amount
