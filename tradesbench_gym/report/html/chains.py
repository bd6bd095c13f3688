"""What led to a missed appointment or a failed visit: the chain of events, walked back.

The chain of a miss reaches back to the last moment at which its technician had time to spare that
day, or set off from home: from there on every delay was handed on. Facts come first; what nobody
who plays can know is marked as the scenario's truth.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from tradesbench_gym.core.codes import CallState
from tradesbench_gym.report.html.calendar import hover_of_stretch
from tradesbench_gym.report.html.facts import Call, Doing, Offer, Run, Stretch
from tradesbench_gym.report.html.words import (
    customer_of,
    date_of,
    length,
    moment_of,
    service_of,
    technician_of,
    window_of,
    zone_of,
)

_LOST = (CallState.MISSED, CallState.FAILED)
_UNIT = 10_000
_WORTH_SAYING = 10 * 60


@dataclass(frozen=True, slots=True)
class Link:
    """One event of a chain; `truth` marks what is hidden from whoever plays."""

    at: int
    when: str
    text: str
    truth: bool = False


@dataclass(frozen=True, slots=True)
class Chain:
    """What led to one lost appointment.

    Attributes:
        call: the job's number.
        day: service day.
        title, why: in a line each.
        links: in the order of time.

    """

    call: int
    day: int
    state: CallState
    title: str
    why: str
    links: tuple[Link, ...]


def chains_of(run: Run) -> list[Chain]:
    """Every missed appointment and failed visit of a run, in the order of time."""
    lost = [call for call in run.calls if call.state in _LOST and call.job is not None]
    return [_chain(run, call, call.job) for call in sorted(lost, key=_ended) if call.job]


def _ended(call: Call) -> int:
    return call.ended or 0


def _chain(run: Run, call: Call, job: Offer) -> Chain:
    busy = _busy(run, call, job)
    man = technician_of(run, job.technician)
    title = (
        f"Job {call.number}: {service_of(run, call)} in {zone_of(run, call)}, "
        f"{date_of(run, job.day)} {window_of(run, job.window)}, {man}"
    )
    links = [*_bookings(run, call, busy), *_work(run, busy), *_ending(run, call, job)]
    links = [*sorted(links, key=lambda link: link.at), *_consequences(run, call, job)]
    if call.state == CallState.MISSED:
        why = _why_missed(run, call, busy)
    else:
        ours = call.service < len(run.business.scenario.services)
        why = f"{man} is not qualified for it." if ours else "The company does not do this work."
    return Chain(call.number, job.day, call.state, title, why, tuple(links))


def _busy(run: Run, call: Call, job: Offer) -> list[Stretch]:
    """The technician's stretches that lead without a pause to the moment the job was lost."""
    before = [one for one in run.stretches_on(job.day, job.technician) if one.start < _ended(call)]
    chain: list[Stretch] = []
    for one in reversed(before):
        if chain and (one.end < chain[0].start or one.doing is Doing.WAIT):
            break
        chain.insert(0, one)
    return chain


def _bookings(run: Run, call: Call, busy: Sequence[Stretch]) -> Iterator[Link]:
    """When the job and those before it were booked, and behind how many others."""
    by_number = {one.number: one for one in run.calls}
    numbers = sorted({one.job for one in busy} | {call.number})
    for number in numbers:
        one = by_number[number]
        job = one.job
        if job is None:
            continue
        same = [
            other
            for other in run.jobs_on(job.day)
            if other.job is not None
            and other.job.technician == job.technician
            and other.number < one.number
            and (other.ended is None or other.ended > one.at)
        ]
        earlier = [o for o in same if o.job is not None and o.job.window <= job.window]
        behind = (
            f", {_count(len(earlier), 'job')} of {technician_of(run, job.technician)}'s before it"
        )
        which = "this job" if number == call.number else f"job {number}"
        yield Link(
            one.at,
            moment_of(run, one.at),
            f"{which} booked for {date_of(run, job.day)} {window_of(run, job.window)}, "
            f"{length(job.lead)} ahead: {service_of(run, one)}, {customer_of(run, one)}"
            f"{behind if earlier else ', nothing before it'}",
        )


