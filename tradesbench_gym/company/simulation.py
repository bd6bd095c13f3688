"""The one door to a run: advance to the next stop, offer, reject, acknowledge, register, and look.

`Simulation` owns the record of one run and the buffers around it, and turns the engine's codes into
values and errors with a sentence. It knows no Gymnasium, no file and no network, and holds no rule.
"""

from __future__ import annotations

import hashlib
import json
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from tradesbench_gym.company.business import Business, open_business
from tradesbench_gym.company.events import Event, read_events
from tradesbench_gym.company.refusals import booking_error
from tradesbench_gym.company.scenario import Scenario
from tradesbench_gym.core import desk as desk_view
from tradesbench_gym.core import engine
from tradesbench_gym.core import observe as observing
from tradesbench_gym.core import plan as planning
from tradesbench_gym.core.codes import Phase, Refusal, Stop
from tradesbench_gym.core.layout import LOG
from tradesbench_gym.core.view import Desk
from tradesbench_gym.errors import BookingError, StateError, shown
from tradesbench_gym.roads import RoadMap

_MAGIC = b"TRADESBENCH-RUN\n"
_PLAY_ON = np.zeros(0, np.int64)
_EVENTS_FULL = int(Stop.EVENTS_FULL)


class Simulation:
    """One run of the company.

    Args:
        seed: number of the run, 0 to 2**64 - 1.
        salt: 0 for an open run; a secret for a sealed one.
        scenario, map, days, start_date: see `open_business`; or give `business`.

    Raises:
        ScenarioError, MapError: what cannot be opened.
        StateError: a seed or salt that is no 64-bit number.

    """

    def __init__(
        self,
        seed: int = 0,
        *,
        salt: int = 0,
        scenario: str | Path | Scenario = "sunridge",
        map: str | Path | RoadMap = "phoenix",  # noqa: A002 - the word of the trade, and of make()
        days: int | None = None,
        start_date: Any = None,
        business: Business | None = None,
    ) -> None:
        self.business = business or open_business(scenario, map, days, start_date)
        self._runs = np.zeros(1, self.business.run_dtype)
        self._logs = np.zeros(1, LOG)
        self._desks = self.business.new_desks()
        self._kept: list[npt.NDArray[np.void]] = []
        self.restart(seed, salt=salt)

    def restart(self, seed: int, *, salt: int = 0) -> None:
        """Begin run `seed` anew in the same buffers."""
        number, secret = as_word(seed, "seed"), as_word(salt, "salt")
        self._runs.view(np.uint8)[:] = 0
        self._forget()
        engine.start(self._runs, 0, self.business.params, number, secret)

    # -- time --

    def advance(self) -> Stop:
        """Let the world run to the next stop.

        Raises:
            BookingError: a call is on the line and waits for its answer.

        """
        if self.line is not None:
            raise BookingError(
                f"call {self.line} is on the line: offer, reject or leave it unanswered first",
                code="call_waiting",
                field="call",
            )
        b = self.business
        while True:
            stop = engine.advance(self._runs, 0, b.params, b.pool, b.metres, self._logs)
            if stop != Stop.EVENTS_FULL:
                return Stop(int(stop))
            self._keep_events()

    def next_call(self) -> Stop:
        """Let the world run to the next new-job call or the end, acknowledging cancellations on the
        way.
        """
        while (stop := self.advance()) not in (Stop.NEW_CALL, Stop.ENDED):
            if stop == Stop.CANCELLATION:
                self.acknowledge()
        return stop

    # -- answers --

    def offer(
        self, technician: int, ahead: int, window: int, *, service: int | None = None
    ) -> bool:
        """Make the caller the one offer he gets; whether he accepts.

        Args:
            technician: index of the technician.
            ahead: days from today, 0 to 13.
            window: index of the window.
            service: the caller's own service, if said at all.

        Raises:
            BookingError: the company does not let this offer out; `code` names the rule, and
                nothing has changed.

        """
        run = self._runs[0]
        number = int(run["line"])
        if number >= 0 and service is not None and service != int(run["calls"][number]["service"]):
            raise BookingError(
                "a job is booked for the service the caller asked for, and no other",
                code="wrong_service",
                field="service",
            )
        b = self.business
        slot = _slot(technician, ahead, window)
        code = int(engine.offer(self._runs, 0, b.params, b.metres, self._logs, *slot))
        if code < 0:
            raise booking_error(b, self.day, Refusal(-code), technician, ahead, window)
        return code == engine.ACCEPTED

    def reject(self) -> None:
        """Turn the caller away; it costs that job and nothing else."""
        self._turn_away(answered=1)

    def leave_unanswered(self) -> None:
        """Let it ring: for the company the same as a rejection."""
        self._turn_away(answered=0)

    def _turn_away(self, *, answered: int) -> None:
        if engine.turn_away(self._runs, 0, self._logs, answered) < 0:
            raise booking_error(self.business, self.day, Refusal.NO_CALL)

    def acknowledge(self) -> None:
        """Acknowledge the cancellation on the line; it stands either way."""
        if engine.acknowledge(self._runs, 0, self._logs) < 0:
            raise BookingError(
                "no cancellation is waiting to be acknowledged",
                code="no_cancellation",
                field="call",
            )

    def register(self, address: str | int, books: int = engine.CUSTOMER | engine.LOCATION) -> int:
        """Enter the caller (books 1), the location of the job (2) or both (3) in the company's
        books; the address's id.

        Raises:
            BookingError: no call is on the line, or the address is another than the caller's own.
            MapError: an address that is not in the address book.

        """
        number = int(self._runs[0]["line"])
        if number < 0:
            raise booking_error(self.business, self.day, Refusal.NO_CALL)
        if isinstance(address, bool) or not isinstance(address, str | int | np.integer):
            raise BookingError(
                f"an address is its text or its id, not {shown(address)}",
                code="wrong_location",
                field="address",
            )
        found = self.business.roadmap.find(address) if isinstance(address, str) else int(address)
        call = self._runs[0]["calls"][number]
        if found != int(call["address"]):
            raise BookingError(
                "the location must be the caller's own address",
                code="wrong_location",
                field="address",
            )
        if not engine.CUSTOMER <= books <= engine.CUSTOMER | engine.LOCATION:
            raise BookingError(
                f"the books are 1, 2 or both, 3, not {shown(books)}",
                code="unknown_books",
                field="books",
            )
        call["registered"] |= books
        return found

    def refusal(self, technician: int, ahead: int, window: int) -> BookingError | None:
        """Why the company would not let this offer out; None if it would. Changes nothing."""
        slot = _slot(technician, ahead, window)
        why = Refusal(int(planning.why_refused(self.desk.array, 0, *slot)))
        if why == Refusal.NONE:
            return None
        return booking_error(self.business, self.day, why, technician, ahead, window)

    def step(
        self,
        action: npt.NDArray[np.int64],
        last: int,
        where: npt.NDArray[np.int64],
        words: npt.NDArray[np.int32],
    ) -> tuple[int, int, int]:
        """One step of a learner's environment: see `core.step`. Answer, stop and change of cash in
        cents.

        For callers in a hurry: nothing is checked, and arrays of other types or sizes are fatal.
        """
        b, total = self.business, 0
        play, runs, logs, desks = b.play_step, self._runs, self._logs, self._desks
        fixed = (b.params, b.pool, b.metres, logs, desks)
        while True:
            answer, stop, cents = play(runs, 0, *fixed, action, last, where, b.masks, words)
            last, total = int(answer), total + int(cents)
            if stop != _EVENTS_FULL:
                return last, int(stop), total
            self._keep_events()
            action = _PLAY_ON

    def observe(
        self, last: int, where: npt.NDArray[np.int64], words: npt.NDArray[np.int32]
    ) -> None:
        """Write the present observation and mask into a block for one run."""
        desk_view.fill(self._runs, 0, self._desks, 0)
        observing.observe(self._desks, 0, last, where, self.business.masks, words)

    # -- looking --

    @property
    def desk(self) -> Desk:
        """What a dispatcher may know now. A view that the next look overwrites: `copy()` it to keep
        it.
        """
        desk_view.fill(self._runs, 0, self._desks, 0)
        return Desk(self._desks)

    @property
    def day(self) -> int:
        """Service day, from 0."""
        return int(self._runs[0]["day"])

    @property
    def line(self) -> int | None:
        """Number of the call on the line, from 1; None if there is none."""
        number = int(self._runs[0]["line"])
        return None if number < 0 else number + 1

    @property
    def record(self) -> np.void:
        """The whole state, hidden parts included: for the researcher, never for whoever decides."""
        return self._runs[0]  # type: ignore[no-any-return]

    @property
    def ended(self) -> bool:
        """Whether the last day has closed or the company is bankrupt."""
        return int(self._runs[0]["phase"]) == Phase.ENDED

    @property
    def cash_cents(self) -> int:
        """Cash: the starting cash and the ledger."""
        return int(self._runs[0]["cash"])

    @property
    def profit_cents(self) -> int:
        """Cash minus the starting cash: the report's score."""
        return self.cash_cents - int(self.business.handbook["starting_cash"])

    def take_events(self) -> list[Event]:
        """Everything that has happened since the last time this was asked."""
        self._keep_events()
        taken = [event for rows in self._kept for event in read_events(rows)]
        self._kept.clear()
        return taken

    def _keep_events(self) -> None:
        self._kept.append(self._logs[0]["events"][: int(self._logs[0]["count"])].copy())
        self._logs["count"] = 0

    # -- state --

    def digest(self) -> str:
        """SHA-256 of the state's bytes, in hexadecimal."""
        return hashlib.sha256(self._runs.tobytes()).hexdigest()

    def get_state(self) -> bytes:
        """The whole state as bytes that name the rules, layout, scenario and map they belong to."""
        header = json.dumps({**self.business.identity, "digest": self.digest()}).encode()
        return _MAGIC + header + b"\n" + self._runs.tobytes()

    def set_state(self, state: bytes) -> None:
        """Continue from saved bytes, bit for bit.

        Raises:
            StateError: bytes of other rules, another scenario or map, or damaged ones; nothing has
                changed.

        """
        self.stand_at(read_state(self.business, state))

    def stand_at(self, run: npt.NDArray[np.void]) -> None:
        """Continue from a record of this business, shape (1,), which stays as it is."""
        self._runs.view(np.uint8)[:] = run.view(np.uint8)
        self._forget()

    def _forget(self) -> None:
        # As bytes: NumPy copies structured records field by field.
        self._desks.view(np.uint8)[:] = self.business.blank_desk
        self._logs["count"] = 0
        self._kept.clear()

    def copy(self) -> Simulation:
        """An independent run that stands at the same point; events not yet taken stay with the
        original.
        """
        twin = Simulation.__new__(Simulation)
        twin.business = self.business
        twin._runs, twin._logs = self._runs.copy(), np.zeros(1, LOG)
        twin._desks, twin._kept = self.business.new_desks(), []
        return twin


