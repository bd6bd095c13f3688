"""The planner's decision: acceptance, cancellation, value, risk, demand and the cost of the slot,
weighed together.

For each slot the call on the line may be offered:

    P(yes) x P(no cancellation) x (what the job brings + the calls it will bring
        - what others on the route lose - what customers let down cost - overtime, road, time
        - what later callers lose by the slot)

The best is offered; nothing is if none is worth more than the least. Reads DESK, BELIEF and a
TEMPER, and knows no number of the business.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from tradesbench_gym.core import board as planned
from tradesbench_gym.core.beliefs import Desks, chance_of_yes, kind_of_answer
from tradesbench_gym.core.board import BOARD, CALLER, MAX_CALLERS
from tradesbench_gym.core.jit import kernel, rule
from tradesbench_gym.core.layout import (
    BOOKING_DAYS,
    DAY_SECONDS,
    MAX_TECHNICIANS,
    MAX_WINDOWS,
    NONE,
    Int,
    Record,
)
from tradesbench_gym.core.risk import (
    MAX_STOPS,
    OUTCOME,
    ROUTE,
    Lots,
    add_call,
    play_out,
    read_route,
)
from tradesbench_gym.core.rules.calendar import qualified, refusal, window_opens

_HOUR = 3_600.0
_DAY = np.float64(DAY_SECONDS)
SHORTLIST = 8
"""Slots whose displacement of later calls is looked at."""

TEMPER = np.dtype(
    [
        ("letting_down", "<f8"),  # weight of the calls that a customer let down costs
        ("growth", "<f8"),  # weight of the calls that a job done brings
        ("road", "<f8"),  # cents an hour of driving more
        ("time", "<f8"),  # cents an hour that the day ends later
        ("kept", "<f8"),  # least chance that the job is done
        ("least", "<f8"),  # cents an offer must be worth
        ("installation", "<f8"),  # weight of later installations that are displaced
        ("service", "<f8"),  # weight of later services that are
        ("spare", "<f8"),  # s to spare before a window closes, for later calls
        ("length", "<f8"),  # of the mean: what later jobs are planned with
        ("versatile", "<f8"),  # s of driving by which a technician who can do more comes later
    ]
)
"""How the planner weighs what it believes: settings, none of them a number of the business."""

SLOT = np.dtype(
    [
        ("worth", "<f8"),  # cents, if the caller accepts and does not cancel
        ("odds", "<f8"),  # that he does
        ("technician", "<i8"),
        ("ahead", "<i8"),
        ("window", "<i8"),
    ]
)


@kernel
def best_offer(
    desks: Desks,
    j: Int,
    beliefs: Desks,
    tempers: Desks,
    lots: Lots,
    luck: Lots,
    imagined: Desks,
) -> tuple[np.int64, np.int64, np.int64]:
    """The offer for the call on the line: technician, days ahead, window; technician NONE: reject.

    Args:
        desks: what dispatchers may know.
        j: which of them decides.
        beliefs: BELIEF, of this moment.
        tempers: TEMPER.
        lots: see `risk.deal`.
        luck: shape (futures, numbers): uniform numbers of each imagined future.
        imagined: CALLER, those whom a dispatcher imagines before anybody has called.

    """
    desk, belief, temper = desks[j], beliefs[0], tempers[0]
    nothing = np.int64(NONE), np.int64(NONE), np.int64(NONE)
    service = np.int64(desk["calls"][desk["line"]]["service"])
    if service >= desk["handbook"]["services"]:
        return nothing
    slots = np.zeros(MAX_TECHNICIANS * BOOKING_DAYS * MAX_WINDOWS + 1, SLOT)  # one to swap by
    count = _weigh_slots(desk, belief, temper, lots, slots)
    listed = _shortlist(slots, count)
    if listed == 0:
        return nothing
    displaced = np.zeros(SHORTLIST)
    _look_ahead(desk, belief, temper, luck, imagined, slots, listed, displaced)
    best = _best(slots, listed, displaced, np.float64(temper["least"]))
    if best < 0:
        return nothing
    slot = slots[best]
    return np.int64(slot["technician"]), np.int64(slot["ahead"]), np.int64(slot["window"])


@rule
def _best(
    slots: npt.NDArray[np.void], listed: Int, displaced: npt.NDArray[np.float64], least: float
) -> np.int64:
    """Which slot of the shortlist is worth most by all that is known; NONE: none the least."""
    best, most = np.int64(NONE), least
    for i in range(listed):
        worth = slots[i]["odds"] * (slots[i]["worth"] - displaced[i])
        if worth > most:
            best, most = np.int64(i), worth
    return best


@rule
def _weigh_slots(
    desk: Record, belief: Record, temper: Record, lots: Lots, slots: npt.NDArray[np.void]
) -> np.int64:
    """Weigh every slot that may be offered within the run; how many there are."""
    book, line = desk["handbook"], np.int64(desk["line"])
    call, clock = desk["calls"][line], np.int64(desk["clock"])
    service, count = np.int64(call["service"]), np.int64(0)
    routes, outcomes = np.zeros(1, ROUTE), np.zeros(2, OUTCOME)
    order = np.empty(MAX_STOPS, np.int64)
    route, without, with_it = routes[0], outcomes[0], outcomes[1]
    days = min(np.int64(book["booking_days"]), np.int64(book["days"]) - np.int64(desk["day"]))
    for ahead in range(days):
        day = np.int64(desk["day"]) + ahead
        for technician in range(np.int64(book["technicians"])):
            if not qualified(book, technician, service):
                continue
            read_route(desk, technician, day, route)
            booked = np.int64(route["count"])
            play_out(desk, belief, route, lots, np.int64(NONE), order, without)
            for window in range(np.int64(book["windows"])):
                if refusal(book, clock, service, technician, ahead, window) != 0:
                    continue
                route["count"] = booked
                add_call(route, call, line, window)
                play_out(desk, belief, route, lots, line, order, with_it)
                if with_it["kept"] >= temper["kept"]:
                    slot = slots[count]
                    slot["worth"] = _worth(desk, belief, temper, route, without, with_it)
                    slot["odds"] = _odds(desk, belief, call, np.int64(ahead), np.int64(window))
                    slot["technician"], slot["ahead"], slot["window"] = technician, ahead, window
                    count += 1
    return count


@rule
def _worth(
    desk: Record, belief: Record, temper: Record, route: Record, without: Record, with_it: Record
) -> float:
    """Cents a slot brings if the job comes to be done: the day with it against the day without."""
    book, call = desk["handbook"], desk["calls"][desk["line"]]
    net = belief["net"][call["service"], call["customer"]]
    left = np.float64(np.int64(book["days"]) - 1 - np.int64(route["day"]))
    calls = left * belief["caller"]  # what one call a day more is worth from then on
    worth = with_it["kept"] * temper["growth"] * belief["gain"] * calls
    worth += net - (with_it["lost"] - without["lost"])
    let_down = with_it["let_down"] - without["let_down"]
    worth -= let_down * temper["letting_down"] * belief["loss"] * calls
    wage = np.float64(book["wage"][route["technician"]])
    worth -= (with_it["overtime"] - without["overtime"]) / _HOUR * wage
    worth -= (with_it["driving"] - without["driving"]) / _HOUR * temper["road"]
    worth -= max(with_it["end"] - without["end"], 0.0) / _HOUR * temper["time"]
    return float(worth)


@rule
def _odds(desk: Record, belief: Record, call: Record, ahead: Int, window: Int) -> float:
    """The chance that the caller says yes and stays with it."""
    book, clock = desk["handbook"], np.int64(desk["clock"])
    kind = kind_of_answer(book, np.int64(call["service"]), np.int64(call["urgent"]), window)
    lead = np.float64(window_opens(book, np.int64(desk["day"]) + ahead, window) - clock) / _DAY
    return float(chance_of_yes(belief, kind, ahead, lead) * (1.0 - belief["cancels"][ahead]))


@rule
def _shortlist(slots: npt.NDArray[np.void], count: Int) -> np.int64:
    """Bring the best slots that are worth something to the front, and say how many they are."""
    spare = slots.shape[0] - 1
    for place in range(min(count, SHORTLIST)):
        best, most = np.int64(NONE), 0.0
        for i in range(place, count):
            worth = slots[i]["worth"] * slots[i]["odds"]
            if worth > most:
                best, most = np.int64(i), worth
        if best < 0:
            return np.int64(place)
        slots[spare] = slots[place]
        slots[place] = slots[best]
        slots[best] = slots[spare]
    return min(np.int64(count), np.int64(SHORTLIST))


@rule
def _look_ahead(
    desk: Record,
    belief: Record,
    temper: Record,
    luck: Lots,
    imagined: Desks,
    slots: npt.NDArray[np.void],
    listed: Int,
    displaced: npt.NDArray[np.float64],
) -> None:
    """What later callers lose by each slot of the shortlist: the mean over imagined futures, each
    played without the call on the line and with it in each slot.
    """
    book, call = desk["handbook"], desk["calls"][desk["line"]]
    boards, routes = np.zeros(2, BOARD), np.zeros(1, ROUTE)
    callers = np.zeros(MAX_CALLERS + 2, CALLER)
    planned.set_up(desk, belief, np.float64(temper["length"]), routes[0], boards[0])
    x, y = np.float64(call["x"]), np.float64(call["y"])
    length = np.float64(boards[0]["length"][call["service"]])
    futures = luck.shape[0]
    for future in range(futures):
        count = planned.draw_callers(desk, belief, boards[0], imagined, luck[future], callers)
        boards[1] = boards[0]
        without = planned.serve(desk, belief, temper, boards[1], callers, count)
        for i in range(listed):
            technician, ahead = np.int64(slots[i]["technician"]), np.int64(slots[i]["ahead"])
            if ahead >= planned.DAYS:
                continue
            boards[1] = boards[0]
            window = np.int64(slots[i]["window"])
            place = planned.place_for(boards[1], technician, ahead, window)
            planned.write_in(book, boards[1], technician, ahead, place, window, x, y, length)
            with_it = planned.serve(desk, belief, temper, boards[1], callers, count)
            displaced[i] += (without - with_it) / np.float64(futures)
