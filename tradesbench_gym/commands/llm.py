"""`tradesbench llm`: a model at an OpenAI-compatible endpoint answers the company's phone.

Reads the options, shows how far the runs are, prints what came of them. How a run is played stands
in `llm_run`, how an endpoint is asked in `llm_endpoint`, what is printed in `llm_results`.
"""

from __future__ import annotations

import json
import os
import re
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, Any, Self

import typer
from rich.console import Console
from rich.progress import BarColumn, Progress, TaskID, TextColumn, TimeElapsedColumn

from tradesbench_gym import __version__
from tradesbench_gym.commands import llm_results
from tradesbench_gym.commands.llm_endpoint import Endpoint, EndpointError
from tradesbench_gym.commands.llm_run import LlmRun, play_run
from tradesbench_gym.commands.options import DaysOption, JsonOption, MapOption, ScenarioOption
from tradesbench_gym.company.business import open_business
from tradesbench_gym.envs import TradesEnv
from tradesbench_gym.envs.wording import dollars
from tradesbench_gym.errors import INTERRUPTED, TradesBenchError
from tradesbench_gym.report.selection import parse_seeds
from tradesbench_gym.wrappers import TextWrapper

_SAFE = re.compile(r"[^A-Za-z0-9.]+")


def llm(
    model: Annotated[str, typer.Option(help="The model, by the endpoint's name for it.")],
    base_url: Annotated[
        str, typer.Option("--base-url", help="The endpoint, such as http://localhost:8000/v1.")
    ],
    key_variable: Annotated[
        str | None,
        typer.Option(
            "--api-key-env",
            help="Environment variable that holds the key; no key is sent if not given.",
        ),
    ] = None,
    seeds: Annotated[
        str, typer.Option(help="Runs to play: 0:3 (3 is not played), 5, or 1,4,7:10.")
    ] = "0:3",
    tools: Annotated[
        bool, typer.Option(help="Offer the answers as tools, or read them from plain text.")
    ] = True,
    memory_days: Annotated[
        int,
        typer.Option(
            min=0, help="Simulated days the model is reminded of, today included; 0: none."
        ),
    ] = 3,
    reminders: Annotated[
        int, typer.Option(min=0, help="How often a reply that is no answer is sent back.")
    ] = 2,
    max_calls: Annotated[
        int | None, typer.Option(min=1, help="Leave each run, unfinished, after so many calls.")
    ] = None,
    out: Annotated[
        Path | None,
        typer.Option(help="New or empty folder for transcripts and results; named if not given."),
    ] = None,
    timeout: Annotated[
        float, typer.Option(min=0.1, help="Seconds of silence after which to ask again.")
    ] = 120.0,
    tries: Annotated[int, typer.Option(min=1, help="How often a request is made at most.")] = 6,
    scenario: ScenarioOption = "sunridge",
    map_name: MapOption = "phoenix",
    days: DaysOption = None,
    as_json: JsonOption = False,
) -> None:
    """Let a model at an OpenAI-compatible endpoint play runs, and compare it with the oracle.

    Each reply is in the transcript, a JSON line, before the next call is answered. Rate limits,
    server errors and silence are waited out; if the endpoint stays dead, the run is left unfinished
    and counts nowhere. Ctrl-C ends likewise. The key is written nowhere.

    Example: tradesbench llm --model qwen3 --base-url http://localhost:8000/v1 --seeds 5

    Example: tradesbench llm --model gpt-6 --base-url https://api.openai.com/v1
    --api-key-env OPENAI_API_KEY --seeds 0:3
    """
    numbers = parse_seeds(seeds)
    endpoint = Endpoint(base_url, model, key=_key(key_variable), timeout=timeout, tries=tries)
    business = open_business(scenario, map_name, days)
    env = TextWrapper(
        TradesEnv(scenario=business.scenario, map=business.roadmap, days=business.days),
        reminders=reminders,
        memory_days=memory_days,
    )
    about = {
        "model": model,
        "base_url": base_url,
        "tools": tools,
        "memory_days": memory_days,
        "reminders": reminders,
        "max_calls": max_calls,
        "version": __version__,
    }
    folder = _folder(out, model)
    runs = [LlmRun(seed, folder / f"seed-{seed}.jsonl") for seed in numbers]
    _write(folder / "settings.json", endpoint.scrub({**about, "business": business.identity}))
    stopped = _play(env, endpoint, runs, about, tools=tools, max_calls=max_calls)
    endpoint.close()
    begun = [run for run in runs if run.results is not None] or runs[:1]
    oracle = llm_results.oracle_runs(business, begun)
    found = endpoint.scrub(llm_results.as_json(business, about, begun, oracle))
    _write(folder / "results.json", found)
    if as_json:
        typer.echo(json.dumps(found, indent=2))
    else:
        llm_results.print_results(
            business, model, begun, oracle, Console(markup=False, emoji=False, highlight=False)
        )
    typer.echo(f"Transcripts and results: {folder}", err=True)
    _exit(stopped)