def _slot(technician: Any, ahead: Any, window: Any) -> tuple[int, int, int]:
    """Three whole numbers of one type, however large they came."""
    named = {"technician": technician, "days ahead": ahead, "window": window}
    for name, value in named.items():
        if isinstance(value, bool) or not isinstance(value, int | np.integer):
            raise BookingError(
                f"{name} must be a whole number, not {shown(value)}",
                code="malformed_offer",
                field=name,
            )
    most = 2**31
    first, second, third = (min(max(int(value), -most), most) for value in named.values())
    return first, second, third


def as_word(value: Any, name: str) -> np.uint64:
    """A seed or salt as 64 bits; StateError if it is none."""
    if (
        isinstance(value, bool)
        or not isinstance(value, int | np.integer)
        or not 0 <= int(value) < 2**64
    ):
        raise StateError(
            f"{name} must be a whole number from 0 to 2**64 - 1, not {shown(value)}",
            code=name,
            field=name,
        )
    return np.uint64(value)


def read_state(business: Business, state: Any) -> npt.NDArray[np.void]:
    """The RUN record in saved bytes, as an array of one; StateError if it does not belong here."""
    if not isinstance(state, bytes) or not state.startswith(_MAGIC):
        raise StateError(
            "these bytes are not the state of a run", code="state_foreign", field="state"
        )
    header, _, body = state[len(_MAGIC) :].partition(b"\n")
    try:
        found = json.loads(header)
    except ValueError:
        found = None
    if not isinstance(found, dict):
        raise StateError("the header of this state is damaged", code="state_damaged", field="state")
    for key, wanted in business.identity.items():
        if found.get(key) != wanted:
            raise StateError(
                f"this state belongs to another {key.replace('_', ' ')}: "
                f"{found.get(key)!r}, here {wanted!r}",
                code="state_mismatch",
                field=key,
            )
    if len(body) != business.run_dtype.itemsize:
        raise StateError(
            "this state is cut short or has bytes to spare", code="state_damaged", field="state"
        )
    if hashlib.sha256(body).hexdigest() != found.get("digest"):
        raise StateError("the bytes of this state are damaged", code="state_damaged", field="state")
    return np.frombuffer(body, business.run_dtype).copy()
