"""How a page writes dates, lengths of time, money and the names of things in a run.

Text only; it knows the facts and no figure.
"""

from __future__ import annotations

from tradesbench_gym.core.layout import DAY_SECONDS
from tradesbench_gym.envs.wording import dollars
from tradesbench_gym.report.html.facts import Call, Run, clock_of

MINUTE = 60
HOUR = 3_600


def date_of(run: Run, day: int) -> str:
    """A day of a run: `Thu 1 Oct`."""
    date = run.business.date_of(day)
    return f"{date:%a} {date.day} {date:%b}"


def moment_of(run: Run, moment: int) -> str:
    """A moment of a run: `Thu 1 Oct 09:05`."""
    return f"{date_of(run, moment // DAY_SECONDS)} {clock_of(moment)}"


def stamp_of(run: Run, moment: int) -> str:
    """A moment as an axis of dates takes it: `2026-10-01 09:05:30`."""
    return f"{run.business.clock_text(moment)}:{moment % MINUTE:02}"


def length(seconds: float) -> str:
    """A length of time, to the minute.

    >>> length(35 * 60), length(7500), length(3600)
    ('35 min', '2 h 05 min', '1 h')
    """
    minutes = round(abs(seconds) / MINUTE)
    hours, rest = divmod(minutes, 60)
    if not hours:
        return f"{rest} min"
    return f"{hours} h {rest:02} min" if rest else f"{hours} h"


def service_of(run: Run, call: Call) -> str:
    """What a caller wants, by the scenario's name."""
    scenario = run.business.scenario
    ours = len(scenario.services)
    if call.service < ours:
        return str(scenario.services[call.service].label)
    return f"{scenario.other_work[call.service - ours]} (not the company's work)"


def technician_of(run: Run, technician: int) -> str:
    """A technician's first name, or the whole of it where two share the first."""
    names = [person.name for person in run.business.scenario.technicians]
    first = names[technician].split()[0]
    alike = sum(name.split()[0] == first for name in names)
    return first if alike == 1 else names[technician]


def window_of(run: Run, window: int) -> str:
    """A window without what its hours share: `09:00–11:00`."""
    opens, closes = run.windows[window]
    return f"{clock_of(opens)}–{clock_of(closes)}"


def zone_of(run: Run, call: Call) -> str:
    """The zone of a call's address."""
    return str(run.business.roadmap.zones[call.zone].name)


def customer_of(run: Run, call: Call) -> str:
    """What kind of customer calls: `urgent, residential, known customer`."""
    kind = str(run.business.scenario.customers[call.customer].label)
    return ", ".join([*(["urgent"] if call.urgent else []), kind, "known" if call.known else "new"])


def money(cents: int, *, sign: bool = False) -> str:
    """Money with a true minus: `−$1,234.56`."""
    return dollars(cents, sign=sign).replace("-", "−")
