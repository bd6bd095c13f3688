"""What a run is of: seed, salt, scenario, map, days, start date, and the rules it is played by.

It stands in the table `run`, and again in row 0 of the journal, so that a change of either is found
by the other. This module makes the business of a file again, or says which part of it is another
here. It knows no connection.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from tradesbench_gym.company.business import Business, open_business
from tradesbench_gym.company.refusals import window_text
from tradesbench_gym.company.scenario import Scenario
from tradesbench_gym.company.simulation import Simulation
from tradesbench_gym.core.codes import Entry, Kind, Stop
from tradesbench_gym.core.layout import RULES_VERSION
from tradesbench_gym.errors import MapError, ScenarioError
from tradesbench_gym.roads import RoadMap
from tradesbench_gym.world.command import Command
from tradesbench_gym.world.errors import WorldError
from tradesbench_gym.world.scenario_text import read_scenario, scenario_text
from tradesbench_gym.world.schema import Row

MapLike = str | Path | RoadMap


@dataclass(frozen=True)
class Identity:
    """What a run is of, as row 0 of the journal says it. Seed and salt are decimal text there,
    because they may be larger than SQLite's numbers.
    """

    seed: str
    salt: str
    days: int
    start_date: str
    rules: int
    layout: str
    map: str
    map_digest: str
    scenario: str
    scenario_digest: str

    def as_dict(self) -> dict[str, Any]:
        """The arguments of BEGIN."""
        return asdict(self)

    @classmethod
    def of(cls, simulation: Simulation, map_name: str) -> Identity:
        """What a simulation is of; the map under the name by which it is to be opened again."""
        business, run = simulation.business, simulation.record
        known = business.identity
        return cls(
            seed=str(int(run["seed"])),
            salt=str(int(run["salt"])),
            days=business.days,
            start_date=business.start_date.isoformat(),
            rules=RULES_VERSION,
            layout=str(known["layout"]),
            map=map_name,
            map_digest=business.roadmap.digest,
            scenario=business.scenario.name,
            scenario_digest=business.scenario.digest,
        )

    @classmethod
    def read(cls, said: Mapping[str, Any]) -> Identity:
        """From a row of `run` or the arguments of BEGIN; WorldError if something is missing."""
        try:
            return cls(**{name: said[name] for name in cls.__dataclass_fields__})
        except (KeyError, TypeError):
            raise WorldError("the file does not say what its run is of", code="damaged") from None

    def begin(self, business: Business) -> Simulation:
        """The run at its start."""
        try:
            return Simulation(int(self.seed), salt=int(self.salt), business=business)
        except (TypeError, ValueError):
            raise WorldError("seed or salt of the run is no number", code="damaged") from None


def run_row(identity: Identity, business: Business) -> Row:
    """The row of the table `run`."""
    return (
        1,
        identity.seed,
        identity.salt,
        identity.days,
        identity.start_date,
        int(business.handbook["starting_cash"]),
        identity.rules,
        identity.layout,
        identity.map,
        identity.map_digest,
        identity.scenario,
        identity.scenario_digest,
        scenario_text(business.scenario),
    )


def names_rows(business: Business) -> list[Row]:
    """The rows of the table `names`: what the numbers of the other tables mean."""
    scenario, found = business.scenario, []
    for kind in (Command, Stop, Kind, Entry):
        found += [(kind.__name__.lower(), int(one), one.name.lower()) for one in kind]
    services = [service.label for service in scenario.services]
    lists = {
        "technician": [person.name for person in scenario.technicians],
        "window": [window_text(business, code) for code in range(len(scenario.windows))],
        "service": [*services, *scenario.other_work],
        "customer": [customer.label for customer in scenario.customers],
        "zone": [zone.name for zone in business.roadmap.zones],
    }
    found += [(kind, code, name) for kind, row in lists.items() for code, name in enumerate(row)]
    return sorted(found)


def business_of(identity: Identity, text: str, given: MapLike | None, path: Path) -> Business:
    """The business that a file's run is played with.

    Args:
        identity: what the file says.
        text: the scenario's text in the file.
        given: the map, where the file's own name for it is not that of a map here.
        path: of the file, for the sentences.

    Raises:
        WorldError: other rules, or a scenario or map that is not the one it was played with.

    """
    _agree(path, "rules", "the rules of version", identity.rules, RULES_VERSION)
    try:
        scenario: Scenario = read_scenario(text)
    except ScenarioError as error:
        raise WorldError(
            f"the scenario in {path} cannot be read: {error.message}",
            code="scenario",
            field="scenario_text",
        ) from None
    _agree(path, "scenario", "a scenario of digest", identity.scenario_digest, scenario.digest)
    wanted = identity.map if given is None else given
    try:
        business = open_business(scenario, wanted, identity.days, identity.start_date)
    except MapError as error:
        raise WorldError(
            f"the map of {path} is not here, name its file with map: {error.message}",
            code="map",
            field="map",
        ) from None
    except ScenarioError as error:
        raise WorldError(f"{path}: {error.message}", code="damaged", field=error.field) from None
    _agree(path, "map", "a map of digest", identity.map_digest, business.roadmap.digest)
    layout = str(business.identity["layout"])
    _agree(path, "layout", "a layout of the record of digest", identity.layout, layout)
    return business


def _agree(path: Path, code: str, what: str, played: object, here: object) -> None:
    if played != here:
        raise WorldError(
            f"{path} was played with {what} {played}, and here it is {here}", code=code, field=code
        )
