"""One run played by a model, and the transcript that is written as it goes.

The environment is `TextWrapper`, the model whoever answers a chat. It prints nothing and knows no
options; whoever watches is told after every reply.
"""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Protocol, Self

from tradesbench_gym.commands.llm_endpoint import Answer, ContextFullError, EndpointError, Usage
from tradesbench_gym.company.play import Results, results
from tradesbench_gym.company.simulation import Simulation
from tradesbench_gym.core.codes import Entry
from tradesbench_gym.wrappers import TextWrapper

MOST_WRITTEN = 50_000
"""Characters of a text in the transcript."""
_DEEPEST = 12
"""Levels of a value in the transcript; a tool's parameters lie seven deep."""
_FIXED = (Entry.BASE_PAY, Entry.ON_CALL_PAY, Entry.OVERHEAD)
_THOUGHTS = ("reasoning", "reasoning_content")


class Model(Protocol):
    """Whoever answers: an `Endpoint`."""

    def ask(
        self, messages: Sequence[Mapping[str, Any]], tools: Sequence[Mapping[str, Any]] = ()
    ) -> Answer:
        """The assistant's next message."""

    def scrub(self, value: Any) -> Any:
        """A value without secrets."""


@dataclass
class Tokens:
    """Tokens over many replies, as far as the endpoint reported them."""

    prompt: int = 0
    completion: int = 0
    cached: int = 0
    reported: int = 0
    replies: int = 0

    def add(self, usage: Usage | None) -> None:
        """Count a reply."""
        self.replies += 1
        if usage is not None:
            self.reported += 1
            self.prompt += usage.prompt
            self.completion += usage.completion
            self.cached += usage.cached

    def as_dict(self) -> dict[str, int | None]:
        """Plain values for JSON; None where nothing was reported, which is not 0."""
        known = self.reported > 0
        counts = {name: getattr(self, name) for name in ("prompt", "completion", "cached")}
        told = {name: count if known else None for name, count in counts.items()}
        return {**told, "replies": self.replies, "replies_with_usage": self.reported}


@dataclass
class LlmRun:
    """What a model made of a run.

    Attributes:
        unfinished: why the run did not end; None if it did.
        results: how the run stands, finished or not.
        fixed_costs: in cents.
        moment: date and time at which it stands.
        answered: calls that were answered or given up.

    """

    seed: int
    transcript: Path
    unfinished: str | None = "not begun"
    results: Results | None = None
    fixed_costs: int = 0
    moment: str = ""
    answered: int = 0
    reminders: int = 0
    unanswered: int = 0
    retries: int = 0
    seconds: float = 0.0
    tokens: Tokens = field(default_factory=Tokens)

    def count(self, simulation: Simulation) -> None:
        """Take down how the run stands."""
        self.results = results(simulation)
        ledger = simulation.desk["ledger"]
        self.fixed_costs = -sum(int(ledger[entry]) for entry in _FIXED)
        self.moment = simulation.business.clock_text(int(simulation.desk["clock"]))

    def as_dict(self) -> dict[str, Any]:
        """Plain values for JSON; money in whole cents."""
        return {
            "seed": self.seed,
            "finished": self.unfinished is None,
            "unfinished": self.unfinished,
            "moment": self.moment,
            "results": None if self.results is None else self.results.as_dict(),
            "fixed_costs": self.fixed_costs,
            "calls_answered": self.answered,
            "reminders": self.reminders,
            "unanswered": self.unanswered,
            "retries": self.retries,
            "model_seconds": round(self.seconds, 3),
            "tokens": self.tokens.as_dict(),
            "transcript": str(self.transcript),
        }


class Transcript:
    """JSON lines, each of them in the file before the next thing happens."""

    def __init__(self, path: Path, scrub: Callable[[Any], Any]) -> None:
        self._scrub = scrub
        self._file = path.open("x", encoding="utf-8")

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._file.close()

    def write(self, kind: str, **row: Any) -> None:
        """Add a line."""
        plain = self._scrub({"kind": kind, "written_at": time.time(), **_cut(row)})
        self._file.write(json.dumps(plain) + "\n")
        self._file.flush()


