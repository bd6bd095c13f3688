"""One sitting of a run: everything is put in place, the days are played, everything is put away.

A sitting begins a run or takes it up where the last one left it, however that ended. What it is
made of comes as `Parts`, so that a test can put something of its own in the place of each. This
module knows every part, and does none of their work.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tradesbench_gym.api.driver_models import RunStatus
from tradesbench_gym.cachedir import OVERRIDE, CacheUnavailableError, cache_root
from tradesbench_gym.company.business import Business, open_business
from tradesbench_gym.errors import TradesBenchError
from tradesbench_gym.harness.agents.agent import TEMPORARY, Agent, AgentFailedError, Place
from tradesbench_gym.harness.agents.pi import Pi, PiProgram
from tradesbench_gym.harness.agents.scripted import Scripted
from tradesbench_gym.harness.cell import Cell, Probe
from tradesbench_gym.harness.cell import Private as CellPrivate
from tradesbench_gym.harness.company import Company
from tradesbench_gym.harness.days import Days, Watch
from tradesbench_gym.harness.folder import Hold, Private, RunFolder
from tradesbench_gym.harness.house import Model, Surroundings, Warden
from tradesbench_gym.harness.left_over import end_left_over
from tradesbench_gym.harness.manifest import (
    AgentName,
    FaultPart,
    Manifest,
    ProbePart,
    SessionPart,
    Status,
    TurnsPart,
    now,
)
from tradesbench_gym.harness.prompts import system_prompt
from tradesbench_gym.harness.recorder import Recorder
from tradesbench_gym.harness.transcript import Transcript, read_transcript, seconds_spent
from tradesbench_gym.harness.workspace import make_folder
from tradesbench_gym.world import reading

_HOUR = 3600.0
_MORE_PRIVATE = (
    *("requests.jsonl", "gateway.log", "manifest.json.lock"),
    *("world.sqlite-wal", "world.sqlite-shm", "world.sqlite.lock"),
)


@dataclass(frozen=True)
class Parts:
    """What a sitting is made of besides the company and the agent.

    Attributes:
        model: starts the gateway of a run, given its manifest, the run's folder and the seconds
            left until its deadline, if it has one; None if the agent has no model.
        room: opens the room, given the workspace, the agent's ports and the folders it may read.
        preflight: tries every wall of the room, as its user and with an environment; what was
            tried. An exception with `probes` on it says that one gave way.
        pi: where pi is installed; None if it is not.

    """

    model: Callable[[Manifest, RunFolder, float | None], Model] | None
    room: Callable[[Path, int, int | None, Sequence[Path]], Cell]
    preflight: Callable[[Cell, CellPrivate, dict[str, str]], Sequence[Probe]]
    pi: PiProgram | None = None


class Sitting:
    """One sitting of a run in a folder.

    Args:
        folder: of the run.
        parts: what it is made of.
        watch: who looks on.

    """

    def __init__(self, folder: RunFolder, parts: Parts, watch: Watch) -> None:
        self._folder, self._parts, self._watch = folder, parts, watch
        self._spent = seconds_spent(read_transcript(folder.transcript))
        self._house: Surroundings | None = None
        self._recorder: Recorder | None = None
        self.manifest = folder.read()

    def play(self) -> Manifest:
        """Play the run to its end, or until it cannot go on; its manifest then.

        Raises:
            HarnessError: it cannot be begun, or cannot go on now; the manifest says so too.

        """
        with Hold(self._folder):
            self.manifest = self._folder.read()
            if self.manifest.status == Status.ENDED:
                return self.manifest
            self._put(
                status=Status.RUNNING,
                sessions=(
                    *self.manifest.sessions,
                    SessionPart(started_at=now(), isolated=self.manifest.isolated),
                ),
            )
            try:
                self._end(self._play())
            except BaseException as error:
                self._leave(error)
                raise
        return self.manifest

    # -- what is put in place --

    def _play(self) -> RunStatus:
        manifest, folder = self.manifest, self._folder
        private = Private(folder.private)
        with ExitStack() as held:
            run = manifest.run
            business = open_business(run.scenario, run.map, run.days, run.start_date)
            model = self._start_model(held)
            secrets = [private.token] if model is None else [private.token, model.token]
            transcript = held.enter_context(Transcript(folder.transcript, secrets))
            recorder = self._recorder = Recorder(transcript, self._watch.fault)
            # So that nobody makes another agent's run of it by a word in the manifest.
            who = manifest.agent.model_dump(mode="json")
            sitting = {"number": len(manifest.sessions), "isolated": manifest.isolated}
            recorder.write("sitting", **sitting, agent=who)
            if model is not None:
                held.enter_context(Warden(model, recorder.fault))
            company = Company(folder.world, run.map, private.token, private.port, recorder.fault)
            held.callback(company.close)
            company.start()
            private.keep(company.port)
            end_left_over(private.token)
            room = self._open_room(held, company, model)
            place = self._place(room, private.token, model, recorder)
            self._check_walls(room, place, company, model)
            agent = self._agent(place, business)
            held.callback(agent.close)
            self._house = Surroundings(
                folder,
                room,
                agent,
                model,
                recorder,
                manifest.limits,
                self._spent,
                lambda: self._put(**self._counted()),
            )
            with self._counting():
                days = Days(
                    company,
                    agent,
                    self._house,
                    recorder,
                    business.scenario,
                    manifest.limits,
                    self._watch,
                )
                return days.play()

    def _start_model(self, held: ExitStack) -> Model | None:
        if self._parts.model is None or self.manifest.model is None:
            return None
        most = self.manifest.limits.max_hours
        left = None if most is None else max(most * _HOUR - self._spent, 0.0)
        model = self._parts.model(self.manifest, self._folder, left)
        held.callback(model.stop)
        model.start()
        return model

    def _open_room(self, held: ExitStack, company: Company, model: Model | None) -> Cell:
        pi = self._parts.pi
        readable = [Path(one) for one in self.manifest.agent.readable]
        if pi is not None:
            readable.append(pi.folder)
        room = self._parts.room(
            self._folder.workspace, company.port, None if model is None else model.port, readable
        )
        held.callback(room.close)
        make_folder(room.workspace, TEMPORARY, {}, room.uid)
        return room

    def _place(self, room: Cell, token: str, model: Model | None, recorder: Recorder) -> Place:
        return Place(
            room=room,
            token=token,
            gateway_token=None if model is None else model.token,
            sessions=self._folder.sessions,
            hear=recorder.hear,
            told=recorder.fault,
            home=getattr(room, "home", None),
        )

    def _check_walls(self, room: Cell, place: Place, company: Company, model: Model | None) -> None:
        """Try every wall before anything runs behind them; the results stand in the manifest."""
        folder = self._folder
        pids = [company.pid, getattr(model, "pid", None)]
        private = CellPrivate(
            paths=(
                folder.manifest_file,
                folder.world,
                folder.transcript,
                folder.private,
                folder.memory,
                folder.sessions,
                *(one for name in _MORE_PRIVATE if (one := folder.path / name).exists()),
            ),
            sockets=(company.driver_socket,),
            pids=tuple(pid for pid in pids if pid is not None),
            values=(company.driver_token.encode(),),
            token=place.token,
        )
        try:
            probes = self._parts.preflight(room, private, place.environment())
        except TradesBenchError as error:
            self._put_probes(getattr(error, "probes", ()))
            raise
        self._put_probes(probes)

    def _put_probes(self, probes: Sequence[Probe]) -> None:
        told = tuple(
            ProbePart(name=one.name, what=one.what, held=one.held, said=one.said) for one in probes
        )
        last = self.manifest.sessions[-1].model_copy(update={"probes": told})
        self._put(sessions=(*self.manifest.sessions[:-1], last))

    def _agent(self, place: Place, business: Business) -> Agent:
        part, limits = self.manifest.agent, self.manifest.limits
        if part.name == AgentName.PI:
            if self._parts.pi is None or self.manifest.model is None:
                raise AgentFailedError("pi needs to be installed and to have a model", code="agent")
            return Pi(
                place,
                self._parts.pi,
                self.manifest.model,
                part.thinking,
                limits,
                system_prompt(business.scenario),
            )
        if part.name == AgentName.ORACLE:
            program = [sys.executable, "-m", "tradesbench_gym.harness.agents.oracle", *part.program]
            return Scripted(place, program, limits, _cache())
        return Scripted(place, part.program, limits)

    # -- the manifest --

    def _put(self, **parts: Any) -> None:
        self.manifest = self.manifest.changed(**parts)
        self._folder.write(self.manifest)

    def _counted(self) -> dict[str, Any]:
        """The parts of the manifest that grow with the run."""
        recorder, house = self._recorder, self._house
        if recorder is None:
            return {}
        history = recorder.history
        counted: dict[str, Any] = {
            "faults": tuple(map(FaultPart.of, recorder.faults)),
            "turns": TurnsPart(
                turns=history.turns,
                hours=history.seconds / _HOUR,
                reminders=history.reminders,
                unanswered=history.unanswered,
            ),
        }
        return counted if house is None else {**counted, "usage": house.usage()}

    def _end(self, status: RunStatus) -> None:
        results = None if status.results is None else status.results.model_dump()
        with reading(self._folder.world) as world:
            (salt,) = world.execute("SELECT salt FROM run").fetchone()
        self._put(
            status=Status.ENDED,
            ended_at=now(),
            results=results,
            run=self.manifest.run.model_copy(update={"salt": salt}),
            sessions=self._sessions("the run ended"),
        )
        self._folder.private.unlink(missing_ok=True)

    def _leave(self, error: BaseException) -> None:
        why = error.message if isinstance(error, TradesBenchError) else type(error).__name__
        self._put(status=Status.STOPPED, sessions=self._sessions(why), **self._counted())

    def _sessions(self, why: str) -> tuple[SessionPart, ...]:
        last = self.manifest.sessions[-1].model_copy(update={"ended_at": now(), "ended_by": why})
        return (*self.manifest.sessions[:-1], last)

    @contextmanager
    def _counting(self) -> Iterator[None]:
        try:
            yield
        finally:
            self._put(**self._counted())


def _cache() -> dict[str, str]:
    """Where compiled rules are kept: an agent's HOME is not ours."""
    try:
        return {OVERRIDE: str(cache_root())}
    except CacheUnavailableError:
        return {}