def _exit(stopped: BaseException | None) -> None:
    if isinstance(stopped, EndpointError):
        raise stopped
    if stopped is not None:
        typer.echo("interrupted", err=True)
        raise typer.Exit(INTERRUPTED)


def _play(
    env: TextWrapper,
    endpoint: Endpoint,
    runs: Sequence[LlmRun],
    about: dict[str, Any],
    *,
    tools: bool,
    max_calls: int | None,
) -> BaseException | None:
    """Play run after run; what ended that before its time, if anything did."""
    console = Console(markup=False, emoji=False, stderr=True, highlight=False)
    try:
        with _Watch(console, env, runs) as watch:
            endpoint.waits = watch.waits
            for run in runs:
                watch.begin(run)
                play_run(
                    env,
                    endpoint,
                    run,
                    tools=tools,
                    max_calls=max_calls,
                    about=about,
                    told=watch.told,
                )
    except (EndpointError, KeyboardInterrupt) as stopped:
        return stopped
    return None


class _Watch:
    """How far the runs are: a live line in a terminal, a line for each day elsewhere."""

    def __init__(self, console: Console, env: TextWrapper, runs: Sequence[LlmRun]) -> None:
        self._console = console
        self._trades: TradesEnv = env.unwrapped  # type: ignore[assignment]
        self._many = len(runs)
        self._progress = Progress(
            TextColumn("{task.description}", markup=False),
            BarColumn(bar_width=20),
            TextColumn("{task.fields[state]}", markup=False),
            TimeElapsedColumn(),
            console=console,
            disable=not console.is_terminal,
        )
        self._task: TaskID | None = None
        self._day = 0

    def __enter__(self) -> Self:
        self._progress.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._progress.stop()

    def begin(self, run: LlmRun) -> None:
        """A run begins."""
        self._day = 0
        days = self._trades.simulation.business.days
        self._task = self._progress.add_task(f"seed {run.seed}", total=days, state="asks")

    def told(self, run: LlmRun) -> None:
        """A reply has come."""
        simulation = self._trades.simulation
        day, state = simulation.day, self._state(run)
        if self._task is not None:
            done = simulation.business.days if simulation.ended else day
            self._progress.update(self._task, completed=done, state=state)
        if not self._console.is_terminal and (day > self._day or simulation.ended):
            self._console.print(f"seed {run.seed}, {state}", markup=False)
        self._day = day

    def waits(self, seconds: float, why: str) -> None:
        """The endpoint has to be asked again."""
        if self._task is not None and self._console.is_terminal:
            self._progress.update(self._task, state=f"waits {seconds:.0f} s: {why}")
        else:
            self._console.print(f"waits {seconds:.0f} s: {why}", markup=False)

    def _state(self, run: LlmRun) -> str:
        simulation, tokens = self._trades.simulation, run.tokens
        used = f", {tokens.prompt + tokens.completion:,} tokens" if tokens.reported else ""
        day = min(simulation.day + 1, simulation.business.days)
        return (
            f"day {day}/{simulation.business.days}, {run.answered} calls, "
            f"cash {dollars(simulation.cash_cents)}{used}"
        )


def _key(variable: str | None) -> str | None:
    if variable is None:
        return None
    key = os.environ.get(variable, "").strip()
    if not key:
        raise TradesBenchError(
            f"--api-key-env names the variable that holds the key, and {variable!r} is not set",
            code="key",
            field="api-key-env",
        )
    return key


def _folder(out: Path | None, model: str) -> Path:
    """A folder of this call's own."""
    name = _SAFE.sub("-", model).strip("-.")[:60] or "model"
    folder = out if out is not None else Path(f"llm-{name}-{time.strftime('%Y%m%d-%H%M%S')}")
    folder.mkdir(parents=True, exist_ok=True)
    if any(folder.iterdir()):
        raise TradesBenchError(
            f"{folder} is not empty: name a new folder with --out", code="folder", field="out"
        )
    return folder


def _write(path: Path, value: Any) -> None:
    path.write_text(json.dumps(value, indent=2) + "\n", encoding="utf-8")
