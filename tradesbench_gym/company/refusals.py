"""The sentence for each offer the company does not let out: a stable code, the field at fault, and
what would be allowed.
"""

from __future__ import annotations

from collections.abc import Callable

from tradesbench_gym.company.business import Business
from tradesbench_gym.core.codes import Refusal
from tradesbench_gym.errors import BookingError, shown


def booking_error(
    business: Business,
    today: int,
    why: Refusal,
    technician: int = -1,
    ahead: int = -1,
    window: int = -1,
) -> BookingError:
    """The error for an offer refused on a day of the run."""
    field, sentence = _REFUSALS[why]
    message = sentence(business, today, technician, ahead, window)
    return BookingError(message, code=_CODES[why], field=field)


def window_text(business: Business, window: int) -> str:
    """A window as people write it: `07:00-09:00`."""
    chosen = business.scenario.windows[window]
    return "-".join(f"{at // 3600:02}:{at // 60 % 60:02}" for at in (chosen.opens, chosen.closes))


def _no_call(_b: Business, _today: int, _technician: int, _ahead: int, _window: int) -> str:
    return "no call is on the line"


def _unknown_technician(b: Business, _today: int, technician: int, _ahead: int, _w: int) -> str:
    people = b.scenario.technicians
    names = ", ".join(person.name for person in people)
    return f"there is no technician {shown(technician)}; they are 0 to {len(people) - 1}: {names}"


def _unknown_window(b: Business, _today: int, _technician: int, _ahead: int, window: int) -> str:
    return f"there is no window {shown(window)}; they are 0 to {len(b.scenario.windows) - 1}"


def _beyond_horizon(b: Business, _today: int, _technician: int, ahead: int, _window: int) -> str:
    last = b.scenario.calendar.booking_days - 1
    return f"jobs are booked for 0 to {last} days ahead, not for {shown(ahead)}"


def _window_started(b: Business, _today: int, _technician: int, _ahead: int, window: int) -> str:
    return f"the window {window_text(b, window)} of today has already started"


def _off_shift(b: Business, today: int, technician: int, ahead: int, window: int) -> str:
    name, when = b.scenario.technicians[technician].name, b.date_of(today + ahead)
    return (
        f"{name} is off shift on {when:%A} {when} {window_text(b, window)}; "
        "only on-call technicians work evenings and weekends"
    )


def _installation_off_hours(_b: Business, _today: int, _tech: int, _ahead: int, _w: int) -> str:
    return "installations are not booked in the evening or at weekends"


_REFUSALS: dict[Refusal, tuple[str, Callable[[Business, int, int, int, int], str]]] = {
    Refusal.NO_CALL: ("call", _no_call),
    Refusal.UNKNOWN_TECHNICIAN: ("technician", _unknown_technician),
    Refusal.UNKNOWN_WINDOW: ("window", _unknown_window),
    Refusal.BEYOND_HORIZON: ("day", _beyond_horizon),
    Refusal.WINDOW_STARTED: ("window", _window_started),
    Refusal.OFF_SHIFT: ("technician", _off_shift),
    Refusal.INSTALLATION_OFF_HOURS: ("window", _installation_off_hours),
}
_CODES = {why: why.name.lower() for why in Refusal}
