"""One run's folder in figures: what the run came to, what it took, and what went wrong.

What came of the run the world file says, what the model took the gateway's record, how long the
turns were the transcript; the manifest says who played. So a run that was killed is shown as far as
it came, and nothing that is not known counts as 0. The oracle plays the same world beside a run
that is at its end. This module reads and prints nothing.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from decimal import Decimal
from pathlib import Path
from typing import Any

from tradesbench_gym.company.play import Results, play, results
from tradesbench_gym.company.simulation import Simulation
from tradesbench_gym.harness.faults import FaultKind
from tradesbench_gym.harness.folder import RunFolder
from tradesbench_gym.harness.gateway import RECORD, Prices, Usage, read_record
from tradesbench_gym.harness.manifest import FaultPart, Manifest, ModelPart, Status
from tradesbench_gym.harness.transcript import History, read_transcript
from tradesbench_gym.policies.load import load_policy
from tradesbench_gym.report.published import ORACLE
from tradesbench_gym.world import WorldError, replay
from tradesbench_gym.world.identity import MapLike

_HOUR = 3600.0


@dataclass(frozen=True)
class Tokens:
    """What a model took.

    Attributes:
        known: "all"; "part" where some requests came back without a count, so that the counts are
            at least what was used; "none" where nothing was counted or the record is gone.
        input: without the cached ones; `cached` and `output` likewise as reported.
        cost: dollars; None if unknown.
        at_least: dollars of what was reported; None where a price is unknown.

    """

    known: str
    requests: int | None
    unreported: int | None
    input: int | None
    cached: int | None
    output: int | None
    cost: Decimal | None
    at_least: Decimal | None

    def as_dict(self) -> dict[str, Any]:
        """Plain values for JSON; tokens and cost null where unknown."""
        return {
            "known": self.known,
            "requests": self.requests,
            "requests_without_a_count": self.unreported,
            "input_tokens": self.input,
            "cached_tokens": self.cached,
            "output_tokens": self.output,
            "cost": None if self.cost is None else str(self.cost),
            "cost_at_least": None if self.at_least is None else str(self.at_least),
        }


@dataclass(frozen=True, eq=False)
class RunFacts:
    """A run's folder.

    Attributes:
        path: as it was given.
        manifest: who plays what, with which limits.
        simulation: the run where it stands.
        oracle: what the oracle comes to on the same world; None while the run is not at its end.
        turns: of the agent's, `hours` how long they took together.
        tokens: None where there is no model.
        faults: in the order in which they happened.

    """

    path: Path
    manifest: Manifest
    simulation: Simulation
    oracle: Results | None
    turns: History
    tokens: Tokens | None
    faults: tuple[FaultPart, ...]

    @property
    def finished(self) -> bool:
        """Whether the run is at its end."""
        return self.simulation.ended

    @property
    def results(self) -> Results:
        """What the run came to so far."""
        return results(self.simulation)

    @property
    def hours(self) -> float:
        """How long the agent's turns took together."""
        return self.turns.seconds / _HOUR

    @property
    def difference(self) -> int | None:
        """Profit less the oracle's on the same world, in cents; None while unfinished."""
        return None if self.oracle is None else self.results.profit - self.oracle.profit

    @property
    def world(self) -> tuple[int, int]:
        """Seed and salt."""
        record = self.simulation.record
        return int(record["seed"]), int(record["salt"])

    @property
    def who(self) -> str:
        """Who plays, in words."""
        agent, model = self.manifest.agent, self.manifest.model
        program = Path(agent.program[-1]).name if agent.name == "scripted" else ""
        words = [f"{agent.name.value} {program}".strip(), "" if model is None else model.name]
        words.append(f"thinking {agent.thinking}" if agent.thinking else "")
        return ", ".join(word for word in words if word)

    @property
    def state(self) -> str:
        """Where the run stands, in words."""
        days, day = self.manifest.run.days, self.simulation.day + 1
        if self.finished:
            bankrupt = self.results.bankrupt_on
            return "ended" if bankrupt is None else f"bankrupt on day {bankrupt}"
        word = {Status.RUNNING: "running or killed"}.get(self.manifest.status, "stopped")
        return f"unfinished, day {day} of {days}, {word}"

    @property
    def fault_counts(self) -> dict[str, int]:
        """How many faults of each kind."""
        counts = Counter(fault.kind for fault in self.faults)
        return {kind.value: counts[kind.value] for kind in FaultKind}

    def as_dict(self) -> dict[str, Any]:
        """Plain values for JSON. Money in whole cents; what is unknown or not yet so is null."""
        run = self.manifest.run
        plain = {key: value for key, value in self.results.as_dict().items() if key != "seed"}
        theirs = None if self.oracle is None else self.oracle.as_dict()
        return {
            "folder": str(self.path),
            "who": self.who,
            "agent": self.manifest.agent.model_dump(mode="json"),
            "model": None if self.manifest.model is None else self.manifest.model.name,
            "seed": run.seed,
            "sealed": self.world[1] != 0,
            "isolated": self.manifest.isolated,
            "finished": self.finished,
            "state": self.state,
            "results": plain,
            "oracle": theirs,
            "profit_less_oracle": self.difference,
            "turns": self.turns.turns,
            "turn_hours": self.hours,
            "reminders": self.turns.reminders,
            "calls_unanswered": self.turns.unanswered,
            "tokens": None if self.tokens is None else self.tokens.as_dict(),
            "fault_counts": self.fault_counts,
            "faults": [fault.model_dump(mode="json") for fault in self.faults],
        }


