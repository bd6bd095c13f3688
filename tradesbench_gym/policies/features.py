"""What a learned dispatcher looks at: for each offer worth considering a row of features, and one
row about the company as a whole.

Computed with NumPy from the arrays of the "planned" observation, for a batch of runs at once, so
that training and `policies/network.py` see the same numbers. It knows the handbook and what an
observation shows; no constant of acceptance, cancellation, demand, driving or prices is in here.

An offer is worth considering if the company lets it out, the technician can do the work, the
service day lies within the run and the route is not planned to be late by more than half an hour.
These are the *candidates*: the first `CANDIDATES` in the order of day, window and technician, after
entry 0, which rejects.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from tradesbench_gym.core.codes import CallState, Condition
from tradesbench_gym.core.layout import MAX_SERVICES
from tradesbench_gym.core.parts import JOB_COLUMNS, OPEN_JOBS, SKY_DAYS

Floats = npt.NDArray[np.float32]
Flags = npt.NDArray[np.bool_]
Seen = dict[str, npt.NDArray[Any]]

CANDIDATES = 48
LEAST_SLACK = -30.0
"""Minutes of planned lateness up to which an offer is worth considering."""
LOOK_AHEAD, TIGHT_DAYS = 7, 4
"""Days ahead for which load and tightness of each technician are among the features of the whole.
"""
_HOUR, _DAY = 3_600.0, 24.0
_WINDOWS, _CUSTOMERS, _WEEK = 6, 3, 7
_SATURDAY = 5
_A_DRIVE = 25.0
"""Minutes, a round guess: the tightness of a day is a rough figure."""
_NOT_TIGHT = -240.0


@dataclass(frozen=True)
class Candidates:
    """A batch of runs as a learned dispatcher sees them.

    Attributes:
        offers: float32, shape (runs, 1 + CANDIDATES, OFFER_FEATURES); entry 0 rejects.
        whole: float32, shape (runs, `Features.whole_size`).
        legal: bool, shape (runs, 1 + CANDIDATES).
        flat: int64, the same shape: the flattened action of each entry, 0 where there is none.

    """

    offers: Floats
    whole: Floats
    legal: Flags
    flat: npt.NDArray[np.int64]


class Features:
    """Features of the runs of one company.

    Args:
        book: its handbook, a record of dtype HANDBOOK.
        margin: seconds to spare that the earliest-fit rule of A.8 asks for.

    """

    def __init__(self, book: np.void, margin: int) -> None:
        self.technicians = int(book["technicians"])
        self.days, self.windows = int(book["booking_days"]), int(book["windows"])
        self.zones, self._margin = int(book["zones"]), margin / 60.0
        self._opens = book["opens"][: self.windows] / _HOUR
        self._evening = book["evening"][: self.windows].astype(np.bool_)
        bits = np.arange(MAX_SERVICES + 1)
        skills = book["skills"][: self.technicians]
        # The last column stands for all other work, which nobody can do.
        self._able = (skills[None, :] >> bits[:, None] & 1).astype(np.bool_)
        self._able[int(book["services"]) :] = False
        self._breadth = self._able.sum(0)
        self._closes = book["closes"][: self.windows] / _HOUR
        self.whole_size = 42 + (2 + LOOK_AHEAD + TIGHT_DAYS) * self.technicians

    def __call__(self, seen: Seen, mask: npt.NDArray[Any]) -> Candidates:
        """The candidates of each run.

        Args:
            seen: arrays of the "planned" observation, each with an axis for the runs.
            mask: legal offers, shape (runs, technicians, days, windows).

        """
        runs = len(mask)
        tight = self._tightness(seen)
        run, technician, day, window, rank = self._worth(seen, mask.astype(np.bool_))
        flat = (technician * self.days + day) * self.windows + window
        made = Candidates(
            np.zeros((runs, 1 + CANDIDATES, OFFER_FEATURES), np.float32),
            self._whole(seen, tight, runs),
            np.zeros((runs, 1 + CANDIDATES), np.bool_),
            np.zeros((runs, 1 + CANDIDATES), np.int64),
        )
        made.legal[:, 0] = True
        made.offers[:, 0, -1] = 1.0
        made.legal[run, 1 + rank] = True
        made.flat[run, 1 + rank] = 1 + flat
        rows = self._rows(seen, run, technician, day, window)
        rows.append(tight[run, technician, day])
        rows += self._compared(seen, run, flat, day * self.windows + window)
        for column, values in enumerate(rows):
            made.offers[run, 1 + rank, column] = values
        return made

    def _worth(self, seen: Seen, legal: Flags) -> tuple[npt.NDArray[np.intp], ...]:
        """Run, technician, day, window and rank of each candidate."""
        runs = len(legal)
        shape = (runs, self.technicians, self.days, self.windows)
        able = self._able[np.minimum(seen["call"][:, 1], MAX_SERVICES)]
        served = np.arange(self.days) < seen["time"][:, 3:4]
        worth = legal.reshape(shape) & (seen["slot_slack"].reshape(shape) >= LEAST_SLACK)
        worth &= able[:, :, None, None] & served[:, None, :, None]
        run, day, window, technician = np.nonzero(worth.transpose(0, 2, 3, 1))
        rank = np.arange(len(run)) - np.searchsorted(run, np.arange(runs))[run]
        kept = rank < CANDIDATES
        return run[kept], technician[kept], day[kept], window[kept], rank[kept]

    def _rows(
        self, seen: Seen, run: Any, technician: Any, day: Any, window: Any
    ) -> list[npt.NDArray[Any]]:
        """Features of each candidate by itself, one array a feature."""
        shape = (-1, self.technicians, self.days, self.windows)
        time = seen["time"][run]
        lead = day + (self._opens[window] - time[:, 1]) / _DAY
        weekend = (time[:, 2] + day) % _WEEK >= _SATURDAY
        jobs, minutes = _jobs(seen, shape), seen["slot_minutes"].reshape(shape)
        own, load = jobs[run, technician, day], minutes[run, technician, day]
        before = np.arange(self.windows) < window[:, None]
        after = np.arange(self.windows) > window[:, None]
        sky = seen["weather"].reshape(-1, SKY_DAYS, self.zones)
        condition = sky[run, np.minimum(day, SKY_DAYS - 1), seen["call"][run, 4]]
        forecast = day < SKY_DAYS
        return [
            lead / 7.0,
            np.exp(-lead),
            np.exp(-lead / 4.0),
            day == 0,
            day == 1,
            (time[:, 3] - day - 1) / 14.0,
            weekend,
            weekend | self._evening[window],
            *(window == k for k in range(_WINDOWS)),
            self._breadth[technician] > 1,
            technician / 4.0,
            own.sum(1) / 4.0,
            load.sum(1) / 600.0,
            (load * before).sum(1) / 300.0,
            (load * after).sum(1) / 300.0,
            own[np.arange(len(run)), window],
            (own * after).sum(1) / 2.0,
            load.max(1, initial=0) / 300.0,
            (day == 0) * seen["free_in"][run, technician] / 120.0,
            forecast & (condition == Condition.STORM),
            forecast & (condition == Condition.RAIN),
            forecast & ((condition == Condition.HOT) | (condition == Condition.EXTREME_HEAT)),
        ]

    def _compared(self, seen: Seen, run: Any, flat: Any, moment: Any) -> list[npt.NDArray[Any]]:
        """Features of each candidate's place on its route and beside the other candidates."""
        slack, added = seen["slot_slack"][run, flat], seen["slot_added"][run, flat]
        early = np.full(len(seen["call"]), self.days * self.windows)
        count = np.zeros(len(run))
        least = np.full((len(early), self.days * self.windows), np.inf)
        np.minimum.at(least, (run, moment), np.where(slack >= self._margin, added, np.inf))
        fits = slack >= self._margin
        if not fits.all():  # without the margin, if nothing keeps it
            none = np.ones(len(early), np.bool_)
            none[run[fits]] = False
            fits |= none[run] & (slack >= 0)
            np.minimum.at(least, (run, moment), np.where(fits, added, np.inf))
        np.minimum.at(early, run[fits], moment[fits])
        first = fits & (moment == early[run]) & (added == least[run, moment])
        # Of equal ones the lower technician, who comes first.
        firsts = np.flatnonzero(first)
        first[firsts[1:][run[firsts[1:]] == run[firsts[:-1]]]] = False
        count = np.cumsum(fits) - np.concatenate(([0], np.cumsum(fits)))[np.searchsorted(run, run)]
        behind = (moment - early[run]) / self.windows
        return [
            np.clip(slack, -60.0, 60.0) / 60.0,
            np.clip(slack - 60.0, 0.0, 120.0) / 60.0,
            np.clip(slack / 20.0, -3.0, 3.0) ** 3 / 27.0,
            np.minimum(added, 40.0) / 10.0,
            np.exp(-np.maximum(added, 0.0) / 5.0),
            np.clip(behind, -2.0, 4.0),
            np.minimum(count, 12) / 6.0,
            first,
            np.zeros(len(run)),
        ]

    def _tightness(self, seen: Seen) -> npt.NDArray[Any]:
        """How late the last job of a window would begin after its close, in units of two hours, at
        the worst window of each technician's day; shape (runs, technicians, days).
        """
        shape = (-1, self.technicians, self.days, self.windows)
        jobs, minutes = _jobs(seen, shape), seen["slot_minutes"].reshape(shape)
        hour = np.maximum(seen["time"][:, 1:2], self._opens[0])
        free = np.full(jobs.shape[:3], self._opens[0] * 60.0)
        free[:, :, 0] = hour * 60.0 + seen["free_in"]
        worst = np.full(jobs.shape[:3], _NOT_TIGHT)
        for window in range(self.windows):
            count, load = jobs[..., window], minutes[..., window]
            there = count > 0
            start = np.maximum(free + _A_DRIVE, self._opens[window] * 60.0)
            ends = start + load + (count - 1) * _A_DRIVE
            late = ends - load / np.maximum(count, 1) - self._closes[window] * 60.0
            worst = np.where(there, np.maximum(worst, late), worst)
            free = np.where(there, ends, free)
        tight: npt.NDArray[Any] = np.clip(worst, _NOT_TIGHT, -_NOT_TIGHT) / 120.0
        return tight

    def _whole(self, seen: Seen, tight: npt.NDArray[Any], runs: int) -> Floats:
        """Features of each run as a whole, the call on the line included."""
        call, time = seen["call"], seen["time"]
        there = call[:, :1] > 0
        state = seen["open_jobs"].reshape(runs, OPEN_JOBS, JOB_COLUMNS)
        open_ = (state[:, :, 0] >= CallState.BOOKED) & (state[:, :, 0] <= CallState.WORKING)
        services = [
            (open_ & (state[:, :, 4] == k)).sum(1, keepdims=True) / 10.0
            for k in range(MAX_SERVICES)
        ]
        shape = (runs, self.technicians, self.days, self.windows)
        minutes = seen["slot_minutes"].reshape(shape).sum(3)
        storms = seen["weather"].reshape(runs, SKY_DAYS, self.zones) == Condition.STORM
        parts = [
            there,
            there & (np.minimum(call[:, 1:2], MAX_SERVICES) == np.arange(MAX_SERVICES + 1)),
            there & (call[:, 2:3] == np.arange(_CUSTOMERS)),
            there & (call[:, 3:4] > 0),
            time[:, :1] / 14.0,
            (time[:, 1:2] - 7.0) / 12.0,
            time[:, 3:4] / 14.0,
            time[:, 2:3] == np.arange(_WEEK),
            np.minimum(seen["counts"], 400) / 50.0,
            np.minimum(seen["today"], 40) / 10.0,
            np.clip(seen["cash"], 0.0, 1e5) / 25_000.0,
            *services,
            minutes[:, :, :LOOK_AHEAD].reshape(runs, -1) / 600.0,
            minutes.sum(2) / 3_000.0,
            tight[:, :, :TIGHT_DAYS].reshape(runs, -1),
            np.minimum(seen["free_in"], 480.0) / 120.0,
            storms[:, 0].mean(1, keepdims=True),
        ]
        return np.concatenate(parts, 1).astype(np.float32)


OFFER_FEATURES = 37
"""Features of an offer; the last is 1 for the entry that rejects, the one before it for the offer
that the earliest-fit rule of A.8 would make.
"""
FIRST_FIT = OFFER_FEATURES - 2
SLACK = OFFER_FEATURES - 9
"""Minutes to spare, from -1 to 1 an hour."""


def _jobs(seen: Seen, shape: tuple[int, ...]) -> npt.NDArray[np.int32]:
    """Open jobs of each slot, wide enough to reckon with."""
    return seen["slot_jobs"].reshape(shape).astype(np.int32)