def play_run(
    env: TextWrapper,
    model: Model,
    run: LlmRun,
    *,
    tools: bool,
    max_calls: int | None = None,
    about: Mapping[str, Any] | None = None,
    told: Callable[[LlmRun], None] = lambda _run: None,
) -> None:
    """Play the run of a seed into `run`, which says how far it came whatever happens.

    Args:
        env: is reset to the run's seed.
        model: answers the calls.
        run: seed and transcript of it, the rest still empty.
        tools: whether the model is offered tools.
        max_calls: how many calls are answered before the run is left.
        about: said in the transcript's first line.
        told: called after every reply.

    Raises:
        EndpointError: the model answers no more; `run.unfinished` says so.

    """
    simulation: Simulation = env.unwrapped.simulation  # type: ignore[attr-defined]
    with Transcript(run.transcript, model.scrub) as transcript:
        prompt, _ = env.reset(seed=run.seed)
        offered = env.tools() if tools else []
        transcript.write(
            "run", seed=run.seed, settings=about or {}, system=env.system_prompt, tools=offered
        )
        try:
            run.unfinished = _calls(env, model, run, prompt, offered, max_calls, transcript, told)
        except EndpointError as error:
            run.unfinished = f"endpoint: {error.message}"
            raise
        except BaseException as error:
            interrupted = isinstance(error, KeyboardInterrupt)
            run.unfinished = "interrupted" if interrupted else f"fault: {type(error).__name__}"
            raise
        finally:
            run.count(simulation)
            transcript.write("end", **run.as_dict())


def _calls(
    env: TextWrapper,
    model: Model,
    run: LlmRun,
    prompt: str,
    tools: Sequence[Mapping[str, Any]],
    max_calls: int | None,
    transcript: Transcript,
    told: Callable[[LlmRun], None],
) -> str | None:
    """Answer call after call; why the run is left before its end, None at the end."""
    simulation: Simulation = env.unwrapped.simulation  # type: ignore[attr-defined]
    ended = False
    while not ended:
        if max_calls is not None and run.answered >= max_calls:
            return f"stopped after {run.answered} calls, as asked"
        if simulation.line is None:  # the run ended before its first call: nothing to ask
            env.step("")
            return None
        call, moment = simulation.line, int(simulation.record["clock"])
        answer = _asked(env, model, tools, transcript)
        shown = prompt
        prompt, reward, ended, _, info = env.step(answer.message)
        _tally(run, answer, info)
        transcript.write(
            "reply",
            call=call,
            at=simulation.business.clock_text(moment),
            prompt=shown,
            reply=_reply_row(answer),
            usage=None if answer.usage is None else vars(answer.usage),
            seconds=round(answer.seconds, 3),
            retries=answer.retries,
            answer=info.get("answer", "none"),
            error=info.get("error"),
            reminder=info["reminder"],
            action=info["action"].tolist() if "action" in info else None,
            reward=reward,
        )
        run.count(simulation)
        told(run)
    return None


def _asked(
    env: TextWrapper,
    model: Model,
    tools: Sequence[Mapping[str, Any]],
    transcript: Transcript,
) -> Answer:
    """The model's reply; where the chat is too long for it, after forgetting the older half."""
    while True:
        try:
            return model.ask(env.messages(), tools)
        except ContextFullError as error:
            transcript.write("context_full", message=error.message)
            if not env.forget():
                raise


def _tally(run: LlmRun, answer: Answer, info: Mapping[str, Any]) -> None:
    run.tokens.add(answer.usage)
    run.seconds += answer.seconds
    run.retries += len(answer.retries)
    run.answered += info["reminder"] == 0
    run.reminders += info["reminder"] > 0
    run.unanswered += info.get("answer") == "unanswered" and info["reminder"] == 0


def _reply_row(answer: Answer) -> dict[str, Any]:
    names = ("content", "tool_calls", *_THOUGHTS)
    said = {name: answer.message[name] for name in names if answer.message.get(name)}
    return {**said, "finish_reason": answer.finish}


def _cut(value: Any, depth: int = _DEEPEST) -> Any:
    """A value of plain parts with its texts cut to what is worth keeping."""
    if isinstance(value, str):
        cut = value[:MOST_WRITTEN]
        return cut if len(value) <= MOST_WRITTEN else f"{cut}… ({len(value):,} characters)"
    if not isinstance(value, Mapping | list | tuple):
        return value
    if depth == 0:
        return "…"
    if isinstance(value, Mapping):
        return {str(key): _cut(inner, depth - 1) for key, inner in value.items()}
    return [_cut(inner, depth - 1) for inner in value]
