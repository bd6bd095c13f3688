"""Checks of what was played and what came of it: world file, manifest, salt, score, isolation."""

from __future__ import annotations

from dataclasses import asdict
from itertools import pairwise

from tradesbench_gym.company.play import results
from tradesbench_gym.core.layout import RULES_VERSION
from tradesbench_gym.harness.manifest import SessionPart, Status, salt_digest
from tradesbench_gym.harness.results.evidence import Evidence, hold, holds

_MONEY = {"profit": "profit_cents", "cash": "cash_cents", "lowest_cash": "lowest_cash_cents"}


def manifest(seen: Evidence) -> str:
    """The manifest is whole and its parts fit together."""
    said = seen.manifest
    ended = said.status == Status.ENDED
    hold(ended, said.results is not None, "whether the manifest has results")
    hold(ended, said.run.salt is not None, "whether the manifest tells the salt")
    hold(ended, said.ended_at is not None, "whether the manifest tells when the run ended")
    holds(
        not (ended and seen.folder.private.exists()),
        "private.json is still there although the run has ended",
    )
    return f"{said.status.value}, {len(said.sessions)} sitting{_s(len(said.sessions))}"


def world(seen: Evidence) -> str:
    """Every command, event, call and payment follows from the seed."""
    report = seen.audit
    first = report.findings[0] if report.findings else "the proof does not reach its end"
    holds(report.ok, f"the world file was changed: {first}")
    return (
        f"{report.commands} commands, {report.calls} calls, {report.ledger_rows} ledger rows "
        f"replayed; digest {report.digest[:16]}…"
    )


def run(seen: Evidence) -> str:
    """Seed, scenario, map, days and rules are the world file's."""
    said, business = seen.manifest.run, seen.expected.simulation.business
    hold(int(seen.expected.simulation.record["seed"]), said.seed, "the manifest's seed")
    hold(business.scenario.name, said.scenario, "the manifest's scenario")
    hold(business.scenario.digest, said.scenario_digest, "the manifest's digest of the scenario")
    hold(business.roadmap.digest, said.map_digest, "the manifest's digest of the map")
    hold(business.days, said.days, "the manifest's number of days")
    hold(business.start_date.isoformat(), said.start_date, "the manifest's start date")
    hold(RULES_VERSION, seen.manifest.versions.rules, "the manifest's version of the rules")
    return (
        f"seed {said.seed}, scenario {said.scenario_digest[:8]}…, map {said.map_digest[:8]}…, "
        f"{said.days} days, rules {seen.manifest.versions.rules}"
    )


def salt(seen: Evidence) -> str:
    """The world's salt is the one whose digest the manifest holds."""
    said, secret = seen.manifest.run, int(seen.expected.simulation.record["salt"])
    hold(salt_digest(secret), said.salt_digest, "the manifest's digest of the salt")
    if said.salt is not None:
        hold(str(secret), said.salt, "the manifest's salt")
    kind = "open" if secret == 0 else "sealed"
    return f"{kind}, SHA-256 {said.salt_digest[:16]}…"


def score(seen: Evidence) -> str:
    """The results are what the replayed run came to."""
    simulation, said = seen.expected.simulation, seen.manifest
    hold(simulation.ended, said.status == Status.ENDED, "whether the manifest calls the run ended")
    if said.results is None:
        day = simulation.day + 1
        return f"no score yet: the run stands on day {day} of {said.run.days}"
    came_to = {_MONEY.get(key, key): value for key, value in asdict(results(simulation)).items()}
    del came_to["seed"]
    for key in sorted(came_to.keys() | said.results.keys()):
        hold(came_to.get(key), said.results.get(key), f"the manifest's {key.replace('_', ' ')}")
    return f"profit {simulation.profit_cents:,} cents, {came_to['completed']} jobs done"


def isolation(seen: Evidence) -> str:
    """Every sitting was shut in as said, and every wall held."""
    said = seen.manifest
    sittings = [one.said for one in seen.records if one.kind == "sitting"]
    begun = [int(one["number"]) for one in sittings]
    holds(
        all(one < two for one, two in pairwise(begun))
        and set(begun) <= set(range(1, len(said.sessions) + 1)),
        f"the transcript has the sittings {begun}, the manifest {len(said.sessions)}",
    )
    played = _played(seen)
    for number, session in enumerate(said.sessions, 1):
        hold(said.isolated, session.isolated, f"whether sitting {number} was isolated")
        _walls(number, session, played=number in played)
    who = said.agent.model_dump(mode="json")
    for one in sittings:  # those of older versions tell their number alone
        told = one.get("isolated", said.isolated)
        hold(told, said.isolated, "whether the manifest's run was isolated")
        hold(one.get("agent", who), who, "the manifest's agent")
    if not said.isolated:
        return "NOT ISOLATED (--no-isolation): the agent could read the run's files"
    probes = sum(len(session.probes) for session in said.sessions)
    return f"{probes} probes in {len(said.sessions)} sitting{_s(len(said.sessions))}, all held"


def _walls(number: int, session: SessionPart, *, played: bool) -> None:
    open_doors = [probe.name for probe in session.probes if not probe.held]
    holds(
        not (played and open_doors),
        f"sitting {number} was played although a wall gave way: {', '.join(open_doors)}",
    )
    holds(
        bool(session.probes) or not played or not session.isolated,
        f"sitting {number} was played without a wall being tried",
    )


def _played(seen: Evidence) -> set[int]:
    """The sittings in which something was said to the agent."""
    found, number = set(), 0
    for one in seen.records:
        if one.kind == "sitting":
            number = int(one.said["number"])
        elif one.kind == "prompt":
            found.add(number)
    return found


def _s(count: int) -> str:
    return "" if count == 1 else "s"