def read_facts(path: Path, *, map: MapLike | None = None) -> RunFacts:  # noqa: A002 - the word of the trade
    """The run of a folder; another process may be playing it on.

    Args:
        path: the folder.
        map: the map, where the manifest's own name for it is not that of a map here.

    Raises:
        HarnessError: no folder of a run, or a damaged transcript.
        WorldError: a world file that cannot be replayed here.
        GatewayError: a damaged record of requests.

    """
    folder = RunFolder(path)
    manifest = folder.read()
    simulation = _stand(folder.world, map or manifest.run.map)
    records = list(read_transcript(folder.transcript))
    history = History(records)
    return RunFacts(
        path=path,
        manifest=manifest,
        simulation=simulation,
        oracle=_oracle(simulation) if simulation.ended else None,
        turns=history,
        tokens=_tokens(folder, manifest.model, history.turns),
        faults=tuple(
            FaultPart.model_validate(one.said["fault"]) for one in records if one.kind == "fault"
        ),
    )


def _stand(world: Path, known: MapLike) -> Simulation:
    """The run where its file stands."""
    step = None
    for step in replay(world, map=known):  # noqa: B007 - the last one is wanted
        pass
    if step is None:
        raise WorldError(f"{world} holds no run", code="damaged", field="path")
    return step.simulation


def _oracle(played: Simulation) -> Results:
    run = played.record
    twin = Simulation(int(run["seed"]), salt=int(run["salt"]), business=played.business)
    return play(twin, load_policy(ORACLE))


def prices_of(model: ModelPart) -> Prices:
    """A model's prices as the gateway knows them."""
    return Prices(model.input_price, model.cached_price, model.output_price)


def _tokens(folder: RunFolder, model: ModelPart | None, turns: int) -> Tokens | None:
    if model is None:
        return None
    if turns and not (folder.path / RECORD).exists():
        return Tokens("none", None, None, None, None, None, None, None)
    usage, _ = read_record(folder.path, prices_of(model))
    counted = usage.input_tokens + usage.output_tokens > 0
    known = "all" if not usage.unreported else "part" if counted else "none"
    return _counted(usage, known)


def _counted(usage: Usage, known: str) -> Tokens:
    if known == "none":
        return Tokens(known, usage.requests, usage.unreported, None, None, None, None, None)
    return Tokens(
        known,
        usage.requests,
        usage.unreported,
        usage.input_tokens - usage.cached_tokens,
        usage.cached_tokens,
        usage.output_tokens,
        usage.cost,
        usage.cost_reported,
    )
