"""From world files to the facts of a page: a run is played again, every step proven, and told.

It knows which files and folders hold a run and what a run is called, and draws nothing. A run that
is still being played is read as far as it has got; no file is touched.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Iterator, Sequence
from pathlib import Path

from tradesbench_gym.company.events import Event
from tradesbench_gym.company.play import results
from tradesbench_gym.company.simulation import Simulation
from tradesbench_gym.core.codes import CallState, Kind
from tradesbench_gym.core.layout import DAY_SECONDS, NONE
from tradesbench_gym.core.rules.calendar import is_installation
from tradesbench_gym.errors import StateError
from tradesbench_gym.report.html.facts import Call, Day, Offer, Payment, Run
from tradesbench_gym.report.html.stretches import stretches_of
from tradesbench_gym.world import WorldError, replay

WORLD_NAME = "world.sqlite"
_SUFFIX = ".sqlite"
_LEVEL_UNIT = 10_000
_STATES = {
    Kind.BOOKED: CallState.BOOKED,
    Kind.DEPARTED: CallState.DRIVING,
    Kind.ARRIVED: CallState.WAITING,
    Kind.STARTED: CallState.WORKING,
    Kind.DONE: CallState.DONE,
    Kind.MISSED: CallState.MISSED,
    Kind.FAILED: CallState.FAILED,
    Kind.CANCELLED: CallState.CANCELLED,
}
_LAST = frozenset({CallState.DONE, CallState.MISSED, CallState.FAILED, CallState.CANCELLED})


def read_runs(given: Sequence[str], map_name: str | None = None) -> list[Run]:
    """The runs a reader names: a world file or the folder of a run, with `NAME=` before it or not.

    Raises:
        StateError: the same file twice.
        WorldError: what holds no run, or one that cannot be played here.

    """
    runs, seen = [], set()
    for text in given:
        name, path = _named(text)
        if path.resolve() in seen:
            raise StateError(f"{path} was given twice", code="run_twice", field="run")
        seen.add(path.resolve())
        runs.append(read_run(path, name, map_name))
    return runs


def _named(text: str) -> tuple[str, Path]:
    """The name before the first `=`, unless the whole is a path that is there; and the file."""
    name, equals, rest = text.partition("=")
    path = Path(rest if equals and not Path(text).exists() else text)
    name = name if equals and str(path) == str(Path(rest)) else ""
    return name.strip(), path / WORLD_NAME if path.is_dir() else path


def name_of(path: Path, seed: int) -> str:
    """What a run is called after its file, without the seed: that says nothing of who played.

    >>> name_of(Path("runs/oracle-5.sqlite"), 5), name_of(Path("runs/opus/5.sqlite"), 5)
    ('oracle', 'opus')
    >>> name_of(Path("runs/opus-seed-5/world.sqlite"), 5)
    'opus'
    """
    stem = path.parent.name if path.name == WORLD_NAME else path.name.removesuffix(_SUFFIX)
    bare = re.sub(rf"[-_. ]*(seed[-_. ]*)?0*{seed}$", "", stem)
    return bare or path.parent.name or stem


def read_run(path: Path, name: str = "", map_name: str | None = None) -> Run:
    """The run in a world file.

    Args:
        path: the file.
        name: who played it; after the file if not given.
        map_name: the map, where the file's own name for it is not that of a map here.

    Raises:
        WorldError: no world file, one that cannot be played here, or a step that leads elsewhere.

    """
    simulation, events = _played_again(path, map_name)
    run, seed = simulation.record, int(simulation.record["seed"])
    return Run(
        name=name or name_of(path, seed),
        path=path,
        seed=seed,
        sealed=bool(run["salt"]),
        business=simulation.business,
        clock=int(run["clock"]),
        ended=simulation.ended,
        waiting=_waiting(simulation),
        results=results(simulation),
        digest=simulation.digest(),
        pairing=_pairing(simulation),
        calls=tuple(_calls(simulation, events)),
        stretches=stretches_of(simulation, events),
        payments=tuple(_payments(events)),
        days=tuple(_days(simulation, events)),
    )


def _played_again(path: Path, map_name: str | None) -> tuple[Simulation, list[Event]]:
    """A run as it stands and all that happened; on the given map only if its own is not here."""
    events: list[Event] = []
    try:
        for step in replay(path):
            events += step.events
            simulation = step.simulation
    except WorldError as error:
        if map_name is None or error.code != "map":
            raise
    else:
        return simulation, events
    for step in replay(path, map=map_name):
        events += step.events
        simulation = step.simulation
    return simulation, events


def _waiting(simulation: Simulation) -> str:
    if simulation.line is not None:
        return f"call {simulation.line} waits for an answer"
    phoned = int(simulation.record["phoned"])
    return f"the cancellation of job {phoned + 1} waits to be acknowledged" if phoned >= 0 else ""


def _pairing(simulation: Simulation) -> str:
    """One word for everything that draws depend on, through which no salt can be read."""
    run, known = simulation.record, simulation.business.identity
    whole = {**known, "seed": str(int(run["seed"])), "salt": str(int(run["salt"]))}
    return hashlib.sha256(json.dumps(whole, sort_keys=True).encode()).hexdigest()


def _calls(simulation: Simulation, events: Sequence[Event]) -> Iterator[Call]:
    record = simulation.record
    states: dict[int, list[tuple[int, CallState]]] = {}
    for event in events:
        if event.call is None or event.kind not in _STATES:
            continue
        known = states.setdefault(event.call, [])
        # Who was on his way to a job that was missed or cancelled meanwhile arrives all the same.
        if not known or known[-1][1] not in _LAST:
            known.append((event.at, _STATES[event.kind]))
    for index in range(int(record["n_calls"])):
        call, number = record["calls"][index], index + 1
        yield Call(
            number=number,
            at=int(call["rang_at"]),
            service=int(call["service"]),
            customer=int(call["customer"]),
            zone=int(call["zone"]),
            urgent=bool(call["urgent"]),
            known=bool(call["book"] >= 0),
            address=int(call["address"]),
            x=int(call["x"]),
            y=int(call["y"]),
            offer=_offer(simulation, index),
            state=CallState(int(call["state"])),
            states=tuple(states.get(number, ())),
            ended=None if call["ended"] == NONE else int(call["ended"]),
            invoice=int(call["invoice"]),
        )


def _offer(simulation: Simulation, index: int) -> Offer | None:
    call, business = simulation.record["calls"][index], simulation.business
    if call["technician"] == NONE:
        return None
    day, number = int(call["day"]), int(call["window"])
    window = business.scenario.windows[number]
    opens, closes = day * DAY_SECONDS + window.opens, day * DAY_SECONDS + window.closes
    late = is_installation(business.handbook, call["service"]) and (
        window.opens >= business.params[0]["late_installation_from"]
    )
    return Offer(
        technician=int(call["technician"]),
        day=day,
        window=number,
        opens=opens,
        closes=closes,
        lead=opens - int(call["rang_at"]),
        accepted=int(call["state"]) != CallState.DECLINED,
        late_installation=bool(late),
    )


def _payments(events: Sequence[Event]) -> Iterator[Payment]:
    day = -1
    for event in events:
        day += event.kind == Kind.DAY_OPENED
        if event.entry is not None and event.cents is not None:
            yield Payment(event.at, day, event.entry, event.cents)


def _days(simulation: Simulation, events: Sequence[Event]) -> Iterator[Day]:
    opened = sum(event.kind == Kind.DAY_OPENED for event in events)
    for number in range(opened):
        row = simulation.record["days"][number]
        closed = bool(row["closed_at"] != NONE)
        cash = int(row["cash"]) if closed else simulation.cash_cents
        yield Day(number, int(row["level"]) / _LEVEL_UNIT, closed, cash)
