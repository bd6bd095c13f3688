"""What the run of a file is truly of, when the file may have been changed: the seed and all else
that a proof starts from.

Everything stands twice, in `run` and in row 0 of the journal, and most of it can be proven by the
scenario's text, the map, the rules here, and the digest of the run's start. Where the two differ,
the one that leads along the journal is right. This module plays no run to its end for its own sake.
"""

from __future__ import annotations

import json
from dataclasses import dataclass, field, fields, replace
from itertools import product
from pathlib import Path
from typing import Any

from tradesbench_gym.company.scenario import Scenario, builtin_scenarios, load_scenario
from tradesbench_gym.company.simulation import Simulation
from tradesbench_gym.errors import TradesBenchError
from tradesbench_gym.world.command import perform, read_command
from tradesbench_gym.world.errors import WorldError
from tradesbench_gym.world.identity import Identity, MapLike, business_of
from tradesbench_gym.world.scenario_text import read_scenario, scenario_text
from tradesbench_gym.world.schema import COLUMNS, Row

_FIELDS = tuple(one.name for one in fields(Identity))
_ARGUMENTS, _DIGEST = 2, 5
Doubt = tuple[str, str, str, Any, Any]


@dataclass
class Origin:
    """Where a proof starts.

    Attributes:
        identity: what the run is of.
        simulation: the run at its start; None if the file no longer says enough to play it.
        doubts: table, row, column, found and expected of values that the rows expected later
            cannot name.

    """

    identity: Identity
    simulation: Simulation | None = None
    doubts: list[Doubt] = field(default_factory=list)


def find_origin(runs: list[Row], journal: list[Row], given: MapLike | None, path: Path) -> Origin:
    """What the run of a file is of, by its tables `run` and `journal`.

    Raises:
        WorldError: both copies are gone, or the run cannot be played here.

    """
    ours = [dict(zip(COLUMNS["run"], row, strict=True)) for row in runs]
    journal = [row for row in journal if row[0] >= 0]
    known = [Identity.read(said) for said in (*ours, *_begun(journal))]
    if not known:
        raise WorldError(f"{path} does not say what its run is of", code="damaged", field="path")
    text, doubts = _scenario([said["scenario_text"] for said in ours], known)
    if text is None:
        return Origin(known[0], None, doubts)
    best, proven, failed = Origin(known[0], None, doubts), -1, None
    tied: list[Identity] = []
    candidates = _candidates(known)
    for identity in candidates:
        try:
            simulation = identity.begin(business_of(identity, text, given, path))
        except TradesBenchError as error:
            failed = failed or error
            continue
        steps = _proven(simulation, journal) if len(candidates) > 1 else 0
        if steps > proven:
            best, proven, tied = Origin(identity, identity.begin(simulation.business)), steps, []
        elif steps == proven:
            tied.append(identity)
    if best.simulation is None and failed is not None:
        raise failed
    best.doubts = [*doubts, *(doubt for other in tied for doubt in _either(best.identity, other))]
    return best


def _begun(journal: list[Row]) -> list[dict[str, Any]]:
    """What row 0 of the journal says, if it still says anything."""
    if not journal or journal[0][0] != 0:
        return []
    try:
        said = json.loads(journal[0][_ARGUMENTS])
    except (TypeError, ValueError):
        return []
    return [said] if isinstance(said, dict) and set(said) == set(_FIELDS) else []


def _scenario(texts: list[Any], known: list[Identity]) -> tuple[str | None, list[Doubt]]:
    """A text of the scenario that its digest agrees with, and what is wrong with the file's own."""
    digests = {identity.scenario_digest for identity in known}
    read = [scenario for scenario in map(_readable, texts) if scenario is not None]
    for scenario in (*read, *map(load_scenario, builtin_scenarios())):
        if scenario.digest in digests:
            return scenario_text(scenario), []
    expected = f"a scenario of digest {known[-1].scenario_digest}"
    return None, [("run", "1", "scenario_text", texts[0] if texts else None, expected)]


def _readable(text: Any) -> Scenario | None:
    try:
        return read_scenario(str(text))
    except TradesBenchError:
        return None


def _candidates(known: list[Identity]) -> list[Identity]:
    """Every identity that takes each of its parts from one of the two copies."""
    choices = [list(dict.fromkeys(getattr(one, name) for one in known)) for name in _FIELDS]
    made = [
        replace(known[0], **dict(zip(_FIELDS, choice, strict=True))) for choice in product(*choices)
    ]
    return [_plain(identity) for identity in made]


def _plain(identity: Identity) -> Identity:
    """Seed and salt as they would have been written: 05 is 5."""
    try:
        return replace(identity, seed=str(int(identity.seed)), salt=str(int(identity.salt)))
    except (TypeError, ValueError):
        return identity


def _proven(simulation: Simulation, journal: list[Row]) -> int:
    """How many rows of the journal, one after the other, lead to the digest they say."""
    for place, row in enumerate(journal):
        if place > 0:
            try:
                perform(simulation, *read_command(row[1], row[_ARGUMENTS]))
            except (TradesBenchError, TypeError, ValueError, ArithmeticError):
                return place
        if simulation.digest() != row[_DIGEST]:
            return place
    return len(journal)


def _either(one: Identity, other: Identity) -> list[Doubt]:
    """The parts in which two copies differ and nothing tells which is right."""
    return [
        ("run", "1", name, getattr(one, name), getattr(other, name))
        for name in _FIELDS
        if getattr(one, name) != getattr(other, name)
    ]
