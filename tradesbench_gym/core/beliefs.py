"""What a dispatcher has learned so far: who accepts and cancels, what jobs bring, how long drives
take, how demand answers to work done and missed.

Reads DESK only and begins from a PRIOR, so it holds no number of the business: with no calls yet a
belief is the prior's, and each thing seen on the desk pulls it towards what is true here. Every
belief is a mean of a prior that counts as so many observations and of what was observed; demand is
a regression with a prior. It decides nothing.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from tradesbench_gym.core.codes import CallState, Condition, code
from tradesbench_gym.core.jit import kernel, rule
from tradesbench_gym.core.layout import (
    BOOKING_DAYS,
    DAY_SECONDS,
    MAX_CUSTOMER_TYPES,
    MAX_SERVICES,
    NONE,
    Int,
    Record,
)
from tradesbench_gym.core.plan import drive_estimate, straight
from tradesbench_gym.core.rules.calendar import is_installation, is_weekend, window_opens

Desks = npt.NDArray[np.void]

ROUTINE, URGENT, LATE = np.int64(0), np.int64(1), np.int64(2)
"""Kinds of answers that are learned apart; LATE: an installation that would run into the night."""
_KINDS = 3
_LAST_LEAD = np.int64(BOOKING_DAYS - 1)
_CONDITIONS = len(Condition)
_DECLINED, _DONE, _CANCELLED = (
    code(CallState.DECLINED),
    code(CallState.DONE),
    code(CallState.CANCELLED),
)
_SHORT_DRIVE = 300.0
"""Seconds: shorter drives say more about street corners than about pace."""
_VAGUE = 0.01
"""Precision of the prior on calls a day: any number from nothing to thirty is soon believed."""

PRIOR = np.dtype(
    [
        ("routine", "<f8"),  # chance that a routine caller takes an offer for right now
        ("patience", "<f8"),  # what a day more leaves of it
        ("urgent", "<f8", (3,)),  # an urgent caller's chance: today, tomorrow, later
        ("late", "<f8"),  # what an installation into the night leaves of it
        ("answers", "<f8"),  # observations the above count as, each
        ("cancels", "<f8"),  # chance that a booking falls through
        ("cancels_day", "<f8"),  # share of that chance that a day more of waiting adds
        ("bookings", "<f8"),  # observations it counts as
        ("job", "<f8"),  # cents a service brings after material
        ("installation", "<f8"),  # cents an installation brings
        ("jobs", "<f8"),  # observations they count as
        ("types", "<f8"),  # jobs by which a customer type leaves the mean of its service
        ("pace", "<f8"),  # true time of a drive over the plan's estimate
        ("spread", "<f8"),  # standard deviation of that
        ("drives", "<f8"),  # observations they count as
        ("weather", "<f8", (_CONDITIONS,)),  # what a drive takes more in each condition
        ("calls", "<f8"),  # calls a weekday
        ("quiet", "<f8"),  # weekend calls over weekday calls
        ("gain", "<f8"),  # calls a day that a job done adds
        ("gain_sd", "<f8"),
        ("loss", "<f8"),  # calls a day that a customer let down costs
        ("loss_sd", "<f8"),
        ("noise", "<f8"),  # standard deviation of a day's calls about their level
        ("caller", "<f8"),  # cents an average call brings in the end
        ("callers", "<f8"),  # observations it counts as
    ]
)
"""What a dispatcher may expect before the first call: weak and generic, not of this company."""

BELIEF = np.dtype(
    [
        ("accepts", "<f8", (_KINDS, BOOKING_DAYS)),  # by kind and days of waiting
        ("cancels", "<f8", (BOOKING_DAYS,)),  # by days of waiting
        ("net", "<f8", (MAX_SERVICES, MAX_CUSTOMER_TYPES)),  # cents after material
        ("pace", "<f8"),
        ("spread", "<f8"),
        ("weather", "<f8", (_CONDITIONS,)),
        ("level", "<f8"),  # calls on a weekday from now on
        ("quiet", "<f8"),
        ("gain", "<f8"),
        ("loss", "<f8"),
        ("caller", "<f8"),  # cents
    ]
)
"""What is believed now; units as in PRIOR."""


@kernel
def believe(desks: Desks, j: Int, priors: Desks, beliefs: Desks) -> None:
    """Write into beliefs[0] what desks[j] teaches one who began with priors[0]."""
    desk, prior, belief = desks[j], priors[0], beliefs[0]
    _learn_answers(desk, prior, belief)
    _learn_cancellations(desk, prior, belief)
    _learn_prices(desk, prior, belief)
    _learn_drives(desk, prior, belief)
    _learn_demand(desk, prior, belief)
    belief["quiet"] = prior["quiet"]
    for condition in range(_CONDITIONS):
        belief["weather"][condition] = prior["weather"][condition]


@rule
def kind_of_answer(book: Record, service: Int, urgent: Int, window: Int) -> np.int64:
    """Which answers an offer is to be compared with."""
    if urgent == 1:
        return URGENT
    ends = np.int64(book["opens"][window]) + np.int64(book["typical"][service])
    if is_installation(book, service) and ends > book["calls_until"]:
        return LATE
    return ROUTINE


@rule
def chance_of_yes(belief: Record, kind: Int, ahead: Int, lead: float) -> float:
    """The chance that an offer is accepted: urgent callers count calendar days, others hours."""
    if kind == URGENT:
        return float(belief["accepts"][kind, min(np.int64(ahead), _LAST_LEAD)])
    day = min(np.int64(lead), _LAST_LEAD - 1)
    part = min(lead - np.float64(day), 1.0)
    return float(
        belief["accepts"][kind, day] * (1.0 - part) + belief["accepts"][kind, day + 1] * part
    )


@rule
def _learn_answers(desk: Record, prior: Record, belief: Record) -> None:
    """Acceptance by whole days of waiting; an answer in between counts for both days, by nearness.

    Of waiting longer nobody grows more willing: a later day never gets more than the one before.
    """
    asked, taken = np.zeros((_KINDS, BOOKING_DAYS)), np.zeros((_KINDS, BOOKING_DAYS))
    _count_answers(desk, asked, taken)
    weight, expected, before = np.float64(prior["answers"]), np.float64(prior["routine"]), 1.0
    late = (prior["late"] * weight + taken[LATE, 0]) / (weight + asked[LATE, 0])
    for day in range(BOOKING_DAYS):
        seen = (expected * weight + taken[ROUTINE, day]) / (weight + asked[ROUTINE, day])
        before = min(before, seen)
        belief["accepts"][ROUTINE, day] = before
        belief["accepts"][LATE, day] = before * min(late, 1.0)
        expected *= prior["patience"]
        third = min(day, 2)
        belief["accepts"][URGENT, day] = (
            prior["urgent"][third] * weight + taken[URGENT, third]
        ) / (weight + asked[URGENT, third])


@rule
def _count_answers(
    desk: Record, asked: npt.NDArray[np.float64], taken: npt.NDArray[np.float64]
) -> None:
    book = desk["handbook"]
    for number in range(np.int64(desk["n_calls"])):
        call = desk["calls"][number]
        if call["technician"] < 0 or call["service"] >= book["services"]:
            continue
        yes = 0.0 if call["state"] == _DECLINED else 1.0
        service, window = np.int64(call["service"]), np.int64(call["window"])
        kind = kind_of_answer(book, service, np.int64(call["urgent"]), window)
        rang = np.int64(call["rang_at"])
        if kind == LATE:
            asked[kind, 0] += 1.0
            taken[kind, 0] += yes
        elif kind == URGENT:
            third = min(np.int64(call["day"]) - rang // DAY_SECONDS, np.int64(2))
            asked[kind, third] += 1.0
            taken[kind, third] += yes
        else:
            lead = np.float64(window_opens(book, np.int64(call["day"]), window) - rang)
            lead /= np.float64(DAY_SECONDS)
            day = min(np.int64(lead), _LAST_LEAD - 1)
            part = min(lead - np.float64(day), 1.0)
            asked[kind, day] += 1.0 - part
            taken[kind, day] += (1.0 - part) * yes
            asked[kind, day + 1] += part
            taken[kind, day + 1] += part * yes


@rule
def _learn_cancellations(desk: Record, prior: Record, belief: Record) -> None:
    """Of the bookings whose end is known, how many fell through."""
    known, fell = 0.0, 0.0
    for number in range(np.int64(desk["n_calls"])):
        state = desk["calls"][number]["state"]
        if state >= _DONE:
            known += 1.0
            fell += 1.0 if state == _CANCELLED else 0.0
    weight = np.float64(prior["bookings"])
    chance = (prior["cancels"] * weight + fell) / (weight + known)
    for day in range(BOOKING_DAYS):
        more = 1.0 + prior["cancels_day"] * np.float64(day - 2)
        belief["cancels"][day] = min(chance * more, 1.0)


@rule
def _learn_prices(desk: Record, prior: Record, belief: Record) -> None:
    """What a job of each service and customer type brings, and what an average call comes to."""
    book = desk["handbook"]
    total = np.zeros((MAX_SERVICES, MAX_CUSTOMER_TYPES))
    jobs = np.zeros((MAX_SERVICES, MAX_CUSTOMER_TYPES))
    services, earned = np.int64(book["services"]), 0.0
    for number in range(np.int64(desk["n_calls"])):
        call = desk["calls"][number]
        if call["state"] == _DONE:
            net = np.float64(call["invoice"]) - np.float64(call["material"])
            total[call["service"], call["customer"]] += net
            jobs[call["service"], call["customer"]] += 1.0
            if not is_installation(book, np.int64(call["service"])):
                earned += net
    for service in range(services):
        first = prior["installation"] if is_installation(book, service) else prior["job"]
        known = prior["jobs"] + jobs[service].sum()
        usual = (first * prior["jobs"] + total[service].sum()) / known
        for customer in range(MAX_CUSTOMER_TYPES):
            belief["net"][service, customer] = (
                usual * prior["types"] + total[service, customer]
            ) / (prior["types"] + jobs[service, customer])
    answered = prior["callers"] + max(np.float64(desk["n_calls"]) - 1.0, 0.0)
    belief["caller"] = (prior["callers"] * prior["caller"] + earned) / answered


@rule
def _learn_drives(desk: Record, prior: Record, belief: Record) -> None:
    """How long drives take for what the plan says of them: mean and spread."""
    book = desk["handbook"]
    weight = np.float64(prior["drives"])
    count, first = weight, prior["pace"] * weight
    second = (prior["pace"] * prior["pace"] + prior["spread"] * prior["spread"]) * weight
    for day in range(np.int64(desk["day"]) + 1):
        for technician in range(np.int64(book["technicians"])):
            x, y = np.int64(book["home_x"][technician]), np.int64(book["home_y"][technician])
            number = _next_drive(desk, day, technician, NONE)
            while number >= 0:
                call = desk["calls"][number]
                metres = straight(x, y, np.int64(call["x"]), np.int64(call["y"]))
                estimate = np.float64(drive_estimate(desk["plan"], metres))
                if estimate > _SHORT_DRIVE:
                    took = np.float64(call["arrived"]) - np.float64(call["departed"])
                    count += 1.0
                    first += took / estimate
                    second += took / estimate * (took / estimate)
                x, y = np.int64(call["x"]), np.int64(call["y"])
                number = _next_drive(desk, day, technician, np.int64(call["departed"]))
    pace = first / count
    belief["pace"] = pace
    belief["spread"] = np.sqrt(max(second / count - pace * pace, 0.0))


@rule
def _next_drive(desk: Record, day: Int, technician: Int, after: Int) -> np.int64:
    """The technician's next finished drive of a day that set off after a moment; NONE: no more."""
    best, soonest = np.int64(NONE), np.int64(0)
    number = np.int64(desk["route"][day, technician])
    while number >= 0:
        call = desk["calls"][number]
        departed = np.int64(call["departed"])
        if departed > after and call["arrived"] >= 0 and (best < 0 or departed < soonest):
            best, soonest = number, departed
        number = np.int64(call["next"])
    return best


