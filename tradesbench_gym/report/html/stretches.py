"""What each technician did when: drives, waits and work, pieced together from the events of a run.

A stretch that has not ended when the run stands still reaches to the run's clock. It knows events
and the map's distances, and no drawing.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace

from tradesbench_gym.company.business import Business
from tradesbench_gym.company.events import Event
from tradesbench_gym.company.simulation import Simulation
from tradesbench_gym.core.codes import Condition, Kind
from tradesbench_gym.core.layout import DAY_SECONDS
from tradesbench_gym.report.html.facts import Doing, Stretch


@dataclass
class _Man:
    """A technician while his day is told: what he is at, and where he stands (None: home)."""

    now: Stretch | None = None
    address: int | None = None
    told: list[Stretch] = field(default_factory=list)

    def end(self, at: int) -> None:
        """Whatever he was at ends; what took no time is not told."""
        if self.now is not None and at > self.now.start:
            self.told.append(replace(self.now, end=at))
        self.now = None


def stretches_of(simulation: Simulation, events: Sequence[Event]) -> tuple[Stretch, ...]:
    """Every stretch of every technician, in order of its start."""
    record, business = simulation.record, simulation.business
    men = [_Man() for _ in business.scenario.technicians]
    day = -1
    for event in events:
        if event.kind == Kind.DAY_OPENED:
            day += 1
            for man in men:
                man.address = None
        elif event.technician is not None and event.call is not None:
            _tell(men[event.technician], event, day, simulation)
    clock = int(record["clock"])
    told = [stretch for man in men for stretch in man.told]
    told += [replace(m.now, end=clock, over=False) for m in men if m.now and clock >= m.now.start]
    return tuple(sorted(told, key=lambda one: (one.start, one.technician)))


def _tell(man: _Man, event: Event, day: int, simulation: Simulation) -> None:
    technician, job, at = event.technician, event.call, event.at
    if technician is None or job is None:
        return
    address = int(simulation.record["calls"][job - 1]["address"])

    def begin(doing: Doing) -> Stretch:
        return Stretch(technician, day, doing, job, at, at)

    if event.kind == Kind.DEPARTED:
        man.end(at)
        metres = road_metres(simulation.business, technician, man.address, address)
        sky = _sky(simulation, at, job)
        man.now = replace(begin(Doing.DRIVE), start_address=man.address, metres=metres, sky=sky)
    elif event.kind == Kind.ARRIVED:
        man.end(at)
        man.address = address
        man.now = begin(Doing.WAIT)  # of no length if work begins at once
    elif event.kind == Kind.STARTED:
        man.end(at)
        man.now = begin(Doing.WORK)
    elif man.now is not None and man.now.job == job and man.now.doing is not Doing.DRIVE:
        man.end(at)  # done, failed, missed or cancelled; a drive goes on to its end


def road_metres(business: Business, technician: int, start: int | None, end: int) -> int:
    """Road metres of a drive from an address, or from a technician's home, to an address (A.6)."""
    places = business.places
    if start == end:
        return 0
    if start is None:
        anchor, leg = int(business.params[0]["home_anchor"][technician]), 0
    else:
        anchor, leg = int(places[start]["anchor"]), int(places[start]["leg"])
    between = int(business.metres[anchor, int(places[end]["anchor"])])
    return leg + between + int(places[end]["leg"])


def _sky(simulation: Simulation, at: int, job: int) -> Condition:
    zone = int(simulation.record["calls"][job - 1]["zone"])
    return Condition(int(simulation.record["sky"][at // DAY_SECONDS, zone]["condition"]))
