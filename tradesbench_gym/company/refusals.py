"""The sentence for each offer the company does not let out: stable code, field at fault, what would
be allowed.
"""

from __future__ import annotations

from tradesbench_gym.company.business import Business
from tradesbench_gym.core.layout import Refusal
from tradesbench_gym.errors import BookingError

_FIELD = {
    Refusal.NO_CALL: "call",
    Refusal.UNKNOWN_TECHNICIAN: "technician",
    Refusal.UNKNOWN_WINDOW: "window",
    Refusal.BEYOND_HORIZON: "day",
    Refusal.WINDOW_STARTED: "window",
    Refusal.OFF_SHIFT: "technician",
    Refusal.INSTALLATION_OFF_HOURS: "window",
}


def booking_error(
    business: Business,
    today: int,
    why: Refusal,
    technician: int = -1,
    ahead: int = -1,
    window: int = -1,
) -> BookingError:
    """The error for an offer refused on a day of the run."""
    scenario, book = business.scenario, business.handbook
    people = scenario.technicians
    day = today + ahead
    sentences = {
        Refusal.NO_CALL: lambda: "no call is on the line",
        Refusal.UNKNOWN_TECHNICIAN: lambda: (
            f"there is no technician {technician}; they are 0 to {len(people) - 1}: "
            + ", ".join(person.name for person in people)
        ),
        Refusal.UNKNOWN_WINDOW: lambda: (
            f"there is no window {window}; they are 0 to {int(book['windows']) - 1}"
        ),
        Refusal.BEYOND_HORIZON: lambda: (
            f"{ahead} days ahead is beyond the calendar: jobs are booked for today to "
            f"{int(book['booking_days']) - 1} days ahead"
        ),
        Refusal.WINDOW_STARTED: lambda: (
            f"the window {window_text(business, window)} of today has already started"
        ),
        Refusal.OFF_SHIFT: lambda: (
            f"{people[technician].name} is off shift on {business.date_of(day):%A %Y-%m-%d} "
            f"{window_text(business, window)}; only on-call technicians work evenings and weekends"
        ),
        Refusal.INSTALLATION_OFF_HOURS: lambda: (
            "installations are not booked in the evening or at weekends"
        ),
    }
    sentence: str = sentences[why]()
    return BookingError(sentence, code=why.name.lower(), field=_FIELD[why])


def window_text(business: Business, window: int) -> str:
    """A window as people write it: `07:00-09:00`."""
    chosen = business.scenario.windows[window]
    return "-".join(
        f"{moment // 3600:02}:{moment // 60 % 60:02}" for moment in (chosen.opens, chosen.closes)
    )
