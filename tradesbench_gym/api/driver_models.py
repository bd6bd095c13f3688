"""What the driver's operations answer: where the run stands, and what it came to.

The driver runs the run for somebody else, so it may be told what no agent is: the digest of the
whole state. This module knows no run.
"""

from __future__ import annotations

from typing import Annotated

from tradesbench_gym.api.fields import (
    Count,
    DayNumber,
    Model,
    Moment,
    PhaseWord,
    ServiceDate,
    StopWord,
    cents,
    described,
    nested,
)


class Advanced(Model):
    """Where time has stopped, and why."""

    stop: StopWord
    now: Moment
    date: ServiceDate
    day: DayNumber
    call_id: Annotated[int | None, described("The call on the line, if any.", 12)]
    job_id: Annotated[int | None, described("The job just cancelled, if any.", 9)]


class Outcome(Model):
    """What a run came to: the columns of the results table."""

    profit_cents: Annotated[int, cents("Final cash minus the starting cash.", 2_845_900)]
    cash_cents: Annotated[int, cents("Cash.", 5_345_900)]
    lowest_cash_cents: Annotated[int, cents("Lowest cash of the run.", 2_361_450)]
    bankrupt_on: Annotated[int | None, described("Day of bankruptcy, if any.", None, unit="day")]
    calls: Count
    completed: Count
    missed: Count
    failed: Count
    cancelled: Count
    declined: Count
    rejected: Count
    open: Count
    installations: Count
    weekend_jobs: Count


class RunStatus(Model):
    """How the run stands, for whoever drives it."""

    now: Moment
    date: ServiceDate
    day: DayNumber
    days: Annotated[int, described("Length of the run.", 14, unit="days")]
    phase: PhaseWord
    call_id: Annotated[int | None, described("The call that waits for an answer, if any.", 12)]
    job_id: Annotated[
        int | None, described("The cancellation that waits to be acknowledged, if any.", 9)
    ]
    bankrupt: Annotated[bool, described("Whether cash fell below zero.", example=False)]
    ended: Annotated[bool, described("Whether the run is over.", example=False)]
    commands: Annotated[int, described("Commands in the journal.", 311)]
    digest: Annotated[
        str, described("SHA-256 of the whole state.", "9f86d081884c7d65...", unit="hexadecimal")
    ]
    results: Annotated[Outcome | None, nested("What the run came to; null until it is over.")]