@rule
def _learn_demand(desk: Record, prior: Record, belief: Record) -> None:
    """Calls of past weekdays as level + gain x jobs done so far - loss x customers let down so far:
    least squares with a prior.
    """
    precision, pull = np.zeros((3, 3)), np.zeros(3)
    expected = np.zeros(3)
    expected[0], expected[1], expected[2] = prior["calls"], prior["gain"], prior["loss"]
    precision[0, 0] = _VAGUE
    precision[1, 1] = 1.0 / (prior["gain_sd"] * prior["gain_sd"])
    precision[2, 2] = 1.0 / (prior["loss_sd"] * prior["loss_sd"])
    for i in range(3):
        pull[i] = precision[i, i] * expected[i]
    weight = 1.0 / (prior["noise"] * prior["noise"])
    row = np.zeros(3)
    row[0] = 1.0
    for day in range(np.int64(desk["day"])):
        past = desk["days"][day]
        if not is_weekend(desk["handbook"], day):
            for i in range(3):
                pull[i] += weight * row[i] * np.float64(past["calls"])
                for k in range(3):
                    precision[i, k] += weight * row[i] * row[k]
        row[1] += np.float64(past["done"])
        row[2] -= np.float64(past["missed"]) + np.float64(past["failed"])
    solved = _solve(precision, pull)
    belief["gain"], belief["loss"] = max(solved[1], 0.0), max(solved[2], 0.0)
    level = solved[0] + row[1] * solved[1] + row[2] * solved[2]
    belief["level"] = max(level, 0.0)


@rule
def _solve(
    matrix: npt.NDArray[np.float64], right: npt.NDArray[np.float64]
) -> npt.NDArray[np.float64]:
    """Solve a small symmetric positive definite system by elimination; overwrites both."""
    n = right.shape[0]
    for i in range(n):
        for k in range(i + 1, n):
            share = matrix[k, i] / matrix[i, i]
            for m in range(i, n):
                matrix[k, m] -= share * matrix[i, m]
            right[k] -= share * right[i]
    for i in range(n - 1, -1, -1):
        for k in range(i + 1, n):
            right[i] -= matrix[i, k] * right[k]
        right[i] /= matrix[i, i]
    return right