def _count(number: int, what: str) -> str:
    return f"{number} {what}" if number == 1 else f"{number} {what}s"


def _work(run: Run, busy: Sequence[Stretch]) -> Iterator[Link]:
    by_number = {one.number: one for one in run.calls}
    for one in busy:
        text = f"job {one.job}: {hover_of_stretch(one)}"
        service = by_number[one.job].service
        if one.doing is Doing.WORK and service < len(run.business.scenario.services):
            over = _over_typical(run, one, service)
            sign = "over" if over >= 0 else "under"
            text += f"; {length(over)} {sign} the typical {length(_typical(run, service))}"
        yield Link(one.start, moment_of(run, one.start), text)


def _typical(run: Run, service: int) -> int:
    return int(run.business.scenario.services[service].typical_s)


def _over_typical(run: Run, work: Stretch, service: int) -> int:
    return work.end - work.start - _typical(run, service)


def _ending(run: Run, call: Call, job: Offer) -> Iterator[Link]:
    man, at = technician_of(run, job.technician), _ended(call)
    if call.state == CallState.FAILED:
        yield Link(at, moment_of(run, at), f"{man} leaves with nothing done: the visit has failed")
        return
    now = next(
        (o for o in run.stretches_on(job.day, job.technician) if o.start <= at <= o.end), None
    )
    if now is None:
        where = f"{man} has not set off"
    elif now.job == call.number:
        late = length(now.end - at)
        where = f"{man} is on the way and arrives {late} too late" if now.over else "on the way"
    else:
        doing = {Doing.DRIVE: "on the way to", Doing.WAIT: "waiting at", Doing.WORK: "at work on"}
        until = f" for {length(now.end - at)} more" if now.over else ""
        where = f"{man} is {doing[now.doing]} job {now.job}{until}"
    yield Link(at, moment_of(run, at), f"the window closes and the appointment is missed: {where}")


def _consequences(run: Run, call: Call, job: Offer) -> Iterator[Link]:
    at = _ended(call)
    if call.known:
        yield Link(at, "from then on", "a known customer is lost and never calls again", truth=True)
    loss = int(run.business.params[0]["level_loss"]) / _UNIT
    text = f"this alone takes {loss:g} calls a weekday off the demand level"
    if job.day + 1 < len(run.days):
        before, after = run.days[job.day].level, run.days[job.day + 1].level
        text += f", which goes from {before:.1f} to {after:.1f} with all that was done that day"
    yield Link(at, f"close of {date_of(run, job.day)}", text, truth=True)


def _why_missed(run: Run, call: Call, busy: Sequence[Stretch]) -> str:
    """One sentence of how the time before it was spent."""
    services = {one.number: one.service for one in run.calls}
    ours = len(run.business.scenario.services)
    works = [o for o in busy if o.doing is Doing.WORK and o.end <= _ended(call)]
    going = [o for o in busy if o.doing is Doing.WORK and o.end > _ended(call)]
    over = sum(
        _over_typical(run, one, services[one.job])
        for one in (*works, *going)
        if services[one.job] < ours
    )
    wet = [o for o in busy if o.doing is Doing.DRIVE and o.sky.name in ("RAIN", "STORM")]
    count = len(works) + len(going)
    jobs = "job" if count == 1 else f"{count} jobs"
    road = sum(o.end - o.start for o in busy if o.doing is Doing.DRIVE)
    if not busy:
        sentence = "Its technician had not set off for it when the window closed."
    elif not count:
        sentence = f"No work came before it: {length(road)} on the road were too long."
    elif over > _WORTH_SAYING:
        sentence = f"The {jobs} before it took {length(over)} longer than is typical."
    elif over < -_WORTH_SAYING:
        sentence = (
            f"Booked too tight: the {jobs} before it took {length(over)} less than "
            f"is typical, and with {length(road)} on the road there was still no time."
        )
    else:
        sentence = (
            f"Booked too tight: the {jobs} before it took as long as is typical, "
            f"with {length(road)} on the road."
        )
    later = sorted({one.job for one in busy if one.job > call.number})
    if later:
        which = " and ".join(str(number) for number in later)
        sentence += f" Booked after it but worked before it: job {which}."
    return sentence + (" Rain or a storm slowed the roads." if wet else "")
