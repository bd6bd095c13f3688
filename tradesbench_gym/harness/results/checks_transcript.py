"""Checks of the transcript against the run itself: every prompt that was sent, every answer's
outcome, who moved time, and the counts of the manifest.
"""

from __future__ import annotations

from bisect import bisect_right
from collections import Counter
from collections.abc import Mapping
from typing import Any

from tradesbench_gym import __version__
from tradesbench_gym.harness.manifest import FaultPart
from tradesbench_gym.harness.results.evidence import Evidence, hold, holds
from tradesbench_gym.harness.results.expected import Said
from tradesbench_gym.harness.transcript import Occasion

_LITTLE_HOURS = 1e-9


def prompts(seen: Evidence) -> str:
    """Every prompt was sent in its turn, word for word."""
    due, order, attempts = seen.expected.occasions, list(seen.expected.occasions), Counter[Any]()
    place, number, open_prompt = -1, 0, None
    for one in seen.records:
        if one.kind == "sitting":
            open_prompt = None  # a prompt whose turn a kill cut off is given again
        elif one.kind == "prompt":
            number += 1
            about = _occasion(one.said)
            where = f"prompt {number} ({about.kind} {about.number})"
            hold(number, one.said["prompt"], f"the number of {where}")
            holds(about in due, f"{where} is about nothing that happened in the run")
            holds(open_prompt is None, f"{where} came before the turn of the one before it")
            holds(order.index(about) >= place, f"{where} came too late")
            place = order.index(about)
            _words(seen, due[about], one.said, attempts[about], where)
            open_prompt = one.said
        elif one.kind == "turn":
            about = _occasion(one.said)
            holds(
                open_prompt is not None
                and (about, one.said["prompt"]) == (_occasion(open_prompt), open_prompt["prompt"]),
                f"a turn of {about.kind} {about.number} belongs to no prompt",
            )
            open_prompt = None
            attempts[about] += bool(one.said["counts"])
    return f"{number} prompts, each of them word for word what the run says"


def _words(seen: Evidence, due: Said, said: Mapping[str, Any], before: int, where: str) -> None:
    most = seen.manifest.limits.reminders
    prompt, attempt = due.prompt, int(said["attempt"])
    holds(prompt is not None, f"{where} is of an occasion at which nothing is said")
    if prompt is None:
        return
    hold(before, attempt, f"the attempt of {where}")
    holds(attempt <= most, f"{where} is a reminder after the last one")
    hold(due.now, said["now"], f"the company's clock at {where}")
    allowed = {prompt.text}
    if attempt:
        reminder = prompt.reminder(attempt, most)
        allowed = {reminder, f"{prompt.text}\n\n{reminder}"}
    by = seen.manifest.versions.tradesbench_gym
    other = "" if by == __version__ else f" (version {by} wrote it, and this is {__version__})"
    holds(said["text"] in allowed, f"the text of {where} is not what the run says{other}")


def answers(seen: Evidence) -> str:
    """Every call has one outcome, the one in the company's table."""
    due, told = seen.expected.occasions, Counter[str]()
    over: dict[Occasion, str] = {}
    for one in seen.records:
        if one.kind != "outcome":
            continue
        about, outcome = _occasion(one.said), str(one.said["outcome"])
        where = f"{about.kind} {about.number}"
        holds(about not in over, f"{where} has two outcomes in the transcript")
        holds(about in due, f"{where} has an outcome and never happened in the run")
        hold(due[about].outcome, outcome, f"the transcript's outcome of {where}")
        _given_up(seen, about, outcome)
        over[about] = outcome
        told[about.kind] += 1
    early = _left_out(seen, over)
    more = f", {early} answered before they were put to the agent" if early else ""
    return (
        f"{told['call']} calls, {told['cancellation']} cancellations, {told['day']} days, one "
        f"outcome each{more}"
    )


def _given_up(seen: Evidence, about: Occasion, outcome: str) -> None:
    """A call is given up after its last reminder, and not before."""
    if outcome != "unanswered":
        return
    turns, most = seen.history.attempts(about), seen.manifest.limits.reminders
    where = f"{about.kind} {about.number}"
    hold(most + 1, turns, f"the number of turns before {where} was given up")
    faults = [one.said["fault"] for one in seen.records if one.kind == "fault"]
    holds(
        any(
            one["code"] == "no_answer" and one["detail"].get(about.kind) == about.number
            for one in faults
        ),
        f"{where} was given up and no fault says whose",
    )


def _left_out(seen: Evidence, over: Mapping[Occasion, str]) -> int:
    """Occasions without an outcome: a run's last, and calls that the agent took by itself."""
    due = seen.expected.occasions
    last = list(due)[-2:]
    prompted = {_occasion(one.said) for one in seen.records if one.kind == "prompt"}
    early = 0
    for about, said in due.items():
        if about in over:
            continue
        by_itself = said.outcome in {"rejected", "declined", "booked", "acknowledged"}
        if about.kind in {"call", "cancellation"} and about not in prompted and by_itself:
            early += 1
            continue
        holds(
            about in last and not seen.expected.simulation.ended,
            f"{about.kind} {about.number} has no outcome in the transcript",
        )
    return early


def time(seen: Evidence) -> str:
    """Time moved by the harness alone."""
    moved = seen.expected.advances
    numbers, clocks = list(moved), [seen.expected.began, *moved.values()]
    written = [0] * (len(moved) + 1)
    for one in (record.said for record in seen.records if record.kind == "advance"):
        # The line is written when the harness looks, and whoever answers comes after that.
        place = bisect_right(numbers, int(one["commands"]))
        hold(clocks[place], one["now"], f"the company's clock at step {place + 1} of the clock")
        written[place] += 1
    for place, number in enumerate(numbers):
        holds(
            written[place] > 0,
            f"command {number} moved time, and the transcript does not know of it",
        )
    # One line more than steps: a kill came between the line and the step.
    return f"{len(moved)} steps of the clock, each with its line in the transcript"


def turns(seen: Evidence) -> str:
    """Turns, hours and reminders are the transcript's."""
    said, history = seen.manifest.turns, seen.history
    if not seen.left_alone:
        holds(said.turns <= history.turns, "the manifest has more turns than the transcript")
        return f"{history.turns} turns; the manifest stands where the last day closed"
    hold(history.turns, said.turns, "the manifest's number of turns")
    hold(history.reminders, said.reminders, "the manifest's number of reminders")
    hold(history.unanswered, said.unanswered, "the manifest's number of unanswered calls")
    holds(
        abs(history.seconds / 3600 - said.hours) < _LITTLE_HOURS,
        f"the manifest's turn hours are {said.hours}, should be {history.seconds / 3600}",
    )
    return f"{history.turns} turns, {said.hours:.3f} hours, {said.reminders} reminders"


def faults(seen: Evidence) -> str:
    """The faults are those taken down in the transcript."""
    found = [one.said["fault"] for one in seen.records if one.kind == "fault"]
    written = tuple(map(FaultPart.model_validate, found))
    said = seen.manifest.faults
    if not seen.left_alone:
        written = written[: len(said)]
    for number, (one, other) in enumerate(zip(written, said, strict=False), 1):
        hold(one, other, f"fault {number} of the manifest")
    hold(len(written), len(said), "the manifest's number of faults")
    kinds = Counter(fault.kind for fault in said)
    return ", ".join(f"{count} of {kind}" for kind, count in kinds.items()) or "none"


def _occasion(said: Mapping[str, Any]) -> Occasion:
    return Occasion(str(said["about"]), int(said["number"]))
